//! One HTTP exchange with a server, within limits of time and size. It repeats a request only if the server is busy,
//! follows no redirect, adds no password, and does not interpret the content.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::{Request, RequestBuilder, StatusCode, header::HeaderMap};
use scorebox_connections::{
    CertificateFault, NotAProxy, ProtocolFault, Proxy, cause, certificate_fault,
    is_of_unknown_authority, protocol_fault,
};
use serde_json::Value;

use crate::{
    authorities,
    error::Failed,
    patience::{Patience, patience},
};

/// The longest time for a connection.
const MAX_CONNECTING: Duration = Duration::from_secs(10);
/// The longest time without a byte from a server that should send some.
const MAX_SILENCE: Duration = Duration::from_secs(60);
/// The longest time of an exchange: enough for a large component over a slow connection.
const MAX_TIME: Duration = Duration::from_secs(15 * 60);
/// The most bytes that are read of an error response.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// The most bytes of a server's message that are shown.
const MAX_SAID_BYTES: usize = 300;

/// An HTTP client, and how it connects.
#[derive(Debug)]
pub(crate) struct Exchange {
    client: reqwest::Client,
    /// Whether the client uses the proxies that the environment names.
    has_proxies: bool,
}

/// An answer, whatever its status.
pub(crate) struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The complete body; for an error response, possibly only its beginning.
    pub body: Bytes,
}

impl Exchange {
    /// Does not connect yet. `has_tls`: whether certificates are needed; `is_near`: whether the server is on this
    /// machine, where no proxy is used.
    pub(crate) fn new(has_tls: bool, is_near: bool) -> Result<Exchange, Failed> {
        // This fails if a cryptography provider is already installed, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        if has_tls {
            authorities::must_be_readable()?;
        }
        if !is_near {
            let scheme = if has_tls { "https" } else { "http" };
            Proxy::check_variables(scheme).map_err(|NotAProxy(name)| {
                Failed::Prepare(format!(
                    "{name} has no address of an HTTP proxy, such as `http://HOST:PORT`"
                ))
            })?;
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("scorebox/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .https_only(has_tls)
            .connect_timeout(MAX_CONNECTING)
            .read_timeout(MAX_SILENCE)
            .timeout(MAX_TIME);
        if !has_tls {
            // The machine may have no certificates, and this connection needs none.
            builder = builder.tls_certs_only([]);
        }
        if is_near {
            builder = builder.no_proxy();
        }
        let client =
            builder.build().map_err(|error| Failed::Prepare(cause(&error.without_url())))?;
        Ok(Exchange { client, has_proxies: !is_near })
    }

    pub(crate) fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// Sends a request, and reads at most `max_bytes` of the answer; errors call it `what`. A busy server is asked
    /// again a few times.
    ///
    /// # Errors
    /// [`Failed::Busy`] if the server is still busy.
    pub(crate) async fn send(
        &self,
        request: RequestBuilder,
        what: &'static str,
        max_bytes: usize,
    ) -> Result<Reply, Failed> {
        let mut request = request.build().map_err(|error| Failed::Prepare(cause(&error)))?;
        let method = request.method().clone();
        let mut times = 1;
        loop {
            // The body of the request is in memory, so it can always be cloned.
            let again = request.try_clone();
            let reply = self.send_once(request, what, max_bytes).await?;
            let now = SystemTime::now();
            match (patience(reply.status, &method, &reply.headers, times, now), again) {
                (Patience::None, _) => return Ok(reply),
                (Patience::Wait(time), Some(again)) => {
                    tokio::time::sleep(time).await;
                    (request, times) = (again, times + 1);
                }
                (Patience::Wait(_), None) => return Err(reply.busy(times, None)),
                (Patience::Later(stated), _) => return Err(reply.busy(times, stated)),
            }
        }
    }

    async fn send_once(
        &self,
        request: Request,
        what: &'static str,
        max_bytes: usize,
    ) -> Result<Reply, Failed> {
        let proxy = Proxy::of(request.url().as_str()).filter(|_| self.has_proxies);
        let broken = |error: &reqwest::Error| match (broken(error), &proxy) {
            (failed @ (Failed::Unreachable(_) | Failed::TimedOut), Some(proxy)) => {
                Failed::AtProxy { proxy: proxy.place.clone(), failed: Box::new(failed) }
            }
            (failed, _) => failed,
        };
        let sent = self.client.execute(request).await;
        let mut response = sent.map_err(|error| broken(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let is_error = !status.is_success();
        let most = if is_error { MAX_ERROR_BYTES } else { max_bytes };
        let too_large = Failed::TooLarge { what, max_bytes };
        let stated = response.content_length().unwrap_or_default();
        if !is_error && stated > most as u64 {
            return Err(too_large);
        }
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(part)) if body.len() + part.len() <= most => body.extend_from_slice(&part),
                Ok(Some(_)) if !is_error => return Err(too_large),
                Err(error) if !is_error => return Err(broken(&error)),
                // The part of an error response that has arrived is enough.
                _ => break,
            }
        }
        Ok(Reply { status, headers, body: body.into() })
    }
}

impl Reply {
    /// The failure for an unexpected answer.
    pub(crate) fn refusal(&self) -> Failed {
        match self.status.is_redirection() {
            true => Failed::Redirected(self.status.as_u16()),
            false => Failed::Refused { status: self.status.as_u16(), said: self.server_message() },
        }
    }

    /// The failure for a server that is busy after this many requests.
    fn busy(&self, times: u32, stated: Option<Duration>) -> Failed {
        Failed::Busy { status: self.status.as_u16(), said: self.server_message(), times, stated }
    }

    /// The message of the server's first error, after a colon; empty if there is none.
    pub(crate) fn server_message(&self) -> String {
        let document = serde_json::from_slice::<Value>(&self.body).unwrap_or_default();
        let message = document.pointer("/errors/0/message").and_then(Value::as_str);
        let message = message.unwrap_or_default();
        let short = &message[..message.floor_char_boundary(MAX_SAID_BYTES)];
        let line = short.replace(|character: char| character.is_control(), " ");
        match line.trim() {
            "" => String::new(),
            line => format!(": {line}"),
        }
    }
}

/// The failure if a connection failed or broke.
fn broken(error: &reqwest::Error) -> Failed {
    if error.is_timeout() {
        return Failed::TimedOut;
    }
    match (certificate_fault(error), protocol_fault(error)) {
        (Some(CertificateFault::OfAnAuthority), _) => Failed::AuthorityCertificate,
        (Some(CertificateFault::NotTrusted), _) if is_of_unknown_authority(error) => {
            Failed::UnknownAuthority(cause(error))
        }
        (Some(CertificateFault::NotTrusted), _) => Failed::Certificate(cause(error)),
        (None, Some(ProtocolFault::WithoutTls)) => Failed::NoTls,
        (None, Some(_)) => Failed::NotHttp,
        (None, None) if error.is_connect() => Failed::Unreachable(cause(error)),
        (None, None) => Failed::EndedEarly(cause(error)),
    }
}
