//! Databases that someone changed, and what every command does with them: a small database that the library made, with
//! the changes that the bytes name.
//!
//! - `base`: the database before the changes, its contents as an honest reader finds them, and the code that makes it.
//! - `changes`: the changes, one on each line.
//! - `scorer.wat`: the scorers of its runs.
//! - here: what the library may report about a changed database.

mod base;
mod changes;

use std::{fs, io::Cursor, path::Path, sync::Arc, time::Instant};

use scorebox::{
    advice::Advised as _,
    aggregate::{
        LeaderboardError, LeaderboardOptions, OfScorers, RepeatOptions, RepeatsError, Strategy,
        VerdictOptions, aggregate, leaderboard, repeats, verdicts,
    },
    case::{Case, CaseReader, Key, Mapping, Source},
    contract::Field,
    row::Status,
    run::{Control, RunError, RunReport, RunRequest, WhichRun, load_scorers, run},
    store::{CaseContent, RunState, ScoreFilter, ScoreRecord, Store, StoreError},
    verify::{Finding, Receipt, ReceiptError, Verdict, VerifyRequest, verify, verify_root},
};

use base::{BaseRun, CASES, Stage, stage};

/// Rows of a page; verify reads pages of the same size.
const PAGE: usize = 64;
/// More rows than a database of this size can have.
const MAX_ROWS: usize = 100_000;
/// After this many seconds no further command is tried: each command has its own time limit, and their sum is not
/// tested.
const LONG_ENOUGH: u64 = 10;

/// A command, applied to the database at a path.
type Command = fn(&Stage, &Path) -> Result<(), StoreError>;

/// Changes a database as the bytes say, and lets the library read, verify and resume it.
pub fn database(data: &[u8]) {
    let stage = stage();
    let _turn = stage.turn();
    let path = stage.folder.path().join("scores.db");
    changes::make(&path, &stage.base, data);
    let began = Instant::now();
    let commands: [Command; 4] = [read_all, verify_all, compare_roots, resume_all];
    for command in commands {
        let outcome = command(stage, &path);
        if let Err(error) = outcome {
            assert!(!error.to_string().is_empty() && error.advice().is_some());
        }
        if began.elapsed().as_secs() >= LONG_ENOUGH {
            return;
        }
    }
}

/// A summary of what the commands report about a changed database: how many scores of the finished run are verified,
/// and whether it has its root; or why the database cannot be opened.
#[cfg(test)]
pub(crate) fn said(data: &[u8]) -> String {
    let stage = stage();
    let _turn = stage.turn();
    let path = stage.folder.path().join("scores.db");
    changes::make(&path, &stage.base, data);
    let saying = || -> Result<String, StoreError> {
        let store = Store::open_read_only(&path)?;
        let base = &stage.runs[0];
        let filter = of_run(base.id);
        let count = rows(&store, &filter)?.len();
        let mut verified = 0;
        let request = VerifyRequest::new(filter).jobs(2);
        stage.runtime.block_on(verify(&store, &request, &stage.sandbox, |finding| {
            let of_a_score = finding.score_id.matches(':').count() == 4;
            verified += usize::from(of_a_score && finding.verdict == Verdict::Verified);
            true
        }))?;
        let root = verify_root(&store, base.id, base.root, |_| {})?.verdict == Verdict::Verified;
        Ok(format!("{verified} of {count}, root {}", if root { "same" } else { "differs" }))
    };
    saying().unwrap_or_else(|error| match error {
        StoreError::Strange { what, .. } | StoreError::Corrupt { what, .. } => what,
        other => format!("{other:?}").split(' ').next().unwrap_or_default().to_owned(),
    })
}

/// Reads what `scorebox repeats` and `leaderboard` read.
fn read_together(store: &Store, run: &str) -> Result<(), StoreError> {
    let options = RepeatOptions::default().with_ks(&[1, 2]).with_scorers(OfScorers::Each);
    match repeats(store, run, options, |case| case.attempts > 0) {
        Ok(repeats) => {
            for draw in repeats.verdict.iter().flat_map(|tries| &tries.draws) {
                let figures = [draw.pass_at_k, draw.pass_hat_k, draw.at_least_k];
                assert!(
                    figures.into_iter().flatten().all(|it| (0.0..=1.0).contains(&it)),
                    "{draw:?}"
                );
            }
        }
        Err(RepeatsError::Store(error)) => return Err(error),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    for strategy in [Strategy::Fastest, Strategy::Weighted] {
        let options = LeaderboardOptions::new(strategy);
        match leaderboard(store, run, options) {
            Ok(board) => assert!(board.entrants.iter().all(|it| it.succeeded <= it.attempts)),
            Err(LeaderboardError::Store(error)) => return Err(error),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    Ok(())
}

/// Reads what `scorebox scores`, `stats` and `verify --receipt` read, of each run and of all runs together.
fn read_all(_: &Stage, path: &Path) -> Result<(), StoreError> {
    let store = opened(path, |path| Store::open_read_only(path))?;
    let _ = store.counts(&ScoreFilter::default())?;
    for run in store.runs(100)? {
        let filter = of_run(run.spec.id.as_str());
        let rows = rows(&store, &filter)?;
        let _ =
            (store.score_count(&filter)?, store.case_count(run.key)?, store.row_count(run.key)?);
        let _ = (store.counts(&filter)?, aggregate(&store, &filter)?, store.summaries(run.key)?);
        let mut decided = 0_u64;
        verdicts(&store, run.spec.id.as_str(), VerdictOptions::default(), |_| {
            decided += 1;
            true
        })?;
        assert!(decided <= store.case_count(run.key)?);
        read_together(&store, run.spec.id.as_str())?;
        for row in rows.iter().take(PAGE) {
            match Receipt::of(&store, &row.id) {
                Ok(receipt) => {
                    let text = serde_json::to_string(&receipt).unwrap();
                    let read = Receipt::parse(&text).unwrap();
                    assert_eq!(serde_json::to_string(&read).unwrap(), text);
                }
                Err(ReceiptError::Store(error)) => return Err(error),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    Ok(())
}

/// Verifies each run like `scorebox verify`: a score that is reported as verified must be the honest one.
fn verify_all(stage: &Stage, path: &Path) -> Result<(), StoreError> {
    let store = opened(path, |path| Store::open_read_only(path))?;
    for base in &stage.runs {
        let filter = of_run(base.id);
        let rows = rows(&store, &filter)?;
        let mut findings: Vec<Finding> = Vec::new();
        let request = VerifyRequest::new(filter).jobs(2);
        let verifying = verify(&store, &request, &stage.sandbox, |finding| {
            findings.push(finding);
            findings.len() < MAX_ROWS
        });
        stage.runtime.block_on(verifying)?;
        assert!(findings.len() < MAX_ROWS, "findings without end");
        for (row, finding) in rows.iter().zip(&findings) {
            assert_eq!(finding.score_id, row.id.to_string());
            if let Verdict::NotVerifiable { reason, .. } = &finding.verdict {
                assert!(!reason.starts_with("computing it broke"), "{reason}");
            }
            if finding.verdict == Verdict::Verified {
                let content = store.case_content(row.cursor.case())?;
                assert_honest(stage, &store, row, &content)?;
            }
        }
    }
    Ok(())
}

/// Ends the process unless the scorer that a row names gives the answer of the row for its case.
fn assert_honest(
    stage: &Stage,
    store: &Store,
    record: &ScoreRecord,
    content: &CaseContent,
) -> Result<(), StoreError> {
    let with_truth =
        stage.scorers.get(&record.row.scorer_digest).expect("verified, and no scorer of ours");
    let mut case = Case::builder().json(Key::Output, &content.output);
    let truth = content.parts.get(Field::GroundTruth);
    if let Some(truth) = truth {
        case = case.json(Key::GroundTruth, truth);
    }
    if let Some(why) = &content.error {
        case = case.text(Key::Error, why);
    }
    let case = case.build().expect("verified, and no case");
    // A case whose task failed has no scores, and every other case has them.
    let is_scored = matches!(record.row.answer.status, Status::Scored | Status::NotApplicable);
    assert!(!is_scored || case.error().is_none(), "a score of a task that failed: {record:?}");
    if record.row.answer.is_of_failed_task() {
        assert!(case.error().is_some(), "the task did not fail: {record:?}");
        return Ok(());
    }
    let truth = case.field(Field::GroundTruth).map(str::len);
    let bytes = match (with_truth, truth) {
        (false, _) => Some(case.output().len()),
        (true, truth) => truth.map(|truth| case.output().len() + 3 * truth),
    };
    let honest = bytes.map(|bytes| (bytes % 64) as f64 / 64.0);
    match record.row.answer.status {
        Status::Scored | Status::NotApplicable => {
            let score = record.row.answer.score;
            assert_eq!(score, honest, "verified, and not the honest score: {record:?}");
        }
        // A case is skipped if it says so, or if the scorer is only for other cases.
        Status::Skipped => {
            let run = store.run(record.run_id.as_str())?;
            let scorers = store.scorers(run.key)?;
            let is_selective = scorers.iter().any(|scorer| {
                let selects =
                    scorer.spec.sampling_json.is_some() || scorer.spec.nodes_json.is_some();
                scorer.spec.scorer_id == record.row.scorer_id && selects
            });
            assert!(content.skip.is_some() || is_selective, "an honest score: {record:?}");
        }
        // An error is honest only if a limit was lowered.
        _ => {
            let run = store.run(record.run_id.as_str())?;
            let scorers = store.scorers(run.key)?;
            let scorer =
                scorers.iter().find(|scorer| scorer.spec.scorer_id == record.row.scorer_id);
            let limits = scorer.map(|scorer| scorer.spec.limits_json.as_str());
            let large =
                content.output.len() + content.parts.get(Field::GroundTruth).map_or(0, String::len);
            assert!(
                limits != Some(&stage.limits) || large > 16 << 10,
                "an honest score: {record:?}"
            );
        }
    }
    Ok(())
}

/// Compares like `scorebox verify --root`: a run that has its root must be the same as before in every detail.
fn compare_roots(stage: &Stage, path: &Path) -> Result<(), StoreError> {
    let store = opened(path, |path| Store::open_read_only(path))?;
    for base in &stage.runs {
        let finding = verify_root(&store, base.id, base.root, |_| {})?;
        if finding.verdict == Verdict::Verified {
            let found = BaseRun::read(&store, base.id)?;
            assert_eq!(found.rows, base.rows, "the same root, and other rows");
            assert_eq!(found.said, base.said, "the same root, and another run");
        }
    }
    Ok(())
}

/// Resumes like `scorebox run --resume`: a run that is then reported as finished has each score exactly once.
fn resume_all(stage: &Stage, path: &Path) -> Result<(), StoreError> {
    let lines: Vec<&str> = CASES.lines().collect();
    for (id, cases) in
        [("cut", 1), ("cut", lines.len()), ("done", lines.len() - 1), ("done", lines.len())]
    {
        let report = match resumed(stage, path, id, &lines[..cases]) {
            Ok(report) => report,
            Err(RunError::Store(error) | RunError::BrokeOff { error, .. }) => return Err(error),
            Err(RunError::Broken(what)) => panic!("{what}"),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        if report.stopped.is_none() {
            let store = Store::open_read_only(path)?;
            let run = store.run(id)?;
            let expected = cases * stage.scorers.len();
            assert_eq!(run.state, RunState::Finished);
            assert_eq!(store.row_count(run.key)?, expected as u64, "finished");
            assert_eq!(store.case_count(run.key)?, cases as u64, "finished");
            assert_eq!(rows(&store, &of_run(id))?.len(), expected, "finished, and not to be read");
        }
    }
    Ok(())
}

fn resumed(stage: &Stage, path: &Path, id: &str, lines: &[&str]) -> Result<RunReport, RunError> {
    // The database is refused, if at all, before scorers are loaded.
    drop(opened(path, |path| Store::open(path))?);
    stage.runtime.block_on(async {
        let scorers = load_scorers(&stage.suite, &stage.registry, &stage.sandbox).await?;
        let request = RunRequest::new(stage.suite.clone(), scorers, cases(&lines.join("\n")))
            .store(path)
            .which(WhichRun::Resume(id.parse()?))
            .jobs(2)
            .waiting(1);
        run(request, Arc::new(Control::default())).await
    })
}

/// Opens the file, and checks that a refused file keeps its bytes.
fn opened(path: &Path, open: fn(&Path) -> Result<Store, StoreError>) -> Result<Store, StoreError> {
    let before = fs::read(path).unwrap();
    let has_log = changes::beside(path).iter().any(|log| log.exists());
    let opened = open(path);
    if opened.is_err() && !has_log {
        assert!(fs::read(path).unwrap() == before, "refused, and changed: {opened:?}");
    }
    opened
}

fn of_run(id: &str) -> ScoreFilter {
    ScoreFilter::of_run(id)
}

/// All rows that match a filter, page by page.
fn rows(store: &Store, filter: &ScoreFilter) -> Result<Vec<ScoreRecord>, StoreError> {
    let mut rows: Vec<ScoreRecord> = Vec::new();
    loop {
        let page = store.scores(filter, rows.last().map(|row| row.cursor), PAGE)?;
        if page.is_empty() {
            return Ok(rows);
        }
        rows.extend(page);
        assert!(rows.len() < MAX_ROWS, "rows without end");
    }
}

fn cases(lines: &str) -> CaseReader {
    let source = Source::reader("cases.jsonl", Box::new(Cursor::new(lines.to_owned())));
    CaseReader::open(vec![source], Mapping::NONE).unwrap()
}
