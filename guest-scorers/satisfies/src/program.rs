//! Compiles a jq expression and runs it. What its results mean is left to the scorer.

use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, data};
use jaq_json::{Val, read};
use scorebox_sdk::excerpt;
use serde_json::Value;

use crate::natives::natives;

/// What is left out of jq's library: it reaches out of the sandbox, it needs tables that a score does not,
/// or `natives` has another in its place.
const LEFT_OUT: [&str; 22] = [
    "debug",
    "stderr",
    "halt",
    "halt_error",
    "todate",
    "fromdate",
    "logb",
    "significand",
    "drem",
    "nexttoward",
    "scalb",
    "gamma",
    "@html",
    "@htmld",
    "@uri",
    "@urid",
    "@base64",
    "@base64d",
    "pow10",
    "env",
    "now",
    "fromjson",
];

/// An expression that is ready to run.
pub(crate) struct Program {
    filter: Filter<data::JustLut<Val>>,
}

impl Program {
    /// The error is one line for the author of the expression.
    pub(crate) fn compile(expression: &str) -> Result<Self, String> {
        let all = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let definitions = all.filter(|definition| !LEFT_OUT.contains(&definition.name));
        let library = jaq_core::funs().chain(jaq_std::base_funs()).chain(jaq_json::funs());
        let library = library.filter(|(name, ..)| !LEFT_OUT.contains(name)).chain(natives());
        let arena = Arena::default();
        let main = File { code: expression, path: () };
        let modules = Loader::new(definitions).load(&arena, main);
        let modules = modules.map_err(|errors| unreadable(expression, errors))?;
        let compiled = Compiler::default().with_funs(library).compile(modules);
        let filter = compiled.map_err(|errors| {
            let unknown: Vec<_> = (errors.iter().flat_map(|(_, errors)| errors))
                .map(|(name, kind)| format!("no {} `{name}` is known", kind.as_str()))
                .collect();
            unknown.join("; ")
        })?;
        Ok(Self { filter })
    }

    /// The first two results; more are never asked for. The error is one line for the user.
    pub(crate) fn run(&self, input: &str) -> Result<Vec<Value>, String> {
        let input = read::parse_single(input.as_bytes()).map_err(|error| error.to_string())?;
        let context = Ctx::<data::JustLut<Val>>::new(&self.filter.lut, Vars::new([]));
        let results = self.filter.id.run((context, input)).take(2);
        results
            .map(|result| match result {
                Ok(value) => Ok(plain(&value)),
                Err(exception) => Err(match exception.get_err() {
                    Ok(error) => error.to_string(),
                    Err(_) => "stopped without a result".to_owned(),
                }),
            })
            .collect()
    }
}

/// As a plain JSON value; a value that JSON lacks, such as bytes, as a text that shows it.
fn plain(value: &Val) -> Value {
    let text = value.to_string();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// Where the expression cannot be read, and what was expected there.
fn unreadable(expression: &str, errors: load::Errors<&str, ()>) -> String {
    let place = |found: &str| {
        let start = load::span(expression, found).start.min(expression.len());
        let before = expression.get(..start).unwrap_or(expression).chars().count();
        let found = excerpt(found.trim(), 20);
        match found.is_empty() {
            true => "at its end".to_owned(),
            false => format!("at character {}, before `{found}`", before + 1),
        }
    };
    let explain = |error: load::Error<&str>| match error {
        load::Error::Lex(errors) => (errors.into_iter())
            .map(|(expected, found)| format!("expected {} {}", expected.as_str(), place(found)))
            .collect(),
        load::Error::Parse(errors) => (errors.into_iter())
            .map(|(expected, found)| format!("expected {} {}", expected.as_str(), place(found)))
            .collect(),
        load::Error::Io(_) => vec!["modules cannot be loaded".to_owned()],
    };
    let reasons: Vec<String> = errors.into_iter().flat_map(|(_, error)| explain(error)).collect();
    format!("is not a valid jq expression: {}", reasons.join("; "))
}
