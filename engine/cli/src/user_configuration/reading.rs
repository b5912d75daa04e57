//! Reads the values of the document, and collects every mistake with its location. It knows no keys of the
//! configuration.

use std::{ops::Range, path::Path};

use scorebox::advice::Advice;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{advice, failure::Failure, report::printable};

/// A value and its location.
pub(super) type Value<'d> = Spanned<DeValue<'d>>;

/// The file that is being read.
pub(super) struct Reading<'r> {
    path: &'r Path,
    text: &'r str,
    mistakes: Vec<Mistake>,
}

struct Mistake {
    at: usize,
    reason: String,
    hint: Option<String>,
}

impl<'r> Reading<'r> {
    /// Starts reading the text of the file at `path`.
    pub(super) fn new(path: &'r Path, text: &'r str) -> Reading<'r> {
        Reading { path, text, mistakes: Vec::new() }
    }

    /// All mistakes, in the order of the file; `None` if there is none.
    pub(super) fn finish(mut self) -> Option<Failure> {
        self.mistakes.sort_by_key(|mistake| mistake.at);
        let each = self.mistakes.iter().map(|Mistake { at, reason, hint }| {
            let (line, column) = self.line_and_column(*at);
            let path = self.path.display();
            (format!("{path}:{line}:{column}: {}", printable(reason)), hint.clone())
        });
        Failure::of_each(each)
    }

    /// The line and the column of a byte position, counted from 1.
    pub(super) fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }

    /// Records a mistake.
    pub(super) fn wrong(&mut self, span: Range<usize>, reason: &str) {
        self.note(span, reason, None);
    }

    /// Records a mistake, with what to do about it.
    pub(super) fn hinted(&mut self, span: Range<usize>, reason: &str, hint: &str) {
        self.note(span, reason, Some(hint.to_owned()));
    }

    fn note(&mut self, span: Range<usize>, reason: &str, hint: Option<String>) {
        let reason = reason.trim().replace('\n', " ");
        self.mistakes.push(Mistake { at: span.start, reason, hint });
    }

    /// The members of a table with these keys; others are mistakes. `whose` says whose keys they are: `of an index`.
    pub(super) fn members<'d>(
        &mut self,
        table: &'d DeTable<'d>,
        whose: &str,
        keys: &[&'static str],
    ) -> Vec<(&'static str, &'d Value<'d>)> {
        let mut known = Vec::new();
        for (key, value) in table.iter() {
            let written: &str = key.get_ref();
            match keys.iter().find(|known| **known == written) {
                Some(key) => known.push((*key, value)),
                None => {
                    let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
                    let names = names.join(", ");
                    let shown = written.escape_debug();
                    let reason = format!("unknown key `{shown}`; the keys {whose} are {names}");
                    let closest = Advice::closest(written, keys.iter().copied());
                    self.note(key.span(), &reason, closest.as_ref().and_then(advice::words));
                }
            }
        }
        known
    }

    /// A table.
    pub(super) fn table<'d>(
        &mut self,
        value: &'d Value<'d>,
        what: &str,
    ) -> Option<&'d DeTable<'d>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => self.not(value, what, "a table"),
        }
    }

    /// A list.
    pub(super) fn list<'d>(&mut self, value: &'d Value<'d>, what: &str) -> Option<&'d [Value<'d>]> {
        match value.get_ref() {
            DeValue::Array(items) => Some(items),
            _ => self.not(value, what, "a list"),
        }
    }

    /// A text.
    pub(super) fn text<'d>(&mut self, value: &'d Value<'d>, what: &str) -> Option<&'d str> {
        match value.get_ref() {
            DeValue::String(text) => Some(text),
            _ => self.not(value, what, "a text"),
        }
    }

    /// True or false.
    pub(super) fn truth(&mut self, value: &Value<'_>, what: &str) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(truth) => Some(*truth),
            _ => self.not(value, what, "true or false"),
        }
    }

    /// A whole number.
    pub(super) fn number(&mut self, value: &Value<'_>, what: &str) -> Option<i64> {
        let number = match value.get_ref() {
            DeValue::Integer(written) => {
                i64::from_str_radix(written.as_str(), written.radix()).ok()
            }
            _ => None,
        };
        number.or_else(|| self.not(value, what, "a whole number"))
    }

    fn not<T>(&mut self, value: &Value<'_>, what: &str, expected: &str) -> Option<T> {
        self.wrong(value.span(), &format!("`{what}` must be {expected}"));
        None
    }
}
