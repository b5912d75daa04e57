//! Converts assertions that ask a language model about their own instructions, criteria or context. `tabled_assertions`
//! has those that a table describes fully.

use serde_json::Value;

use super::making::{ANY_SCORE, Made, Making, text_of};

/// Why a `context-recall` has no equivalent.
const NOT_THE_GROUND_TRUTH: &str = "its expected answer must be the cases' ground truth, one variable for all tests: write `value: \"{{answer}}\"`";
/// Why a `g-eval` with a list has no equivalent.
const EACH_ALONE: &str = "promptfoo grades each text of its list alone, and its threshold is for their mean, which no scorer gives: write an \
     assertion for each text";
/// A threshold between the two scores of a scorer that gives 0 or 1.
const YES: f64 = 0.5;

/// Converts an assertion that asks a judge; `None` for any other.
pub(super) fn of_judges(making: &mut Making<'_>, kind: &str) -> Option<Made> {
    Some(match kind {
        // Without a threshold, promptfoo's judge itself decides whether the output passes.
        "llm-rubric" => llm_rubric(making),
        "g-eval" => g_eval(making),
        "model-graded-closedqa" | "closed-qa" => closed_qa(making),
        "context-recall" => context_recall(making),
        _ => return None,
    })
}

fn llm_rubric(making: &mut Making<'_>) -> Made {
    let instructions = match making.value()? {
        // promptfoo (0.121) writes a list into its prompt as JavaScript does: with commas between the texts.
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            text_of(texts.join(",").into())?
        }
        value => text_of(value)?,
    };
    rubric(making, instructions, YES)
}

fn g_eval(making: &mut Making<'_>) -> Made {
    let criteria = match making.value()? {
        Value::Array(mut items) => match items.pop() {
            Some(only) if items.is_empty() => only,
            _ => return Err(EACH_ALONE.to_owned()),
        },
        value => value,
    };
    rubric(making, text_of(criteria)?, 0.7)
}

fn rubric(making: &mut Making<'_>, instructions: String, usual: f64) -> Made {
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
