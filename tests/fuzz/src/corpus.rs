//! Tests: everything in the corpus passes. What the fuzzer once found is in it.

use std::{fs, panic, path::Path};

use crate::component;

/// Calls `target` with every file of its corpus.
fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let input = fs::read(&file).unwrap();
        let passed = panic::catch_unwind(|| target(&input));
        assert!(passed.is_ok(), "{}", file.display());
    }
}

#[test]
fn lines_of_cases_are_read_as_they_are() {
    replay("case_reader", crate::case_reader);
}

#[test]
fn a_suite_file_is_a_suite_or_has_a_place_where_it_is_wrong() {
    replay("suite_file", crate::suite_file);
}

#[test]
fn the_outside_of_a_component_is_read_or_refused() {
    replay("component_outside", crate::component_outside);
    replay("component_load", crate::component_outside);
}

#[test]
fn a_component_scores_alike_twice_or_is_refused() {
    replay("component_load", crate::component_load);
}

#[test]
fn the_first_components_are_what_their_names_say() {
    let outcome = |name: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/component_load");
        let text = fs::read(folder.join(name).with_extension("wat")).unwrap();
        let scored = component::loaded(&text).expect("assembles").map(|it| component::scored(&it));
        match scored.and_then(|outcome| outcome.result) {
            Ok(result) => format!("{:?}", result.score.unwrap()),
            Err(error) => error.kind.to_string(),
        }
    };
    for (name, expected) in [
        ("scores", "0.5"),
        ("says-all", "0.5"),
        ("logs", "0.5"),
        ("configures", "1.0"),
        ("asserts", "1.0"),
        ("starts", "0.5"),
        ("two-memories", "invalid-component"),
        ("computes", "0.5"),
        ("grows", "0.5"),
        ("refuses", "invalid-config"),
        ("fails", "failed"),
        ("traps", "trap"),
        ("recurses", "trap"),
        ("spins", "out-of-fuel"),
        ("asks-wasi", "invalid-component"),
        ("nested", "invalid-component"),
        ("other-version", "invalid-component"),
    ] {
        assert_eq!(outcome(name), expected, "{name}");
    }
}

#[test]
fn a_trace_hangs_together_or_is_refused() {
    replay("trace", crate::trace);
}

#[test]
fn work_that_was_done_is_scored_or_refused() {
    replay("work", crate::work);
}

#[test]
fn what_a_guest_hands_over_is_within_the_limits() {
    replay("guest_result", crate::guest_result);
}
