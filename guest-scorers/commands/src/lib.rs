//! commands: how the recorded commands ended that were run on the work, such as its tests or its build. Commands that
//! the agent ran are in its trace (no-failed-commands).
//!
//! score = checks that hold / all checks; a check is one command or pattern
//!
//! The rule is niceeval's `commandSucceeded`.

use scorebox_sdk::{
    Case, Checks, ConfigError, Info, JsonSchema, Negate, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_traces::{TextOrRegex, TextPattern};
use scorebox_sdk_workspace::{Command, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// How much of the end of a command's output goes into a reason, in characters.
const SAID: usize = 200;

/// Scores how recorded commands ended: the fraction of checks in which the exit code is `exitCode`.
///
/// Without patterns, every recorded command is a check. With patterns, each pattern is a check: at
/// least one command must match it, and the matching commands must end with that exit code (all of
/// them, or as `which` says). A command that was killed has no exit code and fails. If no command
/// was recorded and none is named, the result is not-applicable. The workspace is part of the
/// case's data; see docs/workspace.md. Regular expressions have the syntax of regex-lite: `\d`, `\w`,
/// `\s`, `\b` and `(?i)` are ASCII only. Equals niceeval's `commandSucceeded`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The command: a text that it contains, or a regular expression.
    #[serde(default)]
    command: Option<TextOrRegex>,
    /// The commands; each of them is a check.
    #[serde(default)]
    commands: Option<Vec<TextOrRegex>>,
    /// The expected exit code.
    #[serde(default)]
    exit_code: i64,
    /// Which of the commands that match a pattern must end with that code.
    #[serde(default)]
    which: Which,
    #[serde(default)]
    negate: Negate,
}

/// Which of the commands that a pattern matches count.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Which {
    /// All of them.
    #[default]
    All,
    /// At least one.
    Any,
    /// The last one.
    Last,
}

/// The scorer, made from its [`Config`].
pub struct Commands {
    wanted: Vec<TextPattern>,
    exit_code: i64,
    which: Which,
    negate: Negate,
}

impl Scorer for Commands {
    type Config = Config;

    const INFO: Info = Info::new("commands", "Commands", env!("CARGO_PKG_VERSION"))
        .reads(Workspace::READS)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { command, commands, exit_code, which, negate } = config;
        let wanted = TextPattern::compile_all(("command", &command), ("commands", &commands))?;
        if wanted.is_empty() && which != Which::All {
            let message = "needs a `command` or `commands` to apply to";
            return Err(ConfigError::new("which", message));
        }
        Ok(Self { wanted, exit_code, which, negate })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let workspace = Workspace::of(case)?;
        let commands = workspace.commands()?;
        let mut checks = Checks::default();
        if self.wanted.is_empty() {
            for command in commands {
                let line = line(command);
                checks.add(format!("`{line}` {}", self.ends()), self.holds(command), why(command));
            }
        }
        for pattern in &self.wanted {
            let matching: Vec<_> =
                commands.iter().filter(|command| pattern.is_in(&command.command)).collect();
            let (holds, reason) = self.check(pattern, &matching);
            checks.add(format!("{pattern} {}", self.ends()), holds, reason);
        }
        if checks.is_empty() {
            return Ok(Score::not_applicable("no command was recorded"));
        }
        let failed = commands.iter().filter(|command| !self.holds(command)).count();
        let meta = json!({ "commands": commands.len(), "otherExitCode": failed });
        Ok(checks.negated(self.negate.is_set()).into_score().meta(meta))
    }
}

impl Commands {
    fn ends(&self) -> String {
        match self.exit_code {
            0 => "succeeds".to_owned(),
            code => format!("ends with exit code {code}"),
        }
    }

    fn holds(&self, command: &Command) -> bool {
        command.exit_code == Some(self.exit_code)
    }

    fn check(&self, pattern: &TextPattern, matching: &[&Command]) -> (bool, String) {
        let Some(last) = matching.last() else {
            return (false, format!("no command {pattern} was recorded"));
        };
        let decisive = match self.which {
            Which::Last => Some(last),
            Which::All => matching.iter().find(|command| !self.holds(command)),
            Which::Any => matching.iter().find(|command| self.holds(command)),
        };
        match decisive {
            Some(command) => (self.holds(command), why(command)),
            None if self.which == Which::All => (true, format!("{pattern} {}", self.ends())),
            None => (false, why(last)),
        }
    }
}

fn line(command: &Command) -> String {
    excerpt(&command.command, 120).into_owned()
}

/// How a command ended and, if it failed, the end of its output.
fn why(command: &Command) -> String {
    let line = line(command);
    let ended = match command.exit_code {
        Some(code) => format!("`{line}` ended with exit code {code}"),
        None => format!("`{line}` has no exit code, so it was killed"),
    };
    let texts = [&command.stderr, &command.stdout];
    let mut lines = texts.into_iter().flatten().filter_map(|text| text.trim_end().lines().last());
    match lines.find(|line| !line.trim().is_empty()) {
        Some(said) if command.exit_code != Some(0) => {
            format!("{ended}: {}", excerpt(said.trim(), SAID))
        }
        _ => ended,
    }
}

scorebox_sdk::export!(Commands);

#[cfg(test)]
mod tests;
