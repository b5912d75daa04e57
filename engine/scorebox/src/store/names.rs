//! The names of cases and tasks that a run has, for a caller who asked for one that it does not have or has typed a part
//! of one. Reads no score.

use rusqlite::params;

use super::{CaseKey, RunKey, Store, StoreError};
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

    /// The ids of the cases of a run that begin like this, in their order; the first `most` of them.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn case_ids_beginning_with(
        &self,
        run: RunKey,
        beginning: &str,
        most: usize,
    ) -> Result<Vec<String>, StoreError> {
        // By the index, so that a run with many cases is not read.
        let sql = "SELECT DISTINCT case_id FROM cases
                   WHERE run = ?1 AND case_id >= ?2 ORDER BY case_id LIMIT ?3";
        self.brief(|| {
            let mut query = self.conn.prepare_cached(sql)?;
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let mut rows = query.query(params![run, beginning, most])?;
            let mut ids = Vec::new();
            while let Some(row) = rows.next()? {
                match row.get_ref(0)?.as_str()? {
                    id if id.starts_with(beginning) => ids.push(id.to_owned()),
                    _ => break,
                }
            }
            Ok(ids)
        })
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
