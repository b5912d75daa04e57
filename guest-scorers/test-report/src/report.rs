//! The formats of reports: their names, how they are told apart, and who reads each.

use scorebox_sdk::{JsonSchema, excerpt, schemars};
use serde::Deserialize;
use serde_json::Value;

use crate::reported::Reported;
use crate::{cargo, jest, junit, pytest, tap};

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
            format!("its format is `{}`; known are {}", excerpt(name, 40), names.join(", "))
        })
    }

    /// The format that a text is in.
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
            if report.contains_key("testResults") {
                return Ok(Self::Jest);
            }
            if pytest::is_report(&report) {
                return Ok(Self::Pytest);
            }
            let keys: Vec<_> =
                report.keys().take(8).map(|key| format!("`{}`", excerpt(key, 40))).collect();
            return Err(format!(
                "it is JSON in no format that is known; it has {}",
                keys.join(", ")
            ));
        }
        if tap::is_tap(text) {
            return Ok(Self::Tap);
        }
        Err(match text.trim_end() {
            "" => "it is empty".to_owned(),
            text => {
                format!("it is in no format that is known; it begins with {:?}", excerpt(text, 60))
            }
        })
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

/// serde_json's words without the place in a text that the user never sees.
pub(crate) fn not_json(error: &serde_json::Error) -> String {
    format!("it is not JSON as it should be: {error}")
}
