//! Answers a registry that requires a login: with a password, or with a token that another service returns for one.
//! Sends no password without TLS, unless plain HTTP is allowed.

use http_auth::parse_challenges;
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE},
};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::{credentials::Credentials, error::Failed, exchange::Exchange};

/// The most bytes that are read of an answer with a token.
const MAX_TOKEN_BYTES: usize = 256 << 10;

/// How a registry requires a login.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// With the password itself.
    Basic,
    /// With a token from the service at `realm`.
    Bearer { realm: Url, service: Option<String> },
}

/// The answer of a login service.
#[derive(Deserialize)]
struct Tokens {
    token: Option<String>,
    access_token: Option<String>,
}

impl Challenge {
    /// The first supported way among those that the answer names.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Challenge, Failed> {
        let unclear = Failed::NotARegistry("it wants a login, and does not say how");
        for value in headers.get_all(WWW_AUTHENTICATE) {
            let text = value.to_str().map_err(|_| unclear.clone())?;
            for challenge in parse_challenges(text).map_err(|_| unclear.clone())? {
                if challenge.scheme.eq_ignore_ascii_case("basic") {
                    return Ok(Challenge::Basic);
                }
                if !challenge.scheme.eq_ignore_ascii_case("bearer") {
                    continue;
                }
                let parameter = |name: &str| {
                    let mut all = challenge.params.iter();
                    let found = all.find(|(key, _)| key.eq_ignore_ascii_case(name));
                    found.map(|(_, value)| value.to_unescaped())
                };
                let realm = parameter("realm").and_then(|realm| Url::parse(&realm).ok());
                let realm = realm.ok_or(unclear.clone())?;
                return Ok(Challenge::Bearer { realm, service: parameter("service") });
            }
        }
        Err(unclear)
    }

    /// The header for a request for `scope`; `registry` is the registry's own address.
    pub(crate) async fn answer(
        self,
        exchange: &Exchange,
        registry: &Url,
        scope: &str,
        credentials: Option<&Credentials>,
    ) -> Result<HeaderValue, Failed> {
        let unsendable = || Failed::Credentials("it has characters that cannot be sent".into());
        let basic = match credentials {
            Some(credentials) => Some(credentials.basic().ok_or_else(unsendable)?),
            None => None,
        };
        let (realm, service) = match self {
            Challenge::Basic => return basic.ok_or(Failed::LoginWanted),
            Challenge::Bearer { realm, service } => (realm, service),
        };
        must_be_safe(&realm, registry)?;
        let mut place = realm;
        let server = host_of(&place);
        let at_login = move |failed| match failed {
            // This error already names what is too large: the token.
            Failed::TooLarge { .. } => failed,
            failed => Failed::AtLogin { server: server.clone(), failed: Box::new(failed) },
        };
        place.query_pairs_mut().append_pair("scope", scope);
        if let Some(service) = service {
            place.query_pairs_mut().append_pair("service", &service);
        }
        let mut request = exchange.client().get(place);
        let has_login = basic.is_some();
        if let Some(basic) = basic {
            request = request.header(AUTHORIZATION, basic);
        }
        let reply = exchange.send(request, "a token", MAX_TOKEN_BYTES).await.map_err(&at_login)?;
        if matches!(reply.status.as_u16(), 400 | 401 | 403) {
            return Err(match has_login {
                true => Failed::LoginRefused(reply.server_message()),
                false => Failed::LoginWanted,
            });
        }
        if !reply.status.is_success() {
            return Err(at_login(reply.refusal()));
        }
        let no_token = Failed::NotARegistry("its service for logins gives no token");
        let tokens: Tokens = serde_json::from_slice(&reply.body).map_err(|_| no_token.clone())?;
        let token = Zeroizing::new(tokens.token.or(tokens.access_token).ok_or(no_token.clone())?);
        let text = Zeroizing::new(format!("Bearer {}", token.as_str()));
        let mut value = HeaderValue::from_str(&text).map_err(|_| no_token)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// The host of a URL, with its port if one is named.
pub(crate) fn host_of(place: &Url) -> String {
    let host = place.host_str().unwrap_or_default();
    place.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Checks whether passwords and components may be sent to `place`, which the registry names: it must use TLS, or, if
/// the registry itself is used without TLS, it must be on the registry's host.
pub(crate) fn must_be_safe(place: &Url, registry: &Url) -> Result<(), Failed> {
    let is_own = registry.scheme() == "http" && place.host_str() == registry.host_str();
    match place.scheme() {
        "https" => Ok(()),
        "http" if is_own => Ok(()),
        _ => Err(Failed::WithoutTls(place.origin().ascii_serialization())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(text: &'static str) -> Result<Challenge, Failed> {
        let value = HeaderValue::from_static(text);
        Challenge::of(&HeaderMap::from_iter([(WWW_AUTHENTICATE, value)]))
    }

    #[test]
    fn a_registry_names_a_password_or_a_service_for_tokens() {
        assert_eq!(challenge("Basic realm=\"here\"").unwrap(), Challenge::Basic);
        let bearer = "Bearer realm=\"https://login.test/token\",service=\"a.test\",scope=\"x\"";
        let realm = Url::parse("https://login.test/token").unwrap();
        let service = Some("a.test".to_owned());
        assert_eq!(challenge(bearer).unwrap(), Challenge::Bearer { realm, service });
        assert_eq!(challenge("Negotiate, Basic realm=\"here\"").unwrap(), Challenge::Basic);
        for unclear in ["", "Negotiate", "Bearer", "Bearer realm=\"nowhere\"", "Bearer realm"] {
            assert!(matches!(challenge(unclear), Err(Failed::NotARegistry(_))), "{unclear}");
        }
    }

    #[test]
    fn without_tls_nothing_is_sent_but_to_a_registry_that_is_asked_so() {
        let url = |text| Url::parse(text).unwrap();
        let may = |place, registry| must_be_safe(&url(place), &url(registry)).is_ok();
        assert!(may("https://login.test/token", "https://a.test/v2/"));
        assert!(may("http://a.test:81/token", "http://a.test/v2/"));
        assert!(!may("http://login.test/token", "http://a.test/v2/"));
        assert!(!may("http://a.test/token", "https://a.test/v2/"));
        assert!(!may("file:///token", "http://a.test/v2/"));
    }
}
