//! The built-in scorers against the programs that people know: rows of what those programs answered,
//! scored by the real components. A row agrees to a millionth, or stands in `differences.toml` with the
//! reason why scorebox differs on purpose.
//!
//! - `data/`: the rows, a file or more per peer; `SOURCES.md` says where they are from.
//! - `vector`: one row.
//! - `peers`: for each peer, which of its scorers is which of ours, with which configuration.
//! - `trial`: what is asked of scorebox, and its answer.
//! - `difference`: the table of differences.
//! - `verdict`: what does not hold.
//! - `claims`: what `docs/coming-from.md` claims, against the rows.
//! - `page`: `docs/conformance.md`, for people.

mod claims;
mod difference;
mod page;
mod peers;
mod trial;
mod vector;
mod verdict;

use peers::Peer;

/// Ends the test where a row of the peer neither agrees nor is listed, or is listed and agrees.
async fn agrees(peer: &Peer) {
    let complaints = verdict::complaints(peer).await;
    assert!(complaints.is_empty(), "{}:\n{}", peer.name, complaints.join("\n"));
}

#[tokio::test]
async fn autoevals_agrees() {
    agrees(&peers::AUTOEVALS).await;
}

#[tokio::test]
async fn inspect_agrees() {
    agrees(&peers::INSPECT).await;
}

#[tokio::test]
async fn promptfoo_agrees() {
    agrees(&peers::PROMPTFOO).await;
}

#[tokio::test]
async fn rapidfuzz_agrees() {
    agrees(&peers::RAPIDFUZZ).await;
}

#[tokio::test]
async fn rouge_score_agrees() {
    agrees(&peers::ROUGE_SCORE).await;
}

#[tokio::test]
async fn sacrebleu_agrees() {
    agrees(&peers::SACREBLEU).await;
}

#[tokio::test]
async fn nltk_agrees() {
    agrees(&peers::NLTK).await;
}

#[tokio::test]
async fn jsonschema_of_python_agrees() {
    agrees(&peers::JSONSCHEMA).await;
}

#[tokio::test]
async fn the_required_tests_of_the_json_schema_test_suite_hold() {
    agrees(&peers::JSON_SCHEMA_TEST_SUITE).await;
}

#[tokio::test]
async fn the_required_tests_of_draft_7_hold() {
    agrees(&peers::JSON_SCHEMA_TEST_SUITE_DRAFT_7).await;
}

#[test]
fn each_difference_is_of_a_row_that_there_is() {
    let complaints = difference::strays();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_page_about_conformance_is_what_the_rows_say() {
    page::is_current();
}

#[test]
fn the_page_about_other_tools_claims_equality_only_where_rows_show_it() {
    claims::have_rows();
}
