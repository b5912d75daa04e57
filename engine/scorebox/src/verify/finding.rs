//! The results of a verification: verdicts, and what they leave unproved. It judges nothing itself.

use serde::Serialize;

use crate::advice::Advice;

use super::Difference;

/// The outcome of computing a score again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
pub enum Verdict {
    /// The same to the last byte, with the same cost.
    Verified,
    /// Something differs from what is stored.
    Different {
        /// The differences, in the order in which they were found; at least one.
        differences: Vec<Difference>,
    },
    /// It cannot be determined.
    NotVerifiable {
        /// The reason.
        reason: String,
        /// How to fix it.
        #[serde(skip)]
        advice: Option<Advice>,
    },
}

impl Verdict {
    /// It cannot be determined, for this reason.
    pub(super) fn not_verifiable(reason: impl Into<String>) -> Verdict {
        Verdict::NotVerifiable { reason: reason.into(), advice: None }
    }

    /// One value differs from the stored one.
    pub(super) fn different(what: &str, stored: String, computed: String) -> Verdict {
        Verdict::Different { differences: vec![Difference::new(what, stored, computed)] }
    }

    /// `Different` if there are differences, else `Verified`.
    pub(super) fn of(differences: Vec<Difference>) -> Verdict {
        match differences.is_empty() {
            true => Verdict::Verified,
            false => Verdict::Different { differences },
        }
    }
}

/// Something that was not checked, because computing the score again does not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Unproved {
    /// Which run, scorer and case the score belongs to.
    ScoreId,
    /// Where the component came from.
    Origin,
    /// The version of scorebox.
    EngineVersion,
    /// The version of wasmtime.
    WasmtimeVersion,
    /// The patch version of the contract.
    ContractVersion,
    /// When it was scored.
    Time,
    /// Limits that the score did not reach.
    UnreachedLimits,
    /// Grants that the scorer does not need.
    UnusedGrants,
    /// That the judge gave the recorded answers.
    Answers,
    /// The fuel that was used; like the next two, comparable only within one version of wasmtime.
    Fuel,
    /// The peak memory.
    Memory,
    /// The text of an error.
    ErrorMessage,
}

impl Unproved {
    /// What is left unproved if the row comes from another version of wasmtime.
    pub const UNDER_ANOTHER_WASMTIME: [Unproved; 3] =
        [Unproved::Fuel, Unproved::Memory, Unproved::ErrorMessage];
}

/// The verdict on one stored score, on a scorer's part in a run, or on a run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Finding {
    /// The score's id; `RUN:SCORER` for a scorer's part in the run, `RUN` for the run as a whole.
    pub score_id: String,
    /// The outcome.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// What a verified score leaves unproved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unproved: Vec<Unproved>,
}

impl Finding {
    /// What to do if the score is not verifiable.
    pub fn advice(&self) -> Option<&Advice> {
        match &self.verdict {
            Verdict::NotVerifiable { advice, .. } => advice.as_ref(),
            Verdict::Verified | Verdict::Different { .. } => None,
        }
    }

    pub(super) fn new(score_id: impl Into<String>, verdict: Verdict) -> Finding {
        Finding { score_id: score_id.into(), verdict, unproved: Vec::new() }
    }

    /// The same finding, with what it leaves unproved if it is verified.
    pub(super) fn leaving(mut self, unproved: impl IntoIterator<Item = Unproved>) -> Finding {
        if self.verdict == Verdict::Verified {
            self.unproved.extend(unproved);
        }
        self
    }
}
