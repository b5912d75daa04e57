//! Reads the messages of model calls, each of which repeats the conversation so far, so that every message counts once.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::builder::Builder;
use crate::fields::{Object, word};
use crate::item::{is_item, read_item};
use crate::messages::{langchain_role, read_message};
use crate::reported::Reading;
use crate::step::Role;
use crate::{part_types, parts};

/// The messages so far, and how often each occurred.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    said: BTreeMap<u64, usize>,
}

impl Conversation {
    /// Reads messages that a model has just written: they are new, even if the same was said before.
    pub(super) fn add(&mut self, builder: &mut Builder, messages: Vec<Value>) {
        builder.repeated.begin(Reading::New);
        for message in messages {
            if let Value::Object(message) = message {
                *self.said.entry(fingerprint(&message)).or_default() += 1;
                say(builder, message);
            }
        }
        builder.repeated.end();
    }

    /// Marks a message as known, by its fingerprint, if only a part of it is read.
    pub(super) fn know(&mut self, fingerprint: u64) {
        *self.said.entry(fingerprint).or_default() += 1;
    }

    /// Marks messages as known that a model has just written and that are read elsewhere, until the caller ends this.
    pub(super) fn expect<'m>(
        &mut self,
        builder: &mut Builder,
        messages: impl Iterator<Item = &'m Object>,
    ) {
        for message in messages {
            *self.said.entry(fingerprint(message)).or_default() += 1;
        }
        builder.repeated.begin(Reading::New);
    }

    /// Reads the new messages of one list: a message that occurred twice so far is new if the list has it a third time.
    pub(super) fn read(&mut self, builder: &mut Builder, messages: Vec<Value>) {
        let mut here: BTreeMap<u64, usize> = BTreeMap::new();
        builder.repeated.begin(Reading::Repeated);
        for message in messages {
            let Value::Object(message) = message else {
                continue;
            };
            let key = fingerprint(&message);
            let (times, said) = (here.entry(key).or_default(), self.said.entry(key).or_default());
            *times += 1;
            if *times > *said {
                *said += 1;
                say(builder, message);
            }
        }
        builder.repeated.end();
    }
}

fn say(builder: &mut Builder, message: Object) {
    match word(&message, "role").map(Role::from_name) {
        Some(role) => read_message(builder, role, message),
        // An item of the Responses API, or a message of a format without roles.
        None if is_item(&message) || langchain_role(&message).is_some() => {
            if let Err(what) = read_item(builder, Value::Object(message)) {
                builder.refuse(format!("an item in it {what}"));
            }
        }
        None => read_message(builder, Role::Assistant, message),
    }
}

/// A hash that is the same for the same words of the same role with the same calls, however they are written: programs
/// that repeat a message leave out its thoughts and empty fields, and write arguments in another way. Two different
/// messages have the same fingerprint only if someone constructs them, and then they only hide each other.
pub(super) fn fingerprint(message: &Object) -> u64 {
    let mut hasher = DefaultHasher::new();
    let role = word(message, "role");
    role.hash(&mut hasher);
    if role.is_none() && message.contains_key("type") {
        hash_object(message, false, &mut hasher);
    }
    for key in ["content", "parts", "tool_calls"] {
        match message.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => hash_text(text, &mut hasher),
            Some(Value::Array(parts)) => {
                parts.iter().for_each(|part| hash_part(part, key == "tool_calls", &mut hasher));
            }
            Some(other) => other.to_string().hash(&mut hasher),
        }
    }
    for key in ["tool_call_id", "function_call", "name"] {
        match message.get(key) {
            None | Some(Value::Null) => 0_u8.hash(&mut hasher),
            Some(value) => value.to_string().hash(&mut hasher),
        }
    }
    hasher.finish()
}

fn hash_text(text: &str, hasher: &mut DefaultHasher) {
    if !text.is_empty() {
        ("text", text).hash(hasher);
    }
}

fn hash_part(part: &Value, is_call: bool, hasher: &mut DefaultHasher) {
    match part.as_object() {
        Some(object) => hash_object(object, is_call, hasher),
        None => hash_text(part.as_str().unwrap_or_default(), hasher),
    }
}

fn hash_object(object: &Object, is_call: bool, hasher: &mut DefaultHasher) {
    let kind = word(object, "type").unwrap_or("text");
    let ids = ["call_id", "id", "tool_use_id", "tool_call_id", "toolCallId"];
    let id = ids.iter().find_map(|key| word(object, key));
    match id {
        _ if part_types::is_thinking(kind) => {}
        Some(id) if is_call || part_types::is_call(kind) => ("call", id).hash(hasher),
        Some(id) if part_types::is_result(kind) => ("result", id).hash(hasher),
        _ => match parts::words(object) {
            Some(text) => hash_text(text, hasher),
            None => serde_json::to_string(object).unwrap_or_default().hash(hasher),
        },
    }
}
