//! Zig: one file, or the result of a project's own `build.zig`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::advice::Compiler;

use super::{
    super::{
        BuildError,
        tool::{Tool, Version, Wanted},
    },
    Job, STACK_BYTES,
};

/// The SDK is written for this version; the language changes between versions.
const LEAST: Version = Version(0, 17);

pub(super) fn tool() -> Result<Tool, BuildError> {
    tool_for(Compiler::Zig)
}

/// Zig for one of the languages that it compiles: a separate program, or a Python package.
pub(super) fn tool_for(compiler: Compiler) -> Result<Tool, BuildError> {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let zig = Wanted {
        name: "zig",
        compiler,
        candidates: vec![words(&["zig"]), words(&["python3", "-m", "ziglang"])],
        version: "version",
        least: LEAST,
    };
    zig.find()
}

pub(super) fn compile(job: &Job<'_>, tool: &Tool) -> Result<(), BuildError> {
    let Some(root) = job.source.files.first() else { return build(job, tool) };
    let mut zig = tool.in_folder(&job.source.folder);
    zig.args(["build-exe", "-target", "wasm32-freestanding", "-O", "ReleaseSafe"]);
    // The debug information is for other tools; the names of functions stay.
    zig.args(["-fno-entry", "-rdynamic", "-fno-error-tracing", "--stack"]);
    zig.arg(STACK_BYTES.to_string());
    zig.args(["--dep", "scorebox"]).arg(format!("-Mroot={}", root.display()));
    // The author may have another version of the SDK in the scorer's folder.
    let own = Path::new("scorebox.zig");
    let sdk = match job.source.folder.join(own).is_file() {
        true => own.to_owned(),
        false => job.sdk.join(own),
    };
    zig.arg(format!("-Mscorebox={}", sdk.display()));
    zig.arg(format!("-femit-bin={}", job.module.display()));
    tool.run(zig, job.output)
}

/// Runs the project's own build, which must produce one module.
fn build(job: &Job<'_>, tool: &Tool) -> Result<(), BuildError> {
    let installed = job.scratch.join("installed");
    let mut zig = tool.in_folder(&job.source.folder);
    zig.arg("build").arg("--prefix").arg(&installed);
    zig.arg("--cache-dir").arg(job.scratch.join("cache"));
    tool.run(zig, job.output)?;
    let mut modules = Vec::new();
    let mut waiting = vec![installed];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => waiting.push(path),
                path if path.extension().is_some_and(|it| it == "wasm") => modules.push(path),
                _ => {}
            }
        }
    }
    let [module]: &[PathBuf] = &modules else {
        let reason = format!("it installs {} files `*.wasm`, not one", modules.len());
        let path = job.source.folder.join("build.zig");
        return Err(BuildError::Unexpected { path, reason });
    };
    fs::rename(module, job.module).map_err(BuildError::file(module))
}
