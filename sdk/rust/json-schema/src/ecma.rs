//! Regular expressions of ECMA 262: checks a pattern by the grammar with the flag `u`, and translates it into Rust's
//! syntax. It compiles and matches nothing. Names of Unicode properties are not looked up.

use std::iter::Peekable;
use std::str::Chars;

/// White space and line ends, as `\s` matches them, inside a class.
const SPACE: &str =
    r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

/// What `.` does not match, inside a class.
const LINE_ENDS: &str = r"\n\r\u{2028}\u{2029}";

/// How strictly the grammar is applied.
#[derive(Clone, Copy, PartialEq)]
enum Grammar {
    /// The grammar of the flag `u`.
    Unicode,
    /// Also what patterns without the flag allow, if it can have only one meaning: `\-`, `]` and `}` as literals, and
    /// `[\w-.]`.
    Lenient,
}

/// Why a pattern cannot be translated.
#[derive(Debug, PartialEq)]
pub(super) enum Refused {
    /// It is not a valid ECMA 262 pattern; the text says why.
    Invalid(String),
    /// Rust's engine does not support this.
    Unsupported(&'static str),
}

/// Checks a pattern; the error says what is wrong with it.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    read(pattern, Grammar::Unicode).map(|_| ())
}

/// A pattern in the syntax of the crate `regex`, which matches the same texts.
pub(super) fn translate(pattern: &str) -> Result<String, Refused> {
    let reader = read(pattern, Grammar::Lenient).map_err(Refused::Invalid)?;
    match reader.unsupported {
        Some(what) => Err(Refused::Unsupported(what)),
        None => Ok(reader.out),
    }
}

fn read(pattern: &str, grammar: Grammar) -> Result<Reader<'_>, String> {
    let mut reader = Reader {
        chars: pattern.chars().peekable(),
        grammar,
        names: Vec::new(),
        groups: count_groups(pattern),
        out: String::with_capacity(pattern.len()),
        unsupported: None,
    };
    reader.pattern()?;
    let defined = |name: &String| reader.names.iter().any(|(known, is)| *is && known == name);
    match reader.names.iter().find(|(name, _)| !defined(name)) {
        Some((name, _)) => Err(format!("no group has the name {name}")),
        None => Ok(reader),
    }
}

/// The number of capturing groups, so that a reference to a group can be checked before the group is read.
fn count_groups(pattern: &str) -> usize {
    let (mut count, mut in_class) = (0, false);
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => _ = chars.next(),
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                let mut ahead = chars.clone();
                let plain = ahead.next() != Some('?');
                let named = ahead.next() == Some('<') && !matches!(ahead.next(), Some('=' | '!'));
                count += usize::from(plain || named);
            }
            _ => {}
        }
    }
    count
}

struct Reader<'p> {
    chars: Peekable<Chars<'p>>,
    grammar: Grammar,
    /// Names of groups, and whether the group is defined (or only referred to).
    names: Vec<(String, bool)>,
    groups: usize,
    /// The translation so far.
    out: String,
    /// The first thing that has no translation.
    unsupported: Option<&'static str>,
}

/// An open group.
struct Group {
    /// Whether it may be repeated; assertions may not.
    repeatable: bool,
    /// Whether `.` matches line ends in it.
    dot_all: bool,
}

impl Reader<'_> {
    fn pattern(&mut self) -> Result<(), String> {
        let mut open: Vec<Group> = Vec::new();
        let mut repeatable = false;
        while let Some(c) = self.chars.next() {
            repeatable = match c {
                '|' | '^' | '$' => {
                    self.out.push(c);
                    false
                }
                '(' => {
                    let dot_all = open.last().is_some_and(|group| group.dot_all);
                    open.push(self.group(dot_all)?);
                    false
                }
                ')' => {
                    self.out.push(')');
                    open.pop().ok_or("a `)` without its `(`")?.repeatable
                }
                '[' => self.class()?,
                ']' | '}' if self.grammar == Grammar::Lenient => self.literal(c),
                ']' | '{' | '}' => return Err(format!("a `{c}` that is not escaped")),
                '*' | '+' | '?' if !repeatable => {
                    return Err(format!("nothing to repeat before `{c}`"));
                }
                '*' | '+' | '?' => {
                    self.out.push(c);
                    self.lazy()
                }
                '\\' => self.escape()?,
                '.' => self.dot(open.last().is_some_and(|group| group.dot_all)),
                _ => self.literal(c),
            };
            if repeatable && self.eat('{') {
                self.bounds()?;
                repeatable = self.lazy();
            }
        }
        if open.is_empty() { Ok(()) } else { Err("a `(` without its `)`".to_owned()) }
    }

    /// A character that matches itself. It may be repeated.
    fn literal(&mut self, c: char) -> bool {
        match c.is_alphanumeric() {
            true => self.out.push(c),
            // A character with a meaning in Rust's syntax is escaped.
            false => self.out.extend(c.escape_unicode()),
        }
        true
    }

    fn dot(&mut self, dot_all: bool) -> bool {
        self.put(if dot_all { &["(?s:.)"] } else { &["[^", LINE_ENDS, "]"] });
        true
    }

    fn put(&mut self, parts: &[&str]) {
        self.out.extend(parts.iter().copied());
    }

    fn refuse(&mut self, what: &'static str) {
        self.unsupported.get_or_insert(what);
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.chars.next_if_eq(&wanted).is_some()
    }

    /// Skips the `?` of a lazy quantifier. A repeated item cannot be repeated again.
    fn lazy(&mut self) -> bool {
        if self.eat('?') {
            self.out.push('?');
        }
        false
    }

    /// What follows `(`. Groups do not capture, because nothing asks what they captured.
    fn group(&mut self, dot_all: bool) -> Result<Group, String> {
        if !self.eat('?') {
            self.out.push_str("(?:");
            return Ok(Group { repeatable: true, dot_all });
        }
        let mut repeatable = true;
        match self.chars.next() {
            Some(':') => {}
            Some('=' | '!') => repeatable = false,
            Some('<') if self.eat('=') || self.eat('!') => repeatable = false,
            Some('<') => {
                let name = self.name()?;
                self.names.push((name, true));
            }
            Some(first @ ('i' | 'm' | 's' | '-')) => return self.modifiers(first, dot_all),
            _ => return Err("an unknown kind of group".to_owned()),
        }
        if !repeatable {
            self.refuse("look-around");
        }
        self.out.push_str("(?:");
        Ok(Group { repeatable, dot_all })
    }

    /// `(?i-ms:`
    fn modifiers(&mut self, first: char, dot_all: bool) -> Result<Group, String> {
        let mut flags = String::from(first);
        while let Some(flag) = self.chars.next_if(|c| matches!(c, 'i' | 'm' | 's' | '-')) {
            flags.push(flag);
        }
        let twice = flags.chars().enumerate().any(|(at, flag)| flags[at + 1..].contains(flag));
        if twice || flags == "-" || !self.eat(':') {
            return Err("flags that are not those of a group".to_owned());
        }
        if flags.contains('m') {
            self.refuse("the flag `m`");
        }
        let (on, off) = flags.split_once('-').unwrap_or((&flags, ""));
        self.out.push_str(match (on.contains('i'), off.contains('i')) {
            (true, _) => "(?i:",
            (_, true) => "(?-i:",
            _ => "(?:",
        });
        let dot_all = on.contains('s') || dot_all && !off.contains('s');
        Ok(Group { repeatable: true, dot_all })
    }

    /// A group's name, up to its `>`.
    fn name(&mut self) -> Result<String, String> {
        let mut name = String::new();
        loop {
            let c = match self.chars.next() {
                Some('>') if !name.is_empty() => return Ok(name),
                Some('\\') if self.eat('u') => self.unicode()?,
                Some(c) => c,
                None => return Err("a group's name without its `>`".to_owned()),
            };
            let starts = c.is_alphabetic() || matches!(c, '$' | '_');
            if !starts && (name.is_empty() || !c.is_alphanumeric()) {
                return Err(format!("`{c}` in a group's name"));
            }
            name.push(c);
        }
    }

    /// `{2}`, `{2,}` or `{2,5}`, after its brace.
    fn bounds(&mut self) -> Result<(), String> {
        let least = self.digits();
        let most = if self.eat(',') { self.digits() } else { least.clone() };
        if least.is_empty() || !self.eat('}') {
            return Err("a `{` that does not begin a quantifier".to_owned());
        }
        // Without leading zeros, the longer number is the larger one.
        let size = |digits: &str| {
            let digits = digits.trim_start_matches('0').to_owned();
            (digits.len(), digits)
        };
        if !most.is_empty() && size(&least) > size(&most) {
            return Err("a quantifier whose bounds are out of order".to_owned());
        }
        self.put(&["{", &least, ",", &most, "}"]);
        Ok(())
    }

    fn digits(&mut self) -> String {
        let mut digits = String::new();
        while let Some(digit) = self.chars.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits
    }

    /// What follows `\` outside a class; returns whether it may be repeated.
    fn escape(&mut self) -> Result<bool, String> {
        match self.chars.peek() {
            Some(&boundary @ ('b' | 'B')) => {
                self.chars.next();
                self.out.push_str(if boundary == 'b' { r"(?-u:\b)" } else { r"(?-u:\B)" });
                Ok(false)
            }
            Some('k') => {
                self.chars.next();
                self.refuse("back references");
                if !self.eat('<') {
                    return Err("`\\k` without the name of a group".to_owned());
                }
                let name = self.name()?;
                self.names.push((name, false));
                Ok(true)
            }
            Some('1'..='9') => {
                self.refuse("back references");
                let number = self.digits();
                match number.parse::<usize>().is_ok_and(|number| number <= self.groups) {
                    true => Ok(true),
                    false => Err(format!("no group has the number {number}")),
                }
            }
            _ => {
                if let Some(c) = self.character()? {
                    self.literal(c);
                }
                Ok(true)
            }
        }
    }

    /// An escape for one character or for one of several. For several, the result is `None`, and the translation is
    /// already written.
    fn character(&mut self) -> Result<Option<char>, String> {
        let c = self.chars.next().ok_or("a `\\` with nothing after it")?;
        Ok(Some(match c {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                let members = match c.to_ascii_lowercase() {
                    'd' => "0-9",
                    's' => SPACE,
                    _ => "0-9A-Za-z_",
                };
                self.put(&[if c.is_ascii_uppercase() { "[^" } else { "[" }, members, "]"]);
                return Ok(None);
            }
            'p' | 'P' => {
                let name = self.property()?;
                self.put(&[if c == 'p' { r"\p{" } else { r"\P{" }, &name, "}"]);
                return Ok(None);
            }
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '0' if !self.chars.peek().is_some_and(char::is_ascii_digit) => '\0',
            'c' => match self.chars.next() {
                Some(letter) if letter.is_ascii_alphabetic() => char::from(letter as u8 % 32),
                _ => return Err("`\\c` without a letter".to_owned()),
            },
            'x' => char::from_u32(self.hexadecimal(2)?).unwrap_or(char::REPLACEMENT_CHARACTER),
            'u' => self.unicode()?,
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|'
            | '/' => c,
            _ if self.grammar == Grammar::Lenient && !c.is_alphanumeric() => c,
            _ => return Err(format!("the escape `\\{c}`, which has no meaning")),
        }))
    }

    /// `\p{Letter}`, after the `p`.
    fn property(&mut self) -> Result<String, String> {
        let mut name = String::new();
        if self.eat('{') {
            let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '=');
            while let Some(c) = self.chars.next_if(is_part) {
                name.push(c);
            }
        }
        let parts: Vec<_> = name.split('=').collect();
        match parts.len() <= 2 && !parts.contains(&"") && self.eat('}') {
            true => Ok(name),
            false => Err("`\\p` without a property".to_owned()),
        }
    }

    /// `\u0041`, a surrogate pair, or `\u{1F600}`, after the `u`. Half a surrogate pair counts as U+FFFD.
    fn unicode(&mut self) -> Result<char, String> {
        if !self.eat('{') {
            return self.code_unit();
        }
        let mut digits = String::new();
        while let Some(digit) = self.chars.next_if(char::is_ascii_hexdigit) {
            digits.push(digit);
        }
        let digits = digits.trim_start_matches('0');
        let code = if digits.is_empty() { Ok(0) } else { u32::from_str_radix(digits, 16) };
        match code {
            Ok(code) if code <= 0x10_ffff && self.eat('}') => {
                Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            _ => Err("`\\u{` without the number of a character".to_owned()),
        }
    }

    /// `0041` or `d83d\ude00`.
    fn code_unit(&mut self) -> Result<char, String> {
        let first = self.hexadecimal(4)?;
        let mut ahead = self.chars.clone();
        if (0xd800..0xdc00).contains(&first)
            && ahead.next() == Some('\\')
            && ahead.next() == Some('u')
        {
            let before = std::mem::replace(&mut self.chars, ahead);
            match self.hexadecimal(4) {
                Ok(second @ 0xdc00..0xe000) => {
                    let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                    return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                _ => self.chars = before,
            }
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hexadecimal(&mut self, digits: usize) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..digits {
            let digit = self.chars.next().and_then(|digit| digit.to_digit(16));
            code = code * 16 + digit.ok_or("too few hexadecimal digits in an escape")?;
        }
        Ok(code)
    }

    /// What follows `[`, up to its `]`. A class may be repeated.
    fn class(&mut self) -> Result<bool, String> {
        let negated = self.eat('^');
        if self.eat(']') {
            self.out.push_str(if negated { r"(?s:.)" } else { r"[^\u{0}-\u{10ffff}]" });
            return Ok(true);
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        loop {
            let c = self.chars.next().ok_or("a `[` without its `]`")?;
            if c == ']' {
                self.out.push(']');
                return Ok(true);
            }
            let one = self.member(c)?;
            let is_range = self.chars.peek() == Some(&'-')
                && !matches!(self.chars.clone().nth(1), Some(']') | None);
            if is_range {
                self.chars.next();
                self.range(one)?;
            }
        }
    }

    /// The end of a range, after its `-`. The start is already written.
    fn range(&mut self, first: Option<char>) -> Result<(), String> {
        let c = self.chars.next().ok_or("a `[` without its `]`")?;
        let before = self.out.len();
        self.out.push('-');
        match (first, self.member(c)?) {
            (Some(first), Some(last)) if first <= last => Ok(()),
            (Some(_), Some(_)) => Err("a range that is out of order".to_owned()),
            _ if self.grammar == Grammar::Lenient => {
                // If one side is not a single character, the `-` is a literal.
                self.out.insert(before, '\\');
                Ok(())
            }
            _ => Err("a range of something other than characters".to_owned()),
        }
    }

    /// One character of a class; `None` if it stands for several.
    fn member(&mut self, c: char) -> Result<Option<char>, String> {
        let one = match (c, self.chars.peek()) {
            ('\\', Some('b')) => {
                self.chars.next();
                Some('\u{8}')
            }
            ('\\', Some('-')) => {
                self.chars.next();
                Some('-')
            }
            ('\\', _) => self.character()?,
            _ => Some(c),
        };
        if let Some(c) = one {
            self.literal(c);
        }
        Ok(one)
    }
}

#[cfg(test)]
mod tests;
