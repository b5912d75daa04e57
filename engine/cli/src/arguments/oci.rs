//! The options of commands that contact a registry, and what to do about its errors. It neither publishes nor fetches
//! anything.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use scorebox_community::{
    Address, CommunityError, Credentials, Failed, Registry, Transport, Unusable,
};

use crate::{failure::Failure, report, words};

/// How registries are asked.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Registry")]
pub(crate) struct OciArguments {
    /// Ask the registry without TLS: anyone in between can read and change what is sent, passwords too
    #[arg(long)]
    plain_http: bool,

    /// Why logins could not be read, by the registries that they would be for: no helper is waited for twice.
    #[arg(skip)]
    unread_logins: Mutex<BTreeMap<String, String>>,
}

/// The address of a scorer or an index in a registry, with `oci://` before it as in a suite, or without.
pub(crate) fn address(written: &str) -> Result<Address, String> {
    let address = written.strip_prefix("oci://").unwrap_or(written);
    address.parse().map_err(|error| format!("{error}"))
}

/// What to do about a server that uses the certificate of an authority as its own.
pub(crate) const OWN_CERTIFICATE: &str = "if the server is yours, let an authority sign a certificate for it, or make one with \
     `openssl req -x509 -addext basicConstraints=critical,CA:FALSE`";

/// What to do if a proxy does not answer, or cannot reach the server.
pub(crate) const ABOUT_PROXIES: &str = "HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names this proxy: correct that or, for a host that is \
     reached without one, add it to NO_PROXY";

/// The message that publishing the same scorer again repaired what is published.
pub(crate) const REPAIRED: &str =
    "something of it was missing or damaged in the registry, and is there again now";

/// Warns that a registry is contacted without the login that may be stored for it.
pub(crate) fn without_login(host: &str, reason: &str) {
    words::warn(&format!(
        "the login that may be stored for {host} cannot be read ({reason}); it is asked without one"
    ));
}

/// The operation on a registry, for the message if it fails.
#[derive(Clone, Copy)]
pub(crate) enum Asked {
    ToFetch,
    ToPublish,
}

impl OciArguments {
    /// The registry of `address`, with the login that Docker stores for it.
    pub(crate) fn registry(&self, address: &Address, asked: Asked) -> Result<Registry, Failure> {
        let host = address.registry();
        let credentials = match self.unread_login(host) {
            Some(_) => None,
            None => self.login(host).map_err(|reason| {
                let error = CommunityError::new(host, Failed::Credentials(reason));
                self.failure(&error, asked)
            })?,
        };
        let transport = if self.plain_http { Transport::PlainHttp } else { Transport::Tls };
        let registry = Registry::new(address, transport, credentials);
        registry.map_err(|error| self.failure(&error, asked))
    }

    /// The login that Docker stores. If it cannot be read, there may be no login, and the registry may need none.
    fn login(&self, host: &str) -> Result<Option<Credentials>, String> {
        match Credentials::of_docker(host) {
            Ok(credentials) => Ok(credentials),
            Err(Unusable::Helper(reason) | Unusable::Unreadable(reason)) => {
                without_login(host, &reason);
                let mut failed = self.unread_logins.lock().unwrap_or_else(PoisonError::into_inner);
                failed.insert(host.to_owned(), reason);
                Ok(None)
            }
            Err(unusable) => Err(unusable.to_string()),
        }
    }

    /// Why the registry's login could not be read, if so.
    fn unread_login(&self, host: &str) -> Option<String> {
        let failed = self.unread_logins.lock().unwrap_or_else(PoisonError::into_inner);
        failed.get(host).cloned()
    }

    /// The options that another command needs to contact the same registry, to append to its other options; empty if it
    /// needs none.
    pub(crate) fn again(&self) -> &'static str {
        if self.plain_http { " --plain-http" } else { "" }
    }

    /// The failure to fetch or publish, with what to do about it.
    pub(crate) fn failure(&self, error: &CommunityError, asked: Asked) -> Failure {
        let (doing, may) = match asked {
            Asked::ToFetch => ("fetch from", "fetch"),
            Asked::ToPublish => ("publish at", "publish"),
        };
        let failure = Failure::new(report::printable(&format!("cannot {doing} {error}")));
        let host = report::shell_word(&error.registry);
        let failed = error.failed.cause();
        let server = error.failed.login_server().unwrap_or(&error.registry);
        if let Some(hint) = try_later(failed, server) {
            return failure.hint(hint);
        }
        if let (Failed::LoginWanted, Some(reason)) = (failed, self.unread_login(&error.registry)) {
            return failure.hint(format!(
                "the login that may be stored for it cannot be read: {reason}; correct that in Docker's configuration, then `docker login {host}`"
            ));
        }
        match failed {
            Failed::Credentials(_) => {
                failure.hint(format!("correct that file, or `docker login {host}` again"))
            }
            Failed::LoginWanted | Failed::LoginRefused(_) => failure
                .hint(format!("`docker login {host}` stores a login that may {may} there")),
            Failed::Taken { .. } => failure.hint(
                "what is published stays as it is, since others rely on it: give the scorer another version",
            ),
            Failed::NotOutYet { versions, .. } => match versions.first() {
                Some(newest) => failure.hint(format!(
                    "they are pre-releases, which are taken only by their whole version, such as {newest}"
                )),
                None => failure,
            },
            Failed::NotKept => failure.hint(
                "look at what has the tag now, and give the scorer another version if it is someone else's",
            ),
            Failed::Missing { .. } => failure.hint("check the name and the version"),
            Failed::NotAScorer { .. } => {
                failure.hint("scorers are published with `scorebox publish`, or `wkg oci push`")
            }
            Failed::NoComponent(_) => failure.hint(
                "its publisher has removed it, or the lock was changed by hand",
            ),
            Failed::OtherBytes(_) => failure.hint(
                "these bytes were not kept: the registry is damaged, or someone in between changes what it sends",
            ),
            Failed::StaysDamaged(_) => failure.hint(
                "nothing was published: those who run the registry must delete it there; then publish again",
            ),
            Failed::UnknownAuthority(_) => failure.hint(
                "if the registry is yours, SSL_CERT_FILE names a file with the certificate of its authority",
            ),
            Failed::AuthorityCertificate => failure.hint(OWN_CERTIFICATE),
            Failed::NoTls => failure.hint(
                "a registry without TLS, such as one for a test, needs --plain-http: anyone in between can change what it sends",
            ),
            Failed::NotHttp if self.plain_http => {
                failure.hint("it may want TLS: leave out --plain-http")
            }
            Failed::Unreachable(_) | Failed::TimedOut if error.failed.proxy().is_some() => {
                failure.hint(ABOUT_PROXIES)
            }
            // Without a port in the address, TLS and plain HTTP use different ports, so the registry may be on the
            // other one.
            Failed::Unreachable(_) if !self.plain_http && !has_port(&error.registry) => failure
                .hint(
                    "check the registry's name and the network; a registry without TLS, such as one for a test, \
                     needs --plain-http",
                ),
            Failed::Unreachable(_) | Failed::TimedOut | Failed::EndedEarly(_) => {
                failure.hint("check the registry's name and the network")
            }
            _ => failure,
        }
    }
}

/// Whether a host includes its port, as `localhost:5000` and `[::1]:5000` are.
fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|it| it.is_ascii_digit()))
}

/// What to do about a server that is busy or fails; `None` if it could not be reached.
pub(crate) fn try_later(failed: &Failed, server: &str) -> Option<String> {
    match failed {
        Failed::Busy { stated: Some(stated), .. } if !stated.is_zero() => {
            Some(format!("{server} is busy or down: try again after {} seconds", stated.as_secs()))
        }
        Failed::Busy { .. } => Some(format!("{server} is busy or down: try again later")),
        Failed::Refused { status, .. } if *status >= 500 => {
            Some(format!("{server} has broken down: try again later, or ask those who run it"))
        }
        _ => None,
    }
}
