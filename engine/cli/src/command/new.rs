//! `scorebox new`: writes the files of a new scorer in a new folder. `scaffold` has their contents.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::ValueEnum as _;

use crate::{
    failure::{Exit, Failure},
    question::{ask, can_be_asked},
    report::shell_word,
    scaffold::{self, Language},
    setup, words,
};

/// The folder of the SDK if this program was built in a clone of scorebox.
const SDK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk/rust/core");

/// Make a new scorer: a folder with one file to write in, a test on two cases, and a README
///
/// The scorer works as it is: it scores 1 if the expected answer is in the output. On a terminal, asks for what is
/// missing. Overwrites nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct New {
    /// The folder to make; its name is the scorer's
    #[arg(value_name = "NAME")]
    folder: Option<PathBuf>,

    /// The language to write it in
    #[arg(long = "lang", value_name = "LANGUAGE", help_heading = "Language")]
    language: Option<Language>,

    /// For Rust: the folder of the SDK, `sdk/rust/core` in a clone of scorebox [default: that of the clone in which
    /// this program was built]
    #[arg(long, value_name = "FOLDER", help_heading = "Language")]
    sdk: Option<PathBuf>,
}

impl New {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => asked_folder()?,
        };
        let name = name_of(&folder)?;
        if folder.symlink_metadata().is_ok() {
            return Err(Failure::new(format!("`{}` exists", folder.display()))
                .hint("name a folder that does not: nothing is overwritten"));
        }
        let language = match self.language {
            Some(language) => language,
            None => asked_language()?,
        };
        if language == Language::Rust && scaffold::is_crate_of_a_scorer(&name) {
            return Err(Failure::new(format!(
                "`{name}` is the name of a crate that scorers in Rust are made with"
            ))
            .hint(format!("call it `{name}-scorer`")));
        }
        let sdk = match language {
            Language::Rust => Some(self.sdk()?),
            _ => None,
        };
        let files = scaffold::files(language, &name, sdk.as_deref());
        write_all(&folder, &files)?;
        let listed: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        words::say(&format!("{}: {}", folder.display(), listed.join(", ")));
        words::say(&format!(
            "test it: cd {} && {}; its README.md has the rest",
            shell_word(folder),
            language.test_command()
        ));
        let has_python = || {
            let engines = setup::python_engines();
            engines.is_some_and(|engines| engines.iter().all(|engine| engine.path.is_file()))
        };
        if language == Language::Python && !has_python() {
            words::hint("before it can run, once for all scripts: scorebox toolchain add python");
        }
        Ok(Exit::Done)
    }

    fn sdk(&self) -> Result<PathBuf, Failure> {
        let folder = self.sdk.as_deref().unwrap_or(Path::new(SDK));
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        // This detects another crate's manifest early: cargo would report it only in a build, and less clearly.
        let is_there = manifest.contains("name = \"scorebox-sdk\"");
        fs::canonicalize(folder).ok().filter(|_| is_there).ok_or_else(|| {
            Failure::new(format!("the SDK for Rust is not in `{}`", folder.display()))
                .hint("name its folder, `sdk/rust/core` in a clone of scorebox: --sdk FOLDER")
        })
    }
}

/// The scorer's name, which is the name of its folder.
fn name_of(folder: &Path) -> Result<String, Failure> {
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
    if scaffold::is_name(&name) {
        return Ok(name.into_owned());
    }
    let failure = Failure::new(format!(
        "`{name}` is not a name of a scorer, which has 1 to 64 of a-z, 0-9 and -, and begins with a letter"
    ));
    Err(match scaffold::closest_name(&name) {
        Some(closest) => failure.hint(format!("call it `{closest}`")),
        None => failure,
    })
}

fn asked_folder() -> Result<PathBuf, Failure> {
    let (what, hint) = ("name", "name it: scorebox new NAME");
    match asked(what, "Name of the scorer:", hint)?.as_str() {
        "" => Err(missing(what, hint)),
        name => Ok(PathBuf::from(name)),
    }
}

fn asked_language() -> Result<Language, Failure> {
    let all: Vec<&str> = Language::value_variants().iter().map(|it| it.as_str()).collect();
    let all = all.join(", ");
    let hint = format!("say it: --lang LANGUAGE, one of {all}");
    let answer = asked("language", &format!("Language ({all}) [javascript]:"), &hint)?;
    match answer.as_str() {
        "" => Ok(Language::Javascript),
        answer => Language::from_str(answer, true).map_err(|_| {
            Failure::new(format!(
                "`{answer}` is not a language that `scorebox new` has a template for"
            ))
            .hint(hint)
        }),
    }
}

/// Asks the user for `what`. `hint` is for use without a terminal: how to give it on the command line.
fn asked(what: &str, question: &str, hint: &str) -> Result<String, Failure> {
    match can_be_asked() {
        true => ask(question),
        false => Err(missing(what, hint)),
    }
}

fn missing(what: &str, hint: &str) -> Failure {
    Failure::new(format!("the {what} is missing")).hint(hint)
}

/// Makes the folder and the files in it. The folder gets its name once all files are written.
fn write_all(folder: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    let cannot = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| Failure::new(format!("cannot write `{path}`: {error}"))
    };
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(cannot(parent))?;
    let scratch = tempfile::Builder::new().prefix(".scorebox-").tempdir_in(parent);
    let scratch = scratch.map_err(cannot(parent))?;
    // A folder inside it gets the access of the user's umask.
    let made = scratch.path().join("new");
    fs::create_dir(&made).map_err(cannot(folder))?;
    for (path, text) in files {
        let (path, name) = (made.join(path), folder.join(path));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(cannot(&name))?;
        }
        fs::write(&path, text).map_err(cannot(&name))?;
    }
    fs::rename(&made, folder).map_err(cannot(folder))
}
