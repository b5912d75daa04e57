//! What a caller requires of a run as a whole, like the options of `scorebox run`. The library decides whether it
//! holds.

use pyo3::prelude::*;
use scorebox::{
    contract::Scale, run::ReadyScorer, store::ScorerSpec, suite::Suite, verdict::Requirements,
};
use scorebox_cli::Required;

use crate::error::{self, Kind};

/// The requirements as they were passed, not checked yet.
#[derive(Clone, Debug)]
pub(crate) struct Passed {
    pub(crate) strict: bool,
    /// The worst mean that each of these scorers may have.
    pub(crate) fail_below: Vec<(String, f64)>,
    pub(crate) min_pass_rate: Option<f64>,
    pub(crate) max_errors: Option<i64>,
    pub(crate) allow_idle: Vec<String>,
    pub(crate) allow_errors: bool,
}

impl Passed {
    /// The requirements, each of which must name a scorer of the suite.
    ///
    /// # Errors
    /// A number is out of its range, or the suite has no such scorer.
    pub(crate) fn of(self, py: Python<'_>, suite: &mut Suite) -> PyResult<Required> {
        self.with_names(py, |name| match suite.scorer_mut(name) {
            Ok(scorer) => Ok(scorer.id.to_string()),
            Err(error) => Err(error::of_suite(py, &error)),
        })
    }

    /// The requirements of a run that was scored elsewhere, with these scorers; `None` if nothing is required.
    ///
    /// # Errors
    /// A number is out of its range or off its scorer's scale, or the run has no such scorer.
    pub(crate) fn of_scored(
        self,
        py: Python<'_>,
        scorers: &[ScorerSpec],
    ) -> PyResult<Option<Required>> {
        let names_any = !self.fail_below.is_empty() || !self.allow_idle.is_empty();
        let counts_any = self.min_pass_rate.is_some() || self.max_errors.is_some();
        if !self.strict && !names_any && !counts_any {
            return Ok(None);
        }
        let named = |name: &str| scorers.iter().find(|scorer| scorer.scorer_id == name);
        let required = self.with_names(py, |name| match named(name) {
            Some(scorer) => Ok(scorer.scorer_id.clone()),
            None => {
                let there: Vec<&str> = scorers.iter().map(|it| it.scorer_id.as_str()).collect();
                let message = format!("the run has no scorer `{name}`");
                let advice = format!("its scorers: {}", there.join(", "));
                Err(error::advised(py, Kind::UnknownScorer, message, Some(advice)))
            }
        })?;
        must_be_on(py, &required.requirements, |name| named(name).map(|it| it.scale))?;
        Ok(Some(required))
    }

    fn with_names(
        self,
        py: Python<'_>,
        mut id_of: impl FnMut(&str) -> PyResult<String>,
    ) -> PyResult<Required> {
        let Passed { strict, fail_below, min_pass_rate, max_errors, allow_idle, allow_errors } =
            self;
        let refused = |message: String| error::new(py, Kind::InvalidArgument, message);
        if let Some(rate) = min_pass_rate.filter(|rate| !(0.0..=1.0).contains(rate)) {
            return Err(refused(format!("`min_pass_rate` is {rate}: not a number from 0 to 1")));
        }
        let max_errors = max_errors.map(|most| {
            let counted = u64::try_from(most);
            counted
                .map_err(|_| refused(format!("`max_errors` is {most}: not a number of 0 or more")))
        });
        let mut requirements = Requirements::default()
            .with_least_pass_rate(min_pass_rate)
            .with_most_errors(max_errors.transpose()?);
        for (name, worst) in fail_below {
            let id = id_of(&name)?;
            if !worst.is_finite() || worst < 0.0 {
                let message =
                    format!("`fail_below` of `{name}` is {worst}: not a number of 0 or more");
                return Err(refused(message));
            }
            requirements = requirements.with_worst_mean(id, worst);
        }
        for name in &allow_idle {
            requirements = requirements.with_idle(id_of(name)?);
        }
        Ok(Required { requirements, strict, allow_errors })
    }
}

/// Refuses means that are not on the scales of the scorers.
pub(crate) fn must_be_on_scale(
    py: Python<'_>,
    requirements: &Requirements,
    scorers: &[ReadyScorer],
) -> PyResult<()> {
    must_be_on(py, requirements, |name| {
        let ready = scorers.iter().find(|ready| ready.id.as_str() == name);
        ready.map(|ready| ready.policy.scale())
    })
}

fn must_be_on(
    py: Python<'_>,
    requirements: &Requirements,
    scale_of: impl Fn(&str) -> Option<Scale>,
) -> PyResult<()> {
    for (name, worst) in &requirements.worst_means {
        if scale_of(name).is_some_and(|scale| !scale.contains(*worst)) {
            let message = format!(
                "`fail_below` of `{name}` is {worst}: the scores of `{name}` are from 0 to 1"
            );
            return Err(error::new(py, Kind::InvalidArgument, message));
        }
    }
    Ok(())
}
