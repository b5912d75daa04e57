//! Parses the location of an index: `https://HOST/PATH.json`, or `oci://REGISTRY/NAME:TAG`. Connects to nothing.

use std::{fmt, str::FromStr};

use reqwest::Url;

use crate::{address::Address, login::host_of};

/// The beginning of the location of an index in a registry.
const IN_A_REGISTRY: &str = "oci://";
/// The longest address that is read, in bytes.
const MAX_BYTES: usize = 2000;

/// The location of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every place needs a way to ask it")]
pub enum IndexPlace {
    /// A file on a web server, with its signature beside it.
    Web(WebPlace),
    /// An artifact in a registry.
    Registry(Address),
}

/// The URL of a file on a web server: `https` or `http`, without a user, a query or a fragment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WebPlace(Url);

/// Why a text is not the location of an index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAnIndexPlace {
    /// It is neither a URL nor an address in a registry.
    #[error(
        "an index is at `https://HOST/FILE`, or in a registry at `oci://REGISTRY/NAME:TAG`; {0}"
    )]
    Unreadable(&'static str),
    /// The text after `oci://` is not a valid address.
    #[error("{0}")]
    NotAnAddress(#[from] crate::address::NotAnAddress),
}

impl IndexPlace {
    /// Whether the location is without TLS. The address of a registry does not specify that.
    pub fn is_plain_http(&self) -> bool {
        matches!(self, IndexPlace::Web(place) if place.0.scheme() == "http")
    }

    /// The host, with its port if one is named.
    pub fn host(&self) -> String {
        match self {
            IndexPlace::Registry(address) => address.registry().to_owned(),
            IndexPlace::Web(WebPlace(url)) => host_of(url),
        }
    }
}

impl WebPlace {
    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    /// The location of the signature: next to the index.
    pub(super) fn signature(&self) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}.minisig", self.0.path()));
        url
    }
}

impl fmt::Display for IndexPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexPlace::Web(WebPlace(url)) => f.write_str(url.as_str()),
            IndexPlace::Registry(address) => write!(f, "{IN_A_REGISTRY}{address}"),
        }
    }
}

impl FromStr for IndexPlace {
    type Err = NotAnIndexPlace;

    fn from_str(written: &str) -> Result<IndexPlace, NotAnIndexPlace> {
        if written.len() > MAX_BYTES {
            return Err(NotAnIndexPlace::Unreadable("this is too long"));
        }
        if let Some(address) = written.strip_prefix(IN_A_REGISTRY) {
            return Ok(IndexPlace::Registry(address.parse()?));
        }
        let unreadable = |reason| Err(NotAnIndexPlace::Unreadable(reason));
        let Ok(url) = Url::parse(written) else { return unreadable("this is neither") };
        if !matches!(url.scheme(), "https" | "http") || url.host_str().is_none() {
            return unreadable("this is neither");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return unreadable("this has a user name or a password, which are not sent");
        }
        if url.query().is_some() || url.fragment().is_some() {
            return unreadable(
                "this has a `?` or a `#`, so that it is not known where its signature is",
            );
        }
        if url.path().ends_with('/') {
            return unreadable("this is a folder: name the file in it");
        }
        Ok(IndexPlace::Web(WebPlace(url)))
    }
}

/// Whether a text is the URL of something on a web server: `https` or `http` with a host, and without a user or a
/// password, which would be published with the URL.
pub fn is_web_address(written: &str) -> bool {
    let Ok(url) = Url::parse(written) else { return false };
    // A text that the parser would change is refused, because others should be able to copy it.
    let is_plain = !written.contains(|it: char| it.is_whitespace() || it.is_control());
    is_plain
        && matches!(url.scheme(), "https" | "http")
        && written.contains("://")
        && url.host_str().is_some()
        && url.username().is_empty()
        && url.password().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_as_it_is_read() {
        for (written, host, is_plain) in [
            ("https://scorers.example.com/index.json", "scorers.example.com", false),
            ("https://scorers.example.com:8443/team/index.json", "scorers.example.com:8443", false),
            ("http://127.0.0.1:5000/index.json", "127.0.0.1:5000", true),
            ("oci://registry.example.com/team/index:1", "registry.example.com", false),
        ] {
            let place: IndexPlace = written.parse().unwrap();
            assert_eq!(place.to_string(), written);
            assert_eq!((place.host().as_str(), place.is_plain_http()), (host, is_plain));
        }
    }

    #[test]
    fn a_web_address_is_one_that_a_browser_opens() {
        for written in ["https://git.test/team/grade", "http://localhost:80/a?b#c"] {
            assert!(is_web_address(written), "{written}");
        }
        for written in [
            "",
            "git.test/team",
            "git@git.test:team/grade",
            "javascript:alert(1)",
            "https:git.test",
            "https://me:secret@git.test/a",
            "https://git.test/a\nb",
            "ssh://git.test/a",
            "https://",
        ] {
            assert!(!is_web_address(written), "{written}");
        }
    }

    #[test]
    fn what_is_not_a_place_is_refused_with_the_reason() {
        let long = format!("https://a.b/{}", "c".repeat(MAX_BYTES));
        for (written, reason) in [
            ("", "this is neither"),
            ("index.json", "this is neither"),
            ("file:///etc/passwd", "this is neither"),
            ("ftp://a.b/index.json", "this is neither"),
            ("https://", "this is neither"),
            ("https://user:secret@a.b/index.json", "not sent"),
            ("https://user@a.b/index.json", "not sent"),
            ("https://a.b/index.json?version=2", "`?` or a `#`"),
            ("https://a.b/index.json#top", "`?` or a `#`"),
            ("https://a.b", "a folder"),
            ("https://a.b/team/", "a folder"),
            ("oci://a.b/index", "needs a tag"),
            ("oci://../index:1", "host name with a dot"),
            (&long, "too long"),
        ] {
            let error = written.parse::<IndexPlace>().unwrap_err().to_string();
            assert!(error.contains(reason), "{written}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
