//! `scorebox compile`: the scorers that it compiles, its output, and what a later run finds in the cache.

use crate::fixture::Folder;

const SUITE: &str = r#"
[scorers.one]
use = "./guest.wasm"
config = { amount = 1 }

[scorers.other]
use = "./guest.wasm"
config = { amount = 2 }
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("guest.wasm", crate::sandbox_fixture::guest("misbehave"));
    folder.write("suite.toml", SUITE);
    folder
}

/// The lines without the times at their ends, sorted, because the order in which scorers are ready varies.
fn lines(output: &str) -> Vec<String> {
    let line =
        |line: &str| line.rsplit_once("  ").unwrap().0.split_once("  ").unwrap().1.to_owned();
    let mut lines: Vec<String> = output.lines().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn each_scorer_is_compiled_once_and_is_there_for_the_next_command() {
    let folder = folder();
    let compile = "scorebox compile suite.toml --cache-dir cache";
    let first = folder.sh(compile).exits_with(0).stdout;
    assert_eq!(lines(&first), ["one  compiled", "other  compiled"]);
    assert!(first.lines().last().unwrap().starts_with("2 of 2  "), "{first}");
    let again = folder.sh(compile).exits_with(0).stdout;
    assert_eq!(lines(&again), ["one  was in the cache", "other  was in the cache"]);
    let inspected =
        "scorebox inspect ./guest.wasm -c '{\"amount\": 2}' --cache-dir cache --format json";
    assert_eq!(folder.sh(inspected).exits_with(0).json()["cached"], true);
}

#[test]
fn a_scorer_that_refuses_its_configuration_is_named() {
    let folder = folder();
    folder.write("bad.toml", "[scorers.contains]\nconfig = { ignorCase = true }\n");
    let refused = folder.sh("scorebox compile bad.toml --cache-dir cache").exits_with(2);
    assert!(refused.stderr.contains("did you mean `ignoreCase`?"), "{}", refused.stderr);
    let files = std::fs::read_dir(folder.path("cache")).unwrap().count();
    assert_eq!(files, 0, "nothing was compiled to find that out");
}

#[test]
fn a_scorer_is_not_a_suite() {
    let folder = folder();
    folder.write("grade.js", "export default () => 1;\n");
    for (command, what) in [
        ("compile grade.js", "`grade.js` is a script, not a suite"),
        ("compile guest.wasm", "`guest.wasm` is a component, not a suite"),
        ("audit grade.js", "`grade.js` is a script, not a suite"),
        ("run grade.js cases.jsonl", "`grade.js` is a script, not a file of cases"),
        ("run -s length guest.wasm", "`guest.wasm` is a component, not a file of cases"),
    ] {
        let refused = folder.sh(&format!("scorebox {command}")).exits_with(2);
        assert!(refused.stderr.starts_with(&format!("error: {what}\nhint: ")), "{refused}");
        assert_eq!(refused.stderr.lines().count(), 2, "{refused}");
    }
}
