//! Compiles a jq expression and runs it. What its results mean is up to the scorer.

use jaq_core::compile::Undefined;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars};
use jaq_json::read;
use jaq_std::ValT as _;
use scorebox_config_keys::nearest;
use scorebox_sdk::excerpt;
use serde_json::Value;

use crate::natives::natives;
use crate::value::{self, Data};

/// Filters of jaq's library that are left out: they access something outside the sandbox, need tables that are useless
/// here, or are replaced by this crate.
const LEFT_OUT: [&str; 31] = [
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
    "reverse",
    "nan",
    "infinite",
    "delpaths",
    "join",
    "tonumber",
    "toboolean",
    "totype",
    "ltrimstr",
    "rtrimstr",
];

/// Internal filters of jaq or this crate, never suggested to the user.
const PARTS: [&str; 11] = [
    "capture_of_match",
    "cell",
    "error_empty",
    "escape_sh",
    "key_values",
    "matches",
    "max_by_or_empty",
    "min_by_or_empty",
    "path_value",
    "row",
    "split_matches",
];

/// Filters of jq that are missing here; no similar name is suggested for them.
const MISSING: [&str; 15] = [
    "copysign",
    "env",
    "expm1",
    "fma",
    "fromdate",
    "input",
    "inputs",
    "log1p",
    "localtime",
    "mktime",
    "now",
    "sin",
    "sinh",
    "tan",
    "todate",
];

/// An expression that is ready to run.
pub(crate) struct Program {
    filter: Filter<Data>,
}

impl Program {
    /// Compiles an expression. The error is one line for its author.
    pub(crate) fn compile(expression: &str) -> Result<Self, String> {
        let of_jaq = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let own = load::parse(include_str!("definitions.jq"), |parser| parser.defs());
        let definitions = of_jaq.filter(|definition| !LEFT_OUT.contains(&definition.name));
        let definitions: Vec<_> = definitions.chain(own.unwrap_or_default()).collect();
        let library = jaq_core::funs().chain(jaq_std::base_funs());
        let library = library.filter(|(name, ..)| !LEFT_OUT.contains(name)).chain(natives());
        let library: Vec<_> = library.collect();
        let known: Vec<Known> = (definitions.iter())
            .map(|definition| (definition.name, definition.args.len()))
            .chain(library.iter().map(|(name, arguments, _)| (*name, arguments.len())))
            .filter(|(name, _)| !PARTS.contains(name) && !name.ends_with('_'))
            .collect();
        let arena = Arena::default();
        let main = File { code: expression, path: () };
        let modules = Loader::new(definitions).load(&arena, main);
        let modules = modules.map_err(|errors| unreadable(expression, errors))?;
        let compiled = Compiler::default().with_funs(library).compile(modules);
        let filter = compiled.map_err(|errors| {
            let unknown: Vec<_> = (errors.iter().flat_map(|(_, errors)| errors))
                .map(|(name, kind)| unknown(name, kind, &known))
                .collect();
            unknown.join("; ")
        })?;
        Ok(Self { filter })
    }

    /// The first two results; no more are needed. The error is one line for the user.
    pub(crate) fn run(&self, input: &str) -> Result<Vec<Value>, String> {
        let input = read::parse_single(input.as_bytes()).map_err(|error| error.to_string())?;
        let context = Ctx::<Data>::new(&self.filter.lut, Vars::new([]));
        let results = self.filter.id.run((context, value::Value(input))).take(2);
        results
            .map(|result| match result {
                Ok(value) => Ok(plain(&value)),
                Err(exception) => Err(match exception.get_err() {
                    Ok(error) => said(error.into_val()),
                    Err(_) => "stopped without a result".to_owned(),
                }),
            })
            .collect()
    }
}

/// The message of an error: a text without quotes, or another value.
fn said(value: value::Value) -> String {
    match value.as_utf8_bytes() {
        Some(text) => String::from_utf8_lossy(text).into_owned(),
        None => value.to_string(),
    }
}

/// The value as plain JSON; one that JSON lacks, such as NaN, as a text that shows it.
fn plain(value: &value::Value) -> Value {
    let text = value.to_string();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// The name of a filter, and the number of its arguments.
type Known = (&'static str, usize);

/// Describes a name in the expression that is not defined.
fn unknown(name: &str, kind: &Undefined, known: &[Known]) -> String {
    let mut text = format!("no {} `{name}` is known", kind.as_str());
    if let Undefined::Filter(given) = kind {
        let mut arities: Vec<usize> =
            known.iter().filter(|(known, _)| *known == name).map(|(_, count)| *count).collect();
        arities.sort_unstable();
        arities.dedup();
        let counts: Vec<String> = arities.iter().map(usize::to_string).collect();
        let meant = nearest(name, known.iter().map(|(known, _)| *known));
        let meant = meant.filter(|_| !MISSING.contains(&name));
        match (counts.is_empty(), meant) {
            (false, _) => {
                let counts = counts.join(" or ");
                text = format!("`{name}` takes {counts} arguments, not {given}");
            }
            (true, Some(meant)) => text.push_str(&format!("; did you mean `{meant}`?")),
            (true, None) => {}
        }
    }
    text
}

/// Describes where the expression cannot be read, and what was expected there.
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
