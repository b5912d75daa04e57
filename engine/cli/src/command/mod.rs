//! The commands, one file each: its arguments, and what it does with them. What several commands share is in
//! `arguments`.

mod add;
mod agree;
mod audit;
mod build;
mod bundle;
mod calls;
mod card;
mod cases;
mod compare;
mod compile;
mod completions;
mod convert;
mod export;
mod fetch;
mod index;
mod inspect;
mod judges;
mod leaderboard;
mod live;
mod merge;
mod migrate;
mod new;
mod outdated;
mod publish;
mod remove;
mod repeats;
mod report;
mod rm;
mod run;
mod runs;
mod score;
mod scorers;
mod scores;
mod search;
mod serve;
mod shard;
mod show;
mod stats;
mod suite;
mod toolchain;
mod trend;
mod update;
mod verify;

use std::ffi::OsString;

use clap::{
    ArgAction, CommandFactory as _, FromArgMatches as _, ValueEnum as _,
    builder::{OsStr, Resettable},
    error::{ContextKind, ErrorKind},
};

use crate::{
    failure::{Exit, Failure},
    usage,
};

/// Runs anyone's scorer on anyone's evaluation data, safely: each score in its own WebAssembly
/// sandbox.
#[derive(Debug, clap::Parser)]
#[command(
    name = "scorebox",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_long_help = ENVIRONMENT,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub color: Color,

    #[command(subcommand)]
    pub command: Command,

    /// Print help (`-h`: a summary)
    #[arg(long, short, global = true, action = ArgAction::Help, help_heading = GLOBAL_OPTIONS)]
    help: Option<bool>,

    /// Print version
    #[arg(long, short = 'V', action = ArgAction::Version, help_heading = GLOBAL_OPTIONS)]
    version: Option<bool>,
}

impl Arguments {
    /// Parses what a user typed; the first is the program.
    pub(crate) fn parse_all(typed: &[OsString]) -> Result<Arguments, clap::Error> {
        let mut command = with_environment(with_negative_numbers(Arguments::command()));
        let matches = command
            .try_get_matches_from_mut(typed)
            .map_err(|error| usage::explained(error, &command))
            .map_err(|error| with_suggestion(error, typed, command.clone()))?;
        Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// Returns the error unchanged, unless `help` was given a command that does not exist: then clap's error for that
/// command, which suggests similar ones.
fn with_suggestion(error: clap::Error, typed: &[OsString], command: clap::Command) -> clap::Error {
    let is_bare = error.kind() == ErrorKind::InvalidSubcommand
        && error.get(ContextKind::SuggestedSubcommand).is_none();
    let help = typed.iter().position(|word| word == "help");
    let Some(help) = help.filter(|_| is_bare) else { return error };
    let (before, after) = (&typed[..help], &typed[help + 1..]);
    match command.try_get_matches_from(before.iter().chain(after)) {
        Err(other) if other.kind() == ErrorKind::InvalidSubcommand => other,
        _ => error,
    }
}

/// Lets options take `-5` as their value: a part of a case is JSON, and an option that cannot be negative refuses the
/// value itself.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_value =
        |argument: &clap::Arg| !argument.is_positional() && argument.get_action().takes_values();
    command
        .mut_args(|argument| {
            let takes = takes_value(&argument);
            argument.allow_negative_numbers(takes)
        })
        .mut_subcommands(with_negative_numbers)
}

/// Makes the value of each environment variable the default of its option. So a message does not show it as if the user
/// had typed it, and an empty variable counts as not set.
fn with_environment(command: clap::Command) -> clap::Command {
    let set = |argument: clap::Arg| {
        let Some(value) = argument.get_env().map(std::env::var_os) else { return argument };
        let argument = argument.env(Resettable::Reset);
        match value.filter(|value| !value.is_empty()) {
            Some(value) => argument.default_value(OsStr::from(value)).hide_default_value(true),
            None => argument,
        }
    };
    command.mut_args(set).mut_subcommands(with_environment)
}

/// The environment variables. docs/configuration.md has the same list.
const ENVIRONMENT: &str = "\
Environment variables:
  SCOREBOX_DB                The database, as --db; `score`, `card` and `merge` use only one that --db names
  SCOREBOX_CACHE_DIR         The folder for compiled code, as --cache-dir
  SCOREBOX_DATA_DIR          The folder for fetched components and the engine for Python scripts
  SCOREBOX_CONFIG            Your configuration file
  SCOREBOX_SERVE_TOKEN       The token that `serve` asks for
  SCOREBOX_SIGNING_PASSWORD  The password of the secret key that `publish` and `index` sign with
  NO_COLOR, CLICOLOR_FORCE   Never or always use colour, unless --color is given";

/// The heading of the last section of every help.
const GLOBAL_OPTIONS: &str = "Global options";

/// When to use colour.
#[derive(Debug, clap::Args)]
pub(crate) struct Color {
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL_OPTIONS)]
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
    /// The colour option in arguments that cannot be parsed, or that ask for help. The parser reports errors of the
    /// option itself.
    pub(crate) fn typed(arguments: &[OsString]) -> Color {
        let words = arguments.iter().map(|word| word.to_str().unwrap_or_default());
        let mut words = words.take_while(|word| *word != "--");
        while let Some(word) = words.next() {
            let value = match word.strip_prefix("--color") {
                Some("") => words.next(),
                Some(rest) => rest.strip_prefix('='),
                None => None,
            };
            if let Some(color) = value.and_then(|it| ColorWhen::from_str(it, false).ok()) {
                return Color { color };
            }
        }
        Color { color: ColorWhen::Auto }
    }

    /// Applies the choice to everything that is printed.
    pub(crate) fn write_global(&self) {
        match self.color {
            ColorWhen::Auto => anstream::ColorChoice::Auto,
            ColorWhen::Always => anstream::ColorChoice::Always,
            ColorWhen::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Score(score::Score),
    Run(run::Run),
    Live(live::Live),
    Shard(shard::Shard),
    Merge(merge::Merge),
    Convert(convert::Convert),
    Runs(runs::Runs),
    Rm(rm::Rm),
    Scores(scores::Scores),
    Cases(cases::Cases),
    Show(show::Show),
    Stats(stats::Stats),
    Compare(compare::Compare),
    Agree(agree::Agree),
    Trend(trend::Trend),
    Repeats(repeats::Repeats),
    Leaderboard(leaderboard::Leaderboard),
    Report(report::Report),
    Serve(serve::Serve),
    Export(export::Export),
    Migrate(migrate::Migrate),
    Suite(suite::Suite),
    Calls(calls::Calls),
    Judges(judges::Judges),
    Verify(verify::Verify),
    Scorers(scorers::Scorers),
    Inspect(inspect::Inspect),
    Card(card::Card),
    Compile(compile::Compile),
    New(new::New),
    Build(build::Build),
    Publish(publish::Publish),
    Search(search::Search),
    Add(add::Add),
    Fetch(fetch::Fetch),
    Bundle(bundle::Bundle),
    Audit(audit::Audit),
    Update(update::Update),
    Outdated(outdated::Outdated),
    Remove(remove::Remove),
    Index(index::Index),
    Toolchain(toolchain::Toolchain),
    Completions(completions::Completions),
}

impl Command {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self {
            Command::Score(command) => command.run(),
            Command::Run(command) => command.run(),
            Command::Live(command) => command.run(),
            Command::Shard(command) => command.run(),
            Command::Merge(command) => command.run(),
            Command::Convert(command) => command.run(),
            Command::Rm(command) => command.run(),
            Command::Runs(command) => command.run(),
            Command::Scores(command) => command.run(),
            Command::Cases(command) => command.run(),
            Command::Show(command) => command.run(),
            Command::Stats(command) => command.run(),
            Command::Compare(command) => command.run(),
            Command::Agree(command) => command.run(),
            Command::Trend(command) => command.run(),
            Command::Repeats(command) => command.run(),
            Command::Leaderboard(command) => command.run(),
            Command::Report(command) => command.run(),
            Command::Serve(command) => command.run(),
            Command::Export(command) => command.run(),
            Command::Migrate(command) => command.run(),
            Command::Suite(command) => command.run(),
            Command::Calls(command) => command.run(),
            Command::Judges(command) => command.run(),
            Command::Verify(command) => command.run(),
            Command::Scorers(command) => command.run(),
            Command::Inspect(command) => command.run(),
            Command::Card(command) => command.run(),
            Command::New(command) => command.run(),
            Command::Build(command) => command.run(),
            Command::Publish(command) => command.run(),
            Command::Search(command) => command.run(),
            Command::Add(command) => command.run(),
            Command::Fetch(command) => command.run(),
            Command::Bundle(command) => command.run(),
            Command::Audit(command) => command.run(),
            Command::Update(command) => command.run(),
            Command::Outdated(command) => command.run(),
            Command::Remove(command) => command.run(),
            Command::Index(command) => command.run(),
            Command::Toolchain(command) => command.run(),
            Command::Completions(command) => command.run(),
            Command::Compile(command) => command.run(),
        }
    }
}
