//! Text for a cell of a table that spreadsheets open. Writes no table.

use std::borrow::Cow;

/// A text that no spreadsheet computes: what begins a formula, or what a spreadsheet drops before it looks, is behind an
/// apostrophe. See OWASP, CSV injection. A negative number stays as it is: computed, it is itself.
pub fn cell_text<'a>(text: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
    const BEGINS_A_FORMULA: [char; 11] =
        ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    let text = text.into();
    let is_negative = text.starts_with('-') && text.parse::<f64>().is_ok_and(f64::is_finite);
    match text.starts_with(BEGINS_A_FORMULA) && !is_negative {
        true => format!("'{text}").into(),
        false => text,
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
        for text in ["", "a=1", " =1", "'=1", "{\"a\":1}", "-10", "-1.5e-3", "-0"] {
            assert_eq!(cell_text(text), text);
        }
    }
}
