//! Finds the workspace in a case, and parses no more than needed.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::Workspace;
use super::written::{KEYS, read};
use scorebox_sdk::{Case, Fields, Part, ScoreError, excerpt};

/// The key of the workspace in a part that may contain it.
const KEY: &str = "workspace";
/// How many keys an error names.
const SHOWN: usize = 8;

/// The workspace of a case.
pub(super) fn find(case: &Case) -> Result<Workspace, ScoreError> {
    look(case)?.map_err(|found| {
        let message = "the case has no workspace, which this scorer needs";
        ScoreError::invalid_input(format!("{message}: {found}"))
    })
}

/// The workspace of a case or, if it has none, a description of what it has instead.
pub(super) fn look(case: &Case) -> Result<Result<Workspace, String>, ScoreError> {
    let mut found = Vec::new();
    let parts = [
        (Fields::METADATA, "metadata", case.declares(Fields::METADATA).then(|| case.metadata())),
        (Fields::CONTEXT, "context", case.declares(Fields::CONTEXT).then(|| case.context())),
    ];
    if parts.iter().all(|(.., part)| part.is_none()) {
        return Err(ScoreError::failed(
            "the scorer asks for the workspace, but its Info does not name `Workspace::READS` \
             under `reads`",
        ));
    }
    for (field, name, part) in parts {
        let Some(part) = part.flatten() else {
            found.push(format!("there is no `{name}`"));
            continue;
        };
        if part.kind() != "an object" {
            found.push(format!("`{name}` is {}", part.kind()));
            continue;
        }
        let members: BTreeMap<String, Box<RawValue>> = part.read()?;
        if let Some(workspace) = members.get(KEY).filter(|value| value.get() != "null") {
            let workspace = Part::new(format!("{name}.{KEY}"), workspace.get());
            if workspace.kind() != "an object" {
                return Err(workspace
                    .should_be("an object with `files`, `diff`, `commands` or `testReports`"));
            }
            let inner: BTreeMap<String, Box<RawValue>> = workspace.read()?;
            if !is_workspace(&inner) {
                return Err(ScoreError::invalid_input(format!(
                    "`{name}.{KEY}` has none of `files`, `diff`, `commands`, `testReports`; {}",
                    keys(&inner)
                )));
            }
            return read(&workspace).map(Ok);
        }
        if field == Fields::CONTEXT && is_workspace(&members) {
            return read(&part).map(Ok);
        }
        found.push(format!("`{name}` has no `{KEY}`; {}", keys(&members)));
    }
    Ok(Err(found.join(", and ")))
}

fn is_workspace(members: &BTreeMap<String, Box<RawValue>>) -> bool {
    KEYS.iter().any(|key| members.get(*key).is_some_and(|value| value.get() != "null"))
}

fn keys(members: &BTreeMap<String, Box<RawValue>>) -> String {
    let shown: Vec<_> =
        members.keys().take(SHOWN).map(|key| format!("`{}`", excerpt(key, 40))).collect();
    match (shown.is_empty(), members.len() > SHOWN) {
        (true, _) => "it is empty".to_owned(),
        (_, true) => format!("it has {} and more", shown.join(", ")),
        (_, false) => format!("it has {}", shown.join(", ")),
    }
}
