//! Fetches a signed index from its location. Reads a bounded amount of what a server sends, and stores nothing.

use bytes::Bytes;
use reqwest::{Url, header::LOCATION};

use super::{
    artifact::DescribedIndex,
    document::MAX_INDEX_BYTES,
    error::{IndexError, IndexFailed},
    place::{IndexPlace, WebPlace},
    signed::SignedIndex,
};
use crate::{
    credentials::Credentials,
    error::Failed,
    exchange::Exchange,
    login::must_be_safe,
    registry::{Access, MAX_REDIRECTS, Registry, Transport, is_this_machine},
    signing::{MAX_SIGNATURE_BYTES, Signer},
};

/// The name of the content in messages.
pub(super) const AN_INDEX: &str = "an index";

/// The index at `place`, signed by `signer`. `credentials` are sent to a registry only if it requires a login, and
/// never to a web server.
///
/// A web server may redirect up to three times, but not from TLS to a location without it.
///
/// # Errors
/// Why the index cannot be fetched, or is not one that `signer` signed.
pub async fn fetch_index(
    place: &IndexPlace,
    transport: Transport,
    credentials: Option<Credentials>,
    signer: &Signer,
) -> Result<SignedIndex, IndexError> {
    let fetched = match place {
        IndexPlace::Web(place) => from_web(place, signer).await,
        IndexPlace::Registry(address) => {
            let registry = Registry::new(address, transport, credentials);
            match registry {
                Ok(registry) => from_registry(&registry, signer).await,
                Err(error) => Err(error.into()),
            }
        }
    };
    fetched.map_err(|failed| IndexError::new(place, failed))
}

async fn from_web(place: &WebPlace, signer: &Signer) -> Result<SignedIndex, IndexFailed> {
    let url = place.url();
    let exchange = Exchange::new(url.scheme() == "https", is_this_machine(url))?;
    let document = get(&exchange, url, AN_INDEX, MAX_INDEX_BYTES).await?;
    let document = document.ok_or(IndexFailed::Missing)?;
    let signature = get(&exchange, &place.signature(), "a signature", MAX_SIGNATURE_BYTES).await?;
    let signature = signature.ok_or(IndexFailed::NotSigned)?;
    let signature = std::str::from_utf8(&signature).map_err(|_| IndexFailed::BadSignature)?;
    SignedIndex::open(document, signature, signer)
}

/// The content at `url`; `None` if there is none.
async fn get(
    exchange: &Exchange,
    url: &Url,
    what: &'static str,
    max_bytes: usize,
) -> Result<Option<Bytes>, Failed> {
    let mut place = url.clone();
    for _ in 0..=MAX_REDIRECTS {
        let request = exchange.client().get(place.clone());
        let reply = exchange.send(request, what, max_bytes).await?;
        match reply.status.as_u16() {
            200 => return Ok(Some(reply.body)),
            404 | 410 => return Ok(None),
            401 | 403 => return Err(Failed::LoginWanted),
            301 | 302 | 303 | 307 | 308 => {
                let location = reply.headers.get(LOCATION).and_then(|it| it.to_str().ok());
                let next = location.and_then(|it| place.join(it).ok());
                place = next.ok_or_else(|| reply.refusal())?;
                must_be_safe(&place, url)?;
            }
            _ => return Err(reply.refusal()),
        }
    }
    Err(Failed::RedirectsTooOften(MAX_REDIRECTS))
}

async fn from_registry(registry: &Registry, signer: &Signer) -> Result<SignedIndex, IndexFailed> {
    let manifest = registry.manifest(Access::Read).await?.ok_or(IndexFailed::Missing)?;
    let described = DescribedIndex::of(&manifest).map_err(IndexFailed::NotAnArtifact)?;
    let signature = described.signature.ok_or(IndexFailed::NotSigned)?;
    let document = registry.blob_of(described.document, AN_INDEX, described.bytes).await?;
    SignedIndex::open(document, &signature, signer)
}
