//! `scorebox inspect`: shows what a component is, needs and costs.

use std::io;

use scorebox::{
    case::Case,
    component_bytes::ComponentBytes,
    contract::{Fields, ScorerInfo, ScorerInput},
    digest::Digest,
    judge::Judges,
    registry::ScorerSource,
    row::milliseconds,
    sandbox::{
        Anatomy, ErrorKind, Grant, Limits, LoadedScorer, Outcome, Sandbox, ScoreError, Start,
    },
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    arguments::{CaseArguments, OneJudgeArguments, ScorerArguments, how_to_give},
    failure::{Exit, Failure},
    judge_waiting,
    output::{self, Labelled, Out},
    report,
    setup::{self, SandboxArguments},
    words,
};

/// Show what a scorer is: imports, exports, what it reads, its configuration, size, digest, cost
///
/// With a case, scores it and shows how much of the limits that used.
#[derive(Debug, clap::Args)]
pub(crate) struct Inspect {
    #[command(flatten)]
    scorer: ScorerArguments,

    #[command(flatten)]
    case: CaseArguments,

    #[command(flatten)]
    judge: OneJudgeArguments,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: output::Format,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Inspect {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let source = self.scorer.source()?;
        let anatomy = Anatomy::read(source.component.bytes()?)?;
        let case = self.case.case()?;
        let judges = self.judge.judges(&self.scorer)?;
        let sandbox =
            self.sandbox.open(1, self.case.capabilities()?.with_judges(judges.clone()))?;
        let looking = self.look(&source.component, &anatomy, case.as_ref(), &judges, &sandbox);
        let Looked { loaded, described, cost } = setup::finish(setup::small_runtime()?, looking)?;
        let has_mistake =
            matches!(&described, Err(error) if error.kind == ErrorKind::InvalidScript);
        let loaded = match loaded {
            // The rest of the output would be about its interpreter.
            Err(failure) if has_mistake => return Err(failure),
            loaded => loaded,
        };
        let info = described.ok();
        let seen = Seen { info: info.as_ref(), scorer: loaded.as_ref().ok(), cost: cost.as_ref() };
        let portrait = Portrait::new(&source, &anatomy, seen);
        output::stdout(|out| match self.format {
            output::Format::Table => portrait.write(out, seen),
            output::Format::Json => output::json(out, &portrait),
            output::Format::Jsonl => output::json_line(out, &portrait),
        })?;
        let missing = self.scorer.missing_grants(&anatomy);
        match loaded {
            Ok(_) => Ok(Exit::Done),
            // The description is already shown; only loading needs the grant.
            Err(_) if case.is_none() && !self.scorer.is_configured() && !missing.is_empty() => {
                let grants: Vec<String> =
                    missing.iter().map(|grant| format!("--grant {grant}")).collect();
                words::hint(&format!("to load it too: {}", grants.join(" ")));
                Ok(Exit::Done)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Loads the scorer, and scores the case if there is one.
    async fn look(
        &self,
        component: &ComponentBytes,
        anatomy: &Anatomy,
        case: Option<&Case>,
        judges: &Judges,
        sandbox: &Sandbox,
    ) -> Result<Looked, Failure> {
        let scorer = match self.load(component, anatomy, case.is_some(), sandbox).await {
            Ok(scorer) => scorer,
            // A scorer that lacks its configuration can still describe itself.
            Err(failure) => {
                let described = self.scorer.describe(sandbox, component, anatomy).await;
                return Ok(Looked { loaded: Err(failure), described, cost: None });
            }
        };
        let cost = match case {
            Some(case) => {
                let time = self.scorer.host_timeout()?;
                let folder = self.case.task_folder(case, &scorer, sandbox, time).await?;
                let input = case.scorer_input(scorer.info().reads);
                let input = ScorerInput { workspace: folder.as_ref(), ..input };
                Some(judge_waiting::outcome(&scorer, input, judges).await)
            }
            None => None,
        };
        let described = Ok(scorer.info().clone());
        Ok(Looked { loaded: Ok(scorer), described, cost })
    }

    async fn load(
        &self,
        component: &ComponentBytes,
        anatomy: &Anatomy,
        is_to_score: bool,
        sandbox: &Sandbox,
    ) -> Result<LoadedScorer, Failure> {
        if is_to_score {
            self.judge.must_be_named("inspect", &self.scorer, anatomy)?;
        }
        let scorer = self.scorer.load(sandbox, component).await?;
        self.judge.give(scorer)
    }
}

/// The results of loading a scorer, or of only reading its description, and of scoring with it.
struct Looked {
    loaded: Result<LoadedScorer, Failure>,
    described: Result<ScorerInfo, ScoreError>,
    cost: Option<Outcome>,
}

/// Everything that could be found out about a scorer.
#[derive(Clone, Copy)]
struct Seen<'a> {
    info: Option<&'a ScorerInfo>,
    scorer: Option<&'a LoadedScorer>,
    cost: Option<&'a Outcome>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Portrait<'a> {
    origin: String,
    bytes: u64,
    digest: Digest,
    imports: &'a [String],
    exports: &'a [String],
    wasi: Vec<&'a str>,
    grants: Vec<Grant>,
    #[serde(flatten)]
    described: Option<Described<'a>>,
    #[serde(flatten)]
    loaded: Option<Loaded<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Described<'a> {
    scorer_id: &'a str,
    scorer_name: &'a str,
    version: &'a str,
    description: &'a str,
    scale: &'a str,
    direction: &'a str,
    severity: &'a str,
    threshold: Option<f64>,
    reads: Fields,
    config_schema: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Loaded<'a> {
    config: Option<&'a RawValue>,
    frozen: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_frozen_because: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    own_code_because: Option<&'a str>,
    cached: bool,
    load_ms: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    fuel: Option<u64>,
    fuel_limit: u64,
    memory_bytes: u64,
    memory_limit: u64,
    duration_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> Portrait<'a> {
    fn new(source: &ScorerSource, anatomy: &'a Anatomy, seen: Seen<'a>) -> Portrait<'a> {
        Portrait {
            origin: source.origin.to_string(),
            bytes: source.component.length(),
            digest: source.component.digest(),
            imports: &anatomy.imports,
            exports: &anatomy.exports,
            wasi: wasi(anatomy),
            grants: anatomy.grants().iter().collect(),
            described: seen.info.map(Described::of),
            loaded: seen.scorer.map(Loaded::of),
            cost: seen.scorer.zip(seen.cost).map(|(scorer, cost)| Cost::of(scorer, cost)),
        }
    }

    fn write(&self, out: &mut Out<'_>, seen: Seen<'_>) -> io::Result<()> {
        let mut lines = Labelled::new(out);
        self.write_component(&mut lines)?;
        let Some(info) = seen.info else { return Ok(()) };
        write_info(info, &mut lines)?;
        let Some(scorer) = seen.scorer else { return Ok(()) };
        self.write_start(scorer, &mut lines)?;
        match seen.cost {
            Some(cost) => write_cost(cost, scorer.limits(), &mut lines),
            None => Ok(()),
        }
    }

    fn write_component(&self, lines: &mut Labelled<'_, '_>) -> io::Result<()> {
        lines.word("component", &self.origin)?;
        lines.text("size", &report::bytes(self.bytes))?;
        lines.word("sha-256", &self.digest.to_string())?;
        lines.text("imports", &list_or_nothing(self.imports))?;
        lines.text("exports", &list_or_nothing(self.exports))?;
        let uses_none = self.wasi.is_empty();
        lines.text("WASI", if uses_none { "uses none" } else { "uses the interfaces above" })?;
        match self.grants.is_empty() {
            true => Ok(()),
            false => lines.text("needs", &needs(&self.grants)),
        }
    }

    fn write_start(&self, scorer: &LoadedScorer, lines: &mut Labelled<'_, '_>) -> io::Result<()> {
        lines.text("starts", &start(scorer))?;
        if *scorer.start() != Start::Frozen {
            lines.text("", to_be_frozen(!self.wasi.is_empty()))?;
        }
        let how =
            if scorer.cached() { "from the cache" } else { "compiled, described, configured" };
        lines.text("loaded", &format!("in {} ({how})", report::duration(scorer.load_time())))
    }
}

fn write_info(info: &ScorerInfo, lines: &mut Labelled<'_, '_>) -> io::Result<()> {
    lines.prose("scorer", &format!("{} ({}), version {}", info.name, info.id, info.version))?;
    lines.prose("", &info.description)?;
    lines.text("scale", &report::scale(info))?;
    lines.text("severity", &report::severity(info))?;
    lines.text("reads", &report::reads(info))?;
    match &info.config_schema {
        Some(schema) => lines.text("configuration", &shown_schema(schema)),
        None => lines.text("configuration", "none"),
    }
}

fn write_cost(cost: &Outcome, limits: &Limits, lines: &mut Labelled<'_, '_>) -> io::Result<()> {
    let fuel = |fuel: u64| report::fuel(fuel as f64);
    let used = cost.fuel.map_or_else(|| "unknown".to_owned(), fuel);
    lines.text("fuel", &format!("{used} of {}", fuel(limits.fuel)))?;
    let (memory, most) = (report::bytes(cost.memory_bytes), report::bytes(limits.memory_bytes));
    lines.text("memory", &format!("{memory} of {most}"))?;
    let (time, most) = (report::duration(cost.duration), report::duration(limits.timeout));
    lines.text("time", &format!("{time} of {most}"))?;
    match &cost.result {
        Ok(result) => match result.score {
            Some(score) => lines.text("score", &report::score(score)),
            None => lines.text("score", "not applicable"),
        },
        Err(error) => lines.prose("score", &format!("error: {error}")),
    }
}

impl<'a> Described<'a> {
    fn of(info: &'a ScorerInfo) -> Described<'a> {
        Described {
            scorer_id: &info.id,
            scorer_name: &info.name,
            version: &info.version,
            description: &info.description,
            scale: info.scale.as_str(),
            direction: info.direction.as_str(),
            severity: info.severity.as_str(),
            threshold: info.threshold,
            reads: info.reads,
            config_schema: info
                .config_schema
                .as_deref()
                .and_then(|schema| serde_json::from_str(schema).ok()),
        }
    }
}

impl<'a> Loaded<'a> {
    fn of(scorer: &'a LoadedScorer) -> Loaded<'a> {
        Loaded {
            config: serde_json::from_str(scorer.config().as_str()).ok(),
            frozen: *scorer.start() == Start::Frozen,
            not_frozen_because: match scorer.start() {
                Start::Frozen => None,
                Start::ConfigureEachTime { reason } => Some(reason),
            },
            own_code_because: scorer.own_code(),
            cached: scorer.cached(),
            load_ms: milliseconds(scorer.load_time()),
        }
    }
}

impl Cost {
    fn of(scorer: &LoadedScorer, outcome: &Outcome) -> Cost {
        Cost {
            fuel: outcome.fuel,
            fuel_limit: scorer.limits().fuel,
            memory_bytes: outcome.memory_bytes,
            memory_limit: scorer.limits().memory_bytes,
            duration_ms: milliseconds(outcome.duration),
            score: outcome.result.as_ref().ok().and_then(|result| result.score),
            error: outcome.result.as_ref().err().map(ToString::to_string),
        }
    }
}

fn wasi(anatomy: &Anatomy) -> Vec<&str> {
    let imports = anatomy.imports.iter().map(String::as_str);
    imports.filter(|import| import.starts_with("wasi:")).collect()
}

/// What a scorer needs these grants for, and how to give them, as lines.
fn needs(grants: &[Grant]) -> String {
    let how = |grant: &Grant| match grant {
        Grant::Judge => format!(
            "the grant `judge`: it asks a language model\n{}\nin a suite: `[judges.default]`, and `grants = [\"judge\"]` \
             in the scorer's entry",
            how_to_give("scorebox score NAME")
        ),
        Grant::Workspace => {
            "the grant `workspace`: --grant workspace --workspace FOLDER".to_owned()
        }
        grant => format!("the grant `{grant}`: --grant {grant}"),
    };
    grants.iter().map(how).collect::<Vec<_>>().join("\n")
}

fn list_or_nothing(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join("\n") }
}

/// A schema over lines, or the beginning of it.
fn shown_schema(schema: &str) -> String {
    /// The most bytes that are shown: a hundred times as many as most schemas have.
    const MAX_BYTES: usize = 64 << 10;
    let mut shown = report::pretty(schema);
    if shown.len() > MAX_BYTES {
        let bytes = report::bytes(schema.len() as u64);
        shown.truncate(shown.floor_char_boundary(MAX_BYTES));
        shown.push_str(&format!("…\n(cut: the schema has {bytes}; all of it with --format json)"));
    }
    shown
}

/// What the scorer's author can do so that scores need not run `configure`.
const fn to_be_frozen(imports_wasi: bool) -> &'static str {
    match imports_wasi {
        true => {
            "to have that frozen, read no clock and close what was opened in `configure`, or build the component without WASI: \
             `--stub-wasi` of componentize-py, `--sync` and stubbed WASI of componentize-qjs, for Rust the target \
             wasm32-unknown-unknown, of a core module `scorebox build FILE.wasm`"
        }
        false => {
            "to have that frozen, leave less memory in `configure`, export no resources, and build one core module, of which \
             `scorebox build` makes a component without nested ones"
        }
    }
}

fn start(scorer: &LoadedScorer) -> String {
    match scorer.start() {
        Start::Frozen => match scorer.own_code() {
            None => "every score starts from the memory that `configure` left".into(),
            Some(reason) => format!(
                "every score starts from the memory that `configure` left; each configuration is \
                 compiled: the component {reason}"
            ),
        },
        Start::ConfigureEachTime { reason } => {
            format!("`configure` runs in every sandbox: {reason}")
        }
    }
}
