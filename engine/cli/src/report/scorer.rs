//! What a scorer says about itself, in words.

use scorebox::contract::{Field, Fields, ScorerInfo};

/// `output, groundTruth`: the keys of a case that a scorer sees.
pub(crate) fn reads(info: &ScorerInfo) -> String {
    if info.reads == Fields::ALL {
        return "the whole case".to_owned();
    }
    let fields = info.reads.iter().map(Field::key);
    std::iter::once("output").chain(fields).collect::<Vec<_>>().join(", ")
}
