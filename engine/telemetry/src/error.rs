//! Defines why telemetry cannot start. No message contains an address or a header, because both may contain secrets.

/// Why telemetry cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The protocol cannot reach an address.
    #[error(
        "the address of the OpenTelemetry collector for {signal} is not a valid {protocol} URL"
    )]
    Endpoint {
        /// What would be sent there: `logs` or `metrics`.
        signal: &'static str,
        /// `HTTP` or `gRPC`.
        protocol: &'static str,
    },
    /// An address names no host, as where a variable in it is empty.
    #[error("the address of the OpenTelemetry collector for {signal} names no host")]
    Host {
        /// What was to be sent there: `logs` or `metrics`.
        signal: &'static str,
    },
    /// An address has a user name or a password, which would be left out.
    #[error(
        "the address of the OpenTelemetry collector for {signal} has a user name or a password in it, which cannot be sent"
    )]
    Credentials {
        /// What would be sent there: `logs` or `metrics`.
        signal: &'static str,
    },
    /// An address contains a query or a fragment, so that the path of a signal cannot be added.
    #[error(
        "the address of the OpenTelemetry collector for {signal} has a query or a fragment, and a path must be added to it"
    )]
    Query {
        /// What would be sent there: `logs` or `metrics`.
        signal: &'static str,
    },
    /// A certificate file cannot be used.
    #[error("cannot use the certificates in `{path}`, which {variable} names: {reason}")]
    Certificate {
        /// The file.
        path: String,
        /// The variable that names it.
        variable: &'static str,
        /// Why not.
        reason: String,
    },
    /// The connection cannot be prepared: no certificates on this machine, no thread.
    #[error("cannot prepare the export to the OpenTelemetry collector: {0}")]
    Prepare(String),
}
