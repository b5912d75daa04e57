//! Computes who did best at a challenge, by the rules of dify's challenges: attempts that succeeded are compared, and
//! the best attempt of each entrant, or their mean, is ranked. It keeps a line for each entrant, and no attempts.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    deciding::{Decider, decides},
    entry::{Entered, NotEntered},
    leaderboard::{
        BestAttempt, Entrant, Leaderboard, LeaderboardError, LeaderboardOptions, MAX_ENTRANTS,
        OfAttempts, Strategy,
    },
    verdicts::VerdictOptions,
};
use crate::{
    contract::{Direction, Scale},
    row::Status,
    stats::{Best, Mean, Merit, level, ranks},
    store::{CaseEntry, CaseToDecide, RowToDecide, ScoreFilter, Store, StoreError},
    verdict::CaseVerdict,
};

/// How many challenges are named if the requested one does not exist.
const CHALLENGES_NAMED: usize = 20;

/// Ranks the entrants of a run.
///
/// # Errors
/// [`StoreError::NoSuchRun`], or the database cannot be read; a scorer that the run does not have, or none requested if
/// several could decide; the mean with [`Strategy::First`]; more than 50,000 entrants.
pub fn leaderboard(
    store: &Store,
    run: &str,
    options: LeaderboardOptions<'_>,
) -> Result<Leaderboard, LeaderboardError> {
    if options.strategy == Strategy::First && options.of_attempts == OfAttempts::Mean {
        return Err(LeaderboardError::NoMean);
    }
    let mut standings: BTreeMap<Who, Standing> = BTreeMap::new();
    let mut best = Best::Highest;
    let mut too_many = false;
    let seen = each(store, run, options, |attempt, direction| {
        best = best_value(options.strategy, direction.unwrap_or(Direction::HigherIsBetter));
        let who = Who::of(&attempt);
        too_many = standings.len() >= MAX_ENTRANTS && !standings.contains_key(&who);
        if !too_many {
            let standing = standings.entry(who).or_default();
            standing.unscored += u64::from(direction.is_some() && attempt.status.is_none());
            standing.add(attempt, options, best);
        }
        !too_many
    })?;
    if too_many {
        return Err(LeaderboardError::TooManyEntrants);
    }
    let mut boards: BTreeMap<AppAndChallenge, Vec<(Merit, Entrant)>> = BTreeMap::new();
    for (who, standing) in standings {
        let board = boards.entry((who.app.clone(), who.challenge.clone())).or_default();
        board.push(standing.entrant(who, options));
    }
    let mut entrants = Vec::new();
    for mut board in boards.into_values() {
        if options.of_attempts == OfAttempts::Mean {
            level(&mut board.iter_mut().map(|(merit, _)| merit).collect::<Vec<_>>());
        }
        // Entrants come by name, so equal ones stay ordered by name.
        board.sort_by(|(one, _), (other, _)| best.compare(*one, *other));
        let merits: Vec<Merit> = board.iter().map(|(merit, _)| *merit).collect();
        let board = board.into_iter().zip(ranks(best, &merits));
        entrants.extend(board.map(|((_, entrant), ranked)| Entrant {
            rank: ranked.rank,
            tied: ranked.is_tied,
            ..entrant
        }));
    }
    Ok(Leaderboard { entrants, ..seen.leaderboard() })
}

/// Calls `take` with the attempts at challenges, in the order of the cases, until it returns false. Failed ones are
/// included, with a score of `None`. The returned leaderboard has no entrants.
///
/// # Errors
/// Like [`leaderboard`], except for means and the number of entrants.
pub fn entered(
    store: &Store,
    run: &str,
    options: LeaderboardOptions<'_>,
    mut take: impl FnMut(&Entered) -> bool,
) -> Result<Leaderboard, LeaderboardError> {
    let seen = each(store, run, options, |attempt, _| take(&attempt))?;
    Ok(seen.leaderboard())
}

/// Other facts that the leaderboard needs, from reading the attempts.
#[derive(Default)]
struct Seen {
    scorer_id: Option<String>,
    without_entrant: u64,
    incomplete: u64,
    unscored: u64,
    success_unknown: u64,
    unreadable: u64,
    unreadable_keys: BTreeSet<&'static str>,
    challenges: BTreeSet<String>,
}

impl Seen {
    /// A leaderboard without entrants.
    fn leaderboard(self) -> Leaderboard {
        Leaderboard {
            scorer_id: self.scorer_id,
            entrants: Vec::new(),
            without_entrant: self.without_entrant,
            incomplete: self.incomplete,
            unscored: self.unscored,
            success_unknown: self.success_unknown,
            unreadable: self.unreadable,
            unreadable_keys: self.unreadable_keys.into_iter().collect(),
            challenges: self.challenges.into_iter().collect(),
        }
    }

    /// The attempt in a case, without its score; `None` if it is not one of those that are compared.
    fn attempt(
        &mut self,
        entered: Result<Entered, NotEntered>,
        asked: Option<&str>,
    ) -> Option<Entered> {
        let attempt = match entered {
            Ok(attempt) => attempt,
            Err(NotEntered::WithoutEntrant) => {
                self.without_entrant += 1;
                return None;
            }
            Err(NotEntered::Incomplete) => {
                self.incomplete += 1;
                return None;
            }
        };
        if let Some(challenge) = &attempt.challenge
            && self.challenges.len() < CHALLENGES_NAMED
        {
            self.challenges.insert(challenge.clone());
        }
        if asked.is_some() && attempt.challenge.as_deref() != asked {
            return None;
        }
        self.success_unknown += u64::from(attempt.success_is_unknown());
        self.unreadable += u64::from(!attempt.unreadable.is_empty());
        self.unreadable_keys.extend(&attempt.unreadable);
        Some(attempt)
    }
}

/// Calls `take` with the attempts, with the direction of the scorer whose scores are shown, if there is one.
fn each(
    store: &Store,
    run: &str,
    options: LeaderboardOptions<'_>,
    mut take: impl FnMut(Entered, Option<Direction>) -> bool,
) -> Result<Seen, LeaderboardError> {
    store.snapshot(|store| {
        let of_run = ScoreFilter::of_run(run);
        let decides = decides(store, run, VerdictOptions::default())?;
        let run = store.run(run)?.key;
        let mut decider = Decider::new(store, run)?;
        let index =
            scorer(&decider, options).map_err(|error| with_scores(error, store, &of_run))?;
        let scorer = index.and_then(|index| decider.scorers.get(index));
        let direction = scorer.map(|scorer| scorer.policy.direction());
        let scorer_id = scorer.map(|scorer| scorer.scorer_id.clone());
        let mut seen = Seen { scorer_id, ..Seen::default() };
        let mut failure = None;
        store.for_each_case(run, None, |case| {
            // A case that must not be judged is not an attempt.
            if case.skip.is_some() {
                return true;
            }
            let (verdict, entry) = match decided(&mut decider, store, case) {
                Ok(decided) => decided,
                Err(error) => {
                    failure = Some(error);
                    return false;
                }
            };
            let entered = Entered::of(case, &entry, &verdict, decides);
            let Some(mut attempt) = seen.attempt(entered, options.challenge) else { return true };
            let is_of_the_scorer =
                |row: &&RowToDecide| index.is_some() && decider.index(row.scorer) == index;
            if let Some(row) = case.rows.iter().find(is_of_the_scorer) {
                attempt.status = Some(row.status);
                let score = row.score.filter(|score| score.is_finite());
                attempt.score = score.filter(|_| row.status == Status::Scored);
            } else {
                seen.unscored += u64::from(index.is_some());
            }
            take(attempt, direction)
        })?;
        match failure {
            Some(error) => Err(error.into()),
            None => Ok(seen),
        }
    })
}

/// A case's verdict, and the attempt in it.
fn decided(
    decider: &mut Decider,
    store: &Store,
    case: &CaseToDecide,
) -> Result<(CaseVerdict, CaseEntry), StoreError> {
    let (verdict, _) = decider
        .case(case)
        .map_err(|what| StoreError::Corrupt { path: store.path().to_owned(), what })?;
    Ok((verdict, store.case_entry(case.key)?))
}

/// The index of the scorer whose scores are shown.
fn scorer(
    decider: &Decider,
    options: LeaderboardOptions<'_>,
) -> Result<Option<usize>, LeaderboardError> {
    let scorer_ids = || decider.scorers.iter().map(|scorer| scorer.scorer_id.clone()).collect();
    if let Some(wanted) = options.scorer {
        let index = decider.scorers.iter().position(|scorer| scorer.scorer_id == wanted);
        return index.map(Some).ok_or_else(|| LeaderboardError::NoSuchScorer {
            scorer_id: wanted.to_owned(),
            scorer_ids: scorer_ids(),
        });
    }
    let only = |indices: Vec<usize>| match indices[..] {
        [index] => Some(index),
        _ => None,
    };
    let all = || decider.scorers.iter().enumerate();
    let of_points = all().filter(|(_, scorer)| scorer.policy.scale() == Scale::Points);
    let found = only(all().map(|(index, _)| index).collect())
        .or_else(|| only(of_points.map(|(index, _)| index).collect()));
    match found {
        None if options.strategy == Strategy::Weighted => {
            Err(LeaderboardError::WhichScorer { scorer_ids: scorer_ids() })
        }
        found => Ok(found),
    }
}

/// The error, with only the scorers that have scores, if any has.
fn with_scores(error: LeaderboardError, store: &Store, of_run: &ScoreFilter) -> LeaderboardError {
    let LeaderboardError::WhichScorer { scorer_ids } = error else { return error };
    let counts = match store.counts(of_run) {
        Ok(counts) => counts,
        Err(error) => return error.into(),
    };
    let scored = counts.into_iter().filter(|it| it.scored > 0).map(|it| it.scorer_id);
    let scored: Vec<String> = scored.collect();
    LeaderboardError::WhichScorer {
        scorer_ids: if scored.is_empty() { scorer_ids } else { scored },
    }
}

/// Which value is the best.
fn best_value(strategy: Strategy, direction: Direction) -> Best {
    match (strategy, direction) {
        (Strategy::First | Strategy::Fastest | Strategy::FewestTokens, _)
        | (Strategy::Weighted, Direction::LowerIsBetter) => Best::Lowest,
        (Strategy::HighestRating, _) | (Strategy::Weighted, Direction::HigherIsBetter) => {
            Best::Highest
        }
    }
}

/// Identifies a challenge.
type AppAndChallenge = (Option<String>, Option<String>);

/// Identifies an entrant at a challenge. The same name in two tenants means two entrants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Who {
    app: Option<String>,
    challenge: Option<String>,
    tenant: Option<String>,
    entrant: String,
}

impl Who {
    fn of(attempt: &Entered) -> Who {
        let Entered { app, challenge, tenant, entrant, .. } = attempt;
        let (app, challenge) = (app.clone(), challenge.clone());
        Who { app, challenge, tenant: tenant.clone(), entrant: entrant.clone() }
    }
}

/// The attempts of an entrant so far.
#[derive(Debug, Default)]
struct Standing {
    attempts: u64,
    succeeded: u64,
    failed_scores: u64,
    success_unknown: u64,
    unreadable: u64,
    unscored: u64,
    best: Option<(Merit, Entered)>,
    /// When the first attempt that succeeded was made.
    earliest: Option<f64>,
    /// When the first of the successful attempts with the deciding figure was made.
    earliest_with_figure: Option<f64>,
    score: Mean,
    rating: Mean,
    tokens_total: Mean,
    elapsed_ms: Mean,
}

impl Standing {
    fn add(&mut self, attempt: Entered, options: LeaderboardOptions<'_>, best: Best) {
        self.attempts += 1;
        self.failed_scores += u64::from(attempt.status == Some(Status::Error));
        self.success_unknown += u64::from(attempt.success_is_unknown());
        self.unreadable += u64::from(!attempt.unreadable.is_empty());
        if attempt.succeeded != Some(true) || !attempt.unreadable.is_empty() {
            return;
        }
        self.succeeded += 1;
        for (mean, number) in [
            (&mut self.score, attempt.score),
            (&mut self.rating, attempt.rating),
            (&mut self.tokens_total, attempt.tokens_total),
            (&mut self.elapsed_ms, attempt.elapsed_ms),
        ] {
            if let Some(number) = number {
                mean.add(number);
            }
        }
        let value = match options.strategy {
            Strategy::First => attempt.created_at,
            Strategy::Fastest => attempt.elapsed_ms,
            Strategy::FewestTokens => attempt.tokens_total,
            Strategy::HighestRating => attempt.rating,
            Strategy::Weighted => attempt.score,
        };
        let earlier = |one: Option<f64>| one.into_iter().chain(attempt.created_at).reduce(f64::min);
        self.earliest = earlier(self.earliest);
        if value.is_some() {
            self.earliest_with_figure = earlier(self.earliest_with_figure);
        }
        let merit = Merit { value, at: attempt.created_at };
        let is_better = match &self.best {
            Some((so_far, _)) => best.compare(merit, *so_far).is_lt(),
            None => true,
        };
        if is_better {
            self.best = Some((merit, attempt));
        }
    }

    /// The entrant without a rank, and the figure that ranks it.
    fn entrant(self, who: Who, options: LeaderboardOptions<'_>) -> (Merit, Entrant) {
        let mut entrant = Entrant {
            app: who.app,
            challenge: who.challenge,
            rank: None,
            tied: false,
            tenant: who.tenant,
            entrant: who.entrant,
            score: None,
            rating: None,
            tokens_total: None,
            elapsed_ms: None,
            created_at: None,
            attempts: self.attempts,
            succeeded: self.succeeded,
            success_unknown: self.success_unknown,
            unreadable: self.unreadable,
            unscored: self.unscored,
            failed_scores: self.failed_scores,
            best: None,
        };
        let merit = match (options.of_attempts, self.best) {
            (OfAttempts::Best, Some((merit, best))) => {
                entrant.score = best.score;
                entrant.rating = best.rating;
                entrant.tokens_total = best.tokens_total;
                entrant.elapsed_ms = best.elapsed_ms;
                entrant.created_at = best.created_at;
                let Entered { case_id, iteration, attempt, .. } = best;
                entrant.best = Some(BestAttempt { case_id, iteration, attempt });
                merit
            }
            (OfAttempts::Best, None) => Merit::default(),
            (OfAttempts::Mean, _) => {
                entrant.score = self.score.get();
                entrant.rating = self.rating.get();
                entrant.tokens_total = self.tokens_total.get();
                entrant.elapsed_ms = self.elapsed_ms.get();
                entrant.created_at = self.earliest;
                let value = match options.strategy {
                    Strategy::First => None,
                    Strategy::Fastest => entrant.elapsed_ms,
                    Strategy::FewestTokens => entrant.tokens_total,
                    Strategy::HighestRating => entrant.rating,
                    Strategy::Weighted => entrant.score,
                };
                Merit { value, at: self.earliest_with_figure }
            }
        };
        (merit, entrant)
    }
}
