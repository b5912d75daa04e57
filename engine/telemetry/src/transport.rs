//! Builds the OTLP exporters for a route: HTTP or gRPC, with certificates. Does not connect yet.

use std::{path::Path, pin::Pin, sync::Arc};

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    ExporterBuildError, LogExporter, MetricExporter, Protocol, WithExportConfig,
    WithHttpConfig as _, WithTonicConfig,
    tonic_types::transport::{Certificate, ClientTlsConfig},
};
use scorebox::input_file::read_regular;
use scorebox_connections::{
    CertificateFault, ProtocolFault, cause, certificate_fault, protocol_fault,
};

use crate::{
    address::{Flaw, Speaks},
    delivery::Delivery,
    error::TelemetryError,
    rejected::rejected,
    settings::Route,
};

/// The most bytes of a certificate file: all authorities that a whole system trusts take a quarter of a megabyte.
const MAX_CERTIFICATE_BYTES: u64 = 16 << 20;

/// The exporter that an `opentelemetry_otlp` builder makes for a route. The builders of both protocols have the same
/// methods, but no common trait.
macro_rules! exporter {
    ($builder:expr, $route:expr, $delivery:expr) => {
        match Transport::of($route, $delivery)? {
            Transport::Http(client) => {
                addressed($builder.with_http(), $route).with_http_client(client).build()
            }
            Transport::Grpc(tls) => with_tls(addressed($builder.with_tonic(), $route), tls).build(),
        }
        .map_err(|error| unusable($route, &error))
    };
}

/// An exporter of scores. Must be called within a runtime.
pub(crate) fn logs(route: &Route, delivery: &Arc<Delivery>) -> Result<LogExporter, TelemetryError> {
    exporter!(LogExporter::builder(), route, delivery)
}

/// An exporter of metrics. Must be called within a runtime.
pub(crate) fn metrics(
    route: &Route,
    delivery: &Arc<Delivery>,
) -> Result<MetricExporter, TelemetryError> {
    exporter!(MetricExporter::builder(), route, delivery)
}

/// What an exporter sends with.
enum Transport {
    Http(Client),
    /// With the configuration for encryption, if the connection is encrypted.
    Grpc(Option<ClientTlsConfig>),
}

impl Transport {
    fn of(route: &Route, delivery: &Arc<Delivery>) -> Result<Transport, TelemetryError> {
        // The exporters accept such an address, but then cannot connect, or send to another address.
        if let Some(flaw) = route.flaw {
            return Err(flawed(route, flaw));
        }
        Ok(match route.speaks {
            Speaks::Http => Transport::Http(http_client(route, delivery)?),
            Speaks::Grpc => Transport::Grpc(certificates(route)?),
        })
    }
}

fn with_tls<B: WithTonicConfig>(builder: B, tls: Option<ClientTlsConfig>) -> B {
    match tls {
        Some(tls) => builder.with_tls_config(tls),
        None => builder,
    }
}

/// The builder with the address that the program set, if any: over HTTP, each signal has its path below it.
fn addressed<B: WithExportConfig>(builder: B, route: &Route) -> B {
    let builder = builder.with_timeout(route.timeout).with_protocol(match route.speaks {
        Speaks::Http => Protocol::HttpBinary,
        Speaks::Grpc => Protocol::Grpc,
    });
    match (&route.given, route.speaks) {
        (None, _) => builder,
        (Some(address), Speaks::Grpc) => builder.with_endpoint(address),
        (Some(address), Speaks::Http) => {
            let address = address.trim_end_matches('/');
            builder.with_endpoint(format!("{address}/v1/{}", route.signal.name()))
        }
    }
}

/// A client that follows no redirect, because a redirect would send the headers to another host.
fn http_client(route: &Route, delivery: &Arc<Delivery>) -> Result<Client, TelemetryError> {
    use_ring();
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(route.timeout);
    match pem(route)? {
        Some(Pem { path, variable, bytes }) => {
            let certificates = reqwest::Certificate::from_pem_bundle(&bytes)
                .ok()
                .filter(|certificates| !certificates.is_empty())
                .ok_or_else(|| TelemetryError::Certificate {
                    path,
                    variable,
                    reason: "it has no valid certificate in PEM".to_owned(),
                })?;
            builder = builder.tls_certs_only(certificates);
        }
        // The machine may have no certificates, and this connection needs none.
        None if !route.is_encrypted => builder = builder.tls_certs_only([]),
        None => {}
    }
    let client =
        builder.build().map_err(|error| TelemetryError::Prepare(cause(&error.without_url())))?;
    Ok(Client { client, delivery: Arc::clone(delivery) })
}

/// A client that records why it could not send something, which the exporter always calls a network error, and what was
/// rejected, which the exporter does not report.
#[derive(Clone, Debug)]
struct Client {
    client: reqwest::Client,
    delivery: Arc<Delivery>,
}

impl HttpClient for Client {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let answer = self.client.send_bytes(request).await;
            match &answer {
                Ok(answer) if answer.status().is_success() => {
                    self.delivery.note_rejected(rejected(answer.body()));
                }
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    self.delivery.note_cause(format!("it answered with status {status}"));
                }
                Err(error) => {
                    if let Some(reason) = error.downcast_ref().and_then(reason) {
                        self.delivery.note_cause(reason);
                    }
                }
            }
            answer
        })
    }
}

/// Why nothing was sent, without the address that the error contains.
fn reason(error: &reqwest::Error) -> Option<&'static str> {
    if error.is_timeout() {
        return Some("no answer within the time-out");
    }
    let of_tls = certificate_fault(error).map(refused_certificate);
    of_tls.or_else(|| match protocol_fault(error) {
        Some(ProtocolFault::WithoutTls) => Some(WITHOUT_TLS),
        Some(ProtocolFault::NotHttp | ProtocolFault::TooLarge) => Some(NOT_HTTP),
        None if error.is_connect() => Some(OUT_OF_REACH),
        None => error.is_request().then_some(BROKEN_OFF),
    })
}

/// Why nothing was sent, as a message that names what to check. It is the same over gRPC.
pub(crate) const OUT_OF_REACH: &str = "cannot connect to it";
pub(crate) const WITHOUT_TLS: &str =
    "it answers without TLS; if it has none, its address begins with http://";
const NOT_HTTP: &str = "it does not answer in HTTP; if it has TLS, its address begins with https://, and if it speaks gRPC, set OTEL_EXPORTER_OTLP_PROTOCOL=grpc";
const BROKEN_OFF: &str = "it ended the connection without an answer; if it has TLS, its address begins with https://, and if it speaks gRPC, set OTEL_EXPORTER_OTLP_PROTOCOL=grpc";

/// What is wrong with the collector's certificate, as a message.
pub(crate) fn refused_certificate(fault: CertificateFault) -> &'static str {
    match fault {
        CertificateFault::OfAnAuthority => {
            "it uses the certificate of an authority (CA) as its own"
        }
        CertificateFault::NotTrusted => "its certificate is not trusted",
    }
}

/// The configuration for encrypting gRPC, if it is encrypted.
fn certificates(route: &Route) -> Result<Option<ClientTlsConfig>, TelemetryError> {
    if !route.is_encrypted {
        return Ok(None);
    }
    use_ring();
    let tls = ClientTlsConfig::new();
    Ok(Some(match pem(route)? {
        Some(Pem { bytes, .. }) => tls.ca_certificate(Certificate::from_pem(bytes)),
        None => tls.with_native_roots(),
    }))
}

/// A file of certificates.
struct Pem {
    path: String,
    variable: &'static str,
    bytes: Vec<u8>,
}

fn pem(route: &Route) -> Result<Option<Pem>, TelemetryError> {
    let Some((path, variable)) = route.certificate.clone() else { return Ok(None) };
    if !route.is_encrypted {
        return Ok(None);
    }
    match read_regular(Path::new(&path), MAX_CERTIFICATE_BYTES) {
        Ok(bytes) => Ok(Some(Pem { path, variable, bytes })),
        Err(error) => {
            Err(TelemetryError::Certificate { path, variable, reason: error.to_string() })
        }
    }
}

/// Makes rustls use ring in this process, unless the program has installed something else.
fn use_ring() {
    // This fails if a provider is already installed, which is then used.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The exporters' own messages contain the address.
fn unusable(route: &Route, error: &ExporterBuildError) -> TelemetryError {
    match error {
        ExporterBuildError::InvalidConfiguration(_) => invalid(route),
        _ => TelemetryError::Prepare("the exporter does not start".to_owned()),
    }
}

fn flawed(route: &Route, flaw: Flaw) -> TelemetryError {
    let signal = route.signal.name();
    match flaw {
        Flaw::Scheme | Flaw::Authority => invalid(route),
        Flaw::Host => TelemetryError::Host { signal },
        Flaw::Credentials => TelemetryError::Credentials { signal },
        Flaw::Query => TelemetryError::Query { signal },
    }
}

fn invalid(route: &Route) -> TelemetryError {
    TelemetryError::Endpoint { signal: route.signal.name(), protocol: route.speaks.name() }
}
