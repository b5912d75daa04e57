//! Checks that a scorer's answer in a shard is one that a sandbox can return, because any program may have written the
//! shard. Corrects nothing.

use scorebox::{
    contract::Scale,
    row::{Answer, Json, Status},
    sandbox::Limits,
    store::ScorerSpec,
};

/// The most bytes of a label.
const MAX_LABEL_BYTES: usize = 200;

/// Texts of at most this many bytes are within the limits of every scorer unless its suite lowers them, so the limits
/// need not be looked up.
const FEW_BYTES: usize = 1 << 10;

/// Checks an answer of this scorer.
///
/// # Errors
/// What is wrong with the answer.
pub(crate) fn check(answer: &Answer, spec: &ScorerSpec) -> Result<(), String> {
    within_limits(answer, &spec.limits_json)?;
    possible(answer, spec.scale)
}

/// Checks the texts of an answer against the limits that the scorer ran under.
fn within_limits(answer: &Answer, limits_json: &str) -> Result<(), String> {
    let reason = answer.reason.as_ref().map_or(0, String::len);
    let meta = answer.meta.as_ref().map_or(0, |meta| meta.get().len());
    if reason.max(meta) <= FEW_BYTES {
        return Ok(());
    }
    let limits: Limits = serde_json::from_str(limits_json)
        .map_err(|error| format!("the limits of its scorer cannot be read: {error}"))?;
    for (what, bytes, most) in
        [("the reason", reason, limits.reason_bytes), ("meta", meta, limits.meta_bytes)]
    {
        if bytes > most {
            return Err(format!("{what} has {bytes} bytes, and the most is {most}"));
        }
    }
    Ok(())
}

/// Checks that an answer is possible on this scale.
fn possible(answer: &Answer, scale: Scale) -> Result<(), String> {
    if let Some(score) = answer.score.filter(|_| answer.status == Status::Scored) {
        on_scale("the score", score, scale)?;
    }
    if let Some(label) = answer.label.as_ref().filter(|label| label.len() > MAX_LABEL_BYTES) {
        let bytes = label.len();
        return Err(format!("the label has {bytes} bytes, and the most is {MAX_LABEL_BYTES}"));
    }
    if let Some(meta) = &answer.meta {
        must_be_json(meta)?;
    }
    answer.log().map_err(|error| format!("the log cannot be read: {error}"))?;
    let assertions = answer.assertions();
    for assertion in
        assertions.map_err(|error| format!("the assertions cannot be read: {error}"))?
    {
        on_scale("the score of an assertion", assertion.score, Scale::Unit)?;
        if let Some(threshold) = assertion.threshold {
            on_scale("the threshold of an assertion", threshold, Scale::Unit)?;
        }
    }
    Ok(())
}

fn on_scale(what: &str, score: f64, scale: Scale) -> Result<(), String> {
    let range = match scale {
        _ if scale.contains(score) => return Ok(()),
        Scale::Unit => "0 to 1",
        Scale::Points => "finite and 0 or more",
    };
    Err(format!("{what} is {score}, and must be {range}"))
}

/// Checks that `meta` is a JSON value, nested no deeper than a scorer's value may be.
fn must_be_json(meta: &Json) -> Result<(), String> {
    let read = serde_json::from_str::<serde_json::Value>(meta.get());
    read.map(drop).map_err(|error| format!("meta is not a JSON document: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(change: impl FnOnce(&mut Answer)) -> Result<(), String> {
        let mut answer = Answer::new(Status::Scored);
        answer.score = Some(0.5);
        change(&mut answer);
        possible(&answer, Scale::Unit)
    }

    fn json(text: &str) -> Option<Json> {
        Some(Json::from(text.to_owned()))
    }

    #[test]
    fn an_answer_that_a_sandbox_lets_out_is_one() {
        let nested = "[".repeat(127) + &"]".repeat(127);
        let said = scored(|answer| {
            answer.label = Some("x".repeat(200));
            answer.meta = json(&nested);
            answer.log = json(r#"[{"level":"info","message":"m"}]"#);
        });
        assert_eq!(said, Ok(()));
        let mut points = Answer::new(Status::Scored);
        points.score = Some(5.0);
        assert_eq!(possible(&points, Scale::Points), Ok(()));
    }

    #[test]
    fn a_text_is_as_long_as_the_limits_of_its_scorer_allow() {
        let mut limits = Limits::default();
        limits.reason_bytes = 2000;
        let limits = serde_json::to_string(&limits).unwrap();
        let said = |bytes: usize| {
            let mut answer = Answer::new(Status::Scored);
            answer.reason = Some("x".repeat(bytes));
            within_limits(&answer, &limits)
        };
        assert_eq!(said(2000), Ok(()));
        assert_eq!(said(2001).unwrap_err(), "the reason has 2001 bytes, and the most is 2000");
    }

    #[test]
    fn an_answer_that_no_sandbox_lets_out_is_refused() {
        let wrong = |change: fn(&mut Answer)| scored(change).unwrap_err();
        assert_eq!(wrong(|answer| answer.score = Some(5.0)), "the score is 5, and must be 0 to 1");
        assert_eq!(
            wrong(|answer| answer.label = Some("x".repeat(1000))),
            "the label has 1000 bytes, and the most is 200"
        );
        for meta in ["{", &("[".repeat(300) + &"]".repeat(300)), ""] {
            let said = scored(|answer| answer.meta = json(meta)).unwrap_err();
            assert!(said.starts_with("meta is not a JSON document: "), "{said}");
        }
        let assertion =
            r#"[{"name":"a","score":7.0,"threshold":null,"severity":"gate","reason":null}]"#;
        let said = scored(|answer| answer.assertions = json(assertion)).unwrap_err();
        assert_eq!(said, "the score of an assertion is 7, and must be 0 to 1");
        let said = wrong(|answer| answer.assertions = json("{}"));
        assert!(said.starts_with("the assertions cannot be read: "), "{said}");
        let said = wrong(|answer| answer.log = json("no"));
        assert!(said.starts_with("the log cannot be read: "), "{said}");
    }
}
