//! match: 1 if the output has the expected text or number at its start, at its end or anywhere, else 0. It looks for no
//! markers; for those see answer, numeric-answer and regex.
//!
//! The rule is that of `match` in Inspect 0.3.285: white space and ASCII punctuation around a text do not count, and
//! numbers are compared by five significant digits. `compare` searches the output, and `number` reads a word as a
//! number, with `numerals` for its characters and `chinese` for Chinese numerals.

mod chinese;
mod compare;
mod number;
mod numerals;

use compare::Output;
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Scores 1 if the output has the expected text or number at a given place, else 0.
///
/// Texts are compared without the white space and ASCII punctuation around them; an expected text
/// that is empty after that is in every output. With `numeric`, if the expected text is a number, a
/// number of the output must equal it to five significant digits: the first one, the last one, any,
/// or the whole output. A number is a word: `$`, `€`, `£`, `,`, `*` and `_` in it are ignored, and
/// so are brackets, quotes and `!?:;` around it, but not around an output at `exact`: there `42` is
/// the expected `(42)`, and `(42)` is not the expected `42`. Fractions (`2½`), exponents (`10³`),
/// digits of other scripts and Chinese numerals are understood. `60%` is not a number, because it
/// may mean 60 or 0.6: accept it as a separate text.
///
/// The expected text is the case's ground truth or the configured `value`; if there are several,
/// any one will do. Equals Inspect's `match`, except that with `numeric` an expected text that is
/// not a number may also stand in the output as it is written, with its commas and full stops
/// (`Paris, Texas`), and that at `exact` an output that is the expected text matches (`(42)`).
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Where in the output the expected text must be.
    #[serde(default)]
    location: Location,
    /// Ignores upper and lower case.
    #[serde(default = "yes")]
    ignore_case: bool,
    /// Compares numbers by value.
    #[serde(default)]
    numeric: bool,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// Where in the output the expected text must be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Location {
    /// At the start; of several numbers, the first.
    Begin,
    /// At the end; of several numbers, the last.
    #[default]
    End,
    /// Anywhere; of several numbers, any.
    Any,
    /// The whole output.
    Exact,
}

/// The longest expected text in `meta`, in characters.
const FOUND_SHOWN: usize = 1000;

fn yes() -> bool {
    true
}

/// The scorer, made from its [`Config`].
pub struct Match {
    location: Location,
    ignore_case: bool,
    numeric: bool,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for Match {
    type Config = Config;

    const INFO: Info =
        Info::new("match", "Match", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { location, ignore_case, numeric, negate, value, values } = config;
        Ok(Self {
            location,
            ignore_case,
            numeric,
            negate,
            accepted: Accepted::configured(value, values)?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let text = case.output();
        let output = Output::new(text.text()?, self.location, self.ignore_case, self.numeric);
        let mut expected = Vec::new();
        let mut found = None;
        for part in accepted.at_least_one()? {
            let text = part.text()?;
            if found.is_none() && output.matches(&text) {
                found = Some(text.clone().into_owned());
            }
            expected.push(text.into_owned());
        }
        let place = self.location.words();
        let reason = match (&found, expected.as_slice()) {
            (Some(found), _) => format!("\"{}\" is {place}", excerpt(found, 80)),
            (None, [one]) => format!("\"{}\" is not {place}", excerpt(one, 80)),
            (None, many) => {
                format!("none of \"{}\" is {place}", excerpt(&many.join("\", \""), 80))
            }
        };
        let reason = match output.number() {
            Some(number) => format!("{reason}, where {number} is"),
            None => reason,
        };
        Ok(self.negate.pass(found.is_some()).reason(reason).meta(json!({
            "found": found.as_deref().map(|text| excerpt(text, FOUND_SHOWN)),
            "number": output.number(),
        })))
    }
}

impl Location {
    fn words(self) -> &'static str {
        match self {
            Location::Begin => "at the output's start",
            Location::End => "at the output's end",
            Location::Any => "in the output",
            Location::Exact => "the output",
        }
    }
}

scorebox_sdk::export!(Match);

#[cfg(test)]
mod tests;
