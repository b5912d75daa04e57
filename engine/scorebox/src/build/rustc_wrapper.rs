//! Runs between cargo and rustc when a crate outside a gallery is compiled: removes from the compiler's arguments what
//! depends on the folders of its sources. It is this program, started again by cargo; it compiles nothing itself.

use std::{
    env,
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    process::{self, Command},
};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

use super::package::Package;

/// The variable that asks a program to run between cargo and rustc. Its value has the folders of the sources.
const ASKED: &str = "SCOREBOX_RUSTC_WRAPPER";
/// An argument that only cargo sees: because of it, cargo treats two crates with the same name in two folders as
/// different, whatever their paths in their workspaces are.
pub(super) const FOLDER_CFG: &str = "--cfg=scorebox_folder=";
/// The exit code if rustc cannot be started.
const NO_RUSTC: i32 = 101;

/// Where a crate's sources are that do not come from a registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Places {
    /// The folder of its workspace.
    workspace: PathBuf,
    /// The folders of path dependencies outside the workspace, with their crates' names.
    outside: Vec<(String, PathBuf)>,
    /// Whether to keep these folders out of the paths in the component.
    remaps: bool,
}

impl Places {
    pub(super) fn of(package: &Package, remaps: bool) -> Places {
        Places { workspace: package.workspace.clone(), outside: package.outside.clone(), remaps }
    }

    /// Makes cargo, which is about to run, start `program` before rustc.
    pub(super) fn wrap(
        &self,
        cargo: &mut Command,
        program: &Path,
    ) -> Result<(), serde_json::Error> {
        cargo.env("RUSTC_WRAPPER", program).env(ASKED, serde_json::to_string(self)?);
        Ok(())
    }

    /// The arguments for rustc, made from those that cargo passes for a crate.
    fn arguments(&self, of: &Compiled<'_>, given: Vec<OsString>) -> Vec<OsString> {
        let has_target = given.iter().any(|argument| argument == "--target");
        let mut arguments = Vec::with_capacity(given.len() + 2);
        for argument in given {
            let text = argument.to_string_lossy();
            if text.starts_with(FOLDER_CFG) {
                continue;
            }
            // Cargo computes this number from the paths of what is outside the workspace, and symbols contain it.
            if text.starts_with("metadata=") && !self.outside.is_empty() && self.has(of.folder) {
                arguments.push(format!("metadata={}", of.number(has_target)).into());
                continue;
            }
            arguments.push(argument);
        }
        if self.remaps {
            let outside = self.outside.iter().filter(|(_, folder)| of.folder.starts_with(folder));
            let outside = outside.map(|(name, folder)| (folder, format!("/{name}")));
            let workspace = of.folder.starts_with(&self.workspace);
            let workspace = workspace.then(|| (&self.workspace, "/src".to_owned()));
            for (from, to) in workspace.into_iter().chain(outside) {
                let mut flag = OsString::from("--remap-path-prefix=");
                flag.push(from);
                flag.push(format!("={to}"));
                arguments.push(flag);
            }
        }
        arguments
    }

    /// Whether a crate's folder is one of these folders.
    fn has(&self, folder: &Path) -> bool {
        folder.starts_with(&self.workspace)
            || self.outside.iter().any(|(_, outside)| folder == outside)
    }
}

/// The crate that is compiled, from the compiler's environment, which cargo sets.
struct Compiled<'c> {
    folder: &'c Path,
    name: &'c str,
    version: &'c str,
}

impl Compiled<'_> {
    /// The replacement for cargo's number: the same in any folder.
    fn number(&self, has_target: bool) -> String {
        let target: &[u8] = if has_target { b"target" } else { b"host" };
        let parts = [b"scorebox".as_slice(), self.name.as_bytes(), self.version.as_bytes(), target];
        Digest::of_parts(parts).short()
    }
}

/// Makes a program able to run between cargo and rustc, which [`SharedBuilds`](super::SharedBuilds) needs: it must be
/// one of the first calls in `main`. It returns at once, except in the process that cargo has started before rustc:
/// that process becomes rustc, or exits as rustc does.
pub fn become_rustc_if_asked() {
    let Some(asked) = env::var_os(ASKED) else { return };
    let mut words = env::args_os().skip(1);
    let Some(rustc) = words.next() else { return };
    let places = serde_json::from_str::<Places>(&asked.to_string_lossy());
    let variable = |name: &str| env::var(name).ok();
    let about =
        (variable("CARGO_MANIFEST_DIR"), variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION"));
    let given: Vec<OsString> = words.collect();
    let arguments = match (&places, &about) {
        (Ok(places), (Some(folder), Some(name), Some(version))) => {
            places.arguments(&Compiled { folder: Path::new(folder), name, version }, given)
        }
        // Cargo runs rustc without a crate, to ask about rustc itself.
        _ => given,
    };
    let mut command = Command::new(&rustc);
    command.args(arguments).env_remove(ASKED).env_remove("RUSTC_WRAPPER");
    let failed = become_this(command);
    let _ = writeln!(std::io::stderr(), "cannot run `{}`: {failed}", rustc.to_string_lossy());
    process::exit(NO_RUSTC)
}

/// Replaces this process with `command`; returns the error if that fails.
#[cfg(unix)]
fn become_this(mut command: Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(&mut command)
}

/// Exits as `command` does; returns the error if it cannot be run.
#[cfg(not(unix))]
fn become_this(mut command: Command) -> std::io::Error {
    match command.status() {
        Ok(status) => process::exit(status.code().unwrap_or(NO_RUSTC)),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(outside: &[(&str, &str)]) -> Places {
        let outside = outside.iter().map(|(name, path)| ((*name).to_owned(), (*path).into()));
        Places { workspace: "/home/me/own".into(), outside: outside.collect(), remaps: true }
    }

    fn arguments(places: &Places, folder: &str, given: &str) -> String {
        let of = Compiled { folder: Path::new(folder), name: "own", version: "0.1.0" };
        let given = given.split(' ').map(OsString::from).collect();
        let words = places.arguments(&of, given);
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_cargo_made_of_paths_is_the_same_in_any_folder() {
        let given =
            "--crate-name own src/lib.rs -C metadata=7f -C extra-filename=-7f --target wasm32";
        let here = arguments(&places(&[("sdk", "/clone/sdk")]), "/home/me/own", given);
        assert!(!here.contains("metadata=7f") && here.contains("extra-filename=-7f"), "{here}");
        assert!(here.ends_with("--remap-path-prefix=/home/me/own=/src"), "{here}");
        let there = Places { workspace: "/tmp/x".into(), ..places(&[("sdk", "/tmp/sdk")]) };
        let there = arguments(&there, "/tmp/x", &given.replace("7f", "80"));
        let number = |text: &str| text.split_once("metadata=").unwrap().1[..12].to_owned();
        assert_eq!(number(&here), number(&there));
    }

    #[test]
    fn a_crate_of_a_registry_and_one_without_paths_outside_keep_their_numbers() {
        let given = "--crate-name serde src/lib.rs -C metadata=7f";
        let of_a_registry = places(&[("sdk", "/clone/sdk")]);
        assert_eq!(arguments(&of_a_registry, "/home/me/.cargo/registry/serde", given), given);
        let alone = arguments(&places(&[]), "/home/me/own", given);
        assert_eq!(alone, format!("{given} --remap-path-prefix=/home/me/own=/src"));
    }

    #[test]
    fn what_only_cargo_is_to_see_is_left_out() {
        let given = format!("a.rs {FOLDER_CFG}\"12\" -Copt-level=3");
        let places = Places { remaps: false, ..places(&[]) };
        assert_eq!(arguments(&places, "/home/me/own", &given), "a.rs -Copt-level=3");
    }
}
