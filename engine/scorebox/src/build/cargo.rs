//! Runs cargo, without what the user set for native code. The caller decides what it does.

use std::{env, process::Command};

use super::{
    BuildError,
    tool::{self, ToolOutput},
};

/// The cargo that runs this process, else the one of the path.
pub(super) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What an outer cargo or the user set for native code is not meant for guests. CARGO_INCREMENTAL goes before what a
    // profile says, and gives other bytes.
    let variables = [
        "RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_INCREMENTAL",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
    ];
    for variable in variables {
        cargo.env_remove(variable);
    }
    cargo
}

/// Its standard output.
pub(super) fn run(command: Command, output: ToolOutput) -> Result<Vec<u8>, BuildError> {
    tool::run(command, output, |detail| BuildError::Cargo { detail })
}
