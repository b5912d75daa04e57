//! Recordings of a judge that someone changed in the database: they are never used, never shown, and reported by a
//! verification. Uses a real server of OpenAI's protocol on the loopback interface, and changes the database through
//! SQLite itself.

use crate::{
    fixture::Folder,
    judge_fixture::{ONE, RUN, folder, rows, sh},
    model_server::ModelServer,
};

/// A folder in which the run `r` ended and whose database was then changed in this way, and the root of the run. The
/// server is gone.
fn changed(change: &str) -> (Folder, String) {
    let server = ModelServer::saying(|_| "0.5".to_owned());
    let folder = folder(&server.base_url(), &["a", "b"], ONE);
    sh(&folder, &format!("{RUN} --run-id r")).exits_with(0);
    let root = folder.rows("SELECT lower(hex(root)) FROM runs").remove(0);
    folder.database("scorebox.db").execute_batch(change).unwrap();
    (folder, root)
}

const ANSWER: &str =
    "UPDATE calls SET reply_json = replace(reply_json, '0.5', '0.9') WHERE call = 1";
const QUESTION: &str =
    "UPDATE calls SET call_json = replace(call_json, 'tiny', 'huge') WHERE call = 1";
const TOKENS: &str = "UPDATE calls SET input_tokens = -input_tokens WHERE call = 1";
const BROKEN: &str = "UPDATE calls SET reply_json = 'nope' WHERE call = 1";

#[test]
fn a_changed_recording_is_different_for_the_root_and_for_its_score_alone() {
    for (change, part) in [
        (ANSWER, "answer to"),
        (QUESTION, "question of"),
        (BROKEN, "answer to"),
        (TOKENS, "answer to"),
    ] {
        let (folder, root) = changed(change);
        let by_root = folder.sh(&format!("scorebox verify r --root {root}")).exits_with(1);
        assert!(by_root.stdout.contains(&format!("{part} call")), "{by_root}");
        let why =
            "components, questions or answers are not those that the root names by their digests";
        assert!(by_root.stderr.contains(why), "{by_root}");
        let verified = folder.sh("scorebox verify r --allow-not-verifiable").exits_with(1);
        let of_score = verified.stdout.lines().filter(|line| line.starts_with("r:one:0:0:"));
        assert_eq!(of_score.count(), 1, "{verified}");
        assert!(
            verified.stderr.contains("1 verified, 2 different, 0 not verifiable"),
            "{verified}"
        );
    }
}

#[test]
fn a_changed_recording_is_not_used_in_another_run_and_is_not_shown() {
    let (folder, _) = changed(ANSWER);
    let again = folder.sh(&format!("{RUN} --judge-cache only")).exits_with(1);
    let scored = rows(&folder);
    assert_eq!(scored.iter().filter(|row| row.contains("scored 0.5")).count(), 1, "{again}");
    assert!(scored.iter().all(|row| !row.contains("0.9")), "{scored:?}");
    assert!(again.stderr.contains("was changed: it does not have its digest"), "{again}");
    let shown = folder.sh("scorebox calls r").exits_with(2);
    assert!(shown.stderr.contains("the answer of the recorded call"), "{shown}");
}

#[test]
fn a_recording_that_is_gone_leaves_the_root_and_makes_its_score_not_verifiable() {
    let (folder, root) = changed("DELETE FROM calls WHERE call = 1");
    folder.sh(&format!("scorebox verify r --root {root}")).exits_with(0);
    let verified = folder.sh("scorebox verify r").exits_with(1);
    assert!(verified.stderr.contains("1 verified, 0 different, 1 not verifiable"), "{verified}");
}

#[test]
fn a_changed_digest_of_a_case_is_different_for_the_root() {
    let (folder, root) = changed("UPDATE cases SET digest = zeroblob(32) WHERE case_id = 'c0'");
    let by_root = folder.sh(&format!("scorebox verify r --root {root}")).exits_with(1);
    assert!(by_root.stdout.contains("case c0"), "{by_root}");
}
