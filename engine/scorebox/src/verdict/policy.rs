//! How the scores of one scorer count: the component's declaration, and the suite's overrides. It judges one score at a
//! time.

use serde::Serialize;

use crate::contract::{Assertion, Direction, Scale, Severity};

/// The score of an assertion that is fully met.
const FULL: f64 = 1.0;

/// How the scores of one scorer count in the verdict of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    severity: Severity,
    threshold: Option<f64>,
    direction: Direction,
    scale: Scale,
    weight: f64,
    required: bool,
    /// Whether gates among a result's assertions count as soft: if the suite made the scorer soft.
    softens_assertions: bool,
}

/// A suite's overrides of how scores count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PolicyOverrides {
    /// How a score on the wrong side of the threshold counts.
    pub severity: Option<Severity>,
    /// The worst score that passes.
    pub threshold: Option<f64>,
    /// The weight in the score of a case, 1 if it is not set.
    pub weight: Option<f64>,
    /// Whether an error of the scorer makes a case `errored`, even if the scorer is soft.
    pub required: Option<bool>,
}

impl PolicyOverrides {
    /// The same with this [`severity`](PolicyOverrides::severity).
    #[must_use]
    pub fn with_severity(mut self, severity: impl Into<Option<Severity>>) -> PolicyOverrides {
        self.severity = severity.into();
        self
    }

    /// The same with this [`threshold`](PolicyOverrides::threshold).
    #[must_use]
    pub fn with_threshold(mut self, threshold: impl Into<Option<f64>>) -> PolicyOverrides {
        self.threshold = threshold.into();
        self
    }

    /// The same with this [`weight`](PolicyOverrides::weight).
    #[must_use]
    pub fn with_weight(mut self, weight: impl Into<Option<f64>>) -> PolicyOverrides {
        self.weight = weight.into();
        self
    }

    /// The same with this [`required`](PolicyOverrides::required).
    #[must_use]
    pub fn with_required(mut self, required: impl Into<Option<bool>>) -> PolicyOverrides {
        self.required = required.into();
        self
    }
}

impl PolicyOverrides {
    /// These overrides, with missing ones from `base`.
    #[must_use]
    pub fn over(self, base: PolicyOverrides) -> PolicyOverrides {
        PolicyOverrides {
            severity: self.severity.or(base.severity),
            threshold: self.threshold.or(base.threshold),
            weight: self.weight.or(base.weight),
            required: self.required.or(base.required),
        }
    }
}

/// Why the overrides of a suite are not valid.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A gate on a scale that has no best end.
    #[error("a gate on the scale of points needs a threshold")]
    GateWithoutThreshold,
    /// A threshold that no score of the scorer can have.
    #[error("the threshold {0} is not on the scorer's scale, which is 0 to 1")]
    ThresholdOffScale(f64),
    /// A weight that is negative, infinite or not a number.
    #[error("the weight {0} is not a finite number of 0 or more")]
    BadWeight(f64),
}

/// How one result counts, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
pub enum Standing {
    /// All requirements are met.
    Holds,
    /// A soft requirement is not met.
    Regressed,
    /// A gate fails.
    Failed,
    /// There is no score, but a verdict needs one.
    Errored,
}

impl Standing {
    /// The word in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Standing::Holds => "holds",
            Standing::Regressed => "regressed",
            Standing::Failed => "failed",
            Standing::Errored => "errored",
        }
    }
}

impl Policy {
    /// The policy that a component declares. If no score can have its threshold, every score passes, or none does.
    pub fn declared(
        severity: Severity,
        threshold: Option<f64>,
        direction: Direction,
        scale: Scale,
    ) -> Policy {
        Policy {
            severity,
            threshold,
            direction,
            scale,
            weight: 1.0,
            required: false,
            softens_assertions: false,
        }
    }

    /// The same with the suite's overrides. If the suite makes the scorer soft, gates among its assertions become soft
    /// too.
    ///
    /// # Errors
    /// If the overrides are not valid for this scorer.
    pub fn overridden(self, suite: &PolicyOverrides) -> Result<Policy, PolicyError> {
        let PolicyOverrides { severity, threshold, weight, required } = *suite;
        let policy = Policy {
            severity: severity.unwrap_or(self.severity),
            threshold: threshold.or(self.threshold),
            weight: weight.unwrap_or(self.weight),
            required: required.unwrap_or(self.required),
            softens_assertions: severity == Some(Severity::Soft) || self.softens_assertions,
            ..self
        };
        if !(policy.weight >= 0.0 && policy.weight.is_finite()) {
            return Err(PolicyError::BadWeight(policy.weight));
        }
        match threshold {
            Some(threshold) if !self.scale.contains(threshold) => {
                Err(PolicyError::ThresholdOffScale(threshold))
            }
            _ if severity == Some(Severity::Gate) && policy.threshold().is_none() => {
                Err(PolicyError::GateWithoutThreshold)
            }
            _ => Ok(policy),
        }
    }

    /// The same, with whether gates among a result's assertions count as soft.
    #[must_use]
    pub fn softening_assertions(self, softens_assertions: bool) -> Policy {
        Policy { softens_assertions, ..self }
    }

    /// Whether gates among a result's assertions count as soft.
    pub fn softens_assertions(&self) -> bool {
        self.softens_assertions
    }

    /// Whether an error of a soft scorer makes the case `errored` too.
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// Whether scores count the same with both: a threshold that is set equals one that follows from the severity.
    pub fn counts_as(&self, other: &Policy) -> bool {
        let resolved = |policy: &Policy| Policy { threshold: policy.threshold(), ..*policy };
        resolved(self) == resolved(other)
    }

    /// Whether a case can fail, regress or be errored because of the scorer's score alone.
    pub fn decides(&self) -> bool {
        self.threshold().is_some() || self.needs_a_score()
    }

    /// Whether a case can fail or be errored because of the scorer's score alone; if `strict`, a soft regression fails
    /// it too.
    pub fn can_fail(&self, strict: bool) -> bool {
        self.needs_a_score() || (strict && self.decides())
    }

    /// How a score on the wrong side of the threshold counts.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The worst score that passes, if one is set. A gate on the scale from 0 to 1 without a threshold requires the
    /// best score.
    pub fn threshold(&self) -> Option<f64> {
        self.threshold.or(match (self.severity, self.scale, self.direction) {
            (Severity::Gate, Scale::Unit, Direction::HigherIsBetter) => Some(1.0),
            (Severity::Gate, Scale::Unit, Direction::LowerIsBetter) => Some(0.0),
            _ => None,
        })
    }

    /// The threshold that the suite or the component sets.
    pub fn declared_threshold(&self) -> Option<f64> {
        self.threshold
    }

    /// Which end of the scale is good.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The range of the scores.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The weight in the score of a case, finite and 0 or more.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Whether an error of this scorer makes a case `errored`: a gate's error does, because it might have failed.
    pub fn needs_a_score(&self) -> bool {
        self.required || self.severity == Severity::Gate
    }

    /// Whether a score is on the right side of the threshold; `None` if there is no threshold.
    pub fn passes(&self, score: f64) -> Option<bool> {
        self.threshold().map(|threshold| self.is_as_good_as(score, threshold))
    }

    /// Whether `score` is no worse than `other`.
    pub(super) fn is_as_good_as(&self, score: f64, other: f64) -> bool {
        match self.direction {
            Direction::HigherIsBetter => score >= other,
            Direction::LowerIsBetter => score <= other,
        }
    }

    /// The score from 0 to 1, where 1 is best, for the mean with those of other scorers.
    ///
    /// On the scale from 0 to 1 it is the score, or 1 minus the score if lower is better. On the scale of points it is
    /// how close the score is to the threshold: score / threshold, or threshold / score if lower is better, but at most
    /// 1. Points without a threshold have no such score.
    pub fn unit_score(&self, score: f64) -> Option<f64> {
        match (self.scale, self.direction) {
            (Scale::Unit, Direction::HigherIsBetter) => Some(score),
            (Scale::Unit, Direction::LowerIsBetter) => Some(1.0 - score),
            (Scale::Points, direction) => {
                let threshold = self.threshold?;
                if self.is_as_good_as(score, threshold) {
                    return Some(1.0);
                }
                Some(match direction {
                    Direction::HigherIsBetter => score / threshold,
                    Direction::LowerIsBetter => threshold / score,
                })
            }
        }
    }

    /// How a score with its assertions counts: like the worst of them.
    pub fn standing(&self, score: f64, assertions: &[Assertion]) -> Standing {
        let own = self.score_standing(score);
        assertions.iter().map(|assertion| self.standing_of(assertion)).fold(own, Standing::max)
    }

    /// How a score counts without its assertions.
    pub fn score_standing(&self, score: f64) -> Standing {
        match (self.passes(score), self.severity) {
            (None | Some(true), _) => Standing::Holds,
            (Some(false), Severity::Soft) => Standing::Regressed,
            (Some(false), Severity::Gate) => Standing::Failed,
        }
    }

    /// The assertions that cause this standing of a result, each with the lowest score that it needs; empty if the
    /// result meets all requirements.
    pub fn decisive<'a>(
        &self,
        standing: Standing,
        assertions: &'a [Assertion],
    ) -> impl Iterator<Item = (&'a Assertion, f64)> {
        let against = assertions.iter().filter(move |assertion| {
            standing != Standing::Holds && self.standing_of(assertion) == standing
        });
        against.map(|assertion| (assertion, assertion.threshold.unwrap_or(FULL)))
    }

    /// Whether an assertion itself decides how a result counts.
    pub fn is_deciding(assertion: &Assertion) -> bool {
        assertion.threshold.is_some() || assertion.severity == Some(Severity::Gate)
    }

    /// Whether an assertion can fail a case whatever the scorer's score is.
    pub fn is_gate(&self, assertion: &Assertion) -> bool {
        assertion.severity == Some(Severity::Gate) && !self.softens_assertions
    }

    /// An assertion with neither a severity nor a threshold counts only through the scorer's score. A gate without a
    /// threshold must be fully met; a soft assertion without one only measures.
    fn standing_of(&self, assertion: &Assertion) -> Standing {
        let Assertion { score, severity: own, threshold, .. } = assertion;
        let fails = match (own, threshold) {
            (_, Some(threshold)) => score < threshold,
            (Some(Severity::Gate), None) => *score < FULL,
            (Some(Severity::Soft) | None, None) => false,
        };
        match (fails, own.unwrap_or(self.severity)) {
            (false, _) => Standing::Holds,
            (true, Severity::Gate) if !self.softens_assertions => Standing::Failed,
            (true, _) => Standing::Regressed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(severity: Severity, threshold: Option<f64>, direction: Direction) -> Policy {
        Policy::declared(severity, threshold, direction, Scale::Unit)
    }

    #[test]
    fn a_threshold_is_the_worst_score_that_passes() {
        let up = policy(Severity::Soft, Some(0.7), Direction::HigherIsBetter);
        assert_eq!([0.69, 0.7, 1.0].map(|score| up.passes(score)), [false, true, true].map(Some));
        let down = policy(Severity::Soft, Some(0.3), Direction::LowerIsBetter);
        assert_eq!([0.0, 0.3, 0.31].map(|score| down.passes(score)), [true, true, false].map(Some));
    }

    #[test]
    fn a_gate_without_a_threshold_asks_for_the_best_score() {
        assert_eq!(policy(Severity::Gate, None, Direction::HigherIsBetter).threshold(), Some(1.0));
        assert_eq!(policy(Severity::Gate, None, Direction::LowerIsBetter).threshold(), Some(0.0));
        assert_eq!(policy(Severity::Soft, None, Direction::HigherIsBetter).passes(0.0), None);
    }

    fn says(severity: impl Into<Option<Severity>>, threshold: Option<f64>) -> PolicyOverrides {
        PolicyOverrides { severity: severity.into(), threshold, ..PolicyOverrides::default() }
    }

    #[test]
    fn points_have_no_best_score_so_a_suite_that_makes_them_a_gate_says_the_threshold() {
        let points = |severity, threshold| {
            Policy::declared(severity, threshold, Direction::HigherIsBetter, Scale::Points)
        };
        let soft = points(Severity::Soft, None);
        let gate = soft.overridden(&says(Severity::Gate, None));
        assert_eq!(gate, Err(PolicyError::GateWithoutThreshold));
        assert!(soft.overridden(&says(Severity::Gate, Some(100.0))).is_ok());
        // The component's declaration is not checked.
        assert_eq!(points(Severity::Gate, None).passes(0.0), None);
        assert!(points(Severity::Gate, None).overridden(&says(None, None)).is_ok());
    }

    #[test]
    fn a_soft_threshold_fails_a_case_only_where_it_is_strict() {
        let can_fail = |policy: Policy| [false, true].map(|strict| policy.can_fail(strict));
        let up = |severity, threshold| policy(severity, threshold, Direction::HigherIsBetter);
        assert_eq!(can_fail(up(Severity::Gate, None)), [true, true]);
        assert_eq!(can_fail(up(Severity::Soft, Some(0.5))), [false, true]);
        assert_eq!(can_fail(up(Severity::Soft, None)), [false, false]);
        let says = PolicyOverrides { required: Some(true), ..PolicyOverrides::default() };
        assert_eq!(can_fail(up(Severity::Soft, None).overridden(&says).unwrap()), [true, true]);
    }

    #[test]
    fn a_gate_among_the_assertions_can_fail_a_case_unless_the_suite_made_the_scorer_soft() {
        let soft = policy(Severity::Soft, None, Direction::HigherIsBetter);
        let gate = assertion(1.0, Severity::Gate, None);
        assert!(soft.is_gate(&gate) && !soft.is_gate(&assertion(1.0, None, Some(0.5))));
        assert!(!soft.overridden(&says(Severity::Soft, None)).unwrap().is_gate(&gate));
    }

    #[test]
    fn the_suite_has_the_last_word() {
        let declared = policy(Severity::Gate, Some(1.0), Direction::HigherIsBetter);
        let softer = declared.overridden(&says(Severity::Soft, Some(0.5))).unwrap();
        assert_eq!((softer.severity(), softer.threshold()), (Severity::Soft, Some(0.5)));
        assert_eq!(declared.overridden(&says(None, None)).unwrap(), declared);
        let off = declared.overridden(&says(None, Some(1.5)));
        assert_eq!(off, Err(PolicyError::ThresholdOffScale(1.5)));
    }

    #[test]
    fn scores_of_all_scales_become_comparable() {
        let unit = |direction| policy(Severity::Soft, None, direction).unit_score(0.2).unwrap();
        assert_eq!(unit(Direction::HigherIsBetter), 0.2);
        assert_eq!(unit(Direction::LowerIsBetter), 0.8);
        let points = |direction, threshold| {
            Policy::declared(Severity::Soft, threshold, direction, Scale::Points)
        };
        let up = points(Direction::HigherIsBetter, Some(200.0));
        assert_eq!(
            [50.0, 200.0, 500.0].map(|score| up.unit_score(score).unwrap()),
            [0.25, 1.0, 1.0]
        );
        let down = points(Direction::LowerIsBetter, Some(100.0));
        assert_eq!(
            [50.0, 100.0, 400.0].map(|score| down.unit_score(score).unwrap()),
            [1.0, 1.0, 0.25]
        );
        assert_eq!(points(Direction::HigherIsBetter, None).unit_score(3.0), None);
        // Every score meets a threshold of 0.
        assert_eq!(points(Direction::HigherIsBetter, Some(0.0)).unit_score(0.0), Some(1.0));
    }

    fn assertion(
        score: f64,
        severity: impl Into<Option<Severity>>,
        threshold: Option<f64>,
    ) -> Assertion {
        let (name, severity) = ("it holds".into(), severity.into());
        Assertion { name, score, severity, threshold, reason: None }
    }

    #[test]
    fn assertions_take_part_with_their_own_severity_and_threshold() {
        let soft = policy(Severity::Soft, None, Direction::HigherIsBetter);
        let standing = |assertion| soft.standing(0.0, &[assertion]);
        assert_eq!(standing(assertion(0.9, Severity::Gate, None)), Standing::Failed);
        assert_eq!(standing(assertion(0.9, Severity::Gate, Some(0.5))), Standing::Holds);
        assert_eq!(standing(assertion(0.4, Severity::Soft, Some(0.5))), Standing::Regressed);
        assert_eq!(standing(assertion(0.0, Severity::Soft, None)), Standing::Holds);
        assert_eq!(standing(assertion(0.4, None, Some(0.5))), Standing::Regressed);
        let softened = soft.overridden(&says(Severity::Soft, None)).unwrap();
        let gate = assertion(0.0, Severity::Gate, None);
        assert_eq!(softened.standing(1.0, &[gate]), Standing::Regressed);
    }

    #[test]
    fn the_assertions_that_decide_are_those_that_count_as_the_worst() {
        let gate = policy(Severity::Gate, Some(0.5), Direction::HigherIsBetter);
        let all = [
            assertion(0.0, Severity::Gate, None),
            assertion(0.1, Severity::Gate, Some(0.2)),
            assertion(0.1, Severity::Soft, Some(0.2)),
            assertion(1.0, Severity::Gate, None),
        ];
        let decisive = |standing, all| {
            let decisive = gate.decisive(standing, all);
            decisive.map(|(it, least)| (it.score, least)).collect::<Vec<_>>()
        };
        assert_eq!(gate.standing(1.0, &all), Standing::Failed);
        assert_eq!(gate.score_standing(1.0), Standing::Holds);
        assert_eq!(decisive(Standing::Failed, &all), [(0.0, 1.0), (0.1, 0.2)]);
        assert_eq!(decisive(gate.standing(1.0, &all[2..]), &all[2..]), [(0.1, 0.2)]);
        assert_eq!(decisive(Standing::Holds, &all[3..]), []);
    }

    #[test]
    fn an_assertion_that_says_nothing_of_its_own_counts_through_the_score() {
        let gate = policy(Severity::Gate, Some(0.5), Direction::HigherIsBetter);
        assert_eq!(gate.standing(0.5, &[assertion(0.0, None, None)]), Standing::Holds);
        assert_eq!(gate.standing(0.4, &[assertion(0.0, None, None)]), Standing::Failed);
    }

    #[test]
    fn a_weight_is_a_finite_number_of_0_or_more() {
        let policy = policy(Severity::Soft, None, Direction::HigherIsBetter);
        let weighing = |weight| {
            policy
                .overridden(&PolicyOverrides { weight: Some(weight), ..PolicyOverrides::default() })
        };
        assert_eq!(weighing(2.5).unwrap().weight(), 2.5);
        for bad in [-1.0, f64::INFINITY, f64::NAN] {
            assert!(matches!(weighing(bad), Err(PolicyError::BadWeight(_))));
        }
    }
}
