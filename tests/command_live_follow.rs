//! `scorebox live --follow`: files that grow, are rotated and truncated. Each case is scored exactly once, whatever
//! ends the process.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    process::Stdio,
    time::{Duration, Instant},
};

use crate::{
    fixture::Folder,
    live_fixture::{
        FOLLOW, append, folder, killed, line, nameless, signal, stored, terminated, until_position,
        until_read, until_stored, until_waiting,
    },
};

#[test]
fn a_file_is_followed_through_rotation_and_truncation() {
    let folder = folder();
    append(&folder, &[line("a"), nameless(2)].concat());
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 2);
    // A line that is written in two parts is still one line.
    let (first, second) = (line("c"), line("d"));
    append(&folder, &first[..10]);
    append(&folder, &[&first[10..], &second].concat());
    until_stored(&folder, &mut following, 4);
    // Rotated: renamed, written to once more under the new name, and started again.
    fs::rename(folder.path("agent.jsonl"), folder.path("agent.jsonl.1")).unwrap();
    let mut old = OpenOptions::new().append(true).open(folder.path("agent.jsonl.1")).unwrap();
    old.write_all(line("e").as_bytes()).unwrap();
    append(&folder, &[line("f"), nameless(8)].concat());
    until_stored(&folder, &mut following, 5);
    // The program was not yet told to open the new file.
    std::thread::sleep(Duration::from_secs(1));
    old.write_all(line("late").as_bytes()).unwrap();
    until_stored(&folder, &mut following, 8);
    // Truncated in place, as `copytruncate` does.
    fs::write(folder.path("agent.jsonl"), "").unwrap();
    // The file is checked every 100 ms; a file that has meanwhile grown past the read position would look like more of
    // the same.
    append(&folder, &line("g"));
    until_stored(&folder, &mut following, 9);
    let said = terminated(following);
    assert!(said.contains("run live-agent.jsonl: 9 cases, 9 scores\n"), "{said}");
    let names = folder.rows("SELECT case_id FROM scores ORDER BY case_id");
    assert_eq!(names, ["a", "c", "case-2", "case-8", "d", "e", "f", "g", "late"]);
    assert_eq!(folder.rows("SELECT source, state FROM runs"), ["live | interrupted"]);
}

#[test]
fn the_same_command_continues_where_it_was() {
    let folder = folder();
    append(&folder, &[nameless(1), nameless(2)].concat());
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 2);
    terminated(following);
    append(&folder, &nameless(3));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 3);
    terminated(following);
    // Lines that were written and rotated meanwhile are read from the files' new names.
    append(&folder, &nameless(4));
    fs::rename(folder.path("agent.jsonl"), folder.path("agent.jsonl-20261123")).unwrap();
    append(&folder, &nameless(5));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 5);
    let said = terminated(following);
    assert!(said.contains("2 cases, 2 scores"), "{said}");
    // The file has other contents: it is read from the beginning.
    folder.write("agent.jsonl", [nameless(60), nameless(70)].concat());
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 7);
    let said = terminated(following);
    assert!(said.contains("is not the file that was followed before"), "{said}");
    let outputs = folder.rows("SELECT c.output FROM cases c ORDER BY c.ordinal");
    assert_eq!(outputs, ["1", "2", "3", "4", "5", "60", "70"]);
}

/// Renames each file to the name of the one before.
fn rotate(folder: &Folder, names: &[&str]) {
    for (from, to) in names.windows(2).map(|pair| (pair[1], pair[0])) {
        fs::rename(folder.path(from), folder.path(to)).unwrap();
    }
}

/// Waits until all lines are read, and compares them with their outputs.
#[track_caller]
fn reads_in_the_end(folder: &Folder, scores: i64, expected: &[&str]) {
    let mut following = folder.spawn(FOLLOW);
    until_stored(folder, &mut following, scores);
    let said = terminated(following);
    assert!(!said.contains("warning"), "{said}");
    assert_eq!(folder.rows("SELECT c.output FROM cases c ORDER BY c.ordinal"), expected);
}

/// The file was rotated once before each start, and the process in between had no time to read the lines that it found.
#[test]
fn files_that_a_process_without_a_case_found_are_read_by_the_next_one() {
    let folder = folder();
    append(&folder, &nameless(1));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 1);
    until_position(&folder, 1);
    killed(following);
    rotate(&folder, &["agent.jsonl.1", "agent.jsonl"]);
    append(&folder, &nameless(2));
    let following = folder.spawn(FOLLOW);
    until_waiting(&folder);
    killed(following);
    rotate(&folder, &["agent.jsonl.2", "agent.jsonl.1", "agent.jsonl"]);
    append(&folder, &nameless(3));
    reads_in_the_end(&folder, 3, &["1", "2", "3"]);
}

/// There is no case that could have been committed, and none in an earlier file.
#[test]
fn a_file_that_gets_the_name_before_there_is_a_case_is_read_by_the_next_process() {
    let folder = folder();
    let following = folder.spawn(FOLLOW);
    until_begun(&folder);
    // A file that appears while the process waits for it.
    append(&folder, "");
    until_read(&folder);
    rotate(&folder, &["agent.jsonl.1", "agent.jsonl"]);
    append(&folder, &nameless(1)[..5]);
    until_waiting(&folder);
    killed(following);
    append(&folder, &nameless(1)[5..]);
    rotate(&folder, &["agent.jsonl.2", "agent.jsonl.1", "agent.jsonl"]);
    append(&folder, &nameless(2));
    reads_in_the_end(&folder, 2, &["1", "2"]);
}

/// Waits until the start position is stored, which happens before the scorers are loaded.
#[track_caller]
fn until_begun(folder: &Folder) {
    let file = folder.path("scorebox.db-follow-live-agent.jsonl.json");
    let started = Instant::now();
    while !file.exists() {
        assert!(started.elapsed() < Duration::from_secs(120));
        std::thread::yield_now();
    }
}

/// Its scorer is still compiling, so no line of the first file was read.
#[test]
fn a_file_that_is_rotated_while_the_scorers_load_is_read() {
    let folder = folder();
    append(&folder, &nameless(1));
    let mut following = folder.spawn(&format!("{FOLLOW} --no-cache"));
    until_begun(&folder);
    rotate(&folder, &["agent.jsonl.1", "agent.jsonl"]);
    append(&folder, &nameless(2));
    until_stored(&folder, &mut following, 2);
    terminated(following);
    assert_eq!(folder.rows("SELECT c.output FROM cases c ORDER BY c.ordinal"), ["1", "2"]);
}

/// No run began, because nothing was scored; lines that were reported are not reported again.
#[test]
fn invalid_lines_before_the_first_case_are_read_once_and_those_of_a_removed_run_again() {
    let folder = folder();
    append(&folder, "not JSON\nneither\n");
    let following = folder.spawn(FOLLOW);
    until_position(&folder, 2);
    let said = terminated(following);
    assert_eq!(said.matches("not scored").count(), 2, "{said}");
    append(&folder, &["nor this\n", &nameless(1)].concat());
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 1);
    let said = terminated(following);
    assert_eq!(said.matches("not scored").count(), 1, "{said}");
    assert!(said.contains("agent.jsonl:3") && said.contains("1 invalid line\n"), "{said}");
    folder.sh("scorebox rm live-agent.jsonl --yes").exits_with(0);
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 1);
    let said = terminated(following);
    assert_eq!(said.matches("not scored").count(), 3, "{said}");
}

/// It followed the file through each rotation, and ended before it read the lines after that.
#[test]
fn files_that_were_rotated_away_before_a_restart_are_read_after_it() {
    let folder = folder();
    let rotate = |names: &[&str]| rotate(&folder, names);
    append(&folder, &nameless(1));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 1);
    until_position(&folder, 1);
    terminated(following);
    let mut following = folder.spawn(FOLLOW);
    let position = folder.path("scorebox.db-follow-live-agent.jsonl.json");
    let until_noticed = |files: usize| {
        let started = Instant::now();
        let noticed = || {
            let text = fs::read_to_string(&position).unwrap_or_default();
            let position = serde_json::from_str::<serde_json::Value>(&text).ok()?;
            Some(position["replacements"].as_array()?.len())
        };
        while noticed() != Some(files) {
            assert!(started.elapsed() < Duration::from_secs(60), "{:?}", noticed());
            std::thread::yield_now();
        }
    };
    append(&folder, &nameless(2));
    until_stored(&folder, &mut following, 2);
    rotate(&["agent.jsonl.1", "agent.jsonl"]);
    append(&folder, &nameless(3));
    until_noticed(1);
    rotate(&["agent.jsonl.2", "agent.jsonl.1", "agent.jsonl"]);
    append(&folder, &nameless(4));
    until_noticed(2);
    assert!(following.try_wait().unwrap().is_none());
    terminated(following);
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 4);
    let said = terminated(following);
    assert!(!said.contains("warning"), "{said}");
    let outputs = folder.rows("SELECT c.output FROM cases c ORDER BY c.ordinal");
    assert_eq!(outputs, ["1", "2", "3", "4"]);
}

/// The run of a file is named after it, and so would be the run of another file with this name.
#[test]
fn another_file_of_the_same_name_does_not_continue_the_run() {
    let folder = folder();
    append(&folder, &line("a"));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 1);
    until_position(&folder, 1);
    terminated(following);
    folder.sh("mkdir sub").exits_with(0);
    folder.write("sub/agent.jsonl", line("b"));
    let refused = folder.sh("scorebox live suite.toml --follow sub/agent.jsonl").exits_with(2);
    assert!(
        refused.stderr.starts_with(
            "error: `sub/agent.jsonl` would continue the run of another file of this name, `/"
        ),
        "{refused}"
    );
    assert!(refused.stderr.contains("hint: give it its own run: --run-id ID"), "{refused}");
    assert_eq!(stored(&folder), 1);
    // The same path, spelled in another way.
    let mut following = folder.spawn("scorebox live suite.toml --follow ./sub/../agent.jsonl");
    append(&folder, &line("c"));
    until_stored(&folder, &mut following, 2);
    terminated(following);
    let mut following =
        folder.spawn("scorebox live suite.toml --follow sub/agent.jsonl --run-id sub");
    until_stored(&folder, &mut following, 3);
    terminated(following);
}

/// The file has nothing new: the refusal does not wait for a line.
#[test]
fn another_suite_than_that_of_the_run_is_refused_at_once() {
    let folder = folder();
    append(&folder, &line("a"));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 1);
    terminated(following);
    folder.write("suite.toml", "[scorers.right]\nuse = \"length\"\nconfig = { max = 9 }\n");
    let refused = folder.sh(&format!("timeout 60 {FOLLOW}")).exits_with(2);
    assert!(refused.stderr.contains("live-agent.jsonl"), "{refused}");
    assert_eq!(folder.rows("SELECT state FROM runs"), ["interrupted"]);
}

#[test]
fn a_second_process_does_not_follow_into_the_same_run() {
    let folder = folder();
    append(&folder, &line("a"));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 1);
    let refused = folder.sh(FOLLOW).exits_with(2);
    assert!(
        refused.stderr.starts_with("error: another process follows a file into the run `live-"),
        "{refused}"
    );
    append(&folder, &line("b"));
    until_stored(&folder, &mut following, 2);
    terminated(following);
}

/// Killed at any time, even between the commit and the position.
#[test]
fn a_process_that_is_killed_before_its_first_position_scores_each_case_once() {
    let folder = folder();
    append(&folder, &(0..100).map(nameless).collect::<String>());
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 100);
    signal(&following, "-KILL");
    following.wait().unwrap();
    // The state after a kill before the first position, except for that of the beginning.
    let file = folder.path("scorebox.db-follow-live-agent.jsonl.json");
    let mut position: serde_json::Value =
        serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    position["line"] = 0.into();
    position["ordinal"] = 0.into();
    fs::write(&file, position.to_string()).unwrap();
    append(&folder, &nameless(100));
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 101);
    terminated(following);
    assert_eq!(folder.rows("SELECT count(DISTINCT output), count(*) FROM cases"), ["101 | 101"]);
}

#[test]
fn a_process_that_is_killed_scores_each_case_once() {
    let folder = folder();
    let mut written = 0;
    for round in 1..=6_usize {
        let lines: String = (written..written + 100).map(nameless).collect();
        written += 100;
        let old = folder.path("scorebox.db-follow-live-agent.jsonl.json");
        let before = fs::read(&old).ok();
        append(&folder, &lines);
        let mut following = folder.spawn(FOLLOW);
        match round % 3 {
            // Kills it as soon as some of it is stored.
            0 => while stored(&folder) <= i64::try_from(written).unwrap() - 100 {},
            _ => until_stored(&folder, &mut following, i64::try_from(written).unwrap()),
        }
        signal(&following, "-KILL");
        following.wait().unwrap();
        // The state after a kill between the commit and the position.
        if let (1, Some(before)) = (round % 3, before) {
            fs::write(&old, before).unwrap();
        }
    }
    let mut following = folder.spawn(FOLLOW);
    until_stored(&folder, &mut following, 600);
    // If everything was stored before the kill, the next case moves the position.
    append(&folder, &nameless(600));
    until_stored(&folder, &mut following, 601);
    until_position(&folder, 601);
    terminated(following);
    assert_eq!(folder.rows("SELECT count(DISTINCT output), count(*) FROM cases"), ["601 | 601"]);
    assert_eq!(folder.rows("SELECT count(*) FROM runs"), ["1"]);
    folder.sh("scorebox verify live-agent.jsonl").exits_with(0);
}

/// Only the bytes of this session; those that an earlier one read are not read again.
#[test]
fn the_end_of_a_session_says_how_many_bytes_it_read() {
    let folder = folder();
    let read = || {
        let text = fs::read_to_string(folder.path("events")).unwrap();
        let ended: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(ended["type"], "RunEnded");
        ended["progress"]["bytesRead"].as_u64().unwrap()
    };
    let lines = [nameless(1), nameless(22)].concat();
    for (scores, line) in (1..).zip(lines.split_inclusive('\n')) {
        append(&folder, line);
        let mut following = folder.spawn(&format!("{FOLLOW} --events events"));
        until_stored(&folder, &mut following, scores);
        terminated(following);
        assert_eq!(read(), line.len() as u64);
    }
}

#[test]
fn a_file_that_does_not_exist_yet_is_waited_for() {
    let folder = folder();
    let mut following = folder.spawn(FOLLOW);
    append(&folder, &line("a"));
    until_stored(&folder, &mut following, 1);
    terminated(following);

    let mut nothing = folder.spawn("scorebox live suite.toml --follow none.jsonl --db none.db");
    let stderr = nothing.stderr.take().unwrap();
    let first = std::io::BufRead::lines(std::io::BufReader::new(stderr)).next().unwrap().unwrap();
    assert_eq!(first, "waiting for `none.jsonl`, which does not exist yet");
    // Before it handles signals, a signal ends it like any process.
    signal(&nothing, "-TERM");
    let ended = nothing.wait().unwrap();
    assert!(ended.code().is_none_or(|code| code == 143), "{ended}");
}

#[test]
fn what_cannot_be_followed_is_an_error_at_once() {
    let folder = folder();
    folder.sh("mkfifo pipe && mkdir sub && scorebox live suite.toml -q --run-id r </dev/null");
    append(&folder, &line("a"));
    folder.sh("scorebox run suite.toml agent.jsonl -q --run-id batch").exits_with(0);
    folder.write("broken.db-follow-r.json", "{\"version\": 1");
    for (options, why) in [
        ("--follow sub", "sub"),
        ("--follow pipe", "only a regular file can be followed"),
        ("--follow /dev/zero", "only a regular file can be followed"),
        ("--follow agent.jsonl --run-id batch", "the run `batch` is not live"),
        ("--follow agent.jsonl --run-id r --db broken.db", "cannot read the position in"),
        ("--follow agent.jsonl --events agent.jsonl", "the events cannot go to `agent.jsonl`"),
        ("--follow agent.jsonl --db sub", "sub"),
    ] {
        let run = folder.sh(&format!("scorebox live suite.toml -q {options}")).exits_with(2);
        assert!(run.stderr.contains(why), "{options}\n{run}");
    }
}

/// Its bytes would be read as lines of nonsense, or the reader would wait for a line's end.
#[test]
fn a_compressed_file_is_refused_before_it_is_followed_and_when_it_appears() {
    let folder = folder();
    append(&folder, &line("a"));
    folder.sh("gzip -k agent.jsonl").exits_with(0);
    let refusal = "error: agent.jsonl.gz: this is gzip data, and a file can be followed only as plain text\n\
                   hint: follow the file that the program writes, before it is compressed; what is in a compressed file is scored by \
                   `scorebox run SUITE agent.jsonl.gz`\n";
    let follow = "timeout 60 scorebox live suite.toml --follow";
    let refused = folder.sh(&format!("{follow} agent.jsonl.gz")).exits_with(2);
    assert_eq!(refused.stderr, refusal);
    assert!(!folder.path("scorebox.db").exists());
    // The file is empty at the start.
    let later = "touch later.gz && { sleep 1 && cat agent.jsonl.gz > later.gz & }";
    let refused = folder.sh(&format!("{later}; {follow} later.gz -q")).exits_with(2);
    assert_eq!(refused.stderr, refusal.replace("agent.jsonl.gz", "later.gz"));
}

/// Like `timeout`, which signals the process and then its group. The requirements are checked then, and scorers
/// summarize all cases so far.
#[test]
fn a_signal_that_comes_twice_at_once_ends_it_in_good_order_with_a_summary_so_far() {
    let folder = folder();
    folder.write(
        "suite.toml",
        "[scorers.right]\nuse = \"exact-match\"\nseverity = \"gate\"\n[scorers.labels]\nuse = \"label-distribution\"\n",
    );
    let line = |id: &str, label: &str| {
        format!(
            "{{\"id\": \"{id}\", \"output\": 1, \"groundTruth\": 2, \"metadata\": {{\"label\": \"{label}\"}}}}\n"
        )
    };
    let said_after = |scores: i64| {
        let mut shell = folder.shell(&format!("exec {FOLLOW} -q"));
        let mut following = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until_stored(&folder, &mut following, scores);
        let twice = folder.sh(&format!("kill -TERM {0}; kill -TERM {0}", following.id()));
        twice.exits_with(0);
        let output = following.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(3), "{said}");
        said
    };
    append(&folder, &line("a", "x"));
    let said = said_after(2);
    assert!(said.contains("labels of the run so far: {") && said.contains("\"x\": 1"), "{said}");
    let stats = folder.sh("scorebox stats").exits_with(0);
    assert!(stats.stdout.contains("labels of the run so far: {"), "{stats}");
    // A later session summarizes all cases up to then.
    append(&folder, &line("b", "y"));
    let said = said_after(4);
    assert!(said.contains("\"x\": 1,\n    \"y\": 1\n"), "{said}");
    folder.sh("scorebox verify live-agent.jsonl --trust-cache").exits_with(0);
    assert_eq!(folder.rows("SELECT count(*) FROM summaries"), ["1"]);
}
