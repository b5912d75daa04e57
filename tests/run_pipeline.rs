//! A run from its cases to its rows, through the library: the rows depend neither on the number of workers nor on
//! interruptions, and every failure is reported without waiting.

use std::{
    collections::BTreeSet,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use scorebox::{
    advice::{Advice, Advised as _, Database, Form},
    case::{CaseReader, Mapping, Source},
    registry::{Reference, Registry},
    row::{Row, Status},
    run::{Control, OnBadCase, RunError, RunReport, RunRequest, Stop, WhichRun, load_scorers, run},
    store::{RunState, ScoreFilter, ScoreRecord, Store},
    suite::{ScorerId, Suite, SuiteScorer},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::sandbox_fixture::{config, guest_path, sandbox};

/// A suite of scorers, each with its name, its component and its configuration.
fn suite(scorers: &[(&str, &str, Value)]) -> Suite {
    let scorers = scorers.iter().map(|(id, uses, settings)| {
        let uses = match *uses {
            guest @ ("misbehave" | "sleeper") => Reference::File(guest_path(guest)),
            name => Reference::Name(name.to_owned()),
        };
        let scorer = SuiteScorer::new(ScorerId::new(id).unwrap(), uses);
        scorer.with_config(config(settings))
    });
    Suite::new("test".into(), scorers.collect()).unwrap()
}

/// Scorers that give different scores to different cases.
fn light_suite() -> Suite {
    suite(&[
        ("alike", "levenshtein", json!({})),
        ("same", "exact-match", json!({})),
        ("fast", "latency", json!({"targetMs": 100, "maxMs": 1000})),
    ])
}

/// Cases of which every third has no ground truth.
fn cases(count: usize) -> String {
    let line = |number: usize| {
        let mut case = json!({
            "id": format!("case-{number}"),
            "output": "ab".repeat(number % 7),
            "latencyMs": number * 10,
        });
        if !number.is_multiple_of(3) {
            case["groundTruth"] = json!("ab".repeat(number % 5));
        }
        format!("{case}\n")
    };
    (0..count).map(line).collect()
}

fn reader(lines: impl Read + Send + 'static) -> CaseReader {
    let source = Source::reader("cases.jsonl", Box::new(lines));
    CaseReader::open(vec![source], Mapping::default()).unwrap()
}

fn text(lines: String) -> CaseReader {
    reader(io::Cursor::new(lines))
}

/// A run in a database; settings that a test does not name have their defaults.
struct Attempt {
    database: PathBuf,
    suite: Suite,
    which: WhichRun,
    jobs: usize,
    on_bad_case: OnBadCase,
    control: Arc<Control>,
}

impl Attempt {
    fn new(folder: &TempDir, suite: Suite) -> Attempt {
        Attempt {
            database: folder.path().join("scores.db"),
            suite,
            which: WhichRun::New("r".parse().unwrap()),
            jobs: 4,
            on_bad_case: OnBadCase::Stop,
            control: Arc::default(),
        }
    }

    /// Runs it. Every test also checks that it ends.
    async fn run(self, cases: CaseReader) -> Result<RunReport, RunError> {
        let sandbox = sandbox(8);
        let registry = Registry::with_builtins();
        let scorers = load_scorers(&self.suite, &registry, &sandbox).await.unwrap();
        let request = RunRequest::new(self.suite, scorers, cases)
            .store(self.database)
            .which(self.which)
            .jobs(self.jobs)
            .waiting(4)
            .on_bad_case(self.on_bad_case);
        let ended = tokio::time::timeout(Duration::from_secs(120), run(request, self.control));
        ended.await.expect("the run hangs")
    }
}

fn rows(database: &Path) -> Vec<ScoreRecord> {
    let store = Store::open_read_only(database).unwrap();
    let mut rows: Vec<ScoreRecord> = Vec::new();
    loop {
        let after = rows.last().map(|row| row.cursor);
        let page = store.scores(&ScoreFilter::default(), after, 10_000).unwrap();
        if page.is_empty() {
            return rows;
        }
        rows.extend(page);
    }
}

/// The parts of a row that do not depend on the clock.
fn lasting(record: &ScoreRecord) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut answer = record.row.answer.clone();
    answer.duration_ms = None;
    (record.id.to_string(), answer, record.latency_ms)
}

fn run_state(database: &Path) -> RunState {
    Store::open_read_only(database).unwrap().run("r").unwrap().state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rows_do_not_depend_on_the_number_of_workers() {
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let mut all = Vec::new();
    for (folder, jobs) in folders.iter().zip([1, 8]) {
        let attempt = Attempt { jobs, ..Attempt::new(folder, light_suite()) };
        let database = attempt.database.clone();
        let report = attempt.run(text(cases(300))).await.unwrap();
        assert_eq!(report.stopped, None);
        assert_eq!(report.progress.cases_done, 300);
        assert_eq!(report.progress.scores_written, 900);
        // 100 cases lack the ground truth, which two scorers need.
        assert_eq!(report.progress.errors, 200);
        assert_eq!(run_state(&database), RunState::Finished);
        all.push(rows(&database).iter().map(lasting).collect::<Vec<_>>());
    }
    assert_eq!(all[0].len(), 900);
    assert!(all[0] == all[1]);
}

/// Returns a few bytes at a time, and requests a stop after half of them.
struct StopsHalfway {
    text: io::Cursor<String>,
    control: Arc<Control>,
}

impl Read for StopsHalfway {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.text.position() * 2 > self.text.get_ref().len() as u64 {
            self.control.stop(Stop::Interrupted);
        }
        let most = buffer.len().min(100);
        self.text.read(&mut buffer[..most])
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_was_stopped_is_completed_by_resuming_it() {
    let folder = TempDir::new().unwrap();
    let attempt = Attempt::new(&folder, light_suite());
    let (database, control) = (attempt.database.clone(), Arc::clone(&attempt.control));
    let halfway = StopsHalfway { text: io::Cursor::new(cases(600)), control };
    let report = attempt.run(reader(halfway)).await.unwrap();
    assert_eq!(report.stopped, Some(Stop::Interrupted));
    assert_eq!(run_state(&database), RunState::Interrupted);
    let before = rows(&database);
    assert!(before.len() < 1000, "{}", before.len());

    let resume = WhichRun::Resume("r".parse().unwrap());
    let attempt = Attempt { which: resume, ..Attempt::new(&folder, light_suite()) };
    let report = attempt.run(text(cases(600))).await.unwrap();
    assert_eq!(report.stopped, None);
    assert_eq!(report.progress.scores_written, 1800 - before.len() as u64);
    assert_eq!(run_state(&database), RunState::Finished);
    let after = rows(&database);
    let ids: BTreeSet<String> = after.iter().map(|row| row.id.to_string()).collect();
    assert_eq!((after.len(), ids.len()), (1800, 1800));
    let kept = before.iter().filter(|row| after.contains(row)).count();
    assert_eq!(kept, before.len(), "what was scored is not scored again");

    let uninterrupted = TempDir::new().unwrap();
    Attempt::new(&uninterrupted, light_suite()).run(text(cases(600))).await.unwrap();
    let expected = rows(&uninterrupted.path().join("scores.db"));
    assert!(after.iter().map(lasting).eq(expected.iter().map(lasting)));
}

#[tokio::test]
async fn a_run_is_not_resumed_with_another_suite() {
    let folder = TempDir::new().unwrap();
    Attempt::new(&folder, light_suite()).run(text(cases(3))).await.unwrap();
    let other = suite(&[("alike", "levenshtein", json!({}))]);
    let which = WhichRun::Resume("r".parse().unwrap());
    let error = Attempt { which, ..Attempt::new(&folder, other) }.run(text(cases(3))).await;
    let error = error.unwrap_err();
    assert!(matches!(error, RunError::NotTheSame { .. }), "{error}");
    assert_eq!(error.advice(), Some(Advice::SameScorers));
}

fn with_a_duplicate() -> String {
    let line = |id: &str, output: &str| {
        format!("{}\n", json!({"id": id, "output": output, "groundTruth": "first"}))
    };
    [line("a", "first"), line("b", "first"), line("a", "second"), line("c", "first")].concat()
}

#[tokio::test]
async fn an_id_that_is_taken_is_a_bad_case_that_names_the_first_place() {
    let folder = TempDir::new().unwrap();
    let attempt = Attempt::new(&folder, suite(&[("same", "exact-match", json!({}))]));
    let database = attempt.database.clone();
    let report = attempt.run(text(with_a_duplicate())).await.unwrap();
    let Some(Stop::BadCase { message, advice }) = report.stopped else { panic!("{report:?}") };
    assert!(message.contains("cases.jsonl:3"), "{message}");
    assert!(message.contains("duplicate id `a`, first used at cases.jsonl:1"), "{message}");
    assert_eq!(advice, Some(Advice::Write(Form::CaseId)));
    assert_eq!(run_state(&database), RunState::Stopped);
}

#[tokio::test]
async fn skipping_bad_cases_keeps_the_first_of_an_id() {
    let folder = TempDir::new().unwrap();
    let attempt = Attempt::new(&folder, suite(&[("same", "exact-match", json!({}))]));
    let attempt = Attempt { on_bad_case: OnBadCase::Skip, ..attempt };
    let database = attempt.database.clone();
    let report = attempt.run(text(with_a_duplicate())).await.unwrap();
    assert_eq!((report.stopped, report.progress.cases_bad), (None, 1));
    assert_eq!((report.progress.cases_read, report.progress.cases_done), (3, 3));
    assert_eq!(report.bad_cases.len(), 1);
    let rows = rows(&database);
    let scores: Vec<_> =
        rows.iter().map(|row| (row.row.case_id.as_str(), row.row.answer.score)).collect();
    assert_eq!(scores, [("a", Some(1.0)), ("b", Some(1.0)), ("c", Some(1.0))]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scorer_that_always_crashes_spoils_no_row_but_its_own() {
    let folder = TempDir::new().unwrap();
    let mixed = suite(&[
        ("before", "latency", json!({"targetMs": 100, "maxMs": 1000})),
        ("crash", "misbehave", json!({"then": "panic"})),
        ("after", "misbehave", json!({"then": "keep-state"})),
    ]);
    let attempt = Attempt::new(&folder, mixed);
    let database = attempt.database.clone();
    let report = attempt.run(text(cases(100))).await.unwrap();
    assert_eq!((report.stopped, report.progress.errors), (None, 100));
    let rows = rows(&database);
    assert_eq!(rows.len(), 300);
    for record in rows {
        let Row { scorer_id, answer, .. } = record.row;
        match scorer_id.as_str() {
            "crash" => {
                assert_eq!((answer.status, answer.score), (Status::Error, None));
                let error = answer.error.unwrap();
                assert_eq!(error.kind, "trap");
                assert!(error.message.contains("was told to panic"));
            }
            "after" => assert_eq!((answer.score, answer.reason.as_deref()), (Some(1.0), Some("1"))),
            _ => {
                let latency = record.latency_ms.unwrap();
                let expected = (1.0 - (latency - 100.0) / 900.0).clamp(0.0, 1.0);
                assert!((answer.score.unwrap() - expected).abs() < 1e-12, "{latency}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_results_are_kept_whole() {
    const META: usize = 1_000_000;
    let folder = TempDir::new().unwrap();
    let large = suite(&[("large", "misbehave", json!({"then": "long-meta", "amount": META}))]);
    let attempt = Attempt { jobs: 8, ..Attempt::new(&folder, large) };
    let database = attempt.database.clone();
    let report = attempt.run(text(cases(200))).await.unwrap();
    assert_eq!((report.progress.scores_written, report.progress.errors), (200, 0));
    let store = Store::open_read_only(&database).unwrap();
    let (mut after, mut count) = (None, 0);
    loop {
        let page = store.scores(&ScoreFilter::default(), after, 20).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.cursor);
        count += page.len();
        assert!(page.iter().all(|it| it.row.answer.meta.as_ref().unwrap().get().len() == META + 2));
    }
    assert_eq!(count, 200);
}

#[tokio::test]
async fn a_database_that_cannot_be_had_ends_the_run_with_advice() {
    let folder = TempDir::new().unwrap();
    let text_file = folder.path().join("text");
    std::fs::write(&text_file, "this is not a database, and never was\n".repeat(100)).unwrap();
    let missing = folder.path().join("missing/scores.db");
    for database in [missing, folder.path().to_owned(), text_file] {
        let attempt = Attempt::new(&folder, light_suite());
        let attempt = Attempt { database: database.clone(), ..attempt };
        let error = attempt.run(text(cases(10))).await.unwrap_err();
        assert!(matches!(error, RunError::Store(_)), "{error}");
        assert!(error.to_string().contains(&database.display().to_string()), "{error}");
        assert!(error.advice().is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_fails_halfway_ends_the_run_and_holds_nothing_up() {
    let folder = TempDir::new().unwrap();
    let attempt = Attempt { jobs: 8, ..Attempt::new(&folder, light_suite()) };
    let database = attempt.database.clone();
    let lines = io::Cursor::new(cases(20_000));
    let sabotage = Sabotage { lines, database: Some(database) };
    let error = attempt.run(reader(sabotage)).await.unwrap_err();
    assert!(matches!(error, RunError::BrokeOff { .. }), "{error}");
    assert!(error.to_string().contains("no such table"), "{error}");
    assert_eq!(error.advice(), Some(Advice::Database(Database::TryAgain)));
}

/// Lines of cases; in the middle of them, someone else drops the table of the scores.
struct Sabotage {
    lines: io::Cursor<String>,
    database: Option<PathBuf>,
}

impl Read for Sabotage {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.lines.position() > 200_000
            && let Some(database) = self.database.take()
        {
            let other = rusqlite::Connection::open(database).unwrap();
            other.execute_batch("DROP TABLE score_rows").unwrap();
        }
        self.lines.read(buffer)
    }
}

/// A waiting user sees that something is read, even while none of it is a case.
#[tokio::test]
async fn the_progress_of_a_run_counts_bad_lines() {
    let folder = tempfile::tempdir().unwrap();
    let attempt = Attempt {
        on_bad_case: OnBadCase::Skip,
        ..Attempt::new(&folder, suite(&[("same", "exact-match", json!({}))]))
    };
    let control = Arc::clone(&attempt.control);
    let lines = "\nno case\n\n".repeat(1000);
    let size = lines.len() as u64;
    let error = attempt.run(text(lines)).await.unwrap_err();
    assert!(matches!(error, RunError::NoCases { .. }), "{error}");
    let progress = control.progress();
    assert_eq!((progress.bytes_read, progress.cases_bad), (size, 1000));
}
