//! What several commands let a user say. Each part checks what it reads, and runs nothing.
//!
//! - `case`: one case, by its parts or as a whole.
//! - `completing`: what a shell offers beyond the words that clap knows.
//! - `database`: the database, a run in it, and names in that run.
//! - `events`: the events of a run, and the file that they go to.
//! - `jobs`: how much runs at once.
//! - `reports`: reports of a run, and the files that they go to.
//! - `requirements`: what is required of a run as a whole.
//! - `scorer`: one scorer, its configuration, limits and grants.
//! - `workspace`: the folder with the files that tasks left.

mod case;
pub(crate) mod completing;
mod database;
mod events;
mod jobs;
mod reports;
mod requirements;
mod scorer;
mod workspace;

pub(crate) use case::CaseArguments;
pub(crate) use database::{DEFAULT_DATABASE, Database, must_be_there, no_runs};
pub(crate) use events::{EventArguments, Events};
pub(crate) use jobs::JobArguments;
pub(crate) use reports::{ReportArguments, ReportTarget, Reports, open as open_reports};
pub(crate) use requirements::RequirementArguments;
pub(crate) use scorer::{LimitArguments, ScorerArguments, parse_config, read_if_file, split_named};
pub(crate) use workspace::WorkspaceArguments;
