//! `scorebox calls`: lists what scorers asked judges, with the answers; exports and imports recordings.

mod importing;

use std::path::PathBuf;

use scorebox::{
    judge::{Question, Recording, Reply, Role},
    store::{CallRecord, ScoreCursor, ScoreFilter, ScoreId, Store, UnscoredCall},
};
use serde::Serialize;

use crate::{
    arguments::{Database, completing, must_be_there},
    failure::{Exit, Failure},
    output::{self, Format},
    report::{self, Align, Table, judge::dollars},
    words,
};

/// List what scorers asked judges, and the answers
///
/// An answer that no stored score is based on has no case: the score ended before it could be stored. With --format jsonl, each call is printed as a recording: a judge with the provider `recorded` answers from it, and
/// --import adds it to another database.
#[derive(Debug, clap::Args)]
pub(crate) struct Calls {
    /// The run [default: the newest]
    #[arg(add = completing::runs())]
    run: Option<String>,

    /// Show the whole conversation behind one score, whose id is RUN:SCORER:ITERATION:ATTEMPT:CASE
    #[arg(long, value_name = "ID", conflicts_with_all = ["run", "scorer"], help_heading = "Filters")]
    score: Option<String>,

    /// Only calls of this scorer
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    scorer: Option<String>,

    /// Add the recordings of a JSON Lines file to the database: all of them, or none if a line is wrong
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "score", "scorer", "format"], help_heading = "Recordings")]
    import: Option<PathBuf>,

    /// Show at most N calls (0: all) [default: 50 for a table]
    #[arg(long, value_name = "N", help_heading = "Output")]
    limit: Option<u64>,

    /// How to print them
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

/// A listed call: the score that is based on it, if there is one, and the recording.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    call_digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    case_id: Option<String>,
    scorer_id: String,
    is_recorded: bool,
    #[serde(flatten)]
    recording: Option<Recording>,
}

impl From<CallRecord> for Listed {
    fn from(call: CallRecord) -> Listed {
        Listed {
            call_digest: call.digest.to_string(),
            case_id: Some(call.case_id),
            scorer_id: call.scorer_id,
            is_recorded: call.is_recorded,
            recording: call.recording,
        }
    }
}

impl From<UnscoredCall> for Listed {
    fn from(call: UnscoredCall) -> Listed {
        Listed {
            call_digest: call.recording.call.digest().to_string(),
            case_id: None,
            scorer_id: call.scorer_id,
            is_recorded: false,
            recording: Some(call.recording),
        }
    }
}

impl Calls {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        if let Some(file) = &self.import {
            importing::import(file, &self.database.path)?;
            return Ok(Exit::Done);
        }
        let store = self.database.read()?;
        let most = self.format.most(self.limit, 50);
        let (mut calls, mut all) = (Vec::new(), 0_u64);
        let (run, score) = self.place(&store)?;
        let mut list = |call: Listed| {
            if self.scorer.as_ref().is_some_and(|scorer| *scorer != call.scorer_id) {
                return;
            }
            all += 1;
            if all <= most {
                calls.push(call);
            }
        };
        store.for_each_call(run, score, |call| list(call.into()))?;
        if score.is_none() {
            store.for_each_unscored_call(run, |call| list(call.into()))?;
        }
        output::stdout(|out| match self.format {
            Format::Table if self.score.is_some() => {
                calls.iter().try_for_each(|call| write!(out, "{}", conversation(call)))
            }
            Format::Table => output::table(out, table(&calls)),
            format => output::list(out, format == Format::Jsonl, &calls),
        })?;
        if calls.is_empty() {
            words::say(&match &self.scorer {
                Some(scorer) => {
                    format!("no answer of a judge is stored for `{}`", report::one_line(scorer, 64))
                }
                None => "no answer of a judge is stored".to_owned(),
            });
        } else if all > calls.len() as u64 {
            words::say(&format!(
                "{} of {} calls; all: --limit 0",
                report::count(calls.len() as u64),
                report::count(all)
            ));
        }
        Ok(Exit::Done)
    }

    /// The run, and the score if the user named one.
    fn place(
        &self,
        store: &Store,
    ) -> Result<(scorebox::store::RunKey, Option<ScoreCursor>), Failure> {
        let Some(written) = &self.score else {
            let run = self.database.run(self.run.as_deref(), store)?;
            let filter = ScoreFilter::of_run(run.spec.id.as_str());
            must_be_there(store, &filter.with_scorer(self.scorer.clone()))?;
            return Ok((run.key, None));
        };
        let id: ScoreId = written.parse()?;
        let run = store.run(id.run_id.as_str())?;
        let record = store.score(run.key, &id)?.ok_or_else(|| {
            Failure::new(format!("there is no score `{}`", report::one_line(written, 200)))
                .hint("`scorebox scores RUN --format jsonl` shows the ids")
        })?;
        Ok((run.key, Some(record.cursor)))
    }
}

fn table(calls: &[Listed]) -> Table {
    let mut table = Table::new(&[
        ("case", Align::Left),
        ("scorer", Align::Left),
        ("model", Align::Left),
        ("recorded", Align::Left),
        ("tokens", Align::Right),
        ("cost", Align::Right),
        ("latency", Align::Right),
        ("answer", Align::Left),
    ]);
    for call in calls {
        let recording = call.recording.as_ref();
        let tokens = recording.and_then(|it| {
            let usage = it.usage;
            Some(usage.input_tokens?.saturating_add(usage.output_tokens?))
        });
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.row([
            or_dash(call.case_id.as_deref().map(|id| output::cell(id, 40))),
            output::cell(&call.scorer_id, 40),
            or_dash(recording.map(|it| output::cell(&it.model, 40))),
            if call.is_recorded { "yes" } else { "no" }.to_owned(),
            or_dash(tokens.map(report::count)),
            or_dash(recording.and_then(|it| it.cost_usd).map(dollars)),
            or_dash(recording.map(|it| format!("{:.0} ms", it.latency_ms))),
            or_dash(recording.map(|it| output::last_cell(&said(&it.reply)))),
        ]);
    }
    table
}

/// A model's reply as text.
fn said(reply: &Reply) -> String {
    match reply {
        Reply::Text { text, .. } => text.clone(),
        Reply::Vectors(vectors) => {
            let length = vectors.first().map_or(0, Vec::len);
            format!("{} vectors of {length} numbers", vectors.len())
        }
        _ => String::new(),
    }
}

/// One whole call, line by line.
fn conversation(call: &Listed) -> String {
    let mut shown = format!("call {}\n", call.call_digest);
    let Some(recording) = &call.recording else {
        shown.push_str("  its answer is not stored\n");
        return shown;
    };
    let mut part = |who: &str, text: &str| {
        shown.push_str(&format!("{who}\n"));
        for line in text.lines() {
            shown.push_str(&format!("  {}\n", report::one_line(line, usize::MAX)));
        }
    };
    match &recording.call.question {
        Question::Generate(generation) => {
            if let Some(system) = &generation.system {
                part("system", system);
            }
            for message in &generation.messages {
                let who = match message.role {
                    Role::User => "user",
                    Role::Assistant => "assistant",
                };
                part(who, &message.text);
            }
            if let Some(schema) = &generation.response_schema {
                part("form of the answer", schema);
            }
        }
        Question::Embed(embedding) => part("texts", &embedding.texts.join("\n")),
        _ => {}
    }
    part(
        &format!("answer of {}", report::one_line(&recording.model, 200)),
        &said(&recording.reply),
    );
    shown.push('\n');
    shown
}
