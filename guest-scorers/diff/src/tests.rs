//! diff, as a specification. The rules are niceeval's.

use scorebox_sdk::serde_json::Value;

use super::*;

const CHANGE: &str = "diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -10,3 +10,3 @@ class A {
 const url = \"x\";
-const key = \"sk-old\";
+const key = process.env.KEY;
 end
diff --git a/test/b.ts b/test/b.ts
new file mode 100644
--- /dev/null
+++ b/test/b.ts
@@ -0,0 +1,2 @@
+const fake = \"sk-fake\";
+const other = 1;
";

fn of(config: Value, workspace: Value) -> Score {
    let scorer: Diff = scorebox_sdk::configure(config).unwrap();
    let case = Case::new(json!("done")).with_metadata(json!({ "workspace": workspace }));
    scorer.score(&case).unwrap()
}

fn score(config: Value) -> Score {
    of(config, json!({ "diff": CHANGE }))
}

#[test]
fn nothing_changed_or_something_did() {
    let config = json!({"isEmpty": true});
    assert_eq!(of(config.clone(), json!({"diff": ""})).score, Some(1.0));
    assert_eq!(of(config.clone(), json!({"files": []})).score, Some(1.0));
    let unchanged = json!({"files": [{"path": "a", "status": "unchanged"}]});
    assert_eq!(of(config.clone(), unchanged).score, Some(1.0));
    let changed = score(config);
    assert_eq!(changed.score, Some(0.0));
    assert_eq!(changed.reason.as_deref(), Some("`src/a.ts` and 1 more file changed"));
    assert_eq!(score(json!({"isEmpty": false})).score, Some(1.0));
}

#[test]
fn the_whole_diff_is_searched_with_paths_and_context() {
    for pattern in ["sk-old", "sk-fake", "class A", "url", "^test/b.ts$", "(?m)^\\+const key"] {
        assert_eq!(score(json!({"mustMatch": [pattern]})).score, Some(1.0), "{pattern}");
        assert_eq!(score(json!({"mustNotMatch": [pattern]})).score, Some(0.0), "{pattern}");
    }
    let score = score(json!({"mustNotMatch": ["sk-[a-z]+"]}));
    assert_eq!(score.reason.as_deref(), Some("`sk-[a-z]+` is in `src/a.ts`, line 11 before"));
}

#[test]
fn or_only_the_lines_that_were_added_or_removed() {
    let added = |pattern: &str| score(json!({"mustNotMatch": [pattern], "lines": "added"}));
    assert_eq!(added("sk-old").score, Some(1.0));
    assert_eq!(added("url").score, Some(1.0));
    assert_eq!(added("(?m)^const other = 1;$").score, Some(0.0));
    assert_eq!(added("sk-").reason.as_deref(), Some("`sk-` is in `test/b.ts`, line 1"));
    assert_eq!(added("gone").reason.as_deref(), Some("`gone` is not in the lines that were added"));
    let removed = score(json!({"mustMatch": ["sk-old", "sk-fake"], "lines": "removed"}));
    assert_eq!(removed.score, Some(0.5));
}

#[test]
fn some_files_may_be_left_out() {
    assert_eq!(
        score(json!({"mustNotMatch": ["sk-"], "lines": "added", "except": ["test/**"]})).score,
        Some(1.0)
    );
    assert_eq!(score(json!({"mustMatch": ["sk-fake"], "files": ["src/"]})).score, Some(0.0));
    assert_eq!(score(json!({"isEmpty": true, "files": ["docs/**"]})).score, Some(1.0));
}

#[test]
fn where_there_is_only_content_it_is_searched_as_in_niceeval() {
    // In niceeval, `notInDiff` tests the paths and contents of generated files, and the paths of deleted ones.
    let files = json!({"files": [
        {"path": "a.tsx", "status": "modified", "content": "x\n<div style={{ top: 0 }}/>\n"},
        {"path": "secret.env", "status": "deleted"},
        {"path": "same.tsx", "status": "unchanged", "content": "sk-same"},
    ]});
    let found = |pattern: &str| of(json!({"mustMatch": [pattern]}), files.clone()).score;
    assert_eq!(found("style=\\{\\{"), Some(1.0));
    assert_eq!(found("a\\.tsx"), Some(1.0));
    assert_eq!(found("secret"), Some(1.0));
    assert_eq!(found("sk-same"), Some(0.0));
    let place = of(json!({"mustNotMatch": ["style="]}), files.clone());
    assert_eq!(place.reason.as_deref(), Some("`style=` is in `a.tsx`, line 2"));
}

#[test]
fn content_before_and_after_are_compared() {
    let files = json!({"files": [
        {"path": "a.txt", "before": "one\ntwo\nthree\n", "content": "one\n2\nthree\n"},
    ]});
    let found = |pattern: &str, lines: &str| {
        of(json!({"mustMatch": [pattern], "lines": lines}), files.clone()).score
    };
    assert_eq!(found("^2$", "added"), Some(1.0));
    assert_eq!(found("^two$", "removed"), Some(1.0));
    assert_eq!(found("one", "added"), Some(0.0));
    assert_eq!(found("(?m)^-two\n\\+2$", "all"), Some(1.0));
}

#[test]
fn a_change_without_content_is_an_error() {
    let scorer: Diff =
        scorebox_sdk::configure(json!({"mustNotMatch": ["sk-"], "except": ["*.png"]})).unwrap();
    let score = |files: Value| {
        let metadata = json!({"workspace": {"files": files}});
        scorer.score(&Case::new(json!(null)).with_metadata(metadata))
    };
    let unseen = score(json!([{"path": "a", "status": "modified"}])).unwrap_err();
    assert_eq!(
        unseen.message(),
        "`a` changed, but the case does not say what is in it; give it its `content`, give a `diff`, or \
         leave it out with `except`"
    );
    let seen = json!([{"path": "a", "status": "deleted"}, {"path": "b.png", "status": "added"}]);
    assert_eq!(score(seen).unwrap().score, Some(1.0));
    // For a deleted file the path is known, but not which lines were removed.
    let removed = json!({"mustNotMatch": ["sk-"], "lines": "removed"});
    let scorer: Diff = scorebox_sdk::configure(removed).unwrap();
    let metadata = json!({"workspace": {"files": [{"path": "a", "status": "deleted"}]}});
    assert!(scorer.score(&Case::new(json!(null)).with_metadata(metadata)).is_err());
}

#[test]
fn letters_are_those_of_all_scripts() {
    let files = json!({"files": [{"path": "a", "status": "modified", "content": "ZÜRICH"}]});
    for pattern in ["(?i)zürich", "^\\w{6}$", "\\bZÜRICH\\b", "\\b{start}Z"] {
        let score = of(json!({"mustMatch": [pattern]}), files.clone()).score;
        assert_eq!(score, Some(1.0), "{pattern}");
    }
}

#[test]
fn negated_it_turns_round() {
    assert_eq!(score(json!({"mustMatch": ["url", "gone"], "negate": true})).score, Some(0.5));
}

#[test]
fn impossible_configurations_are_refused() {
    let refused =
        |config: Value| scorebox_sdk::configure::<Diff>(config).err().unwrap().to_string();
    assert_eq!(
        refused(json!({})),
        "nothing to check; give `isEmpty`, `mustMatch` or `mustNotMatch`"
    );
    assert_eq!(
        refused(json!({"mustMatch": ["a", "("]})),
        "`mustMatch[1]` is not a valid regular expression: unclosed group"
    );
    assert_eq!(
        refused(json!({"mustNotMatch": [""]})),
        "`mustNotMatch[0]` is empty, and would match everywhere"
    );
    let deep = "(".repeat(100) + "a" + &")".repeat(100);
    let refusal = refused(json!({ "mustMatch": [deep] }));
    assert!(refusal.contains("nested parentheses/brackets (50)"), "{refusal}");
}
