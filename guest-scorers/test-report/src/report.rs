//! The formats of reports: their names, how they are detected, and which module reads each.

use scorebox_sdk::{JsonSchema, excerpt, schemars};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::reported::Reported;
use crate::{cargo, jest, junit, pytest, tap};

/// The most JSON objects that are examined in the output of a command.
const OBJECTS: usize = 16;

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// JUnit XML, as many tools write it.
    Junit,
    /// The Test Anything Protocol, versions 12 to 14.
    Tap,
    /// The JSON reporter of Vitest.
    Vitest,
    /// The JSON of `jest --json`.
    Jest,
    /// The JSON lines of Rust's libtest.
    Cargo,
    /// The JSON of pytest-json-report, or the JSON lines of pytest-reportlog.
    Pytest,
}

impl Format {
    /// The format that a case names.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let all = [
            ("junit", Self::Junit),
            ("tap", Self::Tap),
            ("vitest", Self::Vitest),
            ("jest", Self::Jest),
            ("cargo", Self::Cargo),
            ("pytest", Self::Pytest),
        ];
        let found = all.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        found.map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|(known, _)| format!("`{known}`")).collect();
            format!("its format is `{}`; known formats: {}", excerpt(name, 40), names.join(", "))
        })
    }

    /// The format of a text, detected from its content.
    pub(crate) fn of(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with('<') {
            return Ok(Self::Junit);
        }
        let mut json_lines = text.lines().map(str::trim_start).filter(|line| line.starts_with('{'));
        let is_json = |line: &str| serde_json::from_str::<Value>(line).ok();
        match json_lines.find_map(is_json) {
            Some(line) if line.get("$report_type").is_some() => return Ok(Self::Pytest),
            Some(line) if cargo::is_line(&line) => return Ok(Self::Cargo),
            _ => {}
        }
        if text.starts_with('{')
            && let Ok(Value::Object(report)) = serde_json::from_str(text)
        {
            if let Some(format) = Self::of_object(&report) {
                return Ok(format);
            }
            let keys: Vec<_> =
                report.keys().take(8).map(|key| format!("`{}`", excerpt(key, 40))).collect();
            return Err(format!(
                "it is JSON in an unknown format, with the keys {}",
                keys.join(", ")
            ));
        }
        if tap::is_tap(text) {
            return Ok(Self::Tap);
        }
        Err(match text.trim_end() {
            "" => "it is empty".to_owned(),
            text => {
                format!("it is in an unknown format; it begins with {:?}", excerpt(text, 60))
            }
        })
    }

    /// The format of a report that is one JSON object.
    fn of_object(report: &Map<String, Value>) -> Option<Self> {
        if report.contains_key("testResults") {
            Some(Self::Jest)
        } else {
            pytest::is_report(report).then_some(Self::Pytest)
        }
    }

    /// Whether two formats are read alike, as Vitest's and Jest's are.
    fn reads_as(self, other: Self) -> bool {
        let one = |format| if format == Self::Vitest { Self::Jest } else { format };
        one(self) == one(other)
    }

    /// The tests in the output of a command: a report, or JSON reports among other lines.
    pub(crate) fn read_output(stated: Option<Self>, text: &str) -> Result<Vec<Reported>, String> {
        let why = match (stated, Self::of(text)) {
            (None, Ok(format)) => return format.read(text),
            (None, Err(why)) => why,
            (Some(format), _) => match format.read(text) {
                Ok(tests) => return Ok(tests),
                Err(why) => why,
            },
        };
        let mut found = reports_among_lines(text)?;
        found.retain(|(format, _)| stated.is_none_or(|stated| stated.reads_as(*format)));
        if found.is_empty() {
            return Err(why);
        }
        // All of them count, so that no test can hide the real report behind one of its own.
        let mut tests = Vec::new();
        for (format, report) in found {
            tests.extend(format.read(report)?);
        }
        Ok(tests)
    }

    /// The tests of a report in this format.
    pub(crate) fn read(self, text: &str) -> Result<Vec<Reported>, String> {
        let text = text.trim_start_matches('\u{feff}').trim_end();
        match self {
            Self::Junit => junit::read(text.trim_start()),
            Self::Tap => tap::read(text),
            Self::Vitest | Self::Jest => jest::read(text),
            Self::Cargo => cargo::read(text),
            Self::Pytest => pytest::read(text),
        }
    }
}

/// The JSON objects that begin a line and are reports. Package managers write lines around them.
fn reports_among_lines(text: &str) -> Result<Vec<(Format, &str)>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let first = text.starts_with('{').then_some(0);
    let starts = first.into_iter().chain(text.match_indices("\n{").map(|(at, _)| at + 1));
    let mut found = Vec::new();
    let (mut looked_at, mut end) = (0, 0);
    for start in starts {
        if start < end {
            continue;
        }
        // An object that is not examined may be the report.
        if looked_at == OBJECTS {
            return Err(format!(
                "more than {OBJECTS} of its lines begin with `{{`; at most {OBJECTS} are looked at \
                 for a JSON report"
            ));
        }
        looked_at += 1;
        let Some(rest) = text.get(start..) else { break };
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        let Some(Ok(object)) = values.next() else { continue };
        let length = values.byte_offset();
        end = start + length;
        if let (Some(format), Some(report)) = (Format::of_object(&object), rest.get(..length)) {
            found.push((format, report));
        }
    }
    Ok(found)
}
