//! The extension module of the Python package `scorebox`: the engine as Python sees it, in the plain values that the
//! package's own Python code wraps. Scores nothing itself; every word of documentation that users read is in `python/`.
//!
//! - `home`: what one process has: a runtime, an engine, and its process id.
//! - `waiting`: waits for Rust while Python's signals are noticed and its other threads run.
//! - `open_runs`: how many runs may be open at once.
//! - `value`: converts Python values to JSON, and reports the path of what is not JSON.
//! - `error`: errors of the library as Python's exception.
//! - `advice`: what to do about an error, in the package's terms.
//! - `case`: makes cases of what a caller passes.
//! - `answer`: the answer of one scorer on one case.
//! - `scorer`: one scorer.
//! - `score`: a score as Python reads it; `pickled`: the same for other processes.
//! - `capsule`: Arrow tables in and out, without copies; `arrays`: the data of another library; `selecting`: the
//!   columns that are read.
//! - `table`: scores a table with one scorer.
//! - `batches`: scores a table with a suite.
//! - `components`: the components of a suite's scorers, as they were first loaded.
//! - `suite`: a suite; `rows`: the rows of a stream of cases that it scores; `behind`: the run behind them.
//! - `merging`: merges the shards of a run.
//! - `run_id`: the id of a run; `running`: a run over files; `requirements`: the requirements of a run.
//! - `judges`: connects the judges of a suite.
//! - `command`: the command line.

mod advice;
mod answer;
mod arrays;
mod batches;
mod behind;
mod capsule;
mod case;
mod command;
mod components;
mod error;
mod home;
mod judges;
mod merging;
mod open_runs;
mod pickled;
mod requirements;
mod rows;
mod run_id;
mod running;
mod score;
mod scorer;
mod selecting;
mod suite;
mod table;
mod value;
mod waiting;

use pyo3::prelude::*;

/// The module.
#[pymodule(gil_used = true)]
fn _scorebox(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<scorer::Scorer>()?;
    module.add_class::<scorer::Pending>()?;
    module.add_class::<score::Score>()?;
    module.add_class::<suite::Suite>()?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<rows::EndOfRows>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<running::Running>()?;
    module.add_function(wrap_pyfunction!(scorer::scorers, module)?)?;
    module.add_function(wrap_pyfunction!(merging::merge, module)?)?;
    module.add_function(wrap_pyfunction!(home::configure, module)?)?;
    module.add_function(wrap_pyfunction!(waiting::finish, module)?)?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_function(wrap_pyfunction!(command::compile, module)?)?;
    Ok(())
}
