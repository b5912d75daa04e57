//! `scorebox card` when it makes no page: wrong arguments, scorers with mistakes, an interrupt. `command_card` tests
//! the pages.

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    command_card::{begin, read},
    fixture::Folder,
};

#[test]
fn what_is_wrong_is_said_before_anything_is_scored_and_no_page_is_left() {
    let folder = begin();
    folder.write("there.html", "mine");
    folder.write("bad.jsonl", "{\"id\": \"a\", \"output\": \"x\"}\n{oops\n");
    let card = "scorebox card rouge --cases cases.jsonl";
    for (command, said, hint) in [
        (format!("{card} -o there.html"), "`there.html` exists", "--force"),
        (
            format!("{card} -o ./cases.jsonl --force"),
            "cannot write `./cases.jsonl`: the command itself uses this file",
            "name another file",
        ),
        (format!("{card} -o missing/a.html"), "cannot write `missing/a.html`", ""),
        (format!("{card} --with label -o a.html"), "is not a valid JSON Pointer", "--with /label"),
        (format!("{card} --with /nothing -o a.html"), "has a label at `/nothing`", ""),
        ("scorebox card rouge --with /label -o a.html".into(), "--cases <FILE>", ""),
        (format!("{card} --run-id r -o a.html"), "--db <FILE>", ""),
        ("scorebox card rouge --cases none.jsonl -o a.html".into(), "none.jsonl: no such file", ""),
        (
            "scorebox card rouge --cases . -o a.html".into(),
            "`.` is not a file",
            "write the cases to a file",
        ),
        ("scorebox card rouge --cases bad.jsonl -o a.html".into(), "bad.jsonl:2", ""),
        (
            "scorebox card rouge --config '{\"variants\": 1}' --cases cases.jsonl -o a.html".into(),
            "variants",
            "",
        ),
        ("scorebox card nobody -o a.html".into(), "there is no scorer `nobody`", ""),
    ] {
        let refused = folder.sh(&command).exits_with(2);
        assert!(
            refused.stderr.contains(said) && refused.stderr.contains(hint),
            "{command}\n{refused}"
        );
        assert_eq!(refused.stdout, "");
        assert!(!folder.path("a.html").exists());
    }
    assert_eq!(read(&folder, "there.html"), "mine");
    let left = fs::read_dir(folder.path(".")).unwrap().map(|it| it.unwrap().file_name());
    let left: Vec<_> =
        left.filter(|name| name.to_string_lossy().starts_with(".scorebox")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_script_with_a_mistake_has_no_page_and_one_that_wants_a_configuration_has() {
    let folder = Folder::new();
    for (name, script, said) in [
        ("syntax", "const x = ;\n", "syntax.js:1:11: SyntaxError"),
        (
            "id",
            "export const info = { id: 'a b' };\nexport default () => 1;\n",
            "`info.id` is \"a b\"",
        ),
        ("nothing", "export const a = 1;\n", "the script has no default export"),
    ] {
        folder.write(&format!("{name}.js"), script);
        let refused = folder.sh(&format!("scorebox card {name}.js -o a.html")).exits_with(2);
        let begin = format!("error: scorer `{name}.js`: invalid-script: {name}.js");
        assert!(refused.stderr.starts_with(&begin) && refused.stderr.contains(said), "{refused}");
        assert!(!folder.path("a.html").exists());
        let inspected = folder.sh(&format!("scorebox inspect {name}.js")).exits_with(2);
        assert_eq!(inspected.stdout, "", "nothing is known of it");
        assert_eq!(inspected.stderr, refused.stderr);
    }
    folder.write(
        "wants.js",
        "export const info = { name: 'Wants', configSchema: { type: 'object', required: ['key'], \
         properties: { key: { type: 'string' } } } };\nexport default () => 1;\n",
    );
    folder.sh("scorebox card wants.js -o a.html").exits_with(0);
    assert!(read(&folder, "a.html").contains("Wants"));
    let inspected = folder.sh("scorebox inspect wants.js").exits_with(2);
    assert!(inspected.stdout.contains("Wants (wants)"), "{inspected}");
}

/// A user inspects a scorer before deciding on its grants.
#[test]
fn a_scorer_that_needs_a_grant_is_inspected_without_it() {
    let folder = Folder::new();
    let inspected = folder.sh("scorebox inspect relevancy").exits_with(0);
    assert!(inspected.stdout.contains("needs         "), "{inspected}");
    assert_eq!(inspected.stderr, "hint: to load it too: --grant judge\n");
    folder.sh("scorebox inspect relevancy --output-text hi").exits_with(2);
    folder.sh("scorebox inspect relevancy --config '{\"unknown\": 1}'").exits_with(2);
}

#[test]
fn an_interrupt_leaves_no_page_and_what_was_stored() {
    let folder = Folder::new();
    let cases = (0..200_000)
        .map(|n| format!("{{\"id\": \"{n}\", \"output\": \"x\", \"groundTruth\": \"x\"}}\n"));
    folder.write("cases.jsonl", cases.collect::<String>());
    let child = folder
        .spawn("scorebox card exact-match --cases cases.jsonl --db kept.db -j 1 -o card.html");
    let stored = || {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = rusqlite::Connection::open_with_flags(folder.path("kept.db"), flags).ok()?;
        database.query_row("SELECT count(*) FROM score_rows", [], |row| row.get::<_, i64>(0)).ok()
    };
    let since = Instant::now();
    while stored().unwrap_or(0) == 0 {
        assert!(since.elapsed() < Duration::from_secs(120), "nothing was stored");
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let words = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{words}");
    assert!(
        words.ends_with("Interrupted: no page was written. Scores so far are kept.\n"),
        "{words}"
    );
    let left: Vec<String> = fs::read_dir(folder.path("."))
        .unwrap()
        .map(|it| it.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains(".html") || name.starts_with(".scorebox"))
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn files_with_cases_have_different_names_because_others_have_them_in_one_folder() {
    let folder = begin();
    folder.sh("mkdir other && cp cases.jsonl other").exits_with(0);
    let card = "scorebox card length --config '{\"max\": 9}' --cases cases.jsonl --cases other/cases.jsonl -o card.html";
    let refused = folder.sh(card).exits_with(2);
    assert!(refused.stderr.contains("two files with cases are called `cases.jsonl`"), "{refused}");
    assert!(!folder.path("card.html").exists());
}
