//! The SDKs of languages whose compilers do not find them by themselves, as files that a build adds to the sources. The
//! Rust SDK is a crate.

use std::{fs, path::Path};

use super::{BuildError, Language};

/// A file of an SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SdkFile {
    /// Its path relative to the scorer's folder.
    pub path: &'static str,
    /// Its content.
    pub text: &'static str,
}

const C: SdkFile = SdkFile { path: "scorebox.h", text: include_str!("../../sdk/c/scorebox.h") };
const CPP: SdkFile =
    SdkFile { path: "scorebox.hpp", text: include_str!("../../sdk/cpp/scorebox.hpp") };
const ZIG: SdkFile =
    SdkFile { path: "scorebox.zig", text: include_str!("../../sdk/zig/scorebox.zig") };
const GO: SdkFile =
    SdkFile { path: "scorebox/scorebox.go", text: include_str!("../../sdk/go/scorebox.go") };
const ASSEMBLYSCRIPT: SdkFile =
    SdkFile { path: "scorebox.ts", text: include_str!("../../sdk/assemblyscript/scorebox.ts") };

impl Language {
    /// The files of its SDK; empty for a language whose compiler finds it, or that has no SDK.
    pub fn sdk(self) -> &'static [SdkFile] {
        match self {
            Language::C => &[C],
            Language::Cpp => &[C, CPP],
            Language::Zig => &[ZIG],
            Language::Go => &[GO],
            Language::AssemblyScript => &[ASSEMBLYSCRIPT],
            Language::Rust | Language::Module => &[],
        }
    }
}

/// Writes a language's SDK into a folder.
pub(super) fn write(language: Language, folder: &Path) -> Result<(), BuildError> {
    for file in language.sdk() {
        let path = folder.join(file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(BuildError::file(parent))?;
        }
        fs::write(&path, file.text).map_err(BuildError::file(&path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
