//! What a user can grant to a scorer. What each grant gives, and which imports need it, is in `sandbox::grants`.

use serde::{Deserialize, Serialize};

/// Something beyond the contract that a user can grant to a scorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Grant {
    /// A WASI 0.2 that reaches nothing outside: no files, no network, no environment; clocks and random numbers are
    /// derived from the case; printed text goes to the scorer's log.
    Wasi,
    /// The files that the task left, read-only.
    Workspace,
    /// Questions to the language models that the user configured, within their budgets.
    Judge,
}
