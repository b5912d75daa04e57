//! Finds the parts of a text that may be its final answer. Reading them is left to `read`.

/// The longest answer, in bytes.
pub(crate) const ANSWER_LIMIT: usize = 4096;

/// The longest text with formulas that counts as one answer, in bytes.
const COMPOSITE_LIMIT: usize = 512;

/// How many boxes are examined, from the last one back, because a model that loops writes thousands.
const BOX_LIMIT: usize = 100;

/// The parts of an output that may be its final answer, the most likely first: what is in the last box, after the last
/// "answer is", in the last formula, the whole text, its last line, its last number.
pub(crate) fn candidates(text: &str) -> Vec<&str> {
    let text = text.trim();
    let whole = Some(text).filter(|text| text.len() <= ANSWER_LIMIT);
    let composite = is_composite(text);
    let found = [
        last_box(text),
        after_marker(text),
        whole.filter(|_| composite),
        last_formula(text),
        whole.filter(|_| !composite),
        last_line(text),
        last_number(text),
    ];
    let mut candidates = Vec::new();
    for candidate in found.into_iter().flatten() {
        let candidate = bare(candidate);
        if !candidate.is_empty() && !candidates.contains(&candidate) {
            candidates.push(candidate);
        }
    }
    candidates
}

/// The expected answer in a ground truth: what is in its last box, or all of it.
pub(crate) fn expected_answer(text: &str) -> Option<&str> {
    [last_box(text), Some(text)].into_iter().flatten().map(bare).find(|text| !text.is_empty())
}

/// Removes emphasis, the marks of a formula, and a full stop.
pub(crate) fn bare(text: &str) -> &str {
    const SPACES: [&str; 6] = ["\\,", "\\;", "\\:", "\\!", "\\quad", "\\qquad"];
    let mut text = text.trim();
    while let Some(inside) = text.strip_prefix("**").and_then(|text| text.strip_suffix("**")) {
        text = inside.trim();
    }
    for (open, close) in [("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$")] {
        let inside = text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
        if let Some(inside) = inside.filter(|inside| open != "$" || !inside.contains('$')) {
            text = inside.trim();
        }
    }
    while let Some(rest) = SPACES.iter().find_map(|space| text.strip_prefix(space)) {
        text = rest.trim_start();
    }
    while let Some(rest) = SPACES.iter().find_map(|space| text.strip_suffix(space)) {
        text = rest.trim_end();
    }
    // The `\ ` at the end has already lost its space.
    if let Some(rest) = text.strip_suffix('\\').filter(|rest| !rest.ends_with('\\')) {
        text = rest;
    }
    text.trim_end_matches([' ', '\t', '\r', '\n', '.', ',', ';', ':'])
}

fn last_box(text: &str) -> Option<&str> {
    let places = text.rmatch_indices("box").take(BOX_LIMIT);
    let mut opened = places.filter_map(|(place, _)| {
        let after = text[place + 3..].strip_prefix("ed").unwrap_or(&text[place + 3..]);
        let before = text[..place].chars().next_back();
        let is_command = matches!(before, Some('\\' | 'f' | 'n'));
        let begins = is_command || !before.is_some_and(char::is_alphabetic);
        let after = after.trim_start();
        match after.strip_prefix('{') {
            Some(inside) => begins.then(|| balanced(inside)).flatten(),
            None if text[..place].ends_with("\\") || text[..place].ends_with("\\f") => token(after),
            None => None,
        }
    });
    opened.next()
}

/// The content of a box without braces, `\boxed 3`: up to white space or the end of the formula. A word does not count,
/// because a text may only mention `\boxed`.
fn token(text: &str) -> Option<&str> {
    let ends = |c: char| c.is_whitespace() || c == '$';
    let token = text.split(ends).next()?;
    let token =
        ["\\)", "\\]"].iter().find_map(|end| token.split_once(end)).map_or(token, |it| it.0);
    let is_command = || {
        let name = token.strip_prefix('\\');
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
    };
    let is_answer = token.contains(|c: char| c.is_ascii_digit()) || is_command();
    Some(token).filter(|token| is_answer && token.len() <= ANSWER_LIMIT)
}

/// The text up to the closing brace, within the limit of an answer.
fn balanced(text: &str) -> Option<&str> {
    let mut depth = 1_usize;
    let end = text.bytes().take(ANSWER_LIMIT).position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.map(|end| &text[..end])
}

/// The rest of the line after the last "answer is", "answer:", "result =".
fn after_marker(text: &str) -> Option<&str> {
    // Lowering ASCII keeps every byte in place.
    let lower = text.to_ascii_lowercase();
    let after = |word: &str| {
        lower.rmatch_indices(word).find_map(|(place, _)| {
            let rest = lower[place + word.len()..].trim_start();
            let is =
                rest.strip_prefix("is").filter(|rest| !rest.starts_with(char::is_alphanumeric));
            let rest = is.or_else(|| rest.strip_prefix([':', '=']))?;
            Some(text.len() - rest.len())
        })
    };
    let start = after("answer").max(after("result"))?;
    let rest = text[start..].trim_start_matches(|c: char| c.is_whitespace() || ":=".contains(c));
    let between = &text[start..text.len() - rest.len()];
    let line = rest.lines().next()?;
    Some(if between.contains('\n') { without_bullet(line) } else { line })
}

/// The last line that is not empty. A bullet before it is a minus if the text has no other line: `- 42`.
fn last_line(text: &str) -> Option<&str> {
    let line = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(if line.len() < text.len() { without_bullet(line) } else { line })
}

/// A line without the bullet that makes it an item of a list; the bullet is not a minus.
fn without_bullet(line: &str) -> &str {
    let line = line.trim_start();
    let item = line.strip_prefix(['-', '–', '—', '*', '•']);
    item.filter(|item| item.starts_with(char::is_whitespace)).map_or(line, str::trim_start)
}

/// The content of the last `$…$`, `$$…$$`, `\[…\]` or `\(…\)`.
fn last_formula(text: &str) -> Option<&str> {
    let between = |open: &str, close: &str| {
        let end = text.rfind(close)?;
        let start = text[..end].rfind(open)? + open.len();
        Some((end, &text[start..end]))
    };
    let formulas =
        [between("$$", "$$"), between("\\[", "\\]"), between("\\(", "\\)"), last_dollars(text)];
    formulas.into_iter().flatten().max_by_key(|(end, _)| *end).map(|(_, formula)| formula)
}

/// The content between the last pair of single dollar signs, and where it ends.
fn last_dollars(text: &str) -> Option<(usize, &str)> {
    let bytes = text.as_bytes();
    let is_dollar = |place: usize| bytes.get(place) == Some(&b'$');
    let is_single = |place: &usize| {
        let before = place.checked_sub(1).and_then(|place| bytes.get(place));
        !matches!(before, Some(b'$' | b'\\')) && !is_dollar(place + 1)
    };
    let signs = text.match_indices('$').map(|(place, _)| place).filter(is_single);
    let (mut open, mut last) = (None, None);
    for sign in signs {
        match open.take() {
            None => open = Some(sign),
            Some(start) => last = Some((sign, &text[start + 1..sign])),
        }
    }
    last
}

/// Whether a text consists of words with formulas in them: "odd $n$".
pub(crate) fn is_composite(text: &str) -> bool {
    let breaks = text.matches('\n').count();
    if text.len() > COMPOSITE_LIMIT
        || breaks > 2
        || text.matches('$').count() < 2 && !text.contains("\\(") && !text.contains("\\[")
    {
        return false;
    }
    if breaks > 0 && text.matches('$').count() >= 4 {
        return true;
    }
    has_word(&without_formulas(text))
}

fn without_formulas(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let pairs = [("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")];
        let formula = pairs.into_iter().find_map(|(open, close)| {
            let inside = rest.strip_prefix(open)?;
            Some(&inside[inside.find(close)? + close.len()..])
        });
        match formula {
            Some(after) => {
                kept.push(' ');
                rest = after;
            }
            None => {
                kept.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    kept
}

/// Whether a text has two letters in succession.
pub(crate) fn has_word(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair.iter().all(u8::is_ascii_alphabetic))
}

/// The factor that a word after a number stands for.
pub(crate) fn magnitude(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "dozen" => "12",
        "hundred" => "10^2",
        "thousand" => "10^3",
        "million" => "10^6",
        "billion" => "10^9",
        "trillion" => "10^12",
        _ => return None,
    })
}

/// The last number of a text, as it is written, with the words that belong to it: "minus 5", "5 million".
fn last_number(text: &str) -> Option<&str> {
    let digit = text.rfind(|c: char| c.is_ascii_digit())?;
    let after = text[digit + 1..].trim_start();
    let word =
        after.split(|c: char| !c.is_alphabetic()).next().filter(|it| magnitude(it).is_some());
    let rest = after.strip_prefix('%').or(word.map(|word| &after[word.len()..]));
    let end = rest.map_or(digit + 1, |rest| text.len() - rest.len());
    let is_part =
        |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | 'e' | 'E' | '+') || is_minus(c);
    let from = text[..=digit]
        .rfind(|c| !is_part(c))
        .map_or(0, |place| place + text[place..].chars().next().map_or(1, char::len_utf8));
    // The last digits of `12{,}000` or `x^{10}` are not a separate number.
    (!text[..from].ends_with(['}', '!', '{', '^', '_'])).then_some(())?;
    let run = &text[from..=digit];
    // Of the candidates, the longest part that is a number: "and-5" ends in one, "1+2" in another.
    let starts = run.char_indices().map(|(place, _)| &run[place..]);
    let number = starts.filter(|part| part.len() <= 64).find(|part| is_number(part))?;
    let mut start = digit + 1 - number.len();
    // Between two things it is a dash: `3–5`.
    if number.starts_with('–') && text[..start].ends_with(char::is_alphanumeric) {
        start += '–'.len_utf8();
    }
    let before = text[..start].trim_end();
    let word = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    match word.to_lowercase().as_str() {
        "not" => None,
        "minus" | "negative" => Some(&text[before.len() - word.len()..end]),
        _ => Some(&text[start..end]),
    }
}

/// A minus, as keyboards, typesetters or word processors produce it.
pub(crate) fn is_minus(c: char) -> bool {
    matches!(c, '-' | '−' | '–')
}

/// A sign, digits with or without groups, a point, an exponent.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix(|c| c == '+' || is_minus(c)).unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or("");
    let grouped = groups.clone().count() == 0 || first.len() <= 3;
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    (digits(first) || first.is_empty() && whole.is_empty() && mantissa.len() > 1)
        && grouped
        && groups.all(|group| group.len() == 3 && digits(group))
        && digits(fraction)
        && digits(exponent)
}
