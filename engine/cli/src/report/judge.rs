//! What judges did, in words: while a run asks them, and when it has ended. Computes nothing.

use scorebox::{
    judge::{JudgeCounts, JudgeIdentity, JuryIdentity, ScoreCall},
    store::CallCounts,
};

use super::{count, counted, one_line};

/// US dollars: small sums are told apart.
pub(crate) fn dollars(cost: f64) -> String {
    match cost {
        0.0 => "$0".to_owned(),
        cost if cost < 0.01 => format!("${cost:.6}"),
        cost => format!("${cost:.2}"),
    }
}

/// What is asked at this moment, in the words of the progress bar; `None` if nobody was asked.
pub(crate) fn asking(counts: &JudgeCounts) -> Option<String> {
    let JudgeCounts { consumed, recorded, failed, load, budget, .. } = counts;
    if consumed.calls == 0 && *recorded == 0 && *failed == 0 {
        return None;
    }
    let mut words =
        format!("judges: {} running, {} waiting", count(load.running), count(load.waiting));
    let asked = count(consumed.calls);
    words.push_str(&match budget.calls {
        Some(most) => format!(", {asked} of {} calls", count(most)),
        None => format!(", {}", counted(consumed.calls, "call", "calls")),
    });
    match budget.cost_usd {
        Some(most) => {
            words.push_str(&format!(", {} of {}", dollars(consumed.cost_usd), dollars(most)));
        }
        None if consumed.cost_usd > 0.0 => {
            words.push_str(&format!(", {}", dollars(consumed.cost_usd)));
        }
        None => {}
    }
    for (number, what) in [(*recorded, "recorded"), (load.retries, "retried"), (*failed, "failed")]
    {
        if number > 0 {
            words.push_str(&format!(", {} {what}", count(number)));
        }
    }
    Some(words)
}

/// A judge, by its name, model and place, or a jury, by its members.
pub(crate) fn named(judge: &JudgeIdentity) -> String {
    let Some(JuryIdentity { jury, members, .. }) = &judge.jury else {
        return one_line(&alone(judge), 300);
    };
    let each = if jury.samples > 1 {
        format!(", {} answers of each", jury.samples)
    } else {
        String::new()
    };
    let members: Vec<String> = members.iter().map(alone).collect();
    one_line(&format!("a jury{each}: {}", members.join("; ")), 600)
}

/// A judge that is asked without a jury.
fn alone(judge: &JudgeIdentity) -> String {
    let JudgeIdentity { name, provider, place, model, .. } = judge;
    let model = model.as_ref().map_or_else(String::new, |model| format!(" `{model}`"));
    let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
    format!("judge `{name}`:{model} ({provider}{place})")
}

/// What the judge of one scorer answered, in a line.
pub(crate) fn of_scorer(counts: &CallCounts) -> String {
    let CallCounts {
        scorer_id,
        calls,
        recorded,
        retries,
        input_tokens,
        output_tokens,
        cost_usd,
        ..
    } = counts;
    let mut words = format!("judge of {scorer_id}: {}", counted(*calls, "answer", "answers"));
    if *recorded > 0 {
        words.push_str(&format!(", {} of them recorded before", count(*recorded)));
    }
    if *input_tokens + *output_tokens > 0 {
        let (asked, said) = (count(*input_tokens), count(*output_tokens));
        words.push_str(&format!(", {asked} tokens of questions and {said} of answers"));
    }
    if *cost_usd > 0.0 {
        words.push_str(&format!(", {}", dollars(*cost_usd)));
    }
    if *retries > 0 {
        words.push_str(&format!(", {}", counted(*retries, "retry", "retries")));
    }
    words
}

/// What the judge of one scorer answered for one score, in a line; `None` if nobody was asked.
pub(crate) fn of_one_score(
    scorer_id: &str,
    calls: &[ScoreCall],
    asked: &JudgeCounts,
) -> Option<String> {
    let JudgeCounts { consumed, load, .. } = asked;
    if calls.is_empty() && consumed.calls == 0 {
        return None;
    }
    let mut counts = CallCounts::default();
    counts.scorer_id = scorer_id.to_owned();
    counts.calls = calls.len() as u64;
    counts.recorded = calls.iter().filter(|call| call.is_recorded).count() as u64;
    counts.retries = load.retries;
    counts.input_tokens = consumed.input_tokens;
    counts.output_tokens = consumed.output_tokens;
    counts.cost_usd = consumed.cost_usd;
    Some(of_scorer(&counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sums_are_told_apart_and_large_ones_are_rounded() {
        let sums = [0.0, 0.000_012, 0.009_9, 0.01, 12.345].map(dollars);
        assert_eq!(sums, ["$0", "$0.000012", "$0.009900", "$0.01", "$12.35"]);
    }

    #[test]
    fn a_run_that_asks_nobody_says_nothing_of_judges() {
        assert_eq!(asking(&JudgeCounts::default()), None);
    }
}
