//! Finds an agent or a tool that calls itself. It computes no score.

use scorebox_sdk_traces::{StepKind, Trace};
use serde_json::Value;

/// How many ancestors of a step are searched.
const ANCESTORS: usize = 1000;

/// How much of a step's input distinguishes it from other steps with its name, in characters.
const INPUT_LENGTH: usize = 64;

/// The kind and the name of a step inside one with the same kind, name and input; `None` if there is no such step.
pub(crate) fn cycle(trace: &Trace) -> Option<String> {
    let steps = trace.steps();
    let labels: Vec<Option<(&str, &str, String)>> =
        steps.iter().map(|step| label(&step.kind)).collect();
    let mut found = None;
    'steps: for (index, step) in steps.iter().enumerate() {
        let mut here = step.parent;
        for _ in 0..ANCESTORS {
            let Some(parent) = here else {
                break;
            };
            if labels[index].is_some() && labels[index] == labels[parent] {
                found = labels[index].as_ref().map(|(kind, name, _)| format!("{kind} `{name}`"));
                break 'steps;
            }
            here = steps[parent].parent;
        }
    }
    found
}

fn label(kind: &StepKind) -> Option<(&str, &str, String)> {
    let cut = |text: &str| text.chars().take(INPUT_LENGTH).collect();
    match kind {
        StepKind::ToolCall(call) => Some(("tool", &call.name, cut(&call.arguments.to_string()))),
        StepKind::SubAgent(call) => {
            let input = match &call.input {
                Some(Value::String(text)) => cut(text),
                Some(other) => cut(&other.to_string()),
                None => String::new(),
            };
            Some(("agent", &call.name, input))
        }
        _ => None,
    }
}
