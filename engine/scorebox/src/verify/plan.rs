//! Compares the plan of a run with its digest and with the stored scorers. It loads no scorer and looks at no row.

use serde_json::Value;

use crate::{
    digest::Digest,
    store::{RunRecord, RunSpec, ScorerSpec, Store, StoreError},
    verdict::{Policy, PolicyOverrides},
};

use super::Difference;

/// The differences between the plan of a run and its stored scorers.
pub(super) fn differences(store: &Store, run: &RunRecord) -> Result<Vec<Difference>, StoreError> {
    let scorers: Vec<ScorerSpec> =
        store.scorers(run.key)?.into_iter().map(|scorer| scorer.spec).collect();
    let RunSpec { suite_json, suite_digest, seed, .. } = &run.spec;
    Ok(plan_differences((suite_json, *suite_digest), seed.as_deref(), &scorers))
}

/// The differences between a plan (the suite's JSON, and its expected digest) and the seed and the scorers that are
/// stored with it.
pub fn plan_differences(
    (plan, digest): (&str, Digest),
    seed: Option<&str>,
    scorers: &[ScorerSpec],
) -> Vec<Difference> {
    let actual = Digest::of(plan.as_bytes());
    if actual != digest {
        return vec![Difference::new("plan", digest.to_string(), actual.to_string())];
    }
    let stored: Vec<Planned> = scorers.iter().map(Planned::stored).collect();
    let planned = planned(plan, scorers);
    let planned_seed = planned_seed(plan);
    if seed.is_some() && seed != planned_seed.as_deref() {
        return vec![Difference::of("seed", seed.map(str::to_owned), planned_seed)];
    }
    let differences = (0..planned.len().max(stored.len())).filter_map(|index| {
        let (stored, planned) = (stored.get(index), planned.get(index));
        if let (Some(stored), Some(planned)) = (stored, planned)
            && stored.agrees_with(planned)
        {
            return stored.other_judge_than(planned);
        }
        let text = |planned: Option<&Planned>| planned.map(Planned::to_string);
        Some(Difference::of("scorer of the plan", text(stored), text(planned)))
    });
    differences.collect()
}

/// The settings that a plan has for a scorer.
struct Planned {
    id: String,
    /// `None`: the component's own.
    name: Option<String>,
    /// The name that the component declares, if known.
    own_name: Option<String>,
    config: Value,
    limits: Value,
    grants: Value,
    sampling: Value,
    nodes: Value,
    when: Value,
    /// The scorer whose results it scores.
    of: Value,
    /// The position of its output in a case.
    on: Value,
    /// The properties that decide the answers of its judge; null if it asks none, or if the judge came from a program.
    judge: Value,
    /// How its scores count, in the stored form; `None` if the plan's values are not valid.
    policy: Option<Policy>,
}

impl std::fmt::Display for Planned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Planned { id, name, config, limits, grants, .. } = self;
        let name = name.as_deref().unwrap_or(id);
        write!(f, "{id} ({name}), config {config}, limits {limits}, grants {grants}")?;
        let Planned { sampling, nodes, when, of, on, policy, .. } = self;
        for (what, said) in
            [("sampling", sampling), ("nodes", nodes), ("when", when), ("of", of), ("on", on)]
        {
            if !said.is_null() {
                write!(f, ", {what} {said}")?;
            }
        }
        let Some(policy) = policy else { return Ok(()) };
        write!(f, ", {}", policy.severity().as_str())?;
        policy.threshold().map_or(Ok(()), |threshold| write!(f, " from {threshold}"))?;
        write!(f, ", weight {}", policy.weight())?;
        if policy.is_required() { f.write_str(", required") } else { Ok(()) }
    }
}

impl Planned {
    fn stored(spec: &ScorerSpec) -> Planned {
        let json = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
        Planned {
            id: spec.scorer_id.clone(),
            name: Some(spec.name.clone()),
            own_name: json(&spec.info_json)["name"].as_str().map(str::to_owned),
            config: json(&spec.config_json),
            limits: json(&spec.limits_json),
            grants: json(&spec.grants_json),
            sampling: spec.sampling_json.as_deref().map_or(Value::Null, json),
            nodes: spec.nodes_json.as_deref().map_or(Value::Null, json),
            when: spec.condition.as_ref().map_or(Value::Null, |condition| {
                // The whole configuration, if it is not one that a `when` makes.
                match json(&condition.config_json) {
                    Value::Object(mut config) if config.len() == 1 => {
                        config.remove("expression").unwrap_or_default()
                    }
                    other => other,
                }
            }),
            of: spec.subject.clone().map_or(Value::Null, Value::from),
            on: spec.output_from.clone().map_or(Value::Null, Value::from),
            judge: spec.judge_json.as_deref().map_or(Value::Null, json),
            policy: Some(spec.policy()),
        }
    }

    fn agrees_with(&self, planned: &Planned) -> bool {
        let of = |it: &Planned| (it.config.clone(), it.limits.clone(), it.grants.clone());
        let same_name = planned.name.as_ref().or(self.own_name.as_ref()) == self.name.as_ref();
        let cases =
            |it: &Planned| [&it.sampling, &it.nodes, &it.when, &it.of, &it.on].map(Value::clone);
        let same_cases = cases(self) == cases(planned);
        let same_policy = match (&self.policy, &planned.policy) {
            (Some(stored), Some(planned)) => stored.counts_as(planned),
            _ => false,
        };
        self.id == planned.id && same_name && of(self) == of(planned) && same_cases && same_policy
    }

    /// The judge that a scorer asked, if it is not the one in the plan. A judge that came from a program is not in the
    /// plan, and a scorer that may ask a judge need not.
    fn other_judge_than(&self, planned: &Planned) -> Option<Difference> {
        let is_other = ![&self.judge, &planned.judge].iter().any(|judge| judge.is_null())
            && self.judge != planned.judge;
        let what = format!("judge of {}", self.id);
        is_other.then(|| Difference::new(what, self.judge.to_string(), planned.judge.to_string()))
    }
}

/// The seed in the plan.
fn planned_seed(plan: &str) -> Option<String> {
    let plan: Value = serde_json::from_str(plan).unwrap_or_default();
    plan["seed"].as_str().or(plan["name"].as_str()).map(str::to_owned)
}

/// The scorers of a plan, in the format of [`Suite::to_json`](crate::suite::Suite::to_json). If it does not set how
/// scores count, the component's declaration applies.
fn planned(plan: &str, stored: &[ScorerSpec]) -> Vec<Planned> {
    let plan: Value = serde_json::from_str(plan).unwrap_or_default();
    let scorers = plan["scorers"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |(index, scorer): (usize, &Value)| Planned {
        id: scorer["id"].as_str().unwrap_or_default().to_owned(),
        name: scorer["name"].as_str().map(str::to_owned),
        own_name: None,
        config: scorer["config"].clone(),
        limits: scorer["limits"].clone(),
        grants: scorer["grants"].clone(),
        sampling: scorer["sampling"].clone(),
        nodes: scorer["nodes"].clone(),
        when: scorer["when"].clone(),
        of: scorer["of"].clone(),
        on: scorer["on"].clone(),
        judge: scorer["judge"].clone(),
        policy: stored.get(index).and_then(|stored| planned_policy(scorer, stored)),
    };
    scorers.iter().enumerate().map(of).collect()
}

/// How the scores of a stored scorer count according to the plan; `None` if the plan's values are not valid.
fn planned_policy(planned: &Value, stored: &ScorerSpec) -> Option<Policy> {
    let declared = Policy::declared(
        stored.declared_severity,
        stored.declared_threshold,
        stored.direction,
        stored.scale,
    );
    let says = PolicyOverrides {
        severity: serde_json::from_value(planned["severity"].clone()).ok().flatten(),
        threshold: planned["threshold"].as_f64(),
        weight: planned["weight"].as_f64(),
        required: planned["required"].as_bool(),
    };
    declared.overridden(&says).ok()
}
