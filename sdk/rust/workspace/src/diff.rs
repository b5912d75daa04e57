//! Reads unified diffs, from git and other tools. It is strict about the counted lines of hunks; what is between the
//! files of a diff (commit messages) is skipped.

use std::ops::Range;

use super::diff_path::{bare_name, binary_names, git_names, header_name, without_prefixes};
use super::file::{File, FileStatus, Hunk};
use scorebox_sdk::excerpt;

/// The files of a diff, in order; or what is wrong with it, worded as the end of a sentence.
pub(super) fn parse(diff: &str) -> Result<Vec<File>, String> {
    let mut reader = Reader { cursor: Cursor { text: diff, at: 0, number: 0 }, files: Vec::new() };
    reader.read()?;
    if reader.files.is_empty() && !diff.trim().is_empty() {
        return Err(format!(
            "is not a unified diff: no line `diff --git …`, and no `--- …` before `+++ …`, in {:?}",
            excerpt(diff.trim(), 60)
        ));
    }
    Ok(reader.files)
}

struct Reader<'d> {
    cursor: Cursor<'d>,
    files: Vec<File>,
}

/// What is known about a file while its section is read.
#[derive(Default)]
struct Section {
    start: usize,
    /// The end of the last line that belongs to it.
    end: usize,
    is_git: bool,
    git_names: Option<(String, String)>,
    header_names: Option<(Option<String>, Option<String>)>,
    is_new: bool,
    is_deleted: bool,
    is_copy: bool,
    from: Option<String>,
    to: Option<String>,
    is_binary: bool,
    /// Whether the section is complete: what follows is another commit.
    is_closed: bool,
    hunks: Vec<CountedHunk>,
}

struct CountedHunk {
    hunk: Hunk,
    old_count: usize,
    new_count: usize,
    /// Whether the last line of the new side has no line break.
    new_is_open: bool,
    /// The same for the old side.
    old_is_open: bool,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), String> {
        let mut section: Option<Section> = None;
        let mut after_hunk = false;
        while let Some(line) = self.cursor.next() {
            let was_after_hunk = std::mem::take(&mut after_hunk);
            if line.text.starts_with("@@ ") {
                let Some(section) = section.as_mut().filter(|section| section.has_names()) else {
                    let number = line.number;
                    return Err(format!("line {number}: a hunk without `---` and `+++` before it"));
                };
                section.hunks.push(self.hunk(&line)?);
                section.end = self.cursor.at;
                after_hunk = true;
            } else if let Some(names) = line.text.strip_prefix("diff --git ") {
                self.finish(section.take())?;
                section = Some(Section {
                    start: line.start,
                    end: self.cursor.at,
                    is_git: true,
                    git_names: git_names(names),
                    ..Section::default()
                });
            } else if let Some(names) = self.header_names(&line) {
                let section = self.continued(&mut section, line.start)?;
                section.is_binary |= line.text.starts_with("Binary ");
                section.header_names = Some(names);
                section.end = self.cursor.at;
            } else if let Some(why) = refusal(line.text, self.cursor.peek()) {
                return Err(format!("line {}: {why}", line.number));
            } else if was_after_hunk
                && line.text.starts_with(['+', '-', ' '])
                && line.text.trim_end() != "--"
            {
                let number = line.number;
                return Err(format!(
                    "line {number}: the hunk before it has more lines than its header counts"
                ));
            } else if let Some(section) = section.as_mut().filter(|section| section.is_open()) {
                section.extended_header(line.text);
                section.end = if section.is_closed { section.end } else { self.cursor.at };
            }
        }
        self.finish(section)
    }

    /// The names in `---` and the `+++` line after it, or in `Binary files … differ`.
    fn header_names(&mut self, line: &DiffLine<'_>) -> Option<(Option<String>, Option<String>)> {
        let Some(old) = line.text.strip_prefix("--- ") else { return binary_names(line.text) };
        let new = self.cursor.peek()?.strip_prefix("+++ ")?;
        let names = (header_name(old), header_name(new));
        self.cursor.next();
        Some(names)
    }

    /// The section that git began, if it still waits for names, or else a new one.
    fn continued<'s>(
        &mut self,
        section: &'s mut Option<Section>,
        start: usize,
    ) -> Result<&'s mut Section, String> {
        if !section.as_ref().is_some_and(|section| section.is_open() && !section.has_names()) {
            self.finish(section.take())?;
        }
        Ok(section.get_or_insert_with(|| Section { start, ..Section::default() }))
    }

    /// Reads the lines of the hunk whose header was just read.
    fn hunk(&mut self, header: &DiffLine<'_>) -> Result<CountedHunk, String> {
        let (old, new) = ranges(header.text).ok_or_else(|| {
            let line = excerpt(header.text, 60);
            format!(
                "line {}: `{line}` is not a header of a hunk such as `@@ -1,2 +1,2 @@`",
                header.number
            )
        })?;
        let start = self.cursor.at;
        let (mut old_left, mut new_left) = (old.1, new.1);
        let (mut old_is_open, mut new_is_open) = (false, false);
        let mut last = b' ';
        loop {
            // The mark for a missing line break also follows the last line of a hunk.
            let is_mark = self.cursor.peek().is_some_and(|next| next.starts_with('\\'));
            if old_left == 0 && new_left == 0 && !is_mark {
                break;
            }
            let line = self.cursor.next().ok_or_else(|| {
                format!(
                    "ends inside the hunk of line {}: {} lines are missing",
                    header.number,
                    old_left.max(new_left)
                )
            })?;
            let sides = match line.text.bytes().next() {
                // Mailers and editors remove the space of an empty line.
                Some(b' ' | b'\r') | None => (1, 1),
                Some(b'-') => (1, 0),
                Some(b'+') => (0, 1),
                Some(b'\\') => {
                    old_is_open |= last != b'+';
                    new_is_open |= last != b'-';
                    continue;
                }
                Some(_) => {
                    return Err(format!(
                        "line {}: {:?} is not in the hunk of line {}, which misses {} lines",
                        line.number,
                        excerpt(line.text, 40),
                        header.number,
                        old_left.max(new_left)
                    ));
                }
            };
            last = line.text.bytes().next().unwrap_or(b' ');
            let too_many = || {
                format!(
                    "line {}: the hunk of line {} has more lines than its header counts",
                    line.number, header.number
                )
            };
            old_left = old_left.checked_sub(sides.0).ok_or_else(too_many)?;
            new_left = new_left.checked_sub(sides.1).ok_or_else(too_many)?;
        }
        let hunk = Hunk { old_start: old.0, new_start: new.0, lines: start..self.cursor.at };
        Ok(CountedHunk { hunk, old_count: old.1, new_count: new.1, new_is_open, old_is_open })
    }

    fn finish(&mut self, section: Option<Section>) -> Result<(), String> {
        if let Some(section) = section {
            let start = section.start;
            let file = section.into_file(self.cursor.text).ok_or_else(|| {
                let number = 1 + self.cursor.text[..start].matches('\n').count();
                format!("line {number}: the section does not name its file")
            })?;
            self.files.push(file);
        }
        Ok(())
    }
}

impl Section {
    fn has_names(&self) -> bool {
        self.header_names.is_some()
    }

    /// Whether lines of git's header may follow.
    fn is_open(&self) -> bool {
        self.is_git && !self.is_closed && self.hunks.is_empty()
    }

    /// Reads what git writes between `diff --git` and the hunks.
    fn extended_header(&mut self, line: &str) {
        if line.starts_with("new file mode ") {
            self.is_new = true;
        } else if line.starts_with("deleted file mode ") {
            self.is_deleted = true;
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.from = Some(bare_name(name));
        } else if let Some(name) = line.strip_prefix("copy from ") {
            self.from = Some(bare_name(name));
            self.is_copy = true;
        } else if let Some(name) =
            line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to "))
        {
            self.to = Some(bare_name(name));
        } else if line == "GIT binary patch" {
            self.is_binary = true;
        } else if line.trim_end() == "--"
            || line.starts_with("From ")
            || line.starts_with("commit ")
        {
            self.is_closed = true;
        }
    }

    fn into_file(self, text: &str) -> Option<File> {
        let bare = self.git_names.as_ref().is_some_and(|(old, new)| old == new);
        let names = match (self.header_names, self.git_names) {
            (Some(names), _) => names,
            (None, Some((old, new))) => (Some(old), Some(new)),
            (None, None) => (None, None),
        };
        let (old, new) = without_prefixes(names.0, names.1, bare);
        // A diff of folders marks a new file only by its lines.
        let only = match self.hunks.as_slice() {
            [only] if !self.is_git => Some(only),
            _ => None,
        };
        let is_new = self.is_new
            || (old.is_none() && new.is_some())
            || only.is_some_and(|only| only.hunk.old_start == 0 && only.old_count == 0);
        let is_deleted = self.is_deleted
            || (new.is_none() && old.is_some())
            || only.is_some_and(|only| only.hunk.new_start == 0 && only.new_count == 0);
        let status = match (is_new, is_deleted, &self.from) {
            (_, _, Some(_)) if !self.is_copy => FileStatus::Renamed,
            (true, ..) | (.., Some(_)) => FileStatus::Added,
            (_, true, _) => FileStatus::Deleted,
            _ => FileStatus::Modified,
        };
        let path = match status {
            FileStatus::Deleted => old.or(new)?,
            _ => self.to.or(new).or(old)?,
        };
        let whole = |status_is: FileStatus, is_open: fn(&CountedHunk) -> bool| {
            let is_whole = status == status_is && self.from.is_none() && !self.is_binary;
            is_whole.then(|| {
                let lines = self.hunks.iter().flat_map(|counted| {
                    let count = counted.old_count + counted.new_count;
                    text[counted.hunk.lines.clone()]
                        .split_inclusive('\n')
                        .filter(|line| !line.starts_with('\\'))
                        .take(count)
                        .map(|line| &line[line.len().min(1)..])
                });
                let mut content: String = lines.collect();
                if self.hunks.iter().any(is_open) && content.ends_with('\n') {
                    content.pop();
                }
                content
            })
        };
        let content = whole(FileStatus::Added, |counted| counted.new_is_open);
        let before = whole(FileStatus::Deleted, |counted| counted.old_is_open);
        Some(File {
            path,
            status: Some(status),
            from: self.from,
            content,
            before,
            is_binary: self.is_binary,
            sections: std::iter::once(self.start..self.end).collect(),
            hunks: self.hunks.into_iter().map(|counted| counted.hunk).collect(),
        })
    }
}

/// Why a line must not be skipped. `next`: the line after it.
fn refusal(line: &str, next: Option<&str>) -> Option<&'static str> {
    let starts = |prefix: &str| line.starts_with(prefix);
    // A coloured header would be skipped, and its file would look unchanged.
    if starts("\x1b[") {
        return Some("it is coloured; write the diff with `git diff --no-color`");
    }
    if summarized_submodule(line).is_some_and(|name| !begins_inside(next, name)) {
        return Some(
            "it says of a submodule only which commits are new; write the diff with \
             `git diff --submodule=short`",
        );
    }
    if starts("diff --cc ") || starts("diff --combined ") || starts("@@@ ") {
        return Some(
            "the combined diff of a merge is not understood; write the diff against one commit",
        );
    }
    (starts("Only in ") && line.contains(": ")).then_some(
        "`Only in …` does not say what is in the file; write the diff with `git diff`, or \
         `diff -ruN`",
    )
}

/// The submodule of a line `Submodule NAME OLD..NEW:`.
fn summarized_submodule(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("Submodule ")?.split_once(' ')?;
    let (old, new) = rest.split_whitespace().next()?.split_once("..")?;
    let new = new.trim_start_matches('.').trim_end_matches(':');
    let is_commit = |id: &str| id.len() > 3 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_commit(old) && is_commit(new)).then_some(name)
}

/// Whether a line begins a file inside a submodule; `--submodule=diff` lists these after the submodule's line.
fn begins_inside(line: Option<&str>, name: &str) -> bool {
    let names = line.and_then(|line| line.strip_prefix("diff --git "));
    names.is_some_and(|names| names.contains(&format!("/{name}/")))
}

/// The first line and the number of lines, for the old side and the new one.
fn ranges(header: &str) -> Option<((usize, usize), (usize, usize))> {
    let (ranges, _) = header.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        let digits = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
        };
        Some((digits(start)?, digits(count)?))
    };
    Some((range(old)?, range(new)?))
}

struct Cursor<'d> {
    text: &'d str,
    at: usize,
    number: usize,
}

struct DiffLine<'d> {
    /// Without the line break.
    text: &'d str,
    start: usize,
    /// From 1.
    number: usize,
}

impl<'d> Cursor<'d> {
    fn range(&self) -> Option<(Range<usize>, usize)> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let length = rest.find('\n').unwrap_or(rest.len());
        let line = rest[..length].strip_suffix('\r').map_or(length, str::len);
        Some((self.at..self.at + line, (self.at + length + 1).min(self.text.len())))
    }

    fn peek(&self) -> Option<&'d str> {
        self.range().map(|(line, _)| &self.text[line])
    }

    fn next(&mut self) -> Option<DiffLine<'d>> {
        let (line, next) = self.range()?;
        self.at = next;
        self.number += 1;
        Some(DiffLine { text: &self.text[line.clone()], start: line.start, number: self.number })
    }
}
