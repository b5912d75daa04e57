//! Describes what judges did, while a run asks them and after its end. It computes nothing.

use std::{collections::BTreeSet, time::Duration};

use scorebox::{
    judge::{Consumed, JudgeCounts, JudgeIdentity, JuryIdentity, Load, ScoreCall},
    store::{CallCounts, SilentJuror},
};

use super::{Align, Table, count, counted, one_line, rate};

/// US dollars, with enough digits to distinguish small sums.
pub(crate) fn dollars(cost: f64) -> String {
    match cost {
        0.0 => "$0".to_owned(),
        cost if cost < 0.01 => format!("${cost:.6}"),
        cost => format!("${cost:.2}"),
    }
}

/// The current questions, `elapsed` after the start, as text for the progress bar; `None` if no judge was asked.
pub(crate) fn asking(counts: &JudgeCounts, elapsed: Duration) -> Option<String> {
    let JudgeCounts { consumed, answered, recorded, failed, load, budget, .. } = counts;
    let is_first_awaited = answered + recorded + failed == 0;
    if is_first_awaited && consumed.calls + load.running + load.waiting == 0 {
        return None;
    }
    let mut words =
        format!("judges: {} running, {} waiting", count(load.running), count(load.waiting));
    let asked = count(consumed.calls);
    words.push_str(&match budget.calls {
        Some(most) => format!(", {asked} of {} calls", count(most)),
        None => format!(", {}", counted(consumed.calls, "call", "calls")),
    });
    if is_first_awaited {
        words.push_str(", no answer yet");
    } else if consumed.calls > 0 {
        words.push_str(&format!(", {} a second", rate(consumed.calls, elapsed)));
    }
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

/// Whether questions wait and no judge is answering one: the judge asked to wait, did not answer, or is at its rate
/// limit.
pub(crate) fn is_held_up(load: Load) -> bool {
    load.waiting > 0 && load.running == 0
}

/// What a score that asks judges waits for.
pub(crate) fn waited_for(load: Load) -> String {
    let mut words = match is_held_up(load) {
        true => "waiting until the judge may be asked again".to_owned(),
        false => "waiting for the judge".to_owned(),
    };
    if load.retries > 0 {
        words.push_str(&format!(" ({} so far)", counted(load.retries, "retry", "retries")));
    }
    words
}

/// Names a judge by its name, the models that were asked and its location, or a jury by its members and other models
/// that were asked.
pub(crate) fn named(judge: &JudgeIdentity, asked: Option<&BTreeSet<String>>) -> String {
    let asked: Vec<&str> =
        asked.into_iter().flatten().map(String::as_str).filter(|it| !it.is_empty()).collect();
    let Some(JuryIdentity { jury, members, .. }) = &judge.jury else {
        let models =
            if asked.is_empty() { judge.model.as_deref().into_iter().collect() } else { asked };
        return one_line(&alone(judge, &models), 300);
    };
    let each = if jury.samples > 1 {
        format!(", {} answers of each", jury.samples)
    } else {
        String::new()
    };
    let is_own = |model: &&str| members.iter().any(|it| it.model.as_deref() == Some(*model));
    let others: Vec<&str> = asked.into_iter().filter(|model| !is_own(model)).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!("; and the models {}", quoted(others)),
    };
    let members: Vec<String> = members.iter().map(|it| alone(it, &own(it))).collect();
    one_line(&format!("a jury{each}: {}{others}", members.join("; ")), 600)
}

/// Names a judge that is not in a jury, with these models.
fn alone(judge: &JudgeIdentity, models: &[&str]) -> String {
    let JudgeIdentity { name, provider, place, .. } = judge;
    let models = if models.is_empty() { String::new() } else { format!(" {}", quoted(models)) };
    let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
    format!("judge `{name}`:{models} ({provider}{place})")
}

fn own(judge: &JudgeIdentity) -> Vec<&str> {
    judge.model.as_deref().into_iter().collect()
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Shown for an unknown figure.
const UNKNOWN: &str = "-";

/// Tokens of questions or answers; marked as a minimum if some are not known.
fn tokens(known: u64, counts: &CallCounts) -> String {
    match (known, counts.tokens_unknown) {
        (_, 0) => count(known),
        (0, _) => UNKNOWN.to_owned(),
        (_, _) => format!("≥{}", count(known)),
    }
}

/// Whether a figure is worth a column. An unknown cost is so only if tokens are unknown, too: otherwise the judge has
/// no price.
fn says_something(figure: &str, counts: &CallCounts) -> bool {
    !["0", "$0", UNKNOWN].contains(&figure) || (figure == UNKNOWN && counts.tokens_unknown > 0)
}

/// The cost of the answers for a scorer; marked as a minimum if some costs are not known.
fn cost(counts: &CallCounts) -> String {
    match counts.cost_usd.map(dollars) {
        None => UNKNOWN.to_owned(),
        Some(known) if counts.cost_unknown == 0 => known,
        Some(known) => format!("≥{known}"),
    }
}

/// The calls of a run's judges, by scorer. Events that never happened have no column.
pub(crate) fn table(counts: &[CallCounts]) -> Table {
    type Figure = (&'static str, fn(&CallCounts) -> String);
    let figures: [Figure; 10] = [
        ("answers", |it| count(it.calls)),
        ("recorded", |it| count(it.recorded)),
        ("retries", |it| count(it.retries)),
        ("tokens in", |it| tokens(it.input_tokens, it)),
        ("tokens out", |it| tokens(it.output_tokens, it)),
        ("cost", cost),
        ("unreadable", |it| count(it.unreadable)),
        ("unanswered", |it| count(it.unanswered)),
        ("ties", |it| count(it.ties)),
        ("disagreements", |it| count(it.disagreements)),
    ];
    let happened = |(title, figure): &&Figure| {
        *title == "answers" || counts.iter().any(|it| says_something(&figure(it), it))
    };
    let figures: Vec<&Figure> = figures.iter().filter(happened).collect();
    let titles = figures.iter().map(|(title, _)| (*title, Align::Right));
    let columns: Vec<_> = [("judge of", Align::Left)].into_iter().chain(titles).collect();
    let mut table = Table::new(&columns);
    for of_scorer in counts {
        let cells = figures.iter().map(|(_, figure)| figure(of_scorer));
        table.row([of_scorer.scorer_id.clone()].into_iter().chain(cells));
    }
    table
}

/// The consumption of calls that the table leaves out: calls without an answer, and calls whose answers are not
/// recorded.
pub(crate) fn left_out(counts: &JudgeCounts) -> Vec<String> {
    let JudgeCounts { unanswered, unanswered_attempts, unrecorded, .. } = counts;
    let mut lines = Vec::new();
    if unanswered.calls > 0 {
        lines.push(format!(
            "{} no answer, after {}{}",
            counted(unanswered.calls, "question has", "questions have"),
            counted(*unanswered_attempts, "attempt", "attempts"),
            consumed(" that took", unanswered)
        ));
    }
    if unrecorded.calls > 0 {
        let answers = counted(unrecorded.calls, "answer is", "answers are");
        lines.push(format!("{answers} not recorded{}", consumed(": they took", unrecorded)));
    }
    lines
}

/// The tokens and the cost of calls, after `took`; empty if they are not known.
fn consumed(took: &str, by: &Consumed) -> String {
    let mut words = String::new();
    if let Some(tokens) = counted_tokens(by) {
        words.push_str(&format!("{took} {tokens}"));
    }
    if by.cost_usd > 0.0 {
        words.push_str(&format!(", {}", dollars(by.cost_usd)));
    }
    words
}

/// The tokens of calls. A count of 0 is left out, because the provider may not count those tokens.
fn counted_tokens(by: &Consumed) -> Option<String> {
    let (asked, said) = (count(by.input_tokens), count(by.output_tokens));
    match (by.input_tokens, by.output_tokens) {
        (0, 0) => None,
        (_, 0) => Some(format!("{asked} tokens of questions")),
        (0, _) => Some(format!("{said} tokens of answers")),
        (_, _) => Some(format!("{asked} tokens of questions and {said} of answers")),
    }
}

/// Jurors without a vote in some of the scores, or whose vote only reports that their answer cannot be read.
pub(crate) fn silent_jurors(counts: &[CallCounts]) -> Vec<String> {
    let of_scorer = |it: &CallCounts| {
        let scorer = one_line(&it.scorer_id, 64);
        let says = |juror: &SilentJuror| -> Vec<String> {
            let scores = counted(juror.scores, "score", "scores");
            let name = match juror.model.as_str() {
                "" => format!("`{}`", one_line(&juror.judge, 64)),
                model if juror.shares_model => {
                    format!("`{}` (judge `{}`)", one_line(model, 64), one_line(&juror.judge, 64))
                }
                model => format!("`{}`", one_line(model, 64)),
            };
            let each = [
                (juror.without_vote, "has no vote"),
                (juror.unreadable, "gives 0 because its answer cannot be read"),
            ];
            let happened = each.iter().filter(|(number, _)| *number > 0);
            let line = |(number, what): &(u64, &str)| {
                let number = count(*number);
                format!(
                    "juror {name} of `{scorer}` {what} in {number} of {scores}: `scorebox scores` has the reasons in `meta`"
                )
            };
            happened.map(line).collect()
        };
        it.silent_jurors.iter().flat_map(says).collect::<Vec<_>>()
    };
    counts.iter().flat_map(of_scorer).collect()
}

/// The calls of the judge of one scorer for one score, as a line; `None` if no judge was asked.
pub(crate) fn of_one_score(
    scorer_id: &str,
    calls: &[ScoreCall],
    asked: &JudgeCounts,
) -> Option<String> {
    let JudgeCounts { consumed, load, .. } = asked;
    if calls.is_empty() && consumed.calls == 0 {
        return None;
    }
    let mut words =
        format!("judge of {scorer_id}: {}", counted(calls.len() as u64, "answer", "answers"));
    let recorded = calls.iter().filter(|call| call.is_recorded).count() as u64;
    if recorded > 0 {
        words.push_str(&format!(", {} of them recorded before", count(recorded)));
    }
    if let Some(tokens) = counted_tokens(consumed) {
        words.push_str(&format!(", {tokens}"));
    }
    if consumed.cost_usd > 0.0 {
        words.push_str(&format!(", {}", dollars(consumed.cost_usd)));
    }
    if load.retries > 0 {
        words.push_str(&format!(", {}", counted(load.retries, "retry", "retries")));
    }
    Some(words)
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
    fn a_run_that_asks_no_judge_says_nothing_of_judges() {
        assert_eq!(asking(&JudgeCounts::default(), Duration::from_secs(1)), None);
    }

    #[test]
    fn a_run_that_waits_for_the_first_answer_says_so() {
        let said = |counts: &JudgeCounts| asking(counts, Duration::from_secs(2)).unwrap();
        let mut counts = JudgeCounts::default();
        counts.load = Load::new(4, 0, 0);
        assert_eq!(said(&counts), "judges: 0 running, 4 waiting, 0 calls, no answer yet");
        (counts.load, counts.consumed.calls) = (Load::new(2, 2, 1), 2);
        assert_eq!(
            said(&counts),
            "judges: 2 running, 2 waiting, 2 calls, no answer yet, 1 retried"
        );
        (counts.consumed.calls, counts.answered) = (4, 1);
        assert_eq!(said(&counts), "judges: 2 running, 2 waiting, 4 calls, 2 a second, 1 retried");
        (counts.answered, counts.failed) = (0, 1);
        assert!(
            said(&counts).ends_with(", 2 a second, 1 retried, 1 failed"),
            "no longer the first"
        );
    }

    #[test]
    fn a_score_that_may_not_ask_says_so() {
        let held_up = Load::new(1, 0, 2);
        assert!(is_held_up(held_up));
        assert_eq!(
            waited_for(held_up),
            "waiting until the judge may be asked again (2 retries so far)"
        );
        let asking = Load::new(3, 1, 0);
        assert!(!is_held_up(asking));
        assert_eq!(waited_for(asking), "waiting for the judge");
    }

    #[test]
    fn the_table_has_a_column_for_what_happened_to_one_of_the_scorers_and_for_no_more() {
        let mut asked = CallCounts::default();
        asked.scorer_id = "pairwise".into();
        (asked.calls, asked.input_tokens, asked.output_tokens) = (2000, 123_456, 789);
        (asked.cost_usd, asked.ties, asked.disagreements) = (Some(0.25), 3, 12);
        let mut unasked = CallCounts::default();
        unasked.scorer_id = "rubric".into();
        (unasked.unanswered, unasked.cost_usd) = (1000, Some(0.0));
        assert_eq!(
            table(&[asked, unasked]).to_string(),
            "judge of  answers  tokens in  tokens out   cost  unanswered  ties  disagreements\n\
             pairwise    2,000    123,456         789  $0.25           0     3             12\n\
             rubric          0          0           0     $0       1,000     0              0\n"
        );
        assert_eq!(
            table(&[CallCounts::default()]).to_string(),
            "judge of  answers\n                0\n"
        );
    }

    #[test]
    fn what_is_not_known_of_answers_has_a_dash_and_what_is_left_out_has_a_line() {
        let mut unstored = CallCounts::default();
        unstored.scorer_id = "humor".into();
        (unstored.calls, unstored.tokens_unknown, unstored.cost_unknown) = (20, 20, 20);
        assert_eq!(
            table(&[unstored.clone()]).to_string(),
            "judge of  answers  tokens in  tokens out  cost\nhumor          20          -           -     -\n"
        );
        (unstored.input_tokens, unstored.tokens_unknown) = (70, 1);
        assert_eq!(
            table(&[unstored.clone()]).to_string(),
            "judge of  answers  tokens in  tokens out  cost\nhumor          20        ≥70           -     -\n"
        );
        // A judge without a price.
        unstored.tokens_unknown = 0;
        assert_eq!(
            table(&[unstored]).to_string(),
            "judge of  answers  tokens in\nhumor          20         70\n"
        );
        let mut counts = JudgeCounts::default();
        assert_eq!(left_out(&counts), Vec::<String>::new());
        counts.unrecorded.calls = 20;
        (counts.unrecorded.input_tokens, counts.unrecorded.output_tokens) = (2000, 300);
        counts.unrecorded.cost_usd = 0.02;
        assert_eq!(
            left_out(&counts),
            [
                "20 answers are not recorded: they took 2,000 tokens of questions and 300 of answers, $0.02"
            ]
        );
    }

    #[test]
    fn tokens_that_a_provider_does_not_count_are_not_said_to_be_none() {
        let said = |input_tokens, output_tokens| {
            let mut asked = JudgeCounts::default();
            asked.consumed.calls = 1;
            (asked.consumed.input_tokens, asked.consumed.output_tokens) =
                (input_tokens, output_tokens);
            of_one_score("rubric", &[], &asked).unwrap()
        };
        assert_eq!(said(1_000_000, 0), "judge of rubric: 0 answers, 1,000,000 tokens of questions");
        assert_eq!(said(0, 3), "judge of rubric: 0 answers, 3 tokens of answers");
        assert_eq!(said(0, 0), "judge of rubric: 0 answers");
        assert!(said(12, 3).ends_with(", 12 tokens of questions and 3 of answers"));
    }

    #[test]
    fn a_cost_that_is_known_of_some_answers_is_at_least_that() {
        let of = |cost_usd, cost_unknown| {
            let mut counts = CallCounts::default();
            (counts.cost_usd, counts.cost_unknown) = (cost_usd, cost_unknown);
            cost(&counts)
        };
        assert_eq!([of(Some(0.25), 0), of(Some(0.25), 1), of(None, 1)], ["$0.25", "≥$0.25", "-"]);
    }

    #[test]
    fn a_judge_is_named_with_the_models_that_were_asked() {
        let identity =
            r#"{"name": "default", "provider": "openai", "place": "http://a/v1", "model": "own"}"#;
        let judge: JudgeIdentity = serde_json::from_str(identity).unwrap();
        assert_eq!(named(&judge, None), "judge `default`: `own` (openai at http://a/v1)");
        let asked = ["large", "small"].map(str::to_owned).into();
        assert_eq!(
            named(&judge, Some(&asked)),
            "judge `default`: `large`, `small` (openai at http://a/v1)"
        );
        let jury = format!(
            r#"{{"name": "default", "provider": "openai", "place": "http://a/v1", "jury": {{"samples": 2, "combine": "mean", "members": [{identity}]}}}}"#
        );
        let jury: JudgeIdentity = serde_json::from_str(&jury).unwrap();
        let asked = ["large", "own"].map(str::to_owned).into();
        assert_eq!(
            named(&jury, Some(&asked)),
            "a jury, 2 answers of each: judge `default`: `own` (openai at http://a/v1); and the models `large`"
        );
    }
}
