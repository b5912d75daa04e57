//! Scores cases that a program has in memory, and waits for the results: by scorer, and `None` where a scorer failed.
//!
//!     cargo run --example score_batch

#![allow(clippy::print_stdout)]

use std::error::Error;

use scorebox::{case::Case, engine::Engine, suite::Suite};

fn main() -> Result<(), Box<dyn Error>> {
    // Components are compiled in a process of this same program.
    scorebox::sandbox::compile_if_asked();
    tokio::runtime::Runtime::new()?.block_on(score())
}

async fn score() -> Result<(), Box<dyn Error>> {
    let suite: Suite = "
        [scorers.right]
        use = 'exact-match'
        [scorers.fast]
        use = 'latency'
        config = { targetMs = 500, maxMs = 5000 }
    "
    .parse()?;
    let suite = Engine::builder().build()?.load(suite).await?;

    let cases: Vec<Case> = vec![
        r#"{"id": "sum", "output": "4", "groundTruth": "4", "latencyMs": 300}"#.parse()?,
        // Without `groundTruth`, `right` fails; `fast` does not.
        r#"{"id": "open", "output": "perhaps 5", "latencyMs": 2750}"#.parse()?,
    ];
    let batch = suite.score_batch(cases).await?;
    for case in &batch.cases {
        for (scorer, answer) in &case.results {
            match answer {
                Some(answer) => println!("{} {scorer}: {:?}", case.case_id, answer.score),
                None => println!("{} {scorer}: {}", case.case_id, case.errors[scorer].message),
            }
        }
    }
    assert_eq!(batch.cases[0].score("right"), Some(1.0));
    assert_eq!(batch.cases[1].score("right"), None);
    assert_eq!(batch.cases[1].score("fast"), Some(0.5));
    Ok(())
}
