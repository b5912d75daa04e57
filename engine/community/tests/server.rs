//! A server on the loopback interface that records requests and sends the answers that a test defines, valid or not.
//! Knows no protocol.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

/// A request that the server received.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// The target as it was sent.
    pub(crate) target: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// How the server answers.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    is_endless: bool,
}

impl Answer {
    pub(crate) fn status(status: u16, body: impl Into<Vec<u8>>) -> Answer {
        Answer { status, headers: Vec::new(), body: body.into(), is_endless: false }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }

    /// Sends its bytes again and again, until the client disconnects.
    pub(crate) fn without_end(mut self) -> Answer {
        self.is_endless = true;
        self
    }
}

/// A server that runs until it is dropped.
pub(crate) struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    is_over: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Asked) -> Answer + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (keeping, ending) = (Arc::clone(&asked), Arc::clone(&is_over));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ending.load(SeqCst) {
                    return;
                }
                let mut stream = stream.unwrap();
                let Some(question) = read(&stream) else { continue };
                let answer = answer(&question);
                let is_head = question.method == "HEAD";
                keeping.lock().unwrap().push(question);
                // A client may disconnect at any time.
                let _ = write(&mut stream, &answer, is_head);
            }
        });
        Server { port, asked, is_over }
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
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

/// The host and port of a TLS server whose certificate its only client refuses, so that it receives no request.
pub(crate) fn refused([certificate, key]: [&[u8]; 2]) -> String {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate).unwrap()],
            PrivateKeyDer::from_pem_slice(key).unwrap(),
        )
        .unwrap();
    let mut connection = rustls::ServerConnection::new(Arc::new(config)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        while connection.complete_io(&mut stream).is_ok_and(|(read, _)| read > 0) {}
    });
    format!("localhost:{port}")
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        // This wakes the thread, which waits for a client. The thread is not joined: it may be sending without end to a
        // client that disconnects only when the test's runtime ends.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut authorization, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "authorization" => authorization = Some(value.to_owned()),
            "content-length" => length = value.parse().unwrap(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { method, target, authorization, body })
}

fn write(stream: &mut TcpStream, answer: &Answer, is_head: bool) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {} Said\r\nConnection: close\r\n", answer.status)?;
    for (name, value) in &answer.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    let states_length = answer.headers.iter().any(|(name, _)| *name == "Content-Length");
    if !answer.is_endless && !states_length {
        write!(stream, "Content-Length: {}\r\n", answer.body.len())?;
    }
    stream.write_all(b"\r\n")?;
    if is_head {
        return Ok(());
    }
    stream.write_all(&answer.body)?;
    if !answer.is_endless {
        return Ok(());
    }
    loop {
        stream.write_all(&answer.body)?;
    }
}
