//! What a stored case says about an attempt at a challenge: whose it is, and what was measured. The names are those of dify's
//! challenges, and shorter ones. Ranks nothing.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    case::{MAX_ID_BYTES, usage_of},
    contract::Usage,
    row::{Json, Status},
    store::{CaseEntry, CaseToDecide},
    verdict::{CaseVerdict, Verdict},
};

/// A name that is not there, as a cell of a table writes it.
const EMPTY: &str = "\"\"";

/// An attempt at a challenge.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Entered {
    /// The case's id.
    pub case_id: String,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
    /// The app that the challenge is of, if it says so.
    pub app: Option<String>,
    /// The challenge, if it names one.
    pub challenge: Option<String>,
    /// The tenant that the entrant is of, if it says so.
    pub tenant: Option<String>,
    /// Who made the attempt.
    pub entrant: String,
    /// Whether it succeeded: what it says, or else whether its verdict is `passed`; not if what it says cannot be read.
    pub succeeded: bool,
    /// The outcome of the scorer, if there is one.
    pub status: Option<Status>,
    /// Its score; `None` if the outcome is another one.
    pub score: Option<f64>,
    /// The judge's rating.
    pub rating: Option<f64>,
    /// All tokens that it used.
    pub tokens_total: Option<f64>,
    /// How long it took, in milliseconds.
    pub elapsed_ms: Option<f64>,
    /// When it was made, in milliseconds since 1970.
    pub created_at: Option<f64>,
    /// The keys of which it has a value of another type than they have. It is not ranked then: what it says is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<&'static str>,
}

/// Why a case is no attempt that can be compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotEntered {
    /// It does not say whose it is.
    WithoutEntrant,
    /// It does not say whether it succeeded, and not all scorers have scored it.
    Incomplete,
}

/// What of metadata is read, in the spelling of dify and in that of JSON, which may stand beside each other: dify's counts first. Other
/// keys are passed over; if one of these comes twice, nothing is known.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Stated<'a> {
    #[serde(borrow)]
    entrant: Option<&'a RawValue>,
    #[serde(borrow)]
    end_user_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "endUserId")]
    end_user_id_in_json: Option<&'a RawValue>,
    #[serde(borrow)]
    account_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "accountId")]
    account_id_in_json: Option<&'a RawValue>,
    #[serde(borrow)]
    tenant: Option<&'a RawValue>,
    #[serde(borrow)]
    tenant_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "tenantId")]
    tenant_id_in_json: Option<&'a RawValue>,
    #[serde(borrow)]
    app: Option<&'a RawValue>,
    #[serde(borrow)]
    app_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "appId")]
    app_id_in_json: Option<&'a RawValue>,
    #[serde(borrow)]
    challenge: Option<&'a RawValue>,
    #[serde(borrow)]
    challenge_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "challengeId")]
    challenge_id_in_json: Option<&'a RawValue>,
    #[serde(borrow)]
    succeeded: Option<&'a RawValue>,
    #[serde(borrow)]
    rating: Option<&'a RawValue>,
    #[serde(borrow)]
    tokens_total: Option<&'a RawValue>,
    #[serde(borrow, rename = "tokensTotal")]
    tokens_total_in_json: Option<&'a RawValue>,
    #[serde(borrow)]
    elapsed_ms: Option<&'a RawValue>,
    #[serde(borrow, rename = "elapsedMs")]
    elapsed_ms_in_json: Option<&'a RawValue>,
    #[serde(borrow)]
    created_at: Option<&'a RawValue>,
    #[serde(borrow, rename = "createdAt")]
    created_at_in_json: Option<&'a RawValue>,
}

impl<'a> Stated<'a> {
    /// What an object says, nothing if it is something else; `None` if it cannot be read.
    fn by(json: Option<&'a Json>) -> Option<Stated<'a>> {
        // A list would be read by position.
        let object = json.map(Json::get).filter(|text| text.trim_start().starts_with('{'));
        object.map_or_else(|| Some(Stated::default()), |text| serde_json::from_str(text).ok())
    }
}

impl Entered {
    /// The attempt that a case is, which is not scored yet.
    ///
    /// # Errors
    /// Why it is not among those that are compared.
    pub(super) fn of(
        case: &CaseToDecide,
        entry: &CaseEntry,
        verdict: &CaseVerdict,
    ) -> Result<Entered, NotEntered> {
        let (own, metadata) =
            (Stated::by(entry.other.as_ref()), Stated::by(entry.metadata.as_ref()));
        let mut unreadable: Vec<_> = metadata.is_none().then_some("metadata").into_iter().collect();
        let (own, stated) = (own.unwrap_or_default(), metadata.unwrap_or_default());
        let users = [stated.end_user_id, stated.end_user_id_in_json];
        let accounts = [stated.account_id, stated.account_id_in_json];
        let entrants = [[own.entrant, stated.entrant], users, accounts];
        let entrant = name(entrants.as_flattened()).ok_or(NotEntered::WithoutEntrant)?;
        let mut read = |key, value: Option<&RawValue>| match value.map(number) {
            Some(None) => {
                unreadable.push(key);
                None
            }
            number => number.flatten(),
        };
        let rating = read("rating", stated.rating);
        let tokens_total =
            read("tokens_total", stated.tokens_total.or(stated.tokens_total_in_json));
        let elapsed_ms = read("elapsed_ms", stated.elapsed_ms.or(stated.elapsed_ms_in_json));
        let created_at = read("created_at", stated.created_at.or(stated.created_at_in_json));
        let succeeded = match (stated.succeeded, stated.succeeded.map(flag)) {
            (Some(_), Some(Some(stated))) => stated,
            (Some(_), _) => {
                unreadable.push("succeeded");
                false
            }
            (None, _) if verdict.is_incomplete => return Err(NotEntered::Incomplete),
            (None, _) => verdict.verdict == Verdict::Passed,
        };
        let mut named = |key, values: [Option<&RawValue>; 3]| {
            let name = name(&values);
            if name.is_none() && values.iter().flatten().any(|raw| raw.get() != EMPTY) {
                unreadable.push(key);
            }
            name
        };
        let app = named("app", [stated.app, stated.app_id, stated.app_id_in_json]);
        let challenges = [stated.challenge, stated.challenge_id, stated.challenge_id_in_json];
        let challenge = named("challenge", challenges);
        let tenant = named("tenant", [stated.tenant, stated.tenant_id, stated.tenant_id_in_json]);
        let usage = || usage_of(case.usage.as_ref()?.get()).as_ref().and_then(total_tokens);
        let latency_ms = case.latency_ms.filter(|latency| latency.is_finite());
        Ok(Entered {
            case_id: case.case_id.clone(),
            iteration: case.iteration,
            attempt: case.attempt,
            app,
            challenge,
            tenant,
            entrant,
            succeeded,
            status: None,
            score: None,
            rating,
            tokens_total: tokens_total.or_else(usage),
            elapsed_ms: elapsed_ms.or(latency_ms),
            created_at,
            unreadable,
        })
    }
}

/// The first of these values that is a name: a string of 1 to 512 bytes, as the id of a case, or an integer.
fn name(values: &[Option<&RawValue>]) -> Option<String> {
    values.iter().flatten().find_map(|raw| {
        let raw = raw.get();
        // Escapes make a string at most six times as long as it is.
        let is_short = raw.len() <= 6 * MAX_ID_BYTES + 2;
        let name = match raw.starts_with('"') {
            true if is_short => serde_json::from_str::<String>(raw).ok()?,
            true => return None,
            false => serde_json::from_str::<i64>(raw).ok()?.to_string(),
        };
        (1..=MAX_ID_BYTES).contains(&name.len()).then_some(name)
    })
}

/// A finite number.
fn number(raw: &RawValue) -> Option<f64> {
    serde_json::from_str::<f64>(raw.get()).ok().filter(|number| number.is_finite())
}

/// `true` or `false`, or 1 or 0 as databases and tables write them (`1.0`).
fn flag(raw: &RawValue) -> Option<bool> {
    match (raw.get(), number(raw)) {
        ("true", _) | (_, Some(1.0)) => Some(true),
        ("false", _) | (_, Some(0.0)) => Some(false),
        _ => None,
    }
}

/// The counted total, or else the sum of input and output; one of them alone is no total.
fn total_tokens(usage: &Usage) -> Option<f64> {
    let sum = || Some(usage.input_tokens?.saturating_add(usage.output_tokens?));
    usage.total_tokens.or_else(sum).map(|tokens| tokens as f64)
}
