//! Formats what a scorer reports about itself. It runs no scorer; the keys of its configuration are in `config_keys`.

use scorebox::contract::{Field, Fields, Scale, ScorerInfo};

/// `output, groundTruth`: the keys of a case that a scorer sees.
pub(crate) fn reads(info: &ScorerInfo) -> String {
    if info.reads == Fields::ALL {
        return "the whole case".to_owned();
    }
    let fields = info.reads.iter().map(Field::key);
    std::iter::once("output").chain(fields).collect::<Vec<_>>().join(", ")
}

/// These keys in a list of scorers, counted if there are many: `8 parts of the case`.
pub(crate) fn reads_briefly(fields: Fields, keys: &str) -> String {
    const MAX_NAMED: usize = 5;
    let parts = 1 + fields.iter().count();
    match fields != Fields::ALL && parts > MAX_NAMED {
        true => format!("{parts} parts of the case"),
        false => keys.to_owned(),
    }
}

/// `0 to 1, higher-is-better`.
pub(crate) fn scale(info: &ScorerInfo) -> String {
    let scale = match info.scale {
        Scale::Unit => "0 to 1",
        Scale::Points => "points from 0 up",
    };
    format!("{scale}, {}", info.direction.as_str())
}

/// `gate, threshold 1`: how its scores count if a suite does not override it.
pub(crate) fn severity(info: &ScorerInfo) -> String {
    match info.threshold {
        Some(threshold) => format!("{}, threshold {threshold}", info.severity.as_str()),
        None => info.severity.as_str().to_owned(),
    }
}
