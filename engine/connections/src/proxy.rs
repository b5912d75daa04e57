//! Finds the proxy that the environment names for an address, whether it is valid, and what messages may contain of it.
//! The HTTP client finds and uses it in the same way.

use std::env;

use hyper_util::client::proxy::matcher::Matcher;
use url::Url;

/// A proxy that uses HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// The host and the port, without a password.
    pub place: String,
    /// The user name and password in Base64, as they are sent to the proxy; `None` if the address has none.
    pub credentials: Option<String>,
    /// Whether it is spoken to with TLS, since its address begins with `https://`.
    pub speaks_tls: bool,
}

/// The variable whose value is not a valid proxy. The value is left out, because it may contain a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAProxy(pub &'static str);

impl Proxy {
    /// The proxy for this address; `None` if there is none.
    pub fn of(address: &str) -> Option<Proxy> {
        let proxy = Matcher::from_env().intercept(&address.parse().ok()?)?;
        let host = proxy.uri().host()?;
        let place = proxy.uri().port_u16().map_or(host.to_owned(), |port| format!("{host}:{port}"));
        let shown = proxy.basic_auth().and_then(|shown| shown.to_str().ok());
        let credentials = shown.and_then(|shown| shown.strip_prefix("Basic "));
        let speaks_tls = proxy.uri().scheme_str() == Some("https");
        Some(Proxy { place, credentials: credentials.map(str::to_owned), speaks_tls })
    }

    /// Checks the variables that name a proxy for addresses with this scheme, `http` or `https`.
    ///
    /// # Errors
    /// If one does not contain a valid address: the client would then connect to the server directly.
    pub fn check_variables(scheme: &str) -> Result<(), NotAProxy> {
        // In a program that a web server starts, `HTTP_PROXY` contains the visitor's `Proxy` header, so no proxy is
        // used there.
        if env::var_os("REQUEST_METHOD").is_some() {
            return Ok(());
        }
        for names in variables(scheme) {
            let named = names.iter().find_map(|name| Some((*name, env::var(name).ok()?)));
            if let Some((name, _)) = named.filter(|(_, value)| !is_address(value)) {
                return Err(NotAProxy(name));
            }
        }
        Ok(())
    }
}

/// The variables that name a proxy for `https` or `http`, each in the spelling that takes precedence and in the other
/// one.
fn variables(scheme: &str) -> [[&'static str; 2]; 2] {
    let all = ["ALL_PROXY", "all_proxy"];
    match scheme {
        "https" => [["HTTPS_PROXY", "https_proxy"], all],
        _ => [["HTTP_PROXY", "http_proxy"], all],
    }
}

/// Whether a variable contains the address of a proxy that uses HTTP, or is empty.
fn is_address(value: &str) -> bool {
    let proxies = Matcher::builder().all(value.to_owned()).build();
    let Ok(any) = "http://a/".parse() else { return false };
    let proxy = proxies.intercept(&any).map(|proxy| proxy.uri().to_string());
    // The host and the port are checked here, because the client checks neither.
    let proxy = proxy.and_then(|proxy| Url::parse(&proxy).ok());
    let is_reachable = |url: &Url| {
        matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|it| !it.is_empty())
    };
    value.is_empty() || proxy.as_ref().is_some_and(is_reachable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_proxy_may_lack_its_scheme_and_have_a_password() {
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
}
