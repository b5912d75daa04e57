//! Verdicts of a run's stored cases: options and results. It decides nothing: see `deciding`.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::{
    amount::{count, counted},
    contract::{Assertion, Severity},
    store::CaseToDecide,
    verdict::{CaseVerdict, Policy, RunVerdict, ShownVerdict, Standing},
};

/// If sampling let through this many cases, and the scorer scores none of them, assume that it would score no others.
const MANY: u64 = 20;

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
    /// Whether the verdicts are meaningful: a scorer can keep a case from passing. If none can, every case passes, and
    /// there is no rate.
    pub decides: bool,
    /// Cases whose own `usage` counts cached tokens, which no scorer is given, and that have neither a cost nor a
    /// trace.
    #[serde(skip)]
    pub unseen_cache: u64,
    /// The verdicts of all cases together.
    #[serde(flatten)]
    pub verdict: RunVerdict,
    /// The scorers, in the suite's order.
    pub scorers: Vec<DecidedScorer>,
}

impl DecidedRun {
    /// Whether scores have any requirement, even one without which a case passes, with a regression.
    pub fn requires(&self) -> bool {
        self.scorers.iter().any(DecidedScorer::decides)
    }
}

/// The decisions of one scorer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecidedScorer {
    /// The suite's key for it.
    pub scorer_id: String,
    /// How a score on the wrong side of the threshold counts.
    pub severity: Severity,
    /// The worst score that passes, if one is set.
    pub threshold: Option<f64>,
    /// Cases for which it has a score that meets all requirements.
    pub held: u64,
    /// Cases with a soft requirement that is not met.
    pub regressed: u64,
    /// Cases with a failed gate.
    pub failed: u64,
    /// Cases that are errored because it has no score.
    pub errored: u64,
    /// How many of the failed and regressed cases its score alone would not have decided so: its assertions did.
    #[serde(skip_serializing_if = "is_none")]
    pub by_assertions: u64,
    /// The name of the first assertion that did; if any failed cases, the first of those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_assertion: Option<String>,
    /// How its scores count.
    #[serde(skip)]
    pub policy: Policy,
    /// Whether one of its assertions decides by itself.
    #[serde(skip)]
    pub has_deciding_assertions: bool,
    /// Whether one of its assertions can fail a case whatever its score is.
    #[serde(skip)]
    pub has_gates: bool,
    /// Whether its sampling switches it off, or that of the scorer whose results it scores.
    #[serde(skip)]
    pub is_off: bool,
    /// Cases for which it has a score or an error.
    #[serde(skip)]
    pub decided: u64,
    /// Cases that it skips or does not apply to. They include neither the cases with `skip`, nor those of which an
    /// error left it no result to score.
    #[serde(skip)]
    pub spared: u64,
    /// How many of them sampling left out, its own or that of the scorer whose results it scores.
    #[serde(skip)]
    pub left_out: u64,
    /// How many of them `nodes` and sampling let through, but it then skips or does not apply to.
    #[serde(skip)]
    pub let_through: u64,
}

impl DecidedScorer {
    /// Whether a case can fail, regress or be errored because of it: by its score, or by an assertion in it.
    pub fn decides(&self) -> bool {
        self.policy.decides() || self.has_deciding_assertions
    }

    /// Whether a case can fail or be errored because of it; if `strict`, a soft regression fails it too.
    pub fn can_fail(&self, strict: bool) -> bool {
        self.policy.can_fail(strict) || self.has_gates || (strict && self.has_deciding_assertions)
    }

    /// Whether it is a gate for which no score fails a case: a scorer of points without a threshold, whose assertions
    /// do not decide either.
    pub fn lets_every_score_pass(&self) -> bool {
        let is_gate = self.policy.severity() == Severity::Gate;
        is_gate && self.policy.threshold().is_none() && !self.has_deciding_assertions
    }

    /// The number of cases, if it decided none; `None` if it decided one, if there were none, or if sampling may be the
    /// cause: it switches the scorer off, or left out cases that the scorer may be for, unlike the few that it let
    /// through.
    pub fn idle_of(&self) -> Option<u64> {
        let by_sampling = self.is_off || (self.left_out > 0 && self.let_through < MANY);
        (self.decided == 0 && self.spared > 0 && !by_sampling).then_some(self.spared)
    }

    /// A message about a scorer that can fail a case but decided none, even if sampling may be the cause: `switched off
    /// by sampling`, or `decided none of 40 cases, 38 of them left out by sampling`. `None` if it decided one, if there
    /// were none, or if it cannot fail a case.
    pub fn idle_in_words(&self) -> Option<String> {
        if !self.can_fail(false) || self.decided > 0 || self.spared == 0 {
            return None;
        }
        if self.is_off {
            return Some("switched off by `sampling`".to_owned());
        }
        let none = format!("decided none of {}", counted(self.spared, "case", "cases"));
        Some(match self.left_out {
            0 => none,
            all if all == self.spared => format!("{none}, left out by `sampling`"),
            some => format!("{none}, {} of them left out by `sampling`", count(some)),
        })
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

impl<'a> DecidedCase<'a> {
    /// The case for other programs; `decides`: a scorer of the run [can fail](super::decides) a case.
    pub const fn shown(&'a self, decides: bool) -> ShownCase<'a> {
        ShownCase { decided: self, decides }
    }
}

/// A case with its verdict, for other programs.
#[derive(Clone, Copy, Debug)]
pub struct ShownCase<'a> {
    decided: &'a DecidedCase<'a>,
    decides: bool,
}

/// `caseId`, `nodeId`, `iteration`, `attempt`, `verdict`, `regressions`, `score`, `skip`, `error` and `against`;
/// `nodeId`, `skip` and `error` are omitted if the case does not have them. `verdict` is `null` if the case passed and
/// no scorer can fail one.
impl Serialize for ShownCase<'_> {
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
            verdict: ShownVerdict,
            #[serde(skip_serializing_if = "Option::is_none")]
            skip: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<&'a str>,
            against: &'a [Against<'a>],
        }
        let DecidedCase { case, verdict, against } = self.decided;
        let CaseToDecide { case_id, node_id, iteration, attempt, skip, error, .. } = case;
        let keys = Keys {
            case_id,
            node_id: node_id.as_deref(),
            iteration: *iteration,
            attempt: *attempt,
            verdict: verdict.shown(self.decides),
            skip: skip.as_deref(),
            error: error.as_deref(),
            against,
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
    /// The assertions of the score that decided, in their order; empty if the score decided alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<Decisive>,
}

/// An assertion that decided against a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Decisive {
    /// The name of the check.
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
    /// The assertions that caused this standing of a result.
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
