//! The same component, configuration and input give the same bytes: every built-in scorer, twice, in
//! different order, with one worker and with many, with nothing and with much beside it.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::fixture::Folder;

/// What a score says and costs; everything but when and how long.
const TRAIL: &str = "
    SELECT a.id, a.status, a.error_kind, a.score, a.label, a.reason, a.meta_json,
        a.assertions_json, a.log_json, a.input_digest, a.fuel, a.memory_bytes
    FROM scores AS a WHERE a.run_id = '{run}' ORDER BY a.scorer_id, a.case_id";

/// A suite of all built-in scorers, each with the configuration that it cannot do without.
fn suite_of_all() -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = fs::read_to_string(workspace.join("guest-scorers/dist/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let needed: BTreeMap<&str, &str> = BTreeMap::from([
        ("latency", "targetMs = 1.0, maxMs = 9.0"),
        ("contains", "values = [\"A: 1\", \"the\"], mode = \"all\""),
    ]);
    let scorers = manifest["scorers"].as_array().unwrap().iter().map(|scorer| {
        let name = scorer["name"].as_str().unwrap();
        let example = workspace.join("guest-scorers").join(name).join("example.json");
        let config = match (needed.get(name), fs::read_to_string(example)) {
            (Some(config), _) => format!("{{ {config} }}"),
            (None, Ok(example)) => {
                let example: Value = serde_json::from_str(&example).unwrap();
                toml::Value::try_from(&example["config"]).unwrap().to_string()
            }
            (None, Err(_)) => "{}".to_owned(),
        };
        format!("[scorers.{name}]\nconfig = {config}\n")
    });
    scorers.collect()
}

#[test]
fn every_built_in_scorer_repeats_to_the_last_byte() {
    let folder = Folder::new();
    folder.write("all.toml", suite_of_all());
    folder.sh("head -60 answers.jsonl | sed 's/^{/{\"latencyMs\": 3.25, /' > forward.jsonl");
    folder.sh("tac forward.jsonl > backward.jsonl");
    let run = "scorebox run all.toml --allow-errors -q";
    folder.sh(&format!("{run} forward.jsonl -j 1 --run-id alone")).exits_with(0);
    // Four at once, on more workers than cores, of which one reads backwards.
    folder.sh(&format!(
        "for n in 1 2 3; do {run} forward.jsonl -j 16 --run-id n$n --db noise.db & done; \
         {run} backward.jsonl -j 8 --run-id loaded; wait",
    ));
    let trail = |run: &str| {
        let rows = folder.rows(&TRAIL.replace("{run}", run));
        rows.iter().map(|row| row.replacen(&format!("{run}:"), "", 1)).collect::<Vec<_>>()
    };
    let (alone, loaded) = (trail("alone"), trail("loaded"));
    assert!(alone.len() >= 60 * 6, "{}", alone.len());
    for (alone, loaded) in alone.iter().zip(&loaded) {
        assert_eq!(alone, loaded);
    }
    assert_eq!(alone.len(), loaded.len());
    folder.sh("scorebox verify alone --sample 100 --allow-not-verifiable").exits_with(0);
}
