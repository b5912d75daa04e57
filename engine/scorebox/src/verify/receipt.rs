//! Receipts: what is needed to compute one score again elsewhere, given only the component, the case, and the recorded
//! answers of the judge if it asked one. It opens no files.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    advice::{Advice, Advised, Thing},
    case::{Case, CasePointer},
    component_bytes::ComponentBytes,
    contract::{CONTRACT_VERSION, ScorerInfo, ScorerInput},
    digest::Digest,
    judge::{JudgeIdentity, Recordings},
    sandbox::{Grant, Limits, Sandbox, ScorerConfig},
    store::{ScoreId, Store, StoreError},
};

use super::{
    Finding, ReceiptAnswer, ReceiptCall, Unproved, Verdict,
    answer::{self, JsonAs},
    receipt_calls, recorded_calls,
    rescore::{Rescorer, StoredScore, unproved_of},
};

/// The version of the format that is written.
const VERSION: u32 = 3;
/// The oldest version that can be read. It has no calls of judges; otherwise it is the same. Versions before 3 do not
/// have the position of the scored value in the case, which was always the output.
const OLDEST_VERSION: u32 = 1;

/// What is needed to compute one score again, and the score.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Receipt {
    /// The version of its format: 3; or 2, which has no `on`; or 1, which has neither `on`, `judge` nor `calls`.
    pub version: u32,
    /// The score.
    pub score_id: String,
    /// The component that computed it.
    pub component: ReceiptComponent,
    /// Its configuration.
    pub config: Box<RawValue>,
    /// The digest of the configuration.
    pub config_digest: Digest,
    /// Its limits.
    pub limits: Limits,
    /// Its grants.
    pub grants: Vec<Grant>,
    /// The properties that decide the answers of the judge that it may ask; `None` if it asks none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeIdentity>,
    /// The judge calls that the score is based on, in the order in which they were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ReceiptCall>,
    /// The position in the case of the value that it was given as the output, as a JSON Pointer; `None`: the case's
    /// output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The digest of the scorer's input from the case.
    pub input_digest: Digest,
    /// The version of the scorebox that ran it.
    pub engine_version: String,
    /// The version of wasmtime in that scorebox; fuel is only comparable within one version.
    pub wasmtime_version: String,
    /// The version of the contract between the two.
    pub contract_version: String,
    /// When it was scored, in milliseconds since 1970 UTC.
    pub scored_at_ms: i64,
    /// Its answer and cost.
    pub answer: ReceiptAnswer,
}

/// The component that computed a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ReceiptComponent {
    /// The SHA-256 of its bytes.
    pub digest: Digest,
    /// The id that it declares.
    pub id: String,
    /// The version that it declares.
    pub version: String,
    /// Where the bytes came from.
    pub origin: String,
}

/// Why a receipt is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiptError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run has no such score.
    #[error("there is no score `{0}`")]
    NoSuchScore(String),
    /// The row lacks what a receipt needs.
    #[error("there can be no receipt for `{id}`: {reason}")]
    Incomplete {
        /// The score.
        id: String,
        /// What is missing.
        reason: String,
    },
    /// The text is not a valid receipt.
    #[error("not a receipt: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// It has the version of another scorebox.
    #[error("a receipt of version {0}; this scorebox reads versions {OLDEST_VERSION} to {VERSION}")]
    OtherVersion(u32),
}

impl Advised for ReceiptError {
    fn advice(&self) -> Option<Advice> {
        match self {
            ReceiptError::Store(error) => error.advice(),
            ReceiptError::NoSuchScore(_) => Some(Advice::List(Thing::Score)),
            ReceiptError::Incomplete { .. } => None,
            ReceiptError::Unreadable(_) => Some(Advice::Name(Thing::Receipt)),
            ReceiptError::OtherVersion(_) => Some(Advice::UseItsWriter),
        }
    }
}

impl Receipt {
    /// The receipt of a stored score.
    ///
    /// # Errors
    /// If there is no such score, or its row has no digest of its input.
    pub fn of(store: &Store, id: &ScoreId) -> Result<Receipt, ReceiptError> {
        store.snapshot(|store| Receipt::read(store, id))
    }

    fn read(store: &Store, id: &ScoreId) -> Result<Receipt, ReceiptError> {
        let incomplete = |reason: String| ReceiptError::Incomplete { id: id.to_string(), reason };
        let run = store.run(id.run_id.as_str())?;
        let scorer = store
            .scorers(run.key)?
            .into_iter()
            .find(|scorer| scorer.spec.scorer_id == id.scorer_id)
            .ok_or_else(|| ReceiptError::NoSuchScore(id.to_string()))?;
        let record =
            store.score(run.key, id)?.ok_or_else(|| ReceiptError::NoSuchScore(id.to_string()))?;
        let input_digest = record.row.input_digest.ok_or_else(|| {
            incomplete("nothing ran, or a scorebox without receipts wrote it".into())
        })?;
        let spec = scorer.spec;
        let damaged = |error: serde_json::Error| incomplete(format!("its scorer: {error}"));
        Ok(Receipt {
            version: VERSION,
            score_id: id.to_string(),
            component: ReceiptComponent {
                digest: spec.component_digest,
                id: spec.component_id,
                version: spec.component_version,
                origin: spec.component_origin,
            },
            config: RawValue::from_string(spec.config_json).map_err(damaged)?,
            config_digest: spec.config_digest,
            limits: serde_json::from_str(&spec.limits_json).map_err(damaged)?,
            grants: serde_json::from_str(&spec.grants_json).map_err(damaged)?,
            judge: spec
                .judge_json
                .as_deref()
                .map(serde_json::from_str)
                .transpose()
                .map_err(damaged)?,
            calls: record.row.answer.calls.iter().map(ReceiptCall::from).collect(),
            on: spec.output_from,
            input_digest,
            engine_version: record.engine_version.clone(),
            wasmtime_version: record.wasmtime_version.clone(),
            contract_version: run.spec.contract_version,
            scored_at_ms: record.row.scored_at_ms,
            answer: answer::stored(&record).map_err(incomplete)?.into(),
        })
    }

    /// Reads a receipt.
    ///
    /// # Errors
    /// If the text is not a valid receipt, or has another version.
    pub fn parse(text: &str) -> Result<Receipt, ReceiptError> {
        #[derive(Deserialize)]
        struct OfVersion {
            version: u32,
        }
        let found: OfVersion = serde_json::from_str(text)?;
        if !(OLDEST_VERSION..=VERSION).contains(&found.version) {
            return Err(ReceiptError::OtherVersion(found.version));
        }
        Ok(serde_json::from_str(text)?)
    }

    /// Computes the score again from a component and a case, and from the files of the task if the scorer reads them
    /// and the sandbox has them. If it asked a judge, the answers come from `recordings`; no judge is asked.
    pub async fn check(
        &self,
        component: &ComponentBytes,
        case: &Case,
        recordings: Option<&dyn Recordings>,
        sandbox: &Sandbox,
    ) -> Finding {
        let verdict = self.verdict(component, case, recordings, sandbox).await;
        let (Ok(verdict) | Err(verdict)) = verdict;
        let taken_as_they_stand = [
            Unproved::ScoreId,
            Unproved::Origin,
            Unproved::EngineVersion,
            Unproved::WasmtimeVersion,
            Unproved::Time,
            Unproved::UnreachedLimits,
        ];
        let contract =
            (self.contract_version != CONTRACT_VERSION).then_some(Unproved::ContractVersion);
        let grants = (!self.grants.is_empty()).then_some(Unproved::UnusedGrants);
        Finding::new(&self.score_id, verdict)
            .leaving(taken_as_they_stand)
            .leaving(contract)
            .leaving(grants)
            .leaving((!self.calls.is_empty()).then_some(Unproved::Answers))
            .leaving(unproved_of(&self.wasmtime_version).iter().copied())
    }

    /// The verdict; `Err` if it is known before the score is computed.
    async fn verdict(
        &self,
        component: &ComponentBytes,
        case: &Case,
        recordings: Option<&dyn Recordings>,
        sandbox: &Sandbox,
    ) -> Result<Verdict, Verdict> {
        must_be_same("component", self.component.digest, component.digest())?;
        let config = self.config()?;
        self.must_be_computable()?;
        let answers = receipt_calls::answers(&self.calls, recordings)?;
        let rescorer = Rescorer::of(
            component,
            config.as_str(),
            self.judge.as_ref(),
            &self.limits,
            self.grants.clone(),
            sandbox,
        )
        .await;
        if let Ok(scorer) = rescorer.scorer() {
            self.must_be_named_as(scorer.info())?;
        }
        let answer = (&self.answer).into();
        let scorer = rescorer.for_score(case.workspace().is_some(), &answer)?;
        let folder = case.task_folder();
        let input = ScorerInput {
            output: self.output_of(case)?,
            workspace: folder.as_ref(),
            ..case.scorer_input(scorer.info().reads)
        };
        let outcome = scorer.score_knowing(input, answers).await;
        if let Some(verdict) = recorded_calls::asked_otherwise(self.calls.len(), &outcome) {
            return Ok(verdict);
        }
        let actual = input.digest(outcome.files);
        let stored = StoredScore {
            answer: &answer,
            json_as: JsonAs::Document,
            input_digest: Some(self.input_digest),
            wasmtime_version: &self.wasmtime_version,
        };
        Ok(stored.compared_with(&outcome.into(), actual))
    }

    /// The configuration as it was stored, whatever its formatting in this file.
    fn config(&self) -> Result<ScorerConfig, Verdict> {
        let object = serde_json::from_str(self.config.get()).map_err(|error| {
            Verdict::not_verifiable(format!("its configuration is not an object: {error}"))
        })?;
        let config = ScorerConfig::new(&object);
        must_be_same("configuration", self.config_digest, config.digest())?;
        Ok(config)
    }

    /// The value that the scorer was given as the output.
    fn output_of<'c>(&self, case: &'c Case) -> Result<&'c str, Verdict> {
        let Some(on) = &self.on else { return Ok(case.output()) };
        let pointer: CasePointer =
            on.parse().map_err(|error| Verdict::not_verifiable(format!("its `on`: {error}")))?;
        match pointer.find(case) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => {
                Err(Verdict::different("value of the case", on.clone(), "nothing".to_owned()))
            }
            Err(reason) => Err(Verdict::not_verifiable(format!("the case at `{on}`: {reason}"))),
        }
    }

    /// Refuses a score with another version of the contract, or without its judge calls.
    fn must_be_computable(&self) -> Result<(), Verdict> {
        if !is_of_our_line(&self.contract_version) {
            let (stored, ours) = (self.contract_version.clone(), CONTRACT_VERSION.to_owned());
            return Err(Verdict::different("contract version", stored, ours));
        }
        if self.version < VERSION && self.on.is_some() {
            let reason = format!("a receipt of version {} has no `on`", self.version);
            return Err(Verdict::not_verifiable(reason));
        }
        if self.version == OLDEST_VERSION && self.grants.contains(&Grant::Judge) {
            return Err(Verdict::NotVerifiable {
                reason: "a receipt of version 1 does not name the answers of a judge".to_owned(),
                advice: Some(Advice::Name(Thing::Receipt)),
            });
        }
        Ok(())
    }

    /// Compares the name and the version of the component with those that it declares.
    fn must_be_named_as(&self, info: &ScorerInfo) -> Result<(), Verdict> {
        let named = &self.component;
        let compared = [
            ("component id", &named.id, &info.id),
            ("component version", &named.version, &info.version),
        ];
        match compared.into_iter().find(|(_, stored, computed)| stored != computed) {
            Some((what, stored, computed)) => {
                Err(Verdict::different(what, stored.clone(), computed.clone()))
            }
            None => Ok(()),
        }
    }
}

fn must_be_same(what: &str, stored: Digest, computed: Digest) -> Result<(), Verdict> {
    match stored == computed {
        true => Ok(()),
        false => Err(Verdict::different(what, stored.to_string(), computed.to_string())),
    }
}

/// Whether a version of the contract is in the same minor line as this one, within which scores stay the same.
fn is_of_our_line(version: &str) -> bool {
    let parse = |version: &str| -> Option<[u32; 3]> {
        let numbers: Result<Vec<u32>, _> = version.split('.').map(str::parse).collect();
        numbers.ok()?.try_into().ok()
    };
    match (parse(version), parse(CONTRACT_VERSION)) {
        (Some([major, minor, _]), Some(ours)) => [major, minor] == ours[..2],
        _ => false,
    }
}
