//! Why an attempt failed, and whether another may succeed. Tries nothing.

use std::time::Duration;

use scorebox::judge::AskErrorKind;

/// Why an attempt has no answer.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: AskErrorKind,
    /// Who said what, without a key.
    pub(crate) message: String,
    pub(crate) remedy: Remedy,
    /// What the server said, if it refused the request, or failed at the form that was asked for.
    pub(crate) refusal: Option<Refusal>,
    /// Whether the attempt may cost something, and nobody says how much.
    pub(crate) is_uncounted: bool,
}

/// What may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Nothing: the next attempt has the same outcome.
    Nothing,
    /// Another attempt, but not before so long; `slows_all` if the server asks all callers to wait.
    Again { no_sooner: Duration, slows_all: bool },
    /// One more attempt, and no third of the kind.
    AgainOnce,
}

/// A server's refusal of a request.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// Its message, without the key, and not all of it if it is long.
    pub(crate) text: String,
}

impl Failure {
    /// The provider does not take it.
    pub(crate) fn refused(message: String) -> Failure {
        Failure {
            kind: AskErrorKind::Refused,
            message,
            remedy: Remedy::Nothing,
            refusal: None,
            is_uncounted: false,
        }
    }

    /// The provider fails, and will again.
    pub(crate) fn unavailable(message: String) -> Failure {
        Failure { kind: AskErrorKind::Unavailable, ..Failure::refused(message) }
    }

    /// The provider fails, and may succeed next time.
    pub(crate) fn passing(message: String) -> Failure {
        let remedy = Remedy::Again { no_sooner: Duration::ZERO, slows_all: false };
        Failure { remedy, ..Failure::unavailable(message) }
    }

    /// There was no answer in time. The question was sent, and who answers may go on.
    pub(crate) fn timed_out(message: String, remedy: Remedy) -> Failure {
        let failure = Failure { kind: AskErrorKind::TimedOut, remedy, ..Failure::refused(message) };
        failure.uncounted()
    }

    /// The provider has only asked to wait, for so long that no answer is to be expected.
    pub(crate) fn limited(message: String) -> Failure {
        Failure { kind: AskErrorKind::Limited, ..Failure::refused(message) }
    }

    /// The caller stopped it while it waited.
    pub(crate) fn stopped() -> Failure {
        let message = "stopped before the question was sent".to_owned();
        Failure { kind: AskErrorKind::Stopped, ..Failure::refused(message) }
    }

    /// The same of an attempt that may cost something, and nobody says how much.
    pub(crate) fn uncounted(self) -> Failure {
        Failure { is_uncounted: true, ..self }
    }
}
