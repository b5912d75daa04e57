//! The facts in a stored case about an attempt at a challenge: who made it, and what was measured. `stated` finds the
//! keys. It ranks nothing.

use std::borrow::Cow;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::Serialize;
use serde_json::value::RawValue;

use super::stated::{
    APP, CHALLENGE, CREATED_AT, ELAPSED_MS, RATING, SUCCEEDED, Spellings, Stated, TENANT,
    TOKENS_TOTAL,
};
use crate::{
    case::{MAX_ID_BYTES, usage_of},
    contract::Usage,
    row::Status,
    store::{CaseEntry, CaseToDecide},
    verdict::{CaseVerdict, Verdict},
};

/// An empty name, as a table cell writes it.
const EMPTY: &str = "\"\"";

/// The maximum length of JSON text that is read as a number or as `true`: no such value is longer.
const LONGEST_FIGURE: usize = 1024;

/// An attempt at a challenge.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Entered {
    /// The case's id.
    pub case_id: String,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
    /// The app that the challenge belongs to, if it is stated.
    pub app: Option<String>,
    /// The challenge, if one is named.
    pub challenge: Option<String>,
    /// The entrant's tenant, if it is stated.
    pub tenant: Option<String>,
    /// Who made the attempt.
    pub entrant: String,
    /// Whether it succeeded: no if the task failed; otherwise the stated value, or else whether its verdict is
    /// `passed`. `None` if the stated value cannot be read, or if there is none and no scorer of the run can fail a
    /// case.
    pub succeeded: Option<bool>,
    /// The outcome of the scorer, if there is one.
    pub status: Option<Status>,
    /// Its score; `None` if the outcome is not a score.
    pub score: Option<f64>,
    /// The judge's rating.
    pub rating: Option<f64>,
    /// All tokens that it used.
    pub tokens_total: Option<f64>,
    /// How long it took, in milliseconds.
    pub elapsed_ms: Option<f64>,
    /// When it was made, in milliseconds since 1970 UTC.
    pub created_at: Option<f64>,
    /// The keys that occur twice in its metadata, or have a value of the wrong type; outside the metadata, only
    /// `succeeded` with the wrong type. The attempt is then not ranked, because its facts are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<&'static str>,
}

/// Why a case is not an attempt that can be compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotEntered {
    /// It does not name the entrant.
    WithoutEntrant,
    /// It does not state whether it succeeded, and not all scorers have scored it.
    Incomplete,
}

impl Entered {
    /// The attempt in a case, without its score. The verdict decides whether it succeeded if a scorer of the run can
    /// fail a case (`decides`).
    ///
    /// # Errors
    /// Why it is not compared with others.
    pub(super) fn of(
        case: &CaseToDecide,
        entry: &CaseEntry,
        verdict: &CaseVerdict,
        decides: bool,
    ) -> Result<Entered, NotEntered> {
        let mut reading = Reading::of(entry);
        let entrant = reading.stated.entrants().find_map(name).ok_or(NotEntered::WithoutEntrant)?;
        let rating = reading.figure(RATING, number);
        let tokens_total = reading.figure(TOKENS_TOTAL, amount);
        let elapsed_ms = reading.figure(ELAPSED_MS, amount);
        let created_at = reading.figure(CREATED_AT, time);
        let succeeded = match case.error {
            Some(_) => Some(false),
            None => match reading.succeeded() {
                Some(stated) => stated,
                None if verdict.is_incomplete => return Err(NotEntered::Incomplete),
                None => decides.then_some(verdict.verdict == Verdict::Passed),
            },
        };
        let [app, challenge, tenant] = [APP, CHALLENGE, TENANT].map(|key| reading.name(key));
        let usage = || usage_of(case.usage.as_ref()?.get()).as_ref().and_then(total_tokens);
        let latency_ms = case.latency_ms.filter(|latency| latency.is_finite());
        Ok(Entered {
            case_id: case.case_id.clone(),
            iteration: case.iteration,
            attempt: case.attempt,
            app,
            challenge,
            tenant,
            entrant,
            succeeded,
            status: None,
            score: None,
            rating,
            tokens_total: tokens_total.or_else(usage),
            elapsed_ms: elapsed_ms.or(latency_ms),
            created_at,
            unreadable: reading.unreadable,
        })
    }

    /// Whether it is unknown if it succeeded.
    pub(super) fn success_is_unknown(&self) -> bool {
        self.succeeded.is_none() && self.unreadable.is_empty()
    }
}

/// The facts in a case, and which of them cannot be read.
struct Reading<'a> {
    stated: Stated<'a>,
    /// The first spelling of each key.
    unreadable: Vec<&'static str>,
}

impl<'a> Reading<'a> {
    fn of(entry: &'a CaseEntry) -> Reading<'a> {
        let stated = Stated::by(entry);
        let unreadable = stated.repeated().collect();
        Reading { stated, unreadable }
    }

    fn cannot_read(&mut self, key: Spellings) {
        if !self.unreadable.contains(&key[0]) {
            self.unreadable.push(key[0]);
        }
    }

    /// A figure. A value outside the metadata that cannot be read may be there for another purpose, so it counts as
    /// absent.
    fn figure(&mut self, key: Spellings, read: fn(&RawValue) -> Option<f64>) -> Option<f64> {
        let Some(in_metadata) = self.stated.in_metadata(key).first().copied() else {
            return self.stated.values(key).into_iter().find_map(read);
        };
        let figure = read(in_metadata);
        if figure.is_none() {
            self.cannot_read(key);
        }
        figure
    }

    /// Whether it states that it succeeded, if it does; `Some(None)` if that cannot be read, wherever it is, because
    /// the verdict must not replace it.
    fn succeeded(&mut self) -> Option<Option<bool>> {
        let succeeded = flag(self.stated.values(SUCCEEDED).first()?);
        if succeeded.is_none() {
            self.cannot_read(SUCCEEDED);
        }
        Some(succeeded)
    }

    fn name(&mut self, key: Spellings) -> Option<String> {
        let name = self.stated.values(key).into_iter().find_map(name);
        let is_empty = |raw: &&RawValue| raw.get() == EMPTY;
        if name.is_none() && !self.stated.in_metadata(key).iter().all(is_empty) {
            self.cannot_read(key);
        }
        name
    }
}

/// A name: a string of 1 to 512 bytes, like the id of a case, or an integer.
fn name(raw: &RawValue) -> Option<String> {
    let raw = raw.get();
    // Escapes make a string at most six times as long.
    let is_short = raw.len() <= 6 * MAX_ID_BYTES + 2;
    let name = match raw.starts_with('"') {
        true if is_short => serde_json::from_str::<String>(raw).ok()?,
        true => return None,
        false => serde_json::from_str::<i64>(raw).ok()?.to_string(),
    };
    (1..=MAX_ID_BYTES).contains(&name.len()).then_some(name)
}

/// The text of a value: for a string, its content, because all cells of a CSV file are strings. Empty if it is too long
/// to be a figure.
fn words(raw: &RawValue) -> Cow<'_, str> {
    let raw = raw.get();
    let text = match raw.starts_with('"') {
        false => return Cow::Borrowed(raw),
        true if raw.len() > LONGEST_FIGURE => None,
        true => serde_json::from_str::<String>(raw).ok(),
    };
    text.map_or(Cow::Borrowed(""), |text| Cow::Owned(text.trim().to_owned()))
}

/// A finite number.
fn number(raw: &RawValue) -> Option<f64> {
    serde_json::from_str::<f64>(&words(raw)).ok().filter(|number| number.is_finite())
}

/// A finite number that is not negative: nothing takes less than no time, and a negative number means "not known".
fn amount(raw: &RawValue) -> Option<f64> {
    number(raw).filter(|amount| *amount >= 0.0)
}

/// A time in milliseconds since 1970 UTC: such a number, a time of RFC 3339, or a date, whose day begins in UTC. A time
/// without an offset from UTC is not known.
fn time(raw: &RawValue) -> Option<f64> {
    let words = words(raw);
    let timestamp = || words.parse::<Timestamp>().ok();
    let date = || {
        let is_alone = words.len() == "2026-11-01".len();
        let date = words.parse::<Date>().ok().filter(|_| is_alone)?;
        date.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp())
    };
    let named = || timestamp().or_else(date).map(|time| time.as_millisecond() as f64);
    number(raw).or_else(named)
}

/// `true` or `false`, or 1 or 0 as databases and tables write them (`1.0`); pandas writes `True`, and R `TRUE`.
fn flag(raw: &RawValue) -> Option<bool> {
    match (words(raw).to_ascii_lowercase().as_str(), number(raw)) {
        ("true", _) | (_, Some(1.0)) => Some(true),
        ("false", _) | (_, Some(0.0)) => Some(false),
        _ => None,
    }
}

/// The counted total, or else the sum of input and output; one of them alone is not a total.
fn total_tokens(usage: &Usage) -> Option<f64> {
    let sum = || Some(usage.input_tokens?.saturating_add(usage.output_tokens?));
    usage.total_tokens.or_else(sum).map(|tokens| tokens as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_of_milliseconds_a_time_with_its_zone_or_a_day() {
        let time = |json: &str| time(serde_json::from_str(json).unwrap());
        for (json, ms) in [
            ("1730000000000", 1_730_000_000_000.0),
            (r#""1730000000000""#, 1_730_000_000_000.0),
            (r#""2026-11-01T10:00:00Z""#, 1_793_527_200_000.0),
            (r#"" 2026-11-01t12:00:00.250+02:00 ""#, 1_793_527_200_250.0),
            (r#""2026-11-01 10:00:00+00:00""#, 1_793_527_200_000.0),
            (r#""2026-11-01""#, 1_793_491_200_000.0),
        ] {
            assert_eq!(time(json), Some(ms), "{json}");
        }
        let long = format!("\"2026-11-01{}\"", " ".repeat(LONGEST_FIGURE));
        for json in [
            r#""2026-11-01T10:00:00""#,
            r#""2026-11-31""#,
            r#""2026-11""#,
            r#""20261101T10""#,
            r#""01/11/2026""#,
            r#""yesterday""#,
            r#""""#,
            "[]",
            &long,
        ] {
            assert_eq!(time(json), None, "{json}");
        }
    }
}
