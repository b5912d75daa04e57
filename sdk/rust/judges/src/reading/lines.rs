//! Finds the verdict in the lines of an answer that is not JSON: alone on the first or the last line, or after a label.
//! The caller defines what a number or a name is.

use super::{
    SEVERAL,
    labels::{is_around, is_label},
    said::InJson,
};

/// What judges that were trained on this format write before the verdict, such as Prometheus: `[RESULT] 4`.
const RESULT: &str = "[result]";

/// The verdict on the first or the last line: either alone, read by the first of the two readers on the first line and
/// by the other one on the last, or after a label. A line that is a quotation has no verdict.
///
/// # Errors
/// If it differs from the verdict in JSON or on another labelled line; if there is a verdict in JSON, only the first
/// and the last line count. A last line with an unknown label is not a verdict, but it may contradict one.
pub(super) fn verdict<T: PartialEq + Copy>(
    text: &str,
    in_json: &InJson<T>,
    quotations: &[String],
    (alone, read): (impl Fn(&str) -> Option<T>, impl Fn(&str) -> Option<T>),
) -> Result<Option<T>, String> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (mut seen, mut verdict) = (in_json.verdict(), None);
    let is_quoted = |line: &str| is_quoted(line) || quotations.iter().any(|it| it == line);
    for (place, line) in lines.iter().enumerate().filter(|(_, line)| !is_quoted(line)) {
        let (is_first, is_last) = (place == 0, place + 1 == lines.len());
        let is_within = !is_first && !is_last;
        if is_within && matches!(in_json, InJson::Own(_)) {
            continue;
        }
        let own = match after_label(line).and_then(&read) {
            None if is_last => read(line),
            None if is_first => alone(line),
            found => found,
        };
        let found = own.or_else(|| after_mark(line).filter(|_| is_last).and_then(&read));
        if found.is_some() && seen.is_some() && found != seen {
            return Err(SEVERAL.to_owned());
        }
        seen = seen.or(found);
        verdict = verdict.or(own.filter(|_| !is_within));
    }
    Ok(verdict)
}

/// The first and the last line of a text.
pub(super) fn outermost(text: &str) -> [Option<&str>; 2] {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    [lines.next(), lines.next_back()]
}

/// Whether a line has a label before its end.
pub(super) fn has_label(line: &str) -> bool {
    after_label(line).is_some()
}

/// What an answer says in addition to its verdict: the text after a first line that is only a verdict, or else the text
/// before the last line.
pub(super) fn beside_verdict(text: &str) -> Option<&str> {
    let (first, after) = text.split_once('\n')?;
    let (before, _) = text.rsplit_once('\n')?;
    // A verdict is a word or two; a longer line is the beginning of the reasons.
    let is_verdict = |line: &str| {
        after_label(line).unwrap_or(line).split(is_around).filter(|it| !it.is_empty()).count() == 1
    };
    let last = text.lines().next_back().unwrap_or_default();
    let beside = if is_verdict(first) && !is_verdict(last) { after } else { before };
    // An opening fence and a repeated verdict are not reasons.
    let is_form = |line: &str| {
        let line = line.trim();
        line.is_empty() || line.starts_with("```") || has_label(line) && is_verdict(line)
    };
    Some(beside).filter(|beside| !beside.lines().all(is_form))
}

/// What follows `[RESULT]`, or the last `:`, `=` or ` is ` that has a label before it.
fn after_label(line: &str) -> Option<&str> {
    // Lowering ASCII keeps every byte in place.
    if let Some(at) = line.to_ascii_lowercase().rfind(RESULT) {
        return Some(line[at + RESULT.len()..].trim_start_matches([':', ' ']));
    }
    label(line).map(|(_, after)| after)
}

/// The label before the last `:`, `=` or ` is ` that has one, and what follows.
pub(super) fn label(line: &str) -> Option<(&str, &str)> {
    let signs = line.rmatch_indices([':', '=']).find(|(at, _)| is_label(&line[..*at]));
    let words = line.rmatch_indices(" is ").find(|(at, _)| is_label(&line[..*at]));
    let (at, mark) = signs.into_iter().chain(words).max()?;
    Some((&line[..at], &line[at + mark.len()..])).filter(|(label, _)| !is_open(label))
}

/// The lines of a text that are neither quoted nor quotations.
pub(super) fn own_lines<'t>(
    text: &'t str,
    quotations: &'t [String],
) -> impl Iterator<Item = &'t str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !is_quoted(line) && !quotations.iter().any(|it| it == line))
}

/// What follows the last `:`, `=` or ` is `, whatever comes before it.
fn after_mark(line: &str) -> Option<&str> {
    let marks = line.rmatch_indices([':', '=']).next().into_iter();
    let (at, mark) = marks.chain(line.rmatch_indices(" is ").next()).max()?;
    Some(&line[at + mark.len()..])
}

/// Whether a line is quoted, or part of a quotation: then its words are not the judge's.
fn is_quoted(line: &str) -> bool {
    line.starts_with('>') || is_open(line)
}

/// Whether a quotation is open at the end of a text.
fn is_open(text: &str) -> bool {
    text.matches('"').count() % 2 == 1 || text.matches('“').count() != text.matches('”').count()
}
