//! Selects the cases that a report contains, each as an element that opens. A case that is too large for the remaining
//! room is shortened, so that none displaces later ones.

use maud::{Markup, html};
use scorebox::{
    digest::Digest,
    store::{CaseKey, RunRecord, ScorerRecord, Store, StoreError},
    verdict::CaseVerdict,
};

use crate::{
    case::{self, BRIEF_ITEMS, BRIEF_TEXT, CaseInFull, Decided, Showing},
    figure,
    said::Said,
    stored_case, word,
};

/// The most cases that are shown of those that did not pass.
pub(crate) const MAX_BAD: usize = 200;
/// The most cases that are shown of those that passed: those with the lowest scores.
pub(crate) const MAX_GOOD: usize = 10;
/// The most bytes of each text of a case.
const MAX_TEXT: usize = 4 << 10;

/// A case that was chosen.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) key: CaseKey,
    pub(crate) iteration: u32,
    pub(crate) attempt: u32,
    pub(crate) verdict: CaseVerdict,
    pub(crate) against: Vec<Decided>,
    /// Whether its run has a scorer that can fail a case.
    pub(crate) is_decided: bool,
}

/// The cases with the lowest scores so far, in ascending order; of equal ones, the first.
#[derive(Debug, Default)]
pub(crate) struct Lowest(pub(crate) Vec<Chosen>);

impl Lowest {
    pub(crate) fn take(&mut self, verdict: CaseVerdict, chosen: impl FnOnce() -> Chosen) {
        let Some(score) = verdict.score else { return };
        let index = self.0.partition_point(|it| it.verdict.score.is_some_and(|it| it <= score));
        if index < MAX_GOOD {
            self.0.insert(index, chosen());
            self.0.truncate(MAX_GOOD);
        }
    }
}

/// The chosen cases, as far as there is room for them.
#[derive(Debug, Default)]
pub(crate) struct Fitted {
    pub(crate) shown: Vec<Markup>,
    /// How many were chosen.
    pub(crate) chosen: u64,
    /// The number of cases of which only the beginnings of texts and lists are shown.
    brief: u64,
    /// The number of cases of which only a line is shown.
    lines: u64,
    /// The number of cases of which nothing is shown.
    left_out: u64,
}

impl Fitted {
    /// A text about what is not shown of them.
    pub(crate) fn cut_down(&self) -> Markup {
        let is = |count: u64| if count == 1 { " is " } else { " are " };
        let large = " for this report";
        html! {
            @if self.brief > 0 {
                " " (figure::counted(self.brief, "case", "cases")) (is(self.brief)) "too large" (large) " and cut down."
            }
            @if self.lines > 0 {
                " Of " (figure::counted(self.lines, "case", "cases")) ", only a line is shown, because more is too large" (large) "."
            }
            @if self.left_out > 0 {
                " " (figure::counted(self.left_out, "case", "cases")) (is(self.left_out)) "left out, because there is no room" (large) "."
            }
        }
    }
}

/// The room for the cases of a run, in bytes. Half of it is divided among them, so that each has some; the other half
/// goes to those that need more, in order.
#[derive(Debug)]
pub(crate) struct Room {
    left: usize,
    /// The room that is reserved for each remaining case, and the number of these cases.
    share: usize,
    to_come: usize,
    /// The ids of the cases that are shown, each with its anchor; only the first attempt of each.
    anchors: Vec<(String, String)>,
}

impl Room {
    pub(crate) fn new(bytes: usize, cases: usize) -> Room {
        let share = bytes / 2 / cases.max(1);
        Room { left: bytes, share, to_come: cases, anchors: Vec::new() }
    }

    /// The anchors of the cases that were taken.
    pub(crate) fn into_anchors(self) -> Vec<(String, String)> {
        self.anchors
    }

    /// Takes these cases.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn take(
        &mut self,
        all: &[Chosen],
        store: &Store,
        run: &RunRecord,
        scorers: &[ScorerRecord],
    ) -> Result<Fitted, StoreError> {
        let mut fitted = Fitted { chosen: all.len() as u64, ..Fitted::default() };
        for chosen in all {
            let case = chosen.read(store, run, scorers)?;
            self.to_come = self.to_come.saturating_sub(1);
            self.fit(&mut fitted, &case.content.case_id, |how| {
                chosen.html(&case, run, scorers, how)
            });
        }
        Ok(fitted)
    }

    /// Takes the most complete form of a case that fits.
    fn fit(&mut self, fitted: &mut Fitted, id: &str, html: impl Fn(How) -> (String, Markup)) {
        for how in [How::Full, How::Brief, How::Line] {
            let (anchor, html) = html(how);
            let kept = if how == How::Line { 0 } else { self.share * self.to_come };
            let Some(left) = self.left.checked_sub(html.0.len()).filter(|left| *left >= kept)
            else {
                continue;
            };
            self.left = left;
            fitted.shown.push(html);
            match how {
                How::Full => {}
                How::Brief => fitted.brief += 1,
                How::Line => fitted.lines += 1,
            }
            if !self.anchors.iter().any(|(other, _)| other == id) {
                self.anchors.push((id.to_owned(), anchor));
            }
            return;
        }
        fitted.left_out += 1;
    }
}

/// How much of a case is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Full,
    Brief,
    Line,
}

impl Chosen {
    fn read(
        &self,
        store: &Store,
        run: &RunRecord,
        scorers: &[ScorerRecord],
    ) -> Result<CaseInFull, StoreError> {
        stored_case::in_full(store, run, scorers, self.key, self.verdict, self.against.clone())
    }

    /// The case's anchor, and the case as an element that opens.
    fn html(
        &self,
        case: &CaseInFull,
        run: &RunRecord,
        scorers: &[ScorerRecord],
        how: How,
    ) -> (String, Markup) {
        let id = &case.content.case_id;
        let anchor = anchor(run, id, self.iteration, self.attempt);
        let name = case::name(id, self.iteration, self.attempt);
        let link = html! { a href={ "#" (anchor) } { "Link to this case" } };
        let html = html! {
            details id=(anchor) {
                summary {
                    (word::verdict(&case.verdict, self.is_decided))
                    span.id { (Said::line(&name, 200)) }
                    span.why { (stored_case::why(case)) }
                    span.number { @if let Some(score) = case.verdict.score { (figure::score(score)) } @else { "–" } }
                }
                @match how {
                    How::Full => (case::case(case, Showing::full(MAX_TEXT, scorers), &link)),
                    How::Brief => {
                        p.note {
                            "This case is too large for this report: of each text " (BRIEF_TEXT) " bytes are shown, of each list "
                            (BRIEF_ITEMS) " items."
                        }
                        (case::case(case, Showing::brief(scorers), &link))
                    }
                    How::Line => p.note { "This case is too large for this report." },
                }
            }
        };
        (anchor, html)
    }
}

/// A name for a case that is valid in a URL, and is the same in every report.
fn anchor(run: &RunRecord, case_id: &str, iteration: u32, attempt: u32) -> String {
    let parts: [&[u8]; 4] = [
        run.spec.id.as_str().as_bytes(),
        case_id.as_bytes(),
        &iteration.to_le_bytes(),
        &attempt.to_le_bytes(),
    ];
    format!("case-{}", Digest::of_parts(parts).short())
}

#[cfg(test)]
mod tests {
    use maud::PreEscaped;

    use super::*;

    /// What is shown of cases with these sizes if there is room for `bytes`; in brief, a case takes a tenth of its
    /// size, and a line takes `line` bytes.
    fn shown(bytes: usize, sizes: &[usize], line: usize) -> (Vec<usize>, [u64; 3]) {
        let mut room = Room::new(bytes, sizes.len());
        let mut fitted = Fitted::default();
        for size in sizes {
            room.to_come -= 1;
            room.fit(&mut fitted, "case", |how| {
                let bytes = match how {
                    How::Full => *size,
                    How::Brief => *size / 10,
                    How::Line => line,
                };
                (String::new(), PreEscaped("x".repeat(bytes)))
            });
        }
        let lengths = fitted.shown.iter().map(|html| html.0.len()).collect();
        (lengths, [fitted.brief, fitted.lines, fitted.left_out])
    }

    #[test]
    fn a_large_case_is_cut_down_and_does_not_hide_those_behind_it() {
        assert_eq!(shown(1000, &[100, 100, 100], 5), (vec![100, 100, 100], [0; 3]));
        assert_eq!(shown(1000, &[2000, 100, 100], 5), (vec![200, 100, 100], [1, 0, 0]));
        assert_eq!(shown(1000, &[90_000, 100, 100], 5), (vec![5, 100, 100], [0, 1, 0]));
        assert_eq!(shown(1000, &[90_000, 100, 100], 2000), (vec![100, 100], [0, 0, 1]));
    }

    #[test]
    fn cases_that_are_all_large_are_all_shown_within_the_room() {
        let (lengths, [brief, lines, left_out]) = shown(10_000, &[900; 200], 20);
        assert_eq!((lengths.len(), left_out), (200, 0));
        assert!(lengths.iter().sum::<usize>() <= 10_000 && brief + lines > 0);
    }
}
