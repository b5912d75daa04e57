//! Runs a scorer that is a script: an ES module in JavaScript or TypeScript, which scorebox stores in this component's
//! memory. The script is evaluated once, in `configure`, and every score starts from the memory that this leaves. It
//! has no access to files or the network.
//!
//! - `slot`: where the script is stored in this component.
//! - `files`: the script and the files that it imports; which import means which file. `place`: a place in one of them.
//! - `typescript`: removes types.
//! - `script`: evaluates the script, and calls its functions.
//! - `console`: what it logs; in the component for scripts that ask a language model, `judge`: the module with which
//!   they ask, and `reading`: the JSON of its answers.
//! - `info`: what it says about itself; `case`: a case as its argument; `answer`: what it returns.
//! - `complaint`: its errors, with file, line and column; `thrown`: what it threw that is not an Error, and where;
//!   `type_name`: the kind of a value.
//! - `promises`: the results of its promises; `text`: its texts; `memory`: its memory, and whether it ran out.

mod answer;
mod case;
mod complaint;
mod console;
mod files;
mod info;
#[cfg(feature = "judge")]
mod judge;
mod memory;
mod place;
mod promises;
#[cfg(feature = "judge")]
mod reading;
mod script;
mod slot;
mod text;
mod thrown;
mod type_name;
mod typescript;

mod contract {
    wit_bindgen::generate!({ path: "../../wit/0.1.0", world: "summarizing-scorer" });

    pub(crate) use exports::scorebox::scorer::{scoring::Guest as Scoring, summary};
    pub(crate) use scorebox::scorer::{log, types};

    export!(Component);

    pub(crate) struct Component;
}

use std::cell::RefCell;

use contract::{
    Component, Scoring, summary,
    types::{ScoreResult, ScorerError, ScorerInfo, ScorerInput},
};
use files::Files;
use script::Script;

thread_local! {
    /// The script, once it is configured.
    static SCRIPT: RefCell<Option<Script>> = const { RefCell::new(None) };
}

/// A script's clock does not advance, so that a score is the same every time.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "QuickJS asks for the time by this name")]
extern "C" fn __rquickjs_host_now_us() -> f64 {
    0.0
}

impl Scoring for Component {
    /// Errors in the script are reported by `configure`, because `describe` cannot return one.
    fn describe() -> ScorerInfo {
        let files = read_files();
        let name = files.as_ref().map_or("", |files| files.main());
        let nothing_said = info::default_info(name);
        let script = files.and_then(Script::evaluate);
        script.map(|script| script.info).unwrap_or(nothing_said)
    }

    fn configure(config: String) -> Result<(), String> {
        let script = Script::evaluate(read_files()?)?.configured(&config)?;
        SCRIPT.set(Some(script));
        Ok(())
    }

    fn score(input: ScorerInput) -> Result<ScoreResult, ScorerError> {
        with_script(ScorerError::Failed, |script| script.score(&input))
    }
}

impl summary::Guest for Component {
    fn summarize(scores: Vec<summary::Scored>) -> Result<String, String> {
        with_script(|message| message, |script| script.summarize(&scores))
    }
}

/// The files of this component's script, as JavaScript.
fn read_files() -> Result<Files, String> {
    typescript::strip(Files::of_this_component()?)
}

fn with_script<T, E>(
    failed: fn(String) -> E,
    call: impl FnOnce(&Script) -> Result<T, E>,
) -> Result<T, E> {
    SCRIPT.with_borrow(|script| match script {
        Some(script) => call(script),
        None => Err(failed("the scorer was not configured".to_owned())),
    })
}
