//! What one scorer says about one case. Waits for nothing itself.

use scorebox::{case::Case, contract::ScorerInput, row::Answer, sandbox::LoadedScorer};

/// The answer of a scorer on a case, with the files of the case if it reads them.
pub(crate) async fn answer_of(scorer: &LoadedScorer, case: &Case) -> Answer {
    let folder = case.task_folder();
    let input = case.scorer_input(scorer.info().reads);
    scorer.score(ScorerInput { workspace: folder.as_ref(), ..input }).await.into()
}
