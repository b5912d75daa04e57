//! Runs are created completely or not at all, and are found again. It writes no cases.

use crate::{
    advice::{Advice, Advised as _, Thing},
    contract::{Direction, Scale, Severity},
};

use super::{super::sample, *};

/// The existing runs to choose from.
fn runs(ids: &[&str]) -> Advice {
    Advice::Choose { what: Thing::Run, names: ids.iter().map(ToString::to_string).collect() }
}

#[test]
fn a_run_is_read_as_it_was_created() {
    let (_folder, mut store) = sample::database();
    let spec = sample::run("nightly.1");
    let strict = ScorerSpec {
        direction: Direction::LowerIsBetter,
        severity: Severity::Gate,
        scale: Scale::Points,
        threshold: Some(0.5),
        frozen: false,
        ..sample::scorer("z")
    };
    let handle = store
        .create_run(&spec, &[strict.clone(), sample::scorer("a")], &sample::session())
        .unwrap();

    let run = store.run("nightly.1").unwrap();
    assert_eq!((run.key, run.spec, run.state), (handle.key, spec, RunState::Running));
    let scorers = store.scorers(handle.key).unwrap();
    let without_bytes = ScorerSpec { component: None, ..strict };
    assert_eq!(scorers[0].spec, without_bytes);
    let keys: Vec<_> = scorers.iter().map(|scorer| scorer.key).collect();
    assert_eq!(keys, handle.scorers, "the suite's order, not the alphabet's");
}

#[test]
fn an_id_names_one_run() {
    let (_folder, mut store) = sample::database();
    store.create_run(&sample::run("r"), &[], &sample::session()).unwrap();
    let again = store.create_run(&sample::run("r"), &[], &sample::session()).unwrap_err();
    assert!(matches!(again, StoreError::RunExists { .. }));
    assert_eq!(store.runs(10).unwrap().len(), 1);
}

#[test]
fn a_run_whose_scorers_are_refused_is_not_stored_at_all() {
    let (_folder, mut store) = sample::database();
    for ids in [["a", "a"], ["a", "b:c"], ["a", ""]] {
        let scorers = ids.map(sample::scorer);
        let refused = store.create_run(&sample::run("r"), &scorers, &sample::session());
        assert!(matches!(refused, Err(StoreError::Rejected { .. })), "{ids:?}");
        assert_eq!(store.latest_run().unwrap(), None);
    }
}

#[test]
fn runs_are_listed_newest_first() {
    let (_folder, mut store) = sample::database();
    for id in ["b", "c", "a"] {
        store.create_run(&sample::run(id), &[], &sample::session()).unwrap();
    }
    let ids: Vec<_> =
        store.runs(2).unwrap().into_iter().map(|run| run.spec.id.to_string()).collect();
    assert_eq!(ids, ["a", "c"]);
    assert_eq!(store.latest_run().unwrap().unwrap().spec.id.as_str(), "a");
}

#[test]
fn an_unknown_run_comes_with_ids_that_are_there() {
    let (_folder, mut store) = sample::database();
    let nothing = store.run("x").unwrap_err();
    assert_eq!(nothing.advice(), Some(runs(&[])));
    for id in ["nightly.1", "nightly.2", "smoke"] {
        store.create_run(&sample::run(id), &[], &sample::session()).unwrap();
    }
    assert_eq!(
        store.run("night").unwrap_err().advice(),
        Some(runs(&["nightly.2", "nightly.1", "smoke"]))
    );
    assert_eq!(
        store.run("' OR 1").unwrap_err().advice(),
        Some(runs(&["smoke", "nightly.2", "nightly.1"]))
    );
}
