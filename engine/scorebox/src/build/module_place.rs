//! The file to which cargo builds a crate's module, and the record of what was built there last. It compiles nothing.
//!
//! All crates whose libraries have the same name build to the same file in a target folder, and so does one crate with
//! another compiler or another Cargo.lock; but for each of them, cargo assumes that the file is its module.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use crate::digest::Digest;

use super::{BuildError, package::Package, toolchain::TARGET};

/// Where cargo puts a module.
pub(super) struct ModulePlace {
    folder: PathBuf,
    file: String,
}

impl ModulePlace {
    /// The place of the module that a profile makes from a package, in a target folder.
    pub(super) fn of(package: &Package, target_folder: &Path, profile: &str) -> ModulePlace {
        let folder = target_folder.join(TARGET).join(profile);
        ModulePlace { folder, file: format!("{}.wasm", package.library_file()) }
    }

    /// Makes cargo build the module again, unless the existing one was made from `origin` too. Cargo builds a module
    /// that is missing.
    pub(super) fn claim(&self, origin: Digest) -> Result<(), BuildError> {
        let note = self.folder.join(format!("{}.origin", self.file));
        let origin = origin.to_string();
        if fs::read_to_string(&note).is_ok_and(|noted| noted == origin) {
            return Ok(());
        }
        for module in [self.folder.join("deps").join(&self.file), self.module()] {
            remove(&module).map_err(BuildError::file(&module))?;
        }
        fs::create_dir_all(&self.folder).map_err(BuildError::file(&self.folder))?;
        fs::write(&note, origin).map_err(BuildError::file(&note))
    }

    /// Reads the module that cargo made.
    pub(super) fn read(&self) -> Result<Vec<u8>, BuildError> {
        let module = self.module();
        fs::read(&module).map_err(BuildError::file(&module))
    }

    fn module(&self) -> PathBuf {
        self.folder.join(&self.file)
    }
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_was_made_of_something_else_is_made_again() {
        let target = tempfile::tempdir().unwrap();
        let folder = target.path().join("wasm32/guest");
        let place = ModulePlace { folder: folder.clone(), file: "scorer.wasm".to_owned() };
        let (alpha, beta) = (Digest::of(b"alpha"), Digest::of(b"beta"));
        let (linked, module) = (folder.join("deps/scorer.wasm"), folder.join("scorer.wasm"));
        let built = |bytes: &str| {
            fs::create_dir_all(folder.join("deps")).unwrap();
            for file in [&linked, &module] {
                fs::write(file, bytes).unwrap();
            }
        };

        place.claim(alpha).unwrap();
        built("of alpha");
        place.claim(alpha).unwrap();
        assert_eq!(place.read().unwrap(), b"of alpha", "nothing changed");
        place.claim(beta).unwrap();
        assert!(!linked.exists() && !module.exists(), "cargo would take alpha's for beta's");
        built("of beta");
        place.claim(alpha).unwrap();
        assert!(!linked.exists() && !module.exists(), "cargo would take beta's for alpha's");
    }
}
