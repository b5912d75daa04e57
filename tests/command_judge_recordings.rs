//! Judges of the provider `recorded`: which recordings answer for which of them. Opens no connection.

use serde_json::{Value, json};

use crate::{
    fixture::Folder,
    judge_fixture::{rows, scores_of_a_program},
};

/// The database has the answer of an earlier file, or an earlier answer to the same question; neither is the answer of
/// this file.
#[test]
fn a_judge_of_a_file_answers_from_that_file_whatever_the_database_has() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"id\": \"a\", \"input\": \"Where?\", \"output\": \"There.\"}\n");
    folder.write("suite.json", scores_of_a_program(1, "huge").to_string());
    let run = || folder.sh("scorebox run cases.jsonl --suite suite.json -q");
    run().exits_with(0);
    let recorded = folder.sh("scorebox calls --format jsonl --limit 0").exits_with(0).stdout;
    // Two files have different answers to one question.
    let better = recorded.replace("\\\"score\\\":1}", "\\\"score\\\":0}");
    assert_ne!(better, recorded);
    folder.write("first.jsonl", &recorded);
    let later: Vec<String> = better
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("replyDigest");
            line.to_string() + "\n"
        })
        .collect();
    folder.write("second.jsonl", later.concat());
    folder.sh("rm scorebox.db").exits_with(0);
    let judged_by = |file: &str| {
        let judge = json!({"provider": "recorded", "file": file, "model": "huge"});
        let scorers = json!({"r": {"use": "relevancy", "grants": ["judge"]}});
        let suite = json!({"judges": {"default": judge}, "scorers": scorers});
        folder.write("suite.json", suite.to_string());
        run().exits_with(0);
        rows(&folder)
    };
    let (first, second) = (judged_by("first.jsonl"), judged_by("second.jsonl"));
    assert_ne!(first, second);
    assert_eq!(judged_by("first.jsonl"), first);
    folder.write("empty.jsonl", "");
    let judge = json!({"provider": "recorded", "file": "empty.jsonl", "model": "huge"});
    let scorers = json!({"r": {"use": "relevancy", "grants": ["judge"]}});
    folder
        .write("suite.json", json!({"judges": {"default": judge}, "scorers": scorers}).to_string());
    let missing = run().exits_with(1);
    assert!(missing.stderr.contains("not recorded"), "{missing}");
}

/// A program needs no model, so its recordings may have no model.
#[test]
fn recordings_of_a_program_without_a_model_answer_a_judge_without_one() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"input\": \"Where?\", \"output\": \"There.\"}\n");
    let write = |judge: &Value| {
        let scorers = json!({"r": {"use": "relevancy", "grants": ["judge"]}});
        let suite = json!({"judges": {"default": judge}, "scorers": scorers});
        folder.write("suite.json", suite.to_string());
    };
    let run = |options: &str| {
        folder.sh(&format!("scorebox run cases.jsonl --suite suite.json -q {options}"))
    };
    let of_program = |model: &str| {
        let mut judge = scores_of_a_program(1, model)["judges"]["default"].clone();
        judge.as_object_mut().unwrap().retain(|key, value| key != "model" || value != "");
        write(&judge);
        run("").exits_with(0);
        let first = rows(&folder);
        folder.sh("scorebox calls --format jsonl --limit 0 > calls.jsonl").exits_with(0);
        folder.sh("rm scorebox.db").exits_with(0);
        first
    };
    let recorded = json!({"provider": "recorded", "file": "calls.jsonl"});

    let first = of_program("");
    write(&recorded);
    run("").exits_with(0);
    assert_eq!(rows(&folder), first);
    folder.sh("scorebox judges check suite.json").exits_with(0);

    // If a model was asked, it must still be named, and this is reported before anything is scored.
    let first = of_program("huge");
    write(&recorded);
    let refused = run("").exits_with(2);
    let why = "judge `default`: it names no `model`, and all its recordings are of questions to one\n\
               hint: name the `model` that was asked: `huge`\n";
    assert!(refused.stderr.ends_with(why), "{refused}");
    write(&json!({"provider": "recorded", "file": "calls.jsonl", "model": "huge"}));
    run("").exits_with(0);
    assert_eq!(rows(&folder), first);
}
