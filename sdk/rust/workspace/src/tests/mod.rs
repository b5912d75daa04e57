//! The workspace, as a specification. Diffs are from git 2.39 and GNU diff 3.8, unless a test says otherwise.

mod diffs;
mod hostile;

use serde_json::{Value, json};

use super::*;

fn read(workspace: Value) -> Result<Workspace, ScoreError> {
    let case = Case::new(json!("done")).with_metadata(json!({ "workspace": workspace }));
    Workspace::of(&case)
}

fn refused(workspace: Value) -> String {
    read(workspace).unwrap_err().message().to_owned()
}

/// A line for every changed file.
fn outline(workspace: &Workspace) -> Vec<String> {
    let changes = workspace.changes().unwrap();
    let line = |file: &&File| {
        let from = file.from().map(|from| format!(" from {from}")).unwrap_or_default();
        let binary = if file.is_binary() { " (binary)" } else { "" };
        let status = format!("{:?}", file.status().unwrap()).to_lowercase();
        format!("{status} {}{from}{binary}", file.path())
    };
    changes.iter().map(line).collect()
}

fn lines(workspace: &Workspace, path: &str) -> Vec<String> {
    let file = workspace.file(path).unwrap();
    let sign = |change| if change == Change::Added { '+' } else { '-' };
    let lines = workspace.changed_lines(file);
    lines.iter().map(|line| format!("{}{} {}", sign(line.change), line.number, line.text)).collect()
}

#[test]
fn it_is_in_the_metadata_or_the_context_or_is_the_context() {
    let workspace = json!({"files": [{"path": "a", "status": "added"}]});
    let case = Case::new(json!("done"));
    for case in [
        case.clone().with_metadata(json!({ "other": 1, "workspace": workspace })),
        case.clone().with_context(json!({ "documents": [], "workspace": workspace })),
        case.clone().with_context(workspace.clone()),
        case.clone().with_metadata(json!({"workspace": null})).with_context(workspace.clone()),
    ] {
        assert_eq!(outline(&Workspace::of(&case).unwrap()), ["added a"]);
    }
    let not_there = |case: &Case| Workspace::of(case).unwrap_err().message().to_owned();
    assert_eq!(
        not_there(&case.clone().with_metadata(json!({"run": 1})).with_context(json!(["text"]))),
        "the case has no workspace, which this scorer needs: `metadata` has no `workspace`; it has \
         `run`, and `context` is an array"
    );
    assert_eq!(
        not_there(&case.clone().with_metadata(json!({"workspace": {"file": []}}))),
        "`metadata.workspace` has none of `files`, `diff`, `commands`, `testReports`; it has `file`"
    );
    assert!(
        not_there(&case.with_metadata(json!({"workspace": "/srv/work"})))
            .ends_with("found a string")
    );
}

#[test]
fn wrong_shapes_are_errors_that_name_the_place() {
    assert_eq!(
        refused(json!({"files": [{"path": "a", "status": "touched"}]})),
        "`metadata.workspace.files[0].status` cannot be read: unknown variant `touched`, expected \
         one of `added`, `modified`, `deleted`, `renamed`, `unchanged`"
    );
    assert_eq!(
        refused(json!({"files": {"a": "text"}})),
        "`metadata.workspace.files` cannot be read: invalid type: object, expected an array"
    );
    assert_eq!(
        refused(json!({"files": [{"path": "a"}, {"path": "./a"}]})),
        "`metadata.workspace.files[1].path` is `a` a second time"
    );
    for path in ["/etc/passwd", "../a", "a/../b", "", "./"] {
        let message = refused(json!({"files": [{ "path": path }]}));
        assert!(message.contains("should be a path from the workspace's root"), "{message}");
    }
    assert!(refused(json!({"commands": [{"command": 1}]})).contains("commands[0].command"));
    assert!(
        refused(json!({"diff": "@@ -1 +1 @@\n"})).starts_with("`metadata.workspace.diff` line 1:")
    );
}

#[test]
fn what_became_of_a_file_is_said_or_follows() {
    let workspace = read(json!({"files": [
        {"path": "same", "before": "a", "content": "a"},
        {"path": "other", "before": "a", "content": "b"},
        {"path": "gone", "before": "a"},
        {"path": "./said", "before": "a", "content": "b", "status": "unchanged"},
        {"path": "moved", "from": "here", "status": "renamed"},
    ]}))
    .unwrap();
    assert_eq!(outline(&workspace), ["deleted gone", "renamed moved from here", "modified other"]);
    let silent = read(json!({"files": [{"path": "a", "content": "text"}]})).unwrap();
    assert_eq!(silent.file("a").unwrap().status(), None);
    assert!(silent.changes().is_err());
    let with_diff = read(json!({"files": [{"path": "a", "content": "text"}], "diff": ""})).unwrap();
    assert_eq!(outline(&with_diff), [""; 0]);
}

#[test]
fn files_and_diff_are_taken_together() {
    let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n";
    let files = json!([{"path": "x", "content": "two\n"}, {"path": "y", "status": "deleted"}]);
    let workspace = read(json!({"files": files, "diff": diff})).unwrap();
    assert_eq!(outline(&workspace), ["modified x", "deleted y"]);
    assert_eq!(workspace.file("x").unwrap().content(), Some("two\n"));
    assert_eq!(lines(&workspace, "x"), ["-1 one", "+1 two"]);
}

#[test]
fn without_a_diff_lines_are_compared() {
    let workspace = read(json!({"files": [
        {"path": "a", "before": "1\n2\r\n3\n4", "content": "1\n3\n4\n5\n"},
        {"path": "new", "status": "added", "content": "x\ny"},
        {"path": "gone", "before": "z\n"},
        {"path": "b", "status": "modified", "content": "all\n"},
        {"path": "c", "status": "modified"},
    ]}))
    .unwrap();
    assert_eq!(lines(&workspace, "a"), ["-2 2", "-4 4", "+3 4", "+4 5"]);
    assert_eq!(lines(&workspace, "new"), ["+1 x", "+2 y"]);
    assert_eq!(lines(&workspace, "gone"), ["-1 z"]);
    assert_eq!(lines(&workspace, "b"), ["+1 all"]);
    assert_eq!(lines(&workspace, "c"), [""; 0]);
    let text = |path: &str| workspace.diff_of(workspace.file(path).unwrap()).into_owned();
    assert_eq!(text("b"), "all\n");
    assert!(text("a").starts_with("@@ -1,4 +1,4 @@\n 1\n-2\r\n 3\n-4"), "{}", text("a"));
}

#[test]
fn commands_and_reports_are_as_they_were_recorded() {
    let workspace = read(json!({
        "commands": [
            {"command": ["npm", "test"], "exitCode": 1, "stdout": "x", "durationMs": 1.5, "cwd": "/"},
            {"command": "sleep 9", "exitCode": null},
        ],
        "testReports": [{"format": "tap", "content": "1..0"}, {"content": {"testResults": []}}],
    }))
    .unwrap();
    let [test, sleep] = workspace.commands().unwrap() else { panic!("two commands") };
    assert_eq!((test.command.as_str(), test.exit_code), ("npm test", Some(1)));
    assert_eq!((test.stdout.as_deref(), test.duration_ms), (Some("x"), Some(1.5)));
    assert_eq!((sleep.command.as_str(), sleep.exit_code), ("sleep 9", None));
    let [tap, json] = workspace.test_reports().unwrap() else { panic!("two reports") };
    assert_eq!((tap.format(), tap.text().unwrap().as_ref()), (Some("tap"), "1..0"));
    assert_eq!((json.format(), json.text().unwrap().as_ref()), (None, "{\"testResults\":[]}"));
    assert_eq!(
        workspace.changes().unwrap_err().message(),
        "`metadata.workspace` has no `files` or `diff`, which this scorer needs; it has `commands`, `testReports`"
    );
}

#[test]
fn an_error_names_the_keys_that_are_there() {
    let commands = |context: serde_json::Value| {
        let case = Case::new(json!("done")).with_context(context);
        Workspace::of(&case).unwrap().commands().unwrap_err().message().to_owned()
    };
    let lacks = "`context` has no `commands`, which this scorer needs; it has";
    assert_eq!(commands(json!({"diff": ""})), format!("{lacks} `diff`"));
    assert_eq!(commands(json!({"files": []})), format!("{lacks} `files`"));
    assert_eq!(
        commands(json!({"diff": "", "files": [], "testReports": []})),
        format!("{lacks} `files`, `diff`, `testReports`")
    );
}

#[test]
fn files_are_read_from_the_case_or_the_grant_alike() {
    let diff = "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+text\n\\ No newline at end of file\n";
    let in_case = Case::new(json!("done")).with_context(json!({"diff": diff, "files": [
        {"path": "src/a", "content": "ä"}, {"path": "unknown"}, {"path": "gone", "status": "deleted"},
    ]}));
    let granted =
        Case::new(json!("done")).with_file("src/a", "ä").with_file("new", b"text".to_vec());
    let read = Files::of(&in_case).unwrap();
    assert_eq!(read.paths(), ["new", "src/a", "unknown"]);
    assert_eq!(
        read.text("unknown").unwrap_err().message(),
        "`unknown` cannot be read: the case does not have its content"
    );
    assert_eq!(Files::granted(&granted).unwrap().paths(), ["new", "src/a"]);
    for files in [
        read,
        Files::granted(&granted).unwrap(),
        Files::of_or_granted(&granted).unwrap(),
        Files::of_or_granted(&in_case).unwrap(),
    ] {
        assert_eq!(files.text("src/a").unwrap(), "ä");
        assert_eq!(files.read("new").unwrap().as_ref(), b"text");
        assert!(files.exists("new") && !files.exists("gone"));
        assert_eq!(
            files.text("gone").unwrap_err().message(),
            "there is no file `gone` in the workspace"
        );
    }
    // The user's grant does not replace a broken workspace.
    let broken = granted.clone().with_metadata(json!({"workspace": {"diff": "no diff"}}));
    let error = Files::of_or_granted(&broken).unwrap_err();
    assert!(
        error.message().starts_with("`metadata.workspace.diff` is not a unified diff"),
        "{error}"
    );
    let commands = granted.with_metadata(json!({"workspace": {"commands": []}}));
    assert!(Files::of_or_granted(&commands).unwrap().exists("new"));
    let binary = Case::new(json!("done")).with_file("a.png", vec![0xff, 0xd8]);
    let files = Files::granted(&binary).unwrap();
    assert_eq!(files.text("a.png").unwrap_err().message(), "`a.png` is not a text (UTF-8)");
    assert_eq!(
        Files::granted(&Case::new(json!("done"))).unwrap_err().message(),
        "the case has no workspace"
    );
}

#[test]
fn a_scorer_that_does_not_declare_what_it_reads_gets_an_error() {
    let case = Case::new(json!("done")).read_by(Fields::NONE);
    assert!(matches!(Workspace::of(&case), Err(ScoreError::Failed(_))));
}
