//! Checks the certificate file that a variable names, before any connection: the TLS library reports only that there
//! are no certificates.

use std::{env, ffi::OsStr, fs::File, io::Read as _, path::Path};

use rustls::pki_types::{CertificateDer, pem::PemObject as _};

use crate::error::Failed;

/// The variable that names the file, as for OpenSSL.
const NAMED: &str = "SSL_CERT_FILE";
/// The most bytes of the file that are read: many times the size of all authorities of a system.
const MAX_BYTES: u64 = 64 << 20;

/// Refuses a file that cannot be read, or that contains no certificate.
pub(crate) fn must_be_readable() -> Result<(), Failed> {
    // On these systems the variable is not used.
    if cfg!(any(windows, target_vendor = "apple")) {
        return Ok(());
    }
    let named = env::var_os(NAMED).filter(|named| !named.is_empty());
    named.map_or(Ok(()), |named| must_have_one(&named))
}

fn must_have_one(named: &OsStr) -> Result<(), Failed> {
    let path = Path::new(named);
    let refused =
        |what: &str| Failed::Prepare(format!("`{}`, which {NAMED} names, {what}", path.display()));
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut text));
    read.map_err(|error| refused(&format!("cannot be read: {error}")))?;
    match CertificateDer::pem_slice_iter(&text).any(|certificate| certificate.is_ok()) {
        true => Ok(()),
        false => Err(refused("has no certificate (PEM)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_authorities_has_a_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let said = |name: &str| {
            must_have_one(folder.path().join(name).as_os_str()).map_err(|error| error.to_string())
        };
        let certificate = include_bytes!("../../../tests/certificates/authority.pem");
        std::fs::write(folder.path().join("authority.pem"), certificate).unwrap();
        std::fs::write(folder.path().join("empty.pem"), "# none\n").unwrap();
        assert_eq!(said("authority.pem"), Ok(()));
        assert!(said("empty.pem").unwrap_err().ends_with("has no certificate (PEM)"));
        assert!(said("gone.pem").unwrap_err().contains("SSL_CERT_FILE names, cannot be read: "));
    }
}
