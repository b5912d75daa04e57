//! The options for the judge that one scorer asks for one case: a judge of a suite, or a server's address. It scores
//! nothing.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use scorebox::{
    judge::{JudgeChoice, JudgeSettings, Judges, ProviderSettings},
    sandbox::{Anatomy, ErrorKind, Grant, LoadedScorer},
    suite::{Suite, SuiteJudge},
};

use super::{JudgeArguments, RecordingUseArgument, ScorerArguments};
use crate::{failure::Failure, report::shell_word, same_file::file_name, setup};

/// The address of OpenAI's own server, and the environment variable with its key.
const OPEN_AI: (&str, &str) = ("https://api.openai.com/v1", "OPENAI_API_KEY");

/// The language model that the scorer may ask.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Judges")]
pub(crate) struct OneJudgeArguments {
    /// A suite file, a file of judges alone, or a bundle (.tar): the scorer may ask one of its judges
    #[arg(long = "judges", value_name = "SUITE", conflicts_with = "url")]
    suite: Option<PathBuf>,

    /// Which of the suite's judges [default: default]
    #[arg(long = "judge", value_name = "NAME", requires = "suite")]
    name: Option<String>,

    /// In place of a suite: a server that speaks OpenAI's protocol, such as `http://127.0.0.1:11434/v1`
    #[arg(long = "judge-url", value_name = "URL", requires = "judge_model")]
    url: Option<String>,

    /// The environment variable with that server's key [default: OPENAI_API_KEY at OpenAI's own address, else no key]
    #[arg(long = "judge-key-env", value_name = "VARIABLE", requires = "url")]
    key_env: Option<String>,

    #[command(flatten)]
    judges: JudgeArguments,

    /// A database: its recorded answers are used, and new ones are recorded in it [default: nothing is recorded, even if
    /// SCOREBOX_DB is set]
    #[arg(long = "db", value_name = "FILE")]
    database: Option<PathBuf>,
}

impl OneJudgeArguments {
    /// The judge, connected, if one is named. Recordings are used only from a database that the user named.
    pub(crate) fn judges(&self, scorer: &ScorerArguments) -> Result<Judges, Failure> {
        let mut suite = Suite::new("command line".to_owned(), vec![scorer.of_a_suite()?])?;
        self.judges_of(&mut suite, self.database())
    }

    /// The same for the scorers of a suite, which get the judge, with the recordings in `database`.
    pub(crate) fn judges_of(
        &self,
        suite: &mut Suite,
        database: Option<&Path>,
    ) -> Result<Judges, Failure> {
        let needs_database = match self.judges.recording_use() {
            // Without a judge, nothing is asked.
            _ if self.judges.is_offline() && !self.is_named() => None,
            RecordingUseArgument::Only if self.judges.is_offline() => Some("--offline"),
            RecordingUseArgument::Refresh => Some("--judge-cache refresh"),
            RecordingUseArgument::Only => Some("--judge-cache only"),
            RecordingUseArgument::Use | RecordingUseArgument::Off => None,
        };
        if let Some(option) = needs_database.filter(|_| self.database.is_none()) {
            return Err(Failure::new(format!(
                "{option} needs the database with the recorded answers"
            ))
            .hint("name it: --db FILE"));
        }
        let Some(judges) = self.described()? else { return Ok(Judges::default()) };
        for scorer in &mut suite.scorers {
            scorer.judge = self.choice();
        }
        suite.judges = judges;
        self.judges.judges(suite, database)
    }

    /// The database that the user named.
    pub(crate) fn database(&self) -> Option<&Path> {
        self.database.as_deref()
    }

    /// The options that name the judge, as command-line arguments; files without their folders.
    pub(crate) fn words(&self) -> Vec<String> {
        let suite = self.suite.as_deref().map(file_name);
        let named = [
            ("--judges", suite),
            ("--judge", self.name.clone()),
            ("--judge-url", self.url.clone()),
            ("--judge-model", self.judges.model().map(str::to_owned)),
            ("--judge-key-env", self.key_env.clone()),
        ];
        let named =
            named.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?]));
        named.flatten().collect()
    }

    /// The judges of the suite, or the one at the address.
    fn described(&self) -> Result<Option<BTreeMap<String, SuiteJudge>>, Failure> {
        if let Some(path) = &self.suite {
            let judges = setup::judges(path)?;
            let choice = self.choice();
            if !judges.contains_key(choice.name()) {
                let names: Vec<String> = judges.into_keys().collect();
                let (path, name) = (path.display(), choice.name());
                return Err(Failure::new(format!("{path} has no judge `{name}`")).hint(
                    match names.as_slice() {
                        [] => "describe one: `[judges.default]` with `provider` and `model`"
                            .to_owned(),
                        names => format!("name one with --judge: {}", names.join(", ")),
                    },
                ));
            }
            return Ok(Some(judges));
        }
        let Some(url) = &self.url else { return Ok(None) };
        let base_url = url.trim_end_matches('/').to_owned();
        let of_open_ai = || (base_url == OPEN_AI.0).then(|| OPEN_AI.1.to_owned());
        let key_env = self.key_env.clone().or_else(of_open_ai);
        let settings = JudgeSettings::new(ProviderSettings::OpenAi { base_url, key_env });
        let name = JudgeChoice::DEFAULT.to_owned();
        Ok(Some([(name, SuiteJudge::new(settings))].into()))
    }

    fn choice(&self) -> JudgeChoice {
        JudgeChoice::of(self.name.clone())
    }

    fn is_named(&self) -> bool {
        self.suite.is_some() || self.url.is_some()
    }

    /// The scorer with its judge, if it asks a judge and the user named one.
    pub(crate) fn give(&self, scorer: LoadedScorer) -> Result<LoadedScorer, Failure> {
        match scorer.asks_judge() && self.is_named() {
            true => Ok(scorer.with_judge(self.choice())?),
            false => Ok(scorer),
        }
    }

    /// Refuses a scorer that asks a judge without the grant, or if the user named no judge. `command` is the command
    /// that the user ran.
    pub(crate) fn must_be_named(
        &self,
        command: &str,
        scorer: &ScorerArguments,
        anatomy: &Anatomy,
    ) -> Result<(), Failure> {
        let needs = anatomy.grants();
        let may = scorer.grants(Grant::Judge);
        if !needs.contains(Grant::Judge) || (self.is_named() && may) {
            return Ok(());
        }
        let what = if may { "and none is named" } else { "which was not granted" };
        let name = &scorer.scorer;
        Err(Failure::new(format!(
            "scorer `{name}`: {}: it asks a judge, {what}",
            ErrorKind::MissingGrant
        ))
        .hint(format!(
            "if you trust it with that: {}",
            how_to_give(&format!("scorebox {command} {}", shell_word(name)))
        )))
    }
}

/// How to give a scorer a judge, with a command that begins with `command`.
pub(crate) fn how_to_give(command: &str) -> String {
    format!(
        "`{command} --grant judge --judges SUITE.toml …`, or with a server of OpenAI's protocol in place of a suite: \
         `--judge-url http://127.0.0.1:11434/v1 --judge-model MODEL`"
    )
}
