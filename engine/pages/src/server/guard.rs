//! Decides which requests are allowed, by the name of the server (against DNS rebinding), the origin of the request,
//! and the token; and adds the headers of every answer. Knows no page.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::Response,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use scorebox::digest::Digest;

/// What pages may load: this server's own style sheet, scripts and icon, from files. Pages contain no inline script or
/// style.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The headers of every answer.
fn headers() -> [(HeaderName, &'static str); 7] {
    [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ]
}

/// The rules for requests.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    names: Vec<String>,
    /// The digest of the token, so that a comparison takes the same time for every guess.
    token: Option<Digest>,
}

impl Guard {
    pub(super) fn new(names: Vec<String>, token: Option<&str>) -> Guard {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Guard { names, token: token.map(|token| Digest::of(token.as_bytes())) }
    }

    /// Why a request is refused, if it is.
    fn refusal(&self, method: &Method, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        if ![Method::GET, Method::HEAD].contains(method) {
            return Some((StatusCode::METHOD_NOT_ALLOWED, "Only GET and HEAD are allowed."));
        }
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).unwrap_or_default();
        if headers.get_all(header::HOST).iter().count() != 1 || !self.is_known(host) {
            let words = "This server is not known by that name. Use its address, or start it with --name NAME.";
            return Some((StatusCode::MISDIRECTED_REQUEST, words));
        }
        // A browser names the origin of a request if it is another site.
        let is_own = |origin: &str| {
            origin.split_once("://").is_some_and(|(scheme, place)| {
                ["http", "https"].contains(&scheme) && place.eq_ignore_ascii_case(host)
            })
        };
        let is_of_another =
            headers.contains_key(header::ORIGIN) && !text(header::ORIGIN).is_some_and(is_own);
        if is_of_another || is_embedded_elsewhere(headers) {
            return Some((StatusCode::FORBIDDEN, "Another site may not read these pages."));
        }
        if let Some(token) = self.token
            && !text(header::AUTHORIZATION).is_some_and(|value| brings(value, token))
        {
            let words =
                "This server wants its token: any user name, and the token as the password.";
            return Some((StatusCode::UNAUTHORIZED, words));
        }
        None
    }

    /// Whether a `Host` is one that no other site can claim: an address, `localhost`, or a name that the user set.
    fn is_known(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port))
                if port.bytes().all(|it| it.is_ascii_digit()) && !port.is_empty() =>
            {
                name
            }
            _ => host,
        };
        let name = name.to_ascii_lowercase();
        let is_address = name.parse::<Ipv4Addr>().is_ok()
            || name
                .strip_prefix('[')
                .and_then(|it| it.strip_suffix(']'))
                .is_some_and(|it| it.parse::<Ipv6Addr>().is_ok());
        is_address || name == "localhost" || self.names.contains(&name)
    }
}

/// Whether a browser reports that a page of another site embeds this, as an image, a script or a frame. A link on
/// another site is allowed, because it opens this server's own page.
fn is_embedded_elsewhere(headers: &HeaderMap) -> bool {
    let says = |name: &str, word: &str| headers.get(name).is_some_and(|value| value == word);
    let is_from_another = ["cross-site", "same-site"].iter().any(|it| says("sec-fetch-site", it));
    let is_visit = says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document");
    is_from_another && !is_visit
}

/// Whether `Authorization` contains the token: as a bearer token, or as the password that a browser asks for.
fn brings(authorization: &str, token: Digest) -> bool {
    let Some((scheme, rest)) = authorization.split_once(' ') else { return false };
    let rest = rest.trim();
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Digest::of(rest.as_bytes()) == token,
        "basic" => BASE64_STANDARD.decode(rest).is_ok_and(|pair| {
            let password = pair.iter().position(|byte| *byte == b':').map(|at| &pair[at + 1..]);
            password.is_some_and(|password| Digest::of(password) == token)
        }),
        _ => false,
    }
}

/// The answer to a request that is not allowed. It closes the connection: only allowed requests keep one open.
fn refused(status: StatusCode, words: &str) -> Response<Body> {
    let mut answer = Response::new(Body::from(format!("{words}\n")));
    *answer.status_mut() = status;
    let mut says = |name, value| answer.headers_mut().insert(name, HeaderValue::from_static(value));
    says(header::CONTENT_TYPE, "text/plain; charset=utf-8");
    says(header::CONNECTION, "close");
    if status == StatusCode::METHOD_NOT_ALLOWED {
        says(header::ALLOW, "GET, HEAD");
    }
    if status == StatusCode::UNAUTHORIZED {
        says(header::WWW_AUTHENTICATE, "Basic realm=\"scorebox\", charset=\"UTF-8\"");
    }
    answer
}

/// Passes on allowed requests, and gives every answer its headers.
pub(super) async fn guarded(
    State(guard): State<Guard>,
    request: Request<Body>,
    next: Next,
) -> Response<Body> {
    let mut answer = match guard.refusal(request.method(), request.headers()) {
        None => next.run(request).await,
        Some((status, words)) => refused(status, words),
    };
    let own = answer.headers_mut();
    for (name, value) in headers() {
        own.entry(name).or_insert(HeaderValue::from_static(value));
    }
    own.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(guard: &Guard, headers: &[(HeaderName, &str)]) -> Option<u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        guard.refusal(&Method::GET, &map).map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_names_that_no_other_site_can_claim_are_answered() {
        let guard = Guard::new(vec!["Scores.example".into()], None);
        for host in [
            "127.0.0.1:7717",
            "localhost",
            "LOCALHOST:80",
            "[::1]:7717",
            "192.168.0.4",
            "scores.example:443",
        ] {
            assert_eq!(refusal(&guard, &[(header::HOST, host)]), None, "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "",
            "[::1",
            "127.0.0.1:x",
        ] {
            assert_eq!(refusal(&guard, &[(header::HOST, host)]), Some(421), "{host}");
        }
        assert_eq!(refusal(&guard, &[]), Some(421));
        let twice = [(header::HOST, "localhost"), (header::HOST, "evil.example")];
        assert_eq!(refusal(&guard, &twice), Some(421));
    }

    #[test]
    fn another_site_is_refused() {
        let guard = Guard::new(Vec::new(), None);
        let from =
            |origin| refusal(&guard, &[(header::HOST, "localhost:7717"), (header::ORIGIN, origin)]);
        assert_eq!(from("http://localhost:7717"), None);
        for origin in
            ["http://evil.example", "null", "http://localhost:7718", "file://localhost:7717"]
        {
            assert_eq!(from(origin), Some(403), "{origin}");
        }
    }

    #[test]
    fn another_site_may_link_to_pages_and_not_embed_them() {
        let guard = Guard::new(Vec::new(), None);
        let from = |site, mode, destination| {
            let headers = [
                (header::HOST, "localhost:7717"),
                (HeaderName::from_static("sec-fetch-site"), site),
                (HeaderName::from_static("sec-fetch-mode"), mode),
                (HeaderName::from_static("sec-fetch-dest"), destination),
            ];
            refusal(&guard, &headers)
        };
        for (site, mode, destination) in [
            ("cross-site", "no-cors", "image"),
            ("cross-site", "no-cors", "script"),
            ("cross-site", "navigate", "iframe"),
            ("cross-site", "cors", "empty"),
            ("same-site", "no-cors", "image"),
        ] {
            assert_eq!(from(site, mode, destination), Some(403), "{site} {mode} {destination}");
        }
        for (site, mode, destination) in [
            ("cross-site", "navigate", "document"),
            ("same-site", "navigate", "document"),
            ("none", "navigate", "document"),
            ("same-origin", "no-cors", "script"),
        ] {
            assert_eq!(from(site, mode, destination), None, "{site} {mode} {destination}");
        }
    }

    #[test]
    fn a_token_is_wanted_where_there_is_one() {
        let guard = Guard::new(Vec::new(), Some("s3cret"));
        let with = |value: &str| {
            refusal(&guard, &[(header::HOST, "localhost"), (header::AUTHORIZATION, value)])
        };
        assert_eq!(refusal(&guard, &[(header::HOST, "localhost")]), Some(401));
        assert_eq!(with("Bearer s3cret"), None);
        assert_eq!(with(&format!("Basic {}", BASE64_STANDARD.encode("anyone:s3cret"))), None);
        for wrong in ["Bearer s3cre", "Bearer", "Basic ???", "Basic c2VjcmV0", "Digest s3cret"] {
            assert_eq!(with(wrong), Some(401), "{wrong}");
        }
    }

    #[test]
    fn nothing_is_written_through_it() {
        let guard = Guard::new(Vec::new(), None);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost"));
        let refused = guard.refusal(&Method::POST, &headers).map(|(status, _)| status.as_u16());
        assert_eq!(refused, Some(405));
    }

    #[test]
    fn what_is_refused_says_what_would_not_be_and_keeps_no_connection() {
        for (status, name, value) in [
            (StatusCode::METHOD_NOT_ALLOWED, header::ALLOW, "GET, HEAD"),
            (
                StatusCode::UNAUTHORIZED,
                header::WWW_AUTHENTICATE,
                "Basic realm=\"scorebox\", charset=\"UTF-8\"",
            ),
        ] {
            let answer = refused(status, "no");
            assert_eq!(answer.status(), status);
            assert_eq!(answer.headers()[name], value);
            assert_eq!(answer.headers()[header::CONNECTION], "close");
        }
    }
}
