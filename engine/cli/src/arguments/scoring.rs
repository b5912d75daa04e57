//! What every command has that scores many cases and stores the scores: where they go, what is required of them, and
//! what scoring may use. Where the cases come from is each command's own.

use super::{
    Database, EventArguments, JobArguments, JudgeArguments, LimitArguments, LockedArguments,
    ReportArguments, RequirementArguments, TelemetryArguments, WorkspaceArguments,
};
use crate::setup::SandboxArguments;

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
