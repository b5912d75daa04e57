//! satisfies: the result of a jq expression on the whole case, so that a one-line rule needs no new component. It
//! supports no files, clock, environment or modules, and none of jq's formats and dates.
//!
//! score = 1 for true, 0 for false, a number from 0 to 1 as it is; null or nothing: not applicable
//!
//! The language is jq's (<https://jqlang.org>), as jaq implements it.

mod collections;
mod json_text;
mod natives;
mod numbers;
mod program;
mod reads;
mod regular_expressions;
mod value;

use program::Program;
use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::Deserialize;
use serde_json::{Map, json};

/// Scores what a jq expression says about the case: `true` is 1, `false` is 0, and a number from 0
/// to 1 is the score itself.
///
/// The input of the expression is the whole case: `.output`, `.input`, `.groundTruth`, `.context`,
/// `.latencyMs`, `.outputSchema`, `.trace`, `.usage` (`inputTokens`, `outputTokens`, `totalTokens`,
/// `costUsd`), `.metadata`, `.baseline`; a missing part is `null`. A path to any other key of the
/// case or of its usage, such as `.latency_ms`, is refused: scorers do not see it, whatever the file
/// has there. Such a path is found through definitions, variables, `if`, `//` and lists of the case,
/// but not through objects that the expression makes, `..`, `reduce` and `foreach`: there the key is
/// `null`. If the expression yields `null` or nothing, the result is not-applicable; if it fails,
/// the result is an error, and so is a division by zero. In jq `null` is less than any number, so
/// `.usage.outputTokens <= 10000` also holds if the case has no usage;
/// `.usage.outputTokens | values | . <= 10000` yields nothing then. An expression that never ends
/// runs out of fuel.
///
/// The language is that of jq. It lacks files, modules, clock, dates, environment, `input`, `halt`, `?//`, `$__loc__`,
/// the formats `@base32`, `@base64`, `@html` and `@uri`, and, of the functions on numbers, those of angles, the gamma,
/// error and Bessel functions, and rarer ones: what is not there is refused before the first score. Some things differ:
/// integers are exact at any length; of an operator with several results on both sides, the left side's come first one
/// after the other; `reduce` and `foreach` continue with each result of an update, or with nothing if the update has no
/// result; `|= empty` removes items one by one, so that the later ones have moved; `nan` and `infinite` keep these
/// names in texts; a negative count of `limit` and `skip` counts as 0. Regular expressions have the syntax of
/// regex-lite: `\w`, `\d` and `\b` know ASCII only, and so do ranges of letters with the flag `i`; `$` is the very end,
/// even after a line break, and there is no flag `l`. `fromjson` fails on a text nested more than 127 deep.
///
/// Replaces niceeval's `satisfies`, whose predicates are code and a gate there, and one-line
/// `javascript` and `python` assertions of promptfoo.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The jq expression, such as `.output | length < 200` or `.usage.outputTokens | values | . <=
    /// 10000`.
    expression: String,
    /// What the expression checks, in a few words; replaces the expression in the reason.
    #[serde(default)]
    label: Option<String>,
}

/// The scorer, made from its [`Config`].
pub struct Satisfies {
    program: Program,
    label: String,
}

impl Scorer for Satisfies {
    type Config = Config;

    const INFO: Info = Info::new("satisfies", "Satisfies", env!("CARGO_PKG_VERSION")).reads(
        Fields::INPUT
            .and(Fields::GROUND_TRUTH)
            .and(Fields::CONTEXT)
            .and(Fields::LATENCY)
            .and(Fields::OUTPUT_SCHEMA)
            .and(Fields::TRACE)
            .and(Fields::USAGE)
            .and(Fields::METADATA)
            .and(Fields::BASELINE),
    );

    fn new(config: Config) -> Result<Self, ConfigError> {
        let program = Program::compile(&config.expression);
        let program = program.map_err(|error| ConfigError::new("expression", error))?;
        if let Some(unseen) = reads::unseen(&config.expression) {
            return Err(ConfigError::new("expression", unseen));
        }
        Ok(Self { program, label: config.label.unwrap_or(config.expression) })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let results = self.program.run(&case_as_json(case)).map_err(|error| {
            ScoreError::invalid_input(format!("`expression`: {}", excerpt(&error, 300)))
        })?;
        let label = excerpt(&self.label, 120);
        match results.as_slice() {
            [] => Ok(Score::not_applicable(format!("{label}: yields nothing"))),
            [one] => match (one.as_bool(), one.as_f64()) {
                _ if one.is_null() => Ok(Score::not_applicable(format!("{label}: yields null"))),
                (Some(holds), _) => Ok(Score::pass(holds).reason(format!("{label}: {holds}"))),
                (None, Some(number)) if (0.0..=1.0).contains(&number) => {
                    Ok(Score::new(number).reason(format!("{label}: {number}")))
                }
                _ => Err(wrong_result(&one.to_string())),
            },
            _ => Err(ScoreError::invalid_input(
                "`expression` yields more than one result; combine them, for example with `all(…)`, \
                 `any(…)` or `first(…)`",
            )),
        }
    }
}

/// The engine uses this for the key `when` of a suite, whose expressions this scorer evaluates: its `scoring` matches
/// these words.
fn wrong_result(result: &str) -> ScoreError {
    let result = excerpt(result, 80);
    ScoreError::invalid_input(format!(
        "`expression` should yield true, false, null or a number from 0 to 1; found {result}"
    ))
}

/// The whole case as one JSON text, assembled from the texts of its parts.
fn case_as_json(case: &Case) -> String {
    let output = case.output();
    let mut text = format!("{{\"output\":{}", output.json());
    let parts = [
        case.input(),
        case.ground_truth(),
        case.context(),
        case.output_schema(),
        case.trace(),
        case.metadata(),
        case.baseline(),
    ];
    for part in parts.into_iter().flatten() {
        text.push_str(&format!(",\"{}\":{}", part.name(), part.json()));
    }
    if let Some(latency) = case.latency_ms() {
        text.push_str(&format!(",\"latencyMs\":{}", json!(latency)));
    }
    if let Some(usage) = case.usage() {
        let mut known = Map::new();
        let tokens = [
            ("inputTokens", usage.input_tokens),
            ("outputTokens", usage.output_tokens),
            ("totalTokens", usage.total()),
        ];
        known.extend(tokens.into_iter().filter_map(|(key, n)| Some((key.to_owned(), json!(n?)))));
        known.extend(usage.cost_usd.map(|cost| ("costUsd".to_owned(), json!(cost))));
        text.push_str(&format!(",\"usage\":{}", json!(known)));
    }
    text.push('}');
    text
}

scorebox_sdk::export!(Satisfies);

#[cfg(test)]
mod tests;
