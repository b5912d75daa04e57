//! The same component, configuration and input give the same bytes: every built-in scorer, twice, in different order,
//! with one worker and with many, on an idle and on a busy machine.

use crate::{all_builtins, fixture::Folder};

/// The result and the cost of a score, without times and durations.
const TRAIL: &str = "
    SELECT a.id, a.status, a.error_kind, a.score, a.label, a.reason, a.meta_json,
        a.assertions_json, a.log_json, a.input_digest, a.fuel, a.memory_bytes
    FROM scores AS a WHERE a.run_id = '{run}' ORDER BY a.scorer_id, a.case_id";

#[test]
fn every_built_in_scorer_repeats_to_the_last_byte() {
    let folder = Folder::new();
    folder.write("all.toml", all_builtins::suite());
    folder.sh("head -60 answers.jsonl | sed 's/^{/{\"latencyMs\": 3.25, /' > forward.jsonl");
    folder.sh("tac forward.jsonl > backward.jsonl");
    let run = "scorebox run all.toml --allow-errors --allow-failures -q";
    folder.sh(&format!("{run} forward.jsonl -j 1 --run-id alone")).exits_with(0);
    // Four at once, on more workers than cores, one of which reads backwards.
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
    folder
        .sh("scorebox verify --trust-cache alone --sample 100 --allow-not-verifiable")
        .exits_with(0);
}
