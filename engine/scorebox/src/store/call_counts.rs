//! Counts what the judges of a run's scorers answered, and what that consumed. It reads stored rows and calls; it
//! judges nothing.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Row, params};
use serde::Serialize;

use super::{
    CaseKey, RunKey, ScorerKey, Store, StoreError,
    run_calls::{Figures, figures},
};

/// The counts of one scorer's judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallCounts {
    /// The scorer.
    pub scorer_id: String,
    /// Answers that its scores are based on, and those that it asked for and of which no score is stored.
    pub calls: u64,
    /// Those that were recorded before the run asked.
    pub recorded: u64,
    /// Attempts beyond the first, for the questions that were asked.
    pub retries: u64,
    /// Tokens of the questions that were asked, as far as they are known.
    pub input_tokens: u64,
    /// Tokens of the answers to them.
    pub output_tokens: u64,
    /// Questions that were asked and whose tokens are not known: the provider does not count them, or the answer is not
    /// recorded.
    pub tokens_unknown: u64,
    /// The cost in US dollars, as far as it is known; `None` if no cost is known.
    pub cost_usd: Option<f64>,
    /// Questions that were asked and whose cost is not known.
    pub cost_unknown: u64,
    /// Rows with an answer that the scorer could not read: errors, and scores with `"unreadable": true` in their `meta`
    /// or in that of a juror.
    pub unreadable: u64,
    /// Rows without a score because a question has no answer.
    pub unanswered: u64,
    /// Scores with the label `tie`.
    pub ties: u64,
    /// Scores with the label `disagreement`: the judge answered differently when it was asked in another order.
    pub disagreements: u64,
    /// Jurors who had no vote in some of the scores, or a 0 because their answer could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub silent_jurors: Vec<SilentJuror>,
}

/// A juror, and how often it had no valid vote.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SilentJuror {
    /// The judge's name.
    pub judge: String,
    /// The model that is asked.
    pub model: String,
    /// Whether another juror has the same model from another judge, so that the model does not name this one.
    #[serde(skip)]
    pub shares_model: bool,
    /// The jury's scores.
    pub scores: u64,
    /// Scores in which it has no vote.
    pub without_vote: u64,
    /// Scores in which its vote is a 0 because the scorer could not read its answer.
    pub unreadable: u64,
}

impl Store {
    /// What the judges of a run answered, by scorer, in the suite's order. Scorers that ask no judge are omitted.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn call_counts(&self, run: RunKey) -> Result<Vec<CallCounts>, StoreError> {
        self.bounded(|| {
            let mut judged = self.conn.prepare_cached(
                "SELECT scorer, scorer_id FROM scorers
                 WHERE run = ?1 AND judge_json IS NOT NULL ORDER BY scorer",
            )?;
            let mut rows = judged.query([run])?;
            let mut counts = Vec::new();
            while let Some(row) = rows.next()? {
                let mut of_scorer = self.consumed(run, row.get(0)?)?;
                self.add_outcomes(run, row.get(0)?, &mut of_scorer)?;
                of_scorer.silent_jurors = self.silent_jurors(run, row.get(0)?)?;
                of_scorer.scorer_id = row.get(1)?;
                counts.push(of_scorer);
            }
            Ok(counts)
        })
    }

    /// The models that the scorers of a run asked, by scorer, from their recorded questions.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn models_asked(
        &self,
        run: RunKey,
    ) -> Result<BTreeMap<String, BTreeSet<String>>, StoreError> {
        let (first, last) = CaseKey::bounds(run);
        self.bounded(|| {
            let mut query = self.conn.prepare_cached(
                "SELECT DISTINCT scorer_id, call_json ->> '$.question.model' AS model
                 FROM score_calls
                 JOIN scorers ON scorers.scorer = score_calls.scorer
                 JOIN calls ON calls.digest = score_calls.digest
                     AND calls.reply_digest = score_calls.reply_digest
                 WHERE score_calls.case_key BETWEEN ?1 AND ?2 AND json_valid(call_json)
                     AND json_type(call_json, '$.question.model') = 'text'",
            )?;
            let mut rows = query.query([first, last])?;
            let mut models: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            while let Some(row) = rows.next()? {
                models.entry(row.get(0)?).or_default().insert(row.get(1)?);
            }
            Ok(models)
        })
    }

    /// What one scorer asked: the calls of its rows, and those of scores that have none.
    fn consumed(&self, run: RunKey, scorer: ScorerKey) -> rusqlite::Result<CallCounts> {
        let (of_rows, others) =
            (self.figures_of_rows(run, scorer)?, self.figures_of_no_score(scorer)?);
        let figures: Figures = std::array::from_fn(|at| of_rows[at] + others[at]);
        // Counts of rows and tokens are far below 2^53.
        let count = |at: usize| figures[at] as u64;
        let (calls, recorded, cost_unknown) = (count(0), count(1), count(6));
        let is_known = cost_unknown == 0 || calls.saturating_sub(recorded) > cost_unknown;
        Ok(CallCounts {
            calls,
            recorded,
            retries: count(2),
            input_tokens: count(3),
            output_tokens: count(4),
            tokens_unknown: count(7),
            cost_usd: is_known.then_some(figures[5]),
            cost_unknown,
            ..CallCounts::default()
        })
    }

    fn figures_of_rows(&self, run: RunKey, scorer: ScorerKey) -> rusqlite::Result<Figures> {
        let (first, last) = CaseKey::bounds(run);
        let mut query = self.conn.prepare_cached(
            "SELECT count(*), total(is_recorded), total(iif(is_recorded, 0, attempts - 1)),
                 total(iif(is_recorded, 0, input_tokens)), total(iif(is_recorded, 0, output_tokens)),
                 total(iif(is_recorded, 0, cost_usd)), total(NOT is_recorded AND cost_usd IS NULL),
                 total(NOT is_recorded AND (input_tokens IS NULL OR output_tokens IS NULL))
             FROM score_calls
             LEFT JOIN calls ON calls.digest = score_calls.digest
                 AND calls.reply_digest = score_calls.reply_digest
             WHERE score_calls.case_key BETWEEN ?1 AND ?2 AND score_calls.scorer = ?3",
        )?;
        query.query_row(params![first, last, scorer], figures)
    }

    fn silent_jurors(&self, run: RunKey, scorer: ScorerKey) -> rusqlite::Result<Vec<SilentJuror>> {
        let (first, last) = CaseKey::bounds(run);
        let mut query = self.conn.prepare_cached(
            "SELECT coalesce(vote.value ->> '$.judge', ''), coalesce(vote.value ->> '$.model', ''), count(*),
                 total(vote.value ->> '$.error' IS NOT NULL) AS without,
                 total(vote.value ->> '$.meta.unreadable' IS TRUE) AS unreadable
             FROM (SELECT meta_json FROM score_rows
                 WHERE case_key BETWEEN ?1 AND ?2 AND scorer = ?3 AND json_valid(meta_json)
                     AND json_type(meta_json, '$.jury.votes') = 'array') AS scored,
                 json_each(scored.meta_json, '$.jury.votes') AS vote
             WHERE vote.type = 'object'
             GROUP BY 1, 2 ORDER BY 1, 2",
        )?;
        let jurors = query.query_map(params![first, last, scorer], |row| {
            Ok(SilentJuror {
                judge: row.get(0)?,
                model: row.get(1)?,
                shares_model: false,
                scores: count(row, 2)?,
                without_vote: count(row, 3)?,
                unreadable: count(row, 4)?,
            })
        })?;
        let jurors = jurors.collect::<rusqlite::Result<Vec<SilentJuror>>>()?;
        let mut of_model: BTreeMap<&str, usize> = BTreeMap::new();
        jurors.iter().for_each(|juror| *of_model.entry(&juror.model).or_default() += 1);
        let is_silent = |juror: &&SilentJuror| juror.without_vote > 0 || juror.unreadable > 0;
        let named = |juror: &SilentJuror| SilentJuror {
            shares_model: of_model[juror.model.as_str()] > 1,
            ..juror.clone()
        };
        Ok(jurors.iter().filter(is_silent).map(named).collect())
    }

    /// Adds the outcomes of one scorer's rows.
    fn add_outcomes(
        &self,
        run: RunKey,
        scorer: ScorerKey,
        counts: &mut CallCounts,
    ) -> rusqlite::Result<()> {
        let (first, last) = CaseKey::bounds(run);
        let mut query = self.conn.prepare_cached(
            "SELECT total(error_kind = 'judge-unreadable'
                     OR (status = 'scored' AND json_valid(meta_json) AND (meta_json ->> '$.unreadable' IS TRUE
                         OR (json_type(meta_json, '$.jury.votes') = 'array' AND EXISTS (
                             SELECT 1 FROM json_each(meta_json, '$.jury.votes') AS vote
                             WHERE vote.type = 'object' AND vote.value ->> '$.meta.unreadable' IS TRUE))))),
                 total(error_kind LIKE 'judge-%' AND error_kind <> 'judge-unreadable'),
                 total(status = 'scored' AND label = 'tie'),
                 total(status = 'scored' AND label = 'disagreement')
             FROM score_rows WHERE case_key BETWEEN ?1 AND ?2 AND scorer = ?3",
        )?;
        query.query_row(params![first, last, scorer], |row| {
            counts.unreadable = count(row, 0)?;
            counts.unanswered = count(row, 1)?;
            counts.ties = count(row, 2)?;
            counts.disagreements = count(row, 3)?;
            Ok(())
        })
    }
}

/// A count, which SQLite sums as a floating-point number so that it does not overflow.
fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    // Counts of rows and tokens are far below 2^53.
    row.get::<_, f64>(column).map(|number| number as u64)
}
