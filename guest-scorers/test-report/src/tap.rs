//! Reads the Test Anything Protocol, versions 12 to 14: subtests before their parent's line (TAP 14, Node) or in braces
//! after it (Vitest), directives, plans, bailing out. Only the message of diagnostics is read.

use std::iter::Peekable;

use crate::reported::{Outcome, Reported, full_name};

/// The deepest nesting of subtests that is read.
const DEPTH: usize = 64;
/// The most lines of a message that are kept.
const LINES: usize = 20;

/// Whether a text looks like TAP.
pub(crate) fn is_tap(text: &str) -> bool {
    text.lines().map(str::trim_end).any(|line| {
        line.starts_with("TAP version ") || plan(line).is_some() || result(line).is_some()
    })
}

/// The tests of a report, which are the leaves. A parent counts only if it fails and none of its subtests does.
pub(crate) fn read(text: &str) -> Result<Vec<Reported>, String> {
    let mut state = State::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let inner = line.trim_start();
        let depth = (line.len() - inner.len()) / 4;
        let inner = inner.trim_end();
        if depth > DEPTH {
            return Err(format!("subtests are nested more than {DEPTH} deep"));
        }
        if let Some(why) = inner.strip_prefix("Bail out!") {
            state.bailed_out = Some(why.trim().to_owned());
        } else if inner == "}" {
            state.close(depth)?;
        } else if let Some((count, is_skip)) = plan(inner) {
            if depth == 0 {
                state.plan = Some(count);
                state.all_skipped |= is_skip || count == 0;
            }
        } else if let Some(mut found) = result(inner) {
            let opens = found.name.ends_with('{');
            if opens {
                found.name = found.name.trim_end_matches('{').trim_end().to_owned();
            }
            found.finish();
            if lines.peek().is_some_and(|next| next.trim() == "---") {
                lines.next();
                found.why = message(&mut lines);
            }
            if opens {
                state.braces.push((depth, found));
            } else {
                state.add(depth, found);
            }
        }
    }
    state.end()
}

/// The message in a block of diagnostics, which ends with `...`.
fn message<'t>(lines: &mut Peekable<impl Iterator<Item = &'t str>>) -> Option<String> {
    let mut found = None;
    while let Some(line) = lines.next() {
        let text = line.trim();
        if text == "..." {
            break;
        }
        let Some((key, value)) = text.split_once(':') else { continue };
        let value = value.trim();
        let value = if opens_text(value) {
            indented_text(lines, indentation(line))
        } else {
            value.trim_matches(['"', '\'']).to_owned()
        };
        if found.is_none() && ["message", "error"].contains(&key) && !value.is_empty() {
            found = Some(value);
        }
    }
    found
}

/// Whether the YAML value of a key is in the lines below it: `|`, `>-`, `|2+`.
fn opens_text(value: &str) -> bool {
    let rest = value.strip_prefix(['|', '>']);
    rest.is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-')))
}

/// Takes the lines that are indented more than their key, whatever they look like, and keeps the first ones.
fn indented_text<'t>(lines: &mut Peekable<impl Iterator<Item = &'t str>>, of_key: usize) -> String {
    let belongs = |line: &&str| line.trim().is_empty() || indentation(line) > of_key;
    let mut kept: Vec<&str> = Vec::new();
    while let Some(line) = lines.next_if(belongs) {
        if kept.len() < LINES {
            kept.push(line);
        }
    }
    let first = kept.iter().find(|line| !line.trim().is_empty());
    let of_text = first.map_or(0, |line| indentation(line));
    let plain = kept.iter().map(|line| {
        let margin = of_text.min(indentation(line));
        line.get(margin..).unwrap_or_default().trim_end()
    });
    plain.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A line with `ok` or `not ok`.
struct Found {
    is_ok: bool,
    does_not_count: bool,
    name: String,
    number: String,
    why: Option<String>,
}

impl Found {
    /// Removes the directive and the time from the end of the description.
    fn finish(&mut self) {
        let mut end = self.name.len();
        let hashes: Vec<usize> = self.name.match_indices('#').map(|(at, _)| at).collect();
        for at in hashes {
            let before = self.name[..at].chars().next_back();
            if before.is_some_and(|before| !before.is_whitespace()) {
                continue;
            }
            let word = self.name[at + 1..].trim_start();
            let starts = |wanted: &str| {
                word.get(..wanted.len()).is_some_and(|word| word.eq_ignore_ascii_case(wanted))
            };
            if starts("skip") || starts("todo") {
                self.does_not_count = true;
                end = end.min(at);
                break;
            }
            if starts("time=") {
                end = end.min(at);
            }
        }
        self.name.truncate(end);
        let plain = self.name.trim().replace("\\#", "#").replace("\\\\", "\\");
        self.name = match plain.strip_prefix("- ").unwrap_or(&plain).trim() {
            "" | "-" => format!("test {}", self.number).trim_end().to_owned(),
            name => name.to_owned(),
        };
    }

    fn into_reported(self) -> Reported {
        let outcome = match (self.does_not_count, self.is_ok) {
            (true, _) => Outcome::Skipped,
            (_, true) => Outcome::Passed,
            (_, false) => Outcome::failed(self.why.as_deref().unwrap_or_default()),
        };
        Reported::new(self.name, outcome)
    }
}

fn result(line: &str) -> Option<Found> {
    let (is_ok, rest) = match (line.strip_prefix("not ok"), line.strip_prefix("ok")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return None,
    };
    // Go's result for a package, with a tab before its name, is not the result of a test.
    if !rest.is_empty() && !rest.starts_with(' ') || rest.trim_start_matches(' ').starts_with('\t')
    {
        return None;
    }
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, name) = match rest[digits..].chars().next() {
        None | Some(' ') => rest.split_at(digits),
        _ => ("", rest),
    };
    Some(Found {
        is_ok,
        does_not_count: false,
        name: name.trim().to_owned(),
        number: number.to_owned(),
        why: None,
    })
}

/// `1..5`, and whether it says that everything is skipped.
fn plan(line: &str) -> Option<(usize, bool)> {
    let rest = line.strip_prefix("1..")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest[digits..].trim();
    if !after.is_empty() && !after.starts_with('#') {
        return None;
    }
    let skips = after.trim_start_matches('#').trim_start().to_ascii_lowercase().starts_with("skip");
    Some((rest[..digits].parse().ok()?, skips))
}

/// What is wrong with the numbers of tests, although their count matches the plan: another test must not make up for a
/// missing one.
fn misnumbered(mut numbers: Vec<usize>, plan: usize) -> Option<String> {
    numbers.sort_unstable();
    let outside = numbers.iter().find(|number| !(1..=plan).contains(*number));
    let twice = || numbers.windows(2).find(|pair| pair[0] == pair[1]);
    match outside {
        Some(number) => Some(format!("a test has the number {number}, but the plan is 1..{plan}")),
        None => twice().map(|pair| format!("two tests have the number {}", pair[0])),
    }
}

#[derive(Default)]
struct State {
    /// The tests that wait for their parent, by depth.
    levels: Vec<Vec<Reported>>,
    /// Parents whose subtests follow.
    braces: Vec<(usize, Found)>,
    /// The number of result lines outside subtests.
    top: usize,
    /// The test numbers on those lines.
    numbers: Vec<usize>,
    plan: Option<usize>,
    all_skipped: bool,
    bailed_out: Option<String>,
}

impl State {
    fn add(&mut self, depth: usize, found: Found) {
        if depth == 0 {
            self.top += 1;
            if !found.number.is_empty() {
                self.numbers.push(found.number.parse().unwrap_or(usize::MAX));
            }
        }
        if self.levels.len() <= depth {
            self.levels.resize_with(depth + 1, Vec::new);
        }
        let subtests: Vec<Reported> = self.levels.drain(depth + 1..).flatten().collect();
        let parent = found.into_reported();
        let level = &mut self.levels[depth];
        if subtests.is_empty() {
            level.push(parent);
            return;
        }
        let any_failed = subtests.iter().any(Reported::is_failed);
        let skips = parent.outcome == Outcome::Skipped;
        level.extend(subtests.into_iter().map(|test| {
            let outcome = if skips { Outcome::Skipped } else { test.outcome };
            Reported::new(full_name([parent.name.as_str()], &test.name), outcome)
        }));
        if matches!(parent.outcome, Outcome::Failed(_)) && !any_failed {
            level.push(parent);
        }
    }

    fn close(&mut self, depth: usize) -> Result<(), String> {
        match self.braces.pop() {
            Some((opened, found)) if opened == depth => {
                self.add(depth, found);
                Ok(())
            }
            // A brace that a test printed.
            Some(other) => {
                self.braces.push(other);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn end(mut self) -> Result<Vec<Reported>, String> {
        let unclosed = self.braces.len();
        while let Some((depth, found)) = self.braces.pop() {
            self.add(depth, found);
        }
        let mut tests: Vec<Reported> = self.levels.into_iter().flatten().collect();
        if tests.is_empty() && self.plan.is_none() && self.bailed_out.is_none() {
            return Err("it has no TAP line: no plan `1..N`, no `ok`, no `not ok`".to_owned());
        }
        if tests.is_empty() && self.all_skipped {
            tests.push(Reported::new("all tests", Outcome::Skipped));
            return Ok(tests);
        }
        let broken = match (self.bailed_out, self.plan) {
            (Some(why), _) => Some(format!("it bailed out: {why}")),
            (None, None) => Some("it broke off: there is no plan".to_owned()),
            (None, Some(plan)) if plan != self.top => {
                Some(format!("{plan} tests were planned, {} reported", self.top))
            }
            _ if unclosed > 0 => Some("it broke off inside a subtest".to_owned()),
            (None, Some(plan)) => misnumbered(self.numbers, plan),
        };
        tests.extend(broken.map(|why| Reported::failed("the run", &why)));
        Ok(tests)
    }
}
