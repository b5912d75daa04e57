//! Which score rows a reader requests, translated to conditions on the tables. It runs no query.

use rusqlite::types::Value;

use super::{CaseKey, RunKey, ScorerKey};

/// Which score rows are selected: those that meet all conditions that are set here.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ScoreFilter {
    /// Of the run with this id.
    pub run: Option<String>,
    /// Of cases of this task.
    pub node: Option<String>,
    /// By the scorer with this id.
    pub scorer: Option<String>,
    /// Of cases with this id, all iterations and attempts.
    pub case: Option<String>,
    /// That are errors, or that do not meet a requirement, gate or soft: the scorer's threshold, or an assertion of the
    /// score.
    pub failed: bool,
    /// That are errors.
    pub errors: bool,
    /// With a score less than this.
    pub below: Option<f64>,
}

impl ScoreFilter {
    /// All rows of the run with this id.
    pub fn of_run(run: impl Into<String>) -> ScoreFilter {
        ScoreFilter { run: Some(run.into()), ..ScoreFilter::default() }
    }

    /// The same with this [`node`](ScoreFilter::node).
    #[must_use]
    pub fn with_node(mut self, node: impl Into<Option<String>>) -> ScoreFilter {
        self.node = node.into();
        self
    }

    /// The same with this [`scorer`](ScoreFilter::scorer).
    #[must_use]
    pub fn with_scorer(mut self, scorer: impl Into<Option<String>>) -> ScoreFilter {
        self.scorer = scorer.into();
        self
    }

    /// The same with this [`case`](ScoreFilter::case).
    #[must_use]
    pub fn with_case(mut self, case: impl Into<Option<String>>) -> ScoreFilter {
        self.case = case.into();
        self
    }

    /// The same with this [`failed`](ScoreFilter::failed).
    #[must_use]
    pub fn with_failed(mut self, failed: bool) -> ScoreFilter {
        self.failed = failed;
        self
    }

    /// The same with this [`errors`](ScoreFilter::errors).
    #[must_use]
    pub fn with_errors(mut self, errors: bool) -> ScoreFilter {
        self.errors = errors;
        self
    }

    /// The same with this [`below`](ScoreFilter::below).
    #[must_use]
    pub fn with_below(mut self, below: impl Into<Option<f64>>) -> ScoreFilter {
        self.below = below.into();
        self
    }
}

/// A position in the order of score rows: run, then case, then scorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScoreCursor {
    pub(super) case: CaseKey,
    pub(super) scorer: ScorerKey,
}

impl ScoreCursor {
    /// The position of the row of this case and scorer.
    pub fn new(case: CaseKey, scorer: ScorerKey) -> ScoreCursor {
        ScoreCursor { case, scorer }
    }

    /// The case of the row.
    pub fn case(&self) -> CaseKey {
        self.case
    }

    /// The scorer of the row.
    pub fn scorer(&self) -> ScorerKey {
        self.scorer
    }
}

/// The opposite of what `verdict::Policy` checks, in SQL: gates from 0 to 1, and gates among the assertions, require
/// the best score if they have no threshold.
const FAILED: &str = "(score_rows.status = 'error' OR EXISTS (
    SELECT 1 FROM scorers WHERE scorers.scorer = score_rows.scorer AND CASE scorers.direction
        WHEN 'lower-is-better' THEN score_rows.score > coalesce(scorers.threshold,
            CASE WHEN scorers.severity = 'gate' AND scorers.scale = 'unit' THEN 0.0 END)
        ELSE score_rows.score < coalesce(scorers.threshold,
            CASE WHEN scorers.severity = 'gate' AND scorers.scale = 'unit' THEN 1.0 END)
    END) OR EXISTS (
    SELECT 1 FROM json_each(score_rows.assertions_json) AS assertions
    WHERE json_extract(assertions.value, '$.score') < coalesce(
        json_extract(assertions.value, '$.threshold'),
        CASE json_extract(assertions.value, '$.severity') WHEN 'gate' THEN 1.0 END)))";

/// Conditions on `score_rows`, and the values for their `?`s, in order.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    terms: Vec<&'static str>,
    pub(super) values: Vec<Value>,
}

impl Conditions {
    /// The conditions of `filter`, whose run, if it names one, has the key `run`; only for rows after `after`.
    pub(super) fn of(
        filter: &ScoreFilter,
        run: Option<RunKey>,
        after: Option<ScoreCursor>,
    ) -> Conditions {
        let mut found = Conditions::default();
        found.keys(run, after);
        found.cases(filter, run);
        if let Some(scorer) = &filter.scorer {
            found.scorer(scorer, run);
        }
        if filter.failed {
            found.add(FAILED, []);
        }
        if filter.errors {
            // The exact condition of the partial index, which SQLite uses only then.
            found.add("score_rows.status = 'error'", []);
        }
        if let Some(score) = filter.below {
            found.add("score_rows.score < ?", [Value::Real(score)]);
        }
        found
    }

    /// ` WHERE …`, or nothing.
    pub(super) fn sql(&self) -> String {
        match self.terms.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", self.terms.join(" AND ")),
        }
    }

    pub(super) fn add<const N: usize>(&mut self, term: &'static str, values: [Value; N]) {
        self.terms.push(term);
        self.values.extend(values);
    }

    /// Adds the range of keys, so that a page begins where the last one ended and no row is read twice. It is added
    /// even if it covers all rows: SQLite counts a table without a condition in one step, in which a damaged file can
    /// lead it in circles without reaching the limit on steps.
    fn keys(&mut self, run: Option<RunKey>, after: Option<ScoreCursor>) {
        let (mut first, last) = run.map_or((i64::MIN, i64::MAX), CaseKey::bounds);
        if let Some(after) = after {
            first = first.max(after.case.0);
        }
        let range = [Value::Integer(first), Value::Integer(last)];
        self.add("score_rows.case_key BETWEEN ? AND ?", range);
        if let Some(after) = after {
            let place = [Value::Integer(after.case.0), Value::Integer(after.scorer.0)];
            self.add("(score_rows.case_key, score_rows.scorer) > (?, ?)", place);
        }
    }

    fn cases(&mut self, filter: &ScoreFilter, run: Option<RunKey>) {
        if let Some(node) = &filter.node {
            let (first, last) = run.map_or((i64::MIN, i64::MAX), CaseKey::bounds);
            self.add(
                "score_rows.case_key IN (
                    SELECT case_key FROM cases WHERE node_id = ? AND case_key BETWEEN ? AND ?)",
                [Value::Text(node.clone()), Value::Integer(first), Value::Integer(last)],
            );
        }
        if let Some(case) = &filter.case {
            let case = Value::Text(case.clone());
            match run {
                Some(run) => self.add(
                    "score_rows.case_key IN (
                        SELECT case_key FROM cases WHERE case_id = ? AND run = ?)",
                    [case, Value::Integer(run.0)],
                ),
                // The list of runs makes SQLite use the index, which begins with the run.
                None => self.add(
                    "score_rows.case_key IN (
                        SELECT case_key FROM cases
                        WHERE case_id = ? AND run IN (SELECT run FROM runs))",
                    [case],
                ),
            }
        }
    }

    fn scorer(&mut self, scorer: &str, run: Option<RunKey>) {
        let scorer = Value::Text(scorer.to_owned());
        match run {
            Some(run) => self.add(
                "score_rows.scorer IN (SELECT scorer FROM scorers WHERE scorer_id = ? AND run = ?)",
                [scorer, Value::Integer(run.0)],
            ),
            None => self.add(
                "score_rows.scorer IN (SELECT scorer FROM scorers WHERE scorer_id = ?)",
                [scorer],
            ),
        }
    }
}
