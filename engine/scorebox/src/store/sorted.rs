//! Scores in ascending order, scorer by scorer, in few passes over the rows: the scores of many scorers are read
//! together. It computes nothing from them.

use std::{collections::HashMap, ops::Range};

use super::{
    ScoreFilter, ScorerCounts, ScorerKey, Store, StoreError, column::OnAScale, filter::Conditions,
};

/// How many scores are in memory at the same time: 16 MiB. If a scorer has more, SQLite sorts its scores, in files.
const MAX_HELD: usize = 2 << 20;

/// The scores that a filter selects.
#[derive(Debug)]
pub struct SortedScores<'s> {
    store: &'s Store,
    filter: &'s ScoreFilter,
    /// Scorer ids, and the number of each one's scores.
    wanted: Vec<(String, u64)>,
    most: usize,
    /// The indices of the scorers whose scores are in memory.
    held: Range<usize>,
    /// Each one's scores, in ascending order.
    scores: Vec<Vec<f64>>,
}

impl<'s> SortedScores<'s> {
    /// The scores that `filter` selects, of the `wanted` scorers: their ids, and the number of each one's scores, from
    /// [`Store::counts`] for the same filter in the same [`snapshot`](Store::snapshot). Reads nothing yet.
    pub fn of(
        store: &'s Store,
        filter: &'s ScoreFilter,
        wanted: impl IntoIterator<Item = (String, u64)>,
    ) -> SortedScores<'s> {
        let (wanted, scores) = (wanted.into_iter().collect(), Vec::new());
        SortedScores { store, filter, wanted, most: MAX_HELD, held: 0..0, scores }
    }

    /// The same for all scorers, with their counts and in the same order: in one pass over the rows of a run if all of
    /// its scores fit in memory.
    ///
    /// # Errors
    /// Like [`Store::counts`].
    pub fn counted(
        store: &'s Store,
        filter: &'s ScoreFilter,
    ) -> Result<(Vec<ScorerCounts>, SortedScores<'s>), StoreError> {
        SortedScores::with_room(store, filter, MAX_HELD)
    }

    /// The same, with room for `most` scores.
    fn with_room(
        store: &'s Store,
        filter: &'s ScoreFilter,
        most: usize,
    ) -> Result<(Vec<ScorerCounts>, SortedScores<'s>), StoreError> {
        let (counts, scores) = store.counts_with_scores(filter, most)?;
        let wanted = counts.iter().map(|counts| (counts.scorer_id.clone(), counts.scored));
        let mut sorted = SortedScores { most, ..SortedScores::of(store, filter, wanted) };
        if let Some(mut scores) = scores {
            sort(&mut scores);
            (sorted.held, sorted.scores) = (0..scores.len(), scores);
        }
        Ok((counts, sorted))
    }

    /// Calls `take` with every score of the scorer at this index of the wanted ones, in ascending order. Ask for one
    /// scorer after another: the scores that were read for the next ones are kept for them.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn for_each(&mut self, index: usize, mut take: impl FnMut(f64)) -> Result<(), StoreError> {
        let Some((scorer_id, count)) = self.wanted.get(index) else { return Ok(()) };
        if *count > self.most as u64 {
            return self.store.for_each_score_sorted(self.filter, scorer_id, take);
        }
        if !self.held.contains(&index) {
            self.read_from(index)?;
        }
        self.scores[index - self.held.start].iter().for_each(|score| take(*score));
        Ok(())
    }

    /// Reads the scores of as many scorers as fit in memory, from this index on.
    fn read_from(&mut self, index: usize) -> Result<(), StoreError> {
        let mut all = 0;
        let fits = self.wanted[index..].iter().take_while(|(_, count)| {
            all += count;
            all <= self.most as u64
        });
        let together = index..index + fits.count();
        let room = |(_, count): &(String, u64)| Vec::with_capacity(*count as usize);
        let mut scores: Vec<Vec<f64>> = self.wanted[together.clone()].iter().map(room).collect();
        let indices = self.indices(&together)?;
        let mut conditions = Conditions::of(self.filter, self.store.run_of(self.filter)?, None);
        conditions.add("score_rows.status = 'scored'", []);
        let sql = format!("SELECT scorer, score FROM score_rows{}", conditions.sql());
        self.store.each(&sql, &conditions, |row| {
            if let Some(index) = indices.get(&row.get(0)?) {
                scores[*index].push(row.get::<_, OnAScale>(1)?.0);
            }
            Ok(())
        })?;
        sort(&mut scores);
        (self.held, self.scores) = (together, scores);
        Ok(())
    }

    /// The index in the range for each scorer's scores. Scorers of several runs with the same id share an index.
    fn indices(&self, of: &Range<usize>) -> Result<HashMap<ScorerKey, usize>, StoreError> {
        let ids = self.wanted[of.clone()].iter().map(|(id, _)| id.as_str());
        let indices: HashMap<&str, usize> = ids.zip(0..).collect();
        let named = self.store.named_scorers(self.filter, self.store.run_of(self.filter)?)?;
        let found =
            |(key, id, _): (ScorerKey, String, String)| Some((key, *indices.get(id.as_str())?));
        Ok(named.into_iter().filter_map(found).collect())
    }
}

fn sort(scores: &mut [Vec<f64>]) {
    scores.iter_mut().for_each(|scores| scores.sort_unstable_by(f64::total_cmp));
}

#[cfg(test)]
mod tests {
    use super::{
        super::{RunState, RunWriter, sample::*},
        *,
    };

    /// Two runs of the scorers `a` and `b`, whose scores descend, and one of `c`.
    fn filled() -> (tempfile::TempDir, Store) {
        let (folder, mut store) = database();
        for (run, scorers) in [("r", vec!["a", "b"]), ("s", vec!["b", "c"])] {
            let mut writer: RunWriter = writer(store, run, &scorers);
            let keys = writer.run().scorers.clone();
            for number in 0..5_u32 {
                let key = added(&mut writer, &case(number.into(), &format!("case {number}")));
                for (index, scorer) in (0_u32..).zip(&keys) {
                    let score = f64::from(9 - number - index) / 10.0;
                    writer.add_score(key, *scorer, &scored(score)).unwrap();
                }
            }
            writer.finish(RunState::Finished, None, 1).unwrap();
            drop(writer);
            store = Store::open(folder.path().join("scores.db")).unwrap();
        }
        (folder, store)
    }

    #[test]
    fn scores_are_those_that_sqlite_sorts_however_many_are_in_memory() {
        let (_folder, store) = filled();
        for filter in [ScoreFilter::default(), ScoreFilter::of_run("r"), ScoreFilter::of_run("s")] {
            // Room for none; for one scorer; for two; for all.
            for most in [0, 5, 10, 100] {
                let (counts, mut sorted) = SortedScores::with_room(&store, &filter, most).unwrap();
                assert_eq!(counts, store.counts(&filter).unwrap());
                let (is_of_a_run, all) = (filter.run.is_some(), 10);
                assert_eq!(
                    !sorted.held.is_empty(),
                    is_of_a_run && most >= all,
                    "{filter:?} {most}"
                );
                for (index, counts) in counts.iter().enumerate() {
                    let (mut found, mut expected) = (Vec::new(), Vec::new());
                    sorted.for_each(index, |score| found.push(score)).unwrap();
                    store
                        .for_each_score_sorted(&filter, &counts.scorer_id, |score| {
                            expected.push(score)
                        })
                        .unwrap();
                    assert_eq!(found, expected, "{filter:?} {most} {}", counts.scorer_id);
                    assert_eq!(found.len() as u64, counts.scored);
                }
            }
        }
    }
}
