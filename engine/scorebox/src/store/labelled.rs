//! The cases of a run with the answers of one or two scorers, and the parts of a case that may have labels. One case at
//! a time, in the order in which they were read. It interprets no label.

use std::sync::atomic::Ordering;

use rusqlite::{Row, params};

use super::{CaseKey, RunKey, ScorerKey, Store, StoreError, column::OnAScale, effort::Ascending};
use crate::row::{Json, Status};

/// The parts of a case that labels need.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LabelledCase {
    /// Its id.
    pub case_id: String,
    /// The scorer's answer; `None` if it has no row.
    pub row: Option<LabelledRow>,
    /// The other scorer's answer, if one was requested.
    pub other: Option<LabelledRow>,
    /// The case's metadata, as JSON.
    pub metadata: Option<Json>,
    /// The keys of the case that scorebox does not know, as a JSON object.
    pub other_keys: Option<Json>,
    /// The expected output, as JSON.
    pub ground_truth: Option<Json>,
    /// The length of its output in characters: of the text itself, or of the JSON if it is not a text.
    pub output_characters: u64,
}

/// A scorer's answer for a case.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LabelledRow {
    /// The outcome.
    pub status: Status,
    /// Set in scored rows only.
    pub score: Option<f64>,
    /// The category that the scorer names.
    pub label: Option<String>,
}

/// The `+` keeps SQLite from using an index, because it would then have to sort.
const CASES: &str = "
    SELECT cases.case_key, cases.case_id,
        a.status, a.score, a.label, b.status, b.score, b.label,
        cases.metadata, cases.other_json, cases.ground_truth, cases.output
    FROM cases
    LEFT JOIN score_rows AS a ON a.case_key = cases.case_key AND a.scorer = ?4
    LEFT JOIN score_rows AS b ON b.case_key = cases.case_key AND b.scorer = ?5
    WHERE cases.case_key BETWEEN ?1 AND ?2 AND (?3 IS NULL OR +cases.node_id = ?3)
    ORDER BY cases.case_key";

impl Store {
    /// Calls `take` with each case of a run, or of one of its tasks, and the answers of these scorers, until it returns
    /// false.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn for_each_labelled(
        &self,
        run: RunKey,
        node: Option<&str>,
        scorer: ScorerKey,
        other: Option<ScorerKey>,
        mut take: impl FnMut(&LabelledCase) -> bool,
    ) -> Result<(), StoreError> {
        let (first, last) = CaseKey::bounds(run);
        self.bounded(|| {
            let mut query = self.conn.prepare_cached(CASES)?;
            let mut rows = query.query(params![first, last, node, scorer, other])?;
            let mut keys = Ascending::after(None);
            while let Some(row) = rows.next()? {
                keys.note(row.get::<_, CaseKey>(0)?)?;
                self.rows_read.fetch_add(1, Ordering::Relaxed);
                if !take(&labelled(row)?) {
                    break;
                }
            }
            Ok(())
        })
    }
}

fn labelled(row: &Row<'_>) -> rusqlite::Result<LabelledCase> {
    let json = |column: usize| {
        Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(column)?.map(Json::from))
    };
    let said = |column: usize| match row.get::<_, Option<Status>>(column)? {
        None => Ok::<_, rusqlite::Error>(None),
        Some(status) => {
            let (score, label) = (OnAScale::of(row.get(column + 1)?), row.get(column + 2)?);
            Ok(Some(LabelledRow { status, score, label }))
        }
    };
    Ok(LabelledCase {
        case_id: row.get(1)?,
        row: said(2)?,
        other: said(5)?,
        metadata: json(8)?,
        other_keys: json(9)?,
        ground_truth: json(10)?,
        output_characters: characters(row.get_ref(11)?.as_str_or_null()?.unwrap_or_default()),
    })
}

/// The characters of a text, or of the JSON if it is not a text.
fn characters(output: &str) -> u64 {
    let text = serde_json::from_str::<String>(output);
    text.as_deref().unwrap_or(output).chars().count() as u64
}

#[cfg(test)]
mod tests {
    use super::{
        super::{NewCase, Outcome, sample::*},
        *,
    };
    use crate::contract::{Field, Parts};

    #[test]
    fn a_case_comes_with_what_both_scorers_say_and_what_it_says_about_itself() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a", "b", "c"]);
        let scorers = writer.run().scorers.clone();
        let parts = Parts::NONE
            .with(Field::Metadata, r#"{"label":1}"#)
            .with(Field::GroundTruth, r#"{"score":0.5}"#);
        let key = added(&mut writer, &NewCase { parts, node_id: Some("n"), ..case(0, "x") });
        added(&mut writer, &case(1, "y"));
        let outcome = Outcome::Scored {
            score: 0.5,
            label: Some("half"),
            reason: None,
            meta: None,
            assertions: &[],
        };
        writer.add_score(key, scorers[0], &row(outcome)).unwrap();
        writer.add_score(key, scorers[1], &scored(1.0)).unwrap();
        writer.add_score(key, scorers[2], &error()).unwrap();
        let (store, run) = (writer.store(), writer.run().key);
        let read = |node, other| {
            let mut read = Vec::new();
            let taken = store.for_each_labelled(run, node, scorers[0], other, |case| {
                read.push(case.clone());
                true
            });
            taken.unwrap();
            read
        };
        let cases = read(None, Some(scorers[2]));
        let first =
            LabelledRow { status: Status::Scored, score: Some(0.5), label: Some("half".into()) };
        assert_eq!((cases[0].case_id.as_str(), &cases[0].row), ("x", &Some(first)));
        assert_eq!(cases[0].other.as_ref().map(|row| row.status), Some(Status::Error));
        assert_eq!(cases[0].metadata.as_ref().unwrap().get(), r#"{"label":1}"#);
        assert_eq!(cases[0].ground_truth.as_ref().unwrap().get(), r#"{"score":0.5}"#);
        assert_eq!(cases[0].output_characters, 5, "`Paris` without its quotes");
        assert_eq!(
            (cases[1].case_id.as_str(), &cases[1].row, &cases[1].other),
            ("y", &None, &None)
        );
        assert_eq!(read(Some("n"), None).len(), 1);
    }

    #[test]
    fn the_length_of_a_text_is_that_of_what_it_says_and_not_of_how_it_is_written() {
        for (output, length) in
            [(r#""\n\"\u00e9\ud83d\ude00""#, 4), (r#""""#, 0), ("[1, 2]", 6), ("null", 4), ("", 0)]
        {
            assert_eq!(characters(output), length, "{output}");
        }
    }

    #[test]
    fn nothing_is_sorted() {
        let (_folder, store) = database();
        let mut plan = store.conn.prepare(&format!("EXPLAIN QUERY PLAN {CASES}")).unwrap();
        let mut steps = plan.raw_query();
        while let Some(step) = steps.next().unwrap() {
            let step: String = step.get(3).unwrap();
            assert!(!step.contains("TEMP B-TREE"), "{step}");
        }
    }
}
