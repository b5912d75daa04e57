//! The same scorer in every language (`tests/languages`, and `tests/guests/word-f1` in Rust): the same scores, reasons
//! and errors on real cases, all from a frozen memory. The components are committed; `tests/languages/README.md`
//! describes how they are built.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::{command_python::with_python, fixture::Folder};

/// Every language, and the file that its scorer runs from.
const SCORERS: [(&str, &str); 8] = [
    ("rust", "rust.wasm"),
    ("javascript", "word-f1.js"),
    ("typescript", "word-f1.ts"),
    ("c", "c.wasm"),
    ("cpp", "cpp.wasm"),
    ("zig", "zig.wasm"),
    ("go", "go.wasm"),
    ("assemblyscript", "assemblyscript.wasm"),
];

fn tests() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// The script in Python, which is compared if its runtime was added.
const PYTHON: (&str, &str) = ("python", "word-f1.py");

/// All scorers that can run here.
fn scorers(folder: &Folder) -> Vec<(&'static str, &'static str)> {
    let with_python = folder.path(PYTHON.1).exists();
    SCORERS.into_iter().chain(with_python.then_some(PYTHON)).collect()
}

/// A folder with all of them.
fn folder() -> Folder {
    let with_python = with_python();
    let python = with_python.is_some().then_some(PYTHON);
    let folder = with_python.unwrap_or_else(Folder::new);
    for (language, file) in SCORERS.into_iter().chain(python) {
        let bytes = match language {
            "rust" => fs::read(tests().join("guests/dist/word-f1.wasm")).unwrap(),
            "javascript" | "typescript" | "python" => {
                fs::read(tests().join("languages").join(language).join(file)).unwrap()
            }
            _ => {
                let packed = tests().join(format!("languages/dist/{file}.zst"));
                zstd::decode_all(&fs::read(packed).unwrap()[..]).unwrap()
            }
        };
        folder.write(file, bytes);
    }
    folder
}

/// 200 real answers, each compared with the problem that it answers, and cases that are hard to read.
fn cases(folder: &Folder) -> usize {
    let real = fs::read_to_string(folder.path("answers.jsonl")).unwrap();
    let mut lines: Vec<String> = real
        .lines()
        .step_by(2)
        .map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            json!({"id": case["id"], "output": case["output"], "groundTruth": case["input"]})
                .to_string()
        })
        .collect();
    assert_eq!(lines.len(), 200);
    for (number, (output, truth)) in [
        (r#""""#, r#""""#),
        (r#""""#, r#""one""#),
        (r#"" \t\n""#, r#""—""#),
        (r#""He said \"no\"\\ \/ caf\u00e9 \ud83e\udd80x""#, r#""café x 🦀 he NO said""#),
        (r#""\u0041b Ab AB\n\rab\b\f""#, r#""ab ab""#),
        ("42", r#""42""#),
        ("[1,2.50,true]", "[1, 2.50, true]"),
        (r#"{"a":{"b":"Paris"}}"#, r#""paris a b""#),
        ("null", r#""null""#),
        (r#""ÄÖ zwölf 东京 x""#, r#""zw lf X""#),
    ]
    .into_iter()
    .enumerate()
    {
        lines.push(format!(r#"{{"id":"hard-{number}","output":{output},"groundTruth":{truth}}}"#));
    }
    lines.push(r#"{"id":"no-truth","output":"Paris"}"#.to_owned());
    lines.push(r#"{"id":"null-truth","output":"Paris","groundTruth":null}"#.to_owned());
    lines.push(format!(
        r#"{{"id":"long","output":"{}","groundTruth":"{}"}}"#,
        "word Word other ".repeat(20_000),
        "WORD ".repeat(30_000)
    ));
    folder.write("cases.jsonl", lines.join("\n"));
    lines.len()
}

/// A suite of all of them, with one configuration.
fn suite(folder: &Folder, config: &str) {
    let entries = scorers(folder).into_iter().map(|(language, file)| {
        format!("[scorers.{language}]\nuse = \"./{file}\"\nconfig = {config}\nlimits = {{ fuel = 100000000000, memory = \"256MiB\", timeout = \"600s\" }}\n")
    });
    folder.write("all.toml", format!("version = 1\n{}", entries.collect::<String>()));
}

#[test]
fn all_languages_give_the_same_scores_reasons_and_errors_from_frozen_memory() {
    let folder = folder();
    let count = cases(&folder);
    for (run, config) in ["{}", "{ ignoreCase = false, minimum = 0.25 }"].into_iter().enumerate() {
        suite(&folder, config);
        let command =
            format!("scorebox run all.toml cases.jsonl --run-id r{run} -q --allow-errors");
        // 0 is below the threshold of a gate.
        folder.sh(&command).exits_with(3);
        let rows = |language: &str| {
            folder.rows(&format!(
                "select case_id, status, score, error_kind, reason, meta_json, error_message \
                 from scores where run_id = 'r{run}' and scorer_id = '{language}' order by case_id"
            ))
        };
        let expected = rows("rust");
        assert_eq!(expected.len(), count);
        let invalid = expected.iter().filter(|row| row.contains("| invalid-input |")).count();
        assert_eq!(invalid, 2);
        for (language, _) in scorers(&folder) {
            for (row, expected) in rows(language).iter().zip(&expected) {
                assert_eq!(row, expected, "{language}");
            }
            assert_eq!(rows(language).len(), count, "{language}");
        }
        let verified = folder.sh(&format!("scorebox verify r{run} --sample 20")).exits_with(0);
        assert!(verified.stderr.contains("20 verified, 0 different"), "{verified}");
    }
}

#[test]
fn every_language_starts_from_frozen_memory_and_needs_no_grant() {
    let folder = folder();
    for (language, file) in scorers(&folder) {
        let shown = folder.sh(&format!("scorebox inspect ./{file} --format json")).exits_with(0);
        let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
        assert_eq!(shown["frozen"], true, "{language}: {shown}");
        let imports = shown["imports"].to_string();
        assert!(!imports.contains("wasi:"), "{language}: {imports}");
    }
}

#[test]
fn every_language_is_configured_by_texts_as_variables_of_the_environment_are() {
    let folder = folder();
    for (language, file) in scorers(&folder) {
        let score = |config: &str| {
            let command = format!(
                "scorebox score ./{file} --output-text 'A b' --ground-truth '\"a b\"' -c '{config}' --format json"
            );
            let scored: Value =
                serde_json::from_str(&folder.sh(&command).exits_with(0).stdout).unwrap();
            scored["score"].clone()
        };
        for config in [r#"{"ignoreCase": "false"}"#, r#"{"ignore_case": false, "minimum": "0.25"}"#]
        {
            assert_eq!(score(config), json!(0.5), "{language} {config}");
        }
        assert_eq!(score(r#"{"ignoreCase": "true"}"#), json!(1.0), "{language}");
        assert_eq!(
            score(r#"{"minimum": "0.75", "ignoreCase": "false"}"#),
            json!(0.0),
            "{language}"
        );
    }
}

#[test]
fn every_language_refuses_a_configuration_that_is_not_valid() {
    let folder = folder();
    for (language, file) in scorers(&folder) {
        let refused = |config: &str| {
            let command = format!(
                "scorebox score ./{file} --output-text a --ground-truth '\"a\"' -c '{config}'"
            );
            folder.sh(&command).exits_with(2).stderr
        };
        let unknown = refused(r#"{"ignorecase": true}"#);
        assert!(unknown.contains("`ignorecase`") && unknown.contains("ignoreCase"), "{unknown}");
        let kind = refused(r#"{"ignoreCase": [1]}"#);
        assert!(kind.contains("ignoreCase") && kind.contains("invalid type"), "{language}: {kind}");
        for wrong in ["\"no\"", "null", "1"] {
            let kind = refused(&format!(r#"{{"ignoreCase": {wrong}}}"#));
            assert!(kind.contains("`ignoreCase`: invalid type: "), "{language} {wrong}: {kind}");
        }
        // In these languages the scorer's own code checks the range.
        if !matches!(language, "javascript" | "typescript" | "python") {
            let beyond = refused(r#"{"minimum": 2}"#);
            assert!(beyond.contains("minimum") && beyond.contains("must be 0 to 1"), "{beyond}");
        }
    }
}
