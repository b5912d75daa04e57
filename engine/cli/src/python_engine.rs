//! Makes the components that run Python scripts: CPython as built by componentize-py, with the program in
//! `script-engines/python`, once for scripts that ask no judge and once for those that do. It does not decide where
//! they are stored.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use scorebox::{
    digest::Digest,
    registry::{Registry, ScriptLanguage},
};

use crate::{failure::Failure, waiting::Waiting};

/// The default Python that installs componentize-py.
pub(crate) const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };
/// The oldest version that can install it.
const OLDEST_PYTHON: (u32, u32) = (3, 10);
/// What pip installs, with the digests of the packages that it accepts.
const REQUIREMENTS: &str = "\
componentize-py==0.25.1 \\
    --hash=sha256:8623cd8cab8453cb0cd8bf03f3c7103420d06f2f3d360186a280a70a1ca5e89f \\
    --hash=sha256:7b6a87c520358166843af0daa86d2312d7af4cbcbbf1e598951085cf7f2991ca \\
    --hash=sha256:a556991534cc496207a9d2ca733c4b0f17ed38ef56a8d6b5f1847fdf1225dd1b \\
    --hash=sha256:65fbc4a94df1de8acf7da50a1f5ed1711230188844e53e6332d99029be4e0afa \\
    --hash=sha256:c7fd552fb0849858b0c1e8981543ed5dff4b0cc1597a8ea0bc26a495786dc0c6
";
/// The program that runs a script.
const SOURCES: [(&str, &str); 2] = [
    ("engine.py", include_str!("../python-engine/engine.py")),
    ("closed.py", include_str!("../python-engine/closed.py")),
];
/// Its additional file for scripts that ask a judge.
const ASKING: (&str, &str) = ("asking.py", include_str!("../python-engine/asking.py"));
/// The contract, and its worlds for these scripts.
const CONTRACT: [(&str, &str); 5] = [
    ("judging.wit", include_str!("../python-engine/judging.wit")),
    ("host.wit", include_str!("../wit/0.1.0/host.wit")),
    ("scoring.wit", include_str!("../wit/0.1.0/scoring.wit")),
    ("types.wit", include_str!("../wit/0.1.0/types.wit")),
    ("worlds.wit", include_str!("../wit/0.1.0/worlds.wit")),
];
/// The lines of a tool's output that are shown.
const LINES: usize = 20;

/// One of the two components.
#[derive(Clone, Debug)]
pub(crate) struct PythonEngine {
    /// The component's file.
    pub(crate) path: PathBuf,
    /// Whether it is for scripts that ask a judge. It imports an interface that needs a grant, so other scripts use the
    /// other component.
    pub(crate) asks_judge: bool,
}

impl PythonEngine {
    /// The engine in `folder`; its file's name depends on everything that it is made from.
    pub(crate) fn in_folder(folder: &Path, asks_judge: bool) -> PythonEngine {
        let sources = SOURCES.iter().chain(asks_judge.then_some(&ASKING));
        let texts = sources.chain(&CONTRACT).map(|(_, text)| text.as_bytes());
        let digest = Digest::of_parts(texts.chain([REQUIREMENTS.as_bytes()])).short();
        let name = if asks_judge { "python-judging" } else { "python" };
        PythonEngine { path: folder.join(format!("{name}-{digest}.wasm")), asks_judge }
    }

    /// The registry with it.
    pub(crate) fn added_to(self, registry: Registry) -> Registry {
        match self.asks_judge {
            true => registry.with_judging_script_engine(ScriptLanguage::Python, self.path),
            false => registry.with_script_engine(ScriptLanguage::Python, self.path),
        }
    }

    const fn world(&self) -> &'static str {
        if self.asks_judge { "judging-script" } else { "summarizing-scorer" }
    }
}

/// Makes both components in `folder`, which is empty.
pub(crate) fn make(python: &str, folder: &Path) -> Result<[PythonEngine; 2], Failure> {
    must_be_new_enough(python)?;
    let write = |path: PathBuf, text: &str| {
        fs::write(&path, text)
            .map_err(|error| Failure::new(format!("cannot write `{}`: {error}", path.display())))
    };
    let (sources, asking, contract) =
        (folder.join("engine"), folder.join("asking"), folder.join("wit"));
    for inner in [&sources, &asking, &contract] {
        fs::create_dir(inner).map_err(|error| {
            Failure::new(format!("cannot make the folder `{}`: {error}", inner.display()))
        })?;
    }
    for (name, text) in SOURCES {
        write(sources.join(name), text)?;
    }
    write(asking.join(ASKING.0), ASKING.1)?;
    for (name, text) in CONTRACT {
        write(contract.join(name), text)?;
    }
    let requirements = folder.join("requirements.txt");
    write(requirements.clone(), REQUIREMENTS)?;

    let waiting = Waiting::on("installing componentize-py");
    let environment = folder.join("environment");
    let mut venv = Command::new(python);
    venv.args(["-m", "venv"]).arg(&environment);
    must_succeed(&mut venv, "Python cannot make a virtual environment", VENV_HINT)?;
    let programs = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let mut pip = Command::new(programs.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"])
        .args(["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement"])
        .arg(&requirements);
    must_succeed(&mut pip, "pip cannot install componentize-py", PIP_HINT)?;

    waiting.say("making components of CPython");
    let engines = [false, true].map(|asks_judge| PythonEngine::in_folder(folder, asks_judge));
    for engine in &engines {
        let mut componentize = Command::new(programs.join("componentize-py"));
        componentize
            .arg("--wit-path")
            .arg(&contract)
            .args(["--world", engine.world(), "componentize", "--stub-wasi", "engine"])
            .arg("--python-path")
            .arg(&sources);
        if engine.asks_judge {
            componentize.arg("--python-path").arg(&asking);
        }
        componentize
            .arg("--output")
            .arg(&engine.path)
            .current_dir(folder)
            // Uses neither the packages of another environment nor files beside the sources.
            .env_remove("VIRTUAL_ENV")
            .env("PYTHONDONTWRITEBYTECODE", "1");
        must_succeed(&mut componentize, "componentize-py cannot make the component", BUG_HINT)?;
    }
    Ok(engines)
}

const PYTHON_HINT: &str = "install Python 3.10 or later, or name it: --python PROGRAM";
const VENV_HINT: &str = "Debian: apt-get install python3-venv";
const PIP_HINT: &str =
    "it needs a network, or a package registry of yours (PIP_INDEX_URL) that has the package";
const BUG_HINT: &str = "this is a bug in scorebox, if the machine has memory and room on its disk";

fn must_be_new_enough(python: &str) -> Result<(), Failure> {
    let mut asked = Command::new(python);
    asked.args(["-c", "import sys; print(*sys.version_info[:2])"]);
    let said = must_succeed(&mut asked, "Python cannot be started", PYTHON_HINT)?;
    let mut numbers = said.split_whitespace().map(str::parse);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
        return Err(Failure::new(format!("`{python}` is not Python")).hint(PYTHON_HINT));
    };
    if (major, minor) < OLDEST_PYTHON {
        let message = format!("`{python}` is Python {major}.{minor}, which is too old");
        return Err(Failure::new(message).hint(PYTHON_HINT));
    }
    Ok(())
}

/// Runs a command and returns its output; if it fails, the error has the last lines of the output.
fn must_succeed(command: &mut Command, what: &str, hint: &str) -> Result<String, Failure> {
    let failed = |why: String| Failure::new(format!("{what}: {why}")).hint(hint);
    let output = command.stdin(Stdio::null()).output().map_err(|error| {
        failed(format!("`{}`: {error}", OsStr::to_string_lossy(command.get_program())))
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n");
    Err(failed(if last.is_empty() { output.status.to_string() } else { last }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_a_python_of_today_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        for python in ["no-such-python", "false", "true"] {
            let failure = make(python, folder.path()).unwrap_err();
            assert_eq!(failure.hint.as_deref(), Some(PYTHON_HINT), "{}", failure.message);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
