//! Runs cargo, without the user's settings for native code. The caller decides what cargo does.

use std::{env, process::Command};

use super::{
    BuildError,
    tool::{self, ToolOutput},
};

/// The cargo that runs this process, otherwise the one in the path.
pub(super) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Settings of an outer cargo or of the user for native code are not meant for guests. CARGO_INCREMENTAL overrides
    // the profile, and gives different bytes.
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

/// Runs a command of cargo, and returns its standard output.
pub(super) fn run(command: Command, output: ToolOutput) -> Result<Vec<u8>, BuildError> {
    tool::run(command, output, |detail| BuildError::Cargo { detail })
}
