//! What the user is to name, list or rename: its noun, and the command or the option for it.

use scorebox::advice::Thing;

/// The noun for a thing.
pub(super) fn noun(thing: Thing) -> Option<&'static str> {
    Some(match thing {
        Thing::Scorer | Thing::ScorerOfSuite => "scorer",
        Thing::Component => "component",
        Thing::ScorerFile => "scorer's file",
        Thing::Crate => "crate",
        Thing::Source => "scorer's folder or file",
        Thing::File => "file",
        Thing::FileOrPipe => "file or pipe",
        Thing::Workspaces => "folder of workspaces",
        Thing::StandardInput => "standard input",
        Thing::PartOfCase => "key of a case",
        Thing::Run => "run",
        Thing::Score => "score",
        Thing::Receipt => "receipt",
        Thing::Judge => "judge",
        Thing::Recordings => "file of recordings",
        Thing::Format => "format",
        Thing::PositiveLabels | Thing::PositiveWords => "label",
        _ => return None,
    })
}

/// How to list the things of a kind.
pub(super) fn list(what: Thing) -> Option<String> {
    Some(match what {
        Thing::Scorer => {
            "`scorebox scorers` lists the built-in ones; a file is named by its path, \
                          like `./my-scorer.wasm`"
                .into()
        }
        Thing::Score => "`scorebox scores RUN --format jsonl` shows the ids: \
                         RUN:SCORER:ITERATION:ATTEMPT:CASE"
            .into(),
        Thing::Run => "`scorebox runs` lists them".into(),
        Thing::Source => "name a folder with Cargo.toml, go.mod, build.zig, asconfig.json, or sources in C, C++ or Zig, \
                          or a file: .js, .ts, .py, .c, .cpp, .zig, or .wasm of a core module; `scorebox new` makes a scorer"
            .into(),
        other => format!("check which {} there is", noun(other)?),
    })
}

/// How to name one.
pub(super) fn name(what: Thing) -> Option<String> {
    Some(match what {
        Thing::Scorer => "name one with `-s`, or write a suite file; `scorebox scorers` lists the \
                          built-in ones"
            .into(),
        Thing::Component => {
            "name the .wasm file; `scorebox build` makes one from the folder of a crate".into()
        }
        Thing::ScorerFile => "the name of a scorer's file ends in .wasm or, if it is a script, in .js, .mjs, .ts, .mts or .py; \
                              `scorebox scorers` lists the built-in scorers"
            .into(),
        Thing::Crate => "name the folder of a crate: `scorebox build PATH`".into(),
        Thing::Source => "name the file: `scorebox build FILE`".into(),
        Thing::File => "name a file in it".into(),
        Thing::FileOrPipe => {
            "name a file or a pipe; `head -c SIZE DEVICE > FILE` makes a file of a device".into()
        }
        Thing::Workspaces => {
            "name the folder that contains the cases' workspaces: --workspace FOLDER".into()
        }
        Thing::Recordings => "give them with `--db FILE`, the database of the run, or with `--recordings FILE`, which \
                              `scorebox calls --score SCORE-ID --format jsonl` prints"
            .into(),
        Thing::Receipt => "`scorebox verify --receipt SCORE-ID` writes one".into(),
        Thing::PositiveLabels => {
            "name the labels of cases that should pass: `--positive LABEL`, `--positive-from NUMBER` or `--positive-to NUMBER`".into()
        }
        Thing::PositiveWords => {
            "name the labels of cases that should pass: `--positive LABEL`".into()
        }
        other => format!("name a {}", noun(other)?),
    })
}

/// What to do about a name that is taken.
pub(super) fn rename(what: Thing, taken: &str) -> Option<String> {
    Some(match what {
        Thing::ScorerOfSuite => {
            format!("give one of them another name: `-s other-name={taken}`")
        }
        Thing::Run => "resume that run, or give this one another id".into(),
        other => format!("give this {} another name", noun(other)?),
    })
}
