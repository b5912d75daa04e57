//! Why there is no provider. Only the words.

/// Why there is no provider. No message has an address with a secret, or a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address is not one of a server.
    #[error("`base_url` {0}")]
    Address(&'static str),
    /// The key is empty, or has characters that no header can have.
    #[error("the key {0}")]
    Key(&'static str),
    /// The environment variable of this name is to have the key, and has no value.
    #[error("it needs a key: the environment variable `{0}` has no value")]
    NoKey(String),
    /// What is to be sent beside what the protocol needs cannot be sent.
    #[error("{0}")]
    Extra(String),
    /// The environment variable of this name is to name a proxy, and does not.
    #[error("the environment variable `{0}` does not have the address of an HTTP proxy")]
    Proxy(&'static str),
    /// A command without a program.
    #[error("`command` names no program")]
    NoProgram,
    /// A number that leaves nothing to do or no time for it.
    #[error("`{0}` must be more than 0")]
    Zero(&'static str),
    /// A kind of provider that this crate does not know.
    #[error("no provider of the kind `{0}` can be asked")]
    Unknown(String),
    /// The HTTP client does not start, for example because the machine has no certificates.
    #[error("cannot prepare connections: {0}")]
    Prepare(String),
}
