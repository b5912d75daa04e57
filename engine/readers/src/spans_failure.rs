//! Decides whether the run that a trace shows failed: finds the span whose failure ended it.

use std::{cmp::Reverse, collections::HashMap};

use crate::span::{Role, Span};

/// How many ancestors of a span are searched. Parents may form a circle.
const ANCESTORS: usize = 64;

/// The span whose failure ended the run, if no answer came after it: a call of a model, or an outermost span that calls
/// models. Failed tools and sub-agents are part of a run that continues. The scorers of traces use the same rule; here,
/// an answer after the failure of a whole agent also counts, because then there is something to score.
pub(crate) fn failed_at_the_end(spans: &[Span]) -> Option<&Span> {
    let by_id: HashMap<&str, &Span> = spans.iter().map(|span| (span.id.as_str(), span)).collect();
    let of_models = spans.iter().filter(|span| span.is_of_a_model());
    let mut by_end: Vec<(usize, bool, &Span)> = of_models
        .map(|span| {
            let around = around(span, &by_id);
            (around.len(), !around.iter().any(|it| it.is_of_a_model()), span)
        })
        .collect();
    // If spans end at the same time, the inner one ends first.
    by_end.sort_by_key(|(depth, _, span)| (span.end.or(span.start), Reverse(*depth)));
    let mut failed = None;
    for (_, is_outermost, span) in by_end {
        match span.role() {
            Role::Call if span.has_failed() => failed = Some(span),
            // Many programs do not record what a model answered.
            Role::Call => failed = None,
            Role::Whole if is_outermost && span.has_failed() => failed = Some(span),
            Role::Whole if is_outermost && span.output().is_some() => failed = None,
            Role::Whole | Role::Step => {}
        }
    }
    failed
}

/// The spans that enclose a span, from the inside to the outside.
fn around<'s>(span: &Span, by_id: &HashMap<&str, &'s Span>) -> Vec<&'s Span> {
    let parent = |span: &Span| by_id.get(span.parent.as_deref()?).copied();
    std::iter::successors(parent(span), |span| parent(span)).take(ANCESTORS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A span that ends at this time; `said` contains its status and attributes.
    fn span(id: &str, parent: &str, end: u64, operation: &str, said: Value) -> Span {
        let mut attributes = json!({"gen_ai.operation.name": operation});
        let more = said["attributes"].as_object().cloned().unwrap_or_default();
        attributes.as_object_mut().unwrap().extend(more);
        Span::read(
            json!({"traceId": "a", "spanId": id, "parentSpanId": parent, "status": said["status"],
            "startTimeUnixNano": 0, "endTimeUnixNano": end, "attributes": attributes}),
        )
        .unwrap()
    }

    fn fails(why: &str) -> Value {
        json!({"status": {"code": 2, "message": why}})
    }

    fn says(text: &str) -> Value {
        json!({"attributes": {"gen_ai.completion": text}})
    }

    /// Why the run of these spans failed.
    fn why(spans: &[Span]) -> Option<String> {
        failed_at_the_end(spans).map(Span::why_it_failed)
    }

    fn why_is(spans: &[Span], expected: &str) {
        assert_eq!(why(spans).as_deref(), Some(expected));
    }

    #[test]
    fn a_run_fails_with_its_agent_or_with_the_last_call_of_its_model() {
        why_is(&[span("1", "", 9, "chat", fails("timed out"))], "timed out");
        let agent = |said| span("1", "", 9, "invoke_agent", said);
        let said = || span("2", "1", 2, "chat", says("Let me check that."));
        why_is(&[agent(fails("429")), said()], "429");
        why_is(&[agent(json!({})), said(), span("3", "1", 4, "chat", fails("503"))], "503");
        assert_eq!(why(&[agent(json!({})), said()]), None);
    }

    #[test]
    fn what_was_followed_by_an_answer_did_not_end_the_run() {
        let failed = || span("2", "1", 2, "chat", fails("429"));
        let agent = |said| span("1", "", 9, "invoke_agent", said);
        // The same, without a record of the model's answer.
        assert_eq!(why(&[agent(json!({})), failed(), span("3", "1", 4, "chat", json!({}))]), None);
        // The agent has an answer, but its model has none.
        assert_eq!(why(&[agent(says("I cannot tell.")), failed()]), None);
        let first = span("1", "", 3, "invoke_agent", fails("429"));
        assert_eq!(why(&[first, span("2", "", 4, "invoke_agent", says("Paris"))]), None);
    }

    #[test]
    fn a_failed_step_or_sub_agent_is_no_failed_run() {
        for step in ["execute_tool", "embeddings", "invoke_agent"] {
            let agent = span("1", "", 9, "invoke_agent", says("Paris"));
            assert_eq!(why(&[agent, span("2", "1", 8, step, fails("no file"))]), None, "{step}");
        }
        let tool = span("2", "", 8, "execute_tool", fails("no file"));
        assert_eq!(why(&[span("1", "", 3, "chat", says("Paris")), tool]), None);
    }

    #[test]
    fn spans_of_other_programs_between_two_of_a_run_do_not_make_the_inner_one_outermost() {
        let between = json!({"traceId": "a", "spanId": "2", "parentSpanId": "1", "name": "POST", "endTimeUnixNano": 8});
        let run = [
            span("1", "", 9, "invoke_agent", json!({})),
            Span::read(between).unwrap(),
            span("3", "2", 7, "invoke_agent", fails("429")),
        ];
        assert_eq!(why(&run), None);
    }

    #[test]
    fn parents_in_a_circle_end() {
        let circle = [
            span("1", "2", 1, "invoke_agent", fails("429")),
            span("2", "1", 2, "chat", fails("x")),
        ];
        why_is(&circle, "x");
    }
}
