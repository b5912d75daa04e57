//! Calls the command line, and the process that compiles for this package. Both are implemented in other crates.

use std::ffi::OsString;

use pyo3::prelude::*;
use scorebox::sandbox::compile_if_asked;

use crate::home;

/// Does what the arguments say, the first of which is the program's name, as the program `scorebox` does. Answers with
/// the exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let compiler = home::compiler(py)?;
    Ok(py.detach(|| scorebox_cli::run(arguments, compiler)))
}

/// Compiles a component for the process that started this one, and ends. Returns at once in any other process.
#[pyfunction]
pub(crate) fn compile(py: Python<'_>) {
    py.detach(compile_if_asked);
}
