//! Writes Python values as JSON text, and reads them back. A value that is not JSON is refused with the path to it.
//! Builds no tree in between.

use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType},
};
use scorebox::case::MAX_DEPTH;
use scorebox_shards::{push_float, push_text};

use crate::error::{self, Kind};

/// Why a value is not JSON, and where: the path is built on the way back.
struct NotJson {
    path: Vec<String>,
    what: String,
    advice: Option<&'static str>,
    /// An exception that the value's own code raised, which is passed on instead of the above.
    raised: Option<Box<PyErr>>,
}

impl NotJson {
    fn new(what: impl Into<String>) -> NotJson {
        NotJson { path: Vec::new(), what: what.into(), advice: None, raised: None }
    }

    fn advised(mut self, advice: &'static str) -> NotJson {
        self.advice = Some(advice);
        self
    }

    fn within(mut self, step: impl ToString) -> NotJson {
        self.path.push(step.to_string());
        self
    }
}

impl From<PyErr> for NotJson {
    fn from(error: PyErr) -> NotJson {
        NotJson { raised: Some(Box::new(error)), ..NotJson::new("") }
    }
}

/// Appends a value, which is called `name` in messages, to `out`.
///
/// A value that is not a string, a finite number, a bool, `None`, or a list, tuple or dictionary of these with string
/// keys, or that is nested more deeply than a case may be, is refused with its path (`/trace/3/args`). An exception
/// that the value's own code raises is passed on.
pub(crate) fn write(out: &mut String, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    write_value(out, value, 0).map_err(|refused| {
        let NotJson { mut path, what, advice, raised } = refused;
        if let Some(raised) = raised {
            return *raised;
        }
        path.push(name.to_owned());
        path.reverse();
        // The path is written as a JSON Pointer.
        let steps = path.iter().filter(|step| !step.is_empty());
        let path: String =
            steps.map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect();
        let place = if path.is_empty() { "the value".to_owned() } else { format!("`{path}`") };
        let message = format!("{place} is not JSON: {what}");
        error::advised(value.py(), Kind::InvalidCase, message, advice.map(str::to_owned))
    })
}

fn write_value(out: &mut String, value: &Bound<'_, PyAny>, depth: usize) -> Result<(), NotJson> {
    if let Ok(text) = value.cast::<PyString>() {
        return write_text(out, text);
    }
    if value.is_none() {
        out.push_str("null");
        return Ok(());
    }
    if let Ok(yes) = value.cast::<PyBool>() {
        out.push_str(if yes.is_true() { "true" } else { "false" });
        return Ok(());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return write_float(out, number.value());
    }
    if value.cast::<PyInt>().is_ok() {
        return write_integer(out, value);
    }
    if depth >= MAX_DEPTH {
        return Err(NotJson::new(format!("it is nested deeper than {MAX_DEPTH}"))
            .advised("scorers do not parse deeper nesting; put the inner part into a string"));
    }
    if let Ok(members) = value.cast::<PyDict>() {
        return write_members(out, members, depth);
    }
    if let Ok(items) = value.cast::<PyList>() {
        return write_items(out, items.iter(), depth);
    }
    if let Ok(items) = value.cast::<PyTuple>() {
        return write_items(out, items.iter(), depth);
    }
    if write_other_number(out, value)? {
        return Ok(());
    }
    let kind = value.get_type().fully_qualified_name();
    let kind =
        kind.map_or_else(|_| "an object".to_owned(), |kind| format!("a value of type `{kind}`"));
    Err(NotJson::new(kind)
        .advised("pass strings, numbers, bools, None, and lists, tuples and dictionaries of these"))
}

fn write_text(out: &mut String, text: &Bound<'_, PyString>) -> Result<(), NotJson> {
    match text.to_str() {
        Ok(text) => {
            push_text(out, text);
            Ok(())
        }
        Err(_) => Err(NotJson::new("a text with a lone surrogate, which is not Unicode")
            .advised("`text.encode(\"utf-8\", \"replace\").decode()` replaces it")),
    }
}

/// Appends a number; JSON has only finite ones.
fn write_float(out: &mut String, number: f64) -> Result<(), NotJson> {
    match push_float(out, number) {
        true => Ok(()),
        false => {
            Err(NotJson::new(format!("{number}"))
                .advised("JSON has no NaN and no Infinity; pass None"))
        }
    }
}

fn write_integer(out: &mut String, number: &Bound<'_, PyAny>) -> Result<(), NotJson> {
    if let Ok(small) = number.extract::<i64>() {
        out.push_str(&small.to_string());
        return Ok(());
    }
    // Not `str`, which a subclass such as an enum overrides.
    let digits = number.py().get_type::<PyInt>().call_method1("__repr__", (number,));
    match digits.and_then(|digits| digits.extract::<String>()) {
        Ok(digits) => {
            out.push_str(&digits);
            Ok(())
        }
        Err(_) => Err(NotJson::new("an integer with too many digits")),
    }
}

/// Appends a number or a bool of another library; false if the value is neither. The type decides, because a value such
/// as a mock may have any attribute that it is asked for.
fn write_other_number(out: &mut String, value: &Bound<'_, PyAny>) -> Result<bool, NotJson> {
    static INTEGRAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (py, kind) = (value.py(), value.get_type());
    let is_numpys = kind.module()?.to_string_lossy() == "numpy";
    // NumPy makes its time spans a subtype of integers, although they are not numbers.
    if is_numpys && kind.name()?.to_string_lossy() == "timedelta64" {
        return Ok(false);
    }
    if kind.is_subclass(INTEGRAL.import(py, "numbers", "Integral")?)? {
        let number = py.import("operator")?.call_method1("index", (value,))?;
        write_integer(out, &number)?;
        return Ok(true);
    }
    if !is_numpys {
        return Ok(false);
    }
    match kind.name()?.to_string_lossy().as_ref() {
        "bool" | "bool_" => out.push_str(if value.is_truthy()? { "true" } else { "false" }),
        "float16" | "float32" => write_narrow_float(out, value.extract()?)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Appends a number of 32 bits or less with its shortest digits, as columns of such numbers are written.
fn write_narrow_float(out: &mut String, number: f32) -> Result<(), NotJson> {
    write_float(out, number.to_string().parse().unwrap_or_else(|_| f64::from(number)))
}

fn write_members(
    out: &mut String,
    members: &Bound<'_, PyDict>,
    depth: usize,
) -> Result<(), NotJson> {
    out.push('{');
    // Iterates over a copy: the code of a value that is written may change the dictionary.
    for (index, (key, value)) in members.copy()?.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        let Ok(key) = key.cast::<PyString>() else {
            let key = key.repr().map_or_else(|_| "?".to_owned(), |key| key.to_string());
            return Err(NotJson::new(format!("the key {key} is not a string")));
        };
        write_text(out, key)?;
        out.push(':');
        write_value(out, &value, depth + 1)
            .map_err(|refused| refused.within(key.to_string_lossy()))?;
    }
    out.push('}');
    Ok(())
}

fn write_items<'py>(
    out: &mut String,
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
) -> Result<(), NotJson> {
    out.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_value(out, &item, depth + 1).map_err(|refused| refused.within(index))?;
    }
    out.push(']');
    Ok(())
}

/// Reads JSON text as Python values.
pub(crate) fn read<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json,))
}

/// Reads a configuration, which must be an object.
pub(crate) fn object(
    value: &Bound<'_, PyAny>,
) -> PyResult<serde_json::Map<String, serde_json::Value>> {
    let mut json = String::new();
    write(&mut json, "config", value)?;
    serde_json::from_str(&json).map_err(|_| {
        let message = "the configuration is not a dictionary, or has a number that is too large";
        error::new(value.py(), Kind::InvalidArgument, message.to_owned())
    })
}
