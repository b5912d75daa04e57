//! Assertions that ask a language model about instructions, criteria or a context of their own. Those that a table says all about are
//! not here.

use super::making::{ANY_SCORE, Made, Making};

/// Why a `context-recall` has no equivalent.
const NOT_THE_GROUND_TRUTH: &str = "its expected answer must be the cases' ground truth, one variable for all tests: write `value: \"{{answer}}\"`";
/// Between the two scores of a scorer that gives 0 or 1.
const YES: f64 = 0.5;

/// What is made of an assertion that asks a judge; `None` for any other.
pub(super) fn of_judges(making: &mut Making<'_>, kind: &str) -> Option<Made> {
    Some(match kind {
        // Without a threshold, promptfoo's judge says itself whether it passes.
        "llm-rubric" => rubric(making, YES),
        "g-eval" => rubric(making, 0.7),
        "model-graded-closedqa" | "closed-qa" => closed_qa(making),
        "context-recall" => context_recall(making),
        _ => return None,
    })
}

fn rubric(making: &mut Making<'_>, usual: f64) -> Made {
    let instructions = making.text()?;
    making.set("instructions", instructions);
    Ok(("rubric", Some(making.threshold().unwrap_or(usual))))
}

fn closed_qa(making: &mut Making<'_>) -> Made {
    let criteria = making.text()?;
    making.set("criteria", criteria);
    Ok(("closed-qa", Some(YES)))
}

fn context_recall(making: &mut Making<'_>) -> Made {
    let value = making.one_text()?;
    // The scorer has no key for it.
    if making.variables.is_some() {
        return Err(NOT_THE_GROUND_TRUTH.to_owned());
    }
    making.set("value", value);
    Ok(("context-recall", Some(making.threshold().unwrap_or(ANY_SCORE))))
}
