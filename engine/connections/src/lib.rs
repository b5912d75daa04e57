//! Finds out why a connection failed, from the errors of reqwest, rustls and the system, and which proxy it uses. Opens
//! no connection, retries nothing, and leaves messages for users to its callers.
//!
//! - `proxy`: the proxy that the environment names for an address.

mod proxy;

use std::{error::Error, io, iter};

use rustls::{CertificateError, InvalidMessage};

pub use proxy::{NotAProxy, Proxy};

/// What is wrong with a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateFault {
    /// It is the certificate of an authority, such as `openssl req -x509` creates, and the server uses it as its own.
    /// It is refused even if that authority is trusted.
    OfAnAuthority,
    /// It is not trusted for any other reason: its authority, its period of validity, its name.
    NotTrusted,
}

/// How a server's protocol differs from the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolFault {
    /// The client uses TLS, but the server answers without it.
    WithoutTls,
    /// Its answer is not HTTP; a TLS server may answer this way to a client without TLS.
    NotHttp,
    /// The head of its answer is too long, or states a length that no answer has.
    TooLarge,
}

/// The innermost cause of an error, as text. The errors around it contain little, and those of reqwest contain the
/// address, which may contain a secret.
pub fn cause(error: &(dyn Error + 'static)) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}

/// What is wrong with the server's certificate, if that is why the connection failed.
pub fn certificate_fault(error: &(dyn Error + 'static)) -> Option<CertificateFault> {
    causes(error).find_map(|cause| match cause.downcast_ref()? {
        rustls::Error::InvalidCertificate(error) if is_of_an_authority(error) => {
            Some(CertificateFault::OfAnAuthority)
        }
        rustls::Error::InvalidCertificate(_) => Some(CertificateFault::NotTrusted),
        _ => None,
    })
}

/// Whether the server's certificate is refused because the authority that signed it is unknown, and not because of its
/// name or its period of validity.
pub fn is_of_unknown_authority(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| {
        matches!(
            cause.downcast_ref(),
            Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer))
        )
    })
}

/// How the server's protocol differs, if that is why there is no answer: another attempt would have the same outcome.
pub fn protocol_fault(error: &(dyn Error + 'static)) -> Option<ProtocolFault> {
    causes(error).find_map(|cause| {
        // The first byte of the answer does not begin a TLS record.
        let is_no_record = matches!(
            cause.downcast_ref(),
            Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType))
        );
        match cause.downcast_ref::<hyper::Error>() {
            _ if is_no_record => Some(ProtocolFault::WithoutTls),
            Some(error) if error.is_parse_too_large() => Some(ProtocolFault::TooLarge),
            Some(error) if error.is_parse() => Some(ProtocolFault::NotHttp),
            _ => None,
        }
    })
}

/// What is wrong with the server's certificate, if the message of an error contains it. This is for an error that is
/// passed on only as text, with the messages of all its causes and without its types.
pub fn certificate_fault_in_words(words: &str) -> Option<CertificateFault> {
    if !words.contains(REFUSED_CERTIFICATE) {
        return None;
    }
    Some(match words.contains(AUTHORITY_AS_SERVER) {
        true => CertificateFault::OfAnAuthority,
        false => CertificateFault::NotTrusted,
    })
}

/// What rustls reports for each certificate that it refuses: `Display` of `Error::InvalidCertificate` in its
/// `error.rs`.
const REFUSED_CERTIFICATE: &str = "invalid peer certificate: ";
/// What rustls reports for a certificate of an authority: `Debug` of the variant in webpki's `error.rs`.
const AUTHORITY_AS_SERVER: &str = "CaUsedAsEndEntity";

/// rustls has no separate error for this error of webpki.
fn is_of_an_authority(error: &CertificateError) -> bool {
    let CertificateError::Other(other) = error else { return false };
    matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

/// An error, its cause, the cause of that, and so on.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |error| {
        let error: &'a (dyn Error + 'static) = *error;
        // An operating-system error that wraps another one has its message, but not the error itself as its source.
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        }
    })
}

#[cfg(test)]
mod tests;
