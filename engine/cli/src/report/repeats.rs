//! What attempts at the same cases say together, as cells and lines.

use std::time::Duration;

use scorebox::{
    aggregate::{DecidedRun, Repeats},
    stats::{Draw, Tries},
};

use super::{count, counted, duration, score};

/// A figure that may not be defined: fewer attempts than it takes, or none that count.
pub(crate) fn figure(figure: Option<f64>) -> String {
    figure.map_or_else(|| "undefined".to_owned(), score)
}

/// A mean latency; `-` if no attempt states one.
pub(crate) fn latency(ms: Option<f64>) -> String {
    // A database that a stranger wrote may have any number there.
    let time = ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
    time.map_or_else(|| "-".to_owned(), duration)
}

/// The lines below a run's verdict if its cases were tried more than once; `command` shows more.
pub(crate) fn of_run(repeats: &Repeats, decided: &DecidedRun, command: &str) -> Vec<String> {
    let cases = counted(repeats.cases, "case", "cases");
    let attempts = counted(repeats.attempts, "attempt", "attempts");
    let line = format!("repeats: {cases}, {attempts}; more: {command}");
    // Without a scorer that decides, every attempt passes.
    if !decided.decides() {
        return vec![line];
    }
    let each = |name: &str, of: fn(&Draw) -> Option<f64>| {
        let draws = repeats.verdict.draws.iter();
        let each = draws.map(|draw| format!("{name}{} {}", draw.k, figure(of(draw))));
        format!("  {}", each.collect::<Vec<_>>().join(", "))
    };
    vec![line, each("pass@", |draw| draw.pass_at_k), each("pass^", |draw| draw.pass_hat_k)]
}

/// For each k whose figures are undefined, why they are.
pub(crate) fn why_undefined(by: &str, tries: &Tries) -> Vec<String> {
    if tries.cases == 0 {
        return Vec::new();
    }
    let undefined = tries.draws.iter().filter(|draw| draw.cases_with_fewer > 0);
    let line = |draw: &Draw| {
        let k = count(draw.k);
        let cases = counted(tries.cases, "case has", "cases have");
        let fewer = count(draw.cases_with_fewer);
        format!(
            "{by}: pass@{k} and pass^{k} are undefined: {fewer} of {cases} fewer than {k} attempts that count"
        )
    };
    undefined.map(line).collect()
}
