//! OpenTelemetry collectors on the loopback interface, over HTTP and over gRPC: one that keeps what it receives, and
//! others that misbehave. Knows nothing of scorebox.

use std::{
    collections::BTreeMap,
    io::{self, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use opentelemetry_proto::tonic::{
    collector::{
        logs::v1::{
            ExportLogsServiceRequest, ExportLogsServiceResponse,
            logs_service_server::{LogsService, LogsServiceServer},
        },
        metrics::v1::{
            ExportMetricsServiceRequest, ExportMetricsServiceResponse,
            metrics_service_server::{MetricsService, MetricsServiceServer},
        },
    },
    common::v1::{AnyValue, KeyValue, any_value::Value},
    logs::v1::LogRecord,
    metrics::v1::{Metric, metric::Data, number_data_point::Value as Number},
};
use prost::Message as _;
use tonic::{
    Request, Response, Status,
    codec::CompressionEncoding,
    transport::{Identity, Server, ServerTlsConfig, server::TcpIncoming},
};

/// How a collector over HTTP answers.
#[derive(Clone, Debug)]
pub(crate) enum Answers {
    /// Correctly.
    Well,
    /// Correctly, after this delay for each request.
    Slowly(Duration),
    /// With this status, and echoes the request's headers.
    Status(u16),
    /// Never.
    Never,
    /// With a gigabyte.
    Endlessly,
    /// With a redirect to another location.
    Elsewhere(String),
}

/// The requests that a collector received.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub logs: Vec<ExportLogsServiceRequest>,
    pub metrics: Vec<ExportMetricsServiceRequest>,
    /// The headers of each request, with lower-case names.
    pub headers: Vec<BTreeMap<String, String>>,
    /// The number of bytes that clients read of its answers.
    pub answered: u64,
}

/// A collector, and its address.
pub(crate) struct Collector {
    pub address: SocketAddr,
    received: Arc<Mutex<Received>>,
    _runtime: Option<tokio::runtime::Runtime>,
}

/// The certificate of `localhost`, which `authority.pem` in the same folder signed, and its key. They are only for
/// these tests, and valid until 2126.
pub(crate) const SIGNED: [&str; 2] =
    [include_str!("certificates/localhost.pem"), include_str!("certificates/localhost.key.pem")];

/// A self-signed certificate of `localhost` that is also marked as an authority, and its key.
pub(crate) const SELF_SIGNED: [&str; 2] = [
    include_str!("certificates/self-signed.pem"),
    include_str!("certificates/self-signed.key.pem"),
];

impl Collector {
    /// A collector over HTTP.
    pub(crate) fn http(answers: Answers) -> Collector {
        Collector::listening(move |stream, received| {
            let reading = stream.try_clone().unwrap();
            // A client that goes away is not an error.
            let _ = serve(BufReader::new(reading), stream, &answers, received);
        })
    }

    /// A collector over HTTPS, with a certificate and its key.
    pub(crate) fn https([certificate, key]: [&str; 2]) -> Collector {
        use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let config = Arc::new(config);
        Collector::listening(move |stream, received| {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let stream = Shared(Arc::new(Mutex::new(rustls::StreamOwned::new(connection, stream))));
            let _ = serve(BufReader::new(stream.clone()), stream, &Answers::Well, received);
        })
    }

    fn listening(
        connected: impl Fn(TcpStream, &Mutex<Received>) + Send + Sync + 'static,
    ) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::<Mutex<Received>>::default();
        let (kept, connected) = (Arc::clone(&received), Arc::new(connected));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, connected) = (Arc::clone(&kept), Arc::clone(&connected));
                thread::spawn(move || connected(stream, &kept));
            }
        });
        Collector { address, received, _runtime: None }
    }

    /// A collector over gRPC; encrypted if there is a certificate with its key.
    pub(crate) fn grpc(identity: Option<[&str; 2]>) -> Collector {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let entered = runtime.enter();
        let incoming = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = incoming.local_addr().unwrap();
        let received = Arc::<Mutex<Received>>::default();
        let mut server = Server::builder();
        if let Some([certificate, key]) = identity {
            let identity = Identity::from_pem(certificate, key);
            server = server.tls_config(ServerTlsConfig::new().identity(identity)).unwrap();
        }
        let (logs, metrics) = (Kept(Arc::clone(&received)), Kept(Arc::clone(&received)));
        let logs = LogsServiceServer::new(logs).accept_compressed(CompressionEncoding::Gzip);
        let metrics =
            MetricsServiceServer::new(metrics).accept_compressed(CompressionEncoding::Gzip);
        let serving = server.add_service(logs).add_service(metrics).serve_with_incoming(incoming);
        runtime.spawn(serving);
        drop(entered);
        Collector { address, received, _runtime: Some(runtime) }
    }

    /// Its address as a URL without encryption.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests that it has received so far.
    pub(crate) fn received<T>(&self, look: impl FnOnce(&Received) -> T) -> T {
        look(&self.received.lock().unwrap())
    }

    /// Waits until a condition holds for the received requests.
    #[track_caller]
    pub(crate) fn until(&self, holds: impl Fn(&Received) -> bool) {
        let started = Instant::now();
        while !self.received(&holds) {
            assert!(started.elapsed() < Duration::from_secs(120), "it was not sent");
            thread::yield_now();
        }
    }

    /// All log records, with the attributes of each as text.
    pub(crate) fn records(&self) -> Vec<(LogRecord, BTreeMap<String, String>)> {
        self.received(|received| {
            let resources = received.logs.iter().flat_map(|request| &request.resource_logs);
            let records = resources.flat_map(|it| &it.scope_logs).flat_map(|it| &it.log_records);
            records.map(|record| (record.clone(), attributes(&record.attributes))).collect()
        })
    }

    /// The latest state of a metric.
    pub(crate) fn metric(&self, name: &str) -> Option<Metric> {
        self.received(|received| {
            let resources = received.metrics.iter().flat_map(|request| &request.resource_metrics);
            let mut metrics = resources.flat_map(|it| &it.scope_metrics).flat_map(|it| &it.metrics);
            metrics.rfind(|metric| metric.name == name).cloned()
        })
    }

    /// The latest sum of a counter, over all its attributes; 0 if it was not sent.
    pub(crate) fn sum(&self, name: &str) -> i64 {
        let points = match self.metric(name).and_then(|metric| metric.data) {
            Some(Data::Sum(sum)) => sum.data_points,
            Some(Data::Gauge(gauge)) => gauge.data_points,
            None => return 0,
            other => panic!("{name}: {other:?}"),
        };
        points
            .iter()
            .map(|point| match point.value {
                Some(Number::AsInt(value)) => value,
                other => panic!("{name}: {other:?}"),
            })
            .sum()
    }
}

/// Attributes as text.
pub(crate) fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    attributes.iter().map(|it| (it.key.clone(), text(it.value.as_ref()))).collect()
}

/// A value as text.
pub(crate) fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::BoolValue(value)) => value.to_string(),
        Some(Value::IntValue(value)) => value.to_string(),
        Some(Value::DoubleValue(value)) => value.to_string(),
        other => format!("{other:?}"),
    }
}

/// Serves the requests of a connection.
fn serve(
    mut from: impl io::BufRead,
    mut to: impl Write,
    answers: &Answers,
    received: &Mutex<Received>,
) -> io::Result<()> {
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = BTreeMap::new();
        loop {
            line.clear();
            from.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").map_or(0, |it| it.parse().unwrap());
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        if headers.get("content-encoding").is_some_and(|it| it == "gzip") {
            let mut plain = Vec::new();
            flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut plain)?;
            body = plain;
        }
        let echo = format!("{headers:?}");
        {
            let mut received = received.lock().unwrap();
            received.headers.push(headers);
            match path.split('?').next().unwrap_or_default() {
                "/v1/logs" => received.logs.push(ExportLogsServiceRequest::decode(&body[..])?),
                "/v1/metrics" => {
                    received.metrics.push(ExportMetricsServiceRequest::decode(&body[..])?);
                }
                other => panic!("{other}"),
            }
        }
        if let Answers::Slowly(delay) = answers {
            thread::sleep(*delay);
        }
        match answers {
            Answers::Well | Answers::Slowly(_) => {
                to.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n")?;
            }
            Answers::Status(status) => {
                let length = echo.len();
                write!(to, "HTTP/1.1 {status} Echo\r\nContent-Length: {length}\r\n\r\n{echo}")?;
            }
            Answers::Elsewhere(address) => {
                write!(
                    to,
                    "HTTP/1.1 307 Go\r\nLocation: {address}{path}\r\nContent-Length: 0\r\n\r\n"
                )?;
            }
            Answers::Never => {
                // Until the client gives up.
                return from.read_line(&mut line).map(drop);
            }
            Answers::Endlessly => {
                write!(to, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 1_u64 << 30)?;
                let part = vec![0; 1 << 16];
                for _ in 0..1 << 14 {
                    to.write_all(&part)?;
                    received.lock().unwrap().answered += part.len() as u64;
                }
            }
        }
        to.flush()?;
    }
}

/// One stream for reading and writing.
struct Shared<S>(Arc<Mutex<S>>);

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Shared<S> {
        Shared(Arc::clone(&self.0))
    }
}

impl<S: Read> Read for Shared<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap().read(buffer)
    }
}

impl<S: Write> Write for Shared<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap().flush()
    }
}

/// Records the requests that arrive over gRPC.
struct Kept(Arc<Mutex<Received>>);

impl Kept {
    fn note<T>(&self, request: Request<T>, keep: impl FnOnce(&mut Received, T)) {
        let headers = request.metadata().clone().into_headers();
        let text =
            |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let mut received = self.0.lock().unwrap();
        received.headers.push(headers);
        keep(&mut received, request.into_inner());
    }
}

#[tonic::async_trait]
impl LogsService for Kept {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        self.note(request, |received, request| received.logs.push(request));
        Ok(Response::new(ExportLogsServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Kept {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.note(request, |received, request| received.metrics.push(request));
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}
