//! Arguments that several commands share. Each module checks the values that it reads, and runs nothing.
//!
//! - `case`: one case, by its parts or as a whole.
//! - `case_files`: files with cases, whatever wrote them.
//! - `completing`: the values that a shell completes beyond those that clap knows.
//! - `configuration`: a scorer's configuration.
//! - `database`: the database, a run in it, and names in that run.
//! - `events`: the events of a run, and the file that they go to; `event_writer`: writes them on a separate thread.
//! - `jobs`: how much runs at once.
//! - `judge`: the language models that scorers ask; `one_judge`: the judge of a single scorer.
//! - `labels`: labels that scores are compared with.
//! - `locked`: whether a lock that is not up to date is refused.
//! - `oci`: registries that scorers are published in.
//! - `place`: opens the files that a command writes while it runs.
//! - `reducer`: how the attempts at a case become one score.
//! - `reports`: reports of a run, and the files that they go to.
//! - `requirements`: the requirements of a run as a whole.
//! - `run_id`: the id of a run as it is typed.
//! - `scorer`: one scorer, its limits and grants.
//! - `scoring`: the options of the commands that score many cases.
//! - `seed`: the seed of sampling as it is typed.
//! - `telemetry`: the export to an OpenTelemetry collector.
//! - `text_or_file`: a text, typed or from a file.
//! - `workspace`: the folder with the files that tasks left.

mod case;
mod case_files;
pub(crate) mod completing;
mod configuration;
mod database;
mod event_writer;
mod events;
mod jobs;
mod judge;
mod labels;
mod locked;
mod oci;
mod one_judge;
mod place;
mod reducer;
mod reports;
mod requirements;
mod run_id;
mod scorer;
mod scoring;
mod seed;
mod telemetry;
mod text_or_file;
mod workspace;

pub(crate) use case::CaseArguments;
pub(crate) use case_files::{CaseFileArguments, CaseFiles, Unmatched};
pub(crate) use configuration::parse_config;
pub(crate) use database::{Database, must_be_there, no_runs};
pub(crate) use events::{EventArguments, Events};
pub(crate) use jobs::JobArguments;
pub(crate) use judge::{
    JudgeArguments, NOT_A_RECORDING, RecordingUseArgument, connected, unreadable_recordings,
};
pub(crate) use labels::{PositiveArguments, labels_at};
pub(crate) use locked::LockedArguments;
pub(crate) use oci::{
    ABOUT_PROXIES, Asked, OWN_CERTIFICATE, OciArguments, REPAIRED, address, try_later,
    without_login,
};
pub(crate) use one_judge::{OneJudgeArguments, how_to_give};
pub(crate) use reducer::reducers;
pub(crate) use reports::{
    Format as ReportFormat, ReportArguments, ReportTarget, Reported, Reports, open as open_reports,
    reports_again,
};
pub(crate) use requirements::{RequirementArguments, RunEnded};
pub(crate) use run_id::run_id;
pub(crate) use scorer::{LimitArguments, ScorerArguments, described, number, split_named};
pub(crate) use scoring::ScoringArguments;
pub(crate) use seed::seed;
pub(crate) use telemetry::TelemetryArguments;
pub(crate) use text_or_file::read_if_file;
pub(crate) use workspace::WorkspaceArguments;

/// The suite file if none is named.
pub(crate) const DEFAULT_SUITE: &str = "suite.toml";
