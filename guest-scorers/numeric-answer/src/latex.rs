//! Removes LaTeX from numbers. It understands no other formulas.

use std::borrow::Cow;

/// A text without the LaTeX inside numbers: `\$`, `\%`, `1{,}234`, `3 \times 10^5`, `\frac{3}{4}`.
pub(crate) fn without_latex(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '{']) {
        return Cow::Borrowed(text);
    }
    let plain = text
        .replace("{,}", ",")
        .replace("\\$", "$")
        .replace("\\%", "%")
        .replace("\\,", "")
        .replace("\\!", "")
        .replace("\\times", "×")
        .replace("\\cdot", "·")
        .replace("\\text{", " ")
        .replace("\\dfrac", "\\frac")
        .replace("\\tfrac", "\\frac");
    Cow::Owned(with_plain_fractions(&plain))
}

fn with_plain_fractions(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\frac")
        && let Some((numerator, below)) = argument(after)
        && let Some((denominator, after)) = argument(below)
    {
        plain.push_str(before);
        // `3\frac{1}{2}` is a mixed number.
        if plain.ends_with(|c: char| c.is_ascii_digit()) {
            plain.push(' ');
        }
        plain.push_str(numerator);
        plain.push('/');
        plain.push_str(denominator);
        rest = after;
    }
    plain + rest
}

/// The content of braces, or one digit, and the text after it.
fn argument(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('{') {
        Some(inside) => inside.split_once('}'),
        None => text.split_at_checked(1).filter(|(digit, _)| digit.as_bytes()[0].is_ascii_digit()),
    }
}
