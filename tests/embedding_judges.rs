//! The library with a judge that the program implements: how a run handles a judge that asks to wait more often than it
//! answers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use scorebox::{
    engine::{Cases, Engine},
    judge::{
        Answer, AskError, AskErrorKind, BoxFuture, JudgeChoice, JudgeSettings, Judges, Provider,
        ProviderSettings, Question, Reply,
    },
    run::{RunReport, Stop},
    sandbox::{CompileLimits, Compiler},
    store::{RunState, ScoreFilter, Store},
    suite::Suite,
};
use serde_json::json;
use tempfile::TempDir;

use crate::sandbox_fixture::shared_cache;

/// Answers three questions, and then only asks to wait, until the limit is lifted.
#[derive(Debug, Default)]
struct Limited {
    asked: AtomicU32,
    is_lifted: AtomicBool,
}

impl Provider for Limited {
    fn ask<'a>(&'a self, _: &'a Question, _: Duration) -> BoxFuture<'a, Result<Answer, AskError>> {
        Box::pin(async {
            if self.asked.fetch_add(1, SeqCst) >= 3 && !self.is_lifted.load(SeqCst) {
                return Err(AskError::new(AskErrorKind::Limited, "the day is over", 5));
            }
            let text = r#"{"reason": "So.", "score": 1}"#.to_owned();
            Ok(Answer::new(Reply::Text { text, truncated: false }, "tiny"))
        })
    }
}

fn suite() -> Suite {
    let text = r#"
        [judges.default]
        provider = "openai"
        base_url = "http://127.0.0.1:9/v1"
        model = "tiny"

        [scorers.relevancy]
        grants = ["judge"]

        [scorers.length]
        config = { max = 100 }
    "#;
    text.parse().unwrap()
}

fn cases() -> Cases {
    let case = |number| json!({"id": format!("q{number}"), "input": "Is it?", "output": number});
    let lines: String = (0..20).map(|number| format!("{}\n", case(number.to_string()))).collect();
    Cases::reader("cases.jsonl", std::io::Cursor::new(lines)).unwrap()
}

fn engine(provider: &Arc<Limited>) -> Engine {
    let own = ProviderSettings::Own { kind: "limited".to_owned(), place: String::new() };
    let mut settings = JudgeSettings::new(own);
    (settings.model, settings.concurrency) = (Some("tiny".to_owned()), 1);
    let provider = Arc::clone(provider) as Arc<dyn Provider>;
    let judges = Judges::builder().judge(JudgeChoice::DEFAULT, settings, Some(provider)).build();
    let patient = CompileLimits::default().with_timeout(Duration::from_secs(600));
    let builder = Engine::builder().cache(shared_cache()).compiler(Compiler::InProcess);
    builder.compile_limits(patient).jobs(1).judges(judges).build().unwrap()
}

/// The number of scores of the relevancy scorer, and the number of rows with errors.
fn stored(store: &Store, report: &RunReport) -> (usize, usize) {
    let filter = ScoreFilter::of_run(report.run.to_string());
    let rows = store.scores(&filter, None, 100).unwrap();
    let of_judge = rows.iter().filter(|it| it.row.scorer_id == "relevancy");
    let scored = of_judge.filter(|it| it.row.answer.score.is_some()).count();
    (scored, rows.iter().filter(|it| it.row.answer.error.is_some()).count())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_judge_that_only_asks_to_wait_stops_the_run_which_a_later_session_completes() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("scores.db");
    let provider = Arc::new(Limited::default());
    let run = engine(&provider).run(suite(), cases()).store(&database);
    let report = run.start().await.unwrap().end().await.unwrap();
    let message = "judge `default`: the day is over".to_owned();
    assert_eq!(report.stopped, Some(Stop::JudgeLimited { message }));
    let store = Store::open_read_only(&database).unwrap();
    assert_eq!(store.run(report.run.as_str()).unwrap().state, RunState::Stopped);
    assert_eq!(stored(&store, &report), (3, 0));
    drop(store);

    provider.is_lifted.store(true, SeqCst);
    let run = engine(&provider).run(suite(), cases()).store(&database);
    let report = run.resume(report.run).start().await.unwrap().end().await.unwrap();
    assert_eq!(report.stopped, None);
    let store = Store::open_read_only(&database).unwrap();
    assert_eq!(stored(&store, &report), (20, 0));
}
