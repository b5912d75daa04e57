//! Up to where a run has no gap: all cases before a position have all their rows. It is derived from events, so
//! everything before the position is stored.

use std::collections::BTreeMap;

use super::Event;

/// The position up to which a run is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unbroken {
    /// The lines of the cases that wait for rows, by their ordinals; as many as are in flight.
    open: BTreeMap<u64, u64>,
    /// The position after everything that came so far.
    next: Position,
}

/// A position among the cases, and in the file of the last case before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The ordinal of the next case.
    pub(crate) ordinal: u64,
    /// How many lines of the file come before it.
    pub(crate) line: u64,
    /// The ordinal of a line in this file.
    pub(crate) of_file: u64,
}

impl Position {
    /// The position after the line with this ordinal.
    fn after(ordinal: u64, line: u64) -> Position {
        Position { ordinal: ordinal + 1, line, of_file: ordinal }
    }
}

/// Complete up to a position, before any event.
impl From<Position> for Unbroken {
    fn from(next: Position) -> Unbroken {
        Unbroken { next, ..Unbroken::default() }
    }
}

impl Unbroken {
    /// Records an event.
    pub(crate) fn note(&mut self, event: &Event) {
        match event {
            Event::Case(case) => {
                self.open.insert(case.ordinal, case.line);
                self.next = Position::after(case.ordinal, case.line);
            }
            Event::CaseFinished(case) => drop(self.open.remove(&case.ordinal)),
            Event::BadCase(case) => {
                self.next = Position::after(case.ordinal, case.line);
            }
            _ => {}
        }
    }

    /// The position before which everything is complete.
    pub(crate) fn position(&self) -> Position {
        match self.open.first_key_value() {
            Some((ordinal, line)) => {
                Position { ordinal: *ordinal, line: line.saturating_sub(1), of_file: *ordinal }
            }
            None => self.next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{CaseAccepted, CaseFinished, CaseRefused, control::Refusal};

    fn accepted(ordinal: u64, line: u64) -> Event {
        Event::Case(CaseAccepted {
            run_id: "r".parse().unwrap(),
            case_id: ordinal.to_string(),
            node_id: String::new(),
            iteration: 0,
            attempt: 0,
            ordinal,
            source: "cases.jsonl".into(),
            line,
            trace: None,
        })
    }

    fn finished(ordinal: u64) -> Event {
        Event::CaseFinished(CaseFinished {
            run_id: "r".parse().unwrap(),
            case_id: ordinal.to_string(),
            node_id: String::new(),
            iteration: 0,
            attempt: 0,
            ordinal,
            verdict: None,
            regressions: None,
        })
    }

    fn refused(ordinal: u64, line: u64) -> Event {
        let refusal = Refusal { ordinal, line, message: String::new(), advice: None };
        Event::BadCase(CaseRefused::new("r".parse().unwrap(), refusal))
    }

    #[test]
    fn the_position_is_before_the_first_case_that_awaits_rows() {
        let mut unbroken = Unbroken::default();
        let mut after = |events: &[Event]| {
            events.iter().for_each(|event| unbroken.note(event));
            let Position { ordinal, line, of_file } = unbroken.position();
            (ordinal, line, of_file)
        };
        // Blank lines have no ordinal.
        assert_eq!(after(&[accepted(0, 1), accepted(1, 4), refused(2, 5)]), (0, 0, 0));
        assert_eq!(after(&[finished(1)]), (0, 0, 0));
        assert_eq!(after(&[finished(0)]), (3, 5, 2));
        // Another file begins at line 1.
        assert_eq!(after(&[accepted(3, 1), accepted(4, 2), finished(3)]), (4, 1, 4));
        assert_eq!(after(&[finished(4)]), (5, 2, 4));
    }
}
