//! Workspaces that try to break the reader: it must end, with or without an error, and not panic.

use super::*;

/// Reads a diff, and calls everything that can be asked of it.
fn all_of(diff: &str) {
    if let Ok(workspace) = read(json!({ "diff": diff })) {
        for file in workspace.files() {
            let _ = workspace.changed_lines(file);
            let _ = workspace.diff_of(file);
        }
        let _ = workspace.changes();
    }
}

#[test]
fn a_diff_cut_or_changed_anywhere() {
    let diff = include_str!("diffs/git.diff");
    for at in (0..diff.len()).filter(|at| diff.is_char_boundary(*at)) {
        all_of(&diff[..at]);
        all_of(&diff[at..]);
    }
    let characters = ['\0', '\n', '\\', '"', '@', '-', '+', ' ', '9', 'ä'];
    for (index, (at, old)) in diff.char_indices().enumerate() {
        let new = characters[index % characters.len()];
        all_of(&format!("{}{new}{}", &diff[..at], &diff[at + old.len_utf8()..]));
    }
}

#[test]
fn numbers_that_are_too_large() {
    let most = usize::MAX;
    for header in [
        format!("@@ -{most} +{most} @@\n-a\n+b\n"),
        format!("@@ -{most},{most} +1,1 @@\n-a\n"),
        "@@ -99999999999999999999999 +1 @@\n".to_owned(),
        format!("@@ -{most},2 +{most},2 @@\n a\n b\n"),
    ] {
        all_of(&format!("--- a/x\n+++ b/x\n{header}"));
    }
}

#[test]
fn much_of_everything_takes_time_in_proportion() {
    all_of(&"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".repeat(20_000));
    all_of(&format!("Binary files {}a differ\n", "x and ".repeat(200_000)));
    all_of(&"\"\\".repeat(500_000));
    all_of(&format!("diff --git {}\n", "a ".repeat(500_000)));
    all_of(&"diff --git a/x b/x\nnew file mode 1\n".repeat(20_000));
    let lines = |start: usize| {
        (0..50_000).map(|line| format!("{}\n", (line * 7 + start) % 10_007)).collect::<String>()
    };
    let files = json!({"files": [{"path": "a", "before": lines(0), "content": lines(5000)}]});
    let workspace = read(files).unwrap();
    assert!(!workspace.changed_lines(workspace.file("a").unwrap()).is_empty());
}
