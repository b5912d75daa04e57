//! Reads the values of a document for a suite, and collects every mistake with its location. It knows no key of a
//! suite, and reads no process environment: the caller passes variables in.

use std::{cell::Cell, collections::HashSet, fmt, ops::Range, path::Path, rc::Rc};

use crate::{advice::Advice, input_file::MAX_CONFIGURATION_BYTES};

use super::{
    Environment, Location, Mistake,
    document::{Member, Node, SyntaxError, Value, begins_a_table},
};

/// The room for the values of variables, which all files of a suite share: a small file can reference a long value a
/// million times.
#[derive(Clone, Debug)]
pub(super) struct Room(Rc<Cell<Option<u64>>>);

impl Room {
    /// Room for as many bytes as a file may have.
    pub(super) fn new() -> Room {
        Room(Rc::new(Cell::new(Some(MAX_CONFIGURATION_BYTES))))
    }

    /// Whether a value did not fit. After that, no other value fits.
    pub(super) fn is_exceeded(&self) -> bool {
        self.0.get().is_none()
    }

    /// Takes room for a value. Returns whether it fits.
    fn take(&self, bytes: usize) -> bool {
        let left = self.0.get().and_then(|left| left.checked_sub(bytes as u64));
        self.0.set(left);
        left.is_some()
    }
}

/// One file of a suite, while it is read.
pub(super) struct Reading<'r> {
    text: Text<'r>,
    environment: Environment<'r>,
    room: Room,
    mistakes: Vec<Mistake>,
}

impl<'r> Reading<'r> {
    /// Starts with the text of the file at `path`.
    pub(super) fn new(
        path: &'r Path,
        text: &'r str,
        environment: Environment<'r>,
        room: &Room,
    ) -> Reading<'r> {
        let (text, room) = (Text::new(path, text), room.clone());
        Reading { text, environment, room, mistakes: Vec::new() }
    }

    /// All mistakes, in the order of the file, one for each location.
    pub(super) fn into_mistakes(mut self) -> Vec<Mistake> {
        self.mistakes.sort_by_key(|mistake| (mistake.location.line, mistake.location.column));
        self.mistakes.dedup_by(|later, first| later.location == first.location);
        self.mistakes
    }

    /// How many mistakes were found so far.
    pub(super) fn mistake_count(&self) -> usize {
        self.mistakes.len()
    }

    /// The location of this span in the file.
    pub(super) fn location(&self, span: &Range<usize>) -> Location {
        self.text.location(span)
    }

    /// Adds the syntax errors, and drops the mistakes that they cause: below a line that should begin a table, values
    /// appear in another table, up to the next such line.
    pub(super) fn not_valid(&mut self, errors: Vec<SyntaxError>) {
        for SyntaxError { span, reason } in errors {
            let line = self.location(&span).line;
            let mut lines = self.text.text.lines().skip(line - 1);
            if lines.next().is_some_and(begins_a_table) {
                let below = lines.take_while(|line| !begins_a_table(line)).count();
                self.mistakes.retain(|it| !(line..=line + below).contains(&it.location.line));
            }
            self.wrong(&span, reason);
        }
    }

    /// Adds a mistake.
    pub(super) fn wrong(&mut self, span: &Range<usize>, reason: impl Into<String>) {
        self.advised(span, reason, None);
    }

    /// Adds a mistake, and advice for it.
    pub(super) fn advised(
        &mut self,
        span: &Range<usize>,
        reason: impl Into<String>,
        advice: Option<Advice>,
    ) {
        let location = self.location(span);
        let reason = one_line(&reason.into());
        self.mistakes.push(Mistake { location, reason, advice });
    }

    fn not(&mut self, node: &Node, what: &str, expected: &str) {
        let found = node.value.kind();
        self.wrong(&node.span, format!("`{what}` must be {expected}; found {found}"));
    }

    /// The members of a table with these keys and no others. `whose` describes the owner of the keys: `of a scorer`.
    pub(super) fn members<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        whose: &str,
        keys: &[&'static str],
    ) -> Vec<(&'static str, &'n Member)> {
        let mut known = Vec::new();
        for member in self.any_members(node, what) {
            if let Some(key) = keys.iter().find(|key| **key == member.key) {
                known.push((*key, member));
                continue;
            }
            let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            let names = names.join(", ");
            let key = member.key.escape_debug();
            let reason = format!("unknown key `{key}`; the keys {whose} are {names}");
            let closest = crate::suggest::closest(&member.key, keys.iter().copied());
            self.advised(&member.key_span, reason, Advice::did_you_mean(&closest));
        }
        known
    }

    /// The members of a table, whatever their keys; if a key occurs twice, the first.
    pub(super) fn any_members<'n>(&mut self, node: &'n Node, what: &str) -> Vec<&'n Member> {
        let Value::Table(members) = &node.value else {
            self.not(node, what, "a table");
            return Vec::new();
        };
        let mut keys = HashSet::new();
        let mut kept = Vec::with_capacity(members.len());
        for member in members {
            match keys.insert(member.key.as_str()) {
                true => kept.push(member),
                false => {
                    let key = member.key.escape_debug();
                    self.wrong(&member.key_span, format!("duplicate key `{key}`"));
                }
            }
        }
        kept
    }

    /// A list.
    pub(super) fn list<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        match &node.value {
            Value::List(items) => items,
            _ => {
                self.not(node, what, "a list");
                &[]
            }
        }
    }

    /// A text as written.
    pub(super) fn word<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        match &node.value {
            Value::Text(text) => Some(text),
            _ => {
                self.not(node, what, "a text");
                None
            }
        }
    }

    /// A text, with the values of the variables in it.
    pub(super) fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        let written = self.word(node, what)?;
        self.with_variables(written, &node.span)
    }

    /// A whole number of 0 or more.
    pub(super) fn count(&mut self, node: &Node, what: &str) -> Option<u64> {
        let count = match &node.value {
            Value::Number(number) => number.as_u64(),
            _ => None,
        };
        if count.is_none() {
            match &node.value {
                Value::NotJson(written) if written.bytes().all(|it| it.is_ascii_digit()) => {
                    let most = i64::MAX;
                    self.wrong(&node.span, format!("`{what}` is too large: at most {most}"));
                }
                Value::Number(_) | Value::NotJson(_) => {
                    self.wrong(&node.span, format!("`{what}` must be a whole number of 0 or more"));
                }
                _ => self.not(node, what, "a whole number"),
            }
        }
        count
    }

    /// A finite number.
    pub(super) fn number(&mut self, node: &Node, what: &str) -> Option<f64> {
        let number = match &node.value {
            Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
            _ => None,
        };
        if number.is_none() {
            match &node.value {
                Value::Number(_) | Value::NotJson(_) => {
                    self.wrong(&node.span, format!("`{what}` must be a finite number"));
                }
                _ => self.not(node, what, "a number"),
            }
        }
        number
    }

    /// True or false.
    pub(super) fn truth(&mut self, node: &Node, what: &str) -> Option<bool> {
        match node.value {
            Value::Truth(truth) => Some(truth),
            _ => {
                self.not(node, what, "true or false");
                None
            }
        }
    }

    /// A value as JSON, nested at most `levels` deep. `what` is its path, for mistakes.
    pub(super) fn json(
        &mut self,
        node: &Node,
        what: &str,
        levels: usize,
    ) -> Option<serde_json::Value> {
        Some(match &node.value {
            Value::Null => serde_json::Value::Null,
            Value::Truth(truth) => (*truth).into(),
            Value::Number(number) => number.clone().into(),
            Value::NotJson(written) => {
                let written = written.escape_debug();
                let reason = format!("`{what}` has a number that JSON does not have: {written}");
                self.wrong(&node.span, reason);
                return None;
            }
            Value::Text(written) => self.with_variables(written, &node.span)?.into(),
            Value::List(items) => {
                let levels = self.deeper(node, what, levels)?;
                // Read all of them, to find all mistakes.
                let values: Vec<_> =
                    items.iter().map(|item| self.json(item, what, levels)).collect();
                serde_json::Value::Array(values.into_iter().collect::<Option<_>>()?)
            }
            Value::Table(_) => {
                let levels = self.deeper(node, what, levels)?;
                let members = self.any_members(node, what).into_iter();
                let members = members.map(|member| {
                    Some((member.key.clone(), self.json(&member.node, what, levels)?))
                });
                let members: Vec<_> = members.collect();
                serde_json::Value::Object(members.into_iter().collect::<Option<_>>()?)
            }
        })
    }

    fn deeper(&mut self, node: &Node, what: &str, levels: usize) -> Option<usize> {
        let left = levels.checked_sub(1);
        if left.is_none() {
            self.wrong(&node.span, format!("`{what}` is nested too deep: more than 120 levels"));
        }
        left
    }

    /// The text with the value of each variable instead of `${NAME}`; `$${` becomes `${`. It looks no variable up after
    /// the values have exceeded their room.
    fn with_variables(&mut self, written: &str, span: &Range<usize>) -> Option<String> {
        if self.room.is_exceeded() {
            return None;
        }
        let mut text = String::with_capacity(written.len());
        let (mut rest, mut is_whole) = (written, true);
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                text.push_str(&rest[..at - 1]);
                text.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            text.push_str(&rest[..at]);
            let behind = &rest[at + 2..];
            let Some(name) = behind.split_once('}').map(|(name, _)| name).filter(|it| is_name(it))
            else {
                text.push_str("${");
                rest = behind;
                continue;
            };
            match (self.environment)(name) {
                Some(value) if self.room.take(value.len()) => text.push_str(&value),
                Some(_) => {
                    let most = MAX_CONFIGURATION_BYTES >> 20;
                    self.wrong(
                        span,
                        format!(
                            "the values of variables have more than {most} MiB together, the most that a suite may have"
                        ),
                    );
                    return None;
                }
                None => {
                    self.wrong(span, format!("the variable `{name}` has no value"));
                    is_whole = false;
                }
            }
            rest = &behind[name.len() + 1..];
        }
        text.push_str(rest);
        is_whole.then_some(text)
    }

    /// The value, or its error as a mistake.
    pub(super) fn said<T, E: fmt::Display>(
        &mut self,
        span: &Range<usize>,
        value: Result<T, E>,
    ) -> Option<T> {
        match value {
            Ok(value) => Some(value),
            Err(error) => {
                self.wrong(span, error.to_string());
                None
            }
        }
    }

    /// A finite number of 0 or more.
    pub(super) fn amount(&mut self, node: &Node, what: &str) -> Option<f64> {
        let amount = self.number(node, what)?;
        if amount < 0.0 {
            self.wrong(&node.span, format!("`{what}` must be 0 or more; found {amount}"));
            return None;
        }
        // -0 is 0.
        Some(amount + 0.0)
    }

    /// The value that a word represents; an unknown word is a mistake.
    pub(super) fn one_of<T>(
        &mut self,
        node: &Node,
        meant: Option<T>,
        what: &str,
        words: &[&str],
    ) -> Option<T> {
        if let (None, Value::Text(word)) = (&meant, &node.value) {
            let word = word.as_str();
            let reason =
                format!("`{}` is not a {what}; use {}", word.escape_debug(), alternatives(words));
            let closest = crate::suggest::closest(word, words.iter().copied());
            self.advised(&node.span, reason, Advice::did_you_mean(&closest));
        }
        meant
    }
}

/// `` `a`, `b` or `c` ``.
fn alternatives(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}

/// Reasons quote the file, paths and other libraries; characters that would break the line are escaped.
pub(super) fn one_line(reason: &str) -> String {
    let mut line = String::with_capacity(reason.len());
    for character in reason.chars() {
        match character.is_control() {
            true => line.extend(character.escape_debug()),
            false => line.push(character),
        }
    }
    line
}

/// Whether a variable can have this name.
fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
}

/// A file's text, and where its lines begin.
struct Text<'t> {
    path: &'t Path,
    text: &'t str,
    line_starts: Vec<usize>,
}

impl<'t> Text<'t> {
    fn new(path: &'t Path, text: &'t str) -> Text<'t> {
        let after = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Text { path, text, line_starts: std::iter::once(0).chain(after).collect() }
    }

    fn location(&self, span: &Range<usize>) -> Location {
        let offset = self.text.floor_char_boundary(span.start);
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts[line - 1];
        Location {
            file: self.path.to_owned(),
            line,
            column: self.text[start..offset].chars().count() + 1,
        }
    }
}
