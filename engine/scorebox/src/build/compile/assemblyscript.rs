//! AssemblyScript: runs `asc`, from the project's own `node_modules` or the path, on the files that `asconfig.json`
//! names.

use std::fs;

use crate::advice::Compiler;

use super::{
    super::{
        BuildError, Source,
        tool::{Tool, Version, Wanted},
    },
    Job,
};

/// The version that the SDK is written for.
const LEAST: Version = Version(0, 27);

/// The closest `asc`: in the folder, in a folder above it, or in the path.
pub(super) fn tool(source: &Source) -> Result<Tool, BuildError> {
    let folder = fs::canonicalize(&source.folder).map_err(BuildError::file(&source.folder))?;
    let installed = folder.ancestors().map(|above| above.join("node_modules/.bin/asc"));
    let mut candidates: Vec<Vec<String>> = installed
        .filter(|asc| asc.is_file())
        .map(|asc| vec![asc.to_string_lossy().into_owned()])
        .collect();
    candidates.push(vec!["asc".to_owned()]);
    let asc = Wanted {
        name: "asc",
        compiler: Compiler::AssemblyScript,
        candidates,
        version: "--version",
        least: LEAST,
    };
    asc.find()
}

pub(super) fn compile(job: &Job<'_>, tool: &Tool) -> Result<(), BuildError> {
    let mut asc = tool.in_folder(&job.source.folder);
    asc.args(["--config", "asconfig.json", "-O3"]);
    // Keeps the names of functions, for backtraces.
    asc.arg("--debug");
    // A sandbox serves one call, so no garbage is collected; the runtime starts when `_initialize` is called.
    asc.args(["--runtime", "stub", "--exportStart", "_initialize"]);
    asc.arg("--outFile").arg(job.module);
    tool.run(asc, job.output)
}
