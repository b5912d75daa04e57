//! The verdict of one case, from the answers of all scorers for it. It knows one case at a time.

use serde::Serialize;

use crate::contract::Assertion;

use super::policy::{Policy, Standing};

/// Whether a case passed. In order of priority: the first that applies is the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
pub enum Verdict {
    /// A gate or a required scorer has no score, because of an error.
    Errored,
    /// A gate fails.
    Failed,
    /// The case states that it must not be judged, or every scorer that could decide against it skips it or does not
    /// apply.
    Skipped,
    /// A scorer has no row for it yet, and no existing row decides against it.
    Undecided,
    /// All gates pass.
    Passed,
}

impl Verdict {
    /// The word that is shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Errored => "errored",
            Verdict::Failed => "failed",
            Verdict::Skipped => "skipped",
            Verdict::Undecided => "undecided",
            Verdict::Passed => "passed",
        }
    }
}

/// One scorer's answer for a case, in the form that a verdict needs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
pub enum Counted<'a> {
    /// A score, with the checks that it consists of.
    Score(f64, &'a [Assertion]),
    /// The scorer does not apply: the row does not count.
    Nothing,
    /// The scorer skips the case: the row does not count.
    Skipped,
    /// There is no score, but there should be one.
    Error,
}

/// The verdict of a case, and the facts that go with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CaseVerdict {
    /// Whether it passed.
    pub verdict: Verdict,
    /// The number of scorers with a soft requirement that is not met.
    pub regressions: u32,
    /// The weighted mean of its scores, 0 to 1, where 1 is best; `None` if no scorer with a weight scored it.
    pub score: Option<f64>,
    /// Whether a gate fails, which remains true even if another scorer has an error.
    #[serde(skip)]
    pub has_failure: bool,
    /// Whether a scorer has no row for it yet, as in a run that was interrupted.
    #[serde(rename = "incomplete", skip_serializing_if = "std::ops::Not::not")]
    pub is_incomplete: bool,
    /// Whether the case itself states that it must not be judged.
    #[serde(skip)]
    pub skips_itself: bool,
    /// The verdict if soft scorers with a threshold count as gates.
    #[serde(skip)]
    pub if_strict: Verdict,
}

/// The verdict of a case for other programs: `None` if the case passed in a run in which no scorer can fail a case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ShownVerdict {
    /// Whether it passed.
    pub verdict: Option<Verdict>,
    /// Like in [`CaseVerdict`].
    pub regressions: u32,
    /// Like in [`CaseVerdict`].
    pub score: Option<f64>,
    /// Like in [`CaseVerdict`].
    #[serde(rename = "incomplete", skip_serializing_if = "std::ops::Not::not")]
    pub is_incomplete: bool,
}

impl CaseVerdict {
    /// The verdict to show; `decides`: a scorer of the run can fail a case. If none can, every case passes, which is
    /// meaningless.
    pub fn shown(&self, decides: bool) -> ShownVerdict {
        let CaseVerdict { verdict, regressions, score, is_incomplete, .. } = *self;
        let verdict = Some(verdict).filter(|verdict| decides || *verdict != Verdict::Passed);
        ShownVerdict { verdict, regressions, score, is_incomplete }
    }

    /// This verdict, with this number of regressions and this score.
    pub const fn of(verdict: Verdict, regressions: u32, score: Option<f64>) -> CaseVerdict {
        let has_failure = matches!(verdict, Verdict::Failed);
        let is_incomplete = matches!(verdict, Verdict::Undecided);
        let if_strict = match verdict {
            Verdict::Passed | Verdict::Undecided if regressions > 0 => Verdict::Failed,
            other => other,
        };
        CaseVerdict {
            verdict,
            regressions,
            score,
            has_failure,
            is_incomplete,
            skips_itself: false,
            if_strict,
        }
    }

    /// Whether the case counts in rates and means. A case for which a scorer has no row does not, even if it failed or
    /// is errored: it would not count if all scorers so far passed it, and a rate of cases that were selected by their
    /// verdicts is no evidence about the others.
    pub const fn is_judged(&self) -> bool {
        match self.verdict {
            Verdict::Errored | Verdict::Failed | Verdict::Passed => !self.is_incomplete,
            Verdict::Skipped | Verdict::Undecided => false,
        }
    }

    /// The verdict if a soft regression fails a case too, and so does the error of a scorer that might have regressed.
    #[must_use]
    pub fn strict(self) -> CaseVerdict {
        CaseVerdict {
            verdict: self.if_strict,
            has_failure: self.has_failure || self.regressions > 0,
            ..self
        }
    }
}

/// Weights are multiplied by this if their sum would overflow.
const DOWN: f64 = 1.0 / (1_u64 << 63) as f64;

/// Computes the verdict of a case.
#[derive(Clone, Copy, Debug, Default)]
pub struct CaseTally {
    is_skipped: bool,
    /// How many scorers have no row yet.
    missing: u32,
    /// The scorers that can fail a case.
    deciders: Deciders,
    /// The scorers that can fail a case if soft regressions fail it too.
    deciders_if_strict: Deciders,
    failures: u32,
    regressions: u32,
    weighted: f64,
    weights: f64,
    /// The same sums, with weights multiplied by `DOWN`.
    weighted_down: f64,
    weights_down: f64,
}

/// The outcomes of scorers that can decide against a case.
#[derive(Clone, Copy, Debug, Default)]
struct Deciders {
    /// How many skip it or do not apply to it.
    spared: u32,
    /// How many have a score.
    scored: u32,
    /// How many have no score because of an error.
    errors: u32,
}

impl Deciders {
    fn add(&mut self, counted: Counted<'_>) {
        match counted {
            Counted::Skipped | Counted::Nothing => self.spared += 1,
            Counted::Score(..) => self.scored += 1,
            Counted::Error => self.errors += 1,
        }
    }

    /// Whether all skip the case or do not apply to it.
    fn spare_it(&self) -> bool {
        self.spared > 0 && self.scored == 0 && self.errors == 0
    }
}

impl CaseTally {
    /// Starts a case without any answers.
    pub fn new() -> CaseTally {
        CaseTally::default()
    }

    /// A case that states that it must not be judged.
    pub fn skipped() -> CaseTally {
        CaseTally { is_skipped: true, ..CaseTally::default() }
    }

    /// Adds this number of scorers without a row.
    pub fn lacks(&mut self, scorers: u32) {
        self.missing += scorers;
    }

    /// Adds the answer of one scorer, and returns how it counts.
    pub fn add(&mut self, policy: &Policy, counted: Counted<'_>) -> Standing {
        let standing = match counted {
            Counted::Error if policy.needs_a_score() => Standing::Errored,
            Counted::Nothing | Counted::Skipped | Counted::Error => Standing::Holds,
            Counted::Score(score, assertions) => {
                if let Some(unit) = policy.unit_score(score) {
                    self.weighted += unit * policy.weight();
                    self.weights += policy.weight();
                    self.weighted_down += unit * (policy.weight() * DOWN);
                    self.weights_down += policy.weight() * DOWN;
                }
                policy.standing(score, assertions)
            }
        };
        let assertions = match counted {
            Counted::Score(_, assertions) => assertions,
            Counted::Nothing | Counted::Skipped | Counted::Error => &[],
        };
        if policy.can_fail(false) || assertions.iter().any(|it| policy.is_gate(it)) {
            self.deciders.add(counted);
        }
        if policy.can_fail(true) || assertions.iter().any(Policy::is_deciding) {
            self.deciders_if_strict.add(counted);
        }
        match standing {
            Standing::Holds | Standing::Errored => {}
            Standing::Regressed => self.regressions += 1,
            Standing::Failed => self.failures += 1,
        }
        standing
    }

    /// The verdict.
    pub fn verdict(&self) -> CaseVerdict {
        let verdict = self.verdict_of(&self.deciders, self.failures);
        let failures = self.failures + self.regressions;
        let if_strict = self.verdict_of(&self.deciders_if_strict, failures);
        let score = (self.weights > 0.0).then(|| match self.weights.is_finite() {
            true => self.weighted / self.weights,
            false => self.weighted_down / self.weights_down,
        });
        CaseVerdict {
            has_failure: self.failures > 0,
            is_incomplete: self.missing > 0,
            skips_itself: self.is_skipped,
            if_strict,
            ..CaseVerdict::of(verdict, self.regressions, score)
        }
    }

    fn verdict_of(&self, deciders: &Deciders, failures: u32) -> Verdict {
        match (deciders.errors, failures, self.is_skipped, self.missing) {
            (1.., ..) => Verdict::Errored,
            (_, 1.., ..) => Verdict::Failed,
            (_, _, true, _) => Verdict::Skipped,
            (.., 1..) => Verdict::Undecided,
            _ if deciders.spare_it() => Verdict::Skipped,
            _ => Verdict::Passed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::{Direction, Scale, Severity},
        verdict::PolicyOverrides,
    };

    fn policy(severity: Severity, threshold: f64) -> Policy {
        Policy::declared(severity, Some(threshold), Direction::HigherIsBetter, Scale::Unit)
    }

    fn verdict(rows: &[(Policy, Counted<'_>)]) -> CaseVerdict {
        let mut tally = CaseTally::new();
        for (policy, counted) in rows {
            tally.add(policy, *counted);
        }
        tally.verdict()
    }

    #[test]
    fn the_worst_that_applies_is_the_verdict() {
        let (gate, soft) = (policy(Severity::Gate, 1.0), policy(Severity::Soft, 0.5));
        let (good, bad) = (Counted::Score(1.0, &[]), Counted::Score(0.0, &[]));
        assert_eq!(verdict(&[(gate, good), (soft, good)]).verdict, Verdict::Passed);
        assert_eq!(verdict(&[(gate, bad), (soft, good)]).verdict, Verdict::Failed);
        assert_eq!(verdict(&[(gate, bad), (gate, Counted::Error)]).verdict, Verdict::Errored);
        assert_eq!(verdict(&[]).verdict, Verdict::Passed);
    }

    #[test]
    fn an_error_does_not_undo_that_a_gate_failed() {
        let (gate, soft) = (policy(Severity::Gate, 1.0), policy(Severity::Soft, 0.5));
        let (bad, error) = (Counted::Score(0.0, &[]), Counted::Error);
        assert!(verdict(&[(gate, bad), (gate, error)]).has_failure);
        assert!(!verdict(&[(gate, error)]).has_failure);
        let regressed = verdict(&[(soft, bad), (gate, error)]);
        assert!(!regressed.has_failure && regressed.strict().has_failure);
    }

    #[test]
    fn a_soft_regression_is_recorded_and_fails_only_where_it_is_strict() {
        let soft = policy(Severity::Soft, 0.5);
        let regressed = verdict(&[(soft, Counted::Score(0.4, &[]))]);
        assert_eq!((regressed.verdict, regressed.regressions), (Verdict::Passed, 1));
        assert_eq!(regressed.strict().verdict, Verdict::Failed);
        let fine = verdict(&[(soft, Counted::Score(0.5, &[]))]);
        assert_eq!(fine.strict().verdict, Verdict::Passed);
    }

    #[test]
    fn errors_of_soft_scorers_count_where_they_are_required() {
        let soft = policy(Severity::Soft, 0.5);
        assert_eq!(verdict(&[(soft, Counted::Error)]).verdict, Verdict::Passed);
        let says = PolicyOverrides { required: Some(true), ..PolicyOverrides::default() };
        let required = soft.overridden(&says).unwrap();
        assert_eq!(verdict(&[(required, Counted::Error)]).verdict, Verdict::Errored);
    }

    #[test]
    fn an_error_of_a_scorer_that_might_have_regressed_is_no_pass_where_regressions_fail() {
        let soft = policy(Severity::Soft, 0.5);
        let measures =
            Policy::declared(Severity::Soft, None, Direction::HigherIsBetter, Scale::Unit);
        assert_eq!(verdict(&[(soft, Counted::Error)]).strict().verdict, Verdict::Errored);
        assert_eq!(verdict(&[(measures, Counted::Error)]).strict().verdict, Verdict::Passed);
        let regressed = [(soft, Counted::Error), (soft, Counted::Score(0.0, &[]))];
        let strict = verdict(&regressed).strict();
        assert_eq!((strict.verdict, strict.has_failure), (Verdict::Errored, true));
    }

    #[test]
    fn a_skipped_case_is_skipped_unless_something_of_it_failed() {
        assert_eq!(CaseTally::skipped().verdict().verdict, Verdict::Skipped);
        let mut tally = CaseTally::skipped();
        tally.add(&policy(Severity::Gate, 1.0), Counted::Score(0.0, &[]));
        assert_eq!(tally.verdict().verdict, Verdict::Failed);
    }

    #[test]
    fn a_case_that_no_deciding_scorer_saw_is_skipped_and_not_passed() {
        let (gate, soft) = (policy(Severity::Gate, 1.0), policy(Severity::Soft, 0.5));
        let measures =
            Policy::declared(Severity::Soft, None, Direction::HigherIsBetter, Scale::Unit);
        let (good, skipped) = (Counted::Score(1.0, &[]), Counted::Skipped);
        let by_a_soft_one = verdict(&[(gate, skipped), (soft, good)]);
        assert_eq!(by_a_soft_one.verdict, Verdict::Skipped);
        assert_eq!(by_a_soft_one.strict().verdict, Verdict::Passed);
        let regressed = verdict(&[(gate, skipped), (soft, Counted::Score(0.0, &[]))]);
        assert_eq!((regressed.verdict, regressed.regressions), (Verdict::Skipped, 1));
        assert_eq!(regressed.strict().verdict, Verdict::Failed);
        assert_eq!(verdict(&[(gate, skipped), (soft, Counted::Error)]).verdict, Verdict::Skipped);
        assert_eq!(verdict(&[(gate, skipped), (measures, good)]).verdict, Verdict::Skipped);
        assert_eq!(verdict(&[(gate, skipped), (soft, skipped)]).verdict, Verdict::Skipped);
        assert_eq!(verdict(&[(measures, skipped)]).verdict, Verdict::Passed);
        assert_eq!(verdict(&[(gate, Counted::Nothing), (soft, skipped)]).verdict, Verdict::Skipped);
        assert_eq!(verdict(&[(gate, Counted::Nothing)]).verdict, Verdict::Skipped);
        assert_eq!(verdict(&[(soft, skipped)]).verdict, Verdict::Passed);
        assert_eq!(verdict(&[(soft, skipped)]).strict().verdict, Verdict::Skipped);
    }

    #[test]
    fn a_gate_among_the_assertions_of_a_score_decides_as_a_gate_does() {
        let gate = policy(Severity::Gate, 1.0);
        let measures =
            Policy::declared(Severity::Soft, None, Direction::HigherIsBetter, Scale::Unit);
        let holds = [Assertion {
            name: "cited".into(),
            score: 1.0,
            severity: Some(Severity::Gate),
            threshold: None,
            reason: None,
        }];
        let rows = [(gate, Counted::Skipped), (measures, Counted::Score(0.3, &holds))];
        assert_eq!(verdict(&rows).verdict, Verdict::Passed);
        let softened = measures.softening_assertions(true);
        let rows = [(gate, Counted::Skipped), (softened, Counted::Score(0.3, &holds))];
        assert_eq!(verdict(&rows).verdict, Verdict::Skipped);
    }

    #[test]
    fn a_case_that_lacks_a_scorer_has_not_passed() {
        let gate = policy(Severity::Gate, 1.0);
        let lacking = |counted: Option<Counted<'_>>, mut tally: CaseTally| {
            tally.lacks(1);
            counted.map(|counted| tally.add(&gate, counted));
            tally.verdict().verdict
        };
        let of = |counted| lacking(counted, CaseTally::new());
        assert_eq!(of(None), Verdict::Undecided);
        assert_eq!(of(Some(Counted::Score(1.0, &[]))), Verdict::Undecided);
        assert_eq!(of(Some(Counted::Score(0.0, &[]))), Verdict::Failed);
        assert_eq!(of(Some(Counted::Error)), Verdict::Errored);
        assert_eq!(lacking(None, CaseTally::skipped()), Verdict::Skipped);
    }

    #[test]
    fn a_case_that_lacks_a_scorer_counts_in_no_rate_whatever_the_others_say() {
        let gate = policy(Severity::Gate, 1.0);
        let is_judged = |counted: Counted<'_>, lacking| {
            let mut tally = CaseTally::new();
            tally.lacks(lacking);
            tally.add(&gate, counted);
            tally.verdict().is_judged()
        };
        for counted in [Counted::Score(1.0, &[]), Counted::Score(0.0, &[]), Counted::Error] {
            assert!(is_judged(counted, 0) && !is_judged(counted, 1), "{counted:?}");
        }
        assert!(!CaseTally::skipped().verdict().is_judged());
    }

    #[test]
    fn a_regression_that_fails_a_case_makes_it_no_more_complete() {
        let mut tally = CaseTally::new();
        tally.lacks(1);
        tally.add(&policy(Severity::Soft, 0.5), Counted::Score(0.4, &[]));
        let strict = tally.verdict().strict();
        assert_eq!((strict.verdict, strict.is_judged()), (Verdict::Failed, false));
    }

    #[test]
    fn weights_whose_sum_is_beyond_all_numbers_have_a_mean() {
        let soft = policy(Severity::Soft, 0.5);
        let says = PolicyOverrides { weight: Some(1e308), ..PolicyOverrides::default() };
        let heavy = soft.overridden(&says).unwrap();
        let of = |scores: [f64; 2]| {
            verdict(&scores.map(|score| (heavy, Counted::Score(score, &[])))).score.unwrap()
        };
        assert_eq!((of([1.0, 1.0]), of([0.5, 0.5])), (1.0, 0.5));
        assert!((of([1.0, 0.5]) - 0.75).abs() < 1e-15);
    }

    #[test]
    fn the_score_of_a_case_is_the_weighted_mean_of_what_was_scored() {
        let soft = policy(Severity::Soft, 0.5);
        let weighing = |weight| {
            let says = PolicyOverrides { weight: Some(weight), ..PolicyOverrides::default() };
            soft.overridden(&says).unwrap()
        };
        let heavy = weighing(3.0);
        let rows = [(soft, Counted::Score(1.0, &[])), (heavy, Counted::Score(0.5, &[]))];
        assert_eq!(verdict(&rows).score, Some(2.5 / 4.0));
        let none = [(heavy, Counted::Nothing), (soft, Counted::Error)];
        assert_eq!(verdict(&none).score, None);
        let weightless = weighing(0.0);
        assert_eq!(verdict(&[(weightless, Counted::Score(1.0, &[]))]).score, None);
    }
}
