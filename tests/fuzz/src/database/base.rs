//! The database that is changed, and the code that makes it: two runs of two tiny scorers, one finished and one that a
//! bad line stopped. Changes nothing.

use std::{
    collections::HashMap,
    fs,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use scorebox::{
    digest::Digest,
    registry::{Reference, Registry},
    run::{Control, RunRequest, WhichRun, load_scorers, run},
    sandbox::{CacheOptions, Compiler, Sandbox, SandboxOptions},
    store::{Store, StoreError},
    suite::{ScorerId, Suite, SuiteScorer},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{cases, of_run, rows};
use crate::guest;

/// The cases of the finished run, which are also those that the other run was meant to have.
pub(super) const CASES: &str = r#"{"id": "q1", "output": "Paris", "groundTruth": "Paris"}
{"id": "q2", "output": "Rom", "groundTruth": "Rome", "note": "a"}
{"id": "q3", "output": 3, "latencyMs": 0.1}
{"id": "q4", "output": "Oslo", "groundTruth": [1, 2], "iteration": 1}
"#;
/// The cases of the stopped run: two of them, and then a line that is not a case.
const CUT_CASES: usize = 2;

/// The stage that runs the commands, with the known contents of the database.
pub(super) struct Stage {
    pub(super) runtime: Runtime,
    pub(super) sandbox: Sandbox,
    pub(super) registry: Registry,
    pub(super) suite: Suite,
    /// Whether the scorer with this digest reads the ground truth.
    pub(super) scorers: HashMap<Digest, bool>,
    /// The limits of the scorers, in their stored form.
    pub(super) limits: String,
    pub(super) folder: TempDir,
    /// A lock, because only one changed database exists at a time.
    turn: Mutex<()>,
    /// The database's file.
    pub(super) base: Vec<u8>,
    pub(super) runs: Vec<BaseRun>,
}

/// The contents of a run as an honest reader finds them.
pub(super) struct BaseRun {
    pub(super) id: &'static str,
    pub(super) root: Digest,
    /// Its score rows, without their internal numbers.
    pub(super) rows: Vec<Value>,
    /// The run, its scorers and its summaries, as JSON.
    pub(super) said: Value,
}

impl BaseRun {
    pub(super) fn read(store: &Store, id: &'static str) -> Result<BaseRun, StoreError> {
        let run = store.run(id)?;
        let scorers = store.scorers(run.key)?;
        let summaries = store.summaries(run.key)?;
        let rows = rows(store, &of_run(id))?;
        let rows = rows.iter().map(|row| serde_json::to_value(row).unwrap()).collect();
        let root = run.root.unwrap_or_else(|| Digest::of(b""));
        // A root does not cover itself.
        let mut run = serde_json::to_value(run).unwrap();
        run["root"] = Value::Null;
        Ok(BaseRun { id, root, rows, said: json!([run, scorers, summaries]) })
    }
}

pub(super) fn stage() -> &'static Stage {
    static STAGE: OnceLock<Stage> = OnceLock::new();
    STAGE.get_or_init(Stage::new)
}

impl Stage {
    /// Waits until no other thread uses the changed database.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn new() -> Stage {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let cache = CacheOptions::new(folder.path().join("cache")).with_max_bytes(16 << 20);
        let options = SandboxOptions::default()
            .with_compiler(Compiler::InProcess)
            .with_slots(8)
            .with_cache(cache);
        let sandbox = Sandbox::new(&options).unwrap();
        let mut registry = Registry::with_builtins();
        let mut suite = Vec::new();
        let mut scorers = HashMap::new();
        for (name, truth) in [("long", false), ("like", true)] {
            let component = scorer(name, truth);
            scorers.insert(Digest::of(&component), truth);
            registry.register(name, component).unwrap();
            let id = ScorerId::new(name).unwrap();
            suite.push(SuiteScorer::new(id, Reference::Name(name.to_owned())));
        }
        let suite = Suite::new("base".into(), suite).unwrap();
        let limits = serde_json::to_string(&suite.scorers[0].limits).unwrap();
        let (base, runs) = (Vec::new(), Vec::new());
        let mut stage = Stage {
            runtime,
            sandbox,
            registry,
            suite,
            scorers,
            limits,
            folder,
            turn: Mutex::new(()),
            base,
            runs,
        };
        stage.make_base();
        stage
    }

    fn make_base(&mut self) {
        let path = self.folder.path().join("base.db");
        let cut: Vec<&str> = CASES.lines().take(CUT_CASES).chain(["no case"]).collect();
        for (id, lines) in [("done", CASES), ("cut", &cut.join("\n"))] {
            let report = self.runtime.block_on(async {
                let scorers = load_scorers(&self.suite, &self.registry, &self.sandbox);
                let scorers = scorers.await.unwrap();
                let request = RunRequest::new(self.suite.clone(), scorers, cases(lines))
                    .store(&path)
                    .which(WhichRun::New(id.parse().unwrap()))
                    .jobs(1)
                    .waiting(1);
                run(request, Arc::new(Control::default())).await.unwrap()
            });
            assert_eq!(report.stopped.is_some(), id == "cut");
        }
        self.base = fs::read(&path).unwrap();
        let store = Store::open_read_only(&path).unwrap();
        self.runs = ["done", "cut"].map(|id| BaseRun::read(&store, id).unwrap()).into();
    }
}

fn scorer(name: &str, truth: bool) -> Vec<u8> {
    let text = include_str!("scorer.wat").replace("NAME", name);
    let text = match truth {
        true => text.replace("TRUTH", "1").replace("READS", "\\02"),
        false => text.replace("TRUTH", "0").replace("READS", "\\00"),
    };
    guest::component_of("summarizing-scorer", &text).unwrap()
}
