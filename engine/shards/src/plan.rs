//! Defines what a run is scored with: suite, scorers, versions. Every shard of a run contains the plan, and every row
//! its digest. Loads no scorer.

use std::collections::HashSet;

use arrow_schema::SchemaRef;
use scorebox::{
    digest::Digest,
    run::{ReadyScorer, stored_plan},
    sandbox::LoadedScorer,
    store::{RunId, RunSource, RunSpec, ScorerSpec},
    suite::Suite,
    verify::{Difference as VerifyDifference, plan_differences},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::{self, SCHEMA_VERSION};

/// What the rows of a run were computed with. Two machines with the same suite, the same components and the same
/// scorebox have the same plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Plan {
    /// The version of the schema of the rows: [`SCHEMA_VERSION`].
    pub version: u32,
    /// The run that the rows belong to.
    pub run_id: String,
    /// The version of scorebox.
    pub engine_version: String,
    /// The version of wasmtime in scorebox.
    pub wasmtime_version: String,
    /// The version of the scorer contract.
    pub contract_version: String,
    /// The name of the suite.
    pub suite_name: Option<String>,
    /// The suite, in the form that is stored with a run.
    pub suite_json: String,
    /// The digest of the suite.
    pub suite_digest: Digest,
    /// The seed of sampling.
    pub seed: Option<String>,
    /// The scorers, in the suite's order; without the bytes of their components.
    pub scorers: Vec<ScorerSpec>,
    /// The scorers that summarize all rows of a run; shards contain no summaries.
    pub summaries: Vec<String>,
}

impl Plan {
    /// The plan of a run of this suite with these scorers.
    pub fn new(run: &RunId, suite: &Suite, scorers: &[ReadyScorer]) -> Plan {
        let (spec, mut specs) = stored_plan(run, suite, scorers);
        specs.iter_mut().for_each(without_bytes);
        let summarizes = |ready: &&ReadyScorer| LoadedScorer::summarizes(&ready.scorer);
        Plan {
            version: SCHEMA_VERSION,
            run_id: run.to_string(),
            engine_version: spec.engine_version,
            wasmtime_version: spec.wasmtime_version,
            contract_version: spec.contract_version,
            suite_name: spec.suite_name,
            suite_json: spec.suite_json,
            suite_digest: spec.suite_digest,
            seed: spec.seed,
            scorers: specs,
            summaries: scorers.iter().filter(summarizes).map(|it| it.id.to_string()).collect(),
        }
    }

    /// The id of a run without a given one: the same on each machine that has the suite.
    pub fn default_run_id(suite: &Suite) -> String {
        let allowed = |it: char| it.is_ascii_alphanumeric() || ".-_".contains(it);
        let name: String =
            suite.name.chars().map(|it| if allowed(it) { it } else { '-' }).take(48).collect();
        format!("{name}-{}", suite.digest().short())
    }

    /// The digest that rows contain. Where a component's file was found and how fast it starts do not count.
    pub fn digest(&self) -> Digest {
        let mut plan = self.clone();
        for scorer in &mut plan.scorers {
            scorer.component_origin.clear();
            scorer.frozen = false;
        }
        Digest::of(plan.to_json().as_bytes())
    }

    /// The schema of results that are scored with this plan.
    pub(crate) fn schema(&self) -> SchemaRef {
        schema::schema(self.to_json())
    }

    fn to_json(&self) -> String {
        // It consists of texts, numbers and lists, so this cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What differs from another plan, as text; `None` if nothing relevant does.
    pub fn difference(&self, other: &Plan) -> Option<String> {
        if self.digest() == other.digest()
            || self.without_names_of_components().digest()
                == other.without_names_of_components().digest()
        {
            return None;
        }
        let pairs = [
            ("the version of scorebox", &self.engine_version, &other.engine_version),
            ("the version of wasmtime", &self.wasmtime_version, &other.wasmtime_version),
            ("the contract's version", &self.contract_version, &other.contract_version),
            ("the id of the run", &self.run_id, &other.run_id),
        ];
        for (what, one, other) in pairs {
            if one != other {
                return Some(format!("{what} is `{one}` and `{other}`"));
            }
        }
        let names = |plan: &Plan| {
            plan.scorers.iter().map(|it| it.scorer_id.as_str()).collect::<Vec<_>>().join(", ")
        };
        if names(self) != names(other) {
            return Some(format!("the scorers are {} and {}", names(self), names(other)));
        }
        for (one, other) in self.scorers.iter().zip(&other.scorers) {
            if one.component_digest != other.component_digest {
                let (was, is) = (one.component_digest.short(), other.component_digest.short());
                let id = &one.scorer_id;
                return Some(format!("the component of `{id}` is {was}… and {is}…"));
            }
            if one.config_digest != other.config_digest {
                return Some(format!("the configuration of `{}` differs", one.scorer_id));
            }
        }
        if let (Some(one), Some(of_other)) = (&self.seed, &other.seed)
            && one != of_other
            && self.is_of_the_same_suite(other)
        {
            return Some(format!("the seed is `{one}` and `{of_other}`"));
        }
        let (one, other) = (self.suite_digest.short(), other.suite_digest.short());
        Some(match one == other {
            true => "their plans differ".to_owned(),
            false => format!("the suite is {one}… and {other}…"),
        })
    }

    /// The same for a plan of the same suite. The run, the versions that it was scored with, and the seed, which an
    /// option may have replaced, do not count.
    pub(crate) fn difference_of_suite(&self, other: &Plan) -> Option<String> {
        let mut other = other.clone();
        other.version = self.version;
        other.run_id.clone_from(&self.run_id);
        other.engine_version.clone_from(&self.engine_version);
        other.wasmtime_version.clone_from(&self.wasmtime_version);
        other.contract_version.clone_from(&self.contract_version);
        if self.is_of_the_same_suite(&other) {
            other.seed.clone_from(&self.seed);
            other.suite_json.clone_from(&self.suite_json);
            other.suite_digest = self.suite_digest;
        }
        self.difference(&other)
    }

    /// Whether both plans have the same suite, whatever its seed is.
    fn is_of_the_same_suite(&self, other: &Plan) -> bool {
        let without_seed = |plan: &Plan| {
            let mut suite = plan.suite_without_names_of_components()?;
            suite.as_object_mut()?.remove("seed");
            Some(suite)
        };
        without_seed(self).is_some_and(|suite| without_seed(other) == Some(suite))
    }

    /// The same plan without the names that the suite uses for its components: the plan contains their digests, which
    /// identify them, and one file can have many names.
    fn without_names_of_components(&self) -> Plan {
        let mut plan = self.clone();
        // A suite that does not match its digest is compared as it is.
        let is_whole = Digest::of(self.suite_json.as_bytes()) == self.suite_digest;
        if let Some(suite) = self.suite_without_names_of_components().filter(|_| is_whole) {
            plan.suite_json = suite.to_string();
            plan.suite_digest = Digest::of(plan.suite_json.as_bytes());
        }
        plan
    }

    fn suite_without_names_of_components(&self) -> Option<Value> {
        let mut suite: Value = serde_json::from_str(&self.suite_json).ok()?;
        for scorer in suite.get_mut("scorers")?.as_array_mut()? {
            scorer.as_object_mut()?.remove("use");
        }
        Some(suite)
    }

    /// What is wrong with the plan, as text, because any program may have written it: what no suite can define, and
    /// where the plan contradicts itself. `None` if nothing is wrong.
    pub(crate) fn fault(&self) -> Option<String> {
        if let Some(id) = self.repeated_scorer() {
            return Some(format!("its plan names the scorer `{id}` twice"));
        }
        for ScorerSpec { scorer_id: id, weight, config_json, config_digest, .. } in &self.scorers {
            if id.is_empty() || id.contains(':') {
                return Some(format!("its plan names a scorer `{id}`, which no suite can"));
            }
            if !(weight.is_finite() && *weight >= 0.0) {
                return Some(format!(
                    "its plan gives `{id}` the weight {weight}, which must be 0 or more"
                ));
            }
            if Digest::of(config_json.as_bytes()) != *config_digest {
                return Some(format!("the configuration of `{id}` is not the one of its digest"));
            }
        }
        let suite = (self.suite_json.as_str(), self.suite_digest);
        let contradictions = plan_differences(suite, self.seed.as_deref(), &self.scorers);
        let VerifyDifference { what, stored, computed, .. } = contradictions.into_iter().next()?;
        let said = |text: Option<String>| text.unwrap_or_else(|| "nothing".to_owned());
        let (stored, computed) = (said(stored), said(computed));
        Some(format!(
            "its plan contradicts itself: the {what} is {stored}, and by its suite {computed}"
        ))
    }

    /// A scorer that the plan names more than once.
    fn repeated_scorer(&self) -> Option<&str> {
        let mut seen = HashSet::new();
        let mut ids = self.scorers.iter().map(|scorer| scorer.scorer_id.as_str());
        ids.find(|id| !seen.insert(*id))
    }

    /// The form of the run that a database stores.
    pub(crate) fn run_spec(&self, id: RunId, created_at_ms: i64) -> RunSpec {
        RunSpec {
            id,
            suite_name: self.suite_name.clone(),
            suite_json: self.suite_json.clone(),
            suite_digest: self.suite_digest,
            engine_version: self.engine_version.clone(),
            wasmtime_version: self.wasmtime_version.clone(),
            contract_version: self.contract_version.clone(),
            source: RunSource::Batch,
            seed: self.seed.clone(),
            created_at_ms,
        }
    }
}

fn without_bytes(scorer: &mut ScorerSpec) {
    scorer.component = None;
    if let Some(condition) = &mut scorer.condition {
        condition.component = None;
    }
}
