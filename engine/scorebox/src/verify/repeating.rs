//! Digests of the parts of scores that repeat, wherever they are computed: of one score, and of all scores of a run. It
//! computes no score.

use std::io::Write as _;

use crate::{
    digest::{Digest, Digesting},
    row::Json,
    store::{ScoreFilter, ScoreRecord, Store, StoreError},
};

/// The first value that a score's digest covers, with its version.
const NAME: &str = "score of scorebox 1";
/// How many rows are read at a time.
const PAGE: usize = 1000;

/// The digest of the parts of a score that repeat. It covers a JSON array without white space between its values: the
/// text `score of scorebox 1`, the case's id, iteration and attempt; the digests of component, configuration and input;
/// a list of the judge calls, each as the digests of call and answer; status, score, label, reason; meta, assertions
/// and log, each as a text; and the kind of error. Missing values are `null`, and digests are hexadecimal.
///
/// It does not cover values that differ from one time or version to the next: the run's and the scorer's name, time and
/// duration; and fuel, memory and the message of an error, which are only comparable within one version of wasmtime.
pub fn score_digest(record: &ScoreRecord) -> Digest {
    let row = &record.row;
    let answer = &row.answer;
    let calls: Vec<_> = answer.calls.iter().map(|call| (call.digest, call.reply_digest)).collect();
    let json = |json: &Option<Json>| json.as_ref().map(|json| json.get().to_owned());
    let repeats = (
        NAME,
        &row.case_id,
        row.iteration,
        row.attempt,
        row.scorer_digest,
        row.config_digest,
        row.input_digest,
        calls,
        answer.status,
        answer.score,
        &answer.label,
        &answer.reason,
        json(&answer.meta),
        json(&answer.assertions),
        json(&answer.log),
        answer.error.as_ref().map(|error| &error.kind),
    );
    let mut digesting = Digesting::default();
    // Numbers, texts and lists of them are always JSON, and writing to a digest cannot fail.
    let _ = serde_json::to_writer(&mut digesting, &repeats);
    digesting.finish()
}

/// One digest of the parts of all scores of a run that repeat: of their [digests](score_digest), in the order of the
/// cases and, within a case, of the scorers; each is written as hexadecimal digits and a line break. Two runs of the
/// same components and configurations over the same cases have the same digest. `take` is called with each score and
/// its digest.
///
/// # Errors
/// [`StoreError::NoSuchRun`]; the database cannot be read.
pub fn scores_digest(
    store: &Store,
    run: &str,
    mut take: impl FnMut(&ScoreRecord, Digest),
) -> Result<Digest, StoreError> {
    let filter = ScoreFilter::of_run(run);
    let mut digesting = Digesting::default();
    let mut after = None;
    loop {
        let page = store.scores(&filter, after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = Some(last.cursor);
        for record in &page {
            let digest = score_digest(record);
            let _ = writeln!(digesting, "{digest}");
            take(record, digest);
        }
    }
    Ok(digesting.finish())
}
