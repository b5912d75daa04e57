//! The option for how the scores of several attempts at a case become one. It reduces nothing.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use scorebox::stats::Reducer;

/// Parses the name of a reducer.
pub(crate) fn reducers() -> impl TypedValueParser<Value = Reducer> {
    PossibleValuesParser::new(Reducer::ALL.map(Reducer::as_str)).map(|word| {
        let named = Reducer::ALL.into_iter().find(|reducer| reducer.as_str() == word);
        named.unwrap_or(Reducer::Mean)
    })
}
