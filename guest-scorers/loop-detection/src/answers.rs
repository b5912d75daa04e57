//! Extracts what the model said from a trace. It compares nothing.

use scorebox_sdk_traces::{Role, StepKind, Trace};

/// The model's words, turn by turn; its thoughts in turns without words.
pub(crate) fn answers(trace: &Trace) -> Vec<String> {
    let mut answers: Vec<(usize, bool, String)> = Vec::new();
    for step in trace.steps() {
        let (said, text) = match &step.kind {
            StepKind::Message { role: Role::Assistant, text } => (true, text),
            StepKind::Reasoning { text } => (false, text),
            _ => continue,
        };
        match answers.last_mut() {
            Some((turn, _, so_far)) if *turn == step.turn && *so_far == *text => {}
            Some((turn, was_said, so_far)) if *turn == step.turn => match (*was_said, said) {
                (true, false) => {}
                (false, true) => (*was_said, *so_far) = (true, text.clone()),
                _ => {
                    so_far.push('\n');
                    so_far.push_str(text);
                }
            },
            _ => answers.push((step.turn, said, text.clone())),
        }
    }
    answers.into_iter().map(|(_, _, text)| text).collect()
}
