//! The suite file as written (TOML). Every complaint names line and column. Looks no scorer up.

use std::{collections::BTreeMap, ops::Range, path::Path, thread};

use serde::Deserialize;
use toml::Spanned;

use crate::{
    advice::{Advice, Advised},
    input_file::{self, MOST_CONFIGURATION_BYTES},
    registry::Reference,
    sandbox::{Grant, Limits, ScorerConfig},
};

use super::{LimitOverrides, Place, ScorerId, Suite, SuiteError, SuiteScorer};

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// How deep a configuration may be nested. Readers of JSON read 127 levels, and it stands in some objects
/// more: in the suite as it is stored, in a receipt.
const MOST_LEVELS: usize = 120;
/// Bytes of stack for parsing: keys of 80 parts in 80 tables inside each other are some thousand levels of
/// recursion, in the parser and where its values are dropped.
const DEEP_STACK_BYTES: usize = 256 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    /// Checked before all else.
    #[serde(rename = "version")]
    _version: Option<u32>,
    name: Option<String>,
    scorers: BTreeMap<Spanned<String>, ScorerTable>,
}

/// What every version of the format has.
#[derive(Deserialize)]
struct AnySuiteFile {
    version: Option<Spanned<u32>>,
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
    let text = input_file::read_text(path, MOST_CONFIGURATION_BYTES).map_err(unreadable)?;
    parse_apart(path, &text)
}

/// Reads the text of a suite file at `path`, on a stack that is deep enough for it.
pub(super) fn parse_apart(path: &Path, text: &str) -> Result<Suite, SuiteError> {
    let unreadable = |source| SuiteError::Unreadable { path: path.to_owned(), source };
    let parsing = || parse(path, text);
    let thread = thread::Builder::new().stack_size(DEEP_STACK_BYTES);
    thread::scope(|scope| match thread.spawn_scoped(scope, parsing).map(|thread| thread.join()) {
        Ok(Ok(suite)) => suite,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => Err(unreadable(error.into())),
    })
}

fn parse(path: &Path, text: &str) -> Result<Suite, SuiteError> {
    let text = Text::new(path, text);
    must_be_of_this_version(&text)?;
    let written: SuiteFile = toml::from_str(text.text).map_err(|error| complaint(&text, &error))?;
    let mut tables: Vec<(Spanned<String>, ScorerTable)> = written.scorers.into_iter().collect();
    tables.sort_by_key(|(key, _)| key.span().start);
    let folder = path.parent().unwrap_or(Path::new(""));
    let scorers = tables
        .into_iter()
        .map(|(key, table)| resolve(text.place(&key.span()), key.get_ref(), table, folder))
        .collect::<Result<Vec<_>, _>>()?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Suite::new(written.name.or(stem).unwrap_or_default(), scorers)
}

/// Refuses a file of another version before it is read as one of this version, whose complaints would be about
/// what is new. What cannot be read at all is for the reader to say.
fn must_be_of_this_version(text: &Text<'_>) -> Result<(), SuiteError> {
    let any = toml::from_str::<AnySuiteFile>(text.text).ok();
    let Some(version) = any.and_then(|any| any.version) else { return Ok(()) };
    if *version.get_ref() == VERSION {
        return Ok(());
    }
    Err(SuiteError::Invalid {
        place: text.place(&version.span()),
        reason: format!(
            "version {} of the suite format; this scorebox reads version {VERSION}",
            version.get_ref()
        ),
        advice: (*version.get_ref() > VERSION).then_some(Advice::Update),
    })
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
        advice: error.advice(),
    })?;
    let uses = Reference::parse(table.uses.as_deref().unwrap_or(key), folder);
    let no_json = |key: &str, what: &str| SuiteError::Invalid {
        place: place.clone(),
        reason: format!("`config.{}` of `{id}` {what}", key.escape_debug()),
        advice: None,
    };
    let config = table.config.into_iter().map(|(key, value)| match json(value, MOST_LEVELS - 1) {
        Ok(value) => Ok((key, value)),
        Err(what) => Err(no_json(&key, what)),
    });
    let config = config.collect::<Result<_, _>>()?;
    Ok(SuiteScorer {
        name: table.name,
        config: ScorerConfig::new(&config),
        limits: table.limits.apply(Limits::default()),
        grants: table.grants.into_iter().collect(),
        place: Some(place),
        ..SuiteScorer::new(id, uses)
    })
}

/// TOML's values as JSON's, nested at most `depth` deep; a date becomes its text.
///
/// # Errors
/// What it is that JSON does not have, or that no reader of JSON reads.
fn json(value: toml::Value, depth: usize) -> Result<serde_json::Value, &'static str> {
    let deeper = || depth.checked_sub(1).ok_or("is nested too deep: more than 120 levels");
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .ok_or("has a number that JSON does not have: nan or inf")?
            .into(),
        toml::Value::Boolean(truth) => truth.into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(items) => {
            let depth = deeper()?;
            items.into_iter().map(|item| json(item, depth)).collect::<Result<_, _>>()?
        }
        toml::Value::Table(table) => {
            let depth = deeper()?;
            let member = |(key, value)| json(value, depth).map(|value| (key, value));
            serde_json::Value::Object(table.into_iter().map(member).collect::<Result<_, _>>()?)
        }
    })
}

fn complaint(text: &Text<'_>, error: &toml::de::Error) -> SuiteError {
    let reason = error.message().trim().replace('\n', " ");
    let span = error.span().unwrap_or(0..0);
    SuiteError::Invalid { place: text.place(&span), advice: likely(&reason), reason }
}

/// The name meant, if serde lists those that it knows: "unknown field `usee`, expected one of …".
fn likely(reason: &str) -> Option<Advice> {
    let mut quoted = reason.split('`').skip(1).step_by(2);
    let wrong = quoted.next().filter(|_| reason.starts_with("unknown "))?;
    Advice::did_you_mean(&crate::suggest::closest(wrong, quoted))
}

/// A file's text, and where its lines begin.
struct Text<'a> {
    path: &'a Path,
    text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> Text<'a> {
    fn new(path: &'a Path, text: &'a str) -> Text<'a> {
        let after = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Text { path, text, line_starts: std::iter::once(0).chain(after).collect() }
    }

    fn place(&self, span: &Range<usize>) -> Place {
        let offset = self.text.floor_char_boundary(span.start);
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts[line - 1];
        Place {
            file: self.path.to_owned(),
            line,
            column: self.text[start..offset].chars().count() + 1,
        }
    }
}
