//! Handles cases that are in several shards: decides which of their rows is kept, and finds what differs. Equal rows
//! count as one. A result that a time-out ended yields to one that was computed, because time depends on the machine;
//! any other difference between results is reported.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::ControlFlow,
};

use scorebox::{
    digest::Digest,
    row::{Json, Status},
    sandbox::ErrorKind,
};

use crate::{
    error::{ShardError, unless_stopped},
    owning::Owning,
    plan::Plan,
    results::{ScorerResult, WideRow},
    shards::{At, Shards},
    sorting::{Entry, Sorting},
};

/// The most cases with different rows that are compared, because they are in memory.
const MAX_LOOKED_AT: usize = 10_000;
/// The most differences that are reported in full; all are counted.
const MAX_SHOWN: usize = 20;

/// A result that differs between two shards.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The case.
    pub case_id: String,
    /// The scorer; `None` if the case itself differs.
    pub scorer: Option<String>,
    /// The results in the first and in the other shard.
    pub results: [String; 2],
    /// The two shards, which are the same if a shard contains the case twice.
    pub shards: [String; 2],
}

/// The cases of all shards, and their repeated rows.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Duplicates {
    /// How many cases there are, each counted once.
    pub cases: u64,
    /// How many rows more there are than cases.
    pub repeated: u64,
    /// How many of them repeat a case of an earlier row of the same shard.
    pub repeated_within: u64,
    /// How many cases have rows that are not equal.
    pub unequal: u64,
    /// How many results timed out in some of the rows of their case, and were computed in another. Those are kept.
    pub timed_out: u64,
    /// How many results differ.
    pub different: u64,
    /// How many of them differ between rows of the same shard.
    pub different_within: u64,
    /// The first of these differences.
    pub differences: Vec<Difference>,
    /// The shards with cases of which other shards have every one.
    pub(crate) without_own: Vec<u32>,
    /// Rows that are left out, by shard, in ascending order.
    left_out: HashMap<u32, Vec<u64>>,
    /// Rows that are combined from several.
    replaced: HashMap<At, WideRow>,
}

impl Duplicates {
    /// Compares all rows. `progress` receives how many rows have been read so far, and may stop it.
    ///
    /// # Errors
    /// A shard cannot be read, or there is no space for files; [`ShardError::TooDifferent`]; [`ShardError::Stopped`].
    pub fn find(
        shards: &Shards,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Duplicates, ShardError> {
        let (mut sorting, mut owning) = (Sorting::new(), Owning::of(shards.count()));
        let mut read = 0;
        shards.for_each(|at, checked| {
            read += 1;
            unless_stopped(progress(read))?;
            let row = &checked.row;
            owning.add(at.0);
            sorting.add(name_of(row), content_of(row), at).map_err(ShardError::Write)
        })?;
        let mut found = Duplicates::default();
        let mut unequal: Vec<Vec<At>> = Vec::new();
        for part in sorting.sorted() {
            for group in part.map_err(ShardError::Write)?.chunk_by(|one, it| one.name == it.name) {
                owning.give(group.iter().map(|entry| entry.at.0));
                found.take(group, &mut unequal)?;
            }
        }
        if !unequal.is_empty() {
            found.look_at(shards, &unequal, || progress(read))?;
        }
        found.without_own = owning.without_own();
        found.left_out.values_mut().for_each(|rows| rows.sort_unstable());
        Ok(found)
    }

    fn take(&mut self, group: &[Entry], unequal: &mut Vec<Vec<At>>) -> Result<(), ShardError> {
        self.cases += 1;
        self.repeated += group.len() as u64 - 1;
        // The group is sorted by position.
        let within = group.windows(2).filter(|pair| pair[0].at.0 == pair[1].at.0).count();
        self.repeated_within += within as u64;
        for entry in &group[1..] {
            self.left_out.entry(entry.at.0).or_default().push(entry.at.1);
        }
        if group.iter().any(|entry| entry.content != group[0].content) {
            self.unequal += 1;
            if unequal.len() == MAX_LOOKED_AT {
                return Err(ShardError::TooDifferent { most: MAX_LOOKED_AT });
            }
            // One of several equal rows is enough.
            let mut seen = HashSet::new();
            let different = group.iter().filter(|entry| seen.insert(entry.content));
            unequal.push(different.map(|entry| entry.at).collect());
        }
        Ok(())
    }

    /// Whether results differ, and every difference is between rows of the same shard.
    pub(crate) fn differ_in_one_shard(&self) -> bool {
        self.different > 0 && self.different_within == self.different
    }

    /// Reads the rows that are not equal, and combines them.
    fn look_at(
        &mut self,
        shards: &Shards,
        unequal: &[Vec<At>],
        mut progress: impl FnMut() -> ControlFlow<()>,
    ) -> Result<(), ShardError> {
        let groups: HashMap<At, usize> = (0..)
            .zip(unequal)
            .flat_map(|(group, indices)| indices.iter().map(move |at| (*at, group)))
            .collect();
        let mut rows: Vec<Vec<(At, WideRow)>> = vec![Vec::new(); unequal.len()];
        shards.for_each(|at, checked| {
            unless_stopped(progress())?;
            if let Some(group) = groups.get(&at) {
                rows[*group].push((at, checked.row));
            }
            Ok(())
        })?;
        for group in rows {
            self.put_together(shards, group);
        }
        Ok(())
    }

    fn put_together(&mut self, shards: &Shards, group: Vec<(At, WideRow)>) {
        let mut group = group.into_iter();
        let Some((first_at, mut kept)) = group.next() else { return };
        // Which row each result of the kept row comes from.
        let mut from = vec![first_at; kept.results.len()];
        // Before any is taken: what scores a result depends on time as that does.
        let voids = |row: &WideRow| -> Vec<bool> {
            (0..row.results.len()).map(|it| depends_on_time(shards.plan(), row, it)).collect()
        };
        let mut outcomes = Outcomes::default();
        outcomes.note(&kept, &voids(&kept));
        for (at, row) in group {
            if kept.case_digest != row.case_digest {
                let results = [&*kept.case, &*row.case].map(str::to_owned);
                self.differ(shards, &kept, None, results, [first_at, at]);
                continue;
            }
            let voids_of_row = voids(&row);
            outcomes.note(&row, &voids_of_row);
            let voids = voids(&kept).into_iter().zip(voids_of_row);
            let results = row.results.iter().enumerate().zip(voids);
            for ((index, other), (kept_is_void, other_is_void)) in results {
                if other_is_void || content(&kept.results[index]) == content(other) {
                    continue;
                }
                if kept_is_void {
                    kept.results[index] = other.clone();
                    from[index] = at;
                    continue;
                }
                let results = [&kept.results[index], other].map(in_words);
                let scorer = Some(other.scorer.clone());
                self.differ(shards, &kept, scorer, results, [from[index], at]);
            }
        }
        self.timed_out += outcomes.in_both();
        self.replaced.insert(first_at, kept);
    }

    fn differ(
        &mut self,
        shards: &Shards,
        row: &WideRow,
        scorer: Option<String>,
        results: [String; 2],
        at: [At; 2],
    ) {
        self.different += 1;
        self.different_within += u64::from(at[0].0 == at[1].0);
        if self.differences.len() < MAX_SHOWN {
            let case_id = row.id.clone();
            let shards = at.map(|at| shards.path(at.0).display().to_string());
            self.differences.push(Difference { case_id, scorer, results, shards });
        }
    }

    /// The row that is kept for this one; `None` if another row is kept.
    pub(crate) fn kept<'a>(&'a self, at: At, row: &'a WideRow) -> Option<&'a WideRow> {
        let is_left_out =
            self.left_out.get(&at.0).is_some_and(|rows| rows.binary_search(&at.1).is_ok());
        (!is_left_out).then(|| self.replaced.get(&at).unwrap_or(row))
    }
}

/// How the results of a case ended in its rows, whatever the order of the rows.
#[derive(Debug, Default)]
struct Outcomes {
    /// The indices of results that timed out in a row.
    timed_out: BTreeSet<usize>,
    /// Those that no time-out decided in a row.
    computed: BTreeSet<usize>,
}

impl Outcomes {
    fn note(&mut self, row: &WideRow, voids: &[bool]) {
        for (index, (result, is_void)) in row.results.iter().zip(voids).enumerate() {
            match (is_void, result.answer.status) {
                (false, _) => drop(self.computed.insert(index)),
                (true, Status::Error) => drop(self.timed_out.insert(index)),
                // It scores what timed out, and is not counted as well.
                (true, _) => {}
            }
        }
    }

    /// How many timed out in one row and were computed in another.
    fn in_both(&self) -> u64 {
        self.timed_out.intersection(&self.computed).count() as u64
    }
}

/// What names a case among those of a run.
fn name_of(row: &WideRow) -> Digest {
    let (iteration, attempt) = (row.iteration.to_le_bytes(), row.attempt.to_le_bytes());
    Digest::of_parts([row.id.as_bytes(), &iteration, &attempt])
}

/// A digest of everything that must be the same in each shard that contains the case.
fn content_of(row: &WideRow) -> Digest {
    let results: Vec<Digest> = row.results.iter().map(content).collect();
    let results = results.iter().map(|digest| digest.as_bytes().as_slice());
    Digest::of_parts([row.case_digest.as_bytes().as_slice()].into_iter().chain(results))
}

/// A digest of everything that does not depend on the machine: neither times, nor memory, nor the messages of errors.
fn content(result: &ScorerResult) -> Digest {
    let answer = &result.answer;
    let json =
        |json: &Option<Json>| json.as_ref().map_or(&b""[..], |it| it.get().as_bytes()).to_vec();
    let text = |text: &Option<String>| text.as_ref().map_or(&b""[..], |it| it.as_bytes()).to_vec();
    let number = |bits: Option<u64>| bits.map_or_else(Vec::new, |bits| bits.to_le_bytes().to_vec());
    let parts: [Vec<u8>; 10] = [
        result.scorer.clone().into_bytes(),
        answer.status.as_str().as_bytes().to_vec(),
        number(answer.score.map(f64::to_bits)),
        text(&answer.label),
        text(&answer.reason),
        json(&answer.meta),
        json(&answer.assertions),
        answer.error.as_ref().map_or_else(Vec::new, |error| error.kind.clone().into_bytes()),
        number(answer.fuel),
        result.input_digest.map_or_else(Vec::new, |digest| digest.as_bytes().to_vec()),
    ];
    Digest::of_parts(parts.iter().map(Vec::as_slice))
}

/// Whether a time-out decided the result, or the result that it scores.
fn depends_on_time(plan: &Plan, row: &WideRow, index: usize) -> bool {
    let mut index = index;
    // A subject comes before its scorers, so this loop ends.
    loop {
        let error = row.results[index].answer.error.as_ref();
        if error.is_some_and(|error| error.kind == ErrorKind::TimedOut.as_str()) {
            return true;
        }
        let subject = plan.scorers[index].subject.as_deref();
        let before = subject
            .and_then(|id| plan.scorers[..index].iter().position(|scorer| scorer.scorer_id == id));
        match before {
            Some(before) => index = before,
            None => return false,
        }
    }
}

/// A result as text for a person.
fn in_words(result: &ScorerResult) -> String {
    let answer = &result.answer;
    let what = match (answer.score, &answer.error) {
        (Some(score), _) => format!("{score}"),
        (None, Some(error)) => error.kind.clone(),
        (None, None) => answer.status.as_str().to_owned(),
    };
    match (&answer.label, &answer.reason) {
        (Some(label), _) => format!("{what} ({label})"),
        (None, Some(reason)) => format!("{what} ({reason})"),
        (None, None) => what,
    }
}
