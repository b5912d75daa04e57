//! The range that an answer states for its number, as in `Score (1-10): 4`, or `(out of 10)` on a separate line.
//! Whether the answer has a number is decided elsewhere.

use super::{
    labels::range_in,
    lines::{label, own_lines},
};

/// The words that a line may contain, in addition to numbers, if it only states the range.
const WORDS: [&str; 59] = [
    "a",
    "an",
    "and",
    "are",
    "as",
    "at",
    "bad",
    "being",
    "best",
    "between",
    "excellent",
    "from",
    "give",
    "good",
    "grade",
    "high",
    "highest",
    "i",
    "in",
    "is",
    "it",
    "low",
    "lowest",
    "max",
    "maximum",
    "min",
    "minimum",
    "my",
    "note",
    "of",
    "on",
    "out",
    "perfect",
    "point",
    "points",
    "poor",
    "possible",
    "range",
    "ranges",
    "rate",
    "rated",
    "rating",
    "scale",
    "score",
    "scored",
    "scores",
    "stars",
    "that",
    "the",
    "this",
    "through",
    "to",
    "total",
    "up",
    "use",
    "used",
    "using",
    "was",
    "worst",
];
/// Words that make a single number the end of a range.
const ENDS: [&str; 4] = ["of", "max", "maximum", "to"];
/// Numbers written as words.
const NUMBERS: [(&str, f64); 11] = [
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("hundred", 100.0),
];
pub(super) const ANOTHER: &str = "the range that it states is not the scale";

/// A word, a number or a sign of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'t> {
    Word(&'t str),
    Number(f64),
    Sign(char),
}

/// Checks that no line of an answer with this number, outside its JSON, puts the number on another scale.
///
/// # Errors
/// If one does: then the number does not mean what was asked for.
pub(super) fn check(
    words: &str,
    quotations: &[String],
    number: f64,
    scale: (f64, f64),
) -> Result<(), String> {
    let contradicts = |line: &str| match in_label(line) {
        Some(stated) => differs(&stated, scale),
        None => {
            let sentence = [". ", "! ", "? "].iter().filter_map(|end| line.rfind(end)).max();
            let sentence = sentence.map_or("", |end| &line[end + 2..]);
            alone(line, number, scale) || alone(sentence, number, scale)
        }
    };
    match own_lines(words, quotations).any(contradicts) {
        true => Err(ANOTHER.to_owned()),
        false => Ok(()),
    }
}

/// Whether a line of an answer without a verdict is only a number on another scale, as `Score: 7/10` is if the scale is
/// 0 to 1.
pub(super) fn states_another(text: &str, quotations: &[String], scale: (f64, f64)) -> bool {
    own_lines(text, quotations).any(|line| {
        let tokens = tokens(line);
        let is_of_another = fraction(&tokens).is_some_and(|(_, whole)| whole != scale.1);
        is_of_another && tokens.iter().all(is_known)
    })
}

/// Checks a range that JSON states next to the number.
///
/// # Errors
/// If it is not the scale.
pub(super) fn check_value(range: &serde_json::Value, scale: (f64, f64)) -> Result<(), String> {
    let text = range.to_string();
    match differs(&numbers(&tokens(&text)), scale) {
        true => Err(ANOTHER.to_owned()),
        false => Ok(()),
    }
}

/// The range in the label of a line. After an unknown word, a single number is not a range, as in `Score (turn 2): 4`.
fn in_label(line: &str) -> Option<Vec<f64>> {
    let (label, rest) = label(line)?;
    let (_, range) = range_in(label)?;
    let tokens = tokens(range);
    let mut stated = numbers(&tokens);
    if stated.len() == 1 && !ends_a_range(&tokens) && !tokens.iter().all(is_known) {
        stated.clear();
    }
    // `Score (0-100%): 85%`
    if rest.contains('%') {
        stated.iter_mut().for_each(|number| *number /= 100.0);
    }
    Some(stated)
}

/// Whether a line only states the range, and that is not the scale.
fn alone(line: &str, number: f64, scale: (f64, f64)) -> bool {
    let tokens = tokens(line);
    if let Some((part, whole)) = fraction(&tokens) {
        return part == number && whole != scale.1;
    }
    let is_heading = matches!(
        tokens[..],
        [Token::Word(word), Token::Sign(':' | '='), ..]
            if ["scale", "range"].iter().any(|it| it.eq_ignore_ascii_case(word))
    );
    let stated = numbers(&tokens);
    let is_range = match stated.len() {
        0 => false,
        1 => ends_a_range(&tokens),
        _ => has_bounds(&tokens),
    };
    is_range && (is_heading || tokens.iter().all(is_known)) && differs(&stated, scale)
}

/// Whether a token may be on a line that only states the range.
fn is_known(token: &Token<'_>) -> bool {
    match token {
        Token::Word(word) => WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)),
        Token::Number(_) | Token::Sign(_) => true,
    }
}

/// The two numbers of `4/10` or `4 out of 10`, if a line has no others.
fn fraction(tokens: &[Token<'_>]) -> Option<(f64, f64)> {
    let [part, whole] = numbers(tokens)[..] else { return None };
    let is_number = |token: &Token<'_>| matches!(token, Token::Number(_));
    let first = tokens.iter().position(is_number)?;
    let last = tokens.iter().rposition(is_number)?;
    let between = &tokens[first + 1..last];
    let is_of = match between {
        [Token::Sign('/')] => true,
        [.., Token::Word(of)] => of.eq_ignore_ascii_case("of"),
        _ => false,
    };
    is_of.then_some((part, whole))
}

/// Whether the only number on a line is the end of a range: `out of 10`, `/ 10`, `max. 10`.
fn ends_a_range(tokens: &[Token<'_>]) -> bool {
    let before = tokens.iter().take_while(|token| !matches!(token, Token::Number(_)));
    let mut before = before.skip_while(|token| matches!(token, Token::Sign('(' | '[' | '*' | '_')));
    before.any(|token| match token {
        Token::Word(word) => ENDS.iter().any(|end| end.eq_ignore_ascii_case(word)),
        Token::Sign(sign) => *sign == '/',
        Token::Number(_) => false,
    })
}

/// Whether something between the numbers on a line makes them the bounds of a range.
fn has_bounds(tokens: &[Token<'_>]) -> bool {
    let after = tokens.iter().skip_while(|token| !matches!(token, Token::Number(_)));
    let has_bound = after.into_iter().any(|token| match token {
        Token::Word(word) => {
            ["to", "and", "through"].iter().any(|it| it.eq_ignore_ascii_case(word))
        }
        Token::Sign(sign) => "-–—−~".contains(*sign),
        Token::Number(_) => false,
    });
    let names_it = tokens.iter().any(|token| match token {
        Token::Word(word) => {
            ["scale", "range", "best"].iter().any(|it| it.eq_ignore_ascii_case(word))
        }
        _ => false,
    });
    has_bound || names_it
}

/// Whether these numbers are not the scale: both of its ends, whatever is between them, or the upper one alone.
fn differs(stated: &[f64], (least, most): (f64, f64)) -> bool {
    match *stated {
        [] => false,
        [end] => end != most,
        _ => {
            let low = stated.iter().copied().fold(f64::INFINITY, f64::min);
            let high = stated.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (low, high) != (least, most)
        }
    }
}

fn numbers(tokens: &[Token<'_>]) -> Vec<f64> {
    let number = |token: &Token<'_>| match token {
        Token::Number(number) => Some(*number),
        _ => None,
    };
    tokens.iter().filter_map(number).collect()
}

/// The words, numbers and signs of a line. A minus before a number belongs to it unless another number precedes it.
fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let follows_number = matches!(tokens.last(), Some(Token::Number(_)));
        let sign = usize::from(first == '-' && !follows_number);
        let digits = digits(&rest[sign..]);
        let length = if digits > 0 {
            let number = rest[..sign + digits].parse().unwrap_or(f64::NAN);
            tokens.push(Token::Number(number));
            sign + digits
        } else if first.is_alphabetic() {
            let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
            let word = &rest[..end];
            let number = NUMBERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
            tokens.push(number.map_or(Token::Word(word), |(_, number)| Token::Number(*number)));
            end
        } else {
            tokens.push(Token::Sign(first));
            first.len_utf8()
        };
        rest = rest[length..].trim_start();
    }
    tokens
}

/// The length in bytes of an unsigned number at the beginning of a text.
fn digits(text: &str) -> usize {
    let count = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = count(text);
    let fraction = match text[whole..].strip_prefix('.') {
        Some(fraction) if whole > 0 => count(fraction),
        _ => 0,
    };
    if fraction > 0 { whole + 1 + fraction } else { whole }
}
