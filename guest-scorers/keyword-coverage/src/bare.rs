//! Splits a text into words for keywords that the user gives: without surrounding punctuation, but with everything
//! inside. Words of an input are split elsewhere, as the peer does it.

/// ASCII punctuation that may be part of the start or end of a word: `C#`, `50%`, `@team`, `R&D`.
const OF_WORDS: &[char] = &['#', '%', '&', '@', '+', '$', '='];

/// Marks that separate words without a space: dashes, and sentence marks of scripts without spaces.
const BREAKS: &[char] = &['—', '―', '…', '、', '。', '，', '！', '？', '；', '：'];

/// The words of a text in lower case, without HTML tags and without surrounding punctuation.
pub(crate) fn words(text: &str) -> Vec<String> {
    let text = without_tags(text);
    let parts = text.split(|c: char| c.is_whitespace() || BREAKS.contains(&c));
    parts.map(bare).filter(|word| !word.is_empty()).map(folded).collect()
}

/// The number without the sign of a currency or percent: `3.5` in `3.5%`. `None` for any other word.
pub(crate) fn number_inside(word: &str) -> Option<&str> {
    let number = word.trim_start_matches(['$', '€', '£', '¥']);
    let number = number.strip_suffix('%').unwrap_or(number);
    (number.len() < word.len() && number.starts_with(|c: char| c.is_ascii_digit()))
        .then_some(number)
}

/// Whether a word contains a letter of a script without spaces between words: Chinese, Japanese, Thai, Lao, Khmer,
/// Burmese.
pub(crate) fn is_unspaced(word: &str) -> bool {
    word.chars().any(|c| {
        matches!(c,
            '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9d}'
            | '\u{20000}'..='\u{3ffff}')
    })
}

/// A word with case folded, as in `STRASSE` and `straße`, and with all apostrophes the same.
fn folded(word: &str) -> String {
    match word.is_ascii() {
        true => word.to_ascii_lowercase(),
        // Upper-casing writes out letters that have no single upper-case form.
        false => word.to_uppercase().to_lowercase().replace(['’', '‘', 'ʼ'], "'"),
    }
}

fn bare(word: &str) -> &str {
    let word = word.trim_end_matches(is_punctuation);
    let mut rest = word;
    while let Some(first) = rest.chars().next().filter(|c| is_punctuation(*c)) {
        let inside = &rest[first.len_utf8()..];
        if matches!(first, '-' | '−') && inside.starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        rest = inside;
    }
    rest
}

/// Unicode punctuation that may surround words, and the marks of emphasis and code.
fn is_punctuation(c: char) -> bool {
    match c {
        _ if c.is_ascii() => c.is_ascii_punctuation() && !OF_WORDS.contains(&c),
        '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '−' => true,
        // General and supplemental punctuation, and that of Chinese and Japanese.
        '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{2e00}'..='\u{2e7f}' => true,
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' => true,
        '\u{fe10}'..='\u{fe19}' | '\u{fe30}'..='\u{fe52}' => true,
        // Full-width ASCII, and half-width marks.
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}' => true,
        '\u{ff5b}'..='\u{ff65}' => true,
        // Devanagari, Arabic, Hebrew, Armenian, Greek.
        '।' | '॥' | '،' | '؛' | '؟' | '۔' | '״' | '׳' | '։' | '\u{37e}' | '\u{387}' => {
            true
        }
        _ => false,
    }
}

/// Removes tags: from a `<` that is followed by a name, `/` or `!`, to the next `>`.
fn without_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let inside = &rest[start + 1..];
        // Stops at the next `<` or `>`, so that no text is searched repeatedly.
        let Some(length) = inside.find(['<', '>']) else { break };
        let is_closed = inside[length..].starts_with('>');
        let (end, next) = match is_closed && is_tag(&inside[..length]) {
            true => (start, length + 1),
            false => (start + 1 + length, length),
        };
        kept.push_str(&rest[..end]);
        rest = &inside[next..];
    }
    kept + rest
}

/// Whether the text in angle brackets is a tag. Only attributes follow a tag's name, unlike in `x<y and y>z`.
fn is_tag(inside: &str) -> bool {
    let name = inside.strip_prefix('/').unwrap_or(inside);
    let after = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-:_.".contains(c));
    match name.chars().next() {
        None => !inside.is_empty(),
        Some('!') => true,
        Some(first) if first.is_ascii_alphabetic() => {
            matches!(after.trim_start(), "" | "/") || after.contains('=')
        }
        _ => name.len() < inside.len(),
    }
}
