//! Formats the figures of several attempts at the same cases, as cells and lines. The library's `aggregate` groups the
//! attempts.

use std::time::Duration;

use scorebox::{
    aggregate::Repeats,
    stats::{Draw, Tries},
    verdict::score_beside,
};

use super::{count, counted, duration, score};

/// The smallest share that is shown exactly.
const SMALLEST: f64 = 0.0001;

/// A figure that may be undefined, if too few attempts count.
pub(crate) fn figure(figure: Option<f64>) -> String {
    figure.map_or_else(|| "undefined".to_owned(), score)
}

/// A share that may be undefined. Almost all is not shown as all, nor almost none as none.
pub(crate) fn share(share: Option<f64>) -> String {
    match share {
        Some(share) if share > 0.0 && share < SMALLEST => format!("<{SMALLEST}"),
        Some(share) => score_beside(share, 1.0),
        None => figure(None),
    }
}

/// A mean latency; `-` if no attempt has one.
pub(crate) fn latency(ms: Option<f64>) -> String {
    // An untrusted database may contain any number here.
    let time = ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
    time.map_or_else(|| "-".to_owned(), duration)
}

/// The lines below a run's verdict if its cases were tried more than once; `command` shows more.
pub(crate) fn of_run(repeats: &Repeats, command: &str) -> Vec<String> {
    let cases = counted(repeats.cases, "case", "cases");
    let attempts = counted(repeats.attempts, "attempt", "attempts");
    let line = format!("repeats: {cases}, {attempts}; more: {command}");
    let Some(tries) = &repeats.verdict else { return vec![line] };
    let each = |name: &str, of: fn(&Draw) -> Option<f64>| {
        let draws = tries.draws.iter();
        let each = draws.map(|draw| format!("{name}{} {}", draw.k, share(of(draw))));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn almost_all_is_not_shown_as_all_and_almost_none_not_as_none() {
        let shares = [0.0, 1.0 / 30_001.0, 0.5, 30_000.0 / 30_001.0, 1.0];
        let shown = shares.map(|it| share(Some(it)));
        assert_eq!(shown, ["0.0000", "<0.0001", "0.5000", "0.99997", "1.0000"]);
        assert_eq!(share(None), "undefined");
    }
}
