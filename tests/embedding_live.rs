//! A program with cases in memory: scored as a batch, which returns the answers, and live, in the background. Every
//! accepted case is scored exactly once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use scorebox::{
    case::Case,
    engine::{Engine, EngineError, Live, LoadedSuite},
    registry::Reference,
    row::Status,
    run::{Event, OnBadCase, QueueCounts, Refused, RunError, Stop, WhenFull},
    sandbox::{CompileLimits, Compiler, Limits},
    store::{RunSource, RunState, ScoreFilter, Store},
    suite::{ScorerId, Suite, SuiteScorer},
};
use serde_json::json;
use tempfile::TempDir;

use crate::sandbox_fixture::{config, guest_path, shared_cache};

fn engine(jobs: usize) -> Engine {
    let patient = CompileLimits::default().with_timeout(Duration::from_secs(600));
    let builder = Engine::builder().jobs(jobs).cache(shared_cache());
    builder.compiler(Compiler::InProcess).compile_limits(patient).build().unwrap()
}

async fn light() -> LoadedSuite {
    let suite =
        "[scorers.exact-match]\n[scorers.latency]\nconfig = { targetMs = 100, maxMs = 1000 }";
    engine(2).load(suite.parse().unwrap()).await.unwrap()
}

/// A scorer that waits in a host call until its time-out, which is longer than any test.
async fn waiting() -> LoadedSuite {
    let id = ScorerId::new("waits").unwrap();
    let patient = Limits::default()
        .with_timeout(Duration::from_secs(3600))
        .with_host_timeout(Duration::from_secs(3600));
    let waits = SuiteScorer::new(id, Reference::File(guest_path("sleeper")))
        .with_config(config(&json!({"ms": u64::MAX})))
        .with_limits(patient);
    engine(1).load(Suite::new("waiting".into(), vec![waits]).unwrap()).await.unwrap()
}

fn case(value: serde_json::Value) -> Case {
    value.to_string().parse().unwrap()
}

fn right(id: &str) -> Case {
    case(json!({"id": id, "output": "a", "groundTruth": "a", "latencyMs": 100}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_answers_by_scorer_with_none_where_it_failed() {
    let cases = [
        right("good"),
        // `exact-match` needs a ground truth.
        case(json!({"output": "a", "latencyMs": 550})),
        case(json!({"id": "left", "output": "a", "groundTruth": "a", "skip": true})),
    ];
    let batch = light().await.score_batch(cases).await.unwrap();
    assert_eq!((batch.run, batch.root), (None, None));
    let [good, half, left] = &batch.cases[..] else { panic!("{:?}", batch.cases) };
    assert_eq!((good.score("exact-match"), good.score("latency")), (Some(1.0), Some(1.0)));
    assert!(good.errors.is_empty());
    // Without an id, a case is named by its position.
    assert_eq!((half.case_id.as_str(), half.score("latency")), ("case-2", Some(0.5)));
    let exact = ScorerId::new("exact-match").unwrap();
    assert_eq!(half.results[&exact], None);
    assert_eq!(half.errors[&exact].kind, "invalid-input");
    assert!(left.results.is_empty() && left.refused.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases_of_one_id_have_each_its_own_scores_if_nothing_is_stored() {
    let output = |place: usize| if place.is_multiple_of(3) { "a" } else { "b" };
    let twin = |place| case(json!({"id": "twin", "output": output(place), "groundTruth": "a"}));
    let batch = light().await.score_batch((0..100).map(twin)).await.unwrap();
    for (place, case) in batch.cases.iter().enumerate() {
        let own = f64::from(u8::from(output(place) == "a"));
        assert_eq!(case.score("exact-match"), Some(own), "{place}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_is_stored_is_a_run_like_any_other() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let suite = light().await.store(&database);
    let cases = [right("a"), case(json!({"id": "a", "output": "b"})), right("b")];
    let batch = suite.score_batch(cases).await.unwrap();
    let refused: Vec<_> = batch.cases.iter().map(|case| case.refused.as_deref()).collect();
    let why = "<program>: duplicate id `a`, first used at <program>";
    assert_eq!(refused, [None, Some(why), None]);
    assert_eq!(batch.cases[2].score("exact-match"), Some(1.0));
    let store = Store::open_read_only(&database).unwrap();
    let run = store.run(batch.run.unwrap().as_str()).unwrap();
    assert_eq!((run.state, run.spec.source), (RunState::Finished, RunSource::Batch));
    assert_eq!((run.root, store.row_count(run.key).unwrap()), (batch.root, 4));

    let again = suite.score_batch([right("a")]).await.unwrap();
    assert_eq!(again.cases[0].score("exact-match"), Some(1.0));
    assert_eq!(store.runs(10).unwrap().len(), 2);
    let nothing = suite.score_batch([]).await.unwrap();
    assert_eq!((nothing.cases.len(), store.runs(10).unwrap().len()), (0, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_whose_database_cannot_be_had_is_an_error() {
    let suite = light().await.store("/nowhere/scores.db");
    let error = suite.score_batch([right("a")]).await.unwrap_err();
    assert!(matches!(error, RunError::Store(_)), "{error}");
    let error = suite.live().start().await.unwrap_err();
    assert!(matches!(error, EngineError::Scorer(RunError::Store(_))), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_handed_over_live_is_stored_after_a_flush_and_a_shutdown_loses_nothing() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let live = light().await.store(&database).live().id("live".parse().unwrap());
    let live = live.start().await.unwrap();
    // There is nothing to wait for yet.
    assert!(live.flush().await);
    for number in 0..500 {
        assert!(live.score_live(right(&format!("q{number}"))));
    }
    // A case that is not valid for one scorer, and a name that is taken.
    assert!(live.score_live(case(json!({"output": "a"}))));
    assert!(live.score_live(right("q0")));
    assert!(live.flush().await);
    let store = Store::open_read_only(&database).unwrap();
    let run = store.run("live").unwrap();
    assert_eq!((run.state, run.spec.source), (RunState::Running, RunSource::Live));
    assert_eq!(store.row_count(run.key).unwrap(), 2 * 501);

    (500..3000).for_each(|number| assert!(live.score_live(right(&format!("q{number}")))));
    let counts = live.counts();
    assert_eq!((counts.accepted, counts.dropped, counts.refused), (3002, 0, 0));
    let report = live.shutdown().await.unwrap().unwrap();
    assert_eq!((report.stopped, report.progress.cases_bad), (None, 1));
    assert_eq!(store.run("live").unwrap().state, RunState::Finished);
    assert_eq!(store.row_count(run.key).unwrap(), 2 * 3001);
    let errors = ScoreFilter::default().with_errors(true);
    let errors = store.scores(&errors, None, 10).unwrap();
    // The error of `exact-match`, which needs a ground truth.
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].row.answer.status, Status::Error);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cases_may_come_from_many_threads() {
    let live = Arc::new(light().await.live().start().await.unwrap());
    let callers = (0..4).map(|caller| {
        let live = Arc::clone(&live);
        tokio::task::spawn_blocking(move || {
            (0..250).all(|number| live.score_live(right(&format!("{caller}-{number}"))))
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        assert!(caller.await.unwrap());
    }
    assert!(live.flush().await);
    assert_eq!(live.progress().cases_done, 1000);
    let report = Arc::into_inner(live).unwrap().shutdown().await.unwrap().unwrap();
    assert_eq!(report.progress.scores_written, 2000);
}

/// Waits until the run has taken as many cases as it takes while its scorers wait.
async fn until_the_queue_is_full(live: &Live) {
    let mut number = 0;
    while live.counts().dropped + live.counts().refused == 0 {
        live.score_live(case(json!({"id": format!("q{number}"), "output": "x".repeat(100_000)})));
        number += 1;
        tokio::task::yield_now().await;
    }
}

/// The scorer of these cases waits for an hour, but no caller does.
#[test]
fn a_full_queue_holds_no_caller_up_and_counts_what_it_does_not_take() {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
    let seen = runtime.block_on(async {
        let (suite, mut seen) = (waiting().await, Vec::new());
        for when_full in [WhenFull::Refuse, WhenFull::DropOldest] {
            let live = suite.live().queue_cases(4).when_full(when_full).start().await.unwrap();
            until_the_queue_is_full(&live).await;
            // The run may still have had room for one case.
            let taken = |counts: &QueueCounts| counts.accepted - counts.dropped - counts.waiting;
            seen.push(loop {
                let before = live.counts();
                let accepted = (0..100).filter(|it| live.score_live(right(&format!("more-{it}"))));
                let (accepted, after) = (accepted.count(), live.counts());
                if before.waiting == 4 && taken(&before) == taken(&after) {
                    break (before, accepted, after);
                }
                tokio::task::yield_now().await;
            });
        }
        seen
    });
    // This comes first: if an assertion fails, nothing waits for the scorer.
    runtime.shutdown_background();
    let [(before, accepted, after), (dropping, all, dropped)] = &seen[..] else { panic!("two") };
    assert_eq!((*accepted, after.refused, after.waiting), (0, before.refused + 100, 4));
    assert_eq!((*all, dropped.dropped, dropped.waiting), (100, dropping.dropped + 100, 4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scoring_that_has_ended_refuses_cases_and_says_why_in_the_end() {
    let taken = AtomicU64::new(0);
    let refusing = move |event: &Event| match event.row() {
        Some(_) if taken.fetch_add(1, Ordering::SeqCst) >= 10 => Err(Refused::new("no more")),
        _ => Ok(()),
    };
    let live = light().await.live().when_full(WhenFull::Wait).queue_cases(1).sink(refusing);
    let live = live.start().await.unwrap();
    let live = tokio::task::spawn_blocking(move || {
        // The caller waits for room, and then learns that the run has ended.
        let mut number = 0;
        while live.score_live(right(&number.to_string())) {
            number += 1;
        }
        live
    });
    let live = live.await.unwrap();
    assert!(live.counts().refused > 0);
    let report = live.shutdown().await.unwrap().unwrap();
    assert_eq!(report.stopped, Some(Stop::Refused { message: "no more".into() }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_scoring_without_a_case_ends_without_a_run() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let suite = light().await.store(&database);
    let live = suite.live().start().await.unwrap();
    assert!(live.shutdown().await.unwrap().is_none());
    assert!(Store::open_read_only(&database).unwrap().runs(1).unwrap().is_empty());

    let named = || suite.live().id("mine".parse().unwrap()).start();
    let live = named().await.unwrap();
    live.score_live(right("a"));
    live.shutdown().await.unwrap();
    let error = named().await.unwrap_err();
    assert!(error.to_string().contains("mine"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scoring_that_is_stopped_is_stored_with_the_reason_and_drops_what_waits() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let suite = light().await.store(&database);
    let stop = Stop::BadCase { message: "no case".into(), advice: None };
    let never_begun = suite.live().start().await.unwrap();
    never_begun.stop(stop.clone());
    assert!(!never_begun.score_live(right("a")));
    assert!(never_begun.shutdown().await.unwrap().is_none());

    let live = suite.live().id("live".parse().unwrap()).start().await.unwrap();
    live.score_live(right("a"));
    assert!(live.flush().await);
    live.stop(stop.clone());
    let report = live.shutdown().await.unwrap().unwrap();
    assert_eq!((report.stopped, report.progress.cases_done), (Some(stop), 1));
    let run = Store::open_read_only(&database).unwrap().run("live").unwrap();
    assert_eq!((run.state, run.spec.source), (RunState::Stopped, RunSource::Live));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scoring_that_is_to_end_at_a_name_that_is_taken_takes_nothing_after_it() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let suite = light().await.store(&database);
    let live = suite.live().on_bad_case(OnBadCase::Stop).start().await.unwrap();
    for id in ["a", "b", "a", "c"] {
        live.score_live(right(id));
    }
    let report = live.shutdown().await.unwrap().unwrap();
    assert!(matches!(report.stopped, Some(Stop::BadCase { .. })), "{:?}", report.stopped);
    assert_eq!((report.progress.cases_done, report.progress.scores_written), (2, 4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scoring_that_is_aborted_drops_what_it_computes() {
    let (lives, mut has_ended) = tokio::sync::mpsc::channel::<()>(1);
    let live = waiting().await.live().sink(move |_: &Event| {
        let _ = &lives;
        Ok(())
    });
    let live = live.start().await.unwrap();
    assert!(live.score_live(case(json!({"output": "a"}))));
    while live.progress().cases_read == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    live.abort();
    // The sinks are dropped when nothing more can arrive, which a score that takes an hour would delay.
    let ended = tokio::time::timeout(Duration::from_secs(60), has_ended.recv());
    assert_eq!(ended.await, Ok(None));
}
