//! Bedrock's answers to Converse, as the answers of OpenAI's chat, so that they are read with what was asked beside them,
//! and the tools that a request declares. Reads no message.

use serde_json::{Value, json};

use crate::fields::{Object, list, word};

/// Turns an answer, alone or beside what was asked, into the shape of OpenAI's chat. Leaves everything else as it is.
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

/// Whether an object says why a model stopped, beside the one message that the model answered with.
fn is_answer(object: &Object) -> bool {
    let message = || object.get("output")?.get("message")?.as_object();
    let is_message = |message: &Object| {
        word(message, "role").is_some() && message.get("content").is_some_and(Value::is_array)
    };
    word(object, "stopReason").is_some() && message().is_some_and(is_message)
}
