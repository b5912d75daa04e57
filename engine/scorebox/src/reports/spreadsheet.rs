//! Texts and numbers for the cells of a table for spreadsheets. It writes no table.

use std::borrow::Cow;

/// A text that spreadsheets do not evaluate: an apostrophe comes before text that begins like a formula, or with a
/// character that a spreadsheet drops first. See OWASP, CSV injection. A negative number stays unchanged, because it
/// evaluates to itself. A text that begins as if an apostrophe had been added gets another one, so that different texts
/// stay different.
pub fn cell_text<'a>(text: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
    const BEGINS_A_FORMULA: [char; 11] =
        ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    let text = text.into();
    let is_negative = text.starts_with('-') && text.parse::<f64>().is_ok_and(f64::is_finite);
    match text.trim_start_matches('\'').starts_with(BEGINS_A_FORMULA) && !is_negative {
        true => format!("'{text}").into(),
        false => text,
    }
}

/// A number in its shortest form: with an exponent if it would otherwise have many zeros.
pub fn cell_number(number: f64) -> String {
    const WITHOUT_EXPONENT: std::ops::Range<f64> = 1e-5..1e16;
    match number == 0.0 || WITHOUT_EXPONENT.contains(&number.abs()) {
        true => number.to_string(),
        false => format!("{number:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_begins_a_formula() {
        for text in ["=1+1", "+1", "-A1", "-inf", "--1", "@SUM(A1)", "\t=1", "\r=1", "＝1"] {
            assert_eq!(cell_text(text), format!("'{text}"));
        }
        for text in ["", "a=1", " =1", "'a", "''", "{\"a\":1}", "-10", "-1.5e-3", "-0"] {
            assert_eq!(cell_text(text), text);
        }
    }

    #[test]
    fn no_two_texts_become_one() {
        for text in ["'=1", "''=1", "'-10", "'\t"] {
            assert_eq!(cell_text(text), format!("'{text}"));
        }
    }

    #[test]
    fn a_number_has_no_more_zeros_than_it_needs() {
        let written = [0.5, 1.0, -0.1, 1e-5, 1e-320, -1e300, 0.0, f64::NAN].map(cell_number);
        assert_eq!(written, ["0.5", "1", "-0.1", "0.00001", "1e-320", "-1e300", "0", "NaN"]);
    }
}
