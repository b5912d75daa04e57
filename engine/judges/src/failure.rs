//! Describes why an attempt failed, and whether another one may succeed. Makes no attempts.

use std::time::Duration;

use scorebox::judge::AskErrorKind;

/// Why an attempt returned no answer.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: AskErrorKind,
    /// What failed and with which message, without the key.
    pub(crate) message: String,
    pub(crate) remedy: Remedy,
    /// What the server reported, if it refused the request, or failed because of the requested form.
    pub(crate) refusal: Option<Refusal>,
    /// Whether the attempt may have an unknown cost.
    pub(crate) is_uncounted: bool,
}

/// What may help after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Nothing: another attempt would have the same outcome.
    Nothing,
    /// Another attempt, but no sooner than this; `slows_all` if the server asks all callers to wait.
    Again { no_sooner: Duration, slows_all: bool },
    /// One more attempt, but not a second one for the same reason.
    AgainOnce,
}

/// A server's refusal of a request.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// The server's message, without the key, and shortened if it is long.
    pub(crate) text: String,
}

impl Failure {
    /// The provider refuses the question.
    pub(crate) fn refused(message: String) -> Failure {
        Failure {
            kind: AskErrorKind::Refused,
            message,
            remedy: Remedy::Nothing,
            refusal: None,
            is_uncounted: false,
        }
    }

    /// The provider fails, and another attempt would fail too.
    pub(crate) fn unavailable(message: String) -> Failure {
        Failure { kind: AskErrorKind::Unavailable, ..Failure::refused(message) }
    }

    /// The provider fails, but another attempt may succeed.
    pub(crate) fn passing(message: String) -> Failure {
        let remedy = Remedy::Again { no_sooner: Duration::ZERO, slows_all: false };
        Failure { remedy, ..Failure::unavailable(message) }
    }

    /// The answer did not arrive in time. The question was sent, so the provider may still be working on it.
    pub(crate) fn timed_out(message: String, remedy: Remedy) -> Failure {
        let failure = Failure { kind: AskErrorKind::TimedOut, remedy, ..Failure::refused(message) };
        failure.uncounted()
    }

    /// The provider only asked to wait, for so long that no answer can be expected.
    pub(crate) fn limited(message: String) -> Failure {
        Failure { kind: AskErrorKind::Limited, ..Failure::refused(message) }
    }

    /// The caller stopped the call while it waited.
    pub(crate) fn stopped() -> Failure {
        let message = "stopped before the question was sent".to_owned();
        Failure { kind: AskErrorKind::Stopped, ..Failure::refused(message) }
    }

    /// The same failure, of an attempt that may have an unknown cost.
    pub(crate) fn uncounted(self) -> Failure {
        Failure { is_uncounted: true, ..self }
    }
}
