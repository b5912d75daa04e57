//! `scorebox judges`: checks whether the judges of a suite answer, and make vectors. It scores nothing and records
//! nothing.

use std::{path::PathBuf, time::Duration};

use scorebox::judge::{
    Answer, Embedding, Generation, JudgeChoice, JudgeSettings, Message, Provider, ProviderSettings,
    Question, RecordedFile, Reply, Role,
};
use serde::Serialize;

use crate::{
    arguments::connected,
    failure::{Exit, Failure},
    output::{self, Format},
    report::{self, Align, Table, judge::dollars},
    setup,
    signals::unless_signalled,
    waiting::Waiting,
};

/// The question to each judge.
const QUESTION: &str = "Is the sky blue on a clear day? Answer with a JSON object.";
/// The JSON Schema of its answer.
const FORM: &str = r#"{"type":"object","properties":{"answer":{"type":"string","enum":["yes","no"]}},"required":["answer"],"additionalProperties":false}"#;
/// The error of an answer without text.
const NO_TEXT: &str = "it answered without a text";
const NO_ROOM: &str = "it answered without a text: all of the tokens that an answer may have went into something else, such as its reasoning";

/// Work with the judges of a suite
#[derive(Debug, clap::Args)]
pub(crate) struct Judges {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Check(Check),
}

/// Send one question to each judge: whether it answers, how fast, in which form and at what price; and one text to its
/// `embedding_model`
#[derive(Debug, clap::Args)]
struct Check {
    /// The suite file, a file of judges alone, or a bundle (.tar)
    suite: PathBuf,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,
}

/// The result of one question.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Checked {
    judge: String,
    provider: String,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// How many answers a judge of recordings has; it is not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<f64>,
    /// Whether the answer has the requested form.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<bool>,
    /// How often it was asked: more than once if it failed, or does not take forms as most servers do.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
}

impl Judges {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        match &self.command {
            Command::Check(check) => check.run(),
        }
    }
}

impl Check {
    fn run(&self) -> Result<Exit, Failure> {
        let judges = setup::judges(&self.suite)?;
        if judges.is_empty() {
            return Err(Failure::new(format!("{} describes no judge", self.suite.display()))
                .hint("add `[judges.default]` with `provider` and `model`"));
        }
        let waiting = Waiting::on("asking");
        let checking = async {
            let mut checked = Vec::new();
            for (name, judge) in &judges {
                waiting.say(format!("asking judge `{name}`"));
                checked.extend(check(name, &judge.settings).await);
            }
            checked
        };
        let checked =
            setup::finish(setup::small_runtime()?, async { unless_signalled(checking).await });
        drop(waiting);
        output::stdout(|out| match self.format {
            Format::Table => output::table(out, table(&checked)),
            format => output::list(out, format == Format::Jsonl, &checked),
        })?;
        let failed = checked.iter().any(|checked| checked.error.is_some());
        Ok(if failed { Exit::SomeErrors } else { Exit::Done })
    }
}

/// Asks the model a question, and sends a text to the model that makes vectors, if the judge has one.
async fn check(name: &str, settings: &JudgeSettings) -> Vec<Checked> {
    let of = |model: &Option<String>| Checked {
        judge: name.to_owned(),
        provider: settings.provider.kind().to_owned(),
        model: model.clone().unwrap_or_default(),
        error: None,
        recorded: None,
        latency_ms: None,
        structured: None,
        attempts: None,
        input_tokens: None,
        output_tokens: None,
        cost_usd: None,
    };
    let checked = of(&settings.model);
    if let ProviderSettings::Recorded { file } = &settings.provider {
        return vec![match RecordedFile::open(file) {
            Ok(recorded) => Checked { recorded: Some(recorded.len()), ..checked },
            Err(error) => Checked { error: Some(error.to_string()), ..checked },
        }];
    }
    // The user wants to know now whether it answers.
    let mut impatient = settings.clone();
    impatient.endurance = Duration::ZERO;
    let provider = match connected(name, &impatient) {
        Ok(provider) => provider,
        Err(failure) => return vec![Checked { error: Some(failure.message), ..checked }],
    };
    let question = Question::Generate(Generation {
        model: checked.model.clone(),
        messages: vec![Message { role: Role::User, text: QUESTION.to_owned() }],
        response_schema: Some(FORM.to_owned()),
        temperature: settings.temperature,
        max_output_tokens: settings.max_output_tokens,
        extra_body: settings.extra_body.clone(),
        ..Generation::default()
    });
    let mut outcomes = vec![asked(checked, &*provider, &question, settings).await];
    if settings.embedding_model.is_some() {
        let checked = of(&settings.embedding_model);
        let texts = vec![QUESTION.to_owned()];
        let embedding = Embedding { model: checked.model.clone(), texts };
        let question = Question::Embed(embedding);
        outcomes.push(asked(checked, &*provider, &question, settings).await);
    }
    outcomes
}

async fn asked(
    checked: Checked,
    provider: &dyn Provider,
    question: &Question,
    settings: &JudgeSettings,
) -> Checked {
    match provider.ask(question, settings.timeout.max(JudgeChoice::DEFAULT_TIMEOUT)).await {
        Err(error) => Checked { error: Some(error.to_string()), ..checked },
        Ok(answer) => answered(checked, &answer, settings),
    }
}

fn answered(checked: Checked, answer: &Answer, settings: &JudgeSettings) -> Checked {
    let error = match &answer.reply {
        Reply::Text { text, truncated: true } if text.trim().is_empty() => Some(NO_ROOM),
        Reply::Text { text, .. } if text.trim().is_empty() => Some(NO_TEXT),
        _ => None,
    };
    let has_form = match &answer.reply {
        Reply::Text { text, .. } => {
            let json = serde_json::from_str::<serde_json::Value>(text);
            Some(json.is_ok_and(|json| matches!(json["answer"].as_str(), Some("yes" | "no"))))
        }
        // Vectors have no form.
        _ => None,
    };
    let has_form = has_form.filter(|_| error.is_none());
    // It may include the cost of earlier attempts.
    let stated_usd = answer.cost_usd.filter(|_| !answer.is_uncounted);
    Checked {
        model: answer.model.clone(),
        latency_ms: Some(answer.latency.as_secs_f64() * 1000.0),
        structured: has_form,
        error: error.map(str::to_owned),
        attempts: Some(answer.attempts),
        input_tokens: answer.usage.input_tokens,
        output_tokens: answer.usage.output_tokens,
        cost_usd: settings.price.and_then(|price| price.of(answer.usage)).or(stated_usd),
        ..checked
    }
}

fn table(checked: &[Checked]) -> Table {
    let mut table = Table::new(&[
        ("judge", Align::Left),
        ("provider", Align::Left),
        ("model", Align::Left),
        ("latency", Align::Right),
        ("structured", Align::Left),
        ("attempts", Align::Right),
        ("tokens", Align::Right),
        ("cost", Align::Right),
        ("error", Align::Left),
    ]);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    for it in checked {
        let tokens = it.input_tokens.zip(it.output_tokens);
        let tokens = tokens.map(|(asked, said)| asked.saturating_add(said));
        table.row([
            it.judge.clone(),
            it.provider.clone(),
            output::cell(&it.model, 40),
            match it.recorded {
                Some(answers) => report::counted(answers as u64, "recording", "recordings"),
                None => or_dash(it.latency_ms.map(|ms| format!("{ms:.0} ms"))),
            },
            or_dash(it.structured.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
            or_dash(it.attempts.map(|attempts| report::count(u64::from(attempts)))),
            or_dash(tokens.map(report::count)),
            or_dash(it.cost_usd.map(dollars)),
            output::last_cell(it.error.as_deref().unwrap_or("")),
        ]);
    }
    table
}
