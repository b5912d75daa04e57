//! The words of a text for keywords that the user gives: without the punctuation around them, and with
//! all that is inside. How a peer cuts the words of an input is not decided here.

/// ASCII punctuation that may be a part of a word's end or start: `C#`, `50%`, `@team`, `R&D`.
const OF_WORDS: &[char] = &['#', '%', '&', '@', '+', '$', '='];

/// What parts words without a space: dashes, and the marks of sentences in scripts that have no spaces.
const BREAKS: &[char] = &['—', '―', '…', '、', '。', '，', '！', '？', '；', '：'];

/// The words of a text in lower case, without tags of HTML and without the punctuation around them.
pub(crate) fn words(text: &str) -> Vec<String> {
    let text = without_tags(text);
    let parts = text.split(|c: char| c.is_whitespace() || BREAKS.contains(&c));
    parts.map(bare).filter(|word| !word.is_empty()).map(folded).collect()
}

/// A number without the sign of a currency or of per cent: the `3.5` of `3.5%`. Nothing of any other word.
pub(crate) fn number_inside(word: &str) -> Option<&str> {
    let number = word.trim_start_matches(['$', '€', '£', '¥']);
    let number = number.strip_suffix('%').unwrap_or(number);
    (number.len() < word.len() && number.starts_with(|c: char| c.is_ascii_digit()))
        .then_some(number)
}

/// Whether a word has a letter of a script that sets no spaces between words: Chinese, Japanese, Thai, Lao,
/// Khmer, Burmese.
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

/// A word without the difference of upper and lower case, as in `STRASSE` and `straße`, and with one apostrophe.
fn folded(word: &str) -> String {
    match word.is_ascii() {
        true => word.to_ascii_lowercase(),
        // In upper case the letters are written out that have none.
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

/// Punctuation of Unicode that stands around words, and the marks of emphasis and code.
fn is_punctuation(c: char) -> bool {
    match c {
        _ if c.is_ascii() => c.is_ascii_punctuation() && !OF_WORDS.contains(&c),
        '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '−' => true,
        // General and supplemental punctuation, and that of Chinese and Japanese.
        '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{2e00}'..='\u{2e7f}' => true,
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' => true,
        '\u{fe10}'..='\u{fe19}' | '\u{fe30}'..='\u{fe52}' => true,
        // ASCII in full width, and half-width marks.
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}' => true,
        '\u{ff5b}'..='\u{ff65}' => true,
        // Devanagari, Arabic, Hebrew, Armenian, Greek.
        '।' | '॥' | '،' | '؛' | '؟' | '۔' | '״' | '׳' | '։' | '\u{37e}' | '\u{387}' => {
            true
        }
        _ => false,
    }
}

/// Without tags: from a `<` that a name, `/` or `!` follows to the next `>`.
fn without_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let inside = &rest[start + 1..];
        // Up to the next of both, so that no text is looked through again and again.
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

/// Whether what stands in angle brackets is a tag. After its name come attributes, as in none of `x<y and y>z`.
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
