//! Regular expressions: the basis of jq's `test`, `match`, `capture`, `scan`, `split` and `sub`.

use jaq_core::{Cv, ValR};
use jaq_json::{Map, Val};
use jaq_std::ValT as _;
use regex_lite::{Match, Regex, RegexBuilder};

use crate::value::{Data, Error, Value};

/// Which parts of a text are returned: those between matches, the matches, or both in alternation.
pub(crate) struct Parts {
    pub(crate) between: bool,
    pub(crate) matched: bool,
}

/// The parts of the input text, by a regular expression and its flags.
pub(crate) fn matches(mut cv: Cv<'_, Data>, parts: Parts) -> ValR<Value> {
    let (flags, pattern) = (cv.0.pop_var(), cv.0.pop_var());
    let (pattern, flags) = pattern_and_flags(pattern, flags);
    let flags = if flags.0 == Val::Null { String::new() } else { text(&flags)? };
    let (pattern, text) = (text(&pattern)?, text(&cv.1)?);
    let regex = regex(&pattern, &flags)?;
    let mut found = Vec::new();
    let mut place = Place { text: &text, byte: 0, character: 0 };
    let mut end = 0;
    for captures in regex.captures_iter(&text) {
        let Some(whole) = captures.get(0) else { continue };
        if flags.contains('n') && whole.is_empty() {
            continue;
        }
        if parts.between {
            found.push(Value::text(&text[end..whole.start()]));
            end = whole.end();
        }
        if parts.matched {
            let groups = captures.iter().zip(regex.capture_names()).enumerate();
            let groups = groups.map(|(number, (group, name))| match number {
                0 => Value(Val::obj(place.of(group))),
                _ => {
                    let mut fields = place.of(group);
                    fields.insert(key("name"), name.map_or(Val::Null, key));
                    Value(Val::obj(fields))
                }
            });
            found.push(groups.collect());
        }
        if !flags.contains('g') {
            break;
        }
    }
    if parts.between {
        found.push(Value::text(&text[end..]));
    }
    Ok(found.into_iter().collect())
}

/// A pattern may include its flags, as in `test(["a", "i"])`.
fn pattern_and_flags(pattern: Value, flags: Value) -> (Value, Value) {
    match &pattern.0 {
        Val::Arr(both) => {
            let item = |place: usize| Value(both.get(place).cloned().unwrap_or_default());
            let own = if both.len() > 1 { item(1) } else { flags };
            (item(0), own)
        }
        _ => (pattern, flags),
    }
}

/// Counts characters up to a place in a text.
struct Place<'t> {
    text: &'t str,
    byte: usize,
    character: usize,
}

impl Place<'_> {
    fn characters_before(&mut self, start: usize) -> usize {
        // A group may start before the one that was visited last.
        if start < self.byte {
            (self.byte, self.character) = (0, 0);
        }
        self.character += self.text[self.byte..start].chars().count();
        self.byte = start;
        self.character
    }

    /// jq's object for a group; null for one that took no part in the match.
    fn of(&mut self, group: Option<Match<'_>>) -> Map {
        let mut fields = Map::default();
        let offset = group
            .map_or(Val::from(-1_isize), |group| Val::from(self.characters_before(group.start())));
        let length = group.map_or(0, |group| group.as_str().chars().count());
        fields.insert(key("offset"), offset);
        fields.insert(key("length"), Val::from(length));
        fields.insert(key("string"), group.map_or(Val::Null, |group| key(group.as_str())));
        fields
    }
}

fn key(text: &str) -> Val {
    Val::from(text.to_owned())
}

fn text(value: &Value) -> Result<String, Error> {
    let bytes = value.as_utf8_bytes().ok_or_else(|| Error::typ(value.clone(), "string"))?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn regex(pattern: &str, flags: &str) -> Result<Regex, Error> {
    // jq's `l` requests the longest match, which this engine does not search for.
    if let Some(flag) = flags.chars().find(|flag| !"gnimsxp".contains(*flag)) {
        return Err(Error::str(format_args!("invalid regex flag: {flag}")));
    }
    let folded = if flags.contains('i') { either_case(pattern) } else { pattern.to_owned() };
    RegexBuilder::new(&folded)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('p'))
        .ignore_whitespace(flags.contains('x'))
        .build()
        .map_err(|error| Error::str(format_args!("invalid regex: {error}")))
}

/// The pattern with each non-ASCII letter in both cases, because the engine only folds the case of ASCII.
fn either_case(pattern: &str) -> String {
    let mut letters = pattern.chars().peekable();
    let (mut folded, mut is_class, mut before) = (String::new(), false, ' ');
    while let Some(letter) = letters.next() {
        // The ends of a range stay.
        let is_end = is_class && (before == '-' || letters.peek() == Some(&'-'));
        match (letter, other_case(letter)) {
            ('\\', _) => {
                folded.push(letter);
                folded.extend(letters.next());
            }
            (_, Some(other)) if is_class && !is_end => folded.extend([letter, other]),
            (_, Some(other)) if !is_class => folded.extend(['[', letter, other, ']']),
            _ => folded.push(letter),
        }
        is_class = (is_class || letter == '[') && letter != ']';
        before = letter;
    }
    folded
}

fn other_case(letter: char) -> Option<char> {
    let mut other = letter.to_lowercase().chain(letter.to_uppercase()).filter(|c| *c != letter);
    (!letter.is_ascii()).then(|| other.next()).flatten()
}
