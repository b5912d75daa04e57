//! A server on the loopback interface that records requests and sends the answers that a test defines, valid or not.
//! Knows no protocol.

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Request, Response, StatusCode,
    body::{Body, Bytes, Frame, Incoming},
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpListener, sync::Semaphore};

/// A request that the server received.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The number of the request, from 0.
    pub(crate) number: usize,
    /// The target as it was sent.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// How the server answers.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
    then: Then,
    after: Option<Arc<Semaphore>>,
}

/// What follows the bytes of an answer.
#[derive(Clone, Copy, Debug)]
enum Then {
    End,
    Break,
    Bytes,
    Silence,
}

impl Answer {
    pub(crate) fn status(status: u16, body: impl Into<Bytes>) -> Answer {
        Answer { status, headers: Vec::new(), body: body.into(), then: Then::End, after: None }
    }

    pub(crate) fn json(body: &Value) -> Answer {
        Answer::status(200, body.to_string()).with(CONTENT_TYPE.as_str(), "application/json")
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }

    /// Ends the connection after its bytes, although it has announced more.
    pub(crate) fn broken(mut self) -> Answer {
        self.headers.push((CONTENT_LENGTH.as_str(), (self.body.len() + 100).to_string()));
        self.then = Then::Break;
        self
    }

    /// Sends bytes for as long as the client reads them.
    pub(crate) fn endless(mut self) -> Answer {
        self.then = Then::Bytes;
        self
    }

    /// Sends nothing more, but does not end.
    pub(crate) fn unended(mut self) -> Answer {
        self.then = Then::Silence;
        self
    }

    /// Waits for a permit before it answers.
    pub(crate) fn after(mut self, gate: &Arc<Semaphore>) -> Answer {
        self.after = Some(Arc::clone(gate));
        self
    }
}

/// The bytes of an answer, and what follows them.
struct Flow {
    body: Option<Bytes>,
    then: Then,
    sent: Arc<AtomicU64>,
}

impl Body for Flow {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(body) = self.body.take() {
            return Poll::Ready(Some(Ok(Frame::data(body))));
        }
        match self.then {
            Then::End => Poll::Ready(None),
            Then::Break => Poll::Ready(Some(Err(io::ErrorKind::BrokenPipe.into()))),
            Then::Silence => Poll::Pending,
            Then::Bytes => {
                static SPACES: [u8; 1 << 16] = [b' '; 1 << 16];
                self.sent.fetch_add(SPACES.len() as u64, Relaxed);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&SPACES)))))
            }
        }
    }
}

type Script = dyn Fn(&Asked) -> Option<Answer> + Send + Sync;

/// A server that runs on the runtime of the test.
pub(crate) struct Server {
    pub(crate) address: std::net::SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    sent: Arc<AtomicU64>,
}

/// The certificate of `localhost`, which no machine trusts, and its key.
pub(crate) const SIGNED: [&[u8]; 2] = [
    include_bytes!("../../../tests/certificates/localhost.pem"),
    include_bytes!("../../../tests/certificates/localhost.key.pem"),
];

/// A certificate of `localhost` that is also a certificate of an authority, and its key.
pub(crate) const SELF_SIGNED: [&[u8]; 2] = [
    include_bytes!("../../../tests/certificates/self-signed.pem"),
    include_bytes!("../../../tests/certificates/self-signed.key.pem"),
];

impl Server {
    /// Starts a server that answers as the script defines; `None` ends the connection.
    pub(crate) async fn start(
        script: impl Fn(&Asked) -> Option<Answer> + Send + Sync + 'static,
    ) -> Server {
        Server::listen(script, None).await
    }

    /// Starts a server over TLS, with a certificate and its key.
    pub(crate) async fn start_encrypted(
        [certificate, key]: [&[u8]; 2],
        script: impl Fn(&Asked) -> Option<Answer> + Send + Sync + 'static,
    ) -> Server {
        use tokio_rustls::rustls::{
            ServerConfig,
            pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
        };
        let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        Server::listen(script, Some(Arc::new(config).into())).await
    }

    async fn listen(
        script: impl Fn(&Asked) -> Option<Answer> + Send + Sync + 'static,
        tls: Option<tokio_rustls::TlsAcceptor>,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, sent) = (Arc::default(), Arc::default());
        let server = Server { address, asked: Arc::clone(&asked), sent: Arc::clone(&sent) };
        let script: Arc<Script> = Arc::new(script);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (script, asked, sent) = (script.clone(), asked.clone(), sent.clone());
                let service = service_fn(move |request| {
                    answer(request, script.clone(), asked.clone(), sent.clone())
                });
                let tls = tls.clone();
                tokio::spawn(async move {
                    // An error means that the client closed the connection, or the script ended it.
                    match tls {
                        None => {
                            let stream = TokioIo::new(stream);
                            let _ = http1::Builder::new().serve_connection(stream, service).await;
                        }
                        Some(tls) => {
                            let Ok(stream) = tls.accept(stream).await else { return };
                            let stream = TokioIo::new(stream);
                            let _ = http1::Builder::new().serve_connection(stream, service).await;
                        }
                    }
                });
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests that the server received, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// How many bytes of endless answers clients have read.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }
}

async fn answer(
    request: Request<Incoming>,
    script: Arc<Script>,
    all: Arc<Mutex<Vec<Asked>>>,
    sent: Arc<AtomicU64>,
) -> Result<Response<Flow>, io::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let asked = {
        let mut all = all.lock().unwrap();
        let asked = Asked {
            number: all.len(),
            target: head.uri.to_string(),
            headers: head.headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        };
        all.push(asked.clone());
        asked
    };
    let Some(answer) = script(&asked) else { return Err(io::ErrorKind::BrokenPipe.into()) };
    if let Some(gate) = answer.after {
        gate.acquire().await.unwrap().forget();
    }
    let flow = Flow { body: Some(answer.body), then: answer.then, sent };
    let mut response = Response::builder().status(StatusCode::from_u16(answer.status).unwrap());
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    Ok::<_, Infallible>(response.body(flow).unwrap()).map_err(|never| match never {})
}
