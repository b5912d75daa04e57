//! The grant `workspace`: the task's files that a scorer can read, in each command.

use std::{fs, path::Path};

use insta::assert_snapshot;

use crate::fixture::Folder;

/// A folder with the files of two tasks in `work`, cases that name them, and a scorer that reads.
fn with_files() -> Folder {
    let folder = Folder::new();
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests/dist");
    fs::copy(guests.join("reader.wasm"), folder.path("reader.wasm")).unwrap();
    folder.sh("mkdir -p work/one/src work/one/.git work/two secret && echo x > secret/key");
    folder.sh("echo 'fn main() {}' > work/one/src/main.rs && echo hello > work/one/README");
    folder.sh("echo noise > work/one/.git/config && ln -s ../../secret/key work/two/link");
    folder.write(
        "cases.jsonl",
        r#"{"id": "a", "output": null, "workspace": "one"}
{"id": "b", "output": null, "workspace": "two"}
{"id": "c", "output": null}
{"id": "d", "output": null, "workspace": "../secret"}
{"id": "e", "output": null, "workspace": "three"}
"#,
    );
    folder
}

const RUN: &str =
    "scorebox run cases.jsonl -s ./reader.wasm --grant reader=workspace -q --run-id r";

#[test]
fn a_scorer_sees_the_files_of_its_case_and_no_others() {
    let folder = with_files();
    folder.sh(&format!("{RUN} --workspace work")).exits_with(1);
    assert_snapshot!(folder.sh("scorebox scores r"), @"
    case  scorer   score  reason
    a     reader  0.2000  README, src/main.rs (while it was configured: the case has no workspace: no folder is named for it)
    b     reader  0.0000  (while it was configured: the case has no workspace: no folder is named for it)
    c     reader   error  invalid-input: the case has no workspace: no folder is named for it
    d     reader   error  invalid-input: cannot read the folder `../secret` of the workspace: a path led outside of the filesystem
    e     reader   error  invalid-input: cannot read the folder `three` of the workspace: No such file or directory (os error 2)
    [exit code 0]
    ");
}

#[test]
fn one_case_is_scored_with_the_files_of_a_folder() {
    let folder = with_files();
    let read = |config: &str| {
        let command =
            "scorebox score ./reader.wasm --output null --grant workspace --workspace work/one";
        let answer = folder.sh(&format!("{command} --config '{config}'")).exits_with(0).json();
        answer["reason"].as_str().unwrap().to_owned()
    };
    assert_snapshot!(read(r#"{"path": "README"}"#), @r#"
    hello
     (while it was configured: the case has no workspace: no folder is named for it)
    "#);
    assert_snapshot!(read(r#"{"path": "src/../README"}"#), @"there is no file `src/../README` (while it was configured: the case has no workspace: no folder is named for it)");
    assert_snapshot!(read(r#"{"path": "/etc/passwd"}"#), @"there is no file `/etc/passwd` (while it was configured: the case has no workspace: no folder is named for it)");
    let named = "scorebox score ./reader.wasm --case case.json --grant workspace --workspace work";
    folder.write("case.json", r#"{"output": null, "workspace": "one"}"#);
    assert_eq!(folder.sh(named).exits_with(0).json()["score"], 0.2);
}

#[test]
fn a_folder_is_not_read_for_a_scorer_that_reads_no_files() {
    let folder = with_files();
    fs::File::create(folder.path("work/core")).unwrap().set_len(65 << 20).unwrap();
    let score =
        folder.sh("scorebox score exact-match --output 1 --ground-truth 1 --workspace work");
    assert_snapshot!(score.stderr, @"warning: --workspace has no effect: no scorer reads the files of a case");
    assert_eq!(score.exits_with(0).json()["score"], 1.0);
}

#[test]
fn files_are_refused_without_the_grant_and_without_a_folder() {
    let folder = with_files();
    assert_snapshot!(folder.sh("scorebox run cases.jsonl -s ./reader.wasm -q --workspace work"), @r#"
    [stderr]
    error: scorer `reader` (./reader.wasm): missing-grant: the component imports `scorebox:scorer/workspace@0.1.0`, which was not granted
    hint: if you trust it with that, add `grants = ["workspace"]` to the scorer in the suite, or use `--grant workspace` (in a run: `--grant NAME=workspace`)
    [exit code 2]
    "#);
    assert_snapshot!(folder.sh(RUN), @r#"
    [stderr]
    error: scorer `reader` reads the files of a case, but no folder is named
    hint: name the folder that the `workspace` of each case is relative to: --workspace FOLDER
    [exit code 2]
    "#);
    assert_snapshot!(folder.sh(&format!("{RUN} --workspace nowhere")), @r#"
    [stderr]
    error: cannot read the folder `nowhere` of the workspace: No such file or directory (os error 2)
    hint: a case names its folder in `workspace`, below the one that --workspace names
    [exit code 2]
    "#);
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn a_workspace_that_is_not_a_folder_name_is_a_bad_case() {
    let folder = with_files();
    folder.write("cases.jsonl", r#"{"output": null, "workspace": ["one"]}"#);
    assert_snapshot!(folder.sh(&format!("{RUN} --workspace work")), @"
    [stderr]
    error: cases.jsonl:1:31: `workspace` must be a folder's name: a string of 1 to 4096 bytes, without control characters; found an array
    [exit code 2]
    ");
}

#[test]
fn scores_of_files_are_verified_with_the_files() {
    let folder = with_files();
    folder.sh(&format!("{RUN} --workspace work")).exits_with(1);
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r --case-id a"), @"
    score           verdict         what                                      stored  computed
    r:reader:0:0:a  not verifiable  it looked at files, which are not stored
    [stderr]
    0 verified, 0 different, 1 not verifiable
    hint: name the folder that contains the cases' workspaces: --workspace FOLDER
    not compared: the run as a whole
    [exit code 1]
    ");
    folder.sh("scorebox verify --trust-cache r --workspace work").exits_with(0);
    folder.sh("echo more >> work/one/README");
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r --workspace work"), @"
    score           verdict    what   stored                                                            computed
    r:reader:0:0:a  different  input  [digest]  [digest]
    [stderr]
    4 verified, 1 different, 0 not verifiable
    [exit code 1]
    ");

    folder.sh("scorebox verify --receipt r:reader:0:0:b > receipt.json").exits_with(0);
    folder.write("case.json", r#"{"output": null, "workspace": "two"}"#);
    let check = "scorebox verify --trust-cache --check receipt.json --case case.json --component reader.wasm";
    folder.sh(&format!("{check} --workspace work")).exits_with(0);
    folder.sh(check).exits_with(1);
}

#[test]
fn files_may_be_left_out() {
    let folder = with_files();
    folder.sh("truncate --size 65M work/one/core");
    let run = format!("{RUN} --workspace work --db");
    folder.sh(&format!("{run} all.db")).exits_with(1);
    assert_snapshot!(folder.sh("scorebox scores r --case a --db all.db"), @"
    case  scorer  score  reason
    a     reader  error  invalid-input: the workspace `one` has more than 64 MiB
    [exit code 0]
    ");
    folder.sh(&format!("{run} some.db --workspace-exclude core --workspace-exclude 'src/*.rs'"));
    assert_snapshot!(folder.sh("scorebox scores r --case a --db some.db"), @"
    case  scorer   score  reason
    a     reader  0.1000  README (while it was configured: the case has no workspace: no folder is named for it)
    [exit code 0]
    ");
    let verify = "scorebox verify --trust-cache r --case-id a --db some.db --workspace work";
    folder.sh(&format!("{verify} --workspace-exclude core")).exits_with(1);
    folder.sh(&format!("{verify} --workspace-exclude core --workspace-exclude src")).exits_with(0);
    assert_snapshot!(folder.sh(&format!("{run} no.db --workspace-exclude /tmp")), @"
    [stderr]
    error: invalid exclude pattern `/tmp`: it must be relative to the case's folder
    hint: name a path from a case's folder or a glob, such as `target` or `**/*.log`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run cases.jsonl -s equals --workspace-exclude x"), @"
    [stderr]
    error: the following required arguments were not provided:
      --workspace <FOLDER>

    Usage: scorebox run --workspace <FOLDER> --scorer <[NAME=]SCORER> --workspace-exclude <GLOB> <FILE>...

    For more information, try '--help'.
    [exit code 2]
    ");
}

#[test]
fn scores_of_files_are_not_reused() {
    let folder = with_files();
    let again = RUN.replace("--run-id r", "--run-id again --reuse");
    folder.sh(&format!("{RUN} --workspace work -s contains --config 'contains={{\"value\": 1}}'"));
    let run = format!("{again} --workspace work -s contains --config 'contains={{\"value\": 1}}'");
    let summary = folder.sh(&format!("{run} --format json")).json();
    let reused = |index: usize| summary["scorers"][index]["reused"].clone();
    assert_eq!((reused(0), reused(1)), (0.into(), 5.into()), "{summary}");
}

#[test]
fn reading_without_end_is_ended() {
    let folder = with_files();
    let command =
        "scorebox score ./reader.wasm --output null --grant workspace --workspace work/one";
    let without_end = format!("{command} --config '{{\"times\": 4000000000}}' --timeout 300ms");
    let answer = folder.sh(&without_end).exits_with(1).json();
    assert_eq!(answer["error"]["kind"], "timed-out");
}

#[test]
fn a_pipe_that_a_task_left_is_not_opened_and_holds_nothing_up() {
    let folder = with_files();
    folder.sh("mkfifo work/one/a-pipe work/two/a-pipe").exits_with(0);
    folder.sh(&format!("{RUN} --workspace work")).exits_with(1);
    assert_snapshot!(folder.sh("scorebox scores r --case a"), @"
    case  scorer   score  reason
    a     reader  0.2000  README, src/main.rs (while it was configured: the case has no workspace: no folder is named for it)
    [exit code 0]
    ");
    let score = "scorebox score ./reader.wasm --output null --grant workspace --workspace";
    assert_eq!(folder.sh(&format!("{score} work/one")).exits_with(0).json()["score"], 0.2);
    assert_snapshot!(folder.sh(&format!("{score} work/one/a-pipe")), @"
    [stderr]
    error: cannot read the folder `work/one/a-pipe` of the workspace: Not a directory (os error 20)
    hint: a case names its folder in `workspace`, below the one that --workspace names
    [exit code 2]
    ");
}

/// Thousands of files cannot be read within a millisecond on any machine.
#[test]
fn files_that_take_longer_to_read_than_the_host_may_are_a_time_out() {
    let folder = with_files();
    folder.sh("cd work/two && seq 5000 | xargs touch").exits_with(0);
    folder.sh(&format!("{RUN} --workspace work --limit host-timeout=1ms")).exits_with(1);
    let row =
        "SELECT case_id, status, error_kind, error_message, fuel FROM scores WHERE case_id = 'b'";
    assert_snapshot!(folder.rows(row).join("\n"), @"b | error | timed-out | reading the files of the case took longer than [time] | 0");
    assert_snapshot!(folder.sh("scorebox verify r --case-id b --workspace work"), @"
    score           verdict         what                                        stored  computed
    r:reader:0:0:b  not verifiable  it timed out, which depends on the machine
    [stderr]
    0 verified, 0 different, 1 not verifiable
    not compared: the run as a whole
    [exit code 1]
    ");

    let score = "scorebox score ./reader.wasm --output null --grant workspace --workspace work/two";
    assert_snapshot!(folder.sh(&format!("{score} --limit host-timeout=1ms")), @"
    [stderr]
    error: reading the files of the case took longer than [time]
    hint: leave out what the scorer does not need, or raise the scorer's limit `host-timeout`
    [exit code 2]
    ");
}

/// Every scorer has its own time, and a scorer that has used up its time takes nothing from the next.
#[test]
fn a_scorer_with_more_time_reads_the_files_that_another_had_no_time_for() {
    let folder = with_files();
    folder.sh("cd work/two && seq 5000 | xargs touch").exits_with(0);
    folder.write(
        "suite.toml",
        r#"
        [scorers.hasty]
        use = "./reader.wasm"
        grants = ["workspace"]
        limits = { host-timeout = "1ms" }
        [scorers.patient]
        use = "./reader.wasm"
        grants = ["workspace"]
        limits = { host-timeout = "10min" }
        "#,
    );
    folder.write("cases.jsonl", r#"{"id": "b", "output": null, "workspace": "two"}"#);
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r --workspace work").exits_with(1);
    let rows = "SELECT scorer_id, status, error_kind, score FROM scores ORDER BY 1";
    assert_snapshot!(folder.rows(rows).join("\n"), @"
    hasty | error | timed-out | null
    patient | scored | null | 1
    ");
}
