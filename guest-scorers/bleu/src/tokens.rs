//! The tokenizer of mteval-v13a, as in sacrebleu: punctuation marks become separate tokens, except inside numbers. It
//! knows no language.

use scorebox_sdk_texts::python::is_space;

/// The text with white space between all tokens.
pub(crate) fn tokens(text: &str) -> String {
    let text = text.trim_end_matches(is_space);
    let text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    let text = text.replace("&quot;", "\"").replace("&amp;", "&");
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    let mut apart = String::with_capacity(2 * text.len());
    apart.push(' ');
    for c in text.chars() {
        match stands_alone(c) {
            true => apart.extend([' ', c, ' ']),
            false => apart.push(c),
        }
    }
    apart.push(' ');
    let apart = pairs(
        &apart,
        |left, right| !left.is_ascii_digit() && is_stop(right),
        |left, right| [left, ' ', right, ' '],
    );
    let apart = pairs(
        &apart,
        |left, right| is_stop(left) && !right.is_ascii_digit(),
        |left, right| [' ', left, ' ', right],
    );
    pairs(
        &apart,
        |left, right| left.is_ascii_digit() && right == '-',
        |left, right| [left, ' ', right, ' '],
    )
}

/// ASCII punctuation, without the apostrophe, the hyphen, the comma and the full stop.
fn stands_alone(c: char) -> bool {
    c.is_ascii_punctuation() && !"'-,.".contains(c)
}

fn is_stop(c: char) -> bool {
    c == '.' || c == ','
}

/// Replaces each matching pair of neighbours from left to right, without overlaps.
fn pairs(
    text: &str,
    matches: impl Fn(char, char) -> bool,
    replace: impl Fn(char, char) -> [char; 4],
) -> String {
    let mut replaced = String::with_capacity(text.len() + text.len() / 4);
    let mut waiting: Option<char> = None;
    for right in text.chars() {
        waiting = match waiting {
            Some(left) if matches(left, right) => {
                replaced.extend(replace(left, right));
                None
            }
            Some(left) => {
                replaced.push(left);
                Some(right)
            }
            None => Some(right),
        };
    }
    replaced.extend(waiting);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts, and the result of `Tokenizer13a` of sacrebleu 2.6.0.
    const TEXTS: &[(&str, &str)] = &[
        ("Hello, world!", "Hello , world !"),
        ("It's 3.14, or 1,000.5.", "It's 3.14 , or 1,000.5 ."),
        ("well-known 1-2 a-b", "well-known 1 - 2 a-b"),
        ("a..b ,, ...", "a . . b , , . . ."),
        ("x.5 5.x .5", "x . 5 5 . x . 5"),
        ("AT&amp;T &lt;b&gt; &quot;q&quot;", "AT & T < b > \" q \""),
        ("line-\nbreak\nnext", "linebreak next"),
        ("<skipped>gone", "gone"),
        ("[a]{b}(c)|d~e`f^g_h/i\\j", "[ a ] { b } ( c ) | d ~ e ` f ^ g _ h / i \\ j"),
        ("«ça» – ¿qué?", "«ça» – ¿qué ?"),
        ("end-\n", "end-"),
        ("1,\u{a0}2", "1 , 2"),
    ];

    #[test]
    fn marks_become_tokens_but_not_inside_numbers() {
        for (text, expected) in TEXTS {
            let apart = tokens(text);
            let found: Vec<_> = apart.split(is_space).filter(|token| !token.is_empty()).collect();
            assert_eq!(found.join(" "), *expected, "{text:?}");
        }
    }
}
