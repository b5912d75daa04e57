//! C and C++: clang with a C library for WASI, as in Zig and wasi-sdk. For other builds, an author uses their own
//! compiler and passes in the module.

use std::{env, path::PathBuf};

use crate::advice::Compiler;

use super::{
    super::{
        BuildError, Language,
        tool::{Tool, Version, Wanted},
    },
    Job, STACK_BYTES,
};

/// wasi-sdk's clang if its folder is named, otherwise Zig's.
pub(super) fn tool() -> Result<Tool, BuildError> {
    if let Some(folder) = env::var_os("WASI_SDK_PATH") {
        let clang = PathBuf::from(folder).join("bin/clang").to_string_lossy().into_owned();
        let wasi_sdk = Wanted {
            name: "clang of wasi-sdk",
            compiler: Compiler::WasiSdk,
            candidates: vec![vec![clang]],
            version: "--version",
            least: Version(16, 0),
        };
        return wasi_sdk.find();
    }
    super::zig::tool_for(Compiler::C)
}

pub(super) fn compile(job: &Job<'_>, tool: &Tool) -> Result<(), BuildError> {
    let mut clang = tool.in_folder(&job.source.folder);
    let is_cpp = job.source.language == Language::Cpp;
    if env::var_os("WASI_SDK_PATH").is_some() {
        // In its C++ mode, clang links the C++ library.
        clang.args(["--target=wasm32-wasip1"]);
        if is_cpp {
            clang.arg("--driver-mode=g++");
        }
    } else {
        clang.arg(if is_cpp { "c++" } else { "cc" });
        clang.args(["-target", "wasm32-wasi", "-fno-sanitize=all"]);
    }
    clang.args(["-O2", "-Wall", "-mexec-model=reactor"]);
    if is_cpp {
        clang.arg("-fno-exceptions");
    }
    // The folder's own files come first, so that an author can keep another version of the SDK.
    clang.arg("-I").arg(".").arg("-I").arg(job.sdk);
    clang.arg(format!("-Wl,-z,stack-size={STACK_BYTES}"));
    clang.args(&job.source.files).arg("-o").arg(job.module);
    tool.run(clang, job.output)
}
