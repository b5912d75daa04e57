//! Defines why a request to a registry failed, as data. Messages contain no advice about what to type.

use std::time::Duration;

use scorebox::digest::Digest;

/// Why a request to a registry failed.
#[derive(Debug, thiserror::Error)]
#[error("{registry}: {failed}")]
#[non_exhaustive]
pub struct CommunityError {
    /// The registry, as the user named it.
    pub registry: String,
    /// What failed.
    pub failed: Failed,
}

/// What failed. No message contains a password or a token; a server's message is short, and on one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failed {
    /// The HTTP client cannot start, for example because the machine has no certificates.
    #[error("cannot prepare connections: {0}")]
    Prepare(String),
    /// The connection failed, or broke.
    #[error("cannot reach it: {0}")]
    Unreachable(String),
    /// The registry did not answer in time.
    #[error("it did not answer in time")]
    TimedOut,
    /// The connection ended before the answer was complete.
    #[error("its answer ended early: {0}")]
    EndedEarly(String),
    /// The client used TLS, but the registry answers without it.
    #[error("it answers without TLS")]
    NoTls,
    /// The registry's answer is not HTTP.
    #[error("its answer is not HTTP")]
    NotHttp,
    /// The request went through a proxy, and failed at the proxy or behind it.
    #[error("through the proxy {proxy}: {failed}")]
    AtProxy {
        /// The proxy's host, with its port if one is named.
        proxy: String,
        /// What failed.
        failed: Box<Failed>,
    },
    /// This machine does not know the authority that signed the registry's certificate.
    #[error("its certificate is not trusted: {0}")]
    UnknownAuthority(String),
    /// This machine does not trust the registry's certificate for another reason: its name or its period of validity.
    #[error("its certificate is not trusted: {0}")]
    Certificate(String),
    /// The registry's certificate is that of an authority. It is refused even if that authority is trusted.
    #[error("it uses the certificate of an authority (CA) as its own")]
    AuthorityCertificate,
    /// The registry requires a login, and there is none.
    #[error("it wants a login")]
    LoginWanted,
    /// The registry accepts the login, or its absence, but does not allow the request.
    #[error("it refuses the login that is stored for it{0}")]
    LoginRefused(String),
    /// The login that Docker stores cannot be used.
    #[error("the login that is stored for it cannot be used: {0}")]
    Credentials(String),
    /// The registry would have passwords or bytes sent without TLS.
    #[error("it names a place without TLS, `{0}`, which is not asked")]
    WithoutTls(String),
    /// The registry redirects.
    #[error("it redirects to another place, which is not followed here (status {0})")]
    Redirected(u16),
    /// The registry answered with an error.
    #[error("it answered with status {status}{said}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The server's message, after a colon; empty if there is none.
        said: String,
    },
    /// The registry is overloaded, or temporarily down.
    #[error("it answered with status {status}{said}{}", asked(*times, *stated))]
    Busy {
        /// The HTTP status: 429, 502, 503 or 504.
        status: u16,
        /// The server's message, after a colon; empty if there is none.
        said: String,
        /// How many times the server was asked.
        times: u32,
        /// How long the server asks to wait, if it states a time.
        stated: Option<Duration>,
    },
    /// The login service that the registry names failed.
    #[error("its service for logins, {server}: {failed}")]
    AtLogin {
        /// The host of the service, with its port if one is named.
        server: String,
        /// What failed there.
        failed: Box<Failed>,
    },
    /// The registry sent more than is read.
    #[error("it sent more than {max_bytes} bytes as {what}")]
    TooLarge {
        /// What it sent.
        what: &'static str,
        /// The most that is read.
        max_bytes: usize,
    },
    /// A list of the registry does not end.
    #[error("its list of tags has more than {0} pages")]
    TooManyPages(usize),
    /// The registry does not use the protocol of registries.
    #[error("it does not answer as a registry does: {0}")]
    NotARegistry(&'static str),
    /// The tag belongs to another artifact.
    #[error("`{name}:{tag}` is published already, with other content")]
    Taken {
        /// The name in the registry.
        name: String,
        /// The tag.
        tag: String,
    },
    /// The registry has nothing with that name and tag.
    #[error("it has no `{name}:{tag}`")]
    Missing {
        /// The name in the registry.
        name: String,
        /// The tag.
        tag: String,
    },
    /// The registry has no release of that line, only pre-releases.
    #[error("it has no release of `{name}:{line}`, only {}", .versions.join(", "))]
    NotOutYet {
        /// The name in the registry.
        name: String,
        /// The beginning of the version that was asked for.
        line: String,
        /// Its newest versions, the newest first.
        versions: Vec<String>,
    },
    /// The artifact is not a scorer.
    #[error("`{name}:{tag}` is not a scorer: {reason}")]
    NotAScorer {
        /// The name in the registry.
        name: String,
        /// The tag.
        tag: String,
        /// What the artifact is.
        reason: &'static str,
    },
    /// The registry no longer has a blob with that digest.
    #[error("it has no component with the digest {0}")]
    NoComponent(Digest),
    /// The registry sends bytes that do not match the requested digest.
    #[error("it sends other bytes than those with the digest {0}")]
    OtherBytes(Digest),
    /// The blob that the registry stores under this digest is damaged. It accepted the right bytes, but still sends the
    /// damaged ones.
    #[error(
        "what it keeps under the digest {0} is damaged, and uploading it again changed nothing"
    )]
    StaysDamaged(Digest),
    /// The registry redirects too often.
    #[error("it redirects more than {0} times")]
    RedirectsTooOften(usize),
    /// The registry accepted the artifact, but returns a different one.
    #[error(
        "it accepted the artifact but returns different bytes: it changed them, or someone else published under this tag at the same time"
    )]
    NotKept,
}

/// Why the login that Docker stores for a registry cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// Docker's configuration, or the login in it, is not valid.
    #[error("{0}")]
    Configuration(String),
    /// Docker's configuration cannot be read, so it is unknown whether there is a login.
    #[error("{0}")]
    Unreadable(String),
    /// The helper that stores the login is missing, fails, or does not answer, so it is unknown whether there is a
    /// login.
    #[error("{0}")]
    Helper(String),
}

impl CommunityError {
    /// An error at this registry.
    pub fn new(registry: impl Into<String>, failed: Failed) -> CommunityError {
        CommunityError { registry: registry.into(), failed }
    }
}

/// How many times a server was asked and how long it asks to wait, after a comma; empty if it was asked once and states
/// no time.
fn asked(times: u32, stated: Option<Duration>) -> String {
    let often = if times > 1 { format!(", {times} times") } else { String::new() };
    match stated {
        // A wait of zero is not shown.
        Some(stated) if !stated.is_zero() => {
            format!("{often}, and asks to wait {} seconds", stated.as_secs())
        }
        _ => often,
    }
}

impl Failed {
    /// What failed, at the registry, at its login service, or at a proxy.
    pub fn cause(&self) -> &Failed {
        match self {
            Failed::AtLogin { failed, .. } | Failed::AtProxy { failed, .. } => failed.cause(),
            failed => failed,
        }
    }

    /// The login service, if the failure was there.
    pub fn login_server(&self) -> Option<&str> {
        match self {
            Failed::AtLogin { server, .. } => Some(server),
            _ => None,
        }
    }

    /// The proxy, if the failure was at the proxy or behind it.
    pub fn proxy(&self) -> Option<&str> {
        match self {
            Failed::AtProxy { proxy, .. } => Some(proxy),
            Failed::AtLogin { failed, .. } => failed.proxy(),
            _ => None,
        }
    }

    /// Whether the server could not be reached, is busy or has failed, so that its content is unknown.
    pub fn is_passing(&self) -> bool {
        match self.cause() {
            Failed::Unreachable(_) | Failed::EndedEarly(_) => true,
            Failed::TimedOut | Failed::Busy { .. } => true,
            Failed::Refused { status, .. } => *status >= 500,
            _ => false,
        }
    }

    pub(crate) fn at(self, registry: &str) -> CommunityError {
        CommunityError::new(registry, self)
    }
}
