//! Computes whether one run is better than another, scorer by scorer, on the cases that both have. It keeps the
//! difference of each pair for up to 20 000 pairs per scorer, and the cases that changed most, but nothing else of a
//! case.

use std::path::Path;

use super::{
    attempts_compared::{ComparedAttempts, Part},
    comparison::{
        ACCEPTED_ERROR, ComparedQuestions, ComparedRun, ComparedScorer, ComparedScores, Comparison,
        ComparisonError, ComparisonOptions, Finding, RunIn,
    },
    pairs::Pairs,
    side_by_side::{AsOne, Beside, OneCase, Side, next},
};
use crate::{
    contract::{Direction, Scale},
    stats::paired::{difference, holm},
    store::{ScorerRecord, ScorerSpec, Store},
    verdict::Policy,
};

/// How many ids are shown of the cases that only one run has.
const CASES_NAMED: usize = 10;
/// How many first cases of both runs have their questions compared, which shows if ids name other cases.
const QUESTIONS_COMPARED: u64 = 1000;

/// Compares two runs, of one database or of two, on the cases that both have: by id, with the attempts at a case
/// combined.
///
/// # Errors
/// [`StoreError::NoSuchRun`](crate::store::StoreError::NoSuchRun), or the database cannot be read; a run with itself;
/// runs that share no case or no scorer; a scorer that one of them does not have; a difference that is not on the scale;
/// different numbers of scores of one case, if the reducer depends on them; more than 100,000 attempts at one case.
pub fn comparison(
    a: RunIn<'_>,
    b: RunIn<'_>,
    options: ComparisonOptions<'_>,
) -> Result<Comparison, ComparisonError> {
    if a.run == b.run && is_same_file(a.store.path(), b.store.path()) {
        return Err(ComparisonError::SameRun { run_id: a.run.to_owned() });
    }
    a.store.snapshot(|store_a| {
        b.store.snapshot(|store_b| {
            let as_one = AsOne { reducer: options.reducer, strict: options.strict };
            let mut side_a = Side::new(store_a, a.run, options.node, as_one)?;
            let mut side_b = Side::new(store_b, b.run, options.node, as_one)?;
            let mut comparing = Comparing::new(store_a, store_b, &side_a, &side_b, options)?;
            while let Some(case) = next(&mut side_a, &mut side_b)? {
                if let Beside::Both(both) = &case
                    && comparing.cases < QUESTIONS_COMPARED
                {
                    let (one, other) = &**both;
                    let question = store_a.question(one.key)?;
                    comparing.add_question(question == store_b.question(other.key)?);
                }
                comparing.add(case)?;
            }
            comparing.finish(&side_a, &side_b)
        })
    })
}

/// Whether both name one file, a link included.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// A comparison in the making.
struct Comparing<'a> {
    options: ComparisonOptions<'a>,
    a: ComparedRun,
    b: ComparedRun,
    cases: u64,
    attempts: ComparedAttempts,
    questions: ComparedQuestions,
    verdict: Pairs,
    scorers: Vec<Pair>,
    incomparable: Vec<String>,
}

/// A scorer that both runs have.
struct Pair {
    scorer_id: String,
    index_a: usize,
    index_b: usize,
    policies: [Policy; 2],
    same_scorer: bool,
    same_judge: bool,
    same_policy: bool,
    /// Whether the verdict of each case changes as its score does.
    changes_verdicts: bool,
    pairs: Pairs,
}

impl Pair {
    /// The scorers at these indices in both runs; `None` if their scores cannot be compared.
    fn of(
        (index_a, one): (usize, &ScorerRecord),
        (index_b, other): (usize, &ScorerRecord),
    ) -> Option<Pair> {
        let (one, other) = (&one.spec, &other.spec);
        if (one.scale, one.direction) != (other.scale, other.direction) {
            return None;
        }
        let is = |it: &ScorerSpec| (it.component_digest, it.config_digest, it.output_from.clone());
        Some(Pair {
            scorer_id: one.scorer_id.clone(),
            index_a,
            index_b,
            policies: [one.policy(), other.policy()],
            same_scorer: is(one) == is(other),
            same_judge: one.asks_judge_like(other.judge_json.as_deref()),
            same_policy: one.policy().counts_as(&other.policy()),
            changes_verdicts: true,
            pairs: Pairs::new(one.direction, one.scale),
        })
    }
}

fn ids(scorers: &[ScorerRecord]) -> Vec<String> {
    scorers.iter().map(|scorer| scorer.spec.scorer_id.clone()).collect()
}

fn must_have(run_id: &str, scorer_ids: &[String], asked: &str) -> Result<(), ComparisonError> {
    match scorer_ids.iter().any(|id| id == asked) {
        true => Ok(()),
        false => Err(ComparisonError::NoSuchScorer {
            run_id: run_id.to_owned(),
            scorer_id: asked.to_owned(),
            scorer_ids: scorer_ids.to_vec(),
        }),
    }
}

/// The scorers that both runs have, or only the requested one; and the names of those whose scores cannot be compared.
fn paired(
    of_a: &[ScorerRecord],
    of_b: &[ScorerRecord],
    asked: Option<&str>,
) -> (Vec<Pair>, Vec<String>) {
    let (mut scorers, mut incomparable) = (Vec::new(), Vec::new());
    for (index_a, one) in of_a.iter().enumerate() {
        let scorer_id = &one.spec.scorer_id;
        if asked.is_some_and(|asked| asked != scorer_id) {
            continue;
        }
        let same = |(_, other): &(usize, &ScorerRecord)| other.spec.scorer_id == *scorer_id;
        let Some(other) = of_b.iter().enumerate().find(same) else { continue };
        match Pair::of((index_a, one), other) {
            Some(pair) => scorers.push(pair),
            None => incomparable.push(scorer_id.clone()),
        }
    }
    (scorers, incomparable)
}

/// A run, before its cases are compared.
fn before_cases(run_id: String, side: &Side<'_>, ids: &[String], others: &[String]) -> ComparedRun {
    ComparedRun {
        run_id,
        state: side.record.state,
        // Whether assertions decide is known when all cases are read.
        has_verdicts: false,
        cases: 0,
        attempts: 0,
        only_here: 0,
        examples: Vec::new(),
        scorers_only_here: ids.iter().filter(|id| !others.contains(id)).cloned().collect(),
    }
}

impl<'a> Comparing<'a> {
    fn new(
        store_a: &Store,
        store_b: &Store,
        a: &Side<'_>,
        b: &Side<'_>,
        options: ComparisonOptions<'a>,
    ) -> Result<Comparing<'a>, ComparisonError> {
        let (of_a, of_b) = (store_a.scorers(a.record.key)?, store_b.scorers(b.record.key)?);
        let (ids_a, ids_b) = (ids(&of_a), ids(&of_b));
        let (run_a, run_b) = (a.record.spec.id.to_string(), b.record.spec.id.to_string());
        if let Some(asked) = options.scorer {
            must_have(&run_a, &ids_a, asked)?;
            must_have(&run_b, &ids_b, asked)?;
        }
        let (scorers, incomparable) = paired(&of_a, &of_b, options.scorer);
        if let (Some(_), Some(scorer_id)) = (options.scorer, incomparable.first()) {
            return Err(ComparisonError::Incomparable { scorer_id: scorer_id.clone() });
        }
        if scorers.is_empty() && incomparable.is_empty() {
            let (a, b, scorers_a, scorers_b) = (run_a, run_b, ids_a, ids_b);
            return Err(ComparisonError::NoSharedScorer { a, b, scorers_a, scorers_b });
        }
        let is_off = |asked: f64| scorers.iter().all(|pair| asked > pair.pairs.largest());
        if let Some(difference) = options.difference.filter(|_| !scorers.is_empty())
            && is_off(difference)
        {
            let scorer_ids = scorers.into_iter().map(|pair| pair.scorer_id).collect();
            return Err(ComparisonError::OffTheScale { difference, scorer_ids });
        }
        Ok(Comparing {
            options,
            a: before_cases(run_a, a, &ids_a, &ids_b),
            b: before_cases(run_b, b, &ids_b, &ids_a),
            cases: 0,
            attempts: ComparedAttempts::default(),
            questions: ComparedQuestions::default(),
            verdict: Pairs::new(Direction::HigherIsBetter, Scale::Unit),
            scorers,
            incomparable,
        })
    }

    fn add_question(&mut self, is_same: bool) {
        self.questions.compared += 1;
        self.questions.others += u64::from(!is_same);
    }

    fn add(&mut self, case: Beside) -> Result<(), ComparisonError> {
        match case {
            Beside::OnlyFirst(case) => self.a.only(case),
            Beside::OnlySecond(case) => self.b.only(case),
            Beside::Both(both) => {
                let (one, other) = &*both;
                self.must_have_as_many(one, other)?;
                self.both(one, other);
                self.failed_in_b(one, other);
            }
        }
        Ok(())
    }

    /// Refuses different numbers of scores, if more of them have another reduced score on average.
    fn must_have_as_many(&self, one: &OneCase, other: &OneCase) -> Result<(), ComparisonError> {
        let reducer = self.options.reducer;
        if !reducer.depends_on_count() {
            return Ok(());
        }
        for scorer in &self.scorers {
            let of = |case: &OneCase, index: usize| case.scored.get(index).copied().unwrap_or(0);
            let (a, b) = (of(one, scorer.index_a), of(other, scorer.index_b));
            if a > 0 && b > 0 && a != b {
                let (case_id, scorer_id) = (one.case_id.clone(), scorer.scorer_id.clone());
                return Err(ComparisonError::UnevenAttempts { case_id, scorer_id, reducer, a, b });
            }
        }
        Ok(())
    }

    /// Counts a case that fails in b, and of which a says neither that it passes nor that it fails.
    fn failed_in_b(&mut self, one: &OneCase, other: &OneCase) {
        if other.failed > 0 {
            let is_undecided = one.judged == 0 && one.undecided > 0;
            let is_errored = one.judged > 0 && one.errored == one.judged;
            self.verdict.failed_spared += u64::from(is_undecided);
            self.verdict.failed_errored += u64::from(is_errored);
        }
        let strict = self.options.strict;
        if self.options.scorer.is_none() {
            return;
        }
        for scorer in &mut self.scorers {
            let of = |counts: &[u64]| counts.get(scorer.index_a).copied().unwrap_or_default();
            let is_undecided = of(&one.scored) + of(&one.errors) == 0 && of(&one.spared) > 0;
            let score = other.scores.get(scorer.index_b).copied().flatten();
            let [_, policy] = scorer.policies;
            let fails = score.and_then(|score| policy.passes(score)) == Some(false);
            let fails = fails && policy.can_fail(strict);
            scorer.pairs.failed_spared += u64::from(is_undecided && fails);
        }
    }

    fn both(&mut self, one: &OneCase, other: &OneCase) {
        self.a.cases += 1;
        self.b.cases += 1;
        self.cases += 1;
        self.a.attempts += one.attempts;
        self.b.attempts += other.attempts;
        self.attempts.add(one.attempts, other.attempts);
        let is_repeated = one.attempts > 1 || other.attempts > 1;
        let most = self.options.changes;
        let verdicts = [one.passed, other.passed];
        let of_verdict = self.verdict.improvement(verdicts);
        self.verdict.add(
            &one.case_id,
            verdicts,
            verdicts.map(|it| Some(it? >= 1.0)),
            is_repeated,
            most,
        );
        let lacks_verdicts = one.part(one.judged).is_larger_than(other.part(other.judged));
        self.verdict.absent_b += u64::from(lacks_verdicts);
        for scorer in &mut self.scorers {
            let scores = [
                one.scores.get(scorer.index_a).copied().flatten(),
                other.scores.get(scorer.index_b).copied().flatten(),
            ];
            let of_scorer = scorer.pairs.improvement(scores);
            scorer.changes_verdicts &= difference(of_verdict, of_scorer) == 0.0;
            let [policy_a, policy_b] = scorer.policies;
            let passes = [
                scores[0].and_then(|score| policy_a.passes(score)),
                scores[1].and_then(|score| policy_b.passes(score)),
            ];
            let part = |case: &OneCase, counts: &[u64], index: usize| {
                case.part(counts.get(index).copied().unwrap_or_default())
            };
            // Cases that sampling left out are not evidence of anything missing.
            let sampled = |case: &OneCase, index: usize| {
                let of = |counts: &[u64]| counts.get(index).copied().unwrap_or_default();
                let attempts = case.attempts.saturating_sub(of(&case.left_out));
                Part { count: of(&case.scored), attempts }
            };
            let scored_a = sampled(one, scorer.index_a);
            if scored_a.count > 0 {
                let scored_b = sampled(other, scorer.index_b);
                let errors_a = part(one, &one.errors, scorer.index_a);
                let errors_b = part(other, &other.errors, scorer.index_b);
                let fails_more = errors_b.is_larger_than(errors_a);
                let has_fewer = scored_b.count == 0 || scored_a.is_larger_than(scored_b);
                scorer.pairs.errors_b += u64::from(fails_more);
                scorer.pairs.absent_b += u64::from(has_fewer && !fails_more);
            }
            scorer.pairs.add(&one.case_id, scores, passes, is_repeated, most);
        }
    }

    fn finish(mut self, a: &Side<'_>, b: &Side<'_>) -> Result<Comparison, ComparisonError> {
        if self.cases == 0 {
            return Err(ComparisonError::NoSharedCase {
                a: self.a.run_id,
                b: self.b.run_id,
                cases_a: self.a.examples,
                cases_b: self.b.examples,
            });
        }
        for (run, side) in [(&mut self.a, a), (&mut self.b, b)] {
            let can_fail = side.decider.can_fail(self.options.strict);
            run.has_verdicts = can_fail && self.options.scorer.is_none();
        }
        let has_verdicts = self.a.has_verdicts && self.b.has_verdicts;
        let not_compared = self.not_compared(a);
        let sole = self.sole_decider(a, b);
        let pairs = self.scorers.iter().map(|scorer| &scorer.pairs);
        let tested_verdicts = has_verdicts && sole.is_none();
        let compared = pairs.chain(tested_verdicts.then_some(&self.verdict));
        let tests = compared.filter(|pairs| pairs.have_changed()).count() as u64;
        let asked = self.options.difference;
        let mut verdict = has_verdicts.then(|| self.verdict.finish(asked, tests));
        let scorer = |pair: Pair| ComparedScorer {
            scorer_id: pair.scorer_id,
            direction: pair.policies[0].direction(),
            same_scorer: pair.same_scorer,
            same_judge: pair.same_judge,
            same_policy: pair.same_policy,
            scores: pair.pairs.finish(asked, tests),
        };
        let mut scorers: Vec<ComparedScorer> = self.scorers.into_iter().map(scorer).collect();
        correct(verdict.as_mut(), &mut scorers, sole);
        Ok(Comparison {
            a: self.a,
            b: self.b,
            cases: self.cases,
            fewer_attempts: self.attempts.fewer_in_b(),
            questions: self.questions,
            verdict,
            scorers,
            incomparable: self.incomparable,
            not_compared,
            tests,
        })
    }

    /// The index of the scorer whose scores are equivalent to the verdicts: no other scorer decides in either run, and
    /// each verdict changes as its score does. Then their tests count as one.
    fn sole_decider(&self, a: &Side<'_>, b: &Side<'_>) -> Option<usize> {
        let strict = self.options.strict;
        let deciding = [a, b].into_iter().flat_map(|side| &side.decider.scorers);
        let deciding = deciding.filter(|scorer| scorer.can_fail(strict));
        let mut ids: Vec<&str> = deciding.map(|scorer| scorer.scorer_id.as_str()).collect();
        ids.dedup();
        let [id] = ids[..] else { return None };
        let is_it = |pair: &Pair| {
            let has_pairs = pair.pairs.differences.pairs() > 0;
            pair.scorer_id == id && pair.changes_verdicts && has_pairs
        };
        self.scorers.iter().position(is_it)
    }

    /// The scorers that decide in a, but for which nothing is compared.
    fn not_compared(&self, a: &Side<'_>) -> Vec<String> {
        if self.options.scorer.is_some() {
            return Vec::new();
        }
        let is_compared = |id: &str| self.scorers.iter().any(|pair| pair.scorer_id == id);
        let deciding = a.decider.scorers.iter().filter(|scorer| scorer.decides());
        let others = deciding.filter(|scorer| !is_compared(&scorer.scorer_id));
        others.map(|scorer| scorer.scorer_id.clone()).collect()
    }
}

/// Corrects p values for the number of tests, and says what is found. A test without a change is none: its p value is 1
/// whatever is swapped, so it adds nothing to the chance of a false alarm (Tarone, "A modified Bonferroni method for
/// discrete data", Biometrics 46, 1990). `sole` is the index of the scorer whose test the
/// verdicts' is.
fn correct(
    mut verdict: Option<&mut ComparedScores>,
    scorers: &mut [ComparedScorer],
    sole: Option<usize>,
) {
    let of_verdict = verdict.as_deref().filter(|_| sole.is_none());
    let tested = of_verdict.into_iter().chain(scorers.iter().map(|scorer| &scorer.scores));
    let p_of = |scores: &ComparedScores| scores.test.map(|it| it.p);
    let p_values: Vec<Option<f64>> =
        tested.map(|scores| p_of(scores).filter(|_| scores.have_changed())).collect();
    let mut corrected = holm(&p_values).into_iter();
    if let (Some(scores), None) = (verdict.as_deref_mut(), sole) {
        scores.p_corrected = corrected.next().flatten().or(p_of(scores));
    }
    for (scorer, p) in scorers.iter_mut().zip(corrected) {
        scorer.scores.p_corrected = p.or(p_of(&scorer.scores));
        scorer.scores.finding = scorer.scores.found(scorer.direction);
    }
    let Some(scores) = verdict else { return };
    if let Some(sole) = sole.and_then(|index| scorers.get(index)) {
        // If permutations are drawn at random, cases that have only a verdict change which ones are drawn.
        let own = scores.test.map(|test| test.p);
        scores.p_corrected = own.zip(sole.scores.p_corrected).map(|(own, p)| own.max(p));
    }
    scores.finding = scores.found(Direction::HigherIsBetter);
}

impl ComparedRun {
    fn only(&mut self, case: OneCase) {
        self.cases += 1;
        self.only_here += 1;
        if self.examples.len() < CASES_NAMED {
            self.examples.push(case.case_id);
        }
    }
}

impl ComparedScores {
    fn found(&self, direction: Direction) -> Finding {
        let (Some(difference), Some(p)) = (self.difference, self.p_corrected) else {
            return Finding::NoPairs;
        };
        if !self.have_changed() {
            return Finding::Same;
        }
        let better = match direction {
            Direction::HigherIsBetter => difference,
            Direction::LowerIsBetter => -difference,
        };
        match p < ACCEPTED_ERROR {
            true if better > 0.0 => Finding::Better,
            true if better < 0.0 => Finding::Worse,
            _ => Finding::NotShown,
        }
    }
}
