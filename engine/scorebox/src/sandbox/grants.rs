//! What a component may import, and the check of its imports. Links nothing.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{ErrorKind, ScoreError};

/// Something beyond the contract that a user can let a scorer have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grant {
    /// A WASI 0.2 with nothing behind it: no files, no network, no environment, clocks and random
    /// numbers made of the case; what is printed goes to the scorer's log.
    Wasi,
    /// The files that the task left, for reading.
    Workspace,
}

impl Grant {
    /// All grants.
    pub const ALL: [Grant; 2] = [Grant::Wasi, Grant::Workspace];

    /// The word for suites and the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Grant::Wasi => "wasi",
            Grant::Workspace => "workspace",
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no grant of that name.
#[derive(Debug, thiserror::Error)]
#[error("there is no grant `{0}`; the grants are: wasi, workspace")]
pub struct UnknownGrant(String);

impl FromStr for Grant {
    type Err = UnknownGrant;

    fn from_str(word: &str) -> Result<Grant, UnknownGrant> {
        Grant::ALL
            .into_iter()
            .find(|grant| grant.as_str() == word)
            .ok_or_else(|| UnknownGrant(word.to_owned()))
    }
}

/// A set of grants; empty unless the user says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    wasi: bool,
    workspace: bool,
}

impl Grants {
    /// Nothing.
    pub const NONE: Grants = Grants { wasi: false, workspace: false };

    /// This set with `grant` in it.
    #[must_use]
    pub fn with(mut self, grant: Grant) -> Grants {
        match grant {
            Grant::Wasi => self.wasi = true,
            Grant::Workspace => self.workspace = true,
        }
        self
    }

    /// Whether `grant` is in the set.
    pub fn contains(self, grant: Grant) -> bool {
        match grant {
            Grant::Wasi => self.wasi,
            Grant::Workspace => self.workspace,
        }
    }

    /// The grants of the set.
    pub fn iter(self) -> impl Iterator<Item = Grant> {
        Grant::ALL.into_iter().filter(move |grant| self.contains(*grant))
    }

    /// Refuses the first import that the user did not grant.
    pub(super) fn admit(self, imports: &[String]) -> Result<(), ScoreError> {
        imports.iter().try_for_each(|import| match Need::of(import) {
            Need::Nothing => Ok(()),
            Need::Grant(grant) if self.contains(grant) => Ok(()),
            Need::Grant(grant) => Err(missing(format!(
                "the component imports `{import}`, which was not granted"
            ))
            .hint(format!(
                "if you trust it with that, add `grants = [\"{grant}\"]` to the scorer in the suite, \
                 or use `--grant {grant}` (in a run: `--grant NAME={grant}`)"
            ))),
            Need::Unavailable => Err(missing(format!(
                "the component imports `{import}`, which this version of scorebox cannot grant"
            ))
            .hint(
                "a scorer may import scorebox:scorer/log, WASI 0.2 where `wasi` is granted, and \
                 scorebox:scorer/workspace where `workspace` is granted",
            )),
        })
    }
}

impl FromIterator<Grant> for Grants {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Grants {
        grants.into_iter().fold(Grants::NONE, Grants::with)
    }
}

fn missing(message: String) -> ScoreError {
    ScoreError::new(ErrorKind::MissingGrant, message)
}

/// What it takes to import something.
enum Need {
    /// Part of the contract, or harmless because it is fixed.
    Nothing,
    Grant(Grant),
    Unavailable,
}

impl Need {
    fn of(import: &str) -> Need {
        let name = import.split_once('@').map_or(import, |(name, _)| name);
        match name {
            "scorebox:scorer/types" | "scorebox:scorer/log" => Need::Nothing,
            "scorebox:scorer/workspace" => Need::Grant(Grant::Workspace),
            _ if ["wasi:io/", "wasi:clocks/", "wasi:random/"]
                .iter()
                .any(|package| name.starts_with(package)) =>
            {
                Need::Nothing
            }
            _ if ["wasi:cli/", "wasi:filesystem/", "wasi:sockets/"]
                .iter()
                .any(|package| name.starts_with(package)) =>
            {
                Need::Grant(Grant::Wasi)
            }
            _ => Need::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(grants: Grants, import: &str) -> Option<String> {
        grants.admit(&[import.to_owned()]).err().map(|error| error.to_string())
    }

    #[test]
    fn the_contract_and_what_is_fixed_need_no_grant() {
        for import in
            ["scorebox:scorer/log@0.1.0", "wasi:clocks/wall-clock@0.2.6", "wasi:io/poll@0.2.0"]
        {
            assert_eq!(refusal(Grants::NONE, import), None);
        }
    }

    #[test]
    fn the_rest_of_wasi_needs_the_grant() {
        let files = "wasi:filesystem/preopens@0.2.3";
        assert!(refusal(Grants::NONE, files).is_some_and(|text| text.contains(files)));
        assert_eq!(refusal(Grants::NONE.with(Grant::Wasi), files), None);
    }

    #[test]
    fn the_files_of_a_task_need_their_grant() {
        let files = "scorebox:scorer/workspace@0.1.0";
        let refused = refusal(Grants::NONE.with(Grant::Wasi), files);
        assert!(refused.is_some_and(|text| text.contains("not granted")));
        assert_eq!(refusal(Grants::NONE.with(Grant::Workspace), files), None);
    }

    #[test]
    fn nothing_else_can_be_granted() {
        let all = Grant::ALL.into_iter().collect();
        for import in ["wasi:http/outgoing-handler@0.2.0", "scorebox:scorer/judge@0.1.0", "evil"] {
            assert!(refusal(all, import).is_some_and(|text| text.contains("cannot grant")));
        }
    }
}
