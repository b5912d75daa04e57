//! How many rows of each status every scorer has, and the two means that are shown with them. Statistics of the scores
//! themselves are in the room `stats`.

use std::collections::HashMap;

use rusqlite::Row;
use serde::Serialize;

use super::{
    RunKey, ScoreFilter, ScorerKey, Store, StoreError, column::OnAScale, effort::Ascending,
    filter::Conditions,
};
use crate::row::Status;

/// How many rows of each status a scorer has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScorerCounts {
    /// The suite's key for the scorer.
    pub scorer_id: String,
    /// For people; from the newest run, if runs differ.
    pub scorer_name: String,
    /// Its stored scorers in the runs, each with rows unless one run is named; in the order of the runs.
    #[serde(skip)]
    pub scorers: Vec<ScorerKey>,
    /// Rows with a score.
    pub scored: u64,
    /// Rows of cases that the scorer does not apply to.
    pub not_applicable: u64,
    /// Rows of cases that the scorer skips.
    pub skipped: u64,
    /// Rows that should have a score but do not.
    pub errors: u64,
    /// Rows among them that were copied from an earlier run.
    pub reused: u64,
    /// Mean fuel of the rows with an answer (scored or not applicable).
    pub mean_fuel: Option<f64>,
    /// Mean duration of the same rows, in milliseconds.
    pub mean_duration_ms: Option<f64>,
}

/// The scores of each scorer, in the order of its rows.
type ScoresOfEach = Vec<Vec<f64>>;

impl Store {
    /// The counts of the rows that `filter` selects, by scorer id, in the suite's order. If it names a run, the run's
    /// scorers without rows are included.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; the database cannot be read.
    pub fn counts(&self, filter: &ScoreFilter) -> Result<Vec<ScorerCounts>, StoreError> {
        Ok(self.counts_with_scores(filter, 0)?.0)
    }

    /// The same, and the scores of each scorer in the order of its rows; `None` instead of all scores if there may be
    /// more than `most`, or if the filter names no run.
    ///
    /// # Errors
    /// As [`Store::counts`].
    pub(super) fn counts_with_scores(
        &self,
        filter: &ScoreFilter,
        most: usize,
    ) -> Result<(Vec<ScorerCounts>, Option<ScoresOfEach>), StoreError> {
        self.snapshot(|store| {
            let run = store.run_of(filter)?;
            let named = store.named_scorers(filter, run)?;
            let room = match run {
                Some(run) => store.next_ordinal(run)?.saturating_mul(named.len() as u64),
                None => u64::MAX,
            };
            let room = usize::try_from(room).ok().filter(|room| *room <= most);
            let room_of_each = room.map_or(0, |room| room / named.len().max(1));
            let mut tallies: HashMap<ScorerKey, Tally> =
                named.iter().map(|(key, ..)| (*key, Tally::with_room(room_of_each))).collect();
            store.add_rows(filter, run, &mut tallies)?;
            let are_all = tallies.values().all(|tally| tally.scores.len() as u64 == tally.scored);
            let mut merged = Merged::default();
            for (key, scorer_id, name) in named {
                if let Some(tally) =
                    tallies.remove(&key).filter(|it| run.is_some() || it.has_rows())
                {
                    merged.add(key, scorer_id, name, tally);
                }
            }
            let (counts, scores) = merged.finish();
            Ok((counts, are_all.then_some(scores)))
        })
    }

    /// One pass over the rows. SQLite's own GROUP BY would sort them first.
    fn add_rows(
        &self,
        filter: &ScoreFilter,
        run: Option<RunKey>,
        tallies: &mut HashMap<ScorerKey, Tally>,
    ) -> Result<(), StoreError> {
        let conditions = Conditions::of(filter, run, None);
        let sql = format!(
            "SELECT scorer, status, fuel, duration_ms, score FROM score_rows{} ORDER BY case_key, scorer",
            conditions.sql()
        );
        self.each(&sql, &conditions, |row| tallies.entry(row.get(0)?).or_default().take(row))?;
        self.add_reused(conditions, tallies)
    }

    /// Counts reused rows separately, with an index that is empty if nothing was reused: in the table, the column comes
    /// after the texts of a row, which makes it slow to read.
    fn add_reused(
        &self,
        mut conditions: Conditions,
        tallies: &mut HashMap<ScorerKey, Tally>,
    ) -> Result<(), StoreError> {
        conditions.add("score_rows.reused_case IS NOT NULL", []);
        let sql = format!("SELECT scorer FROM score_rows{}", conditions.sql());
        self.each(&sql, &conditions, |row| {
            tallies.entry(row.get(0)?).or_default().reused += 1;
            Ok(())
        })
    }

    /// The scorers that `filter` selects: key, id and name, in the order in which they were stored.
    pub(super) fn named_scorers(
        &self,
        filter: &ScoreFilter,
        run: Option<RunKey>,
    ) -> Result<Vec<(ScorerKey, String, String)>, StoreError> {
        // SQLite uses the index, which begins with the run, only if the condition is exactly this.
        let of_run = if run.is_some() { "run = ?1" } else { "?1 IS NULL" };
        let sql = format!(
            "SELECT scorer, scorer_id, name FROM scorers
             WHERE {of_run} AND (?2 IS NULL OR scorer_id = ?2) ORDER BY scorer"
        );
        let read = || {
            let mut query = self.conn.prepare_cached(&sql)?;
            let of = (run, &filter.scorer);
            let mut keys = Ascending::after(None);
            let named = |row: &Row<'_>| {
                let key: ScorerKey = row.get(0)?;
                keys.note(key)?;
                Ok((key, row.get(1)?, row.get(2)?))
            };
            query.query_map(of, named)?.collect()
        };
        self.bounded(read)
    }
}

/// The sums over the rows of one scorer.
#[derive(Debug, Default)]
struct Tally {
    scored: u64,
    not_applicable: u64,
    skipped: u64,
    errors: u64,
    reused: u64,
    fuel: u128,
    with_fuel: u64,
    duration_ms: f64,
    /// As many as there is room for.
    scores: Vec<f64>,
}

impl Tally {
    /// An empty tally, with room for this number of scores.
    fn with_room(scores: usize) -> Tally {
        Tally { scores: Vec::with_capacity(scores), ..Tally::default() }
    }

    fn has_rows(&self) -> bool {
        self.scored + self.not_applicable + self.skipped + self.errors > 0
    }

    /// Adds a row, and keeps its score if there is still room for one.
    fn take(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let status = row.get(1)?;
        match status {
            Status::Scored => {
                self.scored += 1;
                if self.scores.len() < self.scores.capacity() {
                    self.scores.push(row.get::<_, OnAScale>(4)?.0);
                }
            }
            Status::NotApplicable => self.not_applicable += 1,
            Status::Skipped => self.skipped += 1,
            Status::Error => self.errors += 1,
        }
        if !matches!(status, Status::Scored | Status::NotApplicable) {
            return Ok(());
        }
        if let Some(fuel) = row.get::<_, Option<i64>>(2)? {
            self.fuel += u128::from(fuel.unsigned_abs());
            self.with_fuel += 1;
        }
        self.duration_ms += row.get::<_, f64>(3)?;
        Ok(())
    }

    fn add(&mut self, mut other: Tally) {
        self.scores.append(&mut other.scores);
        self.scored += other.scored;
        self.not_applicable += other.not_applicable;
        self.skipped += other.skipped;
        self.errors += other.errors;
        self.reused += other.reused;
        self.fuel += other.fuel;
        self.with_fuel += other.with_fuel;
        self.duration_ms += other.duration_ms;
    }
}

/// Tallies of several runs, merged by scorer id.
#[derive(Default)]
struct Merged {
    scorers: Vec<Pooled>,
    indices: HashMap<String, usize>,
}

/// The scorers with one id.
struct Pooled {
    scorer_id: String,
    name: String,
    keys: Vec<ScorerKey>,
    tally: Tally,
}

impl Merged {
    fn add(&mut self, key: ScorerKey, scorer_id: String, name: String, tally: Tally) {
        match self.indices.get(&scorer_id) {
            Some(index) => {
                let pooled = &mut self.scorers[*index];
                pooled.name = name;
                pooled.keys.push(key);
                pooled.tally.add(tally);
            }
            None => {
                self.indices.insert(scorer_id.clone(), self.scorers.len());
                self.scorers.push(Pooled { scorer_id, name, keys: vec![key], tally });
            }
        }
    }

    fn finish(self) -> (Vec<ScorerCounts>, ScoresOfEach) {
        let counts = |Pooled { scorer_id, name, keys, tally }: Pooled| {
            let answered = tally.scored + tally.not_applicable;
            let mean = |sum: f64, of: u64| (of > 0).then(|| sum / of as f64);
            let counts = ScorerCounts {
                scorer_id,
                scorer_name: name,
                scorers: keys,
                scored: tally.scored,
                not_applicable: tally.not_applicable,
                skipped: tally.skipped,
                errors: tally.errors,
                reused: tally.reused,
                mean_fuel: mean(tally.fuel as f64, tally.with_fuel),
                mean_duration_ms: mean(tally.duration_ms, answered),
            };
            (counts, tally.scores)
        };
        self.scorers.into_iter().map(counts).unzip()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    use super::{
        super::{Outcome, sample::*},
        *,
    };

    #[test]
    fn every_status_is_counted_and_means_are_of_what_was_answered() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["b", "a"]);
        let scorers = writer.run().scorers.clone();
        let not_applicable = Outcome::NotApplicable { label: None, reason: None, meta: None };
        let mut skipped = row(Outcome::Skipped { reason: None });
        (skipped.fuel, skipped.duration_ms) = (None, 0.0);
        let mut slow = scored(0.0);
        (slow.fuel, slow.duration_ms) = (Some(4000), 0.75);
        let mut runaway = error();
        (runaway.fuel, runaway.duration_ms) = (Some(10_000_000_000), 5000.0);
        let rows = [slow, row(not_applicable), skipped, runaway];
        for (ordinal, row) in rows.iter().enumerate() {
            let key = added(&mut writer, &case(ordinal as u64, &format!("case-{ordinal}")));
            writer.add_score(key, scorers[0], row).unwrap();
        }
        let of_run = ScoreFilter { run: Some("r".into()), ..ScoreFilter::default() };
        let counts = writer.store().counts(&of_run).unwrap();
        assert_eq!(
            counts[0],
            ScorerCounts {
                scorer_id: "b".into(),
                scorer_name: "Scorer b".into(),
                scorers: vec![scorers[0]],
                scored: 1,
                not_applicable: 1,
                skipped: 1,
                errors: 1,
                reused: 0,
                mean_fuel: Some(2500.0),
                mean_duration_ms: Some(0.5),
            }
        );
        assert_eq!((counts[1].scorer_id.as_str(), counts[1].scored), ("a", 0));
        assert_eq!((counts[1].mean_fuel, counts[1].mean_duration_ms), (None, None));
        assert_eq!(writer.store().counts(&ScoreFilter::default()).unwrap().len(), 1);
    }

    #[test]
    fn counts_of_several_runs_are_put_together_by_scorer_id() {
        let (folder, store) = database();
        drop(store);
        for run in ["one", "two"] {
            let store = Store::open(folder.path().join("scores.db")).unwrap();
            let mut writer = writer(store, run, &["a"]);
            let scorer = writer.run().scorers[0];
            let key = added(&mut writer, &case(0, "x"));
            writer.add_score(key, scorer, &scored(1.0)).unwrap();
        }
        let store = Store::open_read_only(folder.path().join("scores.db")).unwrap();
        let counts = store.counts(&ScoreFilter::default()).unwrap();
        assert_eq!(counts.len(), 1);
        assert_eq!((counts[0].scored, counts[0].scorers.len()), (2, 2));
    }

    #[test]
    fn other_runs_cost_the_counts_of_a_run_nothing() {
        let (_folder, mut store) = database();
        let steps = |store: &mut Store| {
            let steps = Arc::new(AtomicU64::new(0));
            let counted = Arc::clone(&steps);
            let count = move || counted.fetch_add(1, Ordering::Relaxed) == u64::MAX;
            store.conn.progress_handler(1, Some(count)).unwrap();
            let of_run = ScoreFilter { run: Some("first".into()), ..ScoreFilter::default() };
            assert_eq!(store.counts(&of_run).unwrap().len(), 2);
            assert_eq!(store.scorer_ids(Some("first")).unwrap(), ["a", "b"]);
            steps.load(Ordering::Relaxed)
        };
        let scorers = [scorer("a"), scorer("b")];
        store.create_run(&run("first"), &scorers, &session()).unwrap();
        let alone = steps(&mut store);
        for number in 0..30 {
            store.create_run(&run(&format!("r{number}")), &scorers, &session()).unwrap();
        }
        let beside_others = steps(&mut store);
        assert!(beside_others <= alone, "{beside_others} steps; alone {alone}");
    }
}
