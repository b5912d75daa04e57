//! Shows one case in full: its parts, how its output differs from what was expected, the results of the scorers, the
//! questions to judges, and what its agent did. Reads no database.

use maud::{Markup, html};
use scorebox::{
    aggregate::{Against, Decisive},
    contract::{Assertion, Direction, Field},
    judge::{Question, Recording, Reply, Role},
    row::Answer,
    store::{CallRecord, CaseContent, ScoreRecord, ScorerRecord},
    verdict::{CaseVerdict, Policy, Standing},
};

use crate::{
    diff::diff,
    figure,
    said::{Said, plain, readable},
    timeline, word,
};

/// The most assertions, log lines and calls of one score that are shown if there is room.
const MAX_ITEMS: usize = 200;
/// The most bytes of each text, and the most items of each list, of a case that is shown in brief.
pub(crate) const BRIEF_TEXT: usize = 400;
pub(crate) const BRIEF_ITEMS: usize = 3;

/// A case with everything that is stored of it.
#[derive(Debug)]
pub(crate) struct CaseInFull {
    pub(crate) content: CaseContent,
    pub(crate) verdict: CaseVerdict,
    /// The scorers that decided against it.
    pub(crate) against: Vec<Decided>,
    pub(crate) scores: Vec<ScoreRecord>,
    pub(crate) calls: Vec<CallRecord>,
}

/// A scorer that decided against a case.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub(crate) scorer_id: String,
    pub(crate) standing: Standing,
    /// The first assertions that did, and how many others did.
    assertions: Vec<Decisive>,
    more: usize,
}

impl Decided {
    /// The part of what decided that fits into a line.
    pub(crate) fn of(against: &Against<'_>) -> Decided {
        /// Many cases may be in memory at once, and assertions can be large.
        const MOST: usize = 3;
        Decided {
            scorer_id: against.scorer_id.to_owned(),
            standing: against.standing,
            assertions: against.assertions.iter().take(MOST).cloned().collect(),
            more: against.assertions.len().saturating_sub(MOST),
        }
    }

    /// The assertions that decided, each with score, threshold and reason; empty if only the score decided.
    pub(crate) fn assertions(&self) -> Markup {
        html! {
            @for Decisive { name, score, threshold, reason, .. } in &self.assertions {
                "; " b { (Said::line(name, 120)) } " " (figure::score_beside(*score, *threshold))
                ", at least " (figure::exact(*threshold))
                @if let Some(reason) = reason { ": " (Said::line(reason, 240)) }
            }
            @if self.more > 0 { "; " (figure::count(self.more as u64)) " more" }
        }
    }
}

/// How a case is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Showing<'a> {
    /// The most bytes of each text.
    most: usize,
    /// The most assertions, log lines and calls of each score.
    items: usize,
    /// The most steps of a trace.
    steps: usize,
    /// The scorers of the run, for their directions.
    scorers: &'a [ScorerRecord],
}

impl<'a> Showing<'a> {
    /// In full, except that this many bytes of long texts are shown.
    pub(crate) fn full(most: usize, scorers: &'a [ScorerRecord]) -> Showing<'a> {
        Showing { most, items: MAX_ITEMS, steps: timeline::MAX_STEPS, scorers }
    }

    /// Only the beginnings of texts and lists.
    pub(crate) fn brief(scorers: &'a [ScorerRecord]) -> Showing<'a> {
        Showing { most: BRIEF_TEXT, items: BRIEF_ITEMS, steps: BRIEF_ITEMS, scorers }
    }
}

/// `id`, with the iteration and the attempt if they are not the first.
pub(crate) fn name(case_id: &str, iteration: u32, attempt: u32) -> String {
    match (iteration, attempt) {
        (0, 0) => case_id.to_owned(),
        _ => format!("{case_id} (iteration {iteration}, attempt {attempt})"),
    }
}

/// The case without its heading, and `more` at its end.
pub(crate) fn case(case: &CaseInFull, showing: Showing<'_>, more: &Markup) -> Markup {
    let content = &case.content;
    let part = |field: Field| content.parts.get(field).map(String::as_str);
    html! {
        div.case {
            @if let Some(why) = &content.skip {
                p.note { "Not to be judged" @if !why.is_empty() { ": " (Said::line(why, 400)) } }
            }
            @if let Some(why) = &content.error {
                p.note { "The task failed: " (Said::line(why, 400)) }
            }
            @if let Some(input) = part(Field::Input) { (text_part("Input", input, showing.most)) }
            (output(case, showing))
            @if let Some(trace) = part(Field::Trace) {
                div.part { h3 { "What the agent did" } (timeline::timeline(trace, showing.most, showing.steps)) }
            }
            (scores(case, showing))
            (others(content, showing))
            p.small { (more) }
        }
    }
}

fn text_part(title: &str, json: &str, most: usize) -> Markup {
    let (text, is_json) = readable(json);
    html! {
        div.part {
            h3 { (title) }
            pre.prose[!is_json] tabindex="0" aria-label=(title) { (Said::most(&text, most)) }
        }
    }
}

/// The output next to what was expected, and how they differ.
fn output(case: &CaseInFull, showing: Showing<'_>) -> Markup {
    let output = &case.content.output;
    let expected = case.content.parts.get(Field::GroundTruth);
    let timeline = match case.content.parts.get(Field::Trace) {
        Some(_) => None,
        None => timeline::of_output(output, showing.most, showing.steps),
    };
    html! {
        div.parts {
            @match timeline {
                Some(timeline) => div.part { h3 { "Output: what the agent did" } (timeline) },
                None => (text_part("Output", output, showing.most)),
            }
            @if let Some(expected) = expected { (text_part("Expected", expected, showing.most)) }
        }
        @if let Some(difference) = expected.and_then(|it| difference(it, output, showing.most)) {
            div.part { h3 { "Difference" } (difference) }
        }
    }
}

/// How an output differs from what was expected, both as they are stored; `None` if they are too large to be compared.
fn difference(expected: &str, output: &str, most: usize) -> Option<Markup> {
    let ((wanted, _), (said, _)) = (readable(expected), readable(output));
    if said.len().max(wanted.len()) > most {
        return None;
    }
    if wanted != said {
        return diff(&wanted, &said);
    }
    let [wanted, said] = [expected, output].map(kind);
    Some(html! {
        p.aside {
            @if wanted == said { "The output is what was expected." }
            @else { "Both read the same, but the output is " (said) " and what was expected is " (wanted) "." }
        }
    })
}

/// The type of a part of a case, as it is stored.
fn kind(json: &str) -> &'static str {
    match json.trim_start().as_bytes().first() {
        Some(b'"') => "a text",
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The parts that most readers do not need, which are folded.
fn others(content: &CaseContent, showing: Showing<'_>) -> Markup {
    let shown = [Field::Input, Field::GroundTruth, Field::Trace];
    let parts = content.parts.iter().filter(|(field, _)| !shown.contains(field));
    html! {
        @for (field, json) in parts {
            details.part {
                summary { (field.key()) }
                pre tabindex="0" { (Said::most(&readable(json).0, showing.most)) }
            }
        }
        @if let Some(latency) = content.latency_ms { p.small.aside { "The task took " (figure::duration(latency)) "." } }
        @if let Some(folder) = &content.workspace { p.small.aside { "Its files are in " code { (Said::line(folder, 400)) } "." } }
    }
}

fn scores(case: &CaseInFull, showing: Showing<'_>) -> Markup {
    html! {
        div.part {
            h3 { (figure::counted(case.scores.len() as u64, "score", "scores")) }
            div.scores {
                @for record in &case.scores { (score(case, record, showing)) }
            }
        }
    }
}

fn score(case: &CaseInFull, record: &ScoreRecord, showing: Showing<'_>) -> Markup {
    let (row, answer) = (&record.row, &record.row.answer);
    let scorer = showing.scorers.iter().find(|it| it.spec.scorer_id == row.scorer_id);
    let direction = scorer.map_or(Direction::HigherIsBetter, |it| it.spec.direction);
    let decides = scorer.is_some_and(|it| it.spec.policy().decides());
    let against = case.against.iter().find(|it| it.scorer_id == row.scorer_id);
    let against = against.map(|it| it.standing);
    let standing = against.or(decides.then_some(Standing::Holds));
    let calls: Vec<&CallRecord> =
        case.calls.iter().filter(|call| call.scorer_id == row.scorer_id).collect();
    html! {
        article.score {
            header {
                h4 { (Said::line(&row.scorer_id, 200)) }
                (word::counted(answer.status, standing))
                span.small.aside {
                    (record.severity.as_str())
                    @if let Some(threshold) = word::threshold(record.threshold, direction) { ", " (threshold) }
                    @if let Some(on) = scorer.and_then(|it| it.spec.output_from.as_ref()) { ", on " code { (Said::line(on, 200)) } }
                }
                @if let Some(label) = &answer.label { span.small { "label " b { (Said::line(label, 200)) } } }
                @if let Some(score) = answer.score { span.value { (figure::score_beside(score, record.threshold)) } }
            }
            @if let Some(error) = &answer.error {
                p.reason { b { (Said::line(&error.kind, 100)) } ": " (Said::most(&error.message, showing.most)) }
            }
            @if let Some(reason) = &answer.reason { p.reason { (Said::most(reason, showing.most)) } }
            (assertions(record, scorer.map(|it| it.spec.policy()).zip(against), showing.items))
            @if let Some(meta) = &answer.meta {
                details {
                    summary { "Details of the scorer" }
                    pre.block tabindex="0" { (Said::most(&readable(meta.get()).0, showing.most)) }
                }
            }
            (log(answer, showing))
            (judged(&calls, showing))
            @if let Some(origin) = &record.reused_from {
                p.small.aside { "Copied from " code { (Said::line(origin, 400)) } "." }
            }
        }
    }
}

/// The assertions of a score; those that decided against the case are marked.
fn assertions(record: &ScoreRecord, against: Option<(Policy, Standing)>, most: usize) -> Markup {
    let answer = &record.row.answer;
    let label = format!("Assertions of {}", plain(&record.row.scorer_id, 80));
    let decides = |check: &Assertion| {
        let (policy, standing) = against?;
        policy.decisive(standing, std::slice::from_ref(check)).next().map(|_| standing)
    };
    if answer.assertions.is_none() {
        return html! {};
    }
    let Ok(checks) = answer.assertions() else {
        return html! { p.note { "What is stored as assertions is not a list of them." } };
    };
    html! {
        div.scrolls tabindex="0" role="group" aria-label=(label) {
            table {
                thead { tr { th scope="col" { "check" } th.number scope="col" { "score" } th scope="col" { "required" } th scope="col" { "reason" } } }
                tbody {
                    @for check in checks.iter().take(most) {
                        tr {
                            th.name scope="row" { (Said::line(&check.name, 400)) }
                            td.number { (figure::score_beside(check.score, check.threshold)) }
                            td {
                                @let threshold = word::threshold(check.threshold, Direction::HigherIsBetter);
                                @match (check.severity, threshold) {
                                    (Some(severity), Some(threshold)) => { (severity.as_str()) ", " (threshold) },
                                    (Some(severity), None) => (severity.as_str()),
                                    (None, Some(threshold)) => (threshold),
                                    (None, None) => span.none { "–" },
                                }
                                @if let Some(standing) = decides(check) { " " (word::standing(standing)) }
                            }
                            td.words { @if let Some(reason) = &check.reason { (Said::most(reason, 2000)) } }
                        }
                    }
                }
            }
        }
        @if checks.len() > most {
            p.small.aside { "These are the first " (most) " of " (figure::count(checks.len() as u64)) "." }
        }
    }
}

fn log(answer: &Answer, Showing { most, items, .. }: Showing<'_>) -> Markup {
    if answer.log.is_none() {
        return html! {};
    }
    let Ok(lines) = answer.log() else {
        return html! { p.note { "What is stored as a log is not a list of messages." } };
    };
    html! {
        details {
            summary { "Log, " (figure::counted(lines.len() as u64, "message", "messages")) }
            pre.block tabindex="0" {
                @for line in lines.iter().take(items) {
                    (line.level.as_str()) ": " (Said::most(&line.message, most)) "\n"
                }
                @if lines.len() > items { span.more { "… " (figure::count((lines.len() - items) as u64)) " more" } }
            }
        }
    }
}

/// The questions to judges for a score, and their answers.
fn judged(calls: &[&CallRecord], showing: Showing<'_>) -> Markup {
    html! {
        @if !calls.is_empty() {
            details {
                summary { "Judge, " (figure::counted(calls.len() as u64, "conversation", "conversations")) }
                @for call in calls.iter().take(showing.items) {
                    @match &call.recording {
                        Some(recording) => (conversation(recording, call.is_recorded, showing)),
                        None => p.note { "The call " code { (call.digest.short()) } " is not recorded." },
                    }
                }
            }
        }
    }
}

fn conversation(recording: &Recording, is_recorded: bool, showing: Showing<'_>) -> Markup {
    let Showing { most, items, .. } = showing;
    let turn = |who: &str, class: &str, text: &str| {
        html! { li class=(class) { p.who { b { (who) } } p.said { (Said::most(text, most)) } } }
    };
    html! {
        p.small.aside {
            (Said::line(&recording.model, 200)) " of " (Said::line(&recording.call.provider, 100))
            @if is_recorded { ", answered from the recording" }
            @if recording.latency_ms > 0.0 { ", took " (figure::duration(recording.latency_ms)) }
            @if let Some(cost) = recording.cost_usd { ", " (figure::dollars(cost)) }
        }
        ol.timeline {
            @match &recording.call.question {
                Question::Generate(generation) => {
                    @if let Some(system) = &generation.system { (turn("system", "", system)) }
                    @for message in generation.messages.iter().take(items) {
                        @match message.role {
                            Role::User => (turn("scorer", "user", &message.text)),
                            Role::Assistant => (turn("judge", "assistant", &message.text)),
                        }
                    }
                    @if generation.messages.len() > items { li { p.small.aside { "… " (generation.messages.len() - items) " more messages" } } }
                }
                Question::Embed(embedding) => {
                    @for text in embedding.texts.iter().take(20) { (turn("text to embed", "user", text)) }
                    @if embedding.texts.len() > 20 { li { p.small.aside { "… " (embedding.texts.len() - 20) " more texts" } } }
                }
                _ => li { p.who { "a question of an unknown kind" } },
            }
            @match &recording.reply {
                Reply::Text { text, truncated } => {
                    (turn("judge", "assistant", text))
                    @if *truncated { li.bad { p.who { b { "cut off at the most tokens" } } } }
                }
                Reply::Vectors(vectors) => li.assistant {
                    p.who { b { (figure::counted(vectors.len() as u64, "vector", "vectors")) }
                        " of " (vectors.first().map_or(0, Vec::len)) " numbers" }
                },
                _ => li { p.who { "an answer of an unknown kind" } },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(expected: &str, output: &str) -> String {
        difference(expected, output, 1000).unwrap().into_string()
    }

    #[test]
    fn only_what_is_stored_as_the_same_value_is_what_was_expected() {
        let same = "The output is what was expected.";
        for (expected, output) in [("5", "5"), (r#""\u00e9""#, r#""é""#), ("[1, 2]", "[1,2]")] {
            assert!(said(expected, output).contains(same), "{expected} {output}");
        }
        let other = said("5", r#""5""#);
        assert!(
            other.contains(
                "Both read the same, but the output is a text and what was expected is a number."
            ),
            "{other}"
        );
        assert!(
            said("true", r#""true""#).contains("a text and what was expected is true or false")
        );
        for (expected, output) in [("12345678901234567890", "12345678901234567891"), ("1", "1.0")] {
            assert!(!said(expected, output).contains(same), "{expected} {output}");
        }
    }
}
