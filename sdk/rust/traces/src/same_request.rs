//! Finds spans that describe the same model request as an enclosing span, because two libraries recorded it: a
//! framework's and the model client's. It reads nothing else of a span.

use crate::fields::{Object, has, word};
use crate::span_usage::usage;
use crate::spans::{ANCESTORS, Span};

/// Keys of a model's answer. In the older ones, an index follows.
const ANSWERS: [&str; 3] = ["gen_ai.output.messages", "gen_ai.completion.", "llm.output_messages."];

/// The spans to leave out so that each request counts once: the outer one of two that describe the same request, or the
/// inner one if only the outer one has the model's answer.
pub(super) fn counted_elsewhere(
    spans: &[Span],
    parents: &[Option<usize>],
    is_model: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let models = (0..spans.len()).filter(|index| is_model(*index));
    models
        .filter_map(|inner| {
            let outer = model_around(parents, inner, &is_model)?;
            let (around, inside) = (&spans[outer], &spans[inner]);
            is_one_request(&around.attributes, &inside.attributes).then_some(())?;
            Some(if has_answer(around) && !has_answer(inside) { inner } else { outer })
        })
        .collect()
}

/// The closest enclosing model span.
fn model_around(
    parents: &[Option<usize>],
    span: usize,
    is_model: &impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut here = span;
    for _ in 0..ANCESTORS {
        here = parents[here].filter(|parent| *parent != span)?;
        if is_model(here) {
            return Some(here);
        }
    }
    None
}

/// Whether they name the same response or, if one of them names none, the same tokens.
fn is_one_request(around: &Object, inside: &Object) -> bool {
    let id = |span| word(span, "gen_ai.response.id");
    match (id(around), id(inside)) {
        (Some(around), Some(inside)) => around == inside,
        _ => {
            let tokens =
                |span| usage(span).and_then(|usage| usage.input_tokens.zip(usage.output_tokens));
            tokens(around).is_some_and(|around| tokens(inside) == Some(around))
        }
    }
}

fn has_answer(span: &Span) -> bool {
    has(&span.attributes, &["gen_ai.output.messages"])
        || !span.events.is_empty()
        || span.attributes.keys().any(|key| ANSWERS.iter().any(|start| key.starts_with(start)))
}
