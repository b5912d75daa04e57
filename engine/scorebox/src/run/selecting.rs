//! Which scorers of a run are spared a case. What a scorer is spared is decided by `suite`, one scorer at a time.

use crate::{
    case::Case,
    suite::{Draw, Skip},
};

use super::message::RunScorers;

/// Who is spared what.
pub(super) struct Selecting {
    seed: String,
    scorers: RunScorers,
    /// Whether every scorer is for every case, so that nothing is to be asked.
    is_all: bool,
}

impl Selecting {
    /// The selections of these scorers; samples are drawn with the seed.
    pub(super) fn new(seed: &str, scorers: &RunScorers) -> Selecting {
        let is_all = scorers.iter().all(|ready| ready.selection.is_all());
        Selecting { seed: seed.to_owned(), scorers: scorers.clone(), is_all }
    }

    /// The indices of those, among the `missing` ones (none: all), that are spared the case, and why.
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
