//! For whom questions are asked, and until when. Asks none.

use std::sync::Arc;

use super::Halt;

/// For which run questions are asked, and until when. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asking {
    /// The run's id; `None` for scores that are of none.
    pub(crate) run: Option<Arc<str>>,
    /// What ends the waiting of questions that were not sent.
    pub(crate) stop: Halt,
}

/// Who had a question answered whose answer is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AskedBy {
    /// The run's id.
    pub run: Arc<str>,
    /// The scorer's name.
    pub scorer: Arc<str>,
    /// Whether a provider was asked, which may cost something; otherwise the answer is a file's.
    pub is_asked_now: bool,
}

impl AskedBy {
    /// This scorer of this run, which had a provider asked.
    pub fn new(run: impl Into<Arc<str>>, scorer: impl Into<Arc<str>>) -> AskedBy {
        AskedBy { run: run.into(), scorer: scorer.into(), is_asked_now: true }
    }
}
