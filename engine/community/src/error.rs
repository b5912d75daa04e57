//! Why something with a registry failed, as data. Says in no message what a user should type.

use std::time::Duration;

use scorebox::digest::Digest;

/// Why a registry did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("{registry}: {failed}")]
#[non_exhaustive]
pub struct CommunityError {
    /// The registry, as the user named it.
    pub registry: String,
    /// What failed.
    pub failed: Failed,
}

/// What failed. No message has a password or a token; what a server said is short, and on one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failed {
    /// The HTTP client does not start, for example because the machine has no certificates.
    #[error("cannot prepare connections: {0}")]
    Prepare(String),
    /// There is no connection, or it broke.
    #[error("cannot reach it: {0}")]
    Unreachable(String),
    /// It did not answer in time.
    #[error("it did not answer in time")]
    TimedOut,
    /// The connection ended before all of its answer had come.
    #[error("its answer ended early: {0}")]
    EndedEarly(String),
    /// It was asked with TLS, and answers without.
    #[error("it answers without TLS")]
    NoTls,
    /// Its answer is not HTTP.
    #[error("its answer is not HTTP")]
    NotHttp,
    /// It was asked through a proxy, with which something failed, or behind it.
    #[error("through the proxy {proxy}: {failed}")]
    AtProxy {
        /// The proxy's host, with its port if one is named.
        proxy: String,
        /// What failed.
        failed: Box<Failed>,
    },
    /// This machine does not know the authority that signed its certificate.
    #[error("its certificate is not trusted: {0}")]
    UnknownAuthority(String),
    /// Its certificate is not one that this machine trusts, for another reason: its name, its time.
    #[error("its certificate is not trusted: {0}")]
    Certificate(String),
    /// Its certificate is that of an authority. It is refused even if that authority is trusted.
    #[error("it uses the certificate of an authority (CA) as its own")]
    AuthorityCertificate,
    /// It wants a login, and none is known.
    #[error("it wants a login")]
    LoginWanted,
    /// It takes the login that is known, or its absence, and does not allow this.
    #[error("it refuses the login that is stored for it{0}")]
    LoginRefused(String),
    /// The login that Docker keeps cannot be used.
    #[error("the login that is stored for it cannot be used: {0}")]
    Credentials(String),
    /// It sends passwords or bytes to a place without TLS.
    #[error("it names a place without TLS, `{0}`, which is not asked")]
    WithoutTls(String),
    /// It redirects.
    #[error("it redirects to another place, which is not followed here (status {0})")]
    Redirected(u16),
    /// It answered with an error.
    #[error("it answered with status {status}{said}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it said, after a colon; or nothing.
        said: String,
    },
    /// It has too much to do, or is down for a while.
    #[error("it answered with status {status}{said}{}", asked(*times, *stated))]
    Busy {
        /// The HTTP status: 429, 502, 503 or 504.
        status: u16,
        /// What it said, after a colon; or nothing.
        said: String,
        /// How often it was asked.
        times: u32,
        /// How long it asks to wait, if it says so.
        stated: Option<Duration>,
    },
    /// The service that it names for logins failed.
    #[error("its service for logins, {server}: {failed}")]
    AtLogin {
        /// The host of the service, with its port if one is named.
        server: String,
        /// What failed there.
        failed: Box<Failed>,
    },
    /// It sent more than is read.
    #[error("it sent more than {max_bytes} bytes as {what}")]
    TooLarge {
        /// What it sent.
        what: &'static str,
        /// The most that is read.
        max_bytes: usize,
    },
    /// A list of its does not end.
    #[error("its list of tags has more than {0} pages")]
    TooManyPages(usize),
    /// It does not speak the protocol of a registry.
    #[error("it does not answer as a registry does: {0}")]
    NotARegistry(&'static str),
    /// Another artifact has the tag.
    #[error("`{name}:{tag}` is published already, with other content")]
    Taken {
        /// The name in the registry.
        name: String,
        /// The tag.
        tag: String,
    },
    /// It has nothing under that name and tag.
    #[error("it has no `{name}:{tag}`")]
    Missing {
        /// The name in the registry.
        name: String,
        /// The tag.
        tag: String,
    },
    /// It has no release of that line, and versions that are not out yet.
    #[error("it has no release of `{name}:{line}`, only {}", .versions.join(", "))]
    NotOutYet {
        /// The name in the registry.
        name: String,
        /// The beginning of the version that was asked for.
        line: String,
        /// The newest of its versions, the newest first.
        versions: Vec<String>,
    },
    /// What it has is no scorer.
    #[error("`{name}:{tag}` is not a scorer: {reason}")]
    NotAScorer {
        /// The name in the registry.
        name: String,
        /// The tag.
        tag: String,
        /// What it is.
        reason: &'static str,
    },
    /// It has no blob of that digest any more.
    #[error("it has no component with the digest {0}")]
    NoComponent(Digest),
    /// It sends other bytes than those of the digest that it was asked for.
    #[error("it sends other bytes than those with the digest {0}")]
    OtherBytes(Digest),
    /// What it keeps under this digest is damaged. It accepted the right bytes, and still sends the damaged ones.
    #[error(
        "what it keeps under the digest {0} is damaged, and uploading it again changed nothing"
    )]
    StaysDamaged(Digest),
    /// It redirects, and the place that it names redirects on.
    #[error("it redirects more than {0} times")]
    RedirectsTooOften(usize),
    /// It took the artifact, and gives something else back.
    #[error(
        "it accepted the artifact but returns different bytes: it changed them, or someone else published under this tag at the same time"
    )]
    NotKept,
}

/// Why the login that Docker keeps for a registry cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// Docker's configuration, or the login in it, is not valid.
    #[error("{0}")]
    Configuration(String),
    /// Docker's configuration cannot be read. Nobody knows whether there is a login.
    #[error("{0}")]
    Unreadable(String),
    /// The helper that knows it is missing, fails, or does not answer. Nobody knows whether there is a login.
    #[error("{0}")]
    Helper(String),
}

impl CommunityError {
    /// This failed at that registry.
    pub fn new(registry: impl Into<String>, failed: Failed) -> CommunityError {
        CommunityError { registry: registry.into(), failed }
    }
}

/// How often a server was asked and how long it asks to wait, after a comma; nothing if it was asked once and does not
/// say.
fn asked(times: u32, stated: Option<Duration>) -> String {
    let often = if times > 1 { format!(", {times} times") } else { String::new() };
    match stated {
        // To wait no time is not to wait.
        Some(stated) if !stated.is_zero() => {
            format!("{often}, and asks to wait {} seconds", stated.as_secs())
        }
        _ => often,
    }
}

impl Failed {
    /// What failed, at the registry, at its service for logins, or at a proxy before them.
    pub fn cause(&self) -> &Failed {
        match self {
            Failed::AtLogin { failed, .. } | Failed::AtProxy { failed, .. } => failed.cause(),
            failed => failed,
        }
    }

    /// The service for logins, if it failed there.
    pub fn login_server(&self) -> Option<&str> {
        match self {
            Failed::AtLogin { server, .. } => Some(server),
            _ => None,
        }
    }

    /// The proxy that was asked, if there is no answer through it.
    pub fn proxy(&self) -> Option<&str> {
        match self {
            Failed::AtProxy { proxy, .. } => Some(proxy),
            Failed::AtLogin { failed, .. } => failed.proxy(),
            _ => None,
        }
    }

    /// Whether the server could not be reached, is busy or has broken down, so that what it has is not known.
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
