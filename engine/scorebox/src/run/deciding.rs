//! The verdict of a case as its rows come, for the sinks. `verdict` has the rules for it.

use crate::{
    case::Case,
    row::{Answer, Status},
    sandbox::Outcome,
    verdict::{CaseTally, Counted, Policy, Verdict},
};

/// The verdict of a case so far; `None` if some of its rows are unknown, because an earlier session has them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deciding(Option<CaseTally>);

impl Deciding {
    /// A case without rows so far; `is_whole` means that all rows will come.
    pub(super) fn new(case: &Case, is_whole: bool) -> Deciding {
        Deciding(is_whole.then(|| match case.skip() {
            Some(_) => CaseTally::skipped(),
            None => CaseTally::new(),
        }))
    }

    /// Adds the outcome of a scorer.
    pub(super) fn outcome(&mut self, policy: &Policy, outcome: &Outcome) {
        self.add(
            policy,
            match &outcome.result {
                Ok(result) => match result.score {
                    Some(score) => Counted::Score(score, &result.assertions),
                    None => Counted::Nothing,
                },
                Err(_) => Counted::Error,
            },
        );
    }

    /// Adds a row that is copied from an earlier run.
    pub(super) fn copied(&mut self, policy: &Policy, answer: &Answer) {
        match (answer.status, answer.score, answer.assertions()) {
            (Status::Scored, Some(score), Ok(assertions)) => {
                self.add(policy, Counted::Score(score, &assertions));
            }
            (Status::Scored, ..) => self.lose(),
            (Status::Error, ..) => self.add(policy, Counted::Error),
            (Status::Skipped, ..) => self.skipped(policy),
            (Status::NotApplicable, ..) => self.add(policy, Counted::Nothing),
        }
    }

    /// Adds a scorer that skips the case.
    pub(super) fn skipped(&mut self, policy: &Policy) {
        self.add(policy, Counted::Skipped);
    }

    /// Gives up the verdict, because a row of the case is unknown.
    pub(super) fn lose(&mut self) {
        self.0 = None;
    }

    fn add(&mut self, policy: &Policy, counted: Counted<'_>) {
        if let Some(tally) = &mut self.0 {
            tally.add(policy, counted);
        }
    }

    /// The verdict, and how many scorers regressed.
    pub(super) fn verdict(&self) -> Option<(Verdict, u32)> {
        let verdict = self.0?.verdict();
        Some((verdict.verdict, verdict.regressions))
    }
}
