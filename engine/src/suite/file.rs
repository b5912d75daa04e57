//! The suite file as written (TOML). Every complaint names line and column. Looks no scorer up.

use std::{collections::BTreeMap, fs, ops::Range, path::Path};

use serde::Deserialize;
use toml::Spanned;

use crate::{
    registry::Reference,
    sandbox::{Grant, Limits, ScorerConfig},
};

use super::{LimitOverrides, Place, ScorerId, Suite, SuiteError, SuiteScorer};

/// The version of the format.
pub(super) const VERSION: u32 = 1;
/// Bytes of a suite file that is read at all.
const MOST_BYTES: u64 = 16 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    #[serde(default = "current")]
    version: Spanned<u32>,
    name: Option<String>,
    scorers: BTreeMap<Spanned<String>, ScorerTable>,
}

fn current() -> Spanned<u32> {
    Spanned::new(0..0, VERSION)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScorerTable {
    #[serde(rename = "use")]
    uses: Option<String>,
    name: Option<String>,
    #[serde(default)]
    config: toml::Table,
    #[serde(default)]
    limits: LimitOverrides,
    #[serde(default)]
    grants: Vec<Grant>,
}

pub(super) fn read(path: &Path) -> Result<Suite, SuiteError> {
    let unreadable = |source| SuiteError::Unreadable { path: path.to_owned(), source };
    if fs::metadata(path).map_err(unreadable)?.len() > MOST_BYTES {
        return Err(unreadable(std::io::Error::other("it is larger than 16 MiB")));
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let written: SuiteFile =
        toml::from_str(&text).map_err(|error| complaint(path, &text, &error))?;
    if *written.version.get_ref() != VERSION {
        return Err(SuiteError::Invalid {
            place: place(path, &text, &written.version.span()),
            reason: format!(
                "version {} of the suite format; this scorebox reads version {VERSION}",
                written.version.get_ref()
            ),
            hint: None,
        });
    }
    let mut tables: Vec<(Spanned<String>, ScorerTable)> = written.scorers.into_iter().collect();
    tables.sort_by_key(|(key, _)| key.span().start);
    let folder = path.parent().unwrap_or(Path::new(""));
    let scorers = tables
        .into_iter()
        .map(|(key, table)| resolve(place(path, &text, &key.span()), key.get_ref(), table, folder))
        .collect::<Result<Vec<_>, _>>()?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Suite::new(written.name.or(stem).unwrap_or_default(), scorers)
}

fn resolve(
    place: Place,
    key: &str,
    table: ScorerTable,
    folder: &Path,
) -> Result<SuiteScorer, SuiteError> {
    let id = ScorerId::new(key).map_err(|error| SuiteError::Invalid {
        place: place.clone(),
        reason: error.to_string(),
        hint: error.hint(),
    })?;
    let uses = Reference::parse(table.uses.as_deref().unwrap_or(key), folder);
    let config = table.config.into_iter().map(|(key, value)| (key, json(value))).collect();
    Ok(SuiteScorer {
        name: table.name,
        config: ScorerConfig::new(&config),
        limits: table.limits.apply(Limits::default()),
        grants: table.grants.into_iter().collect(),
        place: Some(place),
        ..SuiteScorer::new(id, uses)
    })
}

/// TOML's values as JSON's; a date becomes its text.
fn json(value: toml::Value) -> serde_json::Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(truth) => truth.into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(json).collect(),
        toml::Value::Table(table) => {
            table.into_iter().map(|(key, value)| (key, json(value))).collect()
        }
    }
}

fn complaint(path: &Path, text: &str, error: &toml::de::Error) -> SuiteError {
    let reason = error.message().trim().replace('\n', " ");
    let span = error.span().unwrap_or(0..0);
    SuiteError::Invalid { place: place(path, text, &span), hint: likely(&reason), reason }
}

/// The name meant, where serde lists those that it knows: "unknown field `usee`, expected one of …".
fn likely(reason: &str) -> Option<String> {
    let mut quoted = reason.split('`').skip(1).step_by(2);
    let wrong = quoted.next().filter(|_| reason.starts_with("unknown "))?;
    let nearest = crate::suggest::nearest(wrong, quoted);
    nearest.first().map(|name| format!("did you mean `{name}`?"))
}

fn place(path: &Path, text: &str, span: &Range<usize>) -> Place {
    let before = &text[..text.floor_char_boundary(span.start)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Place {
        file: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
