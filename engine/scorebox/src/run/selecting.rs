//! Which scorers of a run skip a case. The rules for one scorer are in `suite`.

use crate::{
    case::Case,
    suite::{Draw, Skip},
};

use super::message::RunScorers;

/// The selections of a run's scorers.
pub(super) struct Selecting {
    seed: String,
    scorers: RunScorers,
    /// Whether every scorer applies to every case, so that there is nothing to check.
    is_all: bool,
}

impl Selecting {
    /// The selections of these scorers; samples are drawn with the seed.
    pub(super) fn new(seed: &str, scorers: &RunScorers) -> Selecting {
        let is_all = scorers.iter().all(|ready| ready.selection.is_all());
        Selecting { seed: seed.to_owned(), scorers: scorers.clone(), is_all }
    }

    /// The indices of the scorers among `missing` (`None` means all) that skip the case, and why.
    pub(super) fn skipped(&self, case: &Case, missing: Option<&[usize]>) -> Vec<(usize, Skip)> {
        if self.is_all && case.skip().is_none() {
            return Vec::new();
        }
        let indices = 0..self.scorers.len();
        let wanted = indices.filter(|index| missing.is_none_or(|missing| missing.contains(index)));
        wanted.filter_map(|index| Some((index, self.skips(case, index)?))).collect()
    }

    fn skips(&self, case: &Case, index: usize) -> Option<Skip> {
        if case.skip().is_some() {
            return Some(Skip::Case);
        }
        let ready = &self.scorers[index];
        let draw = Draw {
            seed: &self.seed,
            case_id: case.id(),
            iteration: case.iteration(),
            attempt: case.attempt(),
            scorer_id: ready.id.as_str(),
        };
        ready.selection.skips(case.node_id(), &draw)
    }
}
