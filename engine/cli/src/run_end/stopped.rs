//! Reports why a run stopped before its end, what is kept, and how to resume it. Each command reports signals, and what
//! was scored, itself.

use scorebox::{advice::Advice, run::Stop};

use crate::{failure::Exit, words};

/// Reports why a run stopped without a signal; `resume` is the command that continues it, if one does.
pub(crate) fn say(stop: &Stop, resume: Option<&str>) -> Exit {
    let (advice, what, condition, exit) = match stop {
        Stop::BadCase { advice, .. } | Stop::Unreadable { advice, .. } => {
            (advice.as_ref(), "Stopped there.", "Fix the input, then resume with", Exit::BadInput)
        }
        Stop::OverBudget { advice, .. } => {
            let condition = match advice {
                Some(Advice::BoundCalls) => "With another budget, resume with",
                _ => "With a larger budget, resume with",
            };
            (advice.as_ref(), "No more questions were asked.", condition, Exit::SomeErrors)
        }
        Stop::JudgeLimited { .. } => {
            let condition = "Once the judge answers again, resume with";
            (None, "No more questions were asked.", condition, Exit::SomeErrors)
        }
        Stop::OutOfResources { advice, .. } => {
            let condition = "Once it has more, resume with";
            (advice.as_ref(), "The machine has no room for more scores.", condition, Exit::BadInput)
        }
        stop => {
            let advice = match stop {
                Stop::Incomplete { advice, .. } => advice.as_ref(),
                _ => None,
            };
            words::error_with(&stop.to_string(), advice);
            return Exit::BadInput;
        }
    };
    words::error_with(&stop.to_string(), advice);
    say_what_is_kept(what, condition, resume);
    exit
}

/// Reports that the scores so far are kept, after `what` happened, and the condition for resuming the run.
pub(crate) fn say_what_is_kept(what: &str, condition: &str, resume: Option<&str>) {
    let mut said = format!("{what} Scores so far are kept.");
    if let Some(command) = resume {
        said.push_str(&format!(" {condition}:\n  {command}"));
    }
    words::say(said.trim_start());
}
