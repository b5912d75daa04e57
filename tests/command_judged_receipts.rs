//! Receipts of scores that asked a judge, and the calls in their rows: what they contain, and what checking them finds.
//! Uses a real server of OpenAI's protocol on the loopback interface.

use std::fs;

use serde_json::{Value, json};

use crate::{
    fixture::{Folder, Output},
    judge_fixture::{ONE, RUN, entry, folder, sh},
    model_server::ModelServer,
};

/// A folder in which the run `r` ended, with a scorer that asks twice, the receipt of its score and its case. The
/// server is gone.
fn with_a_receipt() -> Folder {
    let server = ModelServer::saying(|asked| format!("0.{}", asked.text().len() % 10));
    let folder = folder(&server.base_url(), &["abc"], &entry("chain", "{ times = 2 }"));
    sh(&folder, &format!("{RUN} --run-id r")).exits_with(0);
    folder.sh("scorebox verify --receipt r:chain:0:0:c0 > receipt.json").exits_with(0);
    folder.sh("cp cases.jsonl case.json").exits_with(0);
    folder
}

fn check(folder: &Folder, options: &str) -> Output {
    folder.sh(&format!(
        "scorebox verify --trust-cache --check receipt.json --case case.json --component asker.wasm {options}"
    ))
}

fn receipt(folder: &Folder) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.path("receipt.json")).unwrap()).unwrap()
}

#[test]
fn a_receipt_names_the_judge_and_the_calls_that_the_score_stands_on() {
    let folder = with_a_receipt();
    let receipt = receipt(&folder);
    assert_eq!(receipt["version"], 3);
    assert_eq!(receipt["judge"]["provider"], "openai");
    assert_eq!(receipt["judge"]["model"], "tiny");
    let listed = folder.sh("scorebox calls r --format json").json();
    let listed: Vec<&Value> =
        listed.as_array().unwrap().iter().map(|call| &call["callDigest"]).collect();
    let calls = receipt["calls"].as_array().unwrap();
    assert_eq!(calls.iter().map(|call| &call["digest"]).collect::<Vec<_>>(), listed);
    let stored = "SELECT lower(hex(reply_digest)) FROM score_calls ORDER BY place";
    let replies: Vec<&str> =
        calls.iter().map(|call| call["replyDigest"].as_str().unwrap()).collect();
    assert_eq!(folder.rows(stored), replies);
}

#[test]
fn a_receipt_is_checked_with_the_recordings_of_a_database_or_of_a_file() {
    let folder = with_a_receipt();
    let checked = check(&folder, "").exits_with(0);
    assert!(checked.stderr.contains("1 verified"), "{checked}");
    assert!(checked.stderr.contains("that the judge gave the recorded answers"), "{checked}");

    let export = "scorebox calls --score r:chain:0:0:c0 --format jsonl > calls.jsonl";
    folder.sh(export).exits_with(0);
    fs::rename(folder.path("scorebox.db"), folder.path("elsewhere.db")).unwrap();
    check(&folder, "--db elsewhere.db").exits_with(0);
    fs::remove_file(folder.path("elsewhere.db")).unwrap();
    check(&folder, "--recordings calls.jsonl").exits_with(0);
}

#[test]
fn without_recordings_a_check_says_how_to_give_them() {
    let folder = with_a_receipt();
    fs::remove_file(folder.path("scorebox.db")).unwrap();
    let checked = check(&folder, "").exits_with(1);
    let why = "it is based on 2 recorded answers of a judge, and no recordings are at hand";
    assert!(checked.stdout.contains(why), "{checked}");
    assert!(checked.stderr.contains("`--db FILE`"), "{checked}");
    assert!(checked.stderr.contains("`--recordings FILE`"), "{checked}");
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn recordings_that_are_changed_or_missing_are_found_and_named() {
    let folder = with_a_receipt();
    let receipt = receipt(&folder);
    let calls = receipt["calls"].as_array().unwrap();
    let digest = |place: usize| calls[place]["digest"].as_str().unwrap();
    let export = "scorebox calls --score r:chain:0:0:c0 --format jsonl > calls.jsonl";
    folder.sh(export).exits_with(0);
    let lines = fs::read_to_string(folder.path("calls.jsonl")).unwrap();
    let lines: Vec<&str> = lines.lines().collect();

    let mut second: Value = serde_json::from_str(lines[1]).unwrap();
    second["reply"]["text"]["text"] = json!("1");
    folder.write("changed.jsonl", format!("{}\n{second}\n", lines[0]));
    let changed = check(&folder, "--recordings changed.jsonl --format json").exits_with(1).json();
    let finding = &changed["findings"][0];
    assert_eq!(finding["verdict"], "different");
    let differences = finding["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 1, "{finding}");
    assert_eq!(differences[0]["what"], format!("answer to call {}", digest(1)));

    folder.write("half.jsonl", format!("{}\n", lines[0]));
    let half = check(&folder, "--recordings half.jsonl").exits_with(1);
    assert!(half.stderr.contains("0 verified, 0 different, 1 not verifiable"), "{half}");
    let half = check(&folder, "--recordings half.jsonl --format json").exits_with(1).json();
    let expected = format!("the answer to call {} is not among the recordings", digest(1));
    assert_eq!(half["findings"][0]["reason"], expected);

    let tampered = "UPDATE calls SET reply_json = replace(reply_json, '0.', '0.7')";
    folder.database("scorebox.db").execute_batch(tampered).unwrap();
    let tampered = check(&folder, "--format json").exits_with(1).json();
    let named = tampered["findings"][0]["differences"].as_array().unwrap();
    assert_eq!(named.len(), 2, "{tampered}");
    assert_eq!(named[0]["what"], format!("answer to call {}", digest(0)));
    assert_eq!(named[0]["stored"], calls[0]["replyDigest"]);
}

#[test]
fn what_a_receipt_says_of_its_judge_and_its_calls_is_checked() {
    let folder = with_a_receipt();
    let written = receipt(&folder);
    let change = |change: &dyn Fn(&mut Value)| {
        let mut changed = written.clone();
        change(&mut changed);
        folder.write("receipt.json", changed.to_string());
        check(&folder, "").exits_with(1)
    };
    let other_model = change(&|receipt| receipt["judge"]["model"] = json!("large"));
    assert!(other_model.stdout.contains("judge-not-recorded"), "{other_model}");
    let forged = change(&|receipt| receipt["answer"]["score"] = json!(0.5));
    assert!(forged.stdout.contains("different  score"), "{forged}");
    let more = change(&|receipt| {
        let calls = receipt["calls"].as_array_mut().unwrap();
        calls.push(calls[0].clone());
    });
    assert!(more.stdout.contains("different  calls of a judge"), "{more}");
    let fewer = change(&|receipt| drop(receipt["calls"].as_array_mut().unwrap().pop()));
    assert!(fewer.stdout.contains("judge-not-recorded"), "{fewer}");
}

#[test]
fn a_receipt_of_an_older_version_is_read() {
    let folder = with_a_receipt();
    sh(&folder, "scorebox run -s json-valid cases.jsonl -q --run-id plain").exits_with(0);
    let plain = "scorebox verify --receipt plain:json-valid:0:0:c0 > plain.json";
    folder.sh(plain).exits_with(0);
    for version in [1, 2] {
        let older =
            format!("sed 's/\"version\": 3,/\"version\": {version},/' plain.json > old.json");
        folder.sh(&older).exits_with(0);
        let old = fs::read_to_string(folder.path("old.json")).unwrap();
        assert!(old.starts_with(&format!("{{\n  \"version\": {version},")), "{old}");
        // A receipt of a score of the output without a judge lacks the fields that older versions did not have.
        assert!(
            ["judge", "calls", "on"].iter().all(|key| !old.contains(&format!("\"{key}\""))),
            "{old}"
        );
        folder.sh("scorebox verify --trust-cache --check old.json --case case.json").exits_with(0);
    }

    let mut judged = receipt(&folder);
    judged["version"] = json!(1);
    let judged = judged.as_object_mut().unwrap();
    judged.remove("judge");
    judged.remove("calls");
    folder.write("receipt.json", serde_json::to_string(judged).unwrap());
    let checked = check(&folder, "").exits_with(1);
    let why = "a receipt of version 1 does not name the answers of a judge";
    assert!(checked.stdout.contains(why), "{checked}");
    assert!(
        checked.stderr.contains("`scorebox verify --receipt SCORE-ID` writes one"),
        "{checked}"
    );
}

#[test]
fn the_row_of_a_judged_score_has_its_calls_and_other_rows_have_none() {
    let server = ModelServer::saying(|_| "0.5".into());
    let entries = format!("{ONE}[scorers.json-valid]\n");
    let folder = folder(&server.base_url(), &["a"], &entries);
    sh(&folder, &format!("{RUN} --run-id first")).exits_with(0);
    sh(&folder, &format!("{RUN} --run-id again")).exits_with(0);
    let rows = |run: &str| folder.sh(&format!("scorebox scores {run} --format json")).json();
    let (first, again) = (rows("first"), rows("again"));
    let calls = |rows: &Value, scorer: &str| {
        let rows = rows.as_array().unwrap();
        rows.iter().find(|row| row["scorerId"] == scorer).unwrap()["calls"].clone()
    };
    let listed = folder.sh("scorebox calls first --format json").json();
    let reply = folder.rows("SELECT lower(hex(reply_digest)) FROM calls");
    let call = |is_recorded: bool| json!([{"digest": listed[0]["callDigest"], "replyDigest": reply[0], "isRecorded": is_recorded}]);
    assert_eq!(calls(&first, "one"), call(false));
    assert_eq!(calls(&again, "one"), call(true));
    assert_eq!(calls(&first, "json-valid"), Value::Null);
}

#[test]
fn verifying_a_run_names_its_judges_and_compares_them_with_the_suite() {
    let folder = with_a_receipt();
    let verified = folder.sh("scorebox verify r --trust-cache").exits_with(0);
    let judge = "chain is based on answers of judge `default`: `tiny` (openai at http://127.0.0.1:";
    assert!(verified.stderr.contains(judge), "{verified}");
    let json = folder.sh("scorebox verify r --trust-cache --format json").exits_with(0).json();
    assert_eq!(json["judges"]["chain"]["model"], "tiny");

    // The calls stay the same: only the suite names another judge.
    let other = "json_set(judge_json, '$.name', 'strict')";
    let tampered = format!("UPDATE scorers SET judge_json = {other}");
    folder.database("scorebox.db").execute_batch(&tampered).unwrap();
    let found = folder.sh("scorebox verify r --trust-cache --format json").exits_with(1).json();
    let findings = found["findings"].as_array().unwrap();
    let of_the_run = findings.iter().filter(|finding| finding["scoreId"] == "r");
    let differences: Vec<&Value> =
        of_the_run.flat_map(|finding| finding["differences"].as_array().unwrap()).collect();
    let judge = differences.iter().find(|it| it["what"] == "judge of chain").unwrap();
    assert!(judge["stored"].as_str().unwrap().contains("strict"), "{judge}");
    assert!(judge["computed"].as_str().unwrap().contains("default"), "{judge}");
}
