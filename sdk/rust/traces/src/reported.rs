//! Remembers which calls the messages of a conversation have already reported, so that each counts once. It reads no
//! message.

use std::collections::BTreeMap;

/// The ids of the calls that messages reported. A repeated message may be written differently, but it keeps the ids.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The index of the list of messages that first contained each call.
    first: BTreeMap<String, usize>,
    lists: usize,
    reading: Reading,
}

/// What is being read.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Reading {
    /// No messages of a conversation.
    #[default]
    Other,
    /// Messages that no earlier list contained.
    New,
    /// Messages that an earlier list may have contained.
    Repeated,
}

impl Calls {
    pub(super) fn begin(&mut self, reading: Reading) {
        self.lists += 1;
        self.reading = reading;
    }

    pub(super) fn end(&mut self) {
        self.reading = Reading::Other;
    }

    /// Whether an earlier list contained this call. Within one list, an id may be reused.
    pub(super) fn has(&mut self, id: &str) -> bool {
        if self.reading == Reading::Other {
            return false;
        }
        let first = *self.first.entry(id.to_owned()).or_insert(self.lists);
        self.reading == Reading::Repeated && first < self.lists
    }
}
