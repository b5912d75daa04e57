//! The suite as JSON, as it is stored with a run, and its digest. It reads no file.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    digest::Digest, judge::JudgeIdentity, registry::Reference, sandbox::Grant,
    verdict::PolicyOverrides,
};

use super::{Suite, SuiteJudge, SuiteScorer, file::VERSION};

impl Suite {
    /// The suite as JSON, as it is stored with a run. Paths are as written, in included files relative to the suite's
    /// folder, so that the plan does not depend on where the suite is read; the digests of components, which are stored
    /// with it, distinguish them.
    pub fn to_json(&self) -> String {
        let scorers: Vec<Value> =
            self.scorers.iter().map(|scorer| scorer.to_json(&self.judges)).collect();
        let mut plan = json!({
            "version": VERSION, "name": self.name, "scorers": scorers
        });
        if let Some(seed) = &self.seed {
            plan["seed"] = seed.as_str().into();
        }
        plan.to_string()
    }

    /// The digest of [`Suite::to_json`].
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_json().as_bytes())
    }
}

impl SuiteScorer {
    /// The component, with its name in plans.
    fn uses_in_plans(&self) -> &Reference {
        let written = self.written.as_ref().filter(|written| written.reference == self.uses);
        written.map_or(&self.uses, |written| &written.from_suite)
    }

    /// The scorer, in the form of plans.
    fn to_json(&self, judges: &BTreeMap<String, SuiteJudge>) -> Value {
        let mut plan = json!({
            "id": self.id,
            "use": self.uses_in_plans().to_string(),
            "name": self.name,
            "config": serde_json::from_str::<Value>(self.config.as_str()).ok(),
            "limits": self.limits,
            "grants": self.grants.iter().collect::<Vec<_>>(),
        });
        let settings = |name: &str| Some(&judges.get(name)?.settings);
        if self.grants.contains(Grant::Judge)
            && let Some(judge) = JudgeIdentity::of(&self.judge, settings)
        {
            plan["judge"] = json!(judge);
        }
        let PolicyOverrides { severity, threshold, weight, required } = self.policy;
        // Only keys that are set, so that plans without them keep their digests.
        let said = [
            ("severity", severity.map(|severity| severity.as_str().into())),
            ("threshold", threshold.map(Into::into)),
            ("weight", weight.map(Into::into)),
            ("required", required.map(Into::into)),
            ("sampling", value(self.selection.sampling_json())),
            ("nodes", value(self.selection.nodes_json())),
            ("when", self.condition.as_ref().map(|it| it.expression.as_str().into())),
            ("of", self.subject.as_ref().map(|subject| subject.as_str().into())),
            ("on", self.output_from.as_ref().map(|pointer| pointer.as_str().into())),
        ];
        for (key, value) in said {
            if let Some(value) = value {
                plan[key] = value;
            }
        }
        plan
    }
}

fn value(json: Option<String>) -> Option<Value> {
    json.and_then(|json| serde_json::from_str(&json).ok())
}
