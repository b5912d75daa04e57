//! The commands, a file each: its arguments, and what it does with them.

mod build;
mod compile;
mod completions;
mod inspect;
mod run;
mod runs;
mod score;
mod scorers;
mod scores;
mod stats;
mod verify;

use crate::{
    failure::{Exit, Failure},
    setup::Global,
};

/// Runs anyone's scorer on anyone's evaluation data, safely: each score in a WebAssembly sandbox of
/// its own.
#[derive(Debug, clap::Parser)]
#[command(name = "scorebox", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Arguments {
    #[command(flatten)]
    pub global: Global,

    #[command(flatten)]
    pub color: Color,

    #[command(subcommand)]
    pub command: Command,
}

/// When to use colour.
#[derive(Debug, clap::Args)]
pub struct Color {
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorWhen,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Settles the question for all that is printed.
    pub fn write_global(&self) {
        match self.color {
            ColorWhen::Auto => anstream::ColorChoice::Auto,
            ColorWhen::Always => anstream::ColorChoice::Always,
            ColorWhen::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Score(score::Score),
    Run(run::Run),
    Runs(runs::Runs),
    Scores(scores::Scores),
    Stats(stats::Stats),
    Verify(verify::Verify),
    Scorers(scorers::Scorers),
    Inspect(inspect::Inspect),
    Build(build::Build),
    Completions(completions::Completions),
    #[command(name = COMPILE, hide = true)]
    Compile(compile::Compile),
}

/// The hidden command that compiles for another process of this program.
pub const COMPILE: &str = "compile-for-parent";

impl Command {
    /// Does it.
    pub fn run(self, global: &Global) -> Result<Exit, Failure> {
        match self {
            Command::Score(command) => command.run(global),
            Command::Run(command) => command.run(global),
            Command::Runs(command) => command.run(),
            Command::Scores(command) => command.run(),
            Command::Stats(command) => command.run(),
            Command::Verify(command) => command.run(global),
            Command::Scorers(command) => command.run(global),
            Command::Inspect(command) => command.run(global),
            Command::Build(command) => command.run(global),
            Command::Completions(command) => command.run(),
            Command::Compile(command) => command.run(),
        }
    }
}
