//! Runs cargo, without what the user set for native code. The caller decides what it does.

use std::{
    env,
    process::{Command, Stdio},
};

use super::BuildError;

/// Where cargo's own output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CargoOutput {
    /// To this process's standard error.
    Inherited,
    /// Into the error, if there is one.
    Captured,
}

/// The cargo that runs this process, else the one of the path.
pub(super) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What an outer cargo or the user set for native code is not meant for guests.
    for variable in ["RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"]
    {
        cargo.env_remove(variable);
    }
    cargo
}

/// Its standard output.
pub(super) fn run(mut command: Command, output: CargoOutput) -> Result<Vec<u8>, BuildError> {
    if output == CargoOutput::Inherited {
        command.stderr(Stdio::inherit());
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let answer = command.output().map_err(|source| BuildError::CannotRun { program, source })?;
    if answer.status.success() {
        return Ok(answer.stdout);
    }
    let detail = String::from_utf8_lossy(&answer.stderr).trim().to_owned();
    Err(BuildError::Cargo { detail: (!detail.is_empty()).then_some(detail) })
}
