//! Whether a text is a regular expression of ECMA 262, by its grammar with the flag `u`. It compiles and
//! matches nothing. Names of Unicode properties are not looked up.

use std::iter::Peekable;
use std::str::Chars;

/// Checks a pattern; the error says what is wrong with it.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    let groups = count_groups(pattern);
    let mut reader = Reader { chars: pattern.chars().peekable(), names: Vec::new(), groups };
    reader.pattern()?;
    let names = std::mem::take(&mut reader.names);
    let (defined, used): (Vec<_>, Vec<_>) = names.into_iter().partition(|(_, defines)| *defines);
    let unknown = used.iter().find(|(name, _)| !defined.iter().any(|(known, _)| known == name));
    match unknown {
        Some((name, _)) => Err(format!("no group has the name {name}")),
        None => Ok(()),
    }
}

/// The number of capturing groups, so that a reference to one can be checked before it is read.
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
    /// Names of groups, and whether the group stands there (or is referred to).
    names: Vec<(String, bool)>,
    groups: usize,
}

impl Reader<'_> {
    fn pattern(&mut self) -> Result<(), String> {
        // Whether what each open group is may be repeated; assertions may not.
        let mut open: Vec<bool> = Vec::new();
        let mut repeatable = false;
        while let Some(c) = self.chars.next() {
            repeatable = match c {
                '|' | '^' | '$' => false,
                '(' => {
                    open.push(self.group()?);
                    false
                }
                ')' => open.pop().ok_or("a `)` without its `(`")?,
                '[' => self.class()?,
                ']' | '{' | '}' => return Err(format!("a `{c}` that is not escaped")),
                '*' | '+' | '?' if !repeatable => {
                    return Err(format!("nothing to repeat before `{c}`"));
                }
                '*' | '+' | '?' => self.lazy(),
                '\\' => self.escape()?,
                _ => true,
            };
            if repeatable && self.eat('{') {
                self.bounds()?;
                repeatable = self.lazy();
            }
        }
        if open.is_empty() { Ok(()) } else { Err("a `(` without its `)`".to_owned()) }
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.chars.next_if_eq(&wanted).is_some()
    }

    /// Passes over the `?` of a lazy quantifier. What is repeated cannot be repeated again.
    fn lazy(&mut self) -> bool {
        self.eat('?');
        false
    }

    /// What follows `(`; whether the group may be repeated.
    fn group(&mut self) -> Result<bool, String> {
        if !self.eat('?') {
            return Ok(true);
        }
        match self.chars.next() {
            Some(':') => Ok(true),
            Some('=' | '!') => Ok(false),
            Some('<') if self.eat('=') || self.eat('!') => Ok(false),
            Some('<') => {
                let name = self.name()?;
                self.names.push((name, true));
                Ok(true)
            }
            Some(first @ ('i' | 'm' | 's' | '-')) => self.modifiers(first),
            _ => Err("an unknown kind of group".to_owned()),
        }
    }

    /// `(?i-ms:`
    fn modifiers(&mut self, first: char) -> Result<bool, String> {
        let mut flags = String::from(first);
        while let Some(flag) = self.chars.next_if(|c| matches!(c, 'i' | 'm' | 's' | '-')) {
            flags.push(flag);
        }
        let twice = flags.chars().enumerate().any(|(at, flag)| flags[at + 1..].contains(flag));
        if twice || flags == "-" || !self.eat(':') {
            return Err("flags that are not those of a group".to_owned());
        }
        Ok(true)
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
        // Of texts without leading zeros the longer number is the larger one.
        let size = |digits: &str| {
            let digits = digits.trim_start_matches('0').to_owned();
            (digits.len(), digits)
        };
        match most.is_empty() || size(&least) <= size(&most) {
            true => Ok(()),
            false => Err("a quantifier whose bounds are out of order".to_owned()),
        }
    }

    fn digits(&mut self) -> String {
        let mut digits = String::new();
        while let Some(digit) = self.chars.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits
    }

    /// What follows `\` outside of a class; whether it may be repeated.
    fn escape(&mut self) -> Result<bool, String> {
        match self.chars.peek() {
            Some('b' | 'B') => {
                self.chars.next();
                Ok(false)
            }
            Some('k') => {
                self.chars.next();
                if !self.eat('<') {
                    return Err("`\\k` without the name of a group".to_owned());
                }
                let name = self.name()?;
                self.names.push((name, false));
                Ok(true)
            }
            Some('1'..='9') => {
                let number = self.digits();
                match number.parse::<usize>().is_ok_and(|number| number <= self.groups) {
                    true => Ok(true),
                    false => Err(format!("no group has the number {number}")),
                }
            }
            _ => self.character().map(|_| true),
        }
    }

    /// An escape for a character, or for one of several (then there is no character).
    fn character(&mut self) -> Result<Option<char>, String> {
        let c = self.chars.next().ok_or("a `\\` with nothing after it")?;
        Ok(Some(match c {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => return Ok(None),
            'p' | 'P' => {
                self.property()?;
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
            'x' => self.hexadecimal(2)?,
            'u' => self.unicode()?,
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|'
            | '/' => c,
            _ => return Err(format!("the escape `\\{c}`, which has no meaning")),
        }))
    }

    /// `\p{Letter}`, after the `p`.
    fn property(&mut self) -> Result<(), String> {
        let mut name = String::new();
        if self.eat('{') {
            let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '=');
            while let Some(c) = self.chars.next_if(is_part) {
                name.push(c);
            }
        }
        let parts: Vec<_> = name.split('=').collect();
        match parts.len() <= 2 && !parts.contains(&"") && self.eat('}') {
            true => Ok(()),
            false => Err("`\\p` without a property".to_owned()),
        }
    }

    /// `\u0041`, a pair of surrogates, or `\u{1F600}`, after the `u`. Half of a pair counts as U+FFFD.
    fn unicode(&mut self) -> Result<char, String> {
        if !self.eat('{') {
            return self.hexadecimal(4);
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

    fn hexadecimal(&mut self, digits: usize) -> Result<char, String> {
        let mut code = 0;
        for _ in 0..digits {
            let digit = self.chars.next().and_then(|digit| digit.to_digit(16));
            code = code * 16 + digit.ok_or("too few hexadecimal digits in an escape")?;
        }
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// What follows `[`, up to its `]`. A class may be repeated.
    fn class(&mut self) -> Result<bool, String> {
        self.eat('^');
        loop {
            let c = self.chars.next().ok_or("a `[` without its `]`")?;
            if c == ']' {
                return Ok(true);
            }
            let one = self.member(c)?;
            let is_range = self.chars.peek() == Some(&'-')
                && !matches!(self.chars.clone().nth(1), Some(']') | None);
            if !is_range {
                continue;
            }
            self.chars.next();
            let c = self.chars.next().ok_or("a `[` without its `]`")?;
            match (one, self.member(c)?) {
                (Some(first), Some(last)) if first <= last => {}
                (Some(_), Some(_)) => return Err("a range that is out of order".to_owned()),
                _ => return Err("a range of something other than characters".to_owned()),
            }
        }
    }

    /// One character of a class; none where it stands for several.
    fn member(&mut self, c: char) -> Result<Option<char>, String> {
        match (c, self.chars.peek()) {
            ('\\', Some('b')) => {
                self.chars.next();
                Ok(Some('\u{8}'))
            }
            ('\\', Some('-')) => {
                self.chars.next();
                Ok(Some('-'))
            }
            ('\\', _) => self.character(),
            _ => Ok(Some(c)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn patterns_of_ecma_262_are_valid() {
        let valid = [
            "",
            "a|b",
            "(?:a)*?",
            "(?<n>a)\\k<n>",
            "\\k<n>(?<n>a)",
            "(?<=a+)b",
            "[]",
            "[^]",
            "\\cA",
            "a{2,}b{3}c{2,10}?",
            "[a-z\\d-]",
            "[\\b\\-]",
            "(a)\\1",
            "\\u{1F600}",
            "\\p{Script=Greek}",
            "(?i-m:a)",
            "(?=a)",
            "\\/",
            "[\\w-]",
            "\\ud83d\\ude00",
            "(?<ä$>x)",
        ];
        for pattern in valid {
            assert_eq!(check(pattern), Ok(()), "{pattern}");
        }
    }

    #[test]
    fn other_dialects_and_slips_are_not() {
        let invalid = [
            "\\a",
            "(?P<name>x)",
            "(?P=n)",
            "(?#c)a",
            "(?i)abc",
            "(?ims)a",
            "^(abc]",
            "a)",
            "*a",
            "a**",
            "(?=a)*",
            "\\Z",
            "[b-a]",
            "[\\d-z]",
            "a{2,1}",
            "{",
            "a{",
            "]",
            "\\1",
            "\\k<n>",
            "\\u{110000}",
            "[",
            "\\",
            "(?<n",
            "(?<1>a)",
            "\\p",
            "\\p{}",
            "(?-:a)",
            "(?ii:a)",
            "\\01",
            "\\x4",
        ];
        for pattern in invalid {
            assert!(check(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_deep_pattern_needs_no_stack() {
        let deep = "(".repeat(100_000) + &")".repeat(100_000);
        assert_eq!(check(&deep), Ok(()));
    }
}
