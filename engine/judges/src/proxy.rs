//! The proxy that the environment names for an address, for messages. The HTTP client finds it in the same way, and asks it.

use std::env;

use hyper_util::client::proxy::matcher::Matcher;

use crate::error::ConnectError;

/// The variables that name a proxy for an address of a scheme, each in the spelling that counts first and in the other one.
const VARIABLES: [(&str, [&str; 2]); 4] = [
    ("http", ["HTTP_PROXY", "http_proxy"]),
    ("http", ["ALL_PROXY", "all_proxy"]),
    ("https", ["HTTPS_PROXY", "https_proxy"]),
    ("https", ["ALL_PROXY", "all_proxy"]),
];

/// The host and the port of the proxy for this address, without a password; `None` if there is none.
///
/// # Errors
/// If a variable for it has something else than an address: the client would ask the server itself.
pub(crate) fn of(base_url: &str) -> Result<Option<String>, ConnectError> {
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
        Some(proxy.uri().port_u16().map_or(host.clone(), |port| format!("{host}:{port}")))
    }))
}

/// Whether a variable has an address, or nothing.
fn is_address(value: &str) -> bool {
    let proxies = Matcher::builder().all(value.to_owned()).build();
    let any = "http://a/".parse();
    value.is_empty() || any.is_ok_and(|any| proxies.intercept(&any).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_proxy_may_lack_its_scheme_and_have_a_password() {
        for address in ["", "proxy", "proxy:3128", "http://user:secret@proxy:3128"] {
            assert!(is_address(address), "{address}");
        }
        for other in ["not a url :::", "http://", ":::"] {
            assert!(!is_address(other), "{other}");
        }
    }
}
