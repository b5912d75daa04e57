//! Tests why reqwest cannot connect to servers on the loopback interface.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use rustls::{
    ServerConfig, ServerConnection,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

use super::{CertificateFault::*, *};

/// A self-signed certificate of `localhost` that is also a certificate of an authority, and its key.
const SELF_SIGNED: [&[u8]; 2] = [
    include_bytes!("../../../tests/certificates/self-signed.pem"),
    include_bytes!("../../../tests/certificates/self-signed.key.pem"),
];
/// A certificate of `localhost` that [`AUTHORITY`] signed, and its key.
const SIGNED: [&[u8]; 2] = [
    include_bytes!("../../../tests/certificates/localhost.pem"),
    include_bytes!("../../../tests/certificates/localhost.key.pem"),
];
const AUTHORITY: &[u8] = include_bytes!("../../../tests/certificates/authority.pem");
const OTHER_AUTHORITY: &[u8] = include_bytes!("../../../tests/certificates/other-authority.pem");

/// Handles the first connection to a new address on a thread.
fn server(treat: impl FnOnce(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || treat(listener.accept().unwrap().0));
    address
}

/// A server with this certificate, which sends only what TLS needs.
fn encrypted([certificate, key]: [&[u8]; 2]) -> SocketAddr {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate).unwrap()],
            PrivateKeyDer::from_pem_slice(key).unwrap(),
        )
        .unwrap();
    let mut connection = ServerConnection::new(Arc::new(config)).unwrap();
    server(move |mut stream| {
        // Runs until the client refuses the certificate or closes the connection.
        while connection.complete_io(&mut stream).is_ok_and(|(read, _)| read > 0) {}
    })
}

/// Why a client that trusts only this authority gets no answer.
async fn refusal(url: &str, authority: &[u8]) -> reqwest::Error {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let authority = reqwest::Certificate::from_pem(authority).unwrap();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([authority]).build().unwrap();
    client.get(url).send().await.unwrap_err()
}

/// The messages of an error and of all its causes, in one text.
fn words(error: &(dyn Error + 'static)) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[tokio::test]
async fn the_certificate_of_an_authority_is_told_from_one_that_is_not_trusted() {
    for (server, host, trusted, fault, is_unknown) in [
        // Whether the client trusts it or not, an authority's certificate is refused.
        (SELF_SIGNED, "localhost", SELF_SIGNED[0], OfAnAuthority, false),
        (SELF_SIGNED, "localhost", OTHER_AUTHORITY, OfAnAuthority, false),
        // The authority is unknown, or the name differs.
        (SIGNED, "localhost", OTHER_AUTHORITY, NotTrusted, true),
        (SIGNED, "127.0.0.1", AUTHORITY, NotTrusted, false),
    ] {
        let port = encrypted(server).port();
        let error = refusal(&format!("https://{host}:{port}/?key=s3cret"), trusted).await;
        let words = words(&error);
        assert_eq!(certificate_fault(&error), Some(fault), "{words}");
        assert_eq!(is_of_unknown_authority(&error), is_unknown, "{words}");
        assert_eq!(certificate_fault_in_words(&words), Some(fault), "{words}");
        let cause = cause(&error);
        assert!(cause.starts_with(REFUSED_CERTIFICATE) && words.ends_with(&cause), "{words}");
        assert!(words.contains("s3cret") && !cause.contains("s3cret"), "{words}");
    }
}

#[tokio::test]
async fn another_failure_is_not_one_of_the_certificate() {
    // The port was free a moment ago, and nothing listens on it.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = refusal(&format!("https://{free}"), AUTHORITY).await;
    assert_eq!(cause(&refused), TcpStream::connect(free).unwrap_err().to_string());
    let without_tls = server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let corrupt = refusal(&format!("https://{without_tls}"), AUTHORITY).await;
    assert!(causes(&corrupt).any(|cause| cause.is::<rustls::Error>()), "{corrupt:?}");
    let closed = refusal(&format!("http://{}", server(drop)), AUTHORITY).await;
    for (error, fault) in
        [(refused, None), (corrupt, Some(ProtocolFault::WithoutTls)), (closed, None)]
    {
        assert_eq!(protocol_fault(&error), fault, "{error:?}");
        assert_eq!(certificate_fault(&error), None, "{error:?}");
        assert_eq!(certificate_fault_in_words(&words(&error)), None, "{error:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_told_from_one_that_breaks_off() {
    // A TLS server answers this to a request without TLS: a fatal alert.
    let alert: &[u8] = b"\x15\x03\x01\x00\x02\x02\x46";
    for (answer, fault) in [
        (alert, Some(ProtocolFault::NotHttp)),
        (b"220 ready\r\n\r\n", Some(ProtocolFault::NotHttp)),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
            Some(ProtocolFault::TooLarge),
        ),
        (b"HTTP/1.1 200 OK\r\nContent-", None),
    ] {
        let server = server(|mut stream| {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer);
        });
        let error = refusal(&format!("http://{server}"), AUTHORITY).await;
        assert_eq!(protocol_fault(&error), fault, "{error:?}");
    }
}
