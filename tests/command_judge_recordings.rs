//! Judges of the provider `recorded`: which recordings answer which of them. Opens no connection.

use serde_json::{Value, json};

use crate::{
    fixture::Folder,
    judge_fixture::{rows, scores_of_a_program},
};

/// A program needs no model, so its recordings may name none.
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

    // Where a model was asked, it is still to be named, and that is said before anything is scored.
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
