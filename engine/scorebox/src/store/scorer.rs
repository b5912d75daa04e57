//! The scorers of a run: what is stored of them, and how it is read. It knows nothing about their cases and scores.

#![expect(
    clippy::exhaustive_structs,
    reason = "who stores a new column must be shown by the compiler where it is to be filled in"
)]

use rusqlite::{Row, Transaction, named_params};
use serde::{Deserialize, Serialize};

use super::{RunKey, ScorerKey, Store, StoreError, component::keep, effort::Ascending};
use crate::{
    component_bytes::ComponentBytes,
    contract::{Direction, Scale, Severity},
    digest::Digest,
    judge::JudgeIdentity,
    verdict::{Policy, PolicyOverrides},
};

/// What is known about a run's scorer when the run starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScorerSpec {
    /// The suite's key for it: unique in the run, not empty, without `:`.
    pub scorer_id: String,
    /// For people.
    pub name: String,
    /// The id that the component declares.
    pub component_id: String,
    /// The version that the component declares.
    pub component_version: String,
    /// The digest of the component's bytes.
    pub component_digest: Digest,
    /// The component, to be stored; `None` if the spec was read, because its bytes are requested by digest
    /// ([`Store::component`]).
    #[serde(skip)]
    pub component: Option<ComponentBytes>,
    /// Where the bytes came from.
    pub component_origin: String,
    /// The configuration for `configure`, as JSON.
    pub config_json: String,
    /// The digest of the configuration.
    pub config_digest: Digest,
    /// Its limits, as JSON.
    pub limits_json: String,
    /// The grants that the user gave it, as a JSON array.
    pub grants_json: String,
    /// The answer of `describe`, as JSON.
    pub info_json: String,
    /// The range of its scores.
    pub scale: Scale,
    /// Which end of the scale is good.
    pub direction: Direction,
    /// How a score on the wrong side of the threshold counts.
    pub severity: Severity,
    /// The worst score that passes, if one is set.
    pub threshold: Option<f64>,
    /// The severity that the component declares.
    pub declared_severity: Severity,
    /// The threshold that the component declares.
    pub declared_threshold: Option<f64>,
    /// Whether the suite made the scorer soft, including the gates among its assertions.
    pub softened: bool,
    /// The weight of its scores in the score of a case; finite, 0 or more.
    pub weight: f64,
    /// Whether its errors make a case errored even if it is soft.
    pub required: bool,
    /// How often it runs, as JSON; `None`: on every case.
    pub sampling_json: Option<String>,
    /// The nodes whose cases it scores, as a JSON array of globs; `None`: all.
    pub nodes_json: Option<String>,
    /// The position in a case of the value that it is given as the output, as a JSON Pointer; `None`: the case's
    /// output.
    // Left out if it is not set, so that plans of older shards keep their digests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_from: Option<String>,
    /// The id of the scorer whose results it scores; `None`: it scores the cases.
    pub subject: Option<String>,
    /// Decides which cases it scores, by their content; `None`: all.
    pub condition: Option<ConditionSpec>,
    /// The properties that decide the answers of its judge, as JSON; `None`: it asks no judge.
    pub judge_json: Option<String>,
    /// Whether `configure` ran once and every score starts from the state after it.
    pub frozen: bool,
}

/// The `when` of a scorer: another scorer, which gives 1 to the cases that the scorer scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConditionSpec {
    /// The digest of the component's bytes.
    pub component_digest: Digest,
    /// The component, like [`ScorerSpec::component`].
    #[serde(skip)]
    pub component: Option<ComponentBytes>,
    /// The configuration for `configure`, as JSON.
    pub config_json: String,
    /// Its limits, as JSON.
    pub limits_json: String,
}

impl ScorerSpec {
    /// How its scores count.
    pub fn policy(&self) -> Policy {
        let declared = Policy::declared(self.severity, self.threshold, self.direction, self.scale);
        let says = PolicyOverrides {
            weight: Some(self.weight),
            required: Some(self.required),
            ..PolicyOverrides::default()
        };
        // Only a weight from a manual change of the file is refused.
        let policy = declared.overridden(&says).unwrap_or(declared);
        policy.softening_assertions(self.softened)
    }

    /// Whether it asks a judge whose answers are those of the judge with this identity, as JSON; with `None`, whether
    /// it asks no judge.
    pub fn asks_judge_like(&self, judge_json: Option<&str>) -> bool {
        match (self.judge_json.as_deref(), judge_json) {
            (Some(one), Some(other)) => one == other || answer_alike(one, other).unwrap_or(false),
            (one, other) => one == other,
        }
    }
}

/// Whether two judges, as JSON, give the same answers; `None` if one of them cannot be read.
fn answer_alike(one: &str, other: &str) -> Option<bool> {
    let one: JudgeIdentity = serde_json::from_str(one).ok()?;
    Some(one.answers_like(&serde_json::from_str(other).ok()?))
}

/// A stored scorer of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScorerRecord {
    /// Its key in this database.
    #[serde(skip)]
    pub key: ScorerKey,
    /// Its settings.
    #[serde(flatten)]
    pub spec: ScorerSpec,
}

impl Store {
    /// The scorers of a run, in the suite's order.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn scorers(&self, run: RunKey) -> Result<Vec<ScorerRecord>, StoreError> {
        self.brief(|| {
            let mut query =
                self.conn.prepare_cached("SELECT * FROM scorers WHERE run = ?1 ORDER BY scorer")?;
            let mut keys = Ascending::after(None);
            let record = |row: &Row<'_>| {
                keys.note(row.get::<_, ScorerKey>("scorer")?)?;
                scorer_record(row)
            };
            query.query_map([run], record)?.collect()
        })
    }

    /// Calls `take` with the scorers of all runs, or those with this id, in the order in which they were stored.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn for_each_scorer(
        &self,
        scorer_id: Option<&str>,
        mut take: impl FnMut(ScorerRecord),
    ) -> Result<(), StoreError> {
        self.bounded(|| {
            let mut query = self.conn.prepare_cached(
                "SELECT * FROM scorers WHERE ?1 IS NULL OR scorer_id = ?1 ORDER BY scorer",
            )?;
            let mut keys = Ascending::after(None);
            let mut rows = query.query([scorer_id])?;
            while let Some(row) = rows.next()? {
                keys.note(row.get::<_, ScorerKey>("scorer")?)?;
                take(scorer_record(row)?);
            }
            Ok(())
        })
    }

    /// The ids of the scorers of a run, or of all runs, in the suite's order, each once.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; the database cannot be read.
    pub fn scorer_ids(&self, run: Option<&str>) -> Result<Vec<String>, StoreError> {
        let run = run.map(|id| self.run(id).map(|run| run.key)).transpose()?;
        // As in `counts`.
        let of_run = if run.is_some() { "run = ?1" } else { "?1 IS NULL" };
        let sql = format!(
            "SELECT scorer_id FROM scorers WHERE {of_run} GROUP BY scorer_id ORDER BY min(scorer)"
        );
        self.brief(|| {
            let mut query = self.conn.prepare_cached(&sql)?;
            query.query_map([run], |row| row.get(0))?.collect()
        })
    }
}

pub(super) fn insert_scorer(
    change: &Transaction<'_>,
    run: RunKey,
    scorer: &ScorerSpec,
) -> rusqlite::Result<ScorerKey> {
    keep(change, scorer.component.as_ref())?;
    let condition = scorer.condition.as_ref();
    if let Some(condition) = condition {
        keep(change, condition.component.as_ref())?;
    }
    change.execute(
        "INSERT INTO scorers (run, scorer_id, name, component_id, component_version,
             component_digest, component_origin, config_json, config_digest, limits_json,
             info_json, scale, direction, severity, threshold, frozen, grants_json,
             declared_severity, declared_threshold, softened, weight, required, sampling_json,
             nodes_json, subject, condition_digest, condition_config_json, condition_limits_json,
             judge_json, output_from)
         VALUES (:run, :scorer_id, :name, :component_id, :component_version,
             :component_digest, :component_origin, :config_json, :config_digest, :limits_json,
             :info_json, :scale, :direction, :severity, :threshold, :frozen, :grants_json,
             :declared_severity, :declared_threshold, :softened, :weight, :required,
             :sampling_json, :nodes_json, :subject, :condition_digest, :condition_config_json,
             :condition_limits_json, :judge_json, :output_from)",
        named_params! {
            ":run": run,
            ":scorer_id": scorer.scorer_id,
            ":name": scorer.name,
            ":component_id": scorer.component_id,
            ":component_version": scorer.component_version,
            ":component_digest": scorer.component_digest,
            ":component_origin": scorer.component_origin,
            ":config_json": scorer.config_json,
            ":config_digest": scorer.config_digest,
            ":limits_json": scorer.limits_json,
            ":info_json": scorer.info_json,
            ":scale": scorer.scale,
            ":direction": scorer.direction,
            ":severity": scorer.severity,
            ":threshold": scorer.threshold,
            ":frozen": scorer.frozen,
            ":grants_json": scorer.grants_json,
            ":declared_severity": scorer.declared_severity,
            ":declared_threshold": scorer.declared_threshold,
            ":softened": scorer.softened,
            ":weight": scorer.weight,
            ":required": scorer.required,
            ":sampling_json": scorer.sampling_json,
            ":nodes_json": scorer.nodes_json,
            ":subject": scorer.subject,
            ":condition_digest": condition.map(|condition| condition.component_digest),
            ":condition_config_json": condition.map(|condition| &condition.config_json),
            ":condition_limits_json": condition.map(|condition| &condition.limits_json),
            ":judge_json": scorer.judge_json,
            ":output_from": scorer.output_from,
        },
    )?;
    Ok(ScorerKey(change.last_insert_rowid()))
}

/// Builds a record from the columns that are named like its fields, and from fields without a column.
macro_rules! from_columns {
    ($row:ident, $record:ident { $($field:ident),* $(,)? $(; $($other:ident: $value:expr),* $(,)?)? }) => {
        $record { $($field: $row.get(stringify!($field))?,)* $($($other: $value,)*)? }
    };
}

pub(super) use from_columns;

fn scorer_record(row: &Row<'_>) -> rusqlite::Result<ScorerRecord> {
    // An older scorebox stored the values in effect only, so they count as declared.
    let declared: Option<Severity> = row.get("declared_severity")?;
    let (declared_severity, declared_threshold) = match declared {
        Some(severity) => (severity, row.get("declared_threshold")?),
        None => (row.get("severity")?, row.get("threshold")?),
    };
    // After a manual change of the file, a part may be missing.
    let text = |column| row.get::<_, Option<String>>(column).map(Option::unwrap_or_default);
    let condition = match row.get("condition_digest")? {
        None => None,
        Some(component_digest) => Some(ConditionSpec {
            component_digest,
            component: None,
            config_json: text("condition_config_json")?,
            limits_json: text("condition_limits_json")?,
        }),
    };
    Ok(ScorerRecord {
        key: row.get("scorer")?,
        spec: from_columns!(row, ScorerSpec {
            scorer_id, name, component_id, component_version, component_digest, component_origin,
            config_json, config_digest, limits_json, grants_json, info_json, scale, direction,
            severity, threshold, softened, weight, required, sampling_json, nodes_json, output_from,
            subject, judge_json, frozen;
            condition: condition,
            component: None,
            declared_severity: declared_severity,
            declared_threshold: declared_threshold,
        }),
    })
}
