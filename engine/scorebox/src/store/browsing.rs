//! What a person who browses a run needs: the words of a case, the neighbouring cases, a case by its name, and whether
//! anything was written meanwhile. It does not search by content.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{CaseKey, RunKey, ScorerKey, Store, StoreError, column::OnAScale, id::ORDINAL_BITS};
use crate::row::Status;

/// How many bytes of the output and of each reason are searched for words; the rest is not searched.
const MAX_TEXT_BYTES: i64 = 64 << 10;
/// How many characters of an input or a ground truth are compared.
const QUESTION_CHARACTERS: i64 = 1000;

/// The name of a case within its run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseName {
    /// Its key in this database.
    pub key: CaseKey,
    /// Its own id.
    pub case_id: String,
    /// The task that it belongs to.
    pub node_id: Option<String>,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
}

/// A short form of one scorer's answer for a case.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Saying {
    /// The scorer.
    pub scorer: ScorerKey,
    /// The outcome.
    pub status: Status,
    /// Its score.
    pub score: Option<f64>,
    /// Its reason, or its error message.
    pub said: Option<String>,
}

impl CaseKey {
    /// The next key, whether or not a case has it.
    pub fn following(self) -> CaseKey {
        CaseKey(self.0.saturating_add(1))
    }

    /// The key of the case with this ordinal in a run, from 0; `None` if no run can have that many cases.
    pub fn at(run: RunKey, ordinal: u64) -> Option<CaseKey> {
        CaseKey::new(run, ordinal)
    }

    /// The case's ordinal in its run, from 0.
    pub fn ordinal(self) -> u64 {
        let (first, _) = CaseKey::bounds(RunKey(self.0 >> ORDINAL_BITS));
        (self.0 - first).unsigned_abs()
    }

    /// The first key that a case of this run can have.
    pub fn first_of(run: RunKey) -> CaseKey {
        CaseKey(CaseKey::bounds(run).0)
    }
}

/// What distinguishes the question of a case from that of another: the length and the first characters of its input and
/// of its ground truth.
type Question = [(Option<i64>, Option<String>); 2];

impl Store {
    /// The question of a case, for comparisons.
    pub(crate) fn question(&self, key: CaseKey) -> Result<Question, StoreError> {
        let sql = "SELECT length(input), substr(input, 1, ?2), length(ground_truth), substr(ground_truth, 1, ?2)
             FROM cases WHERE case_key = ?1";
        self.brief(|| {
            let question = self
                .conn
                .prepare_cached(sql)?
                .query_row(params![key, QUESTION_CHARACTERS], |row| {
                    Ok([(row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?)])
                });
            Ok(question.optional()?.unwrap_or_default())
        })
    }

    /// The text of a case that is searched for words: its output, its id, and the reasons and messages of its scorers;
    /// the first 64 KiB of each.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn case_text(&self, key: CaseKey) -> Result<String, StoreError> {
        self.brief(|| {
            let mut output = self.conn.prepare_cached(
                "SELECT substr(output, 1, ?2), case_id FROM cases WHERE case_key = ?1",
            )?;
            let case = output
                .query_row(params![key, MAX_TEXT_BYTES], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            // A string that was cut is not valid JSON, but its words are found anyway.
            let (output, id): (String, String) = case.unwrap_or_default();
            let mut text = match serde_json::from_str::<String>(&output) {
                Ok(said) => said,
                Err(_) => output,
            };
            text.push('\n');
            text.push_str(&id);
            let mut reasons = self.conn.prepare_cached(
                "SELECT substr(coalesce(reason, error_message), 1, ?2), label FROM score_rows
                 WHERE case_key = ?1 ORDER BY scorer",
            )?;
            let mut rows = reasons.query(params![key, MAX_TEXT_BYTES])?;
            while let Some(row) = rows.next()? {
                for column in 0..2 {
                    if let Some(said) = row.get_ref(column)?.as_str_or_null()? {
                        text.push('\n');
                        text.push_str(said);
                    }
                }
            }
            Ok(text)
        })
    }

    /// The answers of a case's scorers in short form: of reasons and messages the first `most` characters.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn case_says(&self, key: CaseKey, most: u32) -> Result<Vec<Saying>, StoreError> {
        self.brief(|| {
            let mut query = self.conn.prepare_cached(
                "SELECT scorer, status, score, substr(coalesce(reason, error_message), 1, ?2)
                 FROM score_rows WHERE case_key = ?1 ORDER BY scorer",
            )?;
            let rows = query.query_map(params![key, most], |row| {
                Ok(Saying {
                    scorer: row.get(0)?,
                    status: row.get(1)?,
                    score: OnAScale::of(row.get(2)?),
                    said: row.get(3)?,
                })
            })?;
            rows.collect()
        })
    }

    /// The name of the case with this key.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn case_name(&self, key: CaseKey) -> Result<Option<CaseName>, StoreError> {
        let sql =
            "SELECT case_key, case_id, node_id, iteration, attempt FROM cases WHERE case_key = ?1";
        self.brief(|| self.conn.prepare_cached(sql)?.query_row([key], case_name).optional())
    }

    /// The key of the case with this name; `None` if the run has no such case.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn case_key(
        &self,
        run: RunKey,
        case_id: &str,
        iteration: u32,
        attempt: u32,
    ) -> Result<Option<CaseKey>, StoreError> {
        let sql = "SELECT case_key FROM cases
                   WHERE run = ?1 AND case_id = ?2 AND iteration = ?3 AND attempt = ?4";
        let name = params![run, case_id, iteration, attempt];
        self.brief(|| self.conn.prepare_cached(sql)?.query_row(name, |row| row.get(0)).optional())
    }

    /// The name of the first attempt at the case with this id, in its first iteration; `None` if the run has no such
    /// case.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn first_attempt(
        &self,
        run: RunKey,
        case_id: &str,
    ) -> Result<Option<CaseName>, StoreError> {
        let sql = "SELECT case_key, case_id, node_id, iteration, attempt FROM cases
                   WHERE run = ?1 AND case_id = ?2 ORDER BY iteration, attempt LIMIT 1";
        self.brief(|| {
            self.conn.prepare_cached(sql)?.query_row(params![run, case_id], case_name).optional()
        })
    }

    /// The cases before and after the one with this key, in the order in which they were read.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn cases_around(
        &self,
        run: RunKey,
        key: CaseKey,
    ) -> Result<[Option<CaseName>; 2], StoreError> {
        let (first, last) = CaseKey::bounds(run);
        let one = |sql: &str, bounds: [i64; 2]| {
            self.conn.prepare_cached(sql)?.query_row(bounds, case_name).optional()
        };
        self.brief(|| {
            let before = one(
                "SELECT case_key, case_id, node_id, iteration, attempt FROM cases
                 WHERE case_key >= ?1 AND case_key < ?2 ORDER BY case_key DESC LIMIT 1",
                [first, key.0],
            )?;
            let after = one(
                "SELECT case_key, case_id, node_id, iteration, attempt FROM cases
                 WHERE case_key > ?1 AND case_key <= ?2 ORDER BY case_key LIMIT 1",
                [key.0, last],
            )?;
            Ok([before, after])
        })
    }

    /// A number that changes after another connection has written to the file.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        self.brief(|| self.conn.pragma_query_value(None, "data_version", |row| row.get(0)))
    }
}

fn case_name(row: &Row<'_>) -> rusqlite::Result<CaseName> {
    Ok(CaseName {
        key: row.get(0)?,
        case_id: row.get(1)?,
        node_id: row.get(2)?,
        iteration: row.get(3)?,
        attempt: row.get(4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{NewCase, Outcome, sample::*};

    #[test]
    fn the_words_of_a_case_are_its_output_its_id_and_what_scorers_say() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a", "b"]);
        let scorers = writer.run().scorers.clone();
        let key = added(&mut writer, &NewCase { output: r#""a \"river\"""#, ..case(0, "x") });
        let said = Outcome::Scored {
            score: 1.0,
            label: Some("wet"),
            reason: Some("it flows"),
            meta: None,
            assertions: &[],
        };
        writer.add_score(key, scorers[0], &row(said)).unwrap();
        writer.add_score(key, scorers[1], &error()).unwrap();
        let text = writer.store().case_text(key).unwrap();
        assert_eq!(text, "a \"river\"\nx\nit flows\nwet\nunreachable");
    }

    #[test]
    fn the_first_attempt_at_a_case_need_not_be_the_one_with_the_number_0() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        added(&mut writer, &NewCase { attempt: 3, ..case(0, "x") });
        added(&mut writer, &NewCase { attempt: 2, ..case(1, "x") });
        let run = writer.run().key;
        let first = writer.store().first_attempt(run, "x").unwrap().unwrap();
        assert_eq!((first.case_id.as_str(), first.attempt), ("x", 2));
        assert_eq!(writer.store().first_attempt(run, "y").unwrap(), None);
    }

    #[test]
    fn a_case_has_neighbours_in_its_run_only() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        let keys = ["x", "y", "z"].map(|id| {
            let ordinal = u64::from(id.as_bytes()[0] - b'x');
            added(&mut writer, &case(ordinal, id))
        });
        let run = writer.run().key;
        let names =
            |key| writer.store().cases_around(run, key).unwrap().map(|it| it.map(|it| it.case_id));
        assert_eq!(names(keys[1]), [Some("x".into()), Some("z".into())]);
        assert_eq!(names(keys[0]), [None, Some("y".into())]);
        assert_eq!(names(keys[2]), [Some("y".into()), None]);
    }
}
