//! The library embedded in a program: an engine, a scorer, a run and its events. The events must match what is stored.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use scorebox::{
    engine::{Cases, Engine, EngineBuilder, EngineError, Run},
    registry::Reference,
    row::Status,
    run::{Event, Refused, RunError, RunReport, Stop},
    sandbox::{CompileLimits, Compiler, Limits},
    store::{RunState, ScoreFilter, Store},
    suite::{ScorerId, Suite, SuiteScorer},
};
use serde_json::json;
use tempfile::TempDir;

use crate::sandbox_fixture::{config, guest_path, shared_cache};

/// An engine that compiles in this process, because tests do not control their `main`.
fn builder() -> EngineBuilder {
    let patient = CompileLimits::default().with_timeout(Duration::from_secs(600));
    Engine::builder().cache(shared_cache()).compiler(Compiler::InProcess).compile_limits(patient)
}

fn engine(jobs: usize) -> Engine {
    builder().jobs(jobs).build().unwrap()
}

/// Two scorers that do not wait.
fn light() -> Suite {
    "[scorers.exact-match]\n[scorers.latency]\nconfig = { targetMs = 100, maxMs = 1000 }"
        .parse()
        .unwrap()
}

/// A scorer that waits in a host call until its time-out, which is longer than any test, and one that does not wait.
fn with_one_that_waits() -> Suite {
    let scorer = |id: &str, uses| SuiteScorer::new(ScorerId::new(id).unwrap(), uses);
    let patient = Limits::default()
        .with_timeout(Duration::from_secs(3600))
        .with_host_timeout(Duration::from_secs(3600));
    let waits = scorer("waits", Reference::File(guest_path("sleeper")))
        .with_config(config(&json!({"ms": u64::MAX})))
        .with_limits(patient);
    let quick = scorer("exact-match", Reference::Name("exact-match".into()));
    Suite::new("waiting".into(), vec![waits, quick]).unwrap()
}

fn lines(count: usize) -> String {
    let line = |number: usize| {
        let case =
            json!({"id": format!("q{number}"), "output": "a", "groundTruth": "a", "latencyMs": 5});
        format!("{case}\n")
    };
    (0..count).map(line).collect()
}

fn cases(lines: String) -> Cases {
    Cases::reader("cases.jsonl", std::io::Cursor::new(lines)).unwrap()
}

async fn all_events(run: &mut Run) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    events
}

/// Whether the events arrived in an order that the docs of [`Event`] allow.
#[track_caller]
fn assert_legal(events: &[Event]) {
    let mut started = false;
    let (mut cases, mut began) = (HashSet::new(), HashSet::new());
    let mut ended = false;
    for event in events {
        assert!(!ended, "{event:?} follows the end");
        match event {
            Event::Started(_) => assert!(!std::mem::replace(&mut started, true), "it starts twice"),
            Event::BadCase(_) => {}
            event => assert!(started, "{event:?} comes before the start"),
        }
        match event {
            Event::Case(case) => {
                assert!(cases.insert(case.case_id.clone()), "{case:?} comes twice")
            }
            Event::ScorerStarted(scorer) => {
                assert!(cases.contains(&scorer.case_id), "{scorer:?} has no case");
                let name = (scorer.case_id.clone(), scorer.scorer_id.to_string());
                assert!(began.insert(name), "{scorer:?} comes twice");
            }
            Event::ScorerFinished(scorer) | Event::ScorerFailed(scorer) => {
                let name = (scorer.row.case_id.clone(), scorer.row.scorer_id.clone());
                assert!(began.remove(&name), "{scorer:?} did not begin");
            }
            Event::Ended(_) => ended = true,
            _ => {}
        }
    }
    assert!(began.is_empty(), "{began:?} neither finished nor failed");
    assert!(ended);
}

fn stored_rows(database: &Path) -> Vec<(String, String, Option<f64>)> {
    let store = Store::open_read_only(database).unwrap();
    let page = store.scores(&ScoreFilter::default(), None, 100_000).unwrap();
    page.into_iter()
        .map(|record| (record.row.case_id, record.row.scorer_id, record.row.answer.score))
        .collect()
}

fn state(database: &Path, report: &RunReport) -> RunState {
    Store::open_read_only(database).unwrap().run(report.run.as_str()).unwrap().state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_scores_a_case_and_runs_a_suite_as_the_docs_say() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("outcomes")).unwrap();
    std::fs::write(folder.path().join("cases.jsonl"), lines(3)).unwrap();
    let outcomes = folder.path().join("outcomes");
    let engine = builder().jobs(8).workspace(outcomes).build().unwrap();
    let same = engine.scorer("exact-match").config(json!({"ignoreCase": true}));
    let same = same.load().await.unwrap();
    let case = r#"{"output": "Paris", "groundTruth": "paris"}"#.parse().unwrap();
    assert_eq!(same.score(&case).await.result.unwrap().score, Some(1.0));

    let database = folder.path().join("scores.db");
    let given = Cases::file(folder.path().join("cases.jsonl")).unwrap();
    let mut run = engine.run(light(), given).store(&database).start().await.unwrap();
    let events = all_events(&mut run).await;
    let report = run.end().await.unwrap();
    assert_legal(&events);
    assert_eq!((report.stopped.clone(), report.progress.cases_done), (None, 3));
    assert!(report.root.is_some());
    let mut told: Vec<_> = events
        .iter()
        .filter_map(Event::row)
        .map(|row| (row.case_id.clone(), row.scorer_id.clone(), row.answer.score))
        .collect();
    told.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    assert_eq!(told, stored_rows(&database));
    assert_eq!(state(&database, &report), RunState::Finished);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_not_stored_has_the_same_events() {
    let engine = engine(2);
    let text = format!("{}not a case\n", lines(50));
    let run = engine.run(light(), cases(text)).skip_bad_cases();
    let mut run = run.start().await.unwrap();
    let events = all_events(&mut run).await;
    let report = run.end().await.unwrap();
    assert_legal(&events);
    assert_eq!((report.stopped, report.root), (None, None));
    let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
    assert_eq!(count(|event| matches!(event, Event::Case(_))), 50);
    assert_eq!(count(|event| event.row().is_some()), 100);
    assert_eq!(count(|event| matches!(event, Event::BadCase(_))), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_are_refused_before_the_first_case_are_events_too() {
    let text = format!("{}{}", "not a case\n".repeat(3000), lines(1));
    let mut run = engine(1).run(light(), cases(text)).skip_bad_cases().start().await.unwrap();
    let events = all_events(&mut run).await;
    assert_legal(&events);
    let bad = events.iter().filter(|event| matches!(event, Event::BadCase(_))).count();
    assert_eq!(bad, 3000);
    assert_eq!(run.end().await.unwrap().progress.cases_bad, 3000);
}

/// More rows than a stream holds, none of which is read until the run cannot continue.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_slows_the_run_and_loses_nothing() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let run = engine(2).run(light(), cases(lines(3000))).store(&database);
    let mut run = run.start().await.unwrap();
    let mut rows: HashMap<(String, String), usize> = HashMap::new();
    let mut events = 0;
    while let Some(event) = run.next().await {
        events += 1;
        if events % 1000 == 0 {
            // Other tests take all of the threads for a while.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        }
        if let Some(row) = event.row() {
            *rows.entry((row.case_id.clone(), row.scorer_id.clone())).or_default() += 1;
        }
    }
    assert_eq!(run.end().await.unwrap().stopped, None);
    assert_eq!(rows.len(), 6000);
    assert!(rows.values().all(|count| *count == 1));
    assert_eq!(stored_rows(&database).len(), 6000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_that_are_not_read_do_not_keep_a_run_from_its_end() {
    let run = engine(2).run(light(), cases(lines(2000))).start().await.unwrap();
    assert_eq!(run.end().await.unwrap().progress.scores_written, 4000);
}

/// A sink that accepts this many rows, and then fails.
fn refusing_after(rows: usize) -> impl FnMut(&Event) -> Result<(), Refused> + Send {
    let taken = Arc::new(AtomicUsize::new(0));
    move |event: &Event| match event {
        event if event.row().is_some() && taken.fetch_add(1, Ordering::SeqCst) >= rows => {
            Err(Refused::new("the page is full"))
        }
        _ => Ok(()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sink_that_refuses_ends_the_run_and_what_was_stored_stays() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let run = engine(2).run(light(), cases(lines(10_000))).store(&database);
    let mut run = run.sink(refusing_after(100)).start().await.unwrap();
    let events = all_events(&mut run).await;
    let report = run.end().await.unwrap();
    assert_legal(&events);
    assert_eq!(report.stopped, Some(Stop::Refused { message: "the page is full".into() }));
    assert_eq!(state(&database, &report), RunState::Stopped);
    let told = events.iter().filter(|event| event.row().is_some()).count();
    let stored = stored_rows(&database).len();
    assert_eq!((told, report.progress.scores_written), (stored, stored as u64));
    assert!((101..20_000).contains(&stored), "{stored}");

    let resumed = engine(2).run(light(), cases(lines(10_000))).store(&database);
    let resumed = resumed.resume(report.run).start().await.unwrap().end().await.unwrap();
    assert_eq!(resumed.stopped, None);
    assert_eq!(resumed.progress.scores_written, 20_000 - stored as u64);
}

/// Waits until the run is stored with a state other than `running`.
async fn ended_state(database: &Path, run: &str) -> RunState {
    loop {
        let state = Store::open_read_only(database).unwrap().run(run).unwrap().state;
        if state != RunState::Running {
            return state;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_dropped_is_interrupted_and_can_be_resumed() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let run = engine(2).run(light(), cases(lines(10_000))).store(&database);
    let mut run = run.id("dropped".parse().unwrap()).start().await.unwrap();
    while let Some(event) = run.next().await {
        if event.row().is_some() {
            break;
        }
    }
    drop(run);
    let ended = tokio::time::timeout(Duration::from_secs(120), ended_state(&database, "dropped"));
    assert_eq!(ended.await.expect("the run hangs"), RunState::Interrupted);
    let stored = stored_rows(&database).len();
    assert!((1..20_000).contains(&stored), "{stored}");
    let resumed = engine(2).run(light(), cases(lines(10_000))).store(&database);
    let resumed = resumed.resume("dropped".parse().unwrap()).start().await.unwrap();
    assert_eq!(resumed.end().await.unwrap().progress.scores_written, 20_000 - stored as u64);
}

/// Once with much to do, once with nothing to do but wait.
#[test]
fn a_run_that_is_dropped_with_its_runtime_is_interrupted() {
    for suite in [light(), with_one_that_waits()] {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("scores.db");
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let run = engine(2).run(suite, cases(lines(2000))).store(&database);
            let mut run = run.id("dropped".parse().unwrap()).start().await.unwrap();
            while run.next().await.expect("no row came").row().is_none() {}
        });
        drop(runtime);
        let run = Store::open_read_only(&database).unwrap().run("dropped").unwrap();
        assert_eq!(run.state, RunState::Interrupted);
        assert!(!stored_rows(&database).is_empty());
    }
}

/// There are more events than are held for a reader, and no reader arrives.
#[test]
fn a_runtime_that_is_dropped_before_its_run_does_not_wait_for_a_reader() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
    let run = runtime.block_on(async {
        let run = engine(2).run(light(), cases(lines(5000))).store(&database);
        let run = run.id("dropped".parse().unwrap()).start().await.unwrap();
        let mut written = 0;
        // Once nothing more is written, the reader holds as many events as it can.
        while written == 0 || run.progress().scores_written > written {
            written = run.progress().scores_written;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        run
    });
    drop(runtime);
    let stored = Store::open_read_only(&database).unwrap().run("dropped").unwrap();
    assert_eq!(stored.state, RunState::Interrupted);
    drop(run);
}

/// The database is opened on another thread, which may be doing so, be done, or not have begun.
#[test]
fn a_run_that_is_dropped_while_it_is_opened_is_not_stored_as_running() {
    let folder = TempDir::new().unwrap();
    for round in 0..20 {
        let database = folder.path().join(format!("{round}.db"));
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }.worker_threads(1).enable_all().build().unwrap();
        let run = engine(1).run(light(), cases(lines(100))).store(&database);
        let run = runtime.block_on(run.id("dropped".parse().unwrap()).start()).unwrap();
        std::thread::sleep(Duration::from_millis(round));
        drop(run);
        drop(runtime);
        let stored = Store::open_read_only(&database).and_then(|store| store.run("dropped"));
        if let Ok(stored) = stored {
            assert_ne!(stored.state, RunState::Running, "after {round} ms");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sink_that_panics_ends_the_run_as_one_that_refuses() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let run = engine(2).run(light(), cases(lines(100))).store(&database);
    let sink = |event: &Event| match event.row() {
        Some(row) => panic!("no room for {}", row.case_id),
        None => Ok(()),
    };
    let report = run.sink(sink).start().await.unwrap().end().await.unwrap();
    let Some(Stop::Refused { message }) = &report.stopped else { panic!("{report:?}") };
    assert!(message.starts_with("a sink panicked: no room for q"), "{message}");
    assert_eq!(state(&database, &report), RunState::Stopped);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_connection_finds_the_row_of_an_event() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let run = engine(2).run(light(), cases(lines(500))).store(&database);
    let mut run = run.start().await.unwrap();
    let (mut other, mut seen) = (None, 0);
    while let Some(event) = run.next().await {
        if let Some(row) = event.row() {
            let other = other.get_or_insert_with(|| Store::open_read_only(&database).unwrap());
            let filter = ScoreFilter::default()
                .with_case(row.case_id.clone())
                .with_scorer(row.scorer_id.clone());
            let stored = other.scores(&filter, None, 2).unwrap();
            assert_eq!(stored.len(), 1, "{row:?}");
            assert_eq!(stored[0].row.answer.score, row.answer.score);
            seen += 1;
        }
    }
    assert_eq!(seen, 1000);
}

/// The waiting scores would take an hour; those of the other scorer are all stored without them.
#[test]
fn a_scorer_that_waits_holds_back_neither_the_others_of_its_case_nor_a_worker() {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let count = 100;
        let run = engine(1).run(with_one_that_waits(), cases(lines(count)));
        let mut run = run.start().await.unwrap();
        let mut quick = 0;
        while quick < count {
            match run.next().await.expect("the run continues") {
                Event::ScorerFinished(ended) => {
                    assert_eq!(
                        (ended.row.scorer_id.as_str(), ended.row.answer.status),
                        ("exact-match", Status::Scored)
                    );
                    quick += 1;
                }
                Event::Ended(ended) => panic!("{ended:?}"),
                _ => {}
            }
        }
        assert_eq!(run.progress().cases_done, 0);
    });
    runtime.shutdown_background();
}

#[tokio::test]
async fn what_cannot_be_begun_says_why() {
    let engine = engine(1);
    let error = engine.scorer("exact-mach").load().await.unwrap_err();
    assert!(matches!(&error, EngineError::Scorer(RunError::NotFound { .. })), "{error}");
    let error = engine.scorer("exact-match").config(json!([1])).load().await.unwrap_err();
    assert_eq!(error.to_string(), "the configuration of `exact-match` is not a JSON object");
    let error = builder().workspace("/nowhere").build().unwrap_err();
    assert!(matches!(&error, EngineError::Workspace(_)), "{error}");
    let run = engine.run(light(), cases(String::new())).start().await.unwrap();
    assert!(matches!(run.end().await, Err(RunError::Cases(_))));
    let resumed = engine.run(light(), cases(lines(1))).resume("r".parse().unwrap());
    let error = resumed.start().await.unwrap().end().await.unwrap_err();
    assert_eq!(error.to_string(), "the run `r` cannot be resumed: no database is named");
    assert!("[scorers.".parse::<Suite>().unwrap_err().to_string().starts_with("suite:1:"));
}
