//! `scorebox show`: shows one case in full: its parts, its verdict, and everything that its scorers report about it.

use std::collections::{BTreeMap, BTreeSet};

use scorebox::{
    aggregate::{Decisive, VerdictOptions, decides, verdicts},
    contract::{Direction, Field, Parts},
    row::{Answer, Json},
    store::{CaseContent, CaseKey, ScoreFilter, ScoreRecord, ScorerSpec, Store},
    verdict::{CaseVerdict, ShownVerdict, Standing},
};
use serde::{Serialize, Serializer, ser::SerializeMap as _};

use crate::{
    arguments::{Database, completing, must_be_there},
    failure::{Exit, Failure},
    output::{self, Format, Out},
    report::{self, verdict},
    words,
};

/// The rows that are read at once: each may have some MiB of meta.
const PAGE: usize = 32;

/// Show one case in full: its parts, its verdict, and every score with its reason, assertions and log
///
/// All iterations and attempts of the case are shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The case's id
    #[arg(add = completing::cases())]
    case: String,

    /// The run [default: the newest]
    #[arg(value_name = "RUN", add = completing::runs(), conflicts_with = "run")]
    named: Option<String>,

    /// The run, named by an option
    #[arg(long, value_name = "RUN", add = completing::runs(), help_heading = "Filters")]
    run: Option<String>,

    /// Treat soft scorers with a threshold as gates
    #[arg(long, help_heading = "Filters")]
    strict: bool,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

/// A case in full.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    case_id: String,
    node_id: Option<String>,
    iteration: u32,
    attempt: u32,
    #[serde(flatten)]
    shown: ShownVerdict,
    /// The verdict as text.
    #[serde(skip)]
    verdict: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    skip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    against: Vec<Against>,
    #[serde(flatten, serialize_with = "parts")]
    content: CaseContent,
    scores: Vec<ScoreRecord>,
    /// Which value of the case is judged in place of the output, by scorer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    on: BTreeMap<String, String>,
    /// The scorers of which a lower score is better.
    #[serde(skip)]
    lower_is_better: BTreeSet<String>,
}

/// A scorer that decided against the case, as `cases` shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Against {
    scorer_id: String,
    standing: Standing,
    score: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assertions: Vec<Decisive>,
}

/// What is known about a case before its content is read.
struct Decided {
    key: CaseKey,
    node_id: Option<String>,
    iteration: u32,
    attempt: u32,
    verdict: CaseVerdict,
    against: Vec<Against>,
}

/// The parts of a case as JSON, under the keys that cases have.
fn parts<S: Serializer>(content: &CaseContent, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("output", &Json::from(content.output.clone()))?;
    for (field, json) in content.parts.iter() {
        map.serialize_entry(field.key(), &Json::from(json.clone()))?;
    }
    if let Some(latency) = content.latency_ms {
        map.serialize_entry(Field::Latency.key(), &latency)?;
    }
    if let Some(folder) = &content.workspace {
        map.serialize_entry("workspace", folder)?;
    }
    map.end()
}

impl Against {
    fn of(against: scorebox::aggregate::Against<'_>) -> Against {
        let scorer_id = against.scorer_id.to_owned();
        let scorebox::aggregate::Against { standing, score, assertions, .. } = against;
        Against { scorer_id, standing, score, assertions }
    }
}

impl Show {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let record = self.database.run(self.named.as_deref().or(self.run.as_deref()), &store)?;
        let run = record.spec.id.to_string();
        let filter = ScoreFilter::of_run(&run).with_case(self.case.clone());
        must_be_there(&store, &filter)?;
        let shown = store.snapshot(|store| self.shown(store, &run, &filter))?;
        output::stdout(|out| match self.format {
            Format::Table => shown.iter().enumerate().try_for_each(|(index, case)| {
                if index > 0 {
                    writeln!(out)?;
                }
                write_case(out, case)
            }),
            format => output::list(out, format == Format::Jsonl, &shown),
        })?;
        report::without_lines(&record).iter().for_each(|line| words::warn(line));
        Ok(Exit::Done)
    }

    fn shown(&self, store: &Store, run: &str, filter: &ScoreFilter) -> Result<Vec<Shown>, Failure> {
        let options = VerdictOptions::default().with_strict(self.strict);
        let (decides, mut decided) = (decides(store, run, options)?, Vec::new());
        verdicts(store, run, options, |it| {
            if it.case.case_id == self.case {
                decided.push(Decided {
                    key: it.case.key,
                    node_id: it.case.node_id.clone(),
                    iteration: it.case.iteration,
                    attempt: it.case.attempt,
                    verdict: it.verdict,
                    against: it.against.into_iter().map(Against::of).collect(),
                });
            }
            true
        })?;
        let mut scores = scores(store, filter)?;
        let (mut on, mut lower_is_better) = (BTreeMap::new(), BTreeSet::new());
        for ScorerSpec { scorer_id, output_from, direction, .. } in
            store.scorers(store.run(run)?.key)?.into_iter().map(|it| it.spec)
        {
            if direction == Direction::LowerIsBetter {
                lower_is_better.insert(scorer_id.clone());
            }
            if let Some(from) = output_from {
                on.insert(scorer_id, from);
            }
        }
        let cases = decided.into_iter().map(|case| {
            let (own, others) =
                scores.drain(..).partition(|record: &ScoreRecord| record.cursor.case() == case.key);
            scores = others;
            let content = store.case_content(case.key)?;
            let Decided { node_id, iteration, attempt, verdict, against, .. } = case;
            let (case_id, skip) = (content.case_id.clone(), content.skip.clone());
            let error = content.error.clone();
            Ok(Shown {
                case_id,
                node_id,
                iteration,
                attempt,
                shown: verdict.shown(decides),
                verdict: verdict::verdict_where(decides, &verdict),
                skip,
                error,
                against,
                content,
                scores: own,
                on: on.clone(),
                lower_is_better: lower_is_better.clone(),
            })
        });
        cases.collect()
    }
}

/// All rows of the case.
fn scores(store: &Store, filter: &ScoreFilter) -> Result<Vec<ScoreRecord>, Failure> {
    let mut all: Vec<ScoreRecord> = Vec::new();
    loop {
        let page = store.scores(filter, all.last().map(|record| record.cursor), PAGE)?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

fn write_case(out: &mut Out<'_>, case: &Shown) -> std::io::Result<()> {
    let Shown { case_id, iteration, attempt, .. } = case;
    let name = report::printable(&report::case_name(case_id, *iteration, *attempt));
    let score = case
        .shown
        .score
        .map_or_else(String::new, |score| format!(", score {}", report::score(score)));
    writeln!(out, "{name}: {}{score}", case.verdict)?;
    if let Some(why) = case.skip.as_deref().filter(|why| !why.is_empty()) {
        field(out, "skip", &report::printable(why))?;
    }
    if let Some(why) = &case.error {
        field(out, "error", &report::printable(why))?;
    }
    for (key, json) in content(&case.content) {
        field(out, key, &report::printable(&report::pretty(json)))?;
    }
    if let Some(latency) = case.content.latency_ms {
        field(out, Field::Latency.key(), &latency.to_string())?;
    }
    for record in &case.scores {
        writeln!(out)?;
        write_score(out, record, case)?;
    }
    Ok(())
}

/// The parts that are JSON, the input first.
fn content(content: &CaseContent) -> Vec<(&'static str, &str)> {
    let parts: &Parts<String> = &content.parts;
    let part = |field: Field| Some((field.key(), parts.get(field)?.as_str()));
    let first = [Field::Input];
    let mut all: Vec<(&str, &str)> = first.into_iter().filter_map(part).collect();
    all.push(("output", &content.output));
    all.extend(Field::ALL.into_iter().filter(|field| !first.contains(field)).filter_map(part));
    all
}

fn write_score(out: &mut Out<'_>, record: &ScoreRecord, case: &Shown) -> std::io::Result<()> {
    let answer = &record.row.answer;
    let id = report::one_line(&record.row.scorer_id, 64);
    let score = match answer.score {
        Some(score) => report::score_beside(score, record.threshold),
        None => answer.status.as_str().to_owned(),
    };
    let threshold = record
        .threshold
        .map(|threshold| format!(", threshold {}", report::score_beside(threshold, answer.score)));
    let severity = record.severity.as_str();
    let direction = match case.lower_is_better.contains(&record.row.scorer_id) {
        true => ", lower is better",
        false => "",
    };
    let on =
        case.on.get(&record.row.scorer_id).map(|on| format!(", on {}", report::one_line(on, 64)));
    writeln!(
        out,
        "{id}: {score} ({severity}{}{direction}{})",
        threshold.unwrap_or_default(),
        on.unwrap_or_default()
    )?;
    let decided = case.against.iter().find(|against| against.scorer_id == record.row.scorer_id);
    let decisive = decided.into_iter().flat_map(|against| &against.assertions);
    let decisive: Vec<String> = decisive.map(verdict::decisive).collect();
    let decisive = (!decisive.is_empty()).then(|| decisive.join("\n"));
    let text = |text: &Option<String>| text.as_ref().map(|text| report::printable(text));
    let json = |json: &Option<Json>| {
        json.as_ref().map(|json| report::printable(&report::pretty(json.get())))
    };
    let Answer { label, reason, error, meta, assertions, log, .. } = answer;
    let error = error.as_ref().map(|error| format!("{}: {}", error.kind, error.message));
    for (key, said) in [
        ("error", text(&error)),
        ("decided by", text(&decisive)),
        ("label", text(label)),
        ("reason", text(reason)),
        ("meta", json(meta)),
        ("assertions", json(assertions)),
        ("log", json(log)),
    ] {
        if let Some(said) = said {
            field(out, key, &said)?;
        }
    }
    Ok(())
}

/// `  key  text`, the text's further lines indented like its first.
fn field(out: &mut Out<'_>, key: &str, text: &str) -> std::io::Result<()> {
    const WIDTH: usize = 14;
    write!(out, "  {key:<12}")?;
    // Line by line, because a large text may have millions of them.
    for (index, line) in text.trim_end().split('\n').enumerate() {
        if index > 0 {
            write!(out, "{:WIDTH$}", "")?;
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}
