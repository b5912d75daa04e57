//! The words of a text for keywords that the user gives: without the punctuation around them, and with
//! all that is inside. How a peer cuts the words of an input is not decided here.

/// ASCII punctuation that may be a part of a word's end or start: `C#`, `50%`, `@team`, `R&D`.
const OF_WORDS: &[char] = &['#', '%', '&', '@', '+', '$', '='];

/// What parts words without a space.
const DASHES: &[char] = &['—', '―', '…'];

/// The words of a text in lower case, without tags of HTML and without the punctuation around them.
pub(crate) fn words(text: &str) -> Vec<String> {
    let text = without_tags(text);
    let parts = text.split(|c: char| c.is_whitespace() || DASHES.contains(&c));
    parts.map(bare).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
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

/// Without tags: from a `<` that a letter, `/` or `!` follows to the next `>`.
fn without_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let inside = &rest[start + 1..];
        let begins = inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        let Some(length) = inside.find('>') else { break };
        let (end, next) = if begins { (start, length + 1) } else { (start + 1, 0) };
        kept.push_str(&rest[..end]);
        rest = &inside[next..];
    }
    kept + rest
}
