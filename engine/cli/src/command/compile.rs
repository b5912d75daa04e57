//! `scorebox compile`: compiles and configures the scorers of a suite in advance, so that the next run starts
//! immediately. It scores nothing.

use std::path::PathBuf;

use scorebox::run::load_scorers_watched;

use crate::{
    arguments::LockedArguments,
    failure::{Exit, Failure},
    lock_file::locks_of,
    locked, output, report,
    setup::{self, Pending, SandboxArguments},
    waiting::Waiting,
};

/// Compile a suite's scorers in advance, so that the next run starts immediately
///
/// Compiled code is kept in the cache folder. A scorer is compiled once for all of its configurations.
#[derive(Debug, clap::Args)]
#[command(mut_arg("no_cache", |arg| arg.hide(true)))]
pub(crate) struct Compile {
    /// The suite file (TOML or JSON), or a bundle (.tar)
    suite: PathBuf,

    #[command(flatten)]
    locked: LockedArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Compile {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        if !self.sandbox.has_cache() {
            return Err(Failure::new(
                "--no-cache leaves `compile` nothing to do: what it compiles is kept in the cache",
            )
            .hint("leave out --no-cache; --cache-dir names another folder"));
        }
        let suite = setup::suite_to_load(&self.suite, &self.sandbox, Ok)?;
        self.locked.check(&suite)?;
        let sandbox = self.sandbox.open(1, setup::unasked_judges(&suite))?;
        let locks = locks_of(&suite.scorers)?;
        let registry = setup::registry_with(&suite.scorers, &locks);
        locked::must_be_allowed(&locks, &suite, &registry)?;
        let of = suite.scorers.len();
        let mut pending = Pending::all_of(&suite);
        let mut waiting = pending.words().map(Waiting::on);
        let mut written = Ok(());
        let loaded = setup::finish(setup::small_runtime()?, async {
            load_scorers_watched(&suite, &registry, &sandbox, |ready| {
                // Ends the progress display, so that the message begins on a new line.
                drop(waiting.take());
                let number = pending.ready(&ready.id);
                let how = if ready.scorer.cached() { "was in the cache" } else { "compiled" };
                let time = report::duration(ready.scorer.load_time());
                let line = format!("{number} of {of}  {}  {how}  {time}", ready.id);
                if written.is_ok() {
                    written = output::stdout(|out| writeln!(out, "{line}"));
                }
                waiting = pending.words().map(Waiting::on);
            })
            .await
        });
        drop(waiting);
        setup::say_what_is_not_cached(&sandbox);
        locked::must_be_as_locked(&suite.scorers, &suite.policies, &loaded?)?;
        written.map(|()| Exit::Done)
    }
}
