//! Which scorers of a run score the results of which others. Scores nothing.

use super::message::RunScorers;

/// By the place of a scorer, the place of the one whose results it scores, which is before it.
pub(super) struct Subjects(Vec<Option<usize>>);

impl Subjects {
    /// Those of the scorers of a run.
    pub(super) fn of(scorers: &RunScorers) -> Subjects {
        let places = scorers.iter().enumerate().map(|(place, ready)| {
            let subject = ready.subject.as_ref()?;
            scorers[..place].iter().position(|before| before.id == *subject)
        });
        Subjects(places.collect())
    }

    /// The scorers of results and their subjects, by their places, in the suite's order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        let places = self.0.iter().enumerate();
        places.filter_map(|(place, subject)| Some((place, (*subject)?)))
    }

    /// Whether the scorer scores cases.
    pub(super) fn scores_cases(&self, place: usize) -> bool {
        self.0[place].is_none()
    }
}
