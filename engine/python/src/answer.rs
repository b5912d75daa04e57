//! The answer of one scorer on one case. Does not block.

use scorebox::{
    case::Case,
    contract::ScorerInput,
    row::Answer,
    sandbox::{LoadedScorer, Outcome},
};

/// The answer of a scorer on a case, with the files of the case if the scorer reads them. Nothing runs if the task
/// failed.
pub(crate) async fn answer_of(scorer: &LoadedScorer, case: &Case) -> Answer {
    if let Some(why) = case.error() {
        return Outcome::of_failed_task(why).into();
    }
    let folder = case.task_folder();
    let input = case.scorer_input(scorer.info().reads);
    scorer.score(ScorerInput { workspace: folder.as_ref(), ..input }).await.into()
}
