//! contains: 1 where the output has the expected texts in it, else 0. It matches plain text; it knows
//! no patterns and no words.

use std::borrow::Cow;

use scorebox_sdk::{
    Accepted, Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, excerpt,
    schemars,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Scores 1 when the output contains the expected texts, else 0.
///
/// The texts are the configured `value` or `values`, or else the case's ground truth: one, or a list.
/// `mode` says how many of a list have to be there, `at` where. An output that is no string is searched
/// as its JSON text.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contains {
    /// How many of the texts have to be there.
    #[serde(default)]
    mode: Mode,
    /// Where in the output they have to be.
    #[serde(default)]
    at: At,
    /// Compares without regard to upper and lower case.
    #[serde(default)]
    ignore_case: bool,
    /// The text to look for, in place of the ground truth.
    #[serde(default)]
    value: Option<Value>,
    /// The texts to look for, in place of the ground truth.
    #[serde(default)]
    values: Option<Vec<Value>>,
    #[serde(skip)]
    accepted: Option<Accepted<'static>>,
}

/// How many of the texts have to be there.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// At least one of them.
    #[default]
    Any,
    /// Every one of them.
    All,
    /// Not one of them.
    None,
}

/// Where in the output a text has to be.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum At {
    /// Anywhere.
    #[default]
    Anywhere,
    /// At its very start; white space counts.
    Start,
    /// At its very end; white space counts.
    End,
}

impl Scorer for Contains {
    const INFO: Info =
        Info::new("contains", "Contains", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        self.accepted = Accepted::from_config(self.value.take(), self.values.take())?;
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = case.output();
        let output = self.fold(output.text()?);
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for part in accepted.at_least_one()? {
            let text = part.text()?;
            let here = self.at.holds(&output, &self.fold(Cow::Borrowed(&text)));
            let list = if here { &mut found } else { &mut missing };
            list.push(text.into_owned());
        }
        Ok(Score::pass(self.mode.passes(&found, &missing))
            .reason(reason(&found, &missing))
            .meta(json!({ "found": found, "missing": missing })))
    }
}

impl Contains {
    fn fold<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        if self.ignore_case { Cow::Owned(text.to_lowercase()) } else { text }
    }
}

impl Mode {
    fn passes(self, found: &[String], missing: &[String]) -> bool {
        match self {
            Mode::Any => !found.is_empty(),
            Mode::All => missing.is_empty(),
            Mode::None => found.is_empty(),
        }
    }
}

impl At {
    fn holds(self, output: &str, text: &str) -> bool {
        match self {
            At::Anywhere => output.contains(text),
            At::Start => output.starts_with(text),
            At::End => output.ends_with(text),
        }
    }
}

fn reason(found: &[String], missing: &[String]) -> String {
    let list = |texts: &[String]| {
        let quoted: Vec<_> = texts.iter().map(|text| format!("\"{text}\"")).collect();
        excerpt(&quoted.join(", "), 80).into_owned()
    };
    match (found, missing) {
        (found, []) => format!("found {}", list(found)),
        ([], missing) => format!("missing {}", list(missing)),
        (found, missing) => format!("found {}; missing {}", list(found), list(missing)),
    }
}

scorebox_sdk::export!(Contains);

#[cfg(test)]
mod tests;
