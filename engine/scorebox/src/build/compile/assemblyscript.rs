//! AssemblyScript: `asc`, from the project's own `node_modules` or the path, on what `asconfig.json` names.

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

/// The nearest one: of the folder, of a folder above it, of the path.
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
    // Names of functions, for backtraces.
    asc.arg("--debug");
    // A sandbox serves one call, so nothing is collected; the runtime begins when it is called.
    asc.args(["--runtime", "stub", "--exportStart", "_initialize"]);
    asc.arg("--outFile").arg(job.module);
    tool.run(asc, job.output)
}
