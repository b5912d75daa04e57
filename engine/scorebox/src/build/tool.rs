//! Runs the tools of other languages: which program it is, whether it is new enough, and its output. It installs
//! nothing, and knows no language.

use std::{
    fmt,
    path::Path,
    process::{Command, Stdio},
};

use crate::advice::Compiler;

use super::BuildError;

/// Where a tool's own output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolOutput {
    /// To this process's standard error.
    Inherited,
    /// Into the error, if there is one.
    Captured,
}

/// A tool that a language needs.
pub(super) struct Wanted {
    /// Its name.
    pub(super) name: &'static str,
    /// What it is installed for.
    pub(super) compiler: Compiler,
    /// The program and its first arguments; the first candidate that runs is used.
    pub(super) candidates: Vec<Vec<String>>,
    /// The argument that makes it print its version.
    pub(super) version: &'static str,
    /// The oldest version that is supported.
    pub(super) least: Version,
}

/// Major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// A tool that was found.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    name: &'static str,
    words: Vec<String>,
    /// The version that it reports, in one line.
    pub(super) version: String,
}

impl Wanted {
    /// The first candidate that runs.
    pub(super) fn find(self) -> Result<Tool, BuildError> {
        let Wanted { name, compiler, candidates, version, least } = self;
        let found = candidates.into_iter().find_map(|words| {
            let mut command = started(&words);
            command.arg(version).stdin(Stdio::null());
            let answer = command.output().ok().filter(|answer| answer.status.success())?;
            let text = String::from_utf8_lossy(&answer.stdout);
            let version = match text.lines().next()?.trim() {
                version if version.contains(name) => version.to_owned(),
                version => format!("{name} {version}"),
            };
            Some(Tool { name, words, version })
        });
        let tool = found.ok_or(BuildError::NoTool { name, compiler })?;
        match version_in(&tool.version) {
            Some(version) if version < least => Err(BuildError::OldTool {
                name,
                compiler,
                found: tool.version,
                least: least.to_string(),
            }),
            _ => Ok(tool),
        }
    }
}

impl Tool {
    /// A command that runs it in `folder`.
    pub(super) fn in_folder(&self, folder: &Path) -> Command {
        let mut command = started(&self.words);
        command.current_dir(folder).stdin(Stdio::null());
        command
    }

    /// Runs a command from [`in_folder`](Tool::in_folder).
    pub(super) fn run(&self, command: Command, output: ToolOutput) -> Result<(), BuildError> {
        let failed = |detail| BuildError::Compiler { name: self.name, detail };
        run(command, output, failed).map(drop)
    }
}

fn started(words: &[String]) -> Command {
    let (program, first) = words.split_first().map_or(("", &[][..]), |(it, rest)| (it, rest));
    let mut command = Command::new(program);
    command.args(first);
    command
}

/// The first two numbers with a dot between them.
fn version_in(text: &str) -> Option<Version> {
    let numbers = |word: &str| {
        let mut parts = word.split(|other: char| !other.is_ascii_digit());
        Some(Version(parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    text.split(' ').find_map(|word| {
        let start = word.find(|first: char| first.is_ascii_digit())?;
        numbers(&word[start..])
    })
}

/// Runs a command and returns its standard output. `failed` makes the error from its standard error, if the user has
/// not seen that.
pub(super) fn run(
    mut command: Command,
    output: ToolOutput,
    failed: impl FnOnce(Option<String>) -> BuildError,
) -> Result<Vec<u8>, BuildError> {
    if output == ToolOutput::Inherited {
        command.stderr(Stdio::inherit());
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let answer = command.output().map_err(|source| BuildError::CannotRun { program, source })?;
    if answer.status.success() {
        return Ok(answer.stdout);
    }
    let detail = String::from_utf8_lossy(&answer.stderr).trim().to_owned();
    Err(failed((!detail.is_empty()).then_some(detail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_two_numbers_of_what_a_tool_says() {
        for (said, expected) in [
            ("0.17.1", Some(Version(0, 17))),
            ("go version go1.27.3 linux/amd64", Some(Version(1, 27))),
            ("Version 0.28.20", Some(Version(0, 28))),
            ("Debian clang version 22.1.0 (++x)", Some(Version(22, 1))),
            ("go version devel", None),
        ] {
            assert_eq!(version_in(said), expected, "{said}");
        }
        assert!(Version(0, 9) < Version(0, 17) && Version(1, 9) < Version(1, 24));
    }
}
