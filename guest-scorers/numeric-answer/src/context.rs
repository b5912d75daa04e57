//! What is directly next to a number and changes its value, or makes it part of an expression: operators, LaTeX
//! commands, letters. It reads no number.

use crate::decimal::Decimal;
use crate::power::raised_follows;

/// LaTeX commands that change a number next to them: functions, constants and marks. Others, such as units and fonts,
/// do not.
const COMMANDS: [&str; 43] = [
    "sqrt", "frac", "cfrac", "binom", "over", "overline", "bar", "dot", "log", "ln", "lg", "exp",
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
    "pi", "phi", "theta", "alpha", "beta", "gamma", "delta", "lambda", "mu", "sigma", "omega",
    "tau", "pm", "mp", "infty", "sum", "prod", "int", "bmod",
];

/// Letters that stand for a number and not for a unit.
const VARIABLES: [char; 5] = ['x', 'y', 'z', 'n', 'π'];

/// Operators that join a number to what follows.
const OPERATORS: [char; 8] = ['+', '-', '−', '*', '×', '·', '/', '÷'];

/// Whether a number that ends at a byte of the text is part of something else.
pub(crate) fn is_part(text: &str, decimal: &Decimal, end: usize) -> bool {
    let (before, rest) = (&text[..decimal.start], &text[end..]);
    is_continued(rest)
        || is_begun(before)
        || decimal.digits == "0" && radix_follows(rest)
        || decimal.sign < 0.0 && before.ends_with('|') && rest.starts_with('|')
}

/// Whether what follows a number changes it: the `:30` of `10:30`, the `^2` of `(-3)^2`, the `/2024` of `1/5/2024`, the
/// `\pi` of `2\pi`, the `x` of `3x`.
fn is_continued(rest: &str) -> bool {
    let joins_digits =
        |mark| rest.strip_prefix(mark).is_some_and(|after| after.starts_with(is_digit));
    [':', '/', '.', ',', '_', '\'', '’'].into_iter().any(joins_digits)
        || raised_follows(rest)
        || rest.strip_prefix(')').is_some_and(raised_follows)
        || variable_follows(rest)
        || command_follows(rest)
        || factorial_follows(rest)
}

/// Whether what precedes a number changes it: the `\sqrt{` of `\sqrt{16}`, the `x^` of `x^2`, the `\pi/` of `\pi/2`.
fn is_begun(before: &str) -> bool {
    // Includes the bracket of `\sqrt[3]{8}`.
    let before = before.trim_end_matches([' ', '(', '{', '[']);
    let above = before.strip_suffix('/').map(|above| above.trim_end_matches([' ', ')', '}']));
    let outside = above.unwrap_or(before);
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let (front, word) = outside.split_at(outside.trim_end_matches(is_letter).len());
    let is_variable = || above.is_some() && word.len() == 1 && word.starts_with(VARIABLES);
    outside.ends_with(['√', '^', 'π'])
        || word == "sqrt"
        || front.ends_with('\\') && COMMANDS.contains(&word)
        || is_variable() && !front.ends_with(char::is_alphanumeric)
}

/// `3x`, `1/x`.
fn variable_follows(rest: &str) -> bool {
    let after = rest.strip_prefix('/').unwrap_or(rest).strip_prefix(VARIABLES);
    after.is_some_and(|after| !after.starts_with(char::is_alphanumeric))
}

/// `2\sqrt{3}`, `2 √3`, `1 + \pi`, `0.\overline{3}`.
fn command_follows(rest: &str) -> bool {
    let rest = if rest.starts_with(".\\") { &rest[1..] } else { rest.trim_start_matches(' ') };
    let rest = rest.strip_prefix(OPERATORS).unwrap_or(rest).trim_start_matches(' ');
    let name = rest.strip_prefix('\\').map(|name| {
        let end = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
        &name[..end]
    });
    rest.starts_with(['√', 'π'])
        || rest.starts_with("sqrt")
        || name.is_some_and(|name| COMMANDS.contains(&name))
}

/// Whether `5!` is in a calculation; at the end of a sentence the mark is an exclamation.
fn factorial_follows(rest: &str) -> bool {
    let operators = ['+', '-', '−', '×', '·', '/', '÷'];
    rest.strip_prefix('!').is_some_and(|after| {
        after.starts_with(operators) || after.trim_start_matches(' ').starts_with('=')
    })
}

/// Whether a text is the `x1F` of `0x1F`, after its `0`.
fn radix_follows(rest: &str) -> bool {
    let digits = rest.strip_prefix(['x', 'X', 'b', 'B', 'o', 'O']);
    digits.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_hexdigit()))
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use crate::answer::last_number;
    use crate::number::number_in;

    #[test]
    fn a_part_of_an_expression_is_no_number() {
        let texts = [
            "2\\sqrt{3}",
            "2 \\sqrt{3}",
            "1 + \\sqrt{3}",
            "\\sqrt{16}",
            "\\sqrt[3]{8}",
            "√16",
            "sqrt(16)",
            "(3*sqrt(5))/7",
            "2\\pi",
            "2π",
            "\\frac{\\pi}{2}",
            "\\frac{2}{\\pi}",
            "\\frac{\\sqrt{3}}{2}",
            "\\ln 2",
            "\\pm 5",
            "0.\\overline{3}",
            "5!/2",
            "3x",
            "1/x",
            "x/2",
            "x^2",
            "x^{2}",
            "|-5|",
            "0x1F",
            "1'000",
            "1’000",
            "1_000",
            "1.000,50",
        ];
        for text in texts {
            assert!(number_in(text).is_none(), "{text}");
            assert!(last_number(text).is_none(), "{text}");
        }
    }

    #[test]
    fn units_words_and_emphasis_leave_a_number_as_it_is() {
        let texts = [
            "5kg",
            "5 kg",
            "5m",
            "$5",
            "5%",
            "x = 5",
            "x=5",
            "\\mu = 5",
            "5 \\approx",
            "5\\,\\mathrm{cm}",
            "\\mathbf{5}",
            "\\left(5\\right)",
            "5!",
            "**5!**",
            "_5_",
            "'5'",
            "|5|",
            "5, \\pi",
            "5 xylophones",
            "5 Mbit",
            "5Mbit",
            "5 x",
            "5 = \\sqrt{25}",
            "\\sqrt{25} = 5",
            "5x=5",
            "x^2 = 5",
            "5. \\pi",
        ];
        for text in texts {
            assert_eq!(number_in(text).map(|number| number.value), Some(5.0), "{text}");
        }
    }
}
