//! The verdicts of a run's stored cases: what `verdict` decides, over what `store` streams. Memory stays flat.

use std::{collections::HashMap, fmt};

use serde::{Deserialize, Serialize, Serializer};

use crate::{
    contract::{Assertion, Severity},
    row::{Json, Status},
    stats::{ClusteredMean, Rate},
    store::{CaseKey, CaseToDecide, RowToDecide, RunKey, ScorerKey, Store, StoreError},
    verdict::{
        CaseTally, CaseVerdict, Counted, Effort, Policy, RunTally, RunVerdict, Standing, Verdict,
    },
};

/// How the verdicts of a run's cases are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerdictOptions<'a> {
    /// Only the cases of this task.
    pub node: Option<&'a str>,
    /// Whether a soft regression fails a case too.
    pub strict: bool,
}

impl<'a> VerdictOptions<'a> {
    /// The same with this [`node`](VerdictOptions::node).
    #[must_use]
    pub fn with_node(mut self, node: impl Into<Option<&'a str>>) -> VerdictOptions<'a> {
        self.node = node.into();
        self
    }

    /// The same with this [`strict`](VerdictOptions::strict).
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> VerdictOptions<'a> {
        self.strict = strict;
        self
    }
}

/// The verdict of a run, and which scorers decided against how many of its cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecidedRun {
    /// Whether the verdicts say anything: a scorer can keep a case from passing. If none can, every case passes, and there is no rate.
    pub decides: bool,
    /// The verdicts of all cases together.
    #[serde(flatten)]
    pub verdict: RunVerdict,
    /// The scorers, in the suite's order.
    pub scorers: Vec<DecidedScorer>,
}

impl DecidedRun {
    /// Whether anything is required of a score, even if a case that lacks it passes, with a regression.
    pub fn requires(&self) -> bool {
        self.scorers.iter().any(DecidedScorer::decides)
    }
}

/// What one scorer decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecidedScorer {
    /// The suite's key for it.
    pub scorer_id: String,
    /// How a score on the wrong side of the threshold counts.
    pub severity: Severity,
    /// The worst score that passes, if there is one.
    pub threshold: Option<f64>,
    /// Cases of which it has a score, and all holds that is required of it.
    pub held: u64,
    /// Cases of which a soft requirement does not hold.
    pub regressed: u64,
    /// Cases of which a gate does not hold.
    pub failed: u64,
    /// Cases that are errored because it has no score.
    pub errored: u64,
    /// Of those that failed or regressed, the ones that its score alone would not have decided so: its assertions did.
    #[serde(skip_serializing_if = "is_none")]
    pub by_assertions: u64,
    /// The name of the first assertion that did, of those that failed cases if any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_assertion: Option<String>,
    /// How its scores count.
    #[serde(skip)]
    pub policy: Policy,
    /// Whether an assertion of it has a say of its own.
    #[serde(skip)]
    pub has_deciding_assertions: bool,
    /// Whether an assertion of it can fail a case whatever its score is.
    #[serde(skip)]
    pub has_gates: bool,
    /// Whether it is for a sample of the cases only, which may be none of few.
    #[serde(skip)]
    pub is_sampled: bool,
}

impl DecidedScorer {
    /// Whether a case can fail, regress or be errored because of it: by its score, or by an assertion that it made.
    pub fn decides(&self) -> bool {
        self.policy.decides() || self.has_deciding_assertions
    }

    /// Whether a case can fail or be errored because of it; if `strict`, a soft regression fails it too.
    pub fn can_fail(&self, strict: bool) -> bool {
        self.policy.can_fail(strict) || self.has_gates || (strict && self.has_deciding_assertions)
    }
}

/// A case with its verdict.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DecidedCase<'a> {
    /// The case.
    pub case: &'a CaseToDecide,
    /// Its verdict.
    pub verdict: CaseVerdict,
    /// The scorers that decided against it, in the suite's order, each with its score if there is one.
    pub against: Vec<Against<'a>>,
}

/// `caseId`, `nodeId`, `iteration`, `attempt`, `verdict`, `regressions`, `score`, `skip`, `error` and `against`; what a case
/// does not have of `nodeId`, `skip` and `error` is left out.
impl Serialize for DecidedCase<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Keys<'a> {
            case_id: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            node_id: Option<&'a str>,
            iteration: u32,
            attempt: u32,
            #[serde(flatten)]
            verdict: CaseVerdict,
            #[serde(skip_serializing_if = "Option::is_none")]
            skip: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<&'a str>,
            against: &'a [Against<'a>],
        }
        let CaseToDecide { case_id, node_id, iteration, attempt, skip, error, .. } = self.case;
        let keys = Keys {
            case_id,
            node_id: node_id.as_deref(),
            iteration: *iteration,
            attempt: *attempt,
            verdict: self.verdict,
            skip: skip.as_deref(),
            error: error.as_deref(),
            against: &self.against,
        };
        keys.serialize(serializer)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A scorer that decided against a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Against<'a> {
    /// The suite's key for it.
    pub scorer_id: &'a str,
    /// Whether it is an error, a gate or a regression.
    pub standing: Standing,
    /// Its score; `None` if it is an error.
    pub score: Option<f64>,
    /// The scorer's threshold, if it has one: the worst score that passes.
    #[serde(skip)]
    pub threshold: Option<f64>,
    /// The assertions of the score that decided, in their order; none if the score did alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<Decisive>,
}

/// An assertion that decided against a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Decisive {
    /// What was checked.
    pub name: String,
    /// 0 to 1.
    pub score: f64,
    /// The least score that would have passed.
    pub threshold: f64,
    /// Why, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Decisive {
    /// The assertions because of which a result has this standing.
    pub fn of(policy: &Policy, standing: Standing, assertions: &[Assertion]) -> Vec<Decisive> {
        let decisive = policy.decisive(standing, assertions).map(|(assertion, threshold)| {
            let Assertion { name, score, reason, .. } = assertion.clone();
            Decisive { name, score, threshold, reason }
        });
        decisive.collect()
    }
}

/// `no addresses 0, threshold 1: has an e-mail address`.
impl fmt::Display for Decisive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decisive { name, score, threshold, reason } = self;
        write!(f, "{name} {score}, threshold {threshold}")?;
        reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

/// Computes the verdicts of a run's cases, and hands them over in their order until `take` answers false; answers with what was
/// decided so far.
///
/// # Errors
/// [`StoreError::NoSuchRun`]; [`StoreError::Corrupt`] if assertions are not valid; troubles of reading.
pub fn verdicts(
    store: &Store,
    run: &str,
    options: VerdictOptions<'_>,
    take: impl FnMut(DecidedCase<'_>) -> bool,
) -> Result<DecidedRun, StoreError> {
    decide(store, run, None, options, take)
}

/// [`DecidedRun::decides`], before a case is handed over. Reads cases only if no score can fail one, until an assertion can.
///
/// # Errors
/// As [`verdicts`].
pub fn decides(store: &Store, run: &str, options: VerdictOptions<'_>) -> Result<bool, StoreError> {
    store.snapshot(|store| {
        let run = store.run(run)?.key;
        let mut decider = Decider::new(store, run)?;
        if decider.can_fail(options.strict) {
            return Ok(true);
        }
        let mut damaged = None;
        store.for_each_case(run, options.node, |case| {
            damaged = decider.case(case).err();
            damaged.is_none() && !decider.can_fail(options.strict)
        })?;
        match damaged {
            Some(what) => Err(StoreError::Corrupt { path: store.path().to_owned(), what }),
            None => Ok(decider.can_fail(options.strict)),
        }
    })
}

/// As [`verdicts`], beginning with the case `from`: what the run decided is of the cases from there on.
///
/// # Errors
/// As [`verdicts`].
pub fn verdicts_from(
    store: &Store,
    run: &str,
    from: CaseKey,
    take: impl FnMut(DecidedCase<'_>) -> bool,
) -> Result<DecidedRun, StoreError> {
    decide(store, run, Some(from), VerdictOptions::default(), take)
}

fn decide(
    store: &Store,
    run: &str,
    from: Option<CaseKey>,
    options: VerdictOptions<'_>,
    mut take: impl FnMut(DecidedCase<'_>) -> bool,
) -> Result<DecidedRun, StoreError> {
    store.snapshot(|store| {
        let run = store.run(run)?.key;
        let mut decider = Decider::new(store, run)?;
        let (mut tally, mut damaged) = (RunTally::default(), None);
        let (mut may_repeat, mut is_whole) = (false, from.is_none());
        store.for_each_case_from(run, from, options.node, |case| match decider.case(case) {
            Err(what) => {
                damaged = Some(what);
                false
            }
            Ok((verdict, against)) => {
                let verdict = if options.strict { verdict.strict() } else { verdict };
                tally.add(verdict, effort(case));
                may_repeat |= case.iteration > 0 || case.attempt > 0;
                let is_wanted =
                    take(DecidedCase { case, verdict, against: decider.named(against) });
                is_whole &= is_wanted;
                is_wanted
            }
        })?;
        match damaged {
            Some(what) => Err(StoreError::Corrupt { path: store.path().to_owned(), what }),
            None => {
                let mut verdict = tally.verdict();
                let decides = decider.can_fail(options.strict);
                if !decides {
                    verdict.pass_rate = None;
                } else if may_repeat && is_whole {
                    verdict.pass_rate = verdict
                        .pass_rate
                        .map(|it| of_cases(store, run, options, it))
                        .transpose()?;
                }
                Ok(DecidedRun { decides, verdict, scorers: decider.scorers })
            }
        }
    })
}

/// A rate of attempts, with the interval that its cases show: attempts at one are alike.
fn of_cases(
    store: &Store,
    run: RunKey,
    options: VerdictOptions<'_>,
    rate: Rate,
) -> Result<Rate, StoreError> {
    let mut decider = Decider::new(store, run)?;
    let mut mean = ClusteredMean::around(rate.rate);
    let (mut case_id, mut damaged) = (String::new(), None);
    store.for_each_attempt(run, options.node, |attempt| {
        if attempt.case_id != case_id {
            mean.end_case();
            case_id.clone_from(&attempt.case_id);
        }
        match decider.case(attempt) {
            Err(what) => damaged = Some(what),
            Ok((verdict, _)) => {
                let verdict = if options.strict { verdict.strict() } else { verdict };
                if verdict.is_judged() {
                    mean.add(f64::from(verdict.verdict == Verdict::Passed));
                }
            }
        }
        damaged.is_none()
    })?;
    mean.end_case();
    if let Some(what) = damaged {
        return Err(StoreError::Corrupt { path: store.path().to_owned(), what });
    }
    // The attempts at a single case show nothing of others.
    let (low, high) = mean.interval(0.0..=1.0).map_or((0.0, 1.0), |it| (it.low, it.high));
    Ok(Rate { rate: rate.rate, low, high })
}

/// Computes the verdict of one case after the other.
pub(super) struct Decider {
    /// The scorers, in the suite's order, and what they decided so far.
    pub(super) scorers: Vec<DecidedScorer>,
    places: HashMap<ScorerKey, usize>,
    /// By place, what the assertion that is named first decided.
    first: Vec<Standing>,
}

/// A row that decided against its case.
pub(super) struct Decided {
    /// The scorer's place.
    place: usize,
    standing: Standing,
    score: Option<f64>,
    assertions: Vec<Decisive>,
}

impl Decider {
    /// The scorers of a run, which decided nothing yet.
    pub(super) fn new(store: &Store, run: RunKey) -> Result<Decider, StoreError> {
        let stored = store.scorers(run)?;
        let places = stored.iter().enumerate().map(|(place, scorer)| (scorer.key, place)).collect();
        let scorers = stored.into_iter().map(|scorer| {
            let policy = scorer.spec.policy();
            DecidedScorer {
                severity: policy.severity(),
                threshold: policy.threshold(),
                scorer_id: scorer.spec.scorer_id,
                held: 0,
                regressed: 0,
                failed: 0,
                errored: 0,
                by_assertions: 0,
                first_assertion: None,
                policy,
                has_deciding_assertions: false,
                has_gates: false,
                is_sampled: scorer.spec.sampling_json.is_some(),
            }
        });
        let scorers: Vec<DecidedScorer> = scorers.collect();
        Ok(Decider { first: vec![Standing::Holds; scorers.len()], scorers, places })
    }

    /// Whether a scorer can keep a case from passing.
    pub(super) fn can_fail(&self, strict: bool) -> bool {
        self.scorers.iter().any(|scorer| scorer.can_fail(strict))
    }

    /// The verdict of a case, and what decided against it.
    ///
    /// # Errors
    /// What in the database is not a valid assertion.
    pub(super) fn case(
        &mut self,
        case: &CaseToDecide,
    ) -> Result<(CaseVerdict, Vec<Decided>), String> {
        let mut tally = match case.skip {
            Some(_) => CaseTally::skipped(),
            None => CaseTally::new(),
        };
        let (mut against, mut missing) = (Vec::new(), self.scorers.len());
        for row in &case.rows {
            // A row of no scorer of the run is for a verification to find.
            let Some(place) = self.places.get(&row.scorer) else { continue };
            missing = missing.saturating_sub(1);
            let scorer = &mut self.scorers[*place];
            let assertions = assertions(case, row)?;
            scorer.has_deciding_assertions |= assertions.iter().any(Policy::is_deciding);
            scorer.has_gates |= assertions.iter().any(|it| scorer.policy.is_gate(it));
            let counted = match (row.status, row.score) {
                (Status::Scored, Some(score)) => Counted::Score(score, &assertions),
                (Status::Error, _) => Counted::Error,
                (Status::Skipped, _) => Counted::Skipped,
                _ => Counted::Nothing,
            };
            let standing = tally.add(&scorer.policy, counted);
            match standing {
                Standing::Holds => scorer.held += u64::from(row.status == Status::Scored),
                Standing::Regressed => scorer.regressed += 1,
                Standing::Failed => scorer.failed += 1,
                Standing::Errored => scorer.errored += 1,
            }
            if standing == Standing::Holds {
                continue;
            }
            let decisive = Decisive::of(&scorer.policy, standing, &assertions);
            let alone = row.score.map(|score| scorer.policy.score_standing(score));
            if let Some(first) = decisive.first().filter(|_| alone != Some(standing)) {
                scorer.by_assertions += 1;
                if standing > self.first[*place] {
                    self.first[*place] = standing;
                    scorer.first_assertion = Some(first.name.clone());
                }
            }
            against.push(Decided {
                place: *place,
                standing,
                score: row.score,
                assertions: decisive,
            });
        }
        tally.lacks(u32::try_from(missing).unwrap_or(u32::MAX));
        Ok((tally.verdict(), against))
    }

    /// A scorer's place among the scorers.
    pub(super) fn place(&self, scorer: ScorerKey) -> Option<usize> {
        self.places.get(&scorer).copied()
    }

    fn named(&self, against: Vec<Decided>) -> Vec<Against<'_>> {
        let named = |decided: Decided| Against {
            scorer_id: &self.scorers[decided.place].scorer_id,
            standing: decided.standing,
            score: decided.score,
            threshold: self.scorers[decided.place].threshold,
            assertions: decided.assertions,
        };
        against.into_iter().map(named).collect()
    }
}

fn assertions(case: &CaseToDecide, row: &RowToDecide) -> Result<Vec<Assertion>, String> {
    let Some(json) = &row.assertions else { return Ok(Vec::new()) };
    serde_json::from_str(json.get()).map_err(|error| {
        format!("the assertions stored for `{}` are not valid: {error}", case.case_id)
    })
}

fn effort(case: &CaseToDecide) -> Effort {
    /// The part of a usage that is counted here.
    #[derive(Deserialize)]
    struct Cost {
        #[serde(rename = "costUsd", alias = "cost_usd", alias = "costUSD")]
        cost_usd: Option<f64>,
    }
    let cost = |usage: &Json| serde_json::from_str::<Cost>(usage.get()).ok()?.cost_usd;
    let cost_usd = case.usage.as_ref().and_then(cost).filter(|cost| cost.is_finite());
    Effort { latency_ms: case.latency_ms, cost_usd }
}
