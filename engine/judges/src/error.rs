//! Defines why a provider could not be made. Contains only messages.

/// Why a provider could not be made. No message contains a key, or an address with a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address is not a valid address of a server.
    #[error("`base_url` {0}")]
    Address(&'static str),
    /// The key is empty, or contains characters that a header cannot contain.
    #[error("the key {0}")]
    Key(&'static str),
    /// The environment variable with this name must contain the key, but has no value.
    #[error("it needs a key: the environment variable `{0}` has no value")]
    NoKey(String),
    /// The additional members of requests cannot be sent.
    #[error("{0}")]
    Extra(String),
    /// The environment variable with this name does not name a valid proxy.
    #[error("the environment variable `{0}` does not have the address of an HTTP proxy")]
    Proxy(&'static str),
    /// The command has no program.
    #[error("`command` names no program")]
    NoProgram,
    /// A setting is zero, which leaves no work or no time.
    #[error("`{0}` must be more than 0")]
    Zero(&'static str),
    /// This crate does not know this kind of provider.
    #[error("no provider of the kind `{0}` can be asked")]
    Unknown(String),
    /// The HTTP client cannot start, for example because the machine has no certificates.
    #[error("cannot prepare connections: {0}")]
    Prepare(String),
}
