//! Replays the corpus, which includes what the fuzzer once found: every file in it must pass.

use std::{fs, panic, path::Path};

use crate::{bundle, component, database, index, shards};

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
fn a_bundle_is_read_as_it_is_written_or_refused() {
    replay("bundle", crate::bundle);
}

#[test]
fn the_first_bundles_are_what_their_names_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/bundle");
    for (name, expected) in [
        ("whole", "2 components"),
        ("no-such-include", "2 components"),
        ("image", "it is not a bundle of a suite"),
        ("newer", "it has version 2 of the format"),
        ("newer-layout", "`oci-layout` has version 2.0.0"),
        ("unknown-key", "unknown field `more`"),
        ("no-layers", "the manifest does not name it"),
        ("unnamed-part", "and the configuration does not"),
        ("missing-component", "64 hexadecimal digits"),
        ("leads-outside", "`../evil` is not a file of an image layout"),
        ("twice", "`index.json` is in it twice"),
        ("nothing", "it is not a tar file"),
        ("control-character-in-a-size", "it is damaged"),
    ] {
        let said = bundle::said(&fs::read(folder.join(name)).unwrap());
        assert!(said.contains(expected), "{name}: {said}");
    }
}

#[test]
fn an_index_is_read_as_it_is_written_or_refused() {
    replay("index", crate::index);
}

#[test]
fn the_first_indexes_are_what_their_names_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/index");
    for (name, expected) in [
        ("whole", "3 scorers"),
        ("empty", "0 scorers"),
        ("unsigned", "its signature is not valid"),
        ("half-a-signature", "its signature is not valid"),
        ("other-key", "another key than"),
        ("other-document", "its signature is not one of this document"),
        ("newer", "it has version 2 of the format"),
        ("twice", "is in it twice"),
        ("escapes", "1 scorers"),
        ("escape-in-a-name", "its `name` must have"),
        ("deep", "missing field `name`"),
    ] {
        let said = index::said(&fs::read(folder.join(name)).unwrap());
        assert!(said.contains(expected), "{name}: {said}");
    }
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
        ("two-memories", "0.5"),
        ("computes", "0.5"),
        ("reads-files", "0.5"),
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
fn a_file_of_another_tool_gives_the_same_cases_twice_or_is_refused() {
    replay("readers", crate::readers);
}

#[test]
fn a_shard_is_merged_to_a_shard_of_the_same_cases_or_is_refused() {
    replay("shards", crate::shards);
}

#[test]
fn the_first_shards_are_what_their_names_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/shards");
    for (name, expected) in [
        ("shard", "3 cases"),
        ("rows", "3 cases"),
        ("case-twice", "3 cases"),
        (
            "case-twice-with-another-score",
            "1 result differs between rows of one shard that have the same case",
        ),
        ("case-twice-once-timed-out", "3 cases"),
        ("timed-out-first", "3 cases"),
        ("scored-without-a-score", "a result with the status `scored` has no score"),
        ("fewer-results", "it has results of 1 scorers, not 2"),
        ("case-that-is-none", "output"),
        ("row-of-another-case", "its columns are not those of its `case`"),
        ("row-of-another-plan", "it was scored with the plan 000000000000…"),
        ("plan-that-is-none", "it was scored with the plan ééééééééé…"),
        ("results-that-are-no-json", "meta is not a JSON document"),
        ("fuel-below-zero", "`fuel` is -1, and must be 0 or more"),
        ("cut-off", "it is cut off, or not Parquet"),
        ("changed-page", "cannot be read as Parquet"),
        ("pages-out-of-step", "cannot be read as Parquet"),
        ("changed-plan", "it was scored with the plan"),
    ] {
        let said = shards::said(&fs::read(folder.join(name)).unwrap());
        assert!(said.contains(expected), "{name}: {said}");
    }
}

#[test]
fn a_core_module_is_made_a_component_or_refused() {
    replay("core_module", crate::core_module);
}

#[test]
fn the_first_core_modules_are_what_their_names_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/core_module");
    for (name, expected) in [
        ("scores", "a component"),
        ("prints", "a component"),
        ("begins", "a component"),
        ("summarizes", "a component"),
        ("starts", "a component"),
        ("judges", "a component"),
        ("asks-for-more", "it imports `env.now`, which a scorer does not have"),
        ("other-version", "it is built against the contract 0.9.0; this scorebox has 0.1.0"),
        ("lacks-all", "it does not export `scorebox:scorer/scoring@0.1.0#configure`"),
    ] {
        let text = fs::read(folder.join(name).with_extension("wat")).unwrap();
        let module = wat::parse_bytes(&text).unwrap();
        let said = match scorebox::build::component_of_module(&module) {
            Ok(_) => "a component".to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(said.contains(expected), "{name}: {said}");
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

#[test]
fn a_changed_database_is_read_or_refused_and_never_believed() {
    replay("database", crate::database);
}

#[test]
fn the_first_changes_of_a_database_are_what_their_names_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/database");
    let said = |name: &str| database::said(&fs::read(folder.join(name)).unwrap());
    for (name, expected) in [
        ("unchanged", "8 of 8, root same"),
        ("trigger", "it has the trigger `t`, which scorebox does not create"),
        ("changed-view", "the view `scores` is not the one that scorebox creates"),
        ("generated-column", "the table `cases` is not the one that scorebox creates"),
        ("no-index", "the index `cases_by_node` is missing"),
        ("newer", "Newer"),
        ("cut", "database disk image is malformed"),
        ("deleted-low-row", "7 of 7, root differs"),
        ("deleted-case", "6 of 6, root differs"),
        ("exchanged-scorers", "0 of 8, root differs"),
        ("changed-score", "7 of 8, root differs"),
        ("changed-output", "6 of 8, root differs"),
        ("forged-case", "6 of 8, root differs"),
        ("forged-case-and-score", "7 of 8, root differs"),
        ("case-of-another-run", "6 of 8, root differs"),
        ("low-limits", "4 of 8, root differs"),
        ("skipped-case", "6 of 8, root differs"),
        ("sampled-scorer", "4 of 8, root differs"),
        ("damaged-sampling", "4 of 8, root differs"),
        ("other-weight", "8 of 8, root differs"),
        ("older-root", "8 of 8, root differs"),
        ("other-pages", "8 of 8, root same"),
        // All scorers are read to see which of them are the run's.
        ("circle-of-scorers", "reading it takes more steps than a database of its size can need"),
    ] {
        assert_eq!(said(name), expected, "{name}");
    }
}
