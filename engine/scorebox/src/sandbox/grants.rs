//! What a component may import, and the check of its imports. It links nothing.

use std::{fmt, str::FromStr};

use crate::advice::Advice;
pub use crate::grant::Grant;

use super::{ErrorKind, ScoreError};

/// All properties of a grant.
struct Row {
    grant: Grant,
    /// Its name in suites, on the command line and in the database.
    word: &'static str,
    /// The imports that need it: an interface's name without its version, or a package's with `/` at the end.
    imports: &'static [&'static str],
    /// What it gives, as a scorer's author would name it.
    gives: &'static str,
}

/// The grants, in the order of their variants.
const TABLE: [Row; 3] = [
    Row {
        grant: Grant::Wasi,
        word: "wasi",
        imports: &["wasi:cli/", "wasi:filesystem/", "wasi:sockets/"],
        gives: "WASI 0.2",
    },
    Row {
        grant: Grant::Workspace,
        word: "workspace",
        imports: &["scorebox:scorer/workspace"],
        gives: "scorebox:scorer/workspace",
    },
    Row {
        grant: Grant::Judge,
        word: "judge",
        imports: &["scorebox:scorer/judge", "scorebox:scorer/embedder"],
        gives: "scorebox:scorer/judge and scorebox:scorer/embedder",
    },
];

/// What every scorer may import: part of the contract, or harmless because it is derived from the case.
const FREE: [&str; 5] =
    ["scorebox:scorer/types", "scorebox:scorer/log", "wasi:io/", "wasi:clocks/", "wasi:random/"];

/// Whether `import`, with or without a version, matches one of `names`.
fn is_one_of(import: &str, names: &[&str]) -> bool {
    let name = import.split_once('@').map_or(import, |(name, _)| name);
    names.iter().any(|known| name == *known || (known.ends_with('/') && name.starts_with(known)))
}

impl Grant {
    /// All grants.
    pub const ALL: [Grant; TABLE.len()] = {
        let mut all = [Grant::Wasi; TABLE.len()];
        let mut index = 0;
        while index < TABLE.len() {
            assert!(TABLE[index].grant as usize == index, "a grant's row stands in its place");
            all[index] = TABLE[index].grant;
            index += 1;
        }
        all
    };

    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Its name in suites and on the command line.
    pub const fn as_str(self) -> &'static str {
        self.row().word
    }

    /// What it gives, as a scorer's author would name it.
    pub const fn gives(self) -> &'static str {
        self.row().gives
    }

    /// The grant that an import needs; `None` if it needs none, or no grant allows it.
    fn needed_for(import: &str) -> Option<Grant> {
        Grant::ALL.into_iter().find(|grant| is_one_of(import, grant.row().imports))
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// No grant has this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no grant `{0}`; the grants are: {names}", names = Grant::ALL.map(Grant::as_str).join(", "))]
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

/// A set of grants; empty by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grants(u32);

impl Grants {
    /// No grants.
    pub const NONE: Grants = Grants(0);

    /// This set with `grant` in it.
    #[must_use]
    pub const fn with(self, grant: Grant) -> Grants {
        Grants(self.0 | 1 << grant as u32)
    }

    /// Whether `grant` is in the set.
    pub const fn contains(self, grant: Grant) -> bool {
        self.0 & (1 << grant as u32) != 0
    }

    /// The grants of the set.
    pub fn iter(self) -> impl Iterator<Item = Grant> {
        Grant::ALL.into_iter().filter(move |grant| self.contains(*grant))
    }

    /// The grants that these imports need.
    pub(super) fn needed_for(imports: &[String]) -> Grants {
        imports.iter().filter_map(|import| Grant::needed_for(import)).collect()
    }

    /// Refuses the first import that the user did not grant.
    pub(super) fn admit(self, imports: &[String]) -> Result<(), ScoreError> {
        let refused = imports.iter().filter(|import| !is_one_of(import, &FREE));
        for import in refused {
            match Grant::needed_for(import) {
                Some(grant) if self.contains(grant) => {}
                Some(grant) => return Err(not_granted(import, grant)),
                None => return Err(unavailable(import)),
            }
        }
        Ok(())
    }
}

impl FromIterator<Grant> for Grants {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Grants {
        grants.into_iter().fold(Grants::NONE, Grants::with)
    }
}

fn not_granted(import: &str, grant: Grant) -> ScoreError {
    missing(format!("the component imports `{import}`, which was not granted"))
        .with(Advice::Grant(grant))
}

fn unavailable(import: &str) -> ScoreError {
    let why =
        format!("the component imports `{import}`, which this version of scorebox cannot grant");
    missing(why).with(Advice::Importable(Grant::ALL.to_vec()))
}

fn missing(message: String) -> ScoreError {
    ScoreError::new(ErrorKind::MissingGrant, message)
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
    fn a_grant_is_stored_under_its_word() {
        for grant in Grant::ALL {
            assert_eq!(serde_json::to_value(grant).unwrap(), grant.as_str());
            assert_eq!(grant.as_str().parse::<Grant>().unwrap(), grant);
            let alone = Grants::NONE.with(grant);
            assert_eq!(alone.iter().collect::<Vec<_>>(), [grant]);
        }
    }

    #[test]
    fn a_name_that_only_starts_like_an_interface_is_another_one() {
        let all = Grant::ALL.into_iter().collect();
        for import in ["scorebox:scorer/workspaces@0.1.0", "scorebox:scorer/logs", "wasi:io2/poll"]
        {
            assert!(refusal(all, import).is_some_and(|text| text.contains("cannot grant")));
        }
    }

    #[test]
    fn nothing_else_can_be_granted() {
        let all = Grant::ALL.into_iter().collect();
        for import in ["wasi:http/outgoing-handler@0.2.0", "scorebox:scorer/judges@0.1.0", "evil"] {
            assert!(refusal(all, import).is_some_and(|text| text.contains("cannot grant")));
        }
    }
}
