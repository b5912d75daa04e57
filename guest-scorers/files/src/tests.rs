//! files, as a specification. The rules of `changed` and `deleted` are niceeval's.

use scorebox_sdk::serde_json::Value;

use super::*;

fn case(files: Value) -> Case {
    Case::new(json!("done")).with_metadata(json!({"workspace": {"files": files}}))
}

fn work() -> Case {
    case(json!([
        {"path": "src/Button.tsx", "status": "added"},
        {"path": "src/main.ts", "status": "modified"},
        {"path": "src/old.ts", "status": "deleted"},
        {"path": "docs/b.md", "from": "notes/a.md", "status": "renamed"},
        {"path": "package.json", "status": "unchanged"},
    ]))
}

fn score(config: Value) -> Score {
    let scorer: Files = scorebox_sdk::configure(config).unwrap();
    scorer.score(&work()).unwrap()
}

#[test]
fn a_changed_file_is_new_or_modified_and_not_deleted() {
    for path in ["src/Button.tsx", "src/main.ts", "docs/b.md", "src/*.ts", "**/*.tsx"] {
        assert_eq!(score(json!({"changed": [path]})).score, Some(1.0), "{path}");
    }
    for path in ["src/old.ts", "package.json", "notes/a.md", "*.ts"] {
        assert_eq!(score(json!({"changed": [path]})).score, Some(0.0), "{path}");
    }
    assert_eq!(
        score(json!({"changed": ["package.json"]})).reason.as_deref(),
        Some("no file `package.json` was changed")
    );
    assert_eq!(score(json!({"added": ["src/main.ts"]})).score, Some(0.0));
}

#[test]
fn a_deleted_file_is_gone_from_its_path() {
    assert_eq!(score(json!({"deleted": ["src/old.ts"]})).score, Some(1.0));
    assert_eq!(score(json!({"deleted": ["notes/"]})).score, Some(1.0));
    assert_eq!(score(json!({"deleted": ["src/main.ts"]})).score, Some(0.0));
}

#[test]
fn what_has_to_stay_is_neither_changed_nor_deleted_nor_moved() {
    assert_eq!(score(json!({"untouched": ["package.json", "tests/**"]})).score, Some(1.0));
    for (path, reason) in [
        ("src/old.ts", "`src/old.ts` was deleted"),
        ("notes/**", "`docs/b.md` was `notes/a.md` before"),
        ("**/*.tsx", "`src/Button.tsx` is new"),
    ] {
        let score = score(json!({"untouched": [path]}));
        assert_eq!(score.score, Some(0.0));
        assert_eq!(score.reason.as_deref(), Some(reason));
    }
}

#[test]
fn a_folder_that_has_to_stay_stays_with_all_in_it() {
    for (folder, reason) in [
        ("src", "`src/Button.tsx` is new"),
        ("./docs", "`docs/b.md` was `notes/a.md` before"),
        ("notes", "`docs/b.md` was `notes/a.md` before"),
    ] {
        let score = score(json!({"untouched": [folder]}));
        assert_eq!((score.score, score.reason.as_deref()), (Some(0.0), Some(reason)), "{folder}");
    }
    assert_eq!(score(json!({"untouched": ["sr", "package", "*"]})).score, Some(1.0));
    // In `changed` and `only`, a pattern is a file unless it ends in `/`.
    assert_eq!(score(json!({"changed": ["src"]})).score, Some(0.0));
    assert_eq!(score(json!({"only": ["src", "docs", "notes"]})).score, Some(0.0));
}

#[test]
fn only_some_files_may_be_touched() {
    assert_eq!(score(json!({"only": ["src/", "docs/", "notes/"]})).score, Some(1.0));
    let outside = score(json!({"only": ["src/"]}));
    assert_eq!(outside.score, Some(0.0));
    assert_eq!(outside.reason.as_deref(), Some("`docs/b.md` was `notes/a.md` before too"));
}

#[test]
fn the_score_is_the_part_of_the_checks_that_hold() {
    let score = score(
        json!({"changed": ["src/main.ts", "src/x.ts"], "deleted": ["src/old.ts"], "untouched": ["a"]}),
    );
    assert_eq!(score.score, Some(0.75));
    assert_eq!(score.assertions.len(), 4);
    assert_eq!(
        score.reason.as_deref(),
        Some("1 of 4 checks failed: no file `src/x.ts` was changed")
    );
    assert_eq!(
        score.meta_value(),
        Some(
            json!({"changed": ["docs/b.md", "src/Button.tsx", "src/main.ts"], "deleted": ["src/old.ts"]})
        )
    );
}

#[test]
fn a_diff_says_it_as_well() {
    let diff =
        "diff --git a/a.rs b/b.rs\nsimilarity index 100%\nrename from a.rs\nrename to b.rs\n";
    let case = Case::new(json!("done")).with_context(json!({"diff": diff}));
    let scorer: Files =
        scorebox_sdk::configure(json!({"changed": ["b.rs"], "deleted": ["a.rs"]})).unwrap();
    assert_eq!(scorer.score(&case).unwrap().score, Some(1.0));
}

#[test]
fn the_ground_truth_says_it_for_each_case() {
    let scorer: Files = scorebox_sdk::configure(json!({})).unwrap();
    let of = |truth: Value| scorer.score(&work().with_ground_truth(truth));
    assert_eq!(of(json!("src/main.ts")).unwrap().score, Some(1.0));
    assert_eq!(of(json!(["src/main.ts", "src/x.ts"])).unwrap().score, Some(0.5));
    assert_eq!(of(json!({"deleted": ["src/old.ts"]})).unwrap().score, Some(1.0));
    assert_eq!(of(json!([])).unwrap().score, None);
    assert!(
        of(json!({"delete": ["src/old.ts"]}))
            .unwrap_err()
            .message()
            .contains("unknown field `delete`")
    );
    assert_eq!(
        of(json!(["{"])).unwrap_err().message().split(';').next(),
        Some("in `groundTruth`: `changed[0]` is not a valid glob: unclosed alternate group")
    );
    assert!(scorer.score(&work()).is_err());
}

#[test]
fn negated_it_turns_round() {
    assert_eq!(score(json!({"changed": ["src/main.ts"], "negate": true})).score, Some(0.0));
}

#[test]
fn without_a_word_on_what_changed_there_is_no_score() {
    let scorer: Files = scorebox_sdk::configure(json!({"changed": ["a"]})).unwrap();
    let unknown = case(json!([{"path": "a", "content": "b"}]));
    assert_eq!(
        scorer.score(&unknown).unwrap_err().message(),
        "`metadata.workspace.files` does not say whether `a` changed; give it a `status`, or its \
         content `before`, or give a `diff`"
    );
    assert_eq!(
        scorer.score(&Case::new(json!("done"))).unwrap_err().message(),
        "the case has no workspace, which this scorer needs: there is no `metadata`, and there is no `context`"
    );
}

#[test]
fn without_a_word_on_what_is_expected_there_is_no_score() {
    let scorer: Files = scorebox_sdk::configure(json!({})).unwrap();
    assert_eq!(
        scorer.score(&work()).unwrap_err().message(),
        "the case has no `groundTruth`, which this scorer needs, and the configuration has no `changed`, `added`, \
         `deleted`, `untouched` or `only` in its place"
    );
}

#[test]
fn an_empty_list_is_refused_and_does_not_mean_the_ground_truth() {
    for key in ["changed", "added", "deleted", "untouched", "only"] {
        let refused = scorebox_sdk::configure::<Files>(json!({key: []})).err().unwrap();
        assert_eq!(
            refused.to_string(),
            format!("`{key}` is an empty list; name at least one path, or leave the key out")
        );
    }
}
