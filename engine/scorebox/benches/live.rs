//! Measures how long a program waits when it adds a case to be scored live, while all workers are busy: the time of one
//! `score_live`, in percentiles. Between two calls, it only does what the percentiles need.
//!
//!     cargo bench --bench live

#![allow(clippy::print_stdout)]

use std::{error::Error, time::Duration};

use scorebox::{
    case::Case,
    engine::Engine,
    run::WhenFull,
    sandbox::{Compiler, compile_if_asked},
    suite::Suite,
};

/// How many cases are added: more than are scored meanwhile, so that workers are always busy and the queue is full.
const CASES: usize = 200_000;
/// How many cases may wait.
const QUEUE: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    compile_if_asked();
    tokio::runtime::Runtime::new()?.block_on(measure())
}

async fn measure() -> Result<(), Box<dyn Error>> {
    let suite: Suite = "[scorers.levenshtein]\n[scorers.rouge]\n[scorers.contains]".parse()?;
    let engine = Engine::builder().compiler(Compiler::InProcess).build()?;
    let folder = tempfile::tempdir()?;
    let suite = engine.load(suite).await?.store(folder.path().join("live.db"));
    let lines = include_str!("../../../examples/gsm8k/answers.jsonl");
    // Each id occurs once, so that they are cases of one run however many are added.
    let without_id = |line: &str| {
        let mut case: serde_json::Value = serde_json::from_str(line).ok()?;
        case.as_object_mut()?.remove("id");
        case.to_string().parse::<Case>().ok()
    };
    let answers: Vec<Case> = lines.lines().filter_map(without_id).collect();
    let live = suite.live().queue_cases(QUEUE).when_full(WhenFull::DropOldest).start().await?;
    let handing_over = tokio::task::spawn_blocking(move || {
        let mut times = Vec::with_capacity(CASES);
        for number in 0..CASES {
            let case = answers[number % answers.len()].clone();
            let started = std::time::Instant::now();
            live.score_live(case);
            times.push(started.elapsed());
        }
        (live, times)
    });
    let (live, mut times) = handing_over.await?;
    times.sort_unstable();
    let percentile = |part: f64| -> Duration { times[((times.len() - 1) as f64 * part) as usize] };
    let counts = live.counts();
    let done = live.progress().cases_done;
    println!("{counts:?}, {done} cases were scored meanwhile");
    for (name, part) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)]
    {
        println!("{name:>6}  {:?}", percentile(part));
    }
    live.shutdown().await?;
    Ok(())
}
