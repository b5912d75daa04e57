//! Diffs as git 2.47 and GNU diff 3.8 write them.

use super::*;

fn of(diff: &str) -> Workspace {
    read(json!({ "diff": diff })).unwrap()
}

fn wrong(diff: &str) -> String {
    refused(json!({ "diff": diff })).replace("`metadata.workspace.diff` ", "")
}

const CHANGES: [&str; 10] = [
    "modified empty.txt",
    "added new-empty.txt",
    "added new.txt",
    "deleted old/gone.txt",
    "modified pic.bin (binary)",
    "modified run.sh",
    "modified src/a.txt",
    "renamed src/renamed.txt from moved.txt",
    "modified with space.txt",
    "modified ä.txt",
];

#[test]
fn git_with_and_without_prefixes() {
    for diff in [
        include_str!("diffs/git.diff"),
        include_str!("diffs/bare.diff"),
        include_str!("diffs/mnemonic.diff"),
    ] {
        assert_eq!(outline(&of(diff)), CHANGES);
    }
    let windows = include_str!("diffs/git.diff").replace('\n', "\r\n");
    assert_eq!(outline(&of(&windows)), CHANGES);
}

#[test]
fn lines_are_numbered_in_the_old_file_and_the_new() {
    let workspace = of(include_str!("diffs/git.diff"));
    assert_eq!(lines(&workspace, "src/a.txt"), ["-2 two", "+2 2", "+4 four"]);
    assert_eq!(lines(&workspace, "src/renamed.txt"), ["-7 7", "+7 seven"]);
    assert_eq!(lines(&workspace, "empty.txt"), ["+1 filled"]);
    assert_eq!(lines(&workspace, "with space.txt"), ["-1 x", "+1 y"]);
    assert_eq!(lines(&workspace, "pic.bin"), [""; 0]);
}

#[test]
fn what_was_added_or_deleted_is_known_whole() {
    let workspace = of(include_str!("diffs/git.diff"));
    let file = |path: &str| workspace.file(path).unwrap();
    assert_eq!(file("new.txt").content(), Some("new\n"));
    assert_eq!(file("new-empty.txt").content(), Some(""));
    assert_eq!(
        (file("old/gone.txt").before(), file("old/gone.txt").content()),
        (Some("gone\n"), None)
    );
    assert_eq!(file("src/a.txt").content(), None);
    let open =
        of("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
    assert_eq!(open.file("x").unwrap().content(), Some("a\nb"));
}

#[test]
fn a_series_of_commits_is_taken_together() {
    // The second commit adds a line to new.txt and deletes src/a.txt; both messages are between files.
    let workspace = of(include_str!("diffs/series.patch"));
    let changes = outline(&workspace);
    assert_eq!(changes.len(), 10);
    assert!(changes.contains(&"added new.txt".to_owned()));
    assert!(changes.contains(&"deleted src/a.txt".to_owned()));
    assert_eq!(lines(&workspace, "new.txt"), ["+1 new", "+2 5"]);
    let last = workspace.diff_of(workspace.file("ä.txt").unwrap());
    assert!(last.ends_with("-ä\n+ö\n"), "{last}");
}

#[test]
fn in_a_series_a_file_keeps_its_history_under_its_new_name() {
    let added = "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n";
    let changed = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";
    let renamed = |from: &str, to: &str| {
        format!(
            "diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n"
        )
    };
    let new = of(&format!("{added}{}", renamed("a.txt", "b.txt")));
    assert_eq!(outline(&new), ["added b.txt"]);
    assert_eq!(new.file("b.txt").unwrap().content(), Some("one\n"));
    let moved = of(&format!("{changed}{}", renamed("a.txt", "b.txt")));
    assert_eq!(outline(&moved), ["renamed b.txt from a.txt"]);
    assert_eq!(lines(&moved, "b.txt"), ["-1 one", "+1 two"]);
    let twice = format!("{}{}", renamed("a.txt", "b.txt"), renamed("b.txt", "c.txt"));
    assert_eq!(outline(&of(&twice)), ["renamed c.txt from a.txt"]);
    // `git diff -B` detects that two files swapped names.
    let swapped = format!("{}{}", renamed("b.txt", "a.txt"), renamed("a.txt", "b.txt"));
    assert_eq!(outline(&of(&swapped)), ["renamed a.txt from b.txt", "renamed b.txt from a.txt"]);
}

#[test]
fn folders_compared() {
    assert_eq!(
        outline(&of(include_str!("diffs/plain.diff"))),
        ["deleted g", "added n", "modified x"]
    );
    assert_eq!(
        wrong("Only in p1: g\ndiff -ru p1/x p2/x\n--- p1/x\n+++ p2/x\n@@ -1 +1 @@\n-b\n+c\n"),
        "line 1: `Only in …` does not say what is in the file; write the diff with `git diff`, or `diff -ruN`"
    );
    assert_eq!(
        outline(&of("Binary files p1/a and b.png and p2/a and b.png differ\n")),
        ["modified a and b.png (binary)"]
    );
}

#[test]
fn binary_patches_and_copies() {
    let binary = "diff --git a/x.png b/x.png\nnew file mode 100644\nindex 000..123\nGIT binary patch\nliteral 3\nKcmZQzU|?!\n\nliteral 0\nHcmV?d00001\n\ndiff --git a/y b/z\nsimilarity index 100%\ncopy from y\ncopy to z\n";
    assert_eq!(outline(&of(binary)), ["added x.png (binary)", "added z from y"]);
    assert_eq!(of(binary).file("x.png").unwrap().content(), None);
    let quoted = "diff --git \"a/t\\tab \\\"q\\\"\" \"b/t\\tab \\\"q\\\"\"\nold mode 100644\nnew mode 100755\n";
    assert_eq!(outline(&of(quoted)), ["modified t\tab \"q\""]);
}

#[test]
fn a_file_deleted_and_created_again_was_modified() {
    // As git writes a file that became a link.
    let link = "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-text\ndiff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n";
    assert_eq!(outline(&of(link)), ["modified x"]);
    assert_eq!(lines(&of(link), "x"), ["-1 text", "+1 y"]);
}

#[test]
fn an_empty_diff_changes_nothing_and_other_text_is_not_a_diff() {
    assert_eq!(outline(&of("")), [""; 0]);
    assert_eq!(outline(&of("\n")), [""; 0]);
    assert_eq!(
        wrong("I changed the button.\n"),
        "is not a unified diff: no line `diff --git …`, and no `--- …` before `+++ …`, in \"I changed the button.\""
    );
}

#[test]
fn hunks_have_the_lines_that_they_count() {
    let hunk = |text: &str| wrong(&format!("--- a/x\n+++ b/x\n{text}"));
    assert_eq!(
        hunk("@@ -1,2 +1,2 @@\n a\n"),
        "ends inside the hunk of line 3: 1 lines are missing"
    );
    assert_eq!(
        hunk("@@ -1 +1 @@\n-a\n+b\n+c\n"),
        "line 6: the hunk before it has more lines than its header counts"
    );
    assert_eq!(
        hunk("@@ -1,2 +1 @@\n-a\n+b\n+c\n"),
        "line 6: the hunk of line 3 has more lines than its header counts"
    );
    assert_eq!(
        hunk("@@ -1,3 +1,3 @@\n a\nnone\n"),
        "line 5: \"none\" is not in the hunk of line 3, which misses 2 lines"
    );
    assert_eq!(
        hunk("@@ -x +1 @@\n"),
        "line 3: `@@ -x +1 @@` is not a header of a hunk such as `@@ -1,2 +1,2 @@`"
    );
    assert_eq!(
        wrong("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n"),
        "line 2: a hunk without `---` and `+++` before it"
    );
    assert!(wrong("diff --cc x\n").contains("combined diff"));
    // An editor removed the space of an empty line, which is still a line.
    assert_eq!(lines(&of("--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n\n+a\n b\n"), "x"), ["+2 a"]);
}

#[test]
fn a_header_in_colours_is_refused() {
    let colored = "\x1b[1mdiff --git a/s.env b/s.env\x1b[m\n\x1b[1m--- /dev/null\x1b[m\n\x1b[1m+++ b/s.env\x1b[m\n\x1b[36m@@ -0,0 +1 @@\x1b[m\n\x1b[32m+\x1b[m\x1b[32mkey\x1b[m\n";
    let why = "line 1: it is coloured; write the diff with `git diff --no-color`";
    assert_eq!(wrong(colored), why);
    assert_eq!(wrong(&format!("{colored}Binary files a/b.bin and b/b.bin differ\n")), why);
    // Inside a file, colours are text.
    let inside = "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+\x1b[1mbold\x1b[m\n";
    assert_eq!(lines(&of(inside), "x"), ["+1 \x1b[1mbold\x1b[m"]);
}

#[test]
fn a_submodule_is_refused_where_only_its_commits_are_listed() {
    let file = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n";
    let why = "line 1: it says of a submodule only which commits are new; write the diff with `git diff --submodule=short`";
    for line in [
        "sub 1111111..2222222:\n  > two\n",
        "sub 0000000...2222222 (new submodule)\n",
        "sub 2222222..1111111 (rewind):\n  < two\n",
    ] {
        assert_eq!(wrong(&format!("Submodule {line}{file}")), why, "{line}");
    }
    let inside = "Submodule sub 1111111..2222222:\ndiff --git a/sub/x b/sub/x\nold mode 100644\nnew mode 100755\n";
    assert_eq!(outline(&of(inside)), ["modified sub/x"]);
    let short = "diff --git a/sub b/sub\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n";
    assert_eq!(outline(&of(short)), ["modified sub"]);
    assert_eq!(outline(&of(&format!("Submodule sub is new\n{short}"))), ["modified sub"]);
}
