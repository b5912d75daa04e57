//! Shows the verdict of a stored run to the user who waits for it: messages, and a part of the exit code. The library
//! decides the verdict, in `verdict` and `aggregate`.

use std::{
    collections::HashMap,
    panic,
    thread::{self, ScopedJoinHandle},
};

use scorebox::{
    aggregate::{Aggregate, DecidedRun, VerdictOptions, aggregate, verdicts},
    store::{RunId, RunState, ScoreFilter, Store, StoreError},
    verdict::{Broken, Requirements, ScorerMean},
};

use crate::{
    arguments::Database,
    report::{one_line, verdict},
    run_end::idle::{keys_that_spare, named},
    words,
};

/// What to do if no scorer can fail a case.
const HOW_TO_DECIDE: &str = "in the suite, give a scorer `severity = \"gate\"`, or a `threshold` with --strict; or require a mean: --fail-below NAME=X";
/// The same if soft scores count as failures.
const HOW_TO_DECIDE_STRICTLY: &str = "in the suite, give a scorer a `threshold` or `severity = \"gate\"`, or require a mean: --fail-below NAME=X";
/// What to do if the scorers that decide saw no case.
const WHAT_SPARES: &str = "look at `when`, `nodes` and `sampling` of the scorers in the suite, and at why they do not apply";

/// The verdict of a stored run, and the requirements that it breaks.
pub(crate) struct Decision {
    pub aggregates: Vec<Aggregate>,
    pub decided: DecidedRun,
    pub broken: Vec<Broken>,
    /// For the scorers that should have decided a case and did not: the keys of the suite that kept cases from them.
    sparing: HashMap<String, Vec<&'static str>>,
    is_strict: bool,
}

impl Decision {
    /// The decision on everything that is stored of a run.
    pub(crate) fn of_run(
        store: &Store,
        run: &RunId,
        requirements: &Requirements,
        strict: bool,
    ) -> Result<Decision, StoreError> {
        let filter = ScoreFilter::of_run(run.as_str());
        let decide = |store: &Store| {
            let options = VerdictOptions::default().with_strict(strict);
            verdicts(store, run.as_str(), options, |_| true)
        };
        // Both read all rows, and a connection belongs to one thread. Without a second connection or thread, one runs
        // after the other.
        let (aggregates, decided) = thread::scope(|scope| {
            let another = Store::open_read_only(store.path()).ok();
            let deciding = another.and_then(|another| {
                thread::Builder::new().spawn_scoped(scope, move || decide(&another)).ok()
            });
            let aggregates = aggregate(store, &filter);
            let decided = match deciding.map(ScopedJoinHandle::join) {
                Some(decided) => decided.unwrap_or_else(|panic| panic::resume_unwind(panic)),
                None => decide(store),
            };
            (aggregates, decided)
        });
        let (aggregates, decided) = (aggregates?, decided?);
        let state = store.run(run.as_str())?.state;
        let broken = broken(requirements, &decided, &aggregates, strict, state);
        let mut sparing = HashMap::new();
        for requirement in &broken {
            if let Broken::NothingDecided { scorer_id, .. } = requirement {
                let keys = keys_that_spare(store, run.as_str(), scorer_id)?;
                sparing.insert(scorer_id.clone(), keys);
            }
        }
        Ok(Decision { aggregates, decided, broken, sparing, is_strict: strict })
    }

    /// The number of the run's scores that are errors.
    pub(crate) fn errors(&self) -> u64 {
        self.aggregates.iter().map(|aggregate| aggregate.errors).sum()
    }

    /// Prints the verdict, unless the scorers only measure.
    pub(crate) fn say_verdict(&self) {
        verdict::of_run(&self.decided).iter().for_each(|line| words::say(line));
        self.warnings("--strict").iter().for_each(|warning| words::warn(warning));
    }

    /// Why the verdict may not mean what the user thinks; `strict` is the user's name for the setting that makes soft
    /// scores fail cases.
    pub(crate) fn warnings(&self, strict: &str) -> Vec<String> {
        let DecidedRun { decides, verdict, scorers: decided_scorers, .. } = &self.decided;
        let mut warnings = Vec::new();
        if self.is_strict && !decides {
            warnings
                .push(format!("{strict} changes nothing: no scorer decides whether a case passes"));
        }
        let is_unjudged = verdict.judged() + verdict.incomplete() == 0 && verdict.skipped > 0;
        if *decides && is_unjudged && verdict.skipped == verdict.skipped_by_themselves {
            warnings.push("no case was decided: every case is marked `skip`".to_owned());
        }
        let passing =
            decided_scorers.iter().filter(|it| it.decided > 0 && it.lets_every_score_pass());
        warnings.extend(passing.map(|scorer| {
            let id = one_line(&scorer.scorer_id, 64);
            format!(
                "`{id}` is a gate on the scale of points without a threshold, so no score of it fails a case: give it a `threshold`"
            )
        }));
        warnings
    }

    /// Prints the broken requirements.
    pub(crate) fn say_broken(&self, run: &RunId, database: &Database) {
        for requirement in &self.broken {
            // Without a rate no case was judged, and none is shown.
            let has_cases = matches!(
                requirement,
                Broken::Cases { .. } | Broken::PassRate { rate: Some(_), .. }
            );
            let failed = if self.is_strict { "--failed --strict" } else { "--failed" };
            let hint = match requirement {
                Broken::NothingDecides { .. } if self.is_strict => {
                    Some(HOW_TO_DECIDE_STRICTLY.to_owned())
                }
                Broken::NothingDecides { .. } => Some(HOW_TO_DECIDE.to_owned()),
                Broken::NothingDecided { scorer_id, .. } => {
                    let look_at = match self.sparing.get(scorer_id).map(Vec::as_slice) {
                        None | Some([]) => "look at why it does not apply".to_owned(),
                        Some(keys) => {
                            format!("look at its {} in the suite, and at its rows", named(keys))
                        }
                    };
                    let scores = database.command("scores", run.as_str());
                    Some(format!(
                        "{look_at}: {scores} --scorer {scorer_id}; if the scorer is not meant for these cases: --allow-idle {scorer_id}"
                    ))
                }
                Broken::OnlyErrors { scorer_id, .. } => {
                    let scores = database.command("scores", run.as_str());
                    Some(format!(
                        "look at why: {scores} --scorer {scorer_id}; if it need not decide any case: --allow-idle {scorer_id}"
                    ))
                }
                Broken::PassRate { rate: None, .. }
                    if self.decided.verdict.skipped
                        > self.decided.verdict.skipped_by_themselves =>
                {
                    let scores = database.command("scores", run.as_str());
                    Some(format!("{WHAT_SPARES}: {scores}"))
                }
                _ => has_cases.then(|| {
                    format!("show them: {} {failed}", database.command("cases", run.as_str()))
                }),
            };
            words::error(&requirement.to_string(), hint.as_deref());
        }
    }
}

/// The broken requirements. Until a run is finished, cases for a scorer may still come.
fn broken(
    requirements: &Requirements,
    decided: &DecidedRun,
    aggregates: &[Aggregate],
    strict: bool,
    state: RunState,
) -> Vec<Broken> {
    let means: Vec<ScorerMean<'_>> = decided
        .scorers
        .iter()
        .map(|scorer| {
            let of_it = aggregates.iter().find(|it| it.scorer_id == scorer.scorer_id);
            ScorerMean {
                scorer_id: &scorer.scorer_id,
                policy: scorer.policy,
                mean: of_it.and_then(|it| it.mean),
                errors: of_it.map_or(0, |it| it.errors),
                can_fail: scorer.can_fail(strict),
                idle_of: scorer.idle_of().filter(|_| state == RunState::Finished),
                is_whole: state == RunState::Finished,
            }
        })
        .collect();
    requirements.broken(&decided.verdict, &means)
}
