//! Options that would do nothing.

use insta::assert_snapshot;

use crate::fixture::Folder;

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    let folder = Folder::new();
    let root = "0".repeat(64);
    for (command, option) in [
        ("scorers --no-cache".to_owned(), "NAME"),
        ("scorers --memory-budget 1GiB".to_owned(), "NAME"),
        (format!("verify --root {root} -j 2"), "--jobs"),
        (format!("verify --root {root} --trust-cache"), "--trust-cache"),
        (format!("verify --root {root} --workspace ."), "--workspace"),
        ("verify --receipt r:a:0:0:c --format json".to_owned(), "--format"),
        ("card rouge --config '{}'".to_owned(), "--cases"),
        ("card rouge --fuel 7".to_owned(), "--cases"),
        ("card rouge --map output=/a".to_owned(), "--cases"),
        ("card rouge --db a.db".to_owned(), "--cases"),
        ("card rouge --judges suite.toml".to_owned(), "--cases"),
        ("card rouge --judge-cache off".to_owned(), "--cases"),
        ("card rouge --workspace .".to_owned(), "--cases"),
    ] {
        let said = folder.sh(&format!("scorebox {command}")).exits_with(2).stderr;
        assert!(said.contains(option), "{command}: {said}");
    }
    folder.sh("SCOREBOX_CACHE_DIR=x scorebox scorers --search latency").exits_with(0);
    assert_snapshot!(folder.sh("scorebox compile suite.toml --no-cache"), @"
    [stderr]
    error: --no-cache leaves `compile` nothing to do: what it compiles is kept in the cache
    hint: leave out --no-cache; --cache-dir names another folder
    [exit code 2]
    ");
}
