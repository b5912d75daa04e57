//! Suggests names of cases and tasks that a run has, for a caller who asked for one that does not exist. It reads no
//! score.

use super::{CaseKey, Store, StoreError};
use crate::suggest::Closest;

/// Stored names, instead of one that was not found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Names {
    /// The names that are similar to it, the closest first; few.
    pub closest: Vec<String>,
    /// The first ones, in the order of the cases.
    pub first: Vec<String>,
    /// Whether there are more names than the first ones.
    pub are_more: bool,
}

/// How many names [`Names::first`] has at most.
const FIRST: usize = 10;

impl Store {
    /// The ids of the cases of a run, or of all runs.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; the database cannot be read.
    pub fn case_names(&self, run: Option<&str>, wanted: &str) -> Result<Names, StoreError> {
        self.names("SELECT case_id FROM cases WHERE case_key BETWEEN ?1 AND ?2", run, wanted)
    }

    /// The ids of the nodes (tasks) of a run, or of all runs.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; the database cannot be read.
    pub fn node_names(&self, run: Option<&str>, wanted: &str) -> Result<Names, StoreError> {
        let sql = "SELECT node_id FROM cases
                   WHERE case_key BETWEEN ?1 AND ?2 AND node_id IS NOT NULL";
        self.names(sql, run, wanted)
    }

    fn names(&self, sql: &str, run: Option<&str>, wanted: &str) -> Result<Names, StoreError> {
        let run = run.map(|id| self.run(id).map(|run| run.key)).transpose()?;
        let (first, last) = run.map_or((i64::MIN, i64::MAX), CaseKey::bounds);
        self.bounded(|| {
            let mut query = self.conn.prepare_cached(sql)?;
            let mut rows = query.query([first, last])?;
            let (mut names, mut closest) = (Names::default(), Closest::to(wanted));
            while let Some(row) = rows.next()? {
                let name = row.get_ref(0)?.as_str()?;
                closest.see(name);
                if names.first.iter().any(|other| other == name) {
                    continue;
                }
                match names.first.len() < FIRST {
                    true => names.first.push(name.to_owned()),
                    false => names.are_more = true,
                }
            }
            names.closest = closest.names();
            Ok(names)
        })
    }
}
