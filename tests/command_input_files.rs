//! Files that a command reads, whatever they are for: devices, pipes, endless files, and files that are not text.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use insta::assert_snapshot;
use scorebox::registry::Registry;

use crate::fixture::Folder;

/// A device never ends. It is refused before it is read, wherever it is named.
#[test]
fn a_device_is_not_a_file() {
    let folder = Folder::new();
    folder.sh("ln -s /dev/zero zero.toml").exits_with(0);
    let words: String = [
        "scorebox score contains --output @/dev/zero",
        "scorebox score contains --case /dev/zero",
        "scorebox score contains --output 1 --config @/dev/zero",
        "scorebox score /dev/zero --output 1",
        "scorebox run -s contains /dev/zero",
        "scorebox run -s contains --config contains=@/dev/zero answers.jsonl",
        "scorebox run zero.toml answers.jsonl",
        "scorebox verify --check /dev/zero --case answers.jsonl",
        "scorebox inspect contains --case /dev/zero",
    ]
    .into_iter()
    .map(|command| format!("$ {command}\n{}", folder.sh(command).exits_with(2).stderr))
    .collect();
    assert_snapshot!(words, @"
    $ scorebox score contains --output @/dev/zero
    error: cannot read `/dev/zero`: this is a device, not a file
    hint: name a file or a pipe; `head -c SIZE DEVICE > FILE` makes a file of a device
    $ scorebox score contains --case /dev/zero
    error: cannot read `/dev/zero`: this is a device, not a file
    hint: name a file or a pipe; `head -c SIZE DEVICE > FILE` makes a file of a device
    $ scorebox score contains --output 1 --config @/dev/zero
    error: cannot read `/dev/zero`: this is a device, not a file
    hint: name a file or a pipe; `head -c SIZE DEVICE > FILE` makes a file of a device
    $ scorebox score /dev/zero --output 1
    error: cannot read the scorer `/dev/zero`: this is a device, not a file
    hint: name a file or a pipe; `head -c SIZE DEVICE > FILE` makes a file of a device
    $ scorebox run -s contains /dev/zero
    error: /dev/zero: this is a device, not a file of cases
    hint: name a file or a pipe; `head -c SIZE DEVICE > FILE` makes a file of a device
    $ scorebox run -s contains --config contains=@/dev/zero answers.jsonl
    error: cannot read `/dev/zero`: this is a device, not a file
    hint: name a file or a pipe; `head -c SIZE DEVICE > FILE` makes a file of a device
    $ scorebox run zero.toml answers.jsonl
    error: cannot read the suite `zero.toml`: this is a device, not a file
    hint: name a file or a pipe; `head -c SIZE DEVICE > FILE` makes a file of a device
    $ scorebox verify --check /dev/zero --case answers.jsonl
    error: cannot read `/dev/zero`: this is a device, not a file
    hint: name a file or a pipe; `head -c SIZE DEVICE > FILE` makes a file of a device
    $ scorebox inspect contains --case /dev/zero
    error: cannot read `/dev/zero`: this is a device, not a file
    hint: name a file or a pipe; `head -c SIZE DEVICE > FILE` makes a file of a device
    ");
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn a_file_is_read_up_to_a_bound_which_the_error_names() {
    let folder = Folder::new();
    folder.sh("truncate --size 65M large && truncate --size 17M large.toml").exits_with(0);
    let words: String = [
        "scorebox score contains --output @large",
        "scorebox score contains --case large",
        "scorebox score contains --case - < /dev/zero",
        "scorebox score contains --output 1 --config @large.toml",
        "scorebox run large.toml answers.jsonl",
        "scorebox verify --check large --case answers.jsonl",
    ]
    .into_iter()
    .map(|command| format!("$ {command}\n{}", folder.sh(command).exits_with(2).stderr))
    .collect();
    assert_snapshot!(words, @"
    $ scorebox score contains --output @large
    error: cannot read `large`: it has more than 64 MiB, the most that is read here
    hint: check that it is the file that was meant
    $ scorebox score contains --case large
    error: cannot read `large`: it has more than 64 MiB, the most that is read here
    hint: check that it is the file that was meant
    $ scorebox score contains --case - < /dev/zero
    error: cannot read `-`: it has more than 64 MiB, the most that is read here
    hint: check that it is the file that was meant
    $ scorebox score contains --output 1 --config @large.toml
    error: cannot read `large.toml`: it has more than 16 MiB, the most that is read here
    hint: check that it is the file that was meant
    $ scorebox run large.toml answers.jsonl
    error: cannot read the suite `large.toml`: it has more than 16 MiB, the most that is read here
    hint: check that it is the file that was meant
    $ scorebox verify --check large --case answers.jsonl
    error: cannot read `large`: it has more than 64 MiB, the most that is read here
    hint: check that it is the file that was meant
    ");
}

#[test]
fn a_file_that_is_not_text_and_a_folder_are_refused() {
    let folder = Folder::new();
    folder.write("latin1.json", b"{\n\"output\": \"caf\xe9\"}");
    assert_snapshot!(folder.sh("scorebox score contains --case latin1.json"), @"
    [stderr]
    error: cannot read `latin1.json`: it is not UTF-8 text: see line 2
    hint: `iconv -f latin1 -t utf-8 FILE` converts a file, if it is Latin-1
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox score contains --case ."), @"
    [stderr]
    error: cannot read `.`: this is a folder, not a file
    hint: name a file in it
    [exit code 2]
    ");
}

/// A shell passes `/dev/stdin` and `<(…)` as a named pipe.
#[test]
fn a_pipe_is_read_wherever_a_file_is() {
    let folder = Folder::new();
    folder.write("case.json", r#"{"output": "Paris"}"#);
    folder.write("suite.toml", "[scorers.contains]\nconfig = { value = \"Paris\" }\n");
    folder.sh("mkfifo pipe pipe.toml pipe.wasm").exits_with(0);
    let contains = Registry::with_builtins().get("contains").unwrap().component;
    folder.write("contains.wasm", contains.bytes().unwrap());
    let config = r#"'{"value": "Paris"}'"#;
    for command in [
        format!("cat case.json | scorebox score contains --config {config} --case /dev/stdin"),
        format!("cat case.json | scorebox score contains --config {config} --case -"),
        format!("cat case.json > pipe & scorebox score contains --config {config} --case pipe"),
        format!("echo {config} > pipe & scorebox score contains --config @pipe --case case.json"),
        format!(
            "cat contains.wasm > pipe.wasm & \
             scorebox score ./pipe.wasm --config {config} --case case.json"
        ),
    ] {
        assert_eq!(folder.sh(&command).exits_with(0).json()["score"], 1.0, "{command}");
    }
    for command in [
        "cat case.json | scorebox run suite.toml /dev/stdin --format json",
        "cat case.json > pipe & scorebox run suite.toml pipe --format json",
        "cat suite.toml > pipe.toml & scorebox run pipe.toml case.json --format json",
    ] {
        assert_eq!(folder.sh(command).exits_with(0).json()["scoresWritten"], 1, "{command}");
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_small_file_of_blank_lines_without_end_is_not_read_to_its_end() {
    let folder = Folder::new();
    let blank = gzip(&"\n".repeat(20_000_000));
    assert!(blank.len() < 30_000, "{}", blank.len());
    folder.write("blank.jsonl.gz", &blank);
    assert_snapshot!(folder.sh("scorebox run -s exact-match blank.jsonl.gz"), @"
    [stderr]
    error: blank.jsonl.gz: nothing but blank lines from line 1 to line 1000001
    hint: no more than a million blank lines in a row are read, nor 1 GiB of them; `grep '[^[:space:]]' FILE` leaves them out
    [exit code 2]
    ");
    assert!(!folder.path("scorebox.db").exists());

    let case = gzip("{\"id\": \"a\", \"output\": \"x\", \"groundTruth\": \"x\"}\n");
    folder.write("cases.jsonl.gz", [case, blank].concat());
    let command = "scorebox run -s exact-match cases.jsonl.gz --on-bad-case skip --run-id r";
    assert_snapshot!(folder.sh(command).exits_with(2).stderr, @"

    run r: 1 case, 1 score in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    error: cases.jsonl.gz: nothing but blank lines from line 2 to line 1000002
    hint: no more than a million blank lines in a row are read, nor 1 GiB of them; `grep '[^[:space:]]' FILE` leaves them out
    Stopped there. Scores so far are kept. Fix the input, then resume with:
      scorebox run -s exact-match cases.jsonl.gz --on-bad-case skip --resume r
    ");
    assert_eq!(folder.rows("SELECT case_id, score FROM scores"), ["a | 1"]);
}
