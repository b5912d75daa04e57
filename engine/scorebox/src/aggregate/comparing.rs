//! Whether one run is better than another, scorer by scorer, on the cases that both have. Holds a difference of each pair for up to
//! 20 000 pairs a scorer, and the cases that changed most; else nothing of a case.

use super::{
    comparison::{
        ACCEPTED_ERROR, Change, ComparedQuestions, ComparedRun, ComparedScorer, ComparedScores,
        Comparison, ComparisonError, ComparisonOptions, Finding, RunIn,
    },
    side_by_side::{AsOne, Beside, OneCase, Side, next},
    verdicts::DecidedScorer,
};
use crate::{
    contract::{Direction, Scale},
    stats::paired::{
        Differences, Passes, WinsAndLosses, cases_needed, difference, holm, smallest_difference,
    },
    store::{ScorerRecord, Store},
    verdict::Policy,
};

/// Cases that only one run has, of which the ids are shown.
const CASES_NAMED: usize = 10;
/// The first cases of both runs, whose questions are compared: if ids name other cases, these show it.
const QUESTIONS_COMPARED: u64 = 1000;

/// Compares two runs, of one database or of two, on the cases that both have: by id, with the attempts at a case as one.
///
/// # Errors
/// [`StoreError::NoSuchRun`](crate::store::StoreError::NoSuchRun) and troubles of reading; a run with itself; runs that share no case or no scorer; a scorer that
/// one of them does not have; more than 100,000 attempts at one case.
pub fn comparison(
    a: RunIn<'_>,
    b: RunIn<'_>,
    options: ComparisonOptions<'_>,
) -> Result<Comparison, ComparisonError> {
    if a.store.path() == b.store.path() && a.run == b.run {
        return Err(ComparisonError::SameRun { run_id: a.run.to_owned() });
    }
    a.store.snapshot(|store_a| {
        b.store.snapshot(|store_b| {
            let as_one = AsOne { reducer: options.reducer, strict: options.strict };
            let mut side_a = Side::new(store_a, a.run, options.node, as_one)?;
            let mut side_b = Side::new(store_b, b.run, options.node, as_one)?;
            let mut comparing = Comparing::new(store_a, store_b, &side_a, &side_b, options)?;
            while let Some(case) = next(&mut side_a, &mut side_b)? {
                if let Beside::Both(one, other) = &case
                    && comparing.cases < QUESTIONS_COMPARED
                {
                    let question = store_a.question(one.key)?;
                    comparing.add_question(question == store_b.question(other.key)?);
                }
                comparing.add(case);
            }
            comparing.finish(&side_a, &side_b)
        })
    })
}

/// A comparison in the making.
struct Comparing<'a> {
    options: ComparisonOptions<'a>,
    a: ComparedRun,
    b: ComparedRun,
    cases: u64,
    questions: ComparedQuestions,
    verdict: Pairs,
    scorers: Vec<Pair>,
    incomparable: Vec<String>,
}

/// A scorer that both runs have.
struct Pair {
    scorer_id: String,
    place_a: usize,
    place_b: usize,
    policies: [Policy; 2],
    same_scorer: bool,
    same_policy: bool,
    pairs: Pairs,
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
        let ids = |of: &[ScorerRecord]| -> Vec<String> {
            of.iter().map(|scorer| scorer.spec.scorer_id.clone()).collect()
        };
        let (ids_a, ids_b) = (ids(&of_a), ids(&of_b));
        let (run_a, run_b) = (a.record.spec.id.to_string(), b.record.spec.id.to_string());
        if let Some(asked) = options.scorer {
            for (run_id, scorer_ids) in [(&run_a, &ids_a), (&run_b, &ids_b)] {
                if !scorer_ids.iter().any(|id| id == asked) {
                    return Err(ComparisonError::NoSuchScorer {
                        run_id: run_id.clone(),
                        scorer_id: asked.to_owned(),
                        scorer_ids: scorer_ids.clone(),
                    });
                }
            }
        }
        let (mut scorers, mut incomparable) = (Vec::new(), Vec::new());
        for (place_a, one) in of_a.iter().enumerate() {
            let scorer_id = &one.spec.scorer_id;
            if options.scorer.is_some_and(|asked| asked != scorer_id) {
                continue;
            }
            let Some(place_b) = ids_b.iter().position(|id| id == scorer_id) else { continue };
            let other = &of_b[place_b];
            let same_scale =
                (one.spec.scale, one.spec.direction) == (other.spec.scale, other.spec.direction);
            if !same_scale {
                incomparable.push(scorer_id.clone());
                continue;
            }
            let digests = |it: &ScorerRecord| (it.spec.component_digest, it.spec.config_digest);
            scorers.push(Pair {
                scorer_id: scorer_id.clone(),
                place_a,
                place_b,
                policies: [one.spec.policy(), other.spec.policy()],
                same_scorer: digests(one) == digests(other),
                same_policy: one.spec.policy().counts_as(&other.spec.policy()),
                pairs: Pairs::new(one.spec.direction, one.spec.scale),
            });
        }
        if let (Some(_), Some(scorer_id)) = (options.scorer, incomparable.first()) {
            return Err(ComparisonError::Incomparable { scorer_id: scorer_id.clone() });
        }
        if scorers.is_empty() && incomparable.is_empty() {
            let (a, b, scorers_a, scorers_b) = (run_a, run_b, ids_a, ids_b);
            return Err(ComparisonError::NoSharedScorer { a, b, scorers_a, scorers_b });
        }
        let side = |run_id, side: &Side<'_>, ids: &[String], others: &[String]| ComparedRun {
            run_id,
            state: side.record.state,
            cases: 0,
            only_here: 0,
            examples: Vec::new(),
            scorers_only_here: ids.iter().filter(|id| !others.contains(id)).cloned().collect(),
        };
        Ok(Comparing {
            options,
            a: side(run_a, a, &ids_a, &ids_b),
            b: side(run_b, b, &ids_b, &ids_a),
            cases: 0,
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

    fn add(&mut self, case: Beside) {
        match case {
            Beside::OnlyFirst(case) => self.a.only(case),
            Beside::OnlySecond(case) => self.b.only(case),
            Beside::Both(one, other) => self.both(&one, &other),
        }
    }

    fn both(&mut self, one: &OneCase, other: &OneCase) {
        self.a.cases += 1;
        self.b.cases += 1;
        self.cases += 1;
        let is_repeated = one.attempts > 1 || other.attempts > 1;
        let most = self.options.changes;
        let verdicts = [one.passed, other.passed];
        self.verdict.add(
            &one.case_id,
            verdicts,
            verdicts.map(|it| Some(it? >= 1.0)),
            is_repeated,
            most,
        );
        for scorer in &mut self.scorers {
            let scores = [
                one.scores.get(scorer.place_a).copied().flatten(),
                other.scores.get(scorer.place_b).copied().flatten(),
            ];
            let [policy_a, policy_b] = scorer.policies;
            let passes = [
                scores[0].and_then(|score| policy_a.passes(score)),
                scores[1].and_then(|score| policy_b.passes(score)),
            ];
            if scores[0].is_some() {
                let errors =
                    [(one, scorer.place_a), (other, scorer.place_b)].map(|(case, place)| {
                        Failures {
                            errors: case.errors.get(place).copied().unwrap_or_default(),
                            attempts: case.attempts,
                        }
                    });
                let [of_a, of_b] = errors;
                scorer.pairs.errors_b += u64::from(of_b.are_more_than(of_a));
                scorer.pairs.absent_b += u64::from(scores[1].is_none() && of_b.errors == 0);
            }
            scorer.pairs.add(&one.case_id, scores, passes, is_repeated, most);
        }
    }

    fn finish(self, a: &Side<'_>, b: &Side<'_>) -> Result<Comparison, ComparisonError> {
        if self.cases == 0 {
            return Err(ComparisonError::NoSharedCase {
                a: self.a.run_id,
                b: self.b.run_id,
                cases_a: self.a.examples,
                cases_b: self.b.examples,
            });
        }
        let decides = |side: &Side<'_>| side.decider.scorers.iter().any(decides);
        let has_verdicts = self.options.scorer.is_none() && (decides(a) || decides(b));
        let not_compared = self.not_compared(a);
        let pairs = self.scorers.iter().map(|scorer| &scorer.pairs);
        let compared = pairs.chain(has_verdicts.then_some(&self.verdict));
        let tests = compared.filter(|pairs| pairs.differences.pairs() > 0).count() as u64;
        let asked = self.options.difference;
        let mut verdict = has_verdicts.then(|| self.verdict.finish(asked, tests));
        let scorer = |pair: Pair| ComparedScorer {
            scorer_id: pair.scorer_id,
            direction: pair.policies[0].direction(),
            same_scorer: pair.same_scorer,
            same_policy: pair.same_policy,
            scores: pair.pairs.finish(asked, tests),
        };
        let mut scorers: Vec<ComparedScorer> = self.scorers.into_iter().map(scorer).collect();
        let mut all: Vec<(&mut ComparedScores, Direction)> = Vec::new();
        all.extend(verdict.iter_mut().map(|scores| (scores, Direction::HigherIsBetter)));
        all.extend(scorers.iter_mut().map(|scorer| (&mut scorer.scores, scorer.direction)));
        let p_values: Vec<Option<f64>> =
            all.iter().map(|(scores, _)| scores.test.map(|test| test.p)).collect();
        for ((scores, direction), p) in all.into_iter().zip(holm(&p_values)) {
            scores.p_corrected = p;
            scores.finding = scores.found(direction);
        }
        Ok(Comparison {
            a: self.a,
            b: self.b,
            cases: self.cases,
            questions: self.questions,
            verdict,
            scorers,
            incomparable: self.incomparable,
            not_compared,
            tests,
        })
    }

    /// The scorers that decide in a, and of which nothing is compared.
    fn not_compared(&self, a: &Side<'_>) -> Vec<String> {
        if self.options.scorer.is_some() {
            return Vec::new();
        }
        let is_compared = |id: &str| self.scorers.iter().any(|pair| pair.scorer_id == id);
        let deciding = a.decider.scorers.iter().filter(|scorer| decides(scorer));
        let others = deciding.filter(|scorer| !is_compared(&scorer.scorer_id));
        others.map(|scorer| scorer.scorer_id.clone()).collect()
    }
}

/// Whether the verdict of a case can depend on a scorer, or did.
fn decides(scorer: &DecidedScorer) -> bool {
    scorer.policy.decides() || scorer.regressed + scorer.failed + scorer.errored > 0
}

/// At how many of its attempts at a case a scorer failed.
#[derive(Clone, Copy, Debug)]
struct Failures {
    errors: u64,
    attempts: u64,
}

impl Failures {
    /// Whether it is a larger part of the attempts.
    fn are_more_than(self, other: Failures) -> bool {
        self.errors * other.attempts > other.errors * self.attempts
    }
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
        if self.wins.wins + self.wins.losses == 0 {
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

/// The pairs of one scorer, or of the verdicts.
struct Pairs {
    direction: Direction,
    scale: Scale,
    differences: Differences,
    passes: Passes,
    has_threshold: bool,
    is_repeated: bool,
    only_a: u64,
    only_b: u64,
    errors_b: u64,
    absent_b: u64,
    changes: Vec<Change>,
}

impl Pairs {
    fn new(direction: Direction, scale: Scale) -> Pairs {
        Pairs {
            direction,
            scale,
            differences: Differences::default(),
            passes: Passes::default(),
            has_threshold: true,
            is_repeated: false,
            only_a: 0,
            only_b: 0,
            errors_b: 0,
            absent_b: 0,
            changes: Vec::new(),
        }
    }

    fn add(
        &mut self,
        case_id: &str,
        scores: [Option<f64>; 2],
        passes: [Option<bool>; 2],
        is_repeated: bool,
        most_changes: usize,
    ) {
        let (a, b) = match scores {
            [Some(a), Some(b)] => (a, b),
            [Some(_), None] => {
                self.only_a += 1;
                return;
            }
            [None, Some(_)] => {
                self.only_b += 1;
                return;
            }
            [None, None] => return,
        };
        self.is_repeated |= is_repeated;
        self.differences.add(a, b);
        match passes {
            [Some(a), Some(b)] => self.passes.add(a, b),
            _ => self.has_threshold = false,
        }
        let difference = difference(a, b);
        if difference != 0.0 {
            // Cases come in the order of their ids; of equal changes the first stays first.
            let larger = |it: &Change| it.difference.abs() >= difference.abs();
            let place = self.changes.partition_point(larger);
            if place < most_changes {
                self.changes
                    .insert(place, Change { case_id: case_id.to_owned(), a, b, difference });
                self.changes.truncate(most_changes);
            }
        }
    }

    /// Which scores are the best one, if all are the best or the worst.
    fn best_scores(&self) -> Option<Passes> {
        let ones = self.differences.ones().filter(|_| self.scale == Scale::Unit)?;
        Some(match self.direction {
            Direction::HigherIsBetter => ones,
            Direction::LowerIsBetter => Passes {
                both: ones.neither,
                only_first: ones.only_second,
                only_second: ones.only_first,
                neither: ones.both,
            },
        })
    }

    /// `tests` is how many are finished together, this one included.
    fn finish(self, asked: Option<f64>, tests: u64) -> ComparedScores {
        let differences = &self.differences;
        let pairs = differences.pairs();
        let (up, down) = (differences.up(), differences.down());
        let (wins, losses) = match self.direction {
            Direction::HigherIsBetter => (up, down),
            Direction::LowerIsBetter => (down, up),
        };
        let wins = WinsAndLosses { wins, losses, ties: pairs - wins - losses };
        let passes = match (pairs > 0 && !self.is_repeated, self.has_threshold) {
            (false, _) => None,
            (true, true) => Some(self.passes),
            (true, false) => self.best_scores(),
        };
        let scale = match self.scale {
            Scale::Unit => -1.0..=1.0,
            Scale::Points => f64::MIN..=f64::MAX,
        };
        let stddev = differences.stddev();
        let difference = differences.mean();
        let needed = |stddev| cases_needed(stddev, asked.or(difference)?, tests);
        let smallest = |stddev| smallest_difference(stddev, pairs, tests);
        ComparedScores {
            finding: Finding::NoPairs,
            pairs,
            only_a: self.only_a,
            only_b: self.only_b,
            errors_b: self.errors_b,
            absent_b: self.absent_b,
            mean_a: differences.mean_of_first(),
            mean_b: differences.mean_of_second(),
            difference,
            interval: differences.interval(scale),
            test: differences.test(),
            p_corrected: None,
            sign_test: (pairs > 0).then(|| wins.sign_test()),
            effect: differences.effect(),
            wins,
            passes,
            mcnemar: passes.map(|passes| passes.mcnemar()),
            smallest_difference: stddev.and_then(smallest),
            cases_needed: stddev.and_then(needed),
            changes: self.changes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(direction: Direction, scale: Scale, scores: &[[f64; 2]]) -> Option<Passes> {
        let mut pairs = Pairs::new(direction, scale);
        for [a, b] in scores {
            pairs.add("case", [Some(*a), Some(*b)], [None, None], false, 0);
        }
        pairs.finish(None, 1).passes
    }

    #[test]
    fn without_a_threshold_the_best_score_passes_whichever_end_of_the_scale_it_is() {
        let scores = [[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
        let higher = Passes { both: 1, only_first: 2, only_second: 1, neither: 1 };
        let lower = Passes { both: 1, only_first: 1, only_second: 2, neither: 1 };
        assert_eq!(passes(Direction::HigherIsBetter, Scale::Unit, &scores), Some(higher));
        assert_eq!(passes(Direction::LowerIsBetter, Scale::Unit, &scores), Some(lower));
    }

    #[test]
    fn of_points_without_a_threshold_nothing_says_what_passes() {
        let scores = [[1.0, 1.0], [1.0, 0.0]];
        assert_eq!(passes(Direction::HigherIsBetter, Scale::Points, &scores), None);
    }

    #[test]
    fn a_scorer_fails_more_often_if_it_fails_at_a_larger_part_of_the_attempts() {
        let failures = |errors, attempts| Failures { errors, attempts };
        assert!(failures(1, 1).are_more_than(failures(0, 1)));
        assert!(failures(2, 4).are_more_than(failures(1, 4)));
        assert!(!failures(1, 4).are_more_than(failures(1, 4)));
        assert!(!failures(2, 8).are_more_than(failures(1, 4)));
        assert!(!failures(0, 4).are_more_than(failures(1, 4)));
    }
}
