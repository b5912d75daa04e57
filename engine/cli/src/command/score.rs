//! `scorebox score`: scores one case with one scorer and prints the result. It stores nothing.

use scorebox::{
    component_bytes::ComponentBytes,
    contract::ScorerInput,
    sandbox::{Anatomy, Grant, LoadedScorer, Outcome, Sandbox},
};

use crate::{
    answered::Answered,
    arguments::{CaseArguments, OneJudgeArguments, ScorerArguments},
    failure::{Exit, Failure},
    judge_waiting,
    output::Format,
    report,
    setup::{self, SandboxArguments},
    words,
};

/// Score one case and print the result
///
/// The case is given by its parts, each a JSON document or @FILE, or as a whole with --case. Nothing
/// is stored, except what a judge answers if --db names a database.
#[derive(Debug, clap::Args)]
pub(crate) struct Score {
    #[command(flatten)]
    scorer: ScorerArguments,

    #[command(flatten)]
    case: CaseArguments,

    #[command(flatten)]
    judge: OneJudgeArguments,

    /// Exit with 0 even if the score is an error
    #[arg(long, help_heading = "Output")]
    allow_errors: bool,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "json", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Score {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let case = self.case.case()?.ok_or_else(|| {
            Failure::new("there is nothing to score")
                .hint("give the output with --output, or a whole case with --case")
        })?;
        let source = self.scorer.source()?;
        let judges = self.judge.judges(&self.scorer)?;
        let capabilities = self.case.capabilities()?.with_judges(judges.clone());
        let sandbox = self.sandbox.open(1, capabilities)?;
        let outcome = setup::finish(setup::small_runtime()?, async {
            let scorer = self.load(&sandbox, &source.component).await?;
            let time = self.scorer.host_timeout()?;
            let folder = self.case.task_folder(&case, &scorer, &sandbox, time).await?;
            let input = case.scorer_input(scorer.info().reads);
            let input = ScorerInput { workspace: folder.as_ref(), ..input };
            if let Some(why) = case.error() {
                return Ok(Outcome::of_failed_task(why));
            }
            Ok::<_, Failure>(judge_waiting::outcome(&scorer, input, &judges).await)
        })?;
        let answered = Answered::new(outcome);
        let scorer_id = &self.scorer.scorer;
        answered.write(scorer_id, self.format)?;
        let calls = &answered.answer.calls;
        if let Some(words) = report::judge::of_one_score(scorer_id, calls, &judges.counts()) {
            words::say(&words);
        }
        Ok(match answered.say_error() {
            Some(exit) if !self.allow_errors => exit,
            _ => Exit::Done,
        })
    }

    /// The scorer with its judge.
    async fn load(
        &self,
        sandbox: &Sandbox,
        component: &ComponentBytes,
    ) -> Result<LoadedScorer, Failure> {
        let must_be_named = || -> Result<(), Failure> {
            // Loading reports errors of the component.
            let anatomy = Anatomy::read(component.bytes()?).unwrap_or_default();
            self.judge.must_be_named("score", &self.scorer, &anatomy)
        };
        // Without the grant, loading fails.
        if self.scorer.grants(Grant::Judge) {
            must_be_named()?;
        }
        let loaded = self.scorer.load(sandbox, component).await;
        if loaded.is_err() {
            must_be_named()?;
        }
        self.judge.give(loaded?)
    }
}
