//! Checks the id of a run that a caller passes. The library decides which ids are valid.

use pyo3::prelude::*;
use scorebox::store::RunId;

use crate::error::{self, Kind};

/// The id of a run.
pub(crate) fn run_id_of(py: Python<'_>, id: &str) -> PyResult<RunId> {
    id.parse().map_err(|_| {
        let message = format!("`{id}` is not a valid id of a run");
        let advice =
            "use 1 to 64 of A-Z, a-z, 0-9, `.`, `_` and `-`, without `-` at the beginning, but not `.` or `..`".to_owned();
        error::advised(py, Kind::InvalidArgument, message, Some(advice))
    })
}
