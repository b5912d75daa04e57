//! Runs cargo, without what the user set for native code. The caller decides what it does.

use std::{env, process::Command};

use super::{
    BuildError,
    tool::{self, ToolOutput},
};

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
pub(super) fn run(command: Command, output: ToolOutput) -> Result<Vec<u8>, BuildError> {
    tool::run(command, output, |detail| BuildError::Cargo { detail })
}
