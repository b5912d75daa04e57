//! A real OCI registry on the loopback interface: Debian's docker-registry, with its data in a temporary folder. Knows
//! nothing of scorebox. If it is not installed, tests report that they were skipped. Also a server with TLS that
//! redirects as registries do.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
};

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

/// The user `Aladdin` with the password `open sesame`, by bcrypt.
const PASSWORDS: &str = "Aladdin:$2b$04$4uTC1w.1Dv5scR035BIUSelQu0WPJhnp.SclVGcjhwP/A5za4gbG2\n";

/// A registry, until it is dropped.
pub(crate) struct OciRegistry {
    process: Child,
    port: u16,
    folder: tempfile::TempDir,
}

/// Who can access a registry, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// Without TLS, by everybody.
    Open,
    /// Without TLS, by `Aladdin`.
    Password,
    /// With the certificate of `certificates/localhost.pem`.
    Tls,
}

/// Whether another client of registries is installed. If not, prints a message.
pub(crate) fn is_installed(client: &str) -> bool {
    let quiet = || Stdio::null();
    let mut command = Command::new(client);
    let is_there = command.arg("--version").stdin(quiet()).stdout(quiet()).stderr(quiet()).status();
    if is_there.is_err() {
        left_out(client);
    }
    is_there.is_ok()
}

/// Bypasses the test harness, which captures the output of a test that passes.
fn left_out(what_is_missing: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(io::stderr(), "{name} LEFT OUT: no {what_is_missing} is installed");
}

impl OciRegistry {
    /// `None`, with a message, if no registry is installed.
    pub(crate) fn start(door: Door) -> Option<OciRegistry> {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/certificates");
        let mut settings = format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdirectory: '{}'}}}}\nhttp:\n  addr: 127.0.0.1:0\n",
            path("data")
        );
        match door {
            Door::Open => {}
            Door::Password => {
                fs::write(path("passwords"), PASSWORDS).unwrap();
                let passwords = path("passwords");
                settings += &format!("auth: {{htpasswd: {{realm: here, path: '{passwords}'}}}}\n");
            }
            Door::Tls => {
                let file = |name: &str| certificates.join(name).display().to_string();
                let (certificate, key) = (file("localhost.pem"), file("localhost.key.pem"));
                settings += &format!("  tls: {{certificate: '{certificate}', key: '{key}'}}\n");
            }
        }
        fs::write(path("settings.yml"), settings).unwrap();
        let started = Command::new("docker-registry")
            .args(["serve", &path("settings.yml")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut process) = started else {
            left_out("docker-registry");
            return None;
        };
        // `msg="listening on 127.0.0.1:41997"`, sometimes followed by `, tls`.
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("listening on 127.0.0.1:")?;
            port.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
        });
        // Reads the rest of its output, so that it never blocks on a full pipe.
        thread::spawn(move || lines.for_each(drop));
        let port = port.expect("docker-registry says its port");
        Some(OciRegistry { process, port, folder })
    }

    /// `localhost:PORT`.
    pub(crate) fn host(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// The response for this path, requested without TLS and without scorebox.
    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        self.ask("GET", path, b"", "200")
    }

    /// The file in which the registry stores a blob.
    pub(crate) fn blob_file(&self, digest: &str) -> PathBuf {
        let blobs = self.folder.path().join("data/docker/registry/v2/blobs/sha256");
        blobs.join(&digest[..2]).join(digest).join("data")
    }

    /// Replaces the manifest of a name's tag by the one that `from` has under it. Both have one layer.
    pub(crate) fn move_tag(&self, name: &str, tag: &str, from: &str) {
        let manifest = self.get(&format!("/v2/{from}/manifests/{tag}"));
        let parts: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        for part in [&parts["config"], &parts["layers"][0]] {
            let digest = part["digest"].as_str().unwrap();
            let path = format!("/v2/{name}/blobs/uploads/?mount={digest}&from={from}");
            self.ask("POST", &path, b"", "201");
        }
        self.put_manifest(name, tag, &manifest);
    }

    /// Puts a manifest under a tag, replacing any other.
    pub(crate) fn put_manifest(&self, name: &str, tag: &str, manifest: &[u8]) {
        self.ask("PUT", &format!("/v2/{name}/manifests/{tag}"), manifest, "201");
    }

    /// Sends a request without TLS and without scorebox; its body is a manifest or empty.
    fn ask(&self, method: &str, path: &str, manifest: &[u8], expected: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let (kind, length) = ("application/vnd.oci.image.manifest.v1+json", manifest.len());
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nAccept: {kind}\r\nContent-Type: {kind}\r\n\
             Content-Length: {length}\r\n\r\n"
        )
        .unwrap();
        stream.write_all(manifest).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let expected = format!("HTTP/1.0 {expected}");
        assert!(answer.starts_with(expected.as_bytes()), "{}", String::from_utf8_lossy(&answer));
        answer.split_off(end)
    }
}

impl Drop for OciRegistry {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts a server with TLS that is not a real registry: it answers every request for a manifest with this one, and
/// redirects every blob to `place`. Returns its host and port.
pub(crate) fn with_blobs_elsewhere(manifest: &str, place: &str) -> String {
    let certificate = include_bytes!("certificates/localhost.pem");
    let key = include_bytes!("certificates/localhost.key.pem");
    let chain = vec![CertificateDer::from_pem_slice(certificate).unwrap()];
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_slice(key).unwrap())
        .unwrap();
    let config = Arc::new(config);
    let length = manifest.len();
    let found = format!("200 OK\r\nContent-Length: {length}\r\n\r\n{manifest}");
    let elsewhere = format!("307 Go\r\nContent-Length: 0\r\nLocation: {place}\r\n\r\n");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let stream = rustls::StreamOwned::new(connection, stream);
            // A client that goes away is not an error.
            let _ = answer(stream, &found, &elsewhere);
        }
    });
    format!("localhost:{port}")
}

fn answer(mut stream: impl Read + Write, found: &str, elsewhere: &str) -> io::Result<()> {
    let mut lines = BufReader::new(&mut stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
    let answer = if first.contains("/manifests/") { found } else { elsewhere };
    write!(stream, "HTTP/1.1 {}", answer.replacen("\r\n", "\r\nConnection: close\r\n", 1))?;
    stream.flush()
}
