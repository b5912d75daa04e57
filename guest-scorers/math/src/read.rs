//! Reads an answer as an expression, or else as a text. Comparing is left to `equal`.

use std::borrow::Cow;

use crate::answer::{ANSWER_LIMIT, bare, has_word, is_composite, is_minus, magnitude};
use crate::expression::Expression;
use crate::parse::parse;
use crate::tokens::{is_currency, is_style};

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Expression(Expression),
    /// Words, normalized.
    Text(String),
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unreadable {
    /// It is neither mathematics nor words.
    Nothing,
    /// It is a program, or too long. Then nothing else in the output is taken for an answer.
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
    let candidate = without_colors(bare(candidate));
    let candidate = unwrapped(bare(&candidate));
    if candidate.len() > ANSWER_LIMIT || is_program(candidate) {
        return Err(Unreadable::Refused);
    }
    let plain = plain(candidate);
    if !is_prose(candidate) && !is_composite(candidate) {
        let number = without_unit(&plain).map(simplified);
        let number = number.and_then(|number| parse(&number)).filter(is_number);
        let value = || plain.rsplit_once('=').and_then(|(_, value)| parse(value));
        if let Some(expression) = number.or_else(|| formula(&plain)).or_else(value) {
            return Ok(Answer::Expression(expression));
        }
    }
    let text = words(candidate);
    if has_word(&text) { Ok(Answer::Text(text)) } else { Err(Unreadable::Nothing) }
}

/// A text that cannot be read as mathematics, unchanged except for white space: `C(5,2)`, `\text{A},\text{B}`.
pub(crate) fn as_written(candidate: &str) -> Answer {
    Answer::Text(words(candidate).split_whitespace().collect())
}

/// An expression that is not a word: `yes` is not the product of three variables.
fn formula(text: &str) -> Option<Expression> {
    let is_word = text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    parse(text).filter(|found| !is_word || matches!(found, Expression::Name(_)))
}

/// The content of `\text{…}` or a similar command, if the text consists only of that.
fn unwrapped(text: &str) -> &str {
    let commands = ["\\textbf{", "\\text{", "\\mathrm{", "\\mathbf{", "\\mbox{"];
    let inside = commands.iter().find_map(|command| text.strip_prefix(command)?.strip_suffix('}'));
    inside.filter(|inside| !inside.contains(['{', '}'])).map_or(text, bare)
}

/// Without the names of colors: `\color{red}12`, `\textcolor{red}{12}`.
fn without_colors(text: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(text);
    if !text.contains("color{") {
        return plain;
    }
    while let Some(start) = ["\\color{", "\\textcolor{"].iter().find_map(|it| plain.find(it))
        && let Some(length) = plain[start..].find('}')
    {
        plain.to_mut().replace_range(start..=start + length, "");
    }
    // Braces around the whole text are not needed, and would make `12,345` a set.
    let inside = plain.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    match inside.filter(|inside| plain.len() < text.len() && !inside.contains(['{', '}'])) {
        Some(inside) => Cow::Owned(inside.to_owned()),
        None => plain,
    }
}

/// Whether a text is a sentence: words, and none of the signs that formulas have.
fn is_prose(text: &str) -> bool {
    let is_word =
        |word: &&str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(is_word);
    !text.contains(|c| "\\=+-*/^<>[]{}()".contains(c)) && words.count() > 1
}

/// Whether a text calls a function of a program, or names something inside a module.
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

/// The text with common notation replaced: no degree signs, no groups of digits, `%` for per cent.
fn plain(text: &str) -> String {
    const SAME: &[(&str, &str)] = &[
        ("^\\circ", ""),
        ("^{\\circ}", ""),
        ("^\\degree", ""),
        ("{,}", ","),
        (",\\!", ","),
        ("\\!", ""),
        ("\\,", "\u{2009}"),
        ("\\text{\\$}", "\\$"),
        ("²", "^2"),
        ("³", "^3"),
        ("\\approx", "="),
        ("≈", "="),
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
    for dots in ["\\ldots", "\\dots", "…"] {
        // `0.333…` means 0.333.
        let number = plain.strip_suffix(dots).map(str::trim_end);
        if let Some(number) = number.filter(|text| text.ends_with(|c: char| c.is_ascii_digit())) {
            plain = number.to_owned();
        }
    }
    for minus in ["minus ", "negative "] {
        let start = plain.get(..minus.len());
        if start.is_some_and(|start| start.eq_ignore_ascii_case(minus)) {
            plain.replace_range(..minus.len(), "-");
        }
    }
    // At the beginning it means "about"; between two things it is a relation.
    if let Some(number) = plain.strip_prefix("\\sim").filter(|it| !it.starts_with(is_letter)) {
        plain = number.trim_start().to_owned();
    }
    simplified(&plain)
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic()
}

/// The text with numbers in a program's notation: without groups of digits or words for powers of ten.
fn simplified(text: &str) -> String {
    let sides = |text: &str| {
        let sides = text.split('=').map(|side| grouped(side).unwrap_or(side.to_owned()));
        sides.collect::<Vec<_>>().join("=")
    };
    match scaled(text) {
        Some((number, factor)) => format!("{}*{factor}", sides(number)),
        None => sides(text),
    }
}

/// A number, and the factor that the word after it stands for: `5 million`, `5\text{ million dollars}`.
fn scaled(text: &str) -> Option<(&str, &'static str)> {
    let (number, word) = match text.strip_suffix('}') {
        Some(text) => text.rsplit_once("\\text{")?,
        None => text.rsplit_once([' ', '~', '\u{2009}'])?,
    };
    let factor = magnitude(word.split_whitespace().next()?)?;
    let number = number.trim_end_matches(['\\', '~', ' ', '\u{2009}']);
    number.ends_with(|c: char| c.is_ascii_digit()).then_some((number, factor))
}

/// A number without the separators between its groups of three digits: `-1,234.5`, `12 345`.
fn grouped(text: &str) -> Option<String> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (before, number, after) = (&text[..start], &text[start..end], &text[end..]);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mark = whole.chars().find(|c| !c.is_ascii_digit())?;
    (mark == ',' || mark.is_whitespace()).then_some(())?;
    (is_beside_number(before) && is_beside_number(after)).then_some(())?;
    let mut groups = whole.split(mark);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().filter(|first| digits(first) && (1..=3).contains(&first.len()));
    let fits = groups.all(|group| group.len() == 3 && digits(group)) && digits(fraction);
    first.filter(|_| fits)?;
    Some(format!("{before}{}{after}", number.replace(mark, "")))
}

/// Whether a text consists only of signs, spaces, currency signs and style commands.
fn is_beside_number(text: &str) -> bool {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if c == '\\' { command_length(rest) } else { c.len_utf8() };
        let belongs = match rest[..length].strip_prefix('\\') {
            Some(command) => {
                is_style(command) || is_currency(command) || matches!(command, "$" | "%" | " " | "")
            }
            None => c.is_whitespace() || "+$€£%~".contains(c) || is_minus(c),
        };
        if !belongs {
            return false;
        }
        rest = &rest[length..];
    }
    true
}

/// A number without its unit or noun: `10\text{ cm}`, `5 apples`, `3 km/h`.
fn without_unit(text: &str) -> Option<&str> {
    const SHORT: &str = "cm mm km kg mg ft in mi lb lbs oz mph kph sec min hr hrs ml deg rad usd eur m/s km/h cm^2 \
        m^2 km^2 ft^2 in^2 cm^3 m^3";
    if let Some(number) = without_ordinal(text) {
        return Some(number);
    }
    let commands = ["\\text{", "\\mathrm{", "\\mbox{", "\\textrm{"];
    let command = commands.iter().filter_map(|command| text.rfind(command)).max();
    if let Some(start) = command
        && let Some(end) = text[start..].find('}')
        && is_exponent(&text[start + end + 1..])
        && !text[start..start + end].split([' ', '{']).any(joins)
    {
        return Some(text[..start].trim_end_matches(['\\', '~', ' ']));
    }
    let (number, unit) = text.trim_end().rsplit_once([' ', '~', '\u{2009}'])?;
    let is_word = unit.len() > 3 && unit.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_word || SHORT.split(' ').any(|short| short == unit)).then(|| number.trim_end_matches('\\'))
}

/// A number without the raised ending of an ordinal: `90^\text{th}`, `90^{\text{th}}`. `2^{nd}` has no such ending.
fn without_ordinal(text: &str) -> Option<&str> {
    let (number, end) = text.trim_end().rsplit_once('^')?;
    let (_, word) = end.trim_end_matches('}').rsplit_once('{')?;
    let is_text = end.trim_start_matches('{').starts_with('\\');
    (is_text && matches!(word.trim(), "st" | "nd" | "rd" | "th")).then_some(number)
}

/// Whether a word in braces says that more than a unit follows the number.
fn joins(word: &str) -> bool {
    matches!(word, "or" | "and" | "to") || magnitude(word).is_some()
}

/// Whether a text is empty or the exponent of a unit: `^2`, `^{-1}`.
fn is_exponent(text: &str) -> bool {
    let text = text.trim();
    let Some(exponent) = text.strip_prefix('^') else { return text.is_empty() };
    let inside = exponent.strip_prefix('{').and_then(|exponent| exponent.strip_suffix('}'));
    let digits = inside.map_or(exponent, |inside| inside.strip_prefix('-').unwrap_or(inside));
    let count = if inside.is_some() { 1..=2 } else { 1..=1 };
    count.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether an expression contains no variable.
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

/// Whether a text that was compared as words is a formula that is not understood: `x\equiv3\pmod5`. A text that
/// contains a box surrounds the answer and is not a formula.
pub(crate) fn is_formula(text: &str) -> bool {
    let mut pieces = text.split('\\');
    let before = pieces.next().unwrap_or("");
    let after = |piece: &str| has_word(piece.trim_start_matches(|c: char| c.is_ascii_alphabetic()));
    text.contains('\\') && !text.contains("box") && !has_word(before) && !pieces.any(after)
}

/// A formula that is not understood, without what makes no difference in LaTeX: white space, braces around a single
/// sign, style commands.
fn spelled(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let length = if c == '\\' { command_length(rest) } else { c.len_utf8() };
        let piece = &rest[..length];
        match piece.strip_prefix('\\') {
            Some("dfrac" | "tfrac") => kept.push_str("\\frac"),
            Some("dots" | "cdots") => kept.push_str("\\ldots"),
            Some("," | ";" | ":" | "!" | " ") => {}
            Some(command) if is_style(command) => {}
            _ if c.is_whitespace() || c == '~' => {}
            _ => kept.push_str(piece),
        }
        rest = &rest[length..];
    }
    without_single_braces(&kept)
}

/// The length of the command at the beginning of a text: letters, or one other sign.
fn command_length(text: &str) -> usize {
    let letters = text[1..].bytes().take_while(u8::is_ascii_alphabetic).count();
    let sign = text[1..].chars().next().map_or(0, char::len_utf8);
    1 + letters.max(sign)
}

/// `\frac12` for `\frac{1}{2}`, `x^2` for `x^{2}`.
fn without_single_braces(text: &str) -> String {
    let signs: Vec<char> = text.chars().collect();
    let is_single = |open: usize| {
        let is_escaped = open > 0 && signs[open - 1] == '\\';
        let inside = signs.get(open + 1).is_some_and(|c| !"{}\\".contains(*c));
        signs.get(open) == Some(&'{') && !is_escaped && inside && signs.get(open + 2) == Some(&'}')
    };
    let is_kept = |place: usize| !is_single(place) && !place.checked_sub(2).is_some_and(is_single);
    signs.iter().enumerate().filter(|(place, _)| is_kept(*place)).map(|(_, c)| c).collect()
}

/// A text in lower case with single spaces, without commands around words.
fn words(text: &str) -> String {
    let mut plain = bare(text).replace("\\ ", " ");
    for command in ["\\text{", "\\textbf{", "\\textit{", "\\mathrm{", "\\mbox{"] {
        while let Some(start) = plain.find(command)
            && let Some(length) = plain[start..].find('}')
        {
            let content = plain[start + command.len()..start + length].to_owned();
            plain.replace_range(start..=start + length, &content);
        }
    }
    let plain = match plain.contains('\\') {
        true => spelled(&plain),
        false => plain.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    plain.trim_matches([' ', '.', ',', ';', ':']).to_lowercase()
}
