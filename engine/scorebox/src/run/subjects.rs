//! Which scorers of a run score the results of which others. It scores nothing.

use super::message::RunScorers;

/// For each scorer, by its index, the index of the scorer whose results it scores, which comes before it.
pub(super) struct Subjects(Vec<Option<usize>>);

impl Subjects {
    /// The subjects of a run's scorers.
    pub(super) fn of(scorers: &RunScorers) -> Subjects {
        let indices = scorers.iter().enumerate().map(|(index, ready)| {
            let subject = ready.subject.as_ref()?;
            scorers[..index].iter().position(|before| before.id == *subject)
        });
        Subjects(indices.collect())
    }

    /// The scorers of results and their subjects, by their indices, in the suite's order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        let indices = self.0.iter().enumerate();
        indices.filter_map(|(index, subject)| Some((index, (*subject)?)))
    }

    /// Whether the scorer scores cases.
    pub(super) fn scores_cases(&self, index: usize) -> bool {
        self.0[index].is_none()
    }
}
