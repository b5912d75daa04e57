//! The completions that a shell offers for a command line: in a real bash on a terminal, and by calling its function
//! directly.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use crate::fixture::Folder;

/// A run `r` of three cases by two scorers.
fn with_a_run() -> Folder {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "{\"id\": \"c-1\", \"output\": 1}\n{\"id\": \"c 2\", \"output\": 1}\n{\"id\": \"d\", \"output\": 1}\n",
    );
    let scorers = "-s length -s bad=./misbehave.wasm --config length='{\"min\": 1}'";
    folder.sh(&format!("scorebox run {scorers} --run-id r -q cases.jsonl")).exits_with(0);
    folder
}

/// What bash offers at the end of the line, without the prefix that it keeps of the line's last word.
fn offered(folder: &Folder, line: &str) -> Vec<String> {
    let replaced = line.rsplit([' ', '=', ':']).next().unwrap();
    let script = format!(
        "eval \"$(scorebox completions bash)\"; COMP_LINE=\"$1\" COMP_POINT=${{#1}}; \
         _complete_scorebox scorebox {replaced:?}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    folder.write("offered.sh", script);
    let shown = folder.sh(&format!("bash offered.sh '{line}'")).exits_with(0).stdout;
    shown.lines().map(str::to_owned).collect()
}

/// The arguments of a command that is typed in bash, where `⇥` is the tab key.
fn typed(folder: &Folder, line: &str) -> String {
    let _ = fs::remove_file(folder.path("typed"));
    let mut bash: Command = folder.shell("script -qec 'bash --noprofile --norc -i' /dev/null");
    bash.env("INPUTRC", "/dev/null").env("TERM", "dumb").env_remove("HISTFILE");
    let mut bash = bash.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    // The same function for a command that records its arguments.
    let setup = "unset HISTFILE; eval \"$(scorebox completions bash)\"; complete -o nospace -F _complete_scorebox typed; \
                 typed() { printf '<%s>' \"$@\" > typed; }";
    let line = line.replace('⇥', "\t");
    bash.stdin.take().unwrap().write_all(format!("{setup}\n{line}\nexit\n").as_bytes()).unwrap();
    bash.wait().unwrap();
    fs::read_to_string(folder.path("typed")).unwrap_or_default()
}

#[test]
fn completions_are_a_script_of_each_shell_that_asks_scorebox() {
    let folder = Folder::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = folder.sh(&format!("scorebox completions {shell}")).exits_with(0).stdout;
        assert!(script.contains("SCOREBOX_COMPLETE"), "{shell}");
    }
    folder
        .sh("scorebox completions bash > s && bash -c '. ./s && complete -p scorebox'")
        .exits_with(0);
}

#[test]
fn what_bash_inserts_is_the_file_whatever_its_name_is() {
    let folder = Folder::new();
    fs::create_dir(folder.path("sub dir")).unwrap();
    for name in ["my file.jsonl", "sub dir/it's $1.jsonl", "tilde~#.jsonl"] {
        folder.write(name, "");
    }
    let typed = |line: &str| typed(&folder, line);
    assert_eq!(typed("typed run my⇥"), "<run><my file.jsonl>");
    assert_eq!(typed("typed run my\\ f⇥-q"), "<run><my file.jsonl><-q>");
    assert_eq!(typed("typed run 'my f⇥"), "<run><my file.jsonl>");
    assert_eq!(typed("typed run sub⇥⇥"), "<run><sub dir/it's $1.jsonl>");
    assert_eq!(typed("typed run \"sub dir/i⇥"), "<run><sub dir/it's $1.jsonl>");
    assert_eq!(typed("typed run til⇥"), "<run><tilde~#.jsonl>");
    assert_eq!(typed("typed report html=my⇥"), "<report><html=my file.jsonl>");
}

#[test]
fn bash_is_offered_what_stands_behind_an_equals_sign_or_an_at() {
    let folder = Folder::new();
    folder.write("right.json", "");
    let typed = |line: &str| typed(&folder, line);
    assert_eq!(typed("typed run -s x=leven⇥"), "<run><-s><x=levenshtein>");
    assert_eq!(typed("typed score --output @ri⇥"), "<score><--output><@right.json>");
    let offered = |line: &str| offered(&folder, line);
    assert_eq!(offered("scorebox run --scorer=rou"), ["rouge"]);
    assert_eq!(offered("scorebox stats --format=jsonl"), ["jsonl"]);
    assert_eq!(offered("scorebox score --config @ri"), ["@right.json"]);
    assert_eq!(offered("scorebox run --config x=@ri"), ["@right.json"]);
    assert_eq!(offered("scorebox run --report html=ri"), ["right.json"]);
    assert_eq!(offered("scorebox run --report j"), ["junit=", "jsonl="]);
}

#[test]
fn completions_know_scorers_runs_cases_and_the_entries_of_the_suite() {
    let folder = with_a_run();
    folder.write("grade.py", "");
    let offered = |line: &str| offered(&folder, line);
    assert_eq!(offered("scorebox score levensh"), ["levenshtein"]);
    assert_eq!(offered("scorebox run -s ./mis"), ["./misbehave.wasm"]);
    assert_eq!(offered("scorebox run -s gra"), ["grade.py"]);
    assert_eq!(offered("scorebox run -s mine=late"), ["latency"]);
    assert_eq!(offered("scorebox scores r"), ["r"]);
    assert_eq!(offered("scorebox rm ")[0], "r");
    assert_eq!(offered("scorebox scores --scorer "), ["length", "bad"]);
    assert_eq!(offered("scorebox agree length --with b"), ["bad"]);
    assert_eq!(offered("scorebox show c"), ["c\\ 2", "c-1"]);
    assert_eq!(offered("scorebox verify r --case-id d"), ["d"]);
    assert_eq!(offered("scorebox remove mar"), ["marked"]);
    let grants = offered("scorebox run suite.toml -s bleu --grant bl");
    assert_eq!(grants, ["bleu=wasi", "bleu=workspace", "bleu=judge"]);
    assert_eq!(offered("scorebox run --suite=suite.toml --config mar"), ["marked="]);
    assert_eq!(offered("scorebox scores --db none.db r"), [""; 1]);
    assert_eq!(offered("scorebox scorers --se"), ["--search"]);
}
