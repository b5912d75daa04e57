//! A folder with a suite whose scorers ask a judge, and the stored rows of its runs.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::fixture::{Folder, Output};

pub(crate) const KEY: &str = "sk-a-key-that-is-stored-nowhere";

/// A folder with the scorer that asks, cases with these outputs, and a suite of these entries.
pub(crate) fn folder(server: &str, outputs: &[&str], entries: &str) -> Folder {
    let folder = Folder::new();
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests/dist");
    fs::copy(guests.join("asker.wasm"), folder.path("asker.wasm")).unwrap();
    let cases = outputs.iter().enumerate();
    let cases = cases
        .map(|(at, output)| format!("{}\n", json!({"id": format!("c{at}"), "output": output})));
    folder.write("cases.jsonl", cases.collect::<String>());
    suite(&folder, server, entries);
    folder
}

pub(crate) fn suite(folder: &Folder, server: &str, entries: &str) {
    let judge = format!(
        "[judges.default]\nprovider = \"openai\"\nbase_url = \"{server}\"\nmodel = \"tiny\"\n\
         key_env = \"THE_KEY\"\nretries = 0\nprice = {{ input = 1.0, output = 2.0 }}\n"
    );
    folder.write("suite.toml", format!("{judge}{entries}"));
}

/// A suite whose scorer `r` asks a program as the model with this name, which gives every case this score.
pub(crate) fn scores_of_a_program(score: u32, model: &str) -> Value {
    let answer = json!({"text": json!({"reason": "so", "score": score}).to_string()});
    let command = format!("cat >/dev/null; echo '{answer}'");
    json!({
        "judges": {"default": {"provider": "command", "command": ["sh", "-c", command], "model": model}},
        "scorers": {"r": {"use": "relevancy", "grants": ["judge"]}},
    })
}

pub(crate) const ONE: &str = "[scorers.one]\nuse = \"./asker.wasm\"\ngrants = [\"judge\"]\n";

pub(crate) fn entry(name: &str, config: &str) -> String {
    format!("[scorers.{name}]\nuse = \"./asker.wasm\"\ngrants = [\"judge\"]\nconfig = {config}\n")
}

/// Runs a line of shell with the key in the environment.
pub(crate) fn sh(folder: &Folder, line: &str) -> Output {
    let output = folder.shell(line).env("THE_KEY", KEY).output().unwrap();
    Output {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

pub(crate) const RUN: &str = "scorebox run suite.toml cases.jsonl -q";

/// The rows of the newest run: scorer, case, status, score, error.
pub(crate) fn rows(folder: &Folder) -> Vec<String> {
    let scores = sh(folder, "scorebox scores --format jsonl --limit 0");
    let lines = scores.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut rows: Vec<String> = lines
        .map(|row| {
            let text = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
            let kind = row["error"]["kind"].as_str().unwrap_or("-");
            let score = row["score"].as_f64().map_or_else(|| "-".to_owned(), |it| it.to_string());
            format!("{} {} {} {score} {kind}", text("scorerId"), text("caseId"), text("status"))
        })
        .collect();
    rows.sort();
    rows
}
