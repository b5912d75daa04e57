//! Checks what a guest returned: scores are on their scale, texts within their limits, and JSON is valid. Nothing from
//! a guest is stored or shown before it has passed here.

use crate::{
    advice::{Advice, Form, Limit},
    contract::{Assertion, Scale, ScoreResult, ScorerInfo},
    terminal,
};

use super::{ErrorKind, Limits, ScoreError, cut, fault, json};

/// How far a score from 0 to 1 may exceed 1 for rounding to be the likely cause.
const ROUNDING: f64 = 1e-6;
/// The most bytes of a label, and of a scorer's name and version.
const WORD_BYTES: usize = 200;
/// The most bytes of a description.
const DESCRIPTION_BYTES: usize = 64 << 10;
/// The most bytes of a configuration schema.
const SCHEMA_BYTES: usize = 1 << 20;

/// Checks a result; what it returns may be stored.
pub(super) fn check(
    mut result: ScoreResult,
    scale: Scale,
    limits: &Limits,
) -> Result<ScoreResult, ScoreError> {
    result.score = result.score.map(|score| score_on_scale(score, scale)).transpose()?;
    at_most("the label", result.label.as_deref(), WORD_BYTES, None)?;
    at_most("the reason", result.reason.as_deref(), limits.reason_bytes, Some(Limit::Reason))?;
    if let Some(meta) = &result.meta {
        at_most("meta", Some(meta), limits.meta_bytes, Some(Limit::Meta))?;
        must_be_json("meta", meta)?;
    }
    if result.assertions.len() > limits.assertions {
        return Err(ScoreError::new(
            ErrorKind::OutputTooLarge,
            format!("{} assertions; the limit is {}", result.assertions.len(), limits.assertions),
        )
        .with(Advice::Raise(Limit::Assertions)));
    }
    for assertion in &mut result.assertions {
        check_assertion(assertion, limits)?;
    }
    Ok(result)
}

fn check_assertion(assertion: &mut Assertion, limits: &Limits) -> Result<(), ScoreError> {
    let (most, name) = (limits.reason_bytes, Some(Limit::Reason));
    at_most("the name of an assertion", Some(&assertion.name), most, name)?;
    at_most("the reason of an assertion", assertion.reason.as_deref(), most, name)?;
    assertion.score = on_scale("the score of an assertion", assertion.score, Scale::Unit)?;
    let threshold = assertion.threshold;
    assertion.threshold = threshold
        .map(|threshold| on_scale("the threshold of an assertion", threshold, Scale::Unit))
        .transpose()?;
    Ok(())
}

/// Checks a summary; what it returns may be stored.
pub(super) fn check_summary(summary: String, limits: &Limits) -> Result<String, ScoreError> {
    at_most("the summary", Some(&summary), limits.meta_bytes, Some(Limit::Meta))?;
    must_be_json("the summary", &summary)?;
    Ok(summary)
}

/// Checks what a scorer reports about itself.
pub(super) fn check_info(mut info: ScorerInfo) -> Result<ScorerInfo, ScoreError> {
    let bad = |message: String| ScoreError::new(ErrorKind::InvalidComponent, message);
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if info.id.is_empty() || info.id.len() > 64 || !info.id.bytes().all(word) {
        let id = cut(&info.id, 64).escape_debug().to_string();
        let why = match id.is_empty() {
            true => "the component says no id".to_owned(),
            false => format!("the component's id `{id}` is not made of 1 to 64 of a-z, 0-9 and -"),
        };
        return Err(bad(why));
    }
    for (what, text, most) in [
        ("name", &info.name, WORD_BYTES),
        ("version", &info.version, WORD_BYTES),
        ("description", &info.description, DESCRIPTION_BYTES),
    ] {
        if text.len() > most {
            return Err(bad(format!(
                "the component's {what} has {} bytes; the most is {most}",
                text.len()
            )));
        }
    }
    let in_lines = |character: char| matches!(character, '\n' | '\t');
    for (what, text, lines) in [
        ("name", &info.name, false),
        ("version", &info.version, false),
        ("description", &info.description, true),
    ] {
        if text.chars().any(|it| terminal::acts(it) && !(lines && in_lines(it))) {
            return Err(bad(format!("the component's {what} has control characters")));
        }
    }
    if let Some(schema) = &info.config_schema {
        if schema.len() > SCHEMA_BYTES {
            return Err(bad(format!(
                "the configuration schema has {} bytes; the most is {SCHEMA_BYTES}",
                schema.len()
            )));
        }
        json::check(schema)
            .map_err(|error| bad(format!("the configuration schema is not JSON: {error}")))?;
    }
    if let Some(threshold) = info.threshold
        && !info.scale.contains(threshold)
    {
        let range = match info.scale {
            Scale::Unit => "0 to 1, unless the scorer's scale is `points`",
            Scale::Points => range(info.scale),
        };
        let off = format!("the threshold {threshold} is off the scale: it must be {range}");
        return Err(bad(off));
    }
    // -0 is on the scale; it is stored as 0.
    info.threshold = info.threshold.map(|threshold| threshold + 0.0);
    Ok(info)
}

fn on_scale(what: &str, score: f64, scale: Scale) -> Result<f64, ScoreError> {
    if scale.contains(score) {
        // -0 is on the scale; it is stored as 0.
        return Ok(score + 0.0);
    }
    let range = range(scale);
    Err(ScoreError::new(
        ErrorKind::InvalidScore,
        format!("{what} is {}; it must be {range}", shown(score)),
    ))
}

/// The numbers on a scale, in words.
fn range(scale: Scale) -> &'static str {
    match scale {
        Scale::Unit => "0 to 1",
        Scale::Points => "finite and 0 or more",
    }
}

fn score_on_scale(score: f64, scale: Scale) -> Result<f64, ScoreError> {
    on_scale("the score", score, scale).map_err(|error| {
        let is_more_than_one = scale == Scale::Unit && Scale::Points.contains(score);
        let form = match score - 1.0 < ROUNDING {
            true => Form::RoundedScore,
            false => Form::PointsScale,
        };
        ScoreError { advice: is_more_than_one.then_some(Advice::Write(form)), ..error }
    })
}

/// A number in a few characters, however large or small it is.
fn shown(score: f64) -> String {
    let size = score.abs();
    match size >= 1e16 || (size > 0.0 && size < 1e-5) {
        true => format!("{score:e}"),
        false => score.to_string(),
    }
}

fn at_most(
    what: &str,
    text: Option<&str>,
    limit: usize,
    raise: Option<Limit>,
) -> Result<(), ScoreError> {
    match text {
        Some(text) if text.len() > limit => Err(fault::too_large(what, text.len(), limit, raise)),
        _ => Ok(()),
    }
}

fn must_be_json(what: &str, text: &str) -> Result<(), ScoreError> {
    json::check(text).map_err(|error| {
        ScoreError::new(ErrorKind::InvalidScore, format!("{what} is not a JSON document: {error}"))
            .with(Advice::Write(Form::ScorerJson))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Direction, Fields, Severity};

    fn checked(result: ScoreResult, scale: Scale) -> Result<Option<f64>, ErrorKind> {
        let checked = check(result, scale, &Limits::default());
        checked.map(|result| result.score).map_err(|error| error.kind)
    }

    fn scored(score: f64) -> ScoreResult {
        ScoreResult { score: Some(score), ..ScoreResult::default() }
    }

    #[test]
    fn a_threshold_of_minus_zero_is_the_zero_that_is_stored() {
        let described = ScorerInfo {
            id: "zero".into(),
            name: "Zero".into(),
            description: String::new(),
            version: "1.0.0".into(),
            config_schema: None,
            scale: Scale::Unit,
            direction: Direction::HigherIsBetter,
            reads: Fields::default(),
            severity: Severity::Soft,
            threshold: Some(-0.0),
        };
        let threshold = check_info(described).unwrap().threshold.unwrap();
        assert_eq!(threshold.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn a_score_is_shown_in_few_characters() {
        let shown = [-1e-300, 1e308, -0.1, 2.0].map(shown);
        assert_eq!(shown, ["-1e-300", "1e308", "-0.1", "2"]);
    }

    #[test]
    fn a_score_is_a_number_on_its_scale() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, 1.000_001, 1e308] {
            assert_eq!(checked(scored(bad), Scale::Unit), Err(ErrorKind::InvalidScore), "{bad}");
        }
        assert_eq!(checked(scored(1e308), Scale::Points), Ok(Some(1e308)));
        assert_eq!(checked(scored(-1.0), Scale::Points), Err(ErrorKind::InvalidScore));
        assert_eq!(checked(ScoreResult::default(), Scale::Unit), Ok(None));
    }

    #[test]
    fn minus_zero_becomes_zero() {
        let score = checked(scored(-0.0), Scale::Unit).unwrap().unwrap();
        assert!(score.is_sign_positive());
        let mut assertion = Assertion {
            name: "a".into(),
            score: -0.0,
            threshold: Some(-0.0),
            severity: None,
            reason: None,
        };
        check_assertion(&mut assertion, &Limits::default()).unwrap();
        let numbers = [assertion.score, assertion.threshold.unwrap()];
        assert!(numbers.iter().all(|number| number.is_sign_positive()));
    }

    #[test]
    fn texts_have_limits_and_meta_is_json() {
        let long = "x".repeat(64 * 1024 + 1);
        let reason = ScoreResult { reason: Some(long), ..scored(1.0) };
        assert_eq!(checked(reason, Scale::Unit), Err(ErrorKind::OutputTooLarge));
        let meta = ScoreResult { meta: Some("{".into()), ..scored(1.0) };
        assert_eq!(checked(meta, Scale::Unit), Err(ErrorKind::InvalidScore));
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        for bad in [nested(128), nested(100_000), r#""\ud800""#.into(), "1e999".into()] {
            let meta = ScoreResult { meta: Some(bad), ..scored(1.0) };
            assert_eq!(checked(meta, Scale::Unit), Err(ErrorKind::InvalidScore));
        }
        let deepest = ScoreResult { meta: Some(nested(127)), ..scored(1.0) };
        assert_eq!(checked(deepest, Scale::Unit), Ok(Some(1.0)));
    }
}
