//! How far a run is without a gap: all cases before a place have all their rows. Heard from events, so what it says is stored.

use std::collections::BTreeMap;

use super::Event;

/// The place up to which a run is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unbroken {
    /// The lines of the cases that await rows, by their ordinals; as many as are in flight.
    open: BTreeMap<u64, u64>,
    /// After all that came so far.
    next: Place,
}

/// A place among the cases, and in the file of the last case before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The ordinal of the next case.
    pub(crate) ordinal: u64,
    /// Lines of the file before it.
    pub(crate) line: u64,
}

impl Unbroken {
    /// Notes an event.
    pub(crate) fn note(&mut self, event: &Event) {
        match event {
            Event::Case(case) => {
                self.open.insert(case.ordinal, case.line);
                self.next = Place { ordinal: case.ordinal + 1, line: case.line };
            }
            Event::CaseFinished(case) => drop(self.open.remove(&case.ordinal)),
            Event::BadCase(case) => {
                self.next = Place { ordinal: case.ordinal + 1, line: case.line };
            }
            _ => {}
        }
    }

    /// Everything before this place is done.
    pub(crate) fn place(&self) -> Place {
        match self.open.first_key_value() {
            Some((ordinal, line)) => Place { ordinal: *ordinal, line: line.saturating_sub(1) },
            None => self.next,
        }
    }
}
