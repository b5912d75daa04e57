//! Computes the verdicts of a run's stored cases: what `verdict` decides, over what `store` streams. Memory use stays
//! constant.

use std::{collections::HashMap, iter};

use super::{
    consumed::{effort, hides_a_cache},
    verdicts::{Against, DecidedCase, DecidedRun, DecidedScorer, Decisive, VerdictOptions},
};
use crate::{
    contract::Assertion,
    row::Status,
    stats::{ClusteredMean, Rate},
    store::{CaseKey, CaseToDecide, RowToDecide, RunKey, ScorerKey, Store, StoreError, in_short},
    suite::{Sampling, Skip},
    verdict::{CaseTally, CaseVerdict, Counted, Policy, RunTally, Standing, Verdict},
};

/// Computes the verdicts of a run's cases, and calls `take` with each in their order until it returns false; returns
/// what was decided so far.
///
/// # Errors
/// [`StoreError::NoSuchRun`]; [`StoreError::Corrupt`] if assertions are not valid; the database cannot be read.
pub fn verdicts(
    store: &Store,
    run: &str,
    options: VerdictOptions<'_>,
    take: impl FnMut(DecidedCase<'_>) -> bool,
) -> Result<DecidedRun, StoreError> {
    decide(store, run, None, options, take)
}

/// Computes [`DecidedRun::decides`] before the verdicts. It reads cases only if no score can fail a case, until it
/// finds an assertion that can.
///
/// # Errors
/// Like [`verdicts`].
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

/// Like [`verdicts`], beginning with the case `from`: the result covers the cases from there on.
///
/// # Errors
/// Like [`verdicts`].
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
        let mut decider = Decider::new(store, run)?.strict(options.strict);
        let (mut tally, mut damaged, mut unseen_cache) = (RunTally::default(), None, 0);
        let (mut may_repeat, mut is_whole) = (false, from.is_none());
        store.for_each_case_from(run, from, options.node, |case| match decider.case(case) {
            Err(what) => {
                damaged = Some(what);
                false
            }
            Ok((verdict, against)) => {
                let verdict = if options.strict { verdict.strict() } else { verdict };
                tally.add(verdict, effort(case));
                unseen_cache += u64::from(hides_a_cache(case));
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
                Ok(DecidedRun { decides, unseen_cache, verdict, scorers: decider.scorers })
            }
        }
    })
}

/// A rate of attempts, with an interval over cases, because attempts at one case are similar.
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
    // The attempts at a single case are no evidence about other cases.
    let (low, high) = mean.interval(0.0..=1.0).map_or((0.0, 1.0), |it| (it.low, it.high));
    Ok(Rate { rate: rate.rate, low, high })
}

/// Computes the verdict of one case after another.
pub(super) struct Decider {
    /// The scorers, in the suite's order, and what they decided so far.
    pub(super) scorers: Vec<DecidedScorer>,
    indices: HashMap<ScorerKey, usize>,
    /// By index, how the assertion that is named first counted.
    first: Vec<Standing>,
    /// By index, the scorer whose results the scorer scores.
    subjects: Vec<Option<usize>>,
    /// Whether a soft regression fails a case.
    is_strict: bool,
}

/// Why a scorer did not have to score a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spared {
    /// Its nodes do not match the case.
    ByNodes,
    /// Sampling left it out.
    BySampling,
    /// Its `when` does not hold, or it does not apply.
    LetThrough,
}

impl Spared {
    /// The cause, from the reason of a row that has neither a score nor an error.
    fn by(row: &RowToDecide) -> Spared {
        match () {
            () if is_because(row, Skip::Node) => Spared::ByNodes,
            () if is_because(row, Skip::Sampling) => Spared::BySampling,
            () => Spared::LetThrough,
        }
    }
}

/// Whether a row is skipped for this reason.
pub(super) fn is_because(row: &RowToDecide, skip: Skip) -> bool {
    row.skipped_because.as_deref() == Some(&*skip.reason(None))
}

/// A row that decided against its case.
pub(super) struct Decided {
    /// The scorer's index.
    index: usize,
    standing: Standing,
    score: Option<f64>,
    assertions: Vec<Decisive>,
}

impl Decider {
    /// The scorers of a run, before any decision.
    pub(super) fn new(store: &Store, run: RunKey) -> Result<Decider, StoreError> {
        let stored = store.scorers(run)?;
        let indices =
            stored.iter().enumerate().map(|(index, scorer)| (scorer.key, index)).collect();
        let subjects = stored.iter().map(|scorer| {
            let subject = scorer.spec.subject.as_ref()?;
            stored.iter().position(|other| other.spec.scorer_id == *subject)
        });
        let subjects: Vec<Option<usize>> = subjects.collect();
        let mut are_off: Vec<bool> = Vec::with_capacity(stored.len());
        for (scorer, subject) in stored.iter().zip(&subjects) {
            // Subjects come before the scorers of their results.
            let by_subject = subject.and_then(|index| are_off.get(index).copied());
            are_off.push(is_off(scorer.spec.sampling_json.as_deref()) || by_subject == Some(true));
        }
        let scorers = stored.into_iter().zip(are_off).map(|(scorer, is_off)| {
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
                is_off,
                decided: 0,
                spared: 0,
                left_out: 0,
                let_through: 0,
            }
        });
        let scorers: Vec<DecidedScorer> = scorers.collect();
        let first = vec![Standing::Holds; scorers.len()];
        Ok(Decider { first, scorers, indices, subjects, is_strict: false })
    }

    /// The same; if `is_strict`, the error of a scorer that might have regressed counts against a case.
    fn strict(self, is_strict: bool) -> Decider {
        Decider { is_strict, ..self }
    }

    /// Whether a scorer can keep a case from passing.
    pub(super) fn can_fail(&self, strict: bool) -> bool {
        self.scorers.iter().any(|scorer| scorer.can_fail(strict))
    }

    /// The verdict of a case, and the rows that decided against it.
    ///
    /// # Errors
    /// A stored assertion that is not valid, or a score that its scorer cannot have given.
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
            // Verification reports a row that belongs to no scorer of the run.
            let Some(index) = self.indices.get(&row.scorer) else { continue };
            missing = missing.saturating_sub(1);
            against.extend(self.row(*index, case, row, &mut tally)?);
        }
        tally.lacks(u32::try_from(missing).unwrap_or(u32::MAX));
        Ok((tally.verdict(), against))
    }

    /// What the row of the scorer at this index decides, counted in the scorer and in the `tally` of its case; `None`
    /// if it does not count against the case.
    fn row(
        &mut self,
        index: usize,
        case: &CaseToDecide,
        row: &RowToDecide,
        tally: &mut CaseTally,
    ) -> Result<Option<Decided>, String> {
        let spared = row.score.is_none().then(|| self.spared(index, case, row)).flatten();
        let scorer = &mut self.scorers[index];
        let assertions = assertions(case, row)?;
        scorer.has_deciding_assertions |= assertions.iter().any(Policy::is_deciding);
        scorer.has_gates |= assertions.iter().any(|it| scorer.policy.is_gate(it));
        if let Some(score) = row.score.filter(|score| !scorer.policy.scale().contains(*score)) {
            let (scorer, case) = (&scorer.scorer_id, &case.case_id);
            let score = in_short(&score);
            return Err(format!(
                "the score {score} of `{scorer}` for `{case}` is not on its scale"
            ));
        }
        let counted = counted(row, &assertions);
        scorer.count(counted, spared);
        let mut standing = tally.add(&scorer.policy, counted);
        let is_error = matches!(counted, Counted::Error);
        if standing == Standing::Holds && self.is_strict && is_error && scorer.policy.can_fail(true)
        {
            standing = Standing::Errored;
        }
        scorer.note(standing, row.status);
        if standing == Standing::Holds {
            return Ok(None);
        }
        let decisive = Decisive::of(&scorer.policy, standing, &assertions);
        let alone = row.score.map(|score| scorer.policy.score_standing(score));
        if let Some(first) = decisive.first().filter(|_| alone != Some(standing)) {
            scorer.by_assertions += 1;
            if standing > self.first[index] {
                self.first[index] = standing;
                scorer.first_assertion = Some(first.name.clone());
            }
        }
        Ok(Some(Decided { index, standing, score: row.score, assertions: decisive }))
    }

    /// Why the scorer at this index did not have to score the case; `None` if the case has `skip`, or if an error left
    /// no result to score. For a scorer of results, the cause is that of its subject, or of a subject further up.
    fn spared(&self, index: usize, case: &CaseToDecide, own: &RowToDecide) -> Option<Spared> {
        if case.skip.is_some() {
            return None;
        }
        let subject_of = |index: &usize| self.subjects.get(*index).copied().flatten();
        let above = iter::successors(subject_of(&index), subject_of).take(self.subjects.len());
        let row_of = |index: usize| {
            let of_it = |row: &&RowToDecide| self.indices.get(&row.scorer) == Some(&index);
            case.rows.iter().find(of_it)
        };
        let mut because_of = own;
        for row in above.map_while(row_of) {
            match row.status {
                Status::Error => return None,
                Status::Skipped if is_because(because_of, Skip::NoResult) => because_of = row,
                Status::Scored | Status::NotApplicable | Status::Skipped => {}
            }
        }
        Some(Spared::by(because_of))
    }

    /// A scorer's index among the scorers.
    pub(super) fn index(&self, scorer: ScorerKey) -> Option<usize> {
        self.indices.get(&scorer).copied()
    }

    fn named(&self, against: Vec<Decided>) -> Vec<Against<'_>> {
        let named = |decided: Decided| Against {
            scorer_id: &self.scorers[decided.index].scorer_id,
            standing: decided.standing,
            score: decided.score,
            threshold: self.scorers[decided.index].threshold,
            assertions: decided.assertions,
        };
        against.into_iter().map(named).collect()
    }
}

impl DecidedScorer {
    /// Counts that it decided about a case, or why it did not have to score it.
    fn count(&mut self, counted: Counted<'_>, spared: Option<Spared>) {
        match counted {
            Counted::Score(..) | Counted::Error => self.decided += 1,
            Counted::Nothing | Counted::Skipped => {
                self.spared += u64::from(spared.is_some());
                self.left_out += u64::from(spared == Some(Spared::BySampling));
                self.let_through += u64::from(spared == Some(Spared::LetThrough));
            }
        }
    }

    /// Counts a row with this standing and status.
    fn note(&mut self, standing: Standing, status: Status) {
        match standing {
            Standing::Holds => self.held += u64::from(status == Status::Scored),
            Standing::Regressed => self.regressed += 1,
            Standing::Failed => self.failed += 1,
            Standing::Errored => self.errored += 1,
        }
    }
}

/// The content of a row in the form that a verdict counts.
fn counted<'a>(row: &RowToDecide, assertions: &'a [Assertion]) -> Counted<'a> {
    match (row.status, row.score) {
        (Status::Scored, Some(score)) => Counted::Score(score, assertions),
        (Status::Error, _) => Counted::Error,
        (Status::Skipped, _) => Counted::Skipped,
        _ => Counted::Nothing,
    }
}

fn assertions(case: &CaseToDecide, row: &RowToDecide) -> Result<Vec<Assertion>, String> {
    let Some(json) = &row.assertions else { return Ok(Vec::new()) };
    serde_json::from_str(json.get()).map_err(|error| {
        format!("the assertions stored for `{}` are not valid: {error}", case.case_id)
    })
}

/// Whether this stored sampling means that the scorer never runs.
fn is_off(sampling_json: Option<&str>) -> bool {
    let sampling = sampling_json.and_then(|json| serde_json::from_str::<Sampling>(json).ok());
    sampling.is_some_and(Sampling::is_off)
}
