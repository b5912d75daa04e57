//! Traces of what an agent did, as scorers read them. In a sandbox a panic costs one score; here the fuzzer finds it.

use scorebox_sdk_traces::{StepKind, Trace};
use serde_json::Value;

/// The most bytes of an error message: all shapes by name, and excerpts of the input.
const MESSAGE_BYTES: usize = 4000;

/// Reads the bytes as a trace, and checks that it is consistent.
pub fn trace(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let read = Trace::parse(text);
    match &read {
        Ok(trace) => check(trace),
        Err(error) => {
            let message = error.to_string();
            assert!(message.len() <= MESSAGE_BYTES, "{} bytes", message.len());
        }
    }
    let Ok(document) = serde_json::from_str::<Value>(text) else { return };
    let _ = Trace::raw_steps(&document);
    assert_eq!(Trace::read(document.clone()), read);
    // The trace does not depend on how the document is written.
    assert_eq!(Trace::parse(&document.to_string()), read);
}

fn check(trace: &Trace) {
    let (steps, turns) = (trace.steps(), trace.turns());
    for (index, step) in steps.iter().enumerate() {
        assert!(step.turn < turns.len(), "step {index} is in turn {}", step.turn);
        assert!(step.parent.is_none_or(|parent| parent < steps.len() && parent != index));
        assert!(step.start_ms.is_none_or(f64::is_finite));
        assert!(step.duration_ms.is_none_or(f64::is_finite));
        if let StepKind::SkillLoad { call: Some(call), .. } = &step.kind {
            assert!(matches!(steps[*call].kind, StepKind::ToolCall(_)));
        }
    }
    let calls = trace.tool_calls().count();
    assert!(turns.iter().all(|turn| trace.calls_of(turn).count() == turn.calls.len()));
    assert!(turns.iter().map(|turn| turn.calls.len()).sum::<usize>() <= calls);
    for call in trace.tool_calls() {
        let _ = (call.status(), call.exit_code(), call.result_text(), call.canonical_name());
    }
    let (agents, skills) = (trace.sub_agents().count(), trace.skills().count());
    let (messages, errors) = (trace.messages().count(), trace.errors().count());
    assert!(calls + agents + skills + messages + errors <= steps.len());
    let _ = (trace.is_parked(), trace.usage(), trace.events().len(), trace.tools().len());
}
