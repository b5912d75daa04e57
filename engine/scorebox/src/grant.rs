//! What a user can let a scorer have. What each grant gives, and to which imports, is `sandbox::grants`'.

use serde::{Deserialize, Serialize};

/// Something beyond the contract that a user can let a scorer have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Grant {
    /// A WASI 0.2 with nothing behind it: no files, no network, no environment, clocks and random
    /// numbers made of the case; what is printed goes to the scorer's log.
    Wasi,
    /// The files that the task left, for reading.
    Workspace,
    /// Questions to the language models that the user configured, within their budgets.
    Judge,
}
