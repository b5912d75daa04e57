//! The options of every command that scores many cases and stores the scores: the destination of the scores, the
//! requirements on them, and the resources for scoring. Each command has its own options for the source of the cases.

use scorebox::run::ReadyScorer;

use super::{
    Database, EventArguments, JobArguments, JudgeArguments, LimitArguments, LockedArguments,
    ReportArguments, RequirementArguments, TelemetryArguments, WorkspaceArguments,
};
use crate::{
    failure::Failure,
    setup::{self, SandboxArguments},
};

/// Where the results of many scores go, and what scoring may use.
#[derive(Debug, clap::Args)]
pub(crate) struct ScoringArguments {
    #[command(flatten)]
    pub(crate) reports: ReportArguments,

    #[command(flatten)]
    pub(crate) events: EventArguments,

    #[command(flatten)]
    pub(crate) telemetry: TelemetryArguments,

    #[command(flatten)]
    pub(crate) requirements: RequirementArguments,

    #[command(flatten)]
    pub(crate) locked: LockedArguments,

    #[command(flatten)]
    pub(crate) database: Database,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArguments,

    #[command(flatten)]
    pub(crate) judges: JudgeArguments,

    #[command(flatten)]
    pub(crate) limits: LimitArguments,

    #[command(flatten)]
    pub(crate) jobs: JobArguments,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArguments,
}

impl ScoringArguments {
    /// Refuses scorers that read files if no folder is named, and warns of options that no scorer needs.
    pub(crate) fn must_serve(&self, scorers: &[ReadyScorer]) -> Result<(), Failure> {
        setup::must_have_files(scorers)?;
        self.workspace.say_if_unused(scorers.iter().any(|ready| ready.scorer.reads_workspace()));
        self.judges.say_if_unused(scorers.iter().any(|ready| ready.scorer.asks_judge()));
        Ok(())
    }
}
