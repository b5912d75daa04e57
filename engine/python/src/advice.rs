//! What to do about an error, in terms of the Python package: its arguments and functions. Advice that is the same in
//! every front end comes from the command line, which is part of the package.

use scorebox::{
    advice::{Advice, Form, Limit, Thing},
    sandbox::Grant,
};

/// The advice as text; `None` if there is nothing to add to the message.
pub(crate) fn words(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::Raise(limit) => match argument(*limit) {
            Some(argument) => {
                format!("if it needs more, raise it: `Scorer(…, {argument})`, or `limits` in the suite")
            }
            None => return scorebox_cli::words_of(advice),
        },
        Advice::Shorten(limits) => match limits.as_slice() {
            [] => "have the scorer shorten it; this limit is fixed".to_owned(),
            _ => "have the scorer shorten it, or raise its limit: `limits` in a suite".to_owned(),
        },
        Advice::Lower { limit: Limit::Memory, or_raise: Limit::MemoryBudget } => {
            "lower `memory`, or raise `scorebox.configure(memory_budget=…)`".to_owned()
        }
        Advice::Grant(Grant::Judge) => {
            "only `Suite.iter` and `scorebox.run` have judges: describe one in a suite (`[judges.default]`), with \
             `grants = [\"judge\"]` for the scorer"
                .to_owned()
        }
        Advice::Grant(grant) => {
            format!("if you trust it with that: `Scorer(…, grants=[\"{grant}\"])`, or `grants` in the suite")
        }
        Advice::List(Thing::Scorer) => {
            "`scorebox.scorers()` lists the built-in ones; a file is named by its path, such as `./my-scorer.wasm`"
                .to_owned()
        }
        Advice::Name(Thing::Scorer) => {
            "name one: `[scorers.rouge]`; `scorebox.scorers()` lists the built-in ones".to_owned()
        }
        Advice::Name(Thing::Workspaces) => {
            "name the folder that contains the cases' workspaces: `scorebox.configure(workspace=…)`"
                .to_owned()
        }
        Advice::Write(Form::Case) => {
            "a case is a dictionary, or a JSON object on its own line, with an `output`".to_owned()
        }
        Advice::Map { part, member: Some(member) } => {
            format!("if `{member}` is what to score, rename it to `{part}`")
        }
        Advice::Map { part, member: None } => format!("rename what to score to `{part}`"),
        Advice::AddScriptEngine => {
            "make it, once: python -m scorebox toolchain add python".to_owned()
        }
        Advice::MakeSandboxAfterFork => {
            "use the start method `spawn` or `forkserver`, or load the scorers in the process that scores"
                .to_owned()
        }
        Advice::PrepareCompiler | Advice::Report => "this is a bug in scorebox; report it".to_owned(),
        other => return scorebox_cli::words_of(other),
    })
}

/// The argument of `Scorer` that sets a limit.
fn argument(limit: Limit) -> Option<&'static str> {
    Some(match limit {
        Limit::Fuel => "fuel=…",
        Limit::Memory => "memory=\"…MiB\"",
        Limit::Timeout => "timeout=…",
        _ => return None,
    })
}
