//! Finds a Rust compiler with a standard library for wasm32, or reports what to install. It installs nothing.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use super::BuildError;

/// The target that guests are compiled for: no system interface, hence no imports but the contract's.
pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// A compiler that can build guests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Toolchain {
    /// The compiler.
    pub rustc: PathBuf,
    /// The version that it reports: `rustc 1.96.0 (…)`.
    pub version: String,
    /// Its standard library for wasm32.
    pub library: StandardLibrary,
    /// The folder in which it is installed.
    pub sysroot: PathBuf,
}

/// How a compiler gets a standard library for wasm32.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StandardLibrary {
    /// It is installed.
    Installed,
    /// Its sources are installed, and a linker: cargo builds it together with the guest.
    FromSource {
        /// The linker.
        linker: PathBuf,
    },
}

impl Toolchain {
    /// The first usable compiler among `$RUSTC`, the `rustc` in the path, and `/usr/bin/rustc`.
    ///
    /// # Errors
    /// [`BuildError::NoToolchain`].
    pub fn find() -> Result<Toolchain, BuildError> {
        let candidates = [
            env::var_os("RUSTC").map(PathBuf::from),
            Some(PathBuf::from("rustc")),
            Some(PathBuf::from("/usr/bin/rustc")),
        ];
        candidates.into_iter().flatten().find_map(Toolchain::probe).ok_or(BuildError::NoToolchain)
    }

    fn probe(rustc: PathBuf) -> Option<Toolchain> {
        let version = answer(&rustc, &["--version"])?;
        let sysroot = PathBuf::from(answer(&rustc, &["--print", "sysroot"])?);
        let libraries = sysroot.join("lib/rustlib").join(TARGET).join("lib");
        let library = if has_core(&libraries) {
            StandardLibrary::Installed
        } else if sysroot.join("lib/rustlib/src/rust/library/std/Cargo.toml").is_file() {
            StandardLibrary::FromSource { linker: linker(&sysroot)? }
        } else {
            return None;
        };
        Some(Toolchain { rustc, version, library, sysroot })
    }

    /// The compiler and its standard library in one line: what must be equal for equal bytes.
    pub fn fingerprint(&self) -> String {
        match self.library {
            StandardLibrary::Installed => format!("{}, installed std", self.version),
            StandardLibrary::FromSource { .. } => format!("{}, std from source", self.version),
        }
    }
}

fn answer(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn has_core(libraries: &Path) -> bool {
    let files = std::fs::read_dir(libraries).into_iter().flatten().flatten();
    files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with("libcore-"))
}

/// rustc's own linker, otherwise the newest `wasm-ld` in the path.
fn linker(sysroot: &Path) -> Option<PathBuf> {
    let own = std::fs::read_dir(sysroot.join("lib/rustlib"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|target| target.path().join("bin/rust-lld"))
        .find(|linker| linker.is_file());
    own.or_else(|| {
        let folders: Vec<PathBuf> =
            env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
        folders
            .iter()
            .flat_map(|folder| wasm_linkers(folder))
            .max_by_key(|(version, _)| *version)
            .map(|(_, linker)| linker)
    })
}

/// `wasm-ld` and `wasm-ld-N` in a folder, each with its N (the highest for plain `wasm-ld`).
fn wasm_linkers(folder: &Path) -> Vec<(u32, PathBuf)> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .into_iter()
        .filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            let version = match name.strip_prefix("wasm-ld")? {
                "" => u32::MAX,
                suffix => suffix.strip_prefix('-')?.parse().ok()?,
            };
            Some((version, file.path()))
        })
        .collect()
}
