//! The options for the requirements of a run as a whole. The library's `verdict` decides whether they are broken.

use scorebox::{
    contract::Scale, run::ReadyScorer, store::ScorerSpec, suite::Suite, verdict::Requirements,
};

use super::split_named;
use crate::failure::{Exit, Failure};

/// What is required of a run, on the command line.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Requirements")]
pub(crate) struct RequirementArguments {
    /// Treat soft scorers with a threshold as gates: regressions fail cases, and errors count
    #[arg(long)]
    pub strict: bool,

    /// Require a scorer's mean to be at least X, or at most X if lower is better
    #[arg(long, value_name = "NAME=X", add = super::completing::suite_entries())]
    fail_below: Vec<String>,

    /// Require a pass rate of at least RATE, 0 to 1, instead of every case to pass
    #[arg(long, value_name = "RATE", value_parser = rate)]
    min_pass_rate: Option<f64>,

    /// Allow at most N scores to be errors (instead of exit code 1 for any)
    #[arg(long, value_name = "N")]
    max_errors: Option<u64>,

    /// Accept that this scorer, which can fail a case, decides none of them; may be repeated
    #[arg(long, value_name = "NAME", add = super::completing::suite_entries())]
    allow_idle: Vec<String>,

    /// Exit with 0 even if cases fail or a requirement is broken
    #[arg(long)]
    allow_failures: bool,
}

fn rate(written: &str) -> Result<f64, String> {
    let rate = written.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
    rate.ok_or_else(|| format!("`{written}` is not a number from 0 to 1"))
}

/// The facts about a run that decide its exit code, together with the arguments.
pub(crate) struct RunEnded {
    /// Whether a requirement is broken.
    pub is_broken: bool,
    /// The number of scores that are errors, which `--max-errors` limits.
    pub errors: u64,
    /// Whether there is an error that `--max-errors` does not cover, such as in a scorer's summary of the run.
    pub has_other_error: bool,
    /// Whether errors are only reported.
    pub allows_errors: bool,
}

impl RequirementArguments {
    /// The requirements; each must name a scorer of the suite.
    pub(crate) fn of(&self, suite: &mut Suite) -> Result<Requirements, Failure> {
        self.with_names(|name| Ok(suite.scorer_mut(name)?.id.to_string()))
    }

    /// The requirements of a run that was scored elsewhere, with these scorers; `None` if there are none.
    pub(crate) fn of_scored(
        &self,
        scorers: &[ScorerSpec],
    ) -> Result<Option<Requirements>, Failure> {
        let names_any = !self.fail_below.is_empty() || !self.allow_idle.is_empty();
        let is_any = self.strict || self.allow_failures || names_any;
        if !is_any && self.min_pass_rate.is_none() && self.max_errors.is_none() {
            return Ok(None);
        }
        let named = |name: &str| scorers.iter().find(|scorer| scorer.scorer_id == name);
        let requirements = self.with_names(|name| match named(name) {
            Some(scorer) => Ok(scorer.scorer_id.clone()),
            None => {
                let there = scorers.iter().map(|scorer| scorer.scorer_id.as_str());
                let there = there.collect::<Vec<_>>().join(", ");
                Err(Failure::new(format!("the run has no scorer `{name}`"))
                    .hint(format!("its scorers: {there}")))
            }
        })?;
        RequirementArguments::must_be_on(&requirements, |name| named(name).map(|it| it.scale))?;
        Ok(Some(requirements))
    }

    fn with_names(
        &self,
        mut id_of: impl FnMut(&str) -> Result<String, Failure>,
    ) -> Result<Requirements, Failure> {
        let mut requirements = Requirements::default()
            .with_least_pass_rate(self.min_pass_rate)
            .with_most_errors(self.max_errors);
        for written in &self.fail_below {
            let (name, worst) = split_named("fail-below", written)?;
            let name = id_of(&name)?;
            let worst = worst.parse().ok().filter(|worst: &f64| worst.is_finite() && *worst >= 0.0);
            let worst = worst.ok_or_else(|| {
                Failure::new(format!("--fail-below {written}: not a number of 0 or more"))
            })?;
            requirements.worst_means.push((name, worst));
        }
        for name in &self.allow_idle {
            requirements.may_be_idle.push(id_of(name)?);
        }
        Ok(requirements)
    }

    /// The exit code of a run that ended in this way.
    pub(crate) fn exit(&self, ended: RunEnded) -> Exit {
        let RunEnded { is_broken, errors, has_other_error, allows_errors } = ended;
        let has_error = has_other_error || (errors > 0 && self.max_errors.is_none());
        match (is_broken && !self.allow_failures, has_error && !allows_errors) {
            (true, _) => Exit::BrokenRequirement,
            (false, true) => Exit::SomeErrors,
            (false, false) => Exit::Done,
        }
    }

    /// Refuses required means that the scorers cannot have.
    pub(crate) fn must_be_on_scale(
        requirements: &Requirements,
        scorers: &[ReadyScorer],
    ) -> Result<(), Failure> {
        RequirementArguments::must_be_on(requirements, |name| {
            let ready = scorers.iter().find(|ready| ready.id.as_str() == name);
            ready.map(|ready| ready.policy.scale())
        })
    }

    fn must_be_on(
        requirements: &Requirements,
        scale_of: impl Fn(&str) -> Option<Scale>,
    ) -> Result<(), Failure> {
        for (name, worst) in &requirements.worst_means {
            if scale_of(name).is_some_and(|scale| !scale.contains(*worst)) {
                return Err(Failure::new(format!(
                    "--fail-below {name}={worst}: the scores of `{name}` are from 0 to 1"
                )));
            }
        }
        Ok(())
    }
}
