//! Why a connection failed, from what reqwest, rustls and the system say, and the proxy that it takes. Opens no
//! connection, tries nothing again, and leaves the words for users to its callers.
//!
//! - `proxy`: the proxy that the environment names for an address.

mod proxy;

use std::{error::Error, io, iter};

use rustls::{CertificateError, InvalidMessage};

pub use proxy::{NotAProxy, Proxy};

/// What is wrong with a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateFault {
    /// It is the certificate of an authority, as `openssl req -x509` makes it, and the server uses it as its own. It is
    /// refused even if that authority is trusted.
    OfAnAuthority,
    /// It is not trusted, for any other reason: its authority, its time, its name.
    NotTrusted,
}

/// How a server speaks another protocol than it is spoken to in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolFault {
    /// It is spoken to with TLS, and answers without.
    WithoutTls,
    /// Its answer is not HTTP; a server with TLS that is spoken to without may answer so.
    NotHttp,
    /// The head of its answer is longer than any, or states a length that no answer has.
    TooLarge,
}

/// What is behind an error: its innermost cause, in words. The errors around it say little, and those of reqwest name
/// the address, in which a secret may be.
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

/// Whether the server's certificate is refused because nobody knows the authority that signed it, and not for its name
/// or its time.
pub fn is_of_unknown_authority(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| {
        matches!(
            cause.downcast_ref(),
            Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer))
        )
    })
}

/// In what way the server speaks another protocol, if that is why there is no answer: another attempt has the same
/// outcome.
pub fn protocol_fault(error: &(dyn Error + 'static)) -> Option<ProtocolFault> {
    causes(error).find_map(|cause| {
        // The first byte of what came begins no record of TLS.
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

/// What is wrong with the server's certificate, if the words of an error say so. For an error that is handed on as a
/// text, with those of all its causes in it, and of which no type is left.
pub fn certificate_fault_in_words(words: &str) -> Option<CertificateFault> {
    if !words.contains(REFUSED_CERTIFICATE) {
        return None;
    }
    Some(match words.contains(AUTHORITY_AS_SERVER) {
        true => CertificateFault::OfAnAuthority,
        false => CertificateFault::NotTrusted,
    })
}

/// What rustls says of each certificate that it refuses: `Display` of `Error::InvalidCertificate` in its `error.rs`.
const REFUSED_CERTIFICATE: &str = "invalid peer certificate: ";
/// What it says of one of an authority: `Debug` of the variant in `error.rs` of webpki.
const AUTHORITY_AS_SERVER: &str = "CaUsedAsEndEntity";

/// rustls has no error of its own for this one of webpki.
fn is_of_an_authority(error: &CertificateError) -> bool {
    let CertificateError::Other(other) = error else { return false };
    matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

/// An error, what caused it, what caused that, and so on.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |error| {
        let error: &'a (dyn Error + 'static) = *error;
        // An error of the operating system that wraps another has that one's words, and not it as its source.
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        }
    })
}

#[cfg(test)]
mod tests;
