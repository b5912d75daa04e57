//! The judges that scorers ask: their options on the command line, and their keys from the environment. The crate
//! `scorebox-judges` connects to providers.

use std::{path::Path, sync::Arc};

use scorebox::{
    judge::{
        Budget, Consumed, JudgeSettings, Judges, Jury, ProviderSettings, RecordedFile, RecordingUse,
    },
    sandbox::Grant,
    store::CallStore,
    suite::{Suite, SuiteJudge},
};
use scorebox_judges::ConnectError;

use crate::{failure::Failure, setup, words};

/// What to do about a judge without its key.
const SET_THE_KEY: &str =
    "set it, name another with `key_env`, or replay recorded answers: --judge-cache only";

/// What to do about a line that is not a recording.
pub(crate) const NOT_A_RECORDING: &str =
    "each line is a recording, as `scorebox calls --format jsonl` prints it";

/// The most models that an error lists.
const SHOWN_MODELS: usize = 10;

/// Language models that scorers ask.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Judges")]
pub(crate) struct JudgeArguments {
    /// The model that is asked, instead of those that the suite names; not for a jury of several models
    #[arg(long, value_name = "MODEL", value_parser = parse_model)]
    judge_model: Option<String>,

    /// The most that all questions together may cost: `calls=1000`, `usd=2.50`, or both with a comma; beyond it nothing
    /// is asked, and a run stops, with the scores so far kept
    #[arg(long, value_name = "BUDGET", value_parser = parse_budget)]
    judge_budget: Option<Budget>,

    /// Recorded answers: use them, refresh them (ask again), use only them (ask no judge), or off (record nothing)
    #[arg(long, value_name = "HOW", default_value = "use")]
    judge_cache: RecordingUseArgument,

    /// Use no network: judges answer from recordings only, and nothing is exported (scorers are never fetched while
    /// scoring)
    #[arg(long)]
    offline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RecordingUseArgument {
    Use,
    Refresh,
    Only,
    Off,
}

impl From<RecordingUseArgument> for RecordingUse {
    fn from(argument: RecordingUseArgument) -> RecordingUse {
        match argument {
            RecordingUseArgument::Use => RecordingUse::Use,
            RecordingUseArgument::Refresh => RecordingUse::Refresh,
            RecordingUseArgument::Only => RecordingUse::Only,
            RecordingUseArgument::Off => RecordingUse::Off,
        }
    }
}

impl JudgeArguments {
    /// The model that the user named.
    pub(crate) fn model(&self) -> Option<&str> {
        self.judge_model.as_deref()
    }

    /// Warns of each option that has no effect, because no scorer asks a judge.
    pub(crate) fn say_if_unused(&self, is_asked: bool) {
        let changes_recordings = self.judge_cache != RecordingUseArgument::Use;
        let options = [
            ("--judge-model", self.judge_model.is_some()),
            ("--judge-budget", self.judge_budget.is_some()),
            ("--judge-cache", changes_recordings),
        ];
        for (option, _) in options.into_iter().filter(|(_, is_given)| *is_given && !is_asked) {
            words::warn(&format!("{option} has no effect: no scorer asks a judge"));
        }
    }

    /// Refuses the combination of asking judges again and using no network.
    fn must_agree(&self) -> Result<(), Failure> {
        let cache = match self.judge_cache {
            RecordingUseArgument::Refresh => "refresh",
            RecordingUseArgument::Off => "off",
            RecordingUseArgument::Use | RecordingUseArgument::Only => return Ok(()),
        };
        if !self.offline {
            return Ok(());
        }
        Err(Failure::new(format!(
            "--judge-cache {cache} asks every question, and --offline uses no network"
        ))
        .hint("leave one of them out"))
    }

    /// How recorded answers are used.
    pub(crate) fn recording_use(&self) -> RecordingUseArgument {
        match self.offline {
            true => RecordingUseArgument::Only,
            false => self.judge_cache,
        }
    }

    /// Whether the network must not be used.
    pub(crate) fn is_offline(&self) -> bool {
        self.offline
    }

    /// Refuses a budget in money if a judge that may be asked has no price: no one would know what is left of it.
    fn must_know_costs<'j>(
        &self,
        asked: impl Iterator<Item = (&'j String, &'j SuiteJudge)>,
    ) -> Result<(), Failure> {
        let is_in_dollars = self.judge_budget.is_some_and(|budget| budget.cost_usd.is_some());
        if !is_in_dollars || self.recording_use() == RecordingUseArgument::Only {
            return Ok(());
        }
        // Recorded answers cost nothing.
        let is_free = |settings: &JudgeSettings| {
            matches!(settings.provider, ProviderSettings::Recorded { .. })
        };
        let unknown = asked
            .map(|(name, judge)| (name, &judge.settings))
            .find(|(_, settings)| !settings.knows_cost() && !is_free(settings));
        let Some((name, _)) = unknown else { return Ok(()) };
        Err(Failure::new(format!(
            "--judge-budget: a budget in US dollars needs the `price` of the judge `{name}`"
        ))
        .hint("give it one in the suite: `price = { input = 0.15, output = 0.60 }`, 0 if it is free; or bound the calls: --judge-budget calls=1000"))
    }

    /// The judges that scorers of `suite` ask, connected, with the recordings in `database`, if there is one. Judges
    /// that no scorer asks are not connected.
    pub(crate) fn judges(
        &self,
        suite: &mut Suite,
        database: Option<&Path>,
    ) -> Result<Judges, Failure> {
        self.judges_after(suite, database, Consumed::default())
    }

    /// The same, after this part of the budget was spent before.
    pub(crate) fn judges_after(
        &self,
        suite: &mut Suite,
        database: Option<&Path>,
        before: Consumed,
    ) -> Result<Judges, Failure> {
        self.must_agree()?;
        self.name_model(suite)?;
        let asked: Vec<String> = asked(suite).map(str::to_owned).collect();
        let is_asked = |name: &String| asked.contains(name);
        self.must_know_costs(suite.judges.iter().filter(|(name, _)| is_asked(name)))?;
        let mut builder = Judges::builder()
            .budget(self.judge_budget.unwrap_or_default())
            .consumed_before(before)
            .recording_use(self.recording_use().into());
        for (name, judge) in suite.judges.iter().filter(|(name, _)| is_asked(name)) {
            let settings = judge.settings.clone();
            builder = match &judge.settings.provider {
                ProviderSettings::Recorded { file } => {
                    let recorded = recorded(name, judge, file)?;
                    must_name_a_model(suite, name, judge, &recorded)?;
                    builder.recorded_judge(name, settings.clone(), Arc::new(recorded))
                }
                _ if self.recording_use() == RecordingUseArgument::Only => {
                    builder.judge(name, settings, None)
                }
                _ => {
                    let provider = connected(name, &settings)?;
                    builder.judge(name, settings, Some(provider))
                }
            };
        }
        let is_used =
            suite.judges.keys().any(is_asked) && self.recording_use() != RecordingUseArgument::Off;
        if let Some(database) = database.filter(|_| is_used) {
            builder = builder.recordings(Arc::new(CallStore::open(database)?));
        }
        Ok(builder.build())
    }

    /// Makes all judges and scorers ask the model that the user names. A jury of several models or judges is refused,
    /// because it would ask the same model several times.
    fn name_model(&self, suite: &mut Suite) -> Result<(), Failure> {
        let Some(model) = &self.judge_model else { return Ok(()) };
        let names_several = |jury: &Jury| jury.models.len().max(jury.judges.len()) > 1;
        let with_jury =
            suite.scorers.iter().find(|it| it.judge.jury.as_ref().is_some_and(names_several));
        if let Some(scorer) = with_jury {
            return Err(Failure::new(format!(
                "--judge-model: the scorer `{}` has a jury of several models, which one model cannot replace",
                scorer.id
            ))
            .hint("change the models of its `jury` in the suite, or take `jury` out"));
        }
        for judge in suite.judges.values_mut() {
            judge.settings.model = Some(model.clone());
        }
        for scorer in &mut suite.scorers {
            scorer.judge.model = None;
            if let Some(jury) = &mut scorer.judge.jury {
                jury.models.clear();
            }
        }
        Ok(())
    }
}

/// The names of the judges that scorers of a suite ask, some more than once.
fn asked(suite: &Suite) -> impl Iterator<Item = &str> {
    let asking = suite.scorers.iter().filter(|scorer| scorer.grants.contains(Grant::Judge));
    asking.flat_map(|scorer| scorer.judge.names())
}

/// The errors in the recordings of the judges that a suite asks.
pub(crate) fn unreadable_recordings(suite: &Suite) -> Vec<Failure> {
    let judges = suite.judges.iter().filter(|(name, _)| asked(suite).any(|asked| asked == *name));
    let read = judges.filter_map(|(name, judge)| match &judge.settings.provider {
        ProviderSettings::Recorded { file } => Some(recorded(name, judge, file)),
        _ => None,
    });
    read.filter_map(Result::err).collect()
}

fn recorded(name: &str, judge: &SuiteJudge, file: &Path) -> Result<RecordedFile, Failure> {
    let location =
        judge.location.as_ref().map_or_else(String::new, |location| format!("{location}: "));
    RecordedFile::open(file)
        .map_err(|error| Failure::new(format!("{location}judge `{name}`: {error}")))
}

/// Refuses to ask a judge of recordings without a model if all of its recordings name a model.
fn must_name_a_model(
    suite: &Suite,
    name: &str,
    judge: &SuiteJudge,
    recorded: &RecordedFile,
) -> Result<(), Failure> {
    let asking = suite.scorers.iter().filter(|scorer| scorer.grants.contains(Grant::Judge));
    let mut members = asking.flat_map(|scorer| scorer.judge.members());
    let names_none = judge.settings.model.is_none()
        && members.any(|member| member.name() == name && member.model.is_none());
    let models: Vec<&str> = recorded.models().take(SHOWN_MODELS).collect();
    // Names are sorted: an empty one comes first.
    if !names_none || models.first().is_none_or(|model| model.is_empty()) {
        return Ok(());
    }
    let location =
        judge.location.as_ref().map_or_else(String::new, |location| format!("{location}: "));
    let why = "it names no `model`, and all its recordings are of questions to one";
    let models = models.join("`, `");
    Err(Failure::new(format!("{location}judge `{name}`: {why}"))
        .hint(format!("name the `model` that was asked: `{models}`")))
}

/// The judge's provider, with its key.
pub(crate) fn connected(
    name: &str,
    settings: &JudgeSettings,
) -> Result<Arc<dyn scorebox::judge::Provider>, Failure> {
    scorebox_judges::connect_with(settings, setup::variable).map_err(|error| {
        let failure = Failure::new(format!("judge `{name}`: {error}"));
        match error {
            ConnectError::NoKey(_) => failure.hint(SET_THE_KEY),
            _ => failure,
        }
    })
}

fn parse_model(written: &str) -> Result<String, String> {
    match JudgeSettings::can_have_model(written) {
        true => Ok(written.to_owned()),
        false => Err("a model has a name of 1 to 200 bytes, without control characters and not of white space alone".to_owned()),
    }
}

fn parse_budget(written: &str) -> Result<Budget, String> {
    let mut budget = Budget::default();
    for part in written.split(',') {
        let expected = || format!("`{part}` is not `calls=NUMBER` or `usd=NUMBER`");
        let (key, value) = part.split_once('=').ok_or_else(expected)?;
        let key = key.trim();
        let is_twice = match key {
            "calls" => {
                let calls = value.trim().parse().map_err(|_| expected())?;
                budget.calls.replace(calls).is_some()
            }
            "usd" => {
                let dollars: f64 = value.trim().parse().map_err(|_| expected())?;
                if !dollars.is_finite() || dollars < 0.0 {
                    return Err(expected());
                }
                budget.cost_usd.replace(dollars).is_some()
            }
            _ => return Err(expected()),
        };
        if is_twice {
            return Err(format!("`{key}` is there twice; give it once"));
        }
    }
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_the_name_that_one_of_a_suite_has() {
        assert_eq!(parse_model("qwen3:8b"), Ok("qwen3:8b".to_owned()));
        for wrong in ["", " ", "a\nb", "x".repeat(201).as_str()] {
            assert!(parse_model(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_budget_is_of_calls_or_of_dollars_or_both() {
        let both = Budget::default().with_calls(7).with_cost_usd(0.5);
        assert_eq!(parse_budget("calls=7,usd=0.5"), Ok(both));
        assert_eq!(parse_budget("usd=2").unwrap().cost_usd, Some(2.0));
        for wrong in ["", "7", "calls=x", "usd=-1", "usd=inf", "tokens=7", "calls=1;usd=2"] {
            assert!(parse_budget(wrong).is_err(), "{wrong}");
        }
        for (twice, key) in [("calls=3,calls=5", "calls"), ("usd=1,calls=3,usd=1", "usd")] {
            assert_eq!(parse_budget(twice), Err(format!("`{key}` is there twice; give it once")));
        }
    }
}
