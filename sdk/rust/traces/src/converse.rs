//! Converts answers of Bedrock's Converse into the form of OpenAI's chat, so that they are read together with their
//! request; also finds the tools that a request declares. It reads no message.

use serde_json::{Value, json};

use crate::fields::{Object, list, word};

/// Converts an answer, alone or next to its request, into the form of OpenAI's chat. Leaves everything else unchanged.
pub(super) fn as_choice(object: &mut Object) {
    if let Some(Value::Object(response)) = object.get_mut("response") {
        turn(response);
    }
    turn(object);
}

fn turn(answer: &mut Object) {
    if !is_answer(answer) {
        return;
    }
    let Some(message) = answer.remove("output").map(|mut output| output["message"].take()) else {
        return;
    };
    let reason = answer.get("stopReason").cloned();
    answer.insert("choices".to_owned(), json!([{ "message": message, "finish_reason": reason }]));
}

/// The tools that a request declares.
pub(super) fn tools(request: &mut Object) -> Option<Vec<Value>> {
    list(request.get_mut("toolConfig")?.as_object_mut()?, &["tools"])
}

/// Whether an object is an answer: it says why the model stopped, next to a single message.
fn is_answer(object: &Object) -> bool {
    let message = || object.get("output")?.get("message")?.as_object();
    let is_message = |message: &Object| {
        word(message, "role").is_some() && message.get("content").is_some_and(Value::is_array)
    };
    word(object, "stopReason").is_some() && message().is_some_and(is_message)
}
