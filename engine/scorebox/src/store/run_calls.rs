//! What a run asked judges, whatever is stored of its scores: a score that ended without a row has asked too. Asks no
//! judge.

use rusqlite::{Connection, Row, params};

use super::{RunKey, ScorerKey, Store, StoreError, calls};
use crate::judge::{AskedBy, Recording};

/// An answer that a run asked for and that no score of it is based on: the score ended before it could be stored.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnscoredCall {
    /// The scorer that asked.
    pub scorer_id: String,
    /// The call and its answer.
    pub recording: Recording,
}

/// The figures of a scorer's answers, in the order of the columns of [`OF_NO_SCORE`].
pub(super) type Figures = [f64; 8];

/// What a scorer had answered for it more often than its rows say that they asked. A row that found such an answer
/// recorded is based on one that its own run asked for, so that it is not one of those that were recorded before.
const OF_NO_SCORE: &str = "
    WITH asked AS (
        SELECT digest, reply_digest, times - (
            SELECT count(*) FROM score_calls WHERE score_calls.digest = run_calls.digest
                AND score_calls.reply_digest = run_calls.reply_digest AND score_calls.scorer = ?1
                AND NOT is_recorded) AS more
        FROM run_calls WHERE scorer = ?1),
    more_often AS (
        SELECT calls.*, more, min(more, (
            SELECT count(*) FROM score_calls WHERE score_calls.digest = asked.digest
                AND score_calls.reply_digest = asked.reply_digest AND score_calls.scorer = ?1
                AND is_recorded)) AS found_later
        FROM asked JOIN calls ON calls.digest = asked.digest AND calls.reply_digest = asked.reply_digest
        WHERE more > 0)
    SELECT total(more - found_later), -total(found_later), total(more * (attempts - 1)),
        total(more * input_tokens), total(more * output_tokens), total(more * cost_usd),
        total(iif(cost_usd IS NULL, more, 0)),
        total(iif(input_tokens IS NULL OR output_tokens IS NULL, more, 0))
    FROM more_often";

impl Store {
    /// Keeps recordings in one transaction, with who had the questions answered.
    pub(super) fn keep_answers<'a>(
        &self,
        answers: impl Iterator<Item = (&'a Recording, Option<&'a AskedBy>)>,
    ) -> Result<(), StoreError> {
        let all = || {
            let change = self.conn.unchecked_transaction()?;
            for (recording, by) in answers {
                calls::insert(&change, recording)?;
                by.map_or(Ok(()), |by| keep(&change, recording, by))?;
            }
            change.commit()
        };
        self.explained(all())
    }

    /// Calls `take` with each answer that a run asked for and that no score of it is based on, by scorer and in the
    /// order in which they were given.
    ///
    /// # Errors
    /// Troubles of reading; damage, if a recording is not what its digests say.
    pub fn for_each_unscored_call(
        &self,
        run: RunKey,
        mut take: impl FnMut(UnscoredCall),
    ) -> Result<(), StoreError> {
        self.bounded(|| {
            let sql = format!(
                "SELECT {}, scorer_id FROM (
                     SELECT calls.*, run_calls.scorer, scorers.scorer_id FROM scorers
                     JOIN run_calls ON run_calls.scorer = scorers.scorer
                     JOIN calls ON calls.digest = run_calls.digest AND calls.reply_digest = run_calls.reply_digest
                     WHERE scorers.run = ?1 AND NOT EXISTS (
                         SELECT 1 FROM score_calls WHERE score_calls.digest = run_calls.digest
                             AND score_calls.reply_digest = run_calls.reply_digest
                             AND score_calls.scorer = run_calls.scorer))
                 ORDER BY scorer, answered_at_ms, call",
                calls::COLUMNS
            );
            let mut query = self.conn.prepare_cached(&sql)?;
            let mut rows = query.query([run])?;
            while let Some(row) = rows.next()? {
                let scorer_id = row.get("scorer_id")?;
                take(UnscoredCall { scorer_id, recording: calls::recording(row)? });
            }
            Ok(())
        })
    }

    /// The figures of what one scorer asked beyond what its rows say.
    pub(super) fn figures_of_no_score(&self, scorer: ScorerKey) -> rusqlite::Result<Figures> {
        let mut query = self.conn.prepare_cached(OF_NO_SCORE)?;
        query.query_row([scorer], figures)
    }
}

/// Stores who had a question answered. A run that is not in this database keeps nothing here.
fn keep(conn: &Connection, recording: &Recording, by: &AskedBy) -> rusqlite::Result<()> {
    let mut statement = conn.prepare_cached(
        "INSERT INTO run_calls (scorer, digest, reply_digest, times)
         SELECT scorer, ?3, ?4, ?5 FROM scorers JOIN runs ON runs.run = scorers.run
         WHERE runs.id = ?1 AND scorer_id = ?2
         ON CONFLICT (scorer, digest, reply_digest) DO UPDATE SET times = times + excluded.times",
    )?;
    let (call, reply) = (recording.call.digest(), recording.reply_digest());
    statement.execute(params![&*by.run, &*by.scorer, call, reply, by.is_asked_now])?;
    Ok(())
}

/// The columns of a row of figures. The first is counted as an integer.
pub(super) fn figures(row: &Row<'_>) -> rusqlite::Result<Figures> {
    let mut figures = Figures::default();
    for (column, figure) in figures.iter_mut().enumerate() {
        *figure = row.get(column)?;
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{NewScore, RunWriter, sample::*},
        *,
    };
    use crate::judge::{Call, Generation, Question, Reply, ScoreCall};

    /// An answer that costs a dollar.
    fn answer(text: &str) -> Recording {
        let call = Call {
            provider: "openai".into(),
            place: "http://a/v1".into(),
            question: Question::Generate(Generation {
                model: text.into(),
                ..Generation::default()
            }),
            iteration: 0,
            attempt: 0,
        };
        let reply = Reply::Text { text: text.into(), truncated: false };
        Recording::new(call, reply, "m".into()).with_cost_usd(Some(1.0))
    }

    fn kept(store: &Store, answer: &Recording, by: &AskedBy) {
        store.keep_answers([(answer, Some(by))].into_iter()).unwrap();
    }

    /// A row of the case with this number that is based on these answers, recorded before or not.
    fn scored_from(writer: &mut RunWriter, ordinal: u64, answers: &[(&Recording, bool)]) {
        let key = added(writer, &case(ordinal, &ordinal.to_string()));
        let calls = answers.iter().map(|(answer, is_recorded)| {
            ScoreCall::new(answer.call.digest(), answer.reply_digest(), *is_recorded)
        });
        let calls: Vec<ScoreCall> = calls.collect();
        let scorer = writer.run().scorers[0];
        writer.add_score(key, scorer, &NewScore { calls: &calls, ..scored(1.0) }).unwrap();
        writer.commit().unwrap();
    }

    /// A run of the scorer `a`, which asks a judge.
    fn asking(store: Store, id: &str) -> RunWriter {
        let mut store = store;
        let judged = super::super::ScorerSpec { judge_json: Some("{}".into()), ..scorer("a") };
        let handle = store.create_run(&run(id), &[judged], &session()).unwrap();
        RunWriter::new(store, handle)
    }

    /// Answers, those that were recorded before, and the dollars.
    fn figures_of(writer: &RunWriter) -> (u64, u64, Option<f64>) {
        let counts = writer.store().call_counts(writer.run().key).unwrap().remove(0);
        (counts.calls, counts.recorded, counts.cost_usd)
    }

    fn unscored(writer: &RunWriter) -> Vec<Recording> {
        let mut calls = Vec::new();
        let run = writer.run().key;
        writer.store().for_each_unscored_call(run, |call| calls.push(call.recording)).unwrap();
        calls
    }

    #[test]
    fn an_answer_counts_once_whether_or_not_a_row_is_based_on_it() {
        let (folder, store) = database();
        let path = folder.path().join("scores.db");
        let mut writer = asking(store, "r");
        let calls = Store::open(&path).unwrap();
        let (first, second) = (answer("first"), answer("second"));
        let by = AskedBy::new("r", "a");
        kept(&calls, &first, &by);
        kept(&calls, &second, &by);
        assert_eq!(figures_of(&writer), (2, 0, Some(2.0)));
        assert_eq!(unscored(&writer).len(), 2);
        scored_from(&mut writer, 0, &[(&first, false)]);
        assert_eq!(
            (figures_of(&writer), unscored(&writer)),
            ((2, 0, Some(2.0)), vec![second.clone()])
        );
        // A later session found it recorded, and so did another case with the same question.
        scored_from(&mut writer, 1, &[(&second, true)]);
        scored_from(&mut writer, 2, &[(&second, true)]);
        assert_eq!((figures_of(&writer), unscored(&writer)), ((3, 1, Some(2.0)), vec![]));
        // It was asked again, and answered the same.
        kept(&calls, &second, &by);
        assert_eq!(figures_of(&writer), (3, 0, Some(3.0)));
    }

    #[test]
    fn an_answer_of_a_file_and_one_for_a_run_that_is_not_here_cost_nothing() {
        let (folder, store) = database();
        let writer = asking(store, "r");
        let calls = Store::open(folder.path().join("scores.db")).unwrap();
        let of_file = AskedBy { is_asked_now: false, ..AskedBy::new("r", "a") };
        kept(&calls, &answer("of a file"), &of_file);
        kept(&calls, &answer("elsewhere"), &AskedBy::new("s", "a"));
        kept(&calls, &answer("of no scorer"), &AskedBy::new("r", "b"));
        assert_eq!(figures_of(&writer), (0, 0, Some(0.0)));
        assert_eq!(unscored(&writer), [answer("of a file")]);
    }

    #[test]
    fn a_recording_goes_with_the_last_run_that_asked_for_it_or_is_based_on_it() {
        let (folder, store) = database();
        let path = folder.path().join("scores.db");
        let [mine, shared, asked] = ["mine", "shared", "asked"].map(answer);
        drop(asking(store, "goes"));
        let mut stays = asking(Store::open(&path).unwrap(), "stays");
        let mut store = Store::open(&path).unwrap();
        for answer in [&mine, &shared, &asked] {
            kept(&store, answer, &AskedBy::new("goes", "a"));
        }
        kept(&store, &asked, &AskedBy::new("stays", "a"));
        scored_from(&mut stays, 0, &[(&shared, true)]);
        drop(stays);
        let left = |store: &Store| -> Vec<String> {
            let mut calls =
                store.conn.prepare("SELECT reply_json FROM calls ORDER BY call").unwrap();
            calls.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        store.remove_runs(&["goes"], 1, |_| {}).unwrap();
        let texts = left(&store);
        assert!(
            texts.len() == 2 && texts[0].contains("shared") && texts[1].contains("asked"),
            "{texts:?}"
        );
        store.remove_runs(&["stays"], 1, |_| {}).unwrap();
        assert_eq!(left(&store), [""; 0]);
        let links =
            store.conn.query_row("SELECT count(*) FROM run_calls", [], |row| row.get::<_, i64>(0));
        assert_eq!(links.unwrap(), 0);
    }
}
