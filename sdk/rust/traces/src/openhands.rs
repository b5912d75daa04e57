//! Reads the events of OpenHands: an action with its arguments, and an observation that names the
//! action it answers.

use serde_json::{Map, Value};

use crate::builder::{Builder, CallResult};
use crate::fields::{self, Object, id, take, text, word};
use crate::names;
use crate::step::{Role, Status, ToolCall};
use crate::times;
use scorebox_sdk::Usage;

/// Whether an object is one of its events.
pub(super) fn is_event(event: &Object) -> bool {
    let has = |key: &str| event.get(key).is_some_and(Value::is_object);
    let acts = word(event, "action").is_some() && has("args");
    let observes =
        word(event, "observation").is_some() && (has("extras") || event.contains_key("cause"));
    word(event, "source").is_some() && (acts || observes)
}

/// Reads one event.
pub(super) fn read_event(builder: &mut Builder, mut event: Object) {
    builder.start_ms = times::time_ms(event.get("timestamp"));
    builder.tally.whole(event.get("llm_metrics").and_then(Value::as_object).and_then(accumulated));
    match text(&mut event, &["action"]) {
        Some(action) => act(builder, action, event),
        None => observe(builder, event),
    }
    builder.start_ms = None;
}

/// What the run has consumed so far.
fn accumulated(metrics: &Object) -> Option<Usage> {
    let cost_usd = fields::cost(metrics, &["accumulated_cost"]);
    let cost = cost_usd.map(|_| Usage { cost_usd, ..Usage::default() });
    let tokens = fields::usage(metrics.get("accumulated_token_usage"));
    tokens.map(|tokens| tokens.or(cost)).or(cost)
}

fn act(builder: &mut Builder, action: String, mut event: Object) {
    let role = Role::from_name(word(&event, "source").unwrap_or("agent"));
    let mut arguments = match take(&mut event, &["args"]) {
        Some(Value::Object(arguments)) => arguments,
        _ => Map::new(),
    };
    builder.turn(role.clone());
    let thought = text(&mut arguments, &["thought"]).unwrap_or_default();
    match action.as_str() {
        "message" | "system" => {
            builder.message_item(role, text(&mut arguments, &["content"]).unwrap_or_default());
        }
        "think" => builder.thought(thought),
        "finish" => {
            let answer = text(&mut arguments, &["final_thought", "message"]);
            builder.message(Role::Assistant, answer.unwrap_or(thought));
        }
        "recall" | "change_agent_state" | "null" => builder.event(action),
        _ => {
            builder.reasoning(thought);
            arguments.remove("thought");
            let kind = matches!(action.as_str(), "run").then(|| names::common("shell")).flatten();
            let (id, arguments) = (id(&mut event, &["id"]), Value::Object(arguments));
            builder.call(ToolCall { id, kind, name: action, arguments, ..ToolCall::default() });
        }
    }
}

fn observe(builder: &mut Builder, mut event: Object) {
    let kind = text(&mut event, &["observation"]).unwrap_or_default();
    let Some(cause) = id(&mut event, &["cause"]) else {
        return builder.event(kind);
    };
    let mut extras = match take(&mut event, &["extras"]) {
        Some(Value::Object(extras)) => extras,
        _ => Map::new(),
    };
    let extras = match take(&mut extras, &["metadata"]) {
        Some(Value::Object(metadata)) => metadata,
        _ => extras,
    };
    let code = names::exit_code(&Value::Object(extras));
    let status = match (kind.as_str(), code) {
        ("error", _) => Status::Failed,
        ("user_rejected", _) => Status::Rejected,
        (_, Some(code)) if code != 0 => Status::Failed,
        _ => Status::Succeeded,
    };
    let value = take(&mut event, &["content"]).unwrap_or_default();
    // The observation of a message or a thought is not the result of a call.
    if let Some(step) = builder.claim(Some(&cause), Some("")) {
        builder.turn(Role::Tool);
        builder.answer(step, CallResult { value, status, ..CallResult::default() });
    } else {
        builder.event(kind);
    }
}
