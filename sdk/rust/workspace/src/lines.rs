//! What changed in a file, line by line: from the diff, or from its content before and after.

use std::borrow::Cow;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};

use super::file::{File, FileStatus, Hunk};

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It did not exist before.
    Added,
    /// It no longer exists.
    Removed,
}

/// A line that was added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'w> {
    /// Which of the two.
    pub change: Change,
    /// Its number, from 1: in the new file if it was added, in the old one if it was removed.
    pub number: usize,
    /// The line, without its line break.
    pub text: &'w str,
}

/// The changed lines of `file`; `diff` is the text that its hunks refer to.
pub(super) fn changed<'w>(file: &'w File, diff: &'w str) -> Vec<Line<'w>> {
    if !file.sections.is_empty() {
        return file.hunks.iter().flat_map(|hunk| of_hunk(hunk, diff)).collect();
    }
    match (file.status, file.before(), file.content()) {
        (Some(FileStatus::Unchanged) | None, ..) | (_, None, None) => Vec::new(),
        (_, Some(before), Some(content)) => compared(before, content),
        (_, Some(before), None) => all(before, Change::Removed),
        (Some(FileStatus::Deleted), None, Some(_)) => Vec::new(),
        (_, None, Some(content)) => all(content, Change::Added),
    }
}

/// Whether the changed lines are known.
pub(super) fn are_known(file: &File) -> bool {
    let content = match file.status {
        Some(FileStatus::Deleted) => file.before(),
        _ => file.content(),
    };
    !file.sections.is_empty() || file.status == Some(FileStatus::Unchanged) || content.is_some()
}

/// The text of a file's change.
pub(super) fn text<'w>(file: &'w File, diff: &'w str) -> Cow<'w, str> {
    match (file.sections.as_slice(), file.before(), file.content()) {
        ([section], ..) => Cow::Borrowed(&diff[section.clone()]),
        ([_, ..], ..) => {
            file.sections.iter().map(|section| &diff[section.clone()]).collect::<String>().into()
        }
        _ if matches!(file.status, Some(FileStatus::Unchanged) | None) => Cow::Borrowed(""),
        ([], Some(before), Some(content)) => {
            let input = InternedInput::new(before, content);
            let mut diff = Diff::compute(Algorithm::Histogram, &input);
            diff.postprocess_lines(&input);
            let printer = BasicLineDiffPrinter(&input.interner);
            diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input).to_string().into()
        }
        ([], before, content) => Cow::Borrowed(content.or(before).unwrap_or_default()),
    }
}

fn all(text: &str, change: Change) -> Vec<Line<'_>> {
    (1..).zip(text.lines()).map(|(number, text)| Line { change, number, text }).collect()
}

fn of_hunk<'w>(hunk: &Hunk, diff: &'w str) -> impl Iterator<Item = Line<'w>> + use<'w> {
    // An empty side has the number of the line before it.
    let (mut old, mut new) = (hunk.old_start.max(1), hunk.new_start.max(1));
    diff[hunk.lines.clone()].lines().filter_map(move |line| {
        let mut advance = |change: Change| {
            let number = match change {
                Change::Added => &mut new,
                Change::Removed => &mut old,
            };
            *number = number.saturating_add(1);
            *number - 1
        };
        match line.bytes().next() {
            Some(b'+') => {
                let change = Change::Added;
                Some(Line { change, number: advance(change), text: &line[1..] })
            }
            Some(b'-') => {
                let change = Change::Removed;
                Some(Line { change, number: advance(change), text: &line[1..] })
            }
            Some(b'\\') => None,
            _ => {
                advance(Change::Added);
                advance(Change::Removed);
                None
            }
        }
    })
}

fn compared<'w>(before: &'w str, content: &'w str) -> Vec<Line<'w>> {
    let input = InternedInput::new(before, content);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let mut changed = Vec::new();
    for hunk in diff.hunks() {
        let sides = [
            (Change::Removed, &input.before, hunk.before),
            (Change::Added, &input.after, hunk.after),
        ];
        for (change, tokens, range) in sides {
            for index in range {
                let text: &'w str = input.interner[tokens[index as usize]];
                let text = text.strip_suffix('\n').unwrap_or(text);
                let text = text.strip_suffix('\r').unwrap_or(text);
                changed.push(Line { change, number: index as usize + 1, text });
            }
        }
    }
    changed
}
