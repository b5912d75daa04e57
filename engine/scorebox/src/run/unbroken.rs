//! How far a run is without a gap: all cases before a position have all their rows. Heard from events, so what it says
//! is stored.

use std::collections::BTreeMap;

use super::Event;

/// The position up to which a run is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unbroken {
    /// The lines of the cases that await rows, by their ordinals; as many as are in flight.
    open: BTreeMap<u64, u64>,
    /// After all that came so far.
    next: Position,
}

/// A position among the cases, and in the file of the last case before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The ordinal of the next case.
    pub(crate) ordinal: u64,
    /// Lines of a file before it.
    pub(crate) line: u64,
    /// The ordinal of a line that is in this file.
    pub(crate) of_file: u64,
}

impl Position {
    /// After the line of this ordinal.
    fn after(ordinal: u64, line: u64) -> Position {
        Position { ordinal: ordinal + 1, line, of_file: ordinal }
    }
}

/// Done up to a position, before anything was heard.
impl From<Position> for Unbroken {
    fn from(next: Position) -> Unbroken {
        Unbroken { next, ..Unbroken::default() }
    }
}

impl Unbroken {
    /// Notes an event.
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

    /// Everything before this position is done.
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
