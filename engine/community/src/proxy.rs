//! The proxy that the environment names for an address: for errors, and whether it is one. The HTTP client finds it in the same way, and
//! asks it.

use std::env;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;

use crate::error::Failed;

/// The variables that name a proxy for `https` or `http`, each in the spelling that counts first and in the other one.
fn variables(scheme: &str) -> [[&'static str; 2]; 2] {
    let all = ["ALL_PROXY", "all_proxy"];
    match scheme {
        "https" => [["HTTPS_PROXY", "https_proxy"], all],
        _ => [["HTTP_PROXY", "http_proxy"], all],
    }
}

/// Host and port of the proxy for this address, without a password; `None` if there is none.
pub(crate) fn of(url: &Url) -> Option<String> {
    let address = url.as_str().parse().ok()?;
    let proxy = Matcher::from_env().intercept(&address)?;
    let host = proxy.uri().host()?;
    Some(proxy.uri().port_u16().map_or(host.to_owned(), |port| format!("{host}:{port}")))
}

/// Refuses a variable that names something else than a proxy: the client would ask the server itself.
pub(crate) fn must_be_one(scheme: &str) -> Result<(), Failed> {
    // A program that a web server starts has the visitor's `Proxy` header in `HTTP_PROXY`: there, none is asked.
    if env::var_os("REQUEST_METHOD").is_some() {
        return Ok(());
    }
    for names in variables(scheme) {
        let named = names.iter().find_map(|name| Some((*name, env::var(name).ok()?)));
        if let Some((name, _)) = named.filter(|(_, value)| !is_address(value)) {
            // Without the value, which may have a password.
            return Err(Failed::Prepare(format!(
                "{name} has no address of an HTTP proxy, such as `http://HOST:PORT`"
            )));
        }
    }
    Ok(())
}

/// Whether a variable has the address of a proxy that is spoken to in HTTP, or nothing.
fn is_address(value: &str) -> bool {
    let proxies = Matcher::builder().all(value.to_owned()).build();
    let Ok(any) = "http://a/".parse() else { return false };
    let proxy = proxies.intercept(&any).map(|proxy| proxy.uri().to_string());
    // Host and port are checked there; the client checks neither.
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
        for other in ["not a url :::", "http://", ":::", "http://proxy:port", "socks5://proxy:1080"]
        {
            assert!(!is_address(other), "{other}");
        }
    }
}
