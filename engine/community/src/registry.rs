//! Sends requests about one name to a registry: get the manifest of a tag, store blobs and manifests. Makes no
//! decisions about what is published.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use reqwest::{
    Method, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LINK, LOCATION},
};
use scorebox::digest::Digest;
use serde::Deserialize;

use crate::{
    address::Address,
    artifact::{Blob, MANIFEST_TYPE, MAX_MANIFEST_BYTES},
    credentials::Credentials,
    error::{CommunityError, Failed},
    exchange::{Exchange, Reply},
    login::{Challenge, must_be_safe},
};

/// The types that a manifest may have. A registry reports that there is nothing if the type was not requested.
const MANIFEST_TYPES: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
     application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json";

/// The most bytes of an answer that only reports success.
const MAX_DONE_BYTES: usize = 64 << 10;

/// How many tags to request on a page: some registries refuse a higher number.
const TAGS_OF_A_PAGE: usize = 1000;
/// The most pages of tags, and the most bytes of all of them.
const MAX_TAG_PAGES: usize = 100;
const MAX_TAGS_BYTES: usize = 8 << 20;
/// The longest time for all pages.
const MAX_TAGS_TIME: Duration = Duration::from_secs(2 * 60);

/// How many redirects to a blob are followed.
pub(crate) const MAX_REDIRECTS: usize = 3;

/// How to connect to a registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a registry is safe from eavesdroppers or not")]
pub enum Transport {
    /// Over TLS, with the certificates that this machine trusts.
    #[default]
    Tls,
    /// Without TLS: everybody on the network path can read and change what is sent.
    PlainHttp,
}

/// A registry, for requests about one name.
#[derive(Debug)]
pub struct Registry {
    address: Address,
    /// Ends in `/v2/NAME/`.
    url: Url,
    exchange: Exchange,
    credentials: Option<Credentials>,
    /// The headers for requests since the registry required a login, by their access.
    authorization: Mutex<BTreeMap<Access, HeaderValue>>,
}

/// The access that a login is for. A registry that lets everybody read may refuse a token for more to an anonymous
/// user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// To read.
    Read,
    /// To write, and to read.
    Write,
}

impl Access {
    fn actions(self) -> &'static str {
        match self {
            Access::Read => "pull",
            Access::Write => "pull,push",
        }
    }
}

/// A request.
#[derive(Clone)]
struct Question {
    access: Access,
    method: Method,
    url: Url,
    accept: Option<&'static str>,
    content: Option<(&'static str, Bytes)>,
    /// The name of the expected answer in messages, and the most bytes of it.
    what: &'static str,
    max_bytes: usize,
}

impl Registry {
    /// The registry of `address`, for what is published under its name. Does not connect yet; sends `credentials` only
    /// if the registry requires a login. Requests need a tokio runtime with time and I/O.
    ///
    /// # Errors
    /// [`Failed::Prepare`] if connections are not possible.
    pub fn new(
        address: &Address,
        transport: Transport,
        credentials: Option<Credentials>,
    ) -> Result<Registry, CommunityError> {
        let has_tls = transport == Transport::Tls;
        let scheme = if has_tls { "https" } else { "http" };
        let text = format!("{scheme}://{}/v2/{}/", address.registry(), address.name());
        let prepare = |failed: Failed| failed.at(address.registry());
        let url = Url::parse(&text).map_err(|error| prepare(Failed::Prepare(error.to_string())))?;
        let exchange = Exchange::new(has_tls, is_this_machine(&url)).map_err(prepare)?;
        let authorization = Mutex::default();
        Ok(Registry { address: address.clone(), url, exchange, credentials, authorization })
    }

    /// The address that requests are about.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The manifest of the tag; `None` if there is no such tag. [`Access::Write`] is for a caller that writes
    /// afterwards.
    pub(crate) async fn manifest(&self, access: Access) -> Result<Option<Bytes>, Failed> {
        self.manifest_at(self.address.tag(), access).await
    }

    /// The manifest with that digest; `None` if there is none.
    pub(crate) async fn manifest_of(&self, digest: Digest) -> Result<Option<Bytes>, Failed> {
        let manifest = self.manifest_at(&format!("sha256:{digest}"), Access::Read).await?;
        match manifest {
            Some(bytes) if Digest::of(&bytes) != digest => Err(Failed::OtherBytes(digest)),
            manifest => Ok(manifest),
        }
    }

    async fn manifest_at(&self, place: &str, access: Access) -> Result<Option<Bytes>, Failed> {
        let url = self.below(&format!("manifests/{place}"))?;
        let question = Question {
            access,
            accept: Some(MANIFEST_TYPES),
            ..Question::new(Method::GET, url, "a manifest", MAX_MANIFEST_BYTES)
        };
        let reply = self.ask(question).await?;
        match reply.status.as_u16() {
            200 => Ok(Some(reply.body)),
            404 => Ok(None),
            _ => Err(reply.refusal()),
        }
    }

    /// All tags of the name; none if the registry does not have the name.
    pub(crate) async fn tags(&self) -> Result<Vec<String>, Failed> {
        self.tags_within(MAX_TAGS_TIME).await
    }

    /// A registry that sends each page in time can still take too long for all of them.
    async fn tags_within(&self, time: Duration) -> Result<Vec<String>, Failed> {
        tokio::time::timeout(time, self.each_page()).await.unwrap_or(Err(Failed::TimedOut))
    }

    async fn each_page(&self) -> Result<Vec<String>, Failed> {
        #[derive(Deserialize)]
        struct Tags {
            tags: Option<Vec<String>>,
        }
        const WHAT: &str = "a list of tags";
        let mut url = self.below("tags/list")?;
        url.query_pairs_mut().append_pair("n", &TAGS_OF_A_PAGE.to_string());
        let (mut tags, mut left) = (Vec::new(), MAX_TAGS_BYTES);
        for _ in 0..MAX_TAG_PAGES {
            let reply = self.ask(Question::new(Method::GET, url.clone(), WHAT, left)).await;
            let reply = reply.map_err(|failed| match failed {
                // The limit applies to all pages together.
                Failed::TooLarge { what, .. } => {
                    Failed::TooLarge { what, max_bytes: MAX_TAGS_BYTES }
                }
                failed => failed,
            })?;
            match reply.status.as_u16() {
                200 => {}
                404 => return Ok(Vec::new()),
                _ => return Err(reply.refusal()),
            }
            left = left.saturating_sub(reply.body.len());
            let no_list = |_| Failed::NotARegistry("its list of tags is not valid");
            let page: Tags = serde_json::from_slice(&reply.body).map_err(no_list)?;
            tags.extend(page.tags.unwrap_or_default());
            let Some(next) = next_page(&reply.headers) else { return Ok(tags) };
            url = url
                .join(next)
                .ok()
                .filter(|next| next.origin() == self.url.origin())
                .ok_or(Failed::NotARegistry("its list of tags continues on another server"))?;
        }
        Err(Failed::TooManyPages(MAX_TAG_PAGES))
    }

    /// The same registry, for another tag of the name.
    #[must_use]
    pub fn with_tag(mut self, address: Address) -> Registry {
        self.address = address;
        self
    }

    /// Stores a manifest in the registry under the tag.
    pub(crate) async fn keep_manifest(&self, manifest: Bytes) -> Result<(), Failed> {
        let url = self.below(&format!("manifests/{}", self.address.tag()))?;
        let question = Question {
            access: Access::Write,
            content: Some((MANIFEST_TYPE, manifest)),
            ..Question::new(Method::PUT, url, DONE, MAX_DONE_BYTES)
        };
        done(&self.ask(question).await?)
    }

    /// Stores a blob in the registry, unless the registry already has it complete. Returns whether it was sent.
    pub(crate) async fn keep_blob(&self, blob: &Blob) -> Result<bool, Failed> {
        let there = self.below(&format!("blobs/{}", blob.name()))?;
        let looking = Question {
            access: Access::Write,
            ..Question::new(Method::HEAD, there, DONE, MAX_DONE_BYTES)
        };
        let is_there = self.ask(looking).await?;
        match is_there.status.as_u16() {
            // The registry checks only the name of a blob, not its bytes.
            200 if self.has_whole(blob).await? => Ok(false),
            200 => {
                self.upload(blob).await?;
                match self.has_whole(blob).await? {
                    true => Ok(true),
                    false => Err(Failed::StaysDamaged(blob.digest)),
                }
            }
            404 => self.upload(blob).await.map(|()| true),
            _ => Err(is_there.refusal()),
        }
    }

    /// Whether the registry returns these bytes for the blob.
    async fn has_whole(&self, blob: &Blob) -> Result<bool, Failed> {
        match self.blob(blob.digest, blob.bytes.len()).await {
            Ok(_) => Ok(true),
            Err(Failed::OtherBytes(_) | Failed::TooLarge { .. } | Failed::NoComponent(_)) => {
                Ok(false)
            }
            Err(failed) => Err(failed),
        }
    }

    async fn upload(&self, blob: &Blob) -> Result<(), Failed> {
        let uploads = self.below("blobs/uploads/")?;
        let begin = Question {
            access: Access::Write,
            content: Some(("application/octet-stream", Bytes::new())),
            ..Question::new(Method::POST, uploads.clone(), DONE, MAX_DONE_BYTES)
        };
        let begun = self.ask(begin).await?;
        done(&begun)?;
        let location = begun.headers.get(LOCATION).and_then(|it| it.to_str().ok());
        let place = location.and_then(|it| uploads.join(it).ok());
        let mut place = place.ok_or(Failed::NotARegistry("it names no place for an upload"))?;
        must_be_safe(&place, &self.url)?;
        place.query_pairs_mut().append_pair("digest", &blob.name());
        let question = Question {
            access: Access::Write,
            content: Some(("application/octet-stream", blob.bytes.clone())),
            ..Question::new(Method::PUT, place, DONE, MAX_DONE_BYTES)
        };
        done(&self.ask(question).await?)
    }

    /// The component with that digest, which has at most `max_bytes`.
    pub(crate) async fn blob(&self, digest: Digest, max_bytes: usize) -> Result<Bytes, Failed> {
        self.blob_of(digest, "a component", max_bytes).await
    }

    /// The blob with that digest and at most `max_bytes`; errors call it `what`. The registry may redirect to another
    /// location: no login is sent there.
    pub(crate) async fn blob_of(
        &self,
        digest: Digest,
        what: &'static str,
        max_bytes: usize,
    ) -> Result<Bytes, Failed> {
        let mut place = self.below(&format!("blobs/sha256:{digest}"))?;
        for redirects in 0..=MAX_REDIRECTS {
            let question = Question::new(Method::GET, place.clone(), what, max_bytes);
            let reply = match redirects {
                0 => self.ask(question).await?,
                _ => self.send(question, None).await?,
            };
            match reply.status.as_u16() {
                200 if Digest::of(&reply.body) == digest => return Ok(reply.body),
                200 => return Err(Failed::OtherBytes(digest)),
                404 => return Err(Failed::NoComponent(digest)),
                301 | 302 | 303 | 307 | 308 => {
                    let location = reply.headers.get(LOCATION).and_then(|it| it.to_str().ok());
                    let next = location.and_then(|it| place.join(it).ok());
                    place = next.ok_or(Failed::NotARegistry("it redirects to no place"))?;
                    must_be_safe(&place, &self.url)?;
                }
                _ => return Err(reply.refusal()),
            }
        }
        Err(Failed::RedirectsTooOften(MAX_REDIRECTS))
    }

    fn below(&self, path: &str) -> Result<Url, Failed> {
        // An address and a digest contain no character that has a meaning in a URL.
        self.url.join(path).map_err(|error| Failed::Prepare(error.to_string()))
    }

    /// Sends a request, and repeats it with a login if the registry requires one.
    async fn ask(&self, question: Question) -> Result<Reply, Failed> {
        let is_own = question.url.origin() == self.url.origin();
        let access = question.access;
        let known = self.kept(access).filter(|_| is_own);
        let reply = self.send(question.clone(), known).await?;
        if reply.status != 401 || !is_own {
            return self.allowed(reply);
        }
        let scope = format!("repository:{}:{}", self.address.name(), access.actions());
        let challenge = Challenge::of(&reply.headers)?;
        let credentials = self.credentials.as_ref();
        let answer = challenge.answer(&self.exchange, &self.url, &scope, credentials).await?;
        self.keep(access, answer.clone());
        let reply = self.send(question, Some(answer)).await?;
        self.allowed(reply)
    }

    /// The login for this access, if the registry has required one before.
    fn kept(&self, access: Access) -> Option<HeaderValue> {
        let kept = self.authorization.lock().unwrap_or_else(PoisonError::into_inner);
        // `Access` is ordered, because a login for writing also allows reading.
        kept.range(access..).next().map(|(_, login)| login.clone())
    }

    fn keep(&self, access: Access, login: HeaderValue) {
        self.authorization.lock().unwrap_or_else(PoisonError::into_inner).insert(access, login);
    }

    /// The answer, unless it requires another login.
    fn allowed(&self, reply: Reply) -> Result<Reply, Failed> {
        match (reply.status.as_u16(), &self.credentials) {
            (401 | 403, None) => Err(Failed::LoginWanted),
            (401 | 403, Some(_)) => Err(Failed::LoginRefused(reply.server_message())),
            _ => Ok(reply),
        }
    }

    async fn send(&self, question: Question, login: Option<HeaderValue>) -> Result<Reply, Failed> {
        let Question { method, url, accept, content, what, max_bytes, .. } = question;
        let mut request = self.exchange.client().request(method, url);
        if let Some(accept) = accept {
            request = request.header(ACCEPT, accept);
        }
        if let Some((kind, content)) = content {
            request = request.header(CONTENT_TYPE, kind).body(content);
        }
        if let Some(login) = login {
            request = request.header(AUTHORIZATION, login);
        }
        self.exchange.send(request, what, max_bytes).await
    }
}

/// The name of an answer that only reports success.
const DONE: &str = "an answer that something was done";

impl Question {
    fn new(method: Method, url: Url, what: &'static str, max_bytes: usize) -> Question {
        let access = Access::Read;
        Question { access, method, url, accept: None, content: None, what, max_bytes }
    }
}

/// The address of the next page of a list, in the format of RFC 8288: `<PLACE>; rel="next"`.
fn next_page(headers: &HeaderMap) -> Option<&str> {
    let links = headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
    links.flat_map(|links| links.split('<').skip(1)).find_map(|link| {
        let (place, parameters) = link.split_once('>')?;
        let mut parameters = parameters.split([';', ',']).filter_map(|it| it.split_once('='));
        let is_next = parameters.any(|(name, value)| {
            let value = value.trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case("rel") && value.eq_ignore_ascii_case("next")
        });
        is_next.then_some(place)
    })
}

fn done(reply: &Reply) -> Result<(), Failed> {
    match reply.status.is_success() {
        true => Ok(()),
        false => Err(reply.refusal()),
    }
}

/// Whether a server is on this machine; such a server is never asked through a proxy.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, time::Instant};

    use super::*;

    #[tokio::test]
    async fn all_pages_of_tags_have_one_time() {
        // This server accepts connections, but never answers.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("{}/team/grade:1", silent.local_addr().unwrap()).parse().unwrap();
        let registry = Registry::new(&address, Transport::PlainHttp, None).unwrap();
        let begun = Instant::now();
        assert_eq!(registry.tags_within(Duration::ZERO).await, Err(Failed::TimedOut));
        assert!(begun.elapsed() < Duration::from_secs(30), "it is not the silence that ends it");
    }
}
