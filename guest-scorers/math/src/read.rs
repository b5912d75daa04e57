//! Reads an answer as an expression, or else as a text. Comparing is left to others.

use crate::answer::{ANSWER_LIMIT, bare, has_word, is_composite};
use crate::expression::Expression;
use crate::parse::parse;

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Expression(Expression),
    /// Words, without what does not matter in them.
    Text(String),
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unreadable {
    /// It is neither mathematics nor words.
    Nothing,
    /// It is a program, or too long. Nothing else of the output is taken for an answer then.
    Refused,
}

/// The first of some candidates that can be read.
pub(crate) fn first<'t>(candidates: &[&'t str]) -> Result<(&'t str, Answer), Unreadable> {
    for candidate in candidates {
        match read(candidate) {
            Ok(answer) => return Ok((candidate, answer)),
            Err(Unreadable::Nothing) => {}
            Err(Unreadable::Refused) => return Err(Unreadable::Refused),
        }
    }
    Err(Unreadable::Nothing)
}

/// Reads one candidate.
pub(crate) fn read(candidate: &str) -> Result<Answer, Unreadable> {
    let candidate = unwrapped(bare(candidate));
    if candidate.len() > ANSWER_LIMIT || is_program(candidate) {
        return Err(Unreadable::Refused);
    }
    let plain = plain(candidate);
    if !is_prose(candidate) && !is_composite(candidate) {
        let number = without_unit(&plain).and_then(parse).filter(is_number);
        let value = || plain.rsplit_once('=').and_then(|(_, value)| parse(value));
        if let Some(expression) = number.or_else(|| formula(&plain)).or_else(value) {
            return Ok(Answer::Expression(expression));
        }
    }
    let text = words(candidate);
    if has_word(&text) { Ok(Answer::Text(text)) } else { Err(Unreadable::Nothing) }
}

/// An expression that is not a word: `yes` is not the product of three variables.
fn formula(text: &str) -> Option<Expression> {
    let is_word = text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    parse(text).filter(|found| !is_word || matches!(found, Expression::Name(_)))
}

/// What stands in `\text{…}` or the like, if that is all.
fn unwrapped(text: &str) -> &str {
    let commands = ["\\textbf{", "\\text{", "\\mathrm{", "\\mathbf{", "\\mbox{"];
    let inside = commands.iter().find_map(|command| text.strip_prefix(command)?.strip_suffix('}'));
    inside.filter(|inside| !inside.contains(['{', '}'])).map_or(text, bare)
}

/// Whether a text is a sentence: words, and none of the signs that formulas have.
fn is_prose(text: &str) -> bool {
    let is_word =
        |word: &&str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(is_word);
    !text.contains(|c| "\\=+-*/^<>[]{}()".contains(c)) && words.count() > 1
}

/// Whether a text calls a function of a program, or names something inside one.
fn is_program(text: &str) -> bool {
    const CALLED: &str = "breakpoint compile eval exec getattr globals import locals open setattr";
    const NAMED: &str = "builtins os pathlib subprocess sys";
    let is_in = |list: &str, word: &str| list.split(' ').any(|one| one == word);
    let mut words =
        text.char_indices().filter(|(_, c)| matches!(c, '(' | '.')).map(|(place, c)| {
            let before = text[..place].trim_end();
            let start = before
                .rfind(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
            (&before[start..], c)
        });
    text.contains("__") || words.any(|(word, c)| is_in(if c == '(' { CALLED } else { NAMED }, word))
}

/// The same in the signs that are read: no degrees, no groups of digits, `%` for per cent.
fn plain(text: &str) -> String {
    const SAME: &[(&str, &str)] = &[
        ("^\\circ", ""),
        ("^{\\circ}", ""),
        ("^\\degree", ""),
        ("{,}", ","),
        (",\\!", ","),
        ("\\!", ""),
        ("\\,", "\u{2009}"),
        ("²", "^2"),
        ("³", "^3"),
        ("½", " 1/2"),
        ("¼", " 1/4"),
        ("¾", " 3/4"),
    ];
    let mut plain = text.to_owned();
    for (from, to) in SAME {
        if plain.contains(from) {
            plain = plain.replace(from, to);
        }
    }
    for per_cent in ["\\text{ percent}", "\\text{percent}", " percentage", " percent", " pct"] {
        if let Some(number) = plain.strip_suffix(per_cent) {
            plain = format!("{number}%");
        }
    }
    grouped(&plain).unwrap_or(plain)
}

/// A number with its digits in groups of three, without what parts them: `-1,234.5`, `12 345`.
fn grouped(text: &str) -> Option<String> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let around = |text: &str| text.chars().all(|c| c.is_whitespace() || "+-−$€£\\%".contains(c));
    let (before, number, after) = (&text[..start], &text[start..end], &text[end..]);
    (around(before) && around(after)).then_some(())?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mark = whole.chars().find(|c| !c.is_ascii_digit())?;
    (mark == ',' || mark.is_whitespace()).then_some(())?;
    let mut groups = whole.split(mark);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().filter(|first| digits(first) && (1..=3).contains(&first.len()));
    let fits = groups.all(|group| group.len() == 3 && digits(group)) && digits(fraction);
    first.filter(|_| fits)?;
    Some(format!("{before}{}{after}", number.replace(mark, "")))
}

/// A number without what it counts or measures: `10\text{ cm}`, `5 apples`, `3 km/h`.
fn without_unit(text: &str) -> Option<&str> {
    const SHORT: &str = "cm mm km kg mg ft in mi lb lbs oz mph kph sec min hr hrs ml deg rad usd eur m/s km/h cm^2 \
        m^2 km^2 ft^2 in^2 cm^3 m^3";
    let commands = ["\\text{", "\\mathrm{", "\\mbox{", "\\textrm{"];
    let command = commands.iter().filter_map(|command| text.rfind(command)).max();
    if let Some(start) = command
        && text[start..].find('}').is_some_and(|end| {
            let after =
                text[start + end + 1..].trim_start_matches(|c: char| "^{}0123456789".contains(c));
            after.is_empty()
        })
    {
        return Some(text[..start].trim_end_matches(['\\', '~', ' ']));
    }
    let (number, unit) = text.trim_end().rsplit_once([' ', '~', '\u{2009}'])?;
    let is_word = unit.len() > 3 && unit.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_word || SHORT.split(' ').any(|short| short == unit)).then(|| number.trim_end_matches('\\'))
}

/// Whether an expression has no variable in it.
fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Number { .. } => true,
        Expression::Name(name) => matches!(name.as_str(), "pi" | "e" | "i"),
        Expression::Sum(parts) | Expression::Product(parts) => {
            parts.iter().all(|(_, part)| is_number(part))
        }
        Expression::Power(base, exponent) => is_number(base) && is_number(exponent),
        Expression::Call(_, arguments) => arguments.iter().all(is_number),
        Expression::Relations(sides, _) => sides.last().is_some_and(is_number),
        _ => false,
    }
}

/// A text in lower case with single spaces, without the commands around words.
fn words(text: &str) -> String {
    let mut plain = bare(text).replace("\\ ", " ");
    for command in ["\\text{", "\\mathrm{", "\\mbox{"] {
        while let Some(start) = plain.find(command)
            && let Some(length) = plain[start..].find('}')
        {
            let content = plain[start + command.len()..start + length].to_owned();
            plain.replace_range(start..=start + length, &content);
        }
    }
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    plain.trim_matches([' ', '.', ',', ';', ':']).to_lowercase()
}
