//! Compares a run with one reference. Which reference counts is decided elsewhere.

use scorebox_sdk::{ScoreError, excerpt};
use scorebox_sdk_traces::{ExpectedCall, ExpectedRun, Role, ToolCall, Trace};
use serde_json::Value;

use crate::{Mode, TrajectoryMatch};

/// The most names that are listed as missing or extra.
const SHOWN: usize = 50;

/// The result of a comparison.
pub(crate) struct Comparison {
    pub(crate) matches: bool,
    /// Tools that the reference calls and the run does not.
    pub(crate) missing: Vec<String>,
    /// Tools that the run calls and the reference does not.
    pub(crate) extra: Vec<String>,
    pub(crate) reason: String,
}

impl Comparison {
    /// Whether this result is better: the reference matches, or is closer.
    pub(crate) fn better_than(&self, other: &Self) -> bool {
        let apart = |found: &Self| (!found.matches, found.missing.len() + found.extra.len());
        apart(self) < apart(other)
    }
}

/// Compares a run with a reference, in the configured mode.
pub(crate) fn compare(
    scorer: &TrajectoryMatch,
    trace: &Trace,
    reference: &ExpectedRun,
) -> Result<Comparison, ScoreError> {
    let calls: Vec<&ToolCall> = trace.tool_calls().collect();
    let wanted = &reference.calls;
    let difference = match (scorer.mode, &reference.turns) {
        (Mode::Strict, Some(_)) => strict_turns(scorer, trace, reference)?,
        (Mode::Strict, None) => strict_calls(scorer, wanted, &calls),
        _ => None,
    };
    if scorer.mode == Mode::Strict && difference.is_none() {
        let reason = matching(scorer.mode, calls.len(), wanted.len());
        return Ok(Comparison { matches: true, missing: Vec::new(), extra: Vec::new(), reason });
    }
    // The reference's calls that are in the run, and the run's that are in the reference.
    let found = pairs(scorer, wanted, &calls, false)?;
    let allowed = pairs(scorer, wanted, &calls, true)?;
    let missing = names(wanted.iter().map(|call| call.name.as_str()), &found);
    let extra = names(calls.iter().map(|call| call.name.as_str()), &allowed);
    let superset = found.iter().all(|paired| *paired);
    let subset = allowed.iter().all(|paired| *paired);
    let matches = match scorer.mode {
        Mode::Superset => superset,
        Mode::Subset => subset,
        Mode::Unordered => superset && subset,
        Mode::Strict => false,
    };
    let reason = match (matches, difference) {
        (true, _) => matching(scorer.mode, calls.len(), wanted.len()),
        (false, Some(difference)) => difference,
        (false, None) => {
            let list = |title: &str, names: &[String]| match names {
                [] => None,
                names => Some(format!("{title} {}", excerpt(&names.join(", "), 120))),
            };
            let missing = list("missing", &missing).filter(|_| scorer.mode != Mode::Subset);
            let extra =
                list("not in the reference", &extra).filter(|_| scorer.mode != Mode::Superset);
            let parts: Vec<_> = missing.into_iter().chain(extra).collect();
            parts.join("; ")
        }
    };
    Ok(Comparison { matches, missing, extra, reason })
}

fn matching(mode: Mode, calls: usize, wanted: usize) -> String {
    match mode {
        Mode::Strict => format!("the same run as the reference ({calls} calls)"),
        Mode::Unordered => format!("the same {calls} calls as the reference"),
        Mode::Subset => format!("all {calls} calls are in the reference"),
        Mode::Superset => format!("all {wanted} calls of the reference were made"),
    }
}

/// Which calls of one side have a partner on the other: the reference's in the run or, if `turned`, the run's in the
/// reference.
fn pairs(
    scorer: &TrajectoryMatch,
    wanted: &[ExpectedCall],
    calls: &[&ToolCall],
    turned: bool,
) -> Result<Vec<bool>, ScoreError> {
    let fits = |wanted: &ExpectedCall, call: &ToolCall| {
        // agentevals passes the side that is searched first.
        wanted.name == call.name
            && wanted.arguments.as_ref().is_none_or(|arguments| match turned {
                false => scorer.fits(&call.name, &call.arguments, arguments),
                true => scorer.fits(&call.name, arguments, &call.arguments),
            })
    };
    let assignment = scorer.pairing();
    let pairing = if turned {
        assignment.pair(calls.len(), wanted.len(), |left, right| fits(&wanted[right], calls[left]))
    } else {
        assignment.pair(wanted.len(), calls.len(), |left, right| fits(&wanted[left], calls[right]))
    };
    Ok(pairing?.right_of.iter().map(Option::is_some).collect())
}

/// The names of calls without a partner.
fn names<'n>(names: impl Iterator<Item = &'n str>, paired: &[bool]) -> Vec<String> {
    let without = names.zip(paired).filter(|(_, paired)| !**paired);
    without.take(SHOWN).map(|(name, _)| excerpt(name, 80).into_owned()).collect()
}

/// Where the calls of a run differ from a reference of calls alone.
fn strict_calls(
    scorer: &TrajectoryMatch,
    wanted: &[ExpectedCall],
    calls: &[&ToolCall],
) -> Option<String> {
    for (index, (wanted, call)) in wanted.iter().zip(calls).enumerate() {
        let arguments = wanted.arguments.as_ref();
        let place = format!("call {}", index + 1);
        if wanted.name != call.name {
            let (is, should) = (excerpt(&call.name, 80), excerpt(&wanted.name, 80));
            return Some(format!("{place} is `{is}`, expected `{should}`"));
        }
        if arguments.is_some_and(|wanted| !scorer.fits(&call.name, &call.arguments, wanted)) {
            return Some(other_arguments(&place, call, arguments));
        }
    }
    (wanted.len() != calls.len())
        .then(|| format!("{} calls, expected {}", calls.len(), wanted.len()))
}

fn other_arguments(place: &str, call: &ToolCall, wanted: Option<&Value>) -> String {
    let name = excerpt(&call.name, 80);
    let is = call.arguments.to_string();
    let should = wanted.map_or(String::new(), Value::to_string);
    let (is, should) = (excerpt(&is, 120), excerpt(&should, 120));
    format!("{place}: `{name}` was called with {is}, expected {should}")
}

/// Where the messages of a run differ from those of a reference.
fn strict_turns(
    scorer: &TrajectoryMatch,
    trace: &Trace,
    reference: &ExpectedRun,
) -> Result<Option<String>, ScoreError> {
    let wanted = reference.turns.as_deref().unwrap_or_default();
    let turns = trace.turns();
    if turns.len() != wanted.len() {
        let reason = format!("{} messages, expected {}", turns.len(), wanted.len());
        return Ok(Some(reason));
    }
    for (index, (turn, wanted)) in turns.iter().zip(wanted).enumerate() {
        let place = format!("message {}", index + 1);
        if turn.role != wanted.role {
            let (is, should) = (turn.role.name(), wanted.role.name());
            let (is, should) = (excerpt(is, 40), excerpt(should, 40));
            return Ok(Some(format!("{place} is of `{is}`, expected `{should}`")));
        }
        if turn.role == Role::Tool {
            continue;
        }
        let calls: Vec<&ToolCall> = trace.calls_of(turn).collect();
        let expected = reference.calls.get(wanted.calls.clone()).unwrap_or_default();
        if calls.len() != expected.len() {
            let reason = format!("{place}: {} calls, expected {}", calls.len(), expected.len());
            return Ok(Some(reason));
        }
        let fits = |left: usize, right: usize| {
            let (call, wanted) = (calls[left], &expected[right]);
            call.name == wanted.name
                && (wanted.arguments.as_ref())
                    .is_none_or(|wanted| scorer.fits(&call.name, &call.arguments, wanted))
        };
        let pairing = scorer.pairing().pair(calls.len(), expected.len(), fits)?;
        if let Some(other) = pairing.right_of.iter().position(Option::is_none) {
            let call = calls[other];
            let same_tool = expected.iter().find(|wanted| wanted.name == call.name);
            return Ok(Some(match same_tool {
                Some(wanted) => other_arguments(&place, call, wanted.arguments.as_ref()),
                None => format!("{place}: `{}` is not expected", excerpt(&call.name, 80)),
            }));
        }
    }
    Ok(None)
}
