//! Go: its own compiler, for WASI, as a library. The SDK is a package in the author's own module.

use std::fs;

use crate::advice::Compiler;

use super::{
    super::{
        BuildError, Language,
        tool::{Tool, Version, Wanted},
    },
    Job,
};

/// The first version that exports functions under any name.
const LEAST: Version = Version(1, 24);

pub(super) fn tool() -> Result<Tool, BuildError> {
    let go = Wanted {
        name: "go",
        compiler: Compiler::Go,
        candidates: vec![vec!["go".to_owned()]],
        version: "version",
        least: LEAST,
    };
    go.find()
}

pub(super) fn compile(job: &Job<'_>, tool: &Tool) -> Result<(), BuildError> {
    let mut go = tool.in_folder(&job.source.folder);
    // The user's settings for native code are not meant for scorers, and no other compiler may be downloaded.
    for (variable, value) in [
        ("GOOS", "wasip1"),
        ("GOARCH", "wasm"),
        ("GOWASM", ""),
        ("GOFLAGS", ""),
        ("GOEXPERIMENT", ""),
        ("GOWORK", "off"),
        ("GOTOOLCHAIN", "local"),
        ("CGO_ENABLED", "0"),
    ] {
        go.env(variable, value);
    }
    go.args(["build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"]);
    if let Some(overlay) = overlay(job)? {
        go.arg("-overlay").arg(overlay);
    }
    go.arg("-o").arg(job.module).arg(".");
    tool.run(go, job.output)
}

/// Adds the SDK through an overlay if the author's module has no copy of it, without writing into its folder.
fn overlay(job: &Job<'_>) -> Result<Option<std::path::PathBuf>, BuildError> {
    let folder =
        fs::canonicalize(&job.source.folder).map_err(BuildError::file(&job.source.folder))?;
    let missing = Language::Go.sdk().iter().filter(|file| !folder.join(file.path).is_file());
    let replace: serde_json::Map<String, serde_json::Value> = missing
        .map(|file| {
            let path = folder.join(file.path).to_string_lossy().into_owned();
            (path, job.sdk.join(file.path).to_string_lossy().into())
        })
        .collect();
    if replace.is_empty() {
        return Ok(None);
    }
    let path = job.scratch.join("overlay.json");
    fs::write(&path, serde_json::json!({ "Replace": replace }).to_string())
        .map_err(BuildError::file(&path))?;
    Ok(Some(path))
}
