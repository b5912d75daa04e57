//! Scores cases in the background while a program does its work, and stores the scores.
//!
//!     cargo run --example score_live

#![allow(clippy::print_stdout)]

use std::error::Error;

use scorebox::{
    case::{Case, Key},
    engine::Engine,
    run::WhenFull,
    suite::Suite,
};

fn main() -> Result<(), Box<dyn Error>> {
    // Components are compiled in a process of this same program.
    scorebox::sandbox::compile_if_asked();
    tokio::runtime::Runtime::new()?.block_on(work())
}

async fn work() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let suite: Suite = "[scorers.json-valid]\n[scorers.length]\nconfig = { max = 80 }".parse()?;
    let suite = Engine::builder().build()?.load(suite).await?.store(folder.path().join("live.db"));
    let live = suite.live().queue_cases(1000).when_full(WhenFull::DropOldest).start().await?;

    for task in 0..100 {
        let answer = format!("{{\"task\": {task}}}");
        let case = Case::builder().text(Key::Id, &format!("task-{task}"));
        // Returns at once, whatever the scorers do.
        live.score_live(case.text(Key::Output, &answer).build()?);
    }
    live.flush().await;
    println!("{:?}", live.counts());

    let report = live.shutdown().await?.ok_or("there was a case")?;
    println!("run {}: {} scores", report.run, report.progress.scores_written);
    assert_eq!(report.progress.scores_written, 200);
    Ok(())
}
