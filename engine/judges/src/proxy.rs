//! The proxy that the environment names for an address: for messages, and what no message may have of it. The HTTP client finds it
//! in the same way, and asks it.

use std::env;

use hyper_util::client::proxy::matcher::Matcher;

use crate::{error::ConnectError, key::Key};

/// The variables that name a proxy for an address of a scheme, each in the spelling that counts first and in the other one.
const VARIABLES: [(&str, [&str; 2]); 4] = [
    ("http", ["HTTP_PROXY", "http_proxy"]),
    ("http", ["ALL_PROXY", "all_proxy"]),
    ("https", ["HTTPS_PROXY", "https_proxy"]),
    ("https", ["ALL_PROXY", "all_proxy"]),
];

/// A proxy.
pub(crate) struct Proxy {
    /// The host and the port, without a password.
    pub(crate) place: String,
    /// The password, alone and with the user's name, and both as the proxy is shown them: it may repeat what it was sent.
    pub(crate) secrets: Vec<Key>,
}

/// The proxy for this address; `None` if there is none.
///
/// # Errors
/// If a variable for it has something else than an address: the client would ask the server itself.
pub(crate) fn of(base_url: &str) -> Result<Option<Proxy>, ConnectError> {
    let scheme = base_url.split(':').next().unwrap_or_default();
    // A program that a web server starts has the visitor's `Proxy` header in `HTTP_PROXY`: there, none is asked.
    let is_cgi = env::var_os("REQUEST_METHOD").is_some();
    for (_, names) in VARIABLES.iter().filter(|(of, _)| *of == scheme && !is_cgi) {
        let named = names.iter().find_map(|name| Some((*name, env::var(name).ok()?)));
        if let Some((name, _)) = named.filter(|(_, value)| !is_address(value)) {
            return Err(ConnectError::Proxy(name));
        }
    }
    let Ok(address) = base_url.parse() else { return Ok(None) };
    let proxy = Matcher::from_env().intercept(&address);
    Ok(proxy.and_then(|proxy| {
        let host = proxy.uri().host()?.to_owned();
        let place = proxy.uri().port_u16().map_or(host.clone(), |port| format!("{host}:{port}"));
        let shown =
            proxy.basic_auth().and_then(|shown| shown.to_str().ok()?.strip_prefix("Basic "));
        Some(Proxy { place, secrets: shown.map(secrets).unwrap_or_default() })
    }))
}

/// A user's name and password as they are sent in Base64, and what they are.
fn secrets(shown: &str) -> Vec<Key> {
    let both = decoded(shown);
    let password = both.split_once(':').map(|(_, password)| password.to_owned());
    // An empty one is in every text.
    let all = [Some(shown.to_owned()), Some(both), password].into_iter().flatten();
    all.filter(|secret| !secret.is_empty()).map(Key::new).collect()
}

/// What is written in Base64; what cannot be a text is replaced.
fn decoded(base64: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held) = (0_u32, 0);
    let mut bytes = Vec::new();
    for letter in base64.bytes() {
        // Padding ends it.
        let Some(value) = (0_u32..).zip(LETTERS).find(|(_, it)| **it == letter) else { break };
        bits = (bits << 6) | value.0;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held).to_le_bytes()[0]);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a variable has the address of a proxy that is spoken to in HTTP, or nothing.
fn is_address(value: &str) -> bool {
    let proxies = Matcher::builder().all(value.to_owned()).build();
    let Ok(any) = "http://a/".parse() else { return false };
    let is_reachable = |uri: &reqwest::Url| {
        matches!(uri.scheme(), "http" | "https") && uri.host_str().is_some_and(|it| !it.is_empty())
    };
    let proxy = proxies.intercept(&any).map(|proxy| proxy.uri().to_string());
    // Host and port are checked there; the client checks neither.
    let proxy = proxy.and_then(|proxy| reqwest::Url::parse(&proxy).ok());
    value.is_empty() || proxy.as_ref().is_some_and(is_reachable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_proxy_may_lack_its_scheme_and_have_a_password() {
        for address in ["", "proxy", "proxy:3128", "http://user:secret@proxy:3128"] {
            assert!(is_address(address), "{address}");
        }
        for other in [
            "not a url :::",
            "http://",
            ":::",
            "http://user:secret@:x",
            "http://:3128",
            "http://proxy:port",
            "socks5://proxy:1080",
            "socks5h://proxy",
        ] {
            assert!(!is_address(other), "{other}");
        }
    }

    #[test]
    fn what_a_proxy_is_shown_is_a_secret_as_it_is_sent_and_as_it_is_written() {
        // `user:a password`
        let secrets = secrets("dXNlcjphIHBhc3N3b3Jk");
        let conceal = |text: &str| {
            secrets.iter().fold(text.to_owned(), |text, it| it.conceal(&text).into_owned())
        };
        assert_eq!(conceal("Basic dXNlcjphIHBhc3N3b3Jk"), "Basic [key]");
        assert_eq!(conceal("user:a password, a password"), "[key], [key]");
        assert_eq!(decoded("dXNlcjo="), "user:");
    }
}
