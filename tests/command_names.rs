//! How runs, scorers and paths are named: on the command line, and in environment variables.

use crate::fixture::Folder;

/// The state in a CI job that sets them from a variable which does not exist.
#[test]
fn an_empty_variable_is_one_that_is_not_set() {
    let folder = Folder::new();
    folder.write("c.jsonl", "{\"output\": \"a\", \"groundTruth\": \"a\"}\n");
    let empty = "SCOREBOX_DB= SCOREBOX_CACHE_DIR=";
    folder
        .sh(&format!("XDG_CACHE_HOME=$PWD/cache {empty} scorebox run c.jsonl -s exact-match -q"))
        .exits_with(0);
    folder.sh(&format!("{empty} scorebox runs")).exits_with(0);
    let typed = folder.sh("scorebox runs --db ''").exits_with(2).stderr;
    assert!(typed.contains("--db"), "{typed}");
    let usage = folder.sh("SCOREBOX_CACHE_DIR=x scorebox run --nonsense").exits_with(2).stderr;
    assert!(!usage.contains("--cache-dir"), "{usage}");
}

#[test]
fn a_run_is_named_without_an_option_by_all_commands_that_show_one() {
    let folder = Folder::new();
    folder.write("c.jsonl", "{\"id\": \"a\", \"output\": \"a\", \"groundTruth\": \"a\"}\n");
    for run in ["one", "two"] {
        folder.sh(&format!("scorebox run c.jsonl -s exact-match -q --run-id {run}")).exits_with(0);
    }
    folder.sh("scorebox rm two --yes").exits_with(0);
    for command in ["stats one", "show a one", "cases one", "scores one"] {
        folder.sh(&format!("scorebox {command}")).exits_with(0);
        let other = command.replace("one", "two");
        let gone = folder.sh(&format!("scorebox {other}")).exits_with(2).stderr;
        assert!(gone.contains("`two`"), "{gone}");
    }
    folder.sh("scorebox stats one --run one").exits_with(2);
}

#[test]
fn a_help_about_a_command_that_does_not_exist_names_the_one_that_was_meant() {
    let folder = Folder::new();
    for (line, meant) in
        [("rnu", "'runs'"), ("--color never help stast", "'stats'"), ("help toolchain ad", "'add'")]
    {
        let said = folder.sh(&format!("scorebox {line}")).exits_with(2).stderr;
        assert!(said.contains("error: unrecognized subcommand"), "{line}: {said}");
        assert!(said.contains("tip: ") && said.contains(meant), "{line}: {said}");
    }
    for line in ["help score exact-match", "help xyzzy"] {
        let said = folder.sh(&format!("scorebox {line}")).exits_with(2).stderr;
        assert!(said.contains("error: unrecognized subcommand"), "{line}: {said}");
        assert!(!said.contains("tip: "), "{line}: {said}");
    }
}

#[test]
fn a_hint_about_a_name_says_what_can_be_typed() {
    let folder = Folder::new();
    folder.write("c.jsonl", "{\"output\": \"a\", \"groundTruth\": \"a\", \"label\": 1}\n");
    folder.write("s.toml", "[scorers.right]\nuse = \"exact-match\"\n");
    for (scorers, hint) in [
        ("s.toml -s right=contains", "`-s other-name=contains`"),
        ("-s x=exact-match -s x=length", "`-s other-name=length`"),
    ] {
        let said = folder.sh(&format!("scorebox run c.jsonl {scorers}")).exits_with(2).stderr;
        assert!(said.contains(hint), "{said}");
    }
    folder.sh("scorebox run s.toml c.jsonl -q").exits_with(0);
    let agree = folder.sh("scorebox agree right --with label").exits_with(2).stderr;
    assert!(agree.contains("a label of the cases is a JSON Pointer: --with /label"), "{agree}");
}
