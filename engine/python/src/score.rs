//! A score as Python reads it. Computes nothing.

use pyo3::{
    exceptions::{PyAttributeError, PyValueError},
    prelude::*,
    types::PyBytes,
};
use scorebox::row::{Answer, Json, Status};

use crate::{
    error::{self, in_words},
    pickled::Pickled,
    value,
};

/// What a scorer says about a case, and what that cost.
#[pyclass(frozen, eq, module = "scorebox")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Score {
    /// The error in it has no advice, which is the next field.
    answer: Answer,
    /// Advice about the error, as text, which can be pickled.
    advice: Option<String>,
    /// The case and the scorer, if it is a row.
    of: Option<(String, String)>,
}

impl Score {
    /// The score; an exception if there is none although there should be.
    pub(crate) fn of_one(py: Python<'_>, answer: Answer) -> PyResult<Score> {
        match &answer.error {
            Some(error) => Err(error::of_answer(py, error)),
            None => Ok(Score { answer, advice: None, of: None }),
        }
    }

    /// A row: errors stay what they are.
    pub(crate) fn of_row(case_id: String, scorer_id: String, mut answer: Answer) -> Score {
        let advice = answer.error.as_mut().and_then(|error| error.advice.take());
        Score { answer, advice: in_words(advice.as_ref()), of: Some((case_id, scorer_id)) }
    }
}

#[pymethods]
impl Score {
    /// `"scored"`, `"not-applicable"`, `"skipped"` or `"error"`.
    #[getter]
    fn status(&self) -> &'static str {
        self.answer.status.as_str()
    }

    /// The score; `None` if the status is not `"scored"`.
    #[getter]
    fn score(&self) -> Option<f64> {
        self.answer.score.filter(|_| self.answer.status == Status::Scored)
    }

    /// A category that goes with the score.
    #[getter]
    fn label(&self) -> Option<&str> {
        self.answer.label.as_deref()
    }

    /// Why, for a person.
    #[getter]
    fn reason(&self) -> Option<&str> {
        self.answer.reason.as_deref()
    }

    /// The scorer's own JSON, as Python's values; parsed at each call.
    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        parsed(py, self.answer.meta.as_ref())
    }

    /// The checks that the score is made of: dictionaries with `name`, `score` and more.
    #[getter]
    fn assertions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        parsed_list(py, self.answer.assertions.as_ref())
    }

    /// What the scorer logged: dictionaries with `level` and `message`.
    #[getter]
    fn log<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        parsed_list(py, self.answer.log.as_ref())
    }

    /// Fuel used; `None` if the time-out ended the score.
    #[getter]
    fn fuel(&self) -> Option<u64> {
        self.answer.fuel
    }

    /// The sandbox's peak memory, in bytes.
    #[getter]
    fn memory(&self) -> Option<u64> {
        self.answer.memory_bytes
    }

    /// How long the scorer took, in seconds.
    #[getter]
    fn elapsed(&self) -> Option<f64> {
        self.answer.duration_ms.map(|milliseconds| milliseconds / 1e3)
    }

    /// Why there is no score: a `ScoreboxError`; `None` unless the status is `"error"`.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let error = self.answer.error.as_ref()?;
        let error = error::of_row(py, error, self.advice.as_deref());
        Some(error.into_value(py).into_bound(py).into_any())
    }

    /// The case's id, of a row.
    #[getter]
    fn case_id(&self) -> Option<&str> {
        self.of.as_ref().map(|(case, _)| case.as_str())
    }

    /// The scorer's name in its suite, of a row.
    #[getter]
    fn scorer_id(&self) -> Option<&str> {
        self.of.as_ref().map(|(_, scorer)| scorer.as_str())
    }

    /// The row as the command line writes it: a dictionary with keys in camelCase.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let json = serde_json::to_string(&self.answer);
        let json = json.map_err(|error| PyAttributeError::new_err(error.to_string()))?;
        let row = value::read(py, &json)?;
        if let Some((case, scorer)) = &self.of {
            row.set_item("caseId", case)?;
            row.set_item("scorerId", scorer)?;
        }
        Ok(row)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let pickled =
            serde_json::to_vec(&Pickled::new(&self.answer, self.advice.as_ref(), self.of.as_ref()));
        let pickled = pickled.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let unpickle = py.get_type::<Score>().getattr("_unpickled")?;
        Ok((unpickle, (PyBytes::new(py, &pickled),)))
    }

    #[staticmethod]
    fn _unpickled(pickled: &[u8]) -> PyResult<Score> {
        let pickled: Option<Pickled> = serde_json::from_slice(pickled).ok();
        let (answer, advice, of) = pickled
            .and_then(Pickled::unpickled)
            .ok_or_else(|| PyValueError::new_err("a Score that another version pickled"))?;
        Ok(Score { answer, advice, of })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut shown = String::from("Score(");
        if let Some((case, scorer)) = &self.of {
            shown.push_str(&format!(
                "case_id={}, scorer_id={}, ",
                quoted(py, case)?,
                quoted(py, scorer)?
            ));
        }
        shown.push_str(&format!("status='{}'", self.status()));
        if let Some(score) = self.score() {
            shown.push_str(&format!(", score={score:?}"));
        }
        for (name, text) in [("label", self.label()), ("reason", self.reason())] {
            if let Some(text) = text {
                shown.push_str(&format!(", {name}={}", quoted(py, text)?));
            }
        }
        if let Some(error) = &self.answer.error {
            shown.push_str(&format!(
                ", error={}",
                quoted(py, &format!("{}: {}", error.kind, error.message))?
            ));
        }
        shown.push(')');
        Ok(shown)
    }
}

fn quoted(py: Python<'_>, text: &str) -> PyResult<String> {
    Ok(text.into_pyobject(py)?.repr()?.to_string())
}

fn parsed<'py>(py: Python<'py>, json: Option<&Json>) -> PyResult<Option<Bound<'py, PyAny>>> {
    json.map(|json| value::read(py, json.get())).transpose()
}

fn parsed_list<'py>(py: Python<'py>, json: Option<&Json>) -> PyResult<Bound<'py, PyAny>> {
    value::read(py, json.map_or("[]", Json::get))
}
