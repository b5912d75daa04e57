//! Converts assertions that one row of a table describes fully: the scorer, its settings, the passing score and the
//! expected value. Other assertions have functions in other files.

use self::{
    Expects::{AnyOfTexts, Nothing, OneText},
    Passes::{Always, AtLeast, Own},
    Setting::{On, Word},
};
use super::making::{ANY_SCORE, Made, Making};

/// The translation of a type of assertions.
struct Row {
    kind: &'static str,
    uses: &'static str,
    settings: &'static [Setting],
    passes: Passes,
    expects: Expects,
}

/// A key of the scorer's configuration.
enum Setting {
    On(&'static str),
    Word(&'static str, &'static str),
}

/// The worst passing score.
enum Passes {
    /// The scorer's own threshold.
    Own,
    /// The assertion's threshold, or else this one.
    AtLeast(f64),
    /// This score, because promptfoo reads no threshold.
    Always(f64),
}

/// The kind of the assertion's value.
enum Expects {
    Nothing,
    OneText,
    AnyOfTexts,
}

/// The score of a subset of the expected facts, the lowest score of `factuality` that is not a contradiction. In
/// promptfoo, everything passes that is not a contradiction, without a threshold.
const NO_CONTRADICTION: f64 = 0.4;

const TABLE: [Row; 13] = [
    row("contains", "contains", &[], Own, OneText),
    row("icontains", "contains", &[On("ignoreCase")], Own, OneText),
    row("starts-with", "contains", &[Word("at", "start")], Own, OneText),
    row("is-refusal", "is-refusal", &[], Own, Nothing),
    row("gleu", "gleu", &[On("ignoreCase"), On("ignoreFullStops")], AtLeast(0.5), AnyOfTexts),
    row("bleu", "bleu", &[On("ignoreCase")], AtLeast(0.5), AnyOfTexts),
    row("rouge-n", "rouge", &[Word("variant", "1")], AtLeast(0.75), OneText),
    row("similar", "embedding-similarity", &[], AtLeast(0.75), AnyOfTexts),
    row("factuality", "factuality", &[], Always(NO_CONTRADICTION), OneText),
    row("model-graded-factuality", "factuality", &[], Always(NO_CONTRADICTION), OneText),
    row("answer-relevance", "answer-relevancy", &[], AtLeast(ANY_SCORE), Nothing),
    row("context-relevance", "context-relevancy", &[], AtLeast(ANY_SCORE), Nothing),
    row("context-faithfulness", "faithfulness", &[], AtLeast(ANY_SCORE), Nothing),
];

const fn row(
    kind: &'static str,
    uses: &'static str,
    settings: &'static [Setting],
    passes: Passes,
    expects: Expects,
) -> Row {
    Row { kind, uses, settings, passes, expects }
}

/// Converts an assertion of the table; `None` for any other.
pub(super) fn of_the_table(making: &mut Making<'_>, kind: &str) -> Option<Made> {
    let row = TABLE.iter().find(|row| row.kind == kind)?;
    for setting in row.settings {
        match *setting {
            On(key) => making.set(key, true),
            Word(key, word) => making.set(key, word),
        }
    }
    let threshold = match row.passes {
        Own => None,
        AtLeast(usual) => Some(making.threshold().unwrap_or(usual)),
        Always(score) => Some(score),
    };
    Some(match row.expects {
        Nothing => Ok((row.uses, threshold)),
        OneText => making.expecting(row.uses, threshold),
        AnyOfTexts => making.expecting_any(row.uses, threshold),
    })
}
