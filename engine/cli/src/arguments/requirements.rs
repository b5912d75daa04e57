//! What a user requires of a run as a whole. Decides nothing; `verdict` of the library does.

use scorebox::{run::ReadyScorer, suite::Suite, verdict::Requirements};

use super::split_named;
use crate::failure::{Exit, Failure};

/// What is required of a run, on the command line.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Requirements")]
pub(crate) struct RequirementArguments {
    /// Also fail cases with a soft score beyond its threshold
    #[arg(long)]
    pub strict: bool,

    /// Require a scorer's mean to be at least X, or at most X if lower is better
    #[arg(long, value_name = "NAME=X", add = super::completing::suite_entries())]
    fail_below: Vec<String>,

    /// Require a pass rate of at least RATE, 0 to 1, instead of every case to pass
    #[arg(long, value_name = "RATE", value_parser = rate)]
    min_pass_rate: Option<f64>,

    /// Allow at most N errors (instead of exit code 1 for any)
    #[arg(long, value_name = "N")]
    max_errors: Option<u64>,

    /// Exit with 0 even if cases fail or a requirement is broken
    #[arg(long)]
    allow_failures: bool,
}

fn rate(written: &str) -> Result<f64, String> {
    let rate = written.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
    rate.ok_or_else(|| format!("`{written}` is not a number from 0 to 1"))
}

impl RequirementArguments {
    /// The requirements, where each names a scorer of the suite.
    pub(crate) fn of(&self, suite: &mut Suite) -> Result<Requirements, Failure> {
        let mut requirements = Requirements::default()
            .with_least_pass_rate(self.min_pass_rate)
            .with_most_errors(self.max_errors);
        for written in &self.fail_below {
            let (name, worst) = split_named("fail-below", written)?;
            let name = suite.scorer_mut(&name)?.id.to_string();
            let worst = worst.parse().ok().filter(|worst: &f64| worst.is_finite() && *worst >= 0.0);
            let worst = worst.ok_or_else(|| {
                Failure::new(format!("--fail-below {written}: not a number of 0 or more"))
            })?;
            requirements.worst_means.push((name, worst));
        }
        Ok(requirements)
    }

    /// The exit code of a run that ended: whether a requirement of it is broken, and how many of its scores are errors.
    pub(crate) fn exit(&self, is_broken: bool, errors: u64, allow_errors: bool) -> Exit {
        let errors_are_bad = !allow_errors && self.max_errors.is_none();
        match (is_broken && !self.allow_failures, errors > 0 && errors_are_bad) {
            (true, _) => Exit::BrokenRequirement,
            (false, true) => Exit::SomeErrors,
            (false, false) => Exit::Done,
        }
    }

    /// Refuses means that the scorers cannot have.
    pub(crate) fn must_be_on_scale(
        requirements: &Requirements,
        scorers: &[ReadyScorer],
    ) -> Result<(), Failure> {
        for (name, worst) in &requirements.worst_means {
            let ready = scorers.iter().find(|ready| ready.id.as_str() == name);
            if ready.is_some_and(|ready| !ready.policy.scale().contains(*worst)) {
                return Err(Failure::new(format!(
                    "--fail-below {name}={worst}: the scores of `{name}` are from 0 to 1"
                )));
            }
        }
        Ok(())
    }
}
