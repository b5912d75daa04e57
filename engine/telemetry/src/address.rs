//! Checks the address of a collector for a protocol, as far as that is possible before something is sent there.
//! Connects to nothing.

use reqwest::Url;

/// How OTLP is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// HTTP with protobuf.
    Http,
    /// gRPC.
    Grpc,
}

impl Speaks {
    /// Its name in messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Speaks::Http => "HTTP",
            Speaks::Grpc => "gRPC",
        }
    }
}

/// Why nothing can be sent to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Its scheme is neither `http` nor `https`.
    Scheme,
    /// It names no host, as where a variable in it is empty. The client would take the path for one.
    Host,
    /// It has a host or a port that cannot be one.
    Authority,
    /// It has a user name or a password, which the exporters do not send.
    Credentials,
    /// It contains a query or a fragment, so the path of a signal cannot be added at its end.
    Query,
}

/// What is wrong with an address. `is_whole`: whether it is the full address of one signal, to which HTTP adds no path.
pub(crate) fn flaw(address: &str, speaks: Speaks, is_whole: bool) -> Option<Flaw> {
    let scheme = scheme(address);
    // A gRPC address may have no scheme: the exporter adds it.
    let is_of_web = scheme.map_or(speaks == Speaks::Grpc, is_of_web);
    if !is_of_web {
        return Some(Flaw::Scheme);
    }
    let rest = scheme.map_or(address, |scheme| &address[scheme.len() + "://".len()..]);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Some(Flaw::Credentials);
    }
    if authority.is_empty() || authority.starts_with(':') {
        return Some(Flaw::Host);
    }
    // What the client reads it with; the paths of signals are none of it.
    if Url::parse(&format!("http://{authority}")).is_err() {
        return Some(Flaw::Authority);
    }
    let is_used_as_it_is = is_whole && speaks == Speaks::Http;
    (!is_used_as_it_is && rest.contains(['?', '#'])).then_some(Flaw::Query)
}

/// The part of an address before `://`.
pub(crate) fn scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once("://")?;
    // A path or a query may also contain `://`.
    (!scheme.contains(['/', '?', '#'])).then_some(scheme)
}

fn is_of_web(scheme: &str) -> bool {
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_the_web() {
        for speaks in [Speaks::Http, Speaks::Grpc] {
            for address in ["http://a", "HTTPS://a:1/b", "http://[::1]:4318/@"] {
                assert_eq!(flaw(address, speaks, false), None, "{address}");
            }
            for address in ["ftp://a", "unix:///a", "://a"] {
                assert_eq!(flaw(address, speaks, false), Some(Flaw::Scheme), "{address}");
            }
        }
        // The exporter adds the scheme that OTEL_EXPORTER_OTLP_INSECURE selects.
        assert_eq!(flaw("a:4317", Speaks::Grpc, false), None);
        assert_eq!(flaw("a:4318", Speaks::Http, false), Some(Flaw::Scheme));
    }

    #[test]
    fn it_names_a_host() {
        for speaks in [Speaks::Http, Speaks::Grpc] {
            for address in
                ["http://", "https:///", "http:///v1", "http://:4318", "http://?a", "http://#"]
            {
                for is_whole in [false, true] {
                    assert_eq!(flaw(address, speaks, is_whole), Some(Flaw::Host), "{address}");
                }
            }
        }
        assert_eq!(flaw(":4317", Speaks::Grpc, false), Some(Flaw::Host));
    }

    #[test]
    fn a_host_and_a_port_are_what_a_client_can_connect_to() {
        for address in [
            "http://127.0.0.1:99999",
            "http://a:b",
            "http://[::1",
            "http://a b",
            "http://1.2.3.999",
        ] {
            assert_eq!(flaw(address, Speaks::Http, false), Some(Flaw::Authority), "{address}");
        }
        assert_eq!(flaw("a:99999", Speaks::Grpc, false), Some(Flaw::Authority));
        for address in ["http://my_host:65535/a", "http://127.0.0.1:0"] {
            assert_eq!(flaw(address, Speaks::Http, false), None, "{address}");
        }
    }

    #[test]
    fn a_user_name_is_not_part_of_it() {
        for address in ["http://user:k3y@a", "https://user@a/b", "http://@a", "http://k3y@a?b"] {
            for is_whole in [false, true] {
                let found = flaw(address, Speaks::Http, is_whole);
                assert_eq!(found, Some(Flaw::Credentials), "{address}");
            }
        }
        assert_eq!(flaw("user:k3y@a:4317", Speaks::Grpc, false), Some(Flaw::Credentials));
    }

    #[test]
    fn a_query_is_only_part_of_one_to_which_no_path_is_added() {
        for address in ["http://a/b?key=k3y", "http://a?b", "http://a/#b"] {
            assert_eq!(flaw(address, Speaks::Http, true), None, "{address}");
            for (speaks, is_whole) in
                [(Speaks::Http, false), (Speaks::Grpc, false), (Speaks::Grpc, true)]
            {
                assert_eq!(flaw(address, speaks, is_whole), Some(Flaw::Query), "{address}");
            }
        }
    }
}
