//! pairwise, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::testing;
use serde_json::json;

use super::*;

/// The score for these verdicts: first with the output before the baseline, then the other way round.
fn score(verdicts: [&'static str; 2]) -> Score {
    let judge = testing::answering(move |question| {
        let text = &question.messages[0].text;
        let is_first = text.find("the output").unwrap() < text.find("the baseline").unwrap();
        let verdict = if is_first { verdicts[0] } else { verdicts[1] };
        json!({"reason": format!("{verdict}!"), "choice": verdict}).to_string()
    });
    let scorer: Pairwise = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("the output")).with_baseline(json!("the baseline"));
    let score = scorer.score(&case.with_input(json!("the request"))).unwrap();
    assert_eq!(judge.questions().len(), 2);
    score
}

#[test]
fn a_win_counts_only_if_it_holds_in_both_orders() {
    for (verdicts, score_of, label, orders, bias) in [
        (["first", "second"], 1.0, "win", ["output", "output"], json!(null)),
        (["second", "first"], 0.0, "loss", ["baseline", "baseline"], json!(null)),
        (["tie", "tie"], 0.5, "tie", ["tie", "tie"], json!(null)),
        (["first", "first"], 0.5, "disagreement", ["output", "baseline"], json!("first")),
        (["second", "second"], 0.5, "disagreement", ["baseline", "output"], json!("second")),
        (["first", "tie"], 0.5, "disagreement", ["output", "tie"], json!(null)),
    ] {
        let scored = score(verdicts);
        assert_eq!((scored.score, scored.label.as_deref()), (Some(score_of), Some(label)));
        assert_eq!(scored.meta_value(), Some(json!({"orders": orders, "positionBias": bias})));
    }
}

#[test]
fn the_reason_has_both_verdicts() {
    let reason = "in the two orders: output, baseline: first! / first!";
    assert_eq!(score(["first", "first"]).reason.as_deref(), Some(reason));
}

#[test]
fn criteria_are_the_users_and_a_baseline_is_required() {
    let judge = testing::answering(|_| "{\"choice\": \"tie\"}".into());
    let scorer: Pairwise = scorebox_sdk::configure(json!({"criteria": "Rhymes win."})).unwrap();
    scorer.score(&Case::new(json!("a")).with_baseline(json!("b"))).unwrap();
    let system = judge.questions()[0].system.clone().unwrap();
    assert!(system.contains("Rhymes win.") && !system.contains("serves the request"));
    assert!(scorer.score(&Case::new(json!("a"))).is_err());
}
