//! Reads the messages of model calls, each of which repeats the conversation so far: every message
//! counts once.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::trace::builder::Builder;
use crate::trace::fields::{Object, word};
use crate::trace::messages::read_message;
use crate::trace::step::Role;

/// What was said so far, and how often.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    said: BTreeMap<u64, usize>,
}

impl Conversation {
    /// Reads messages that a model has just written: they are new, whatever was said before.
    pub fn add(&mut self, builder: &mut Builder, messages: Vec<Value>) {
        for message in messages {
            if let Value::Object(message) = message {
                *self.said.entry(fingerprint(&message)).or_default() += 1;
                say(builder, message);
            }
        }
    }

    /// Reads the messages of one list that are new: a message that was said twice is new where the
    /// list has it a third time.
    pub fn read(&mut self, builder: &mut Builder, messages: Vec<Value>) {
        let mut here: BTreeMap<u64, usize> = BTreeMap::new();
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
    }
}

fn say(builder: &mut Builder, message: Object) {
    let role = word(&message, "role").map_or(Role::Assistant, Role::from_name);
    read_message(builder, role, message);
}

/// The same for the same words of the same role, whatever else stands beside them. Two messages of
/// one fingerprint that differ would have to be made so on purpose, and would only hide one
/// another.
fn fingerprint(message: &Object) -> u64 {
    let mut hasher = DefaultHasher::new();
    let keys = ["role", "content", "parts", "tool_calls", "tool_call_id", "function_call", "name"];
    for key in keys {
        match message.get(key) {
            None | Some(Value::Null) => 0_u8.hash(&mut hasher),
            Some(value) => value.to_string().hash(&mut hasher),
        }
    }
    hasher.finish()
}
