//! How the scores of several attempts at a case become one, on the command line. Reduces nothing.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use scorebox::stats::Reducer;

/// Reads the word for a reducer.
pub(crate) fn reducers() -> impl TypedValueParser<Value = Reducer> {
    PossibleValuesParser::new(Reducer::ALL.map(Reducer::as_str)).map(|word| {
        let named = Reducer::ALL.into_iter().find(|reducer| reducer.as_str() == word);
        named.unwrap_or(Reducer::Mean)
    })
}
