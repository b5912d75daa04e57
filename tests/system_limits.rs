//! Missing resources of the system: open files, room for a file, a disk, the current folder. The message names what is
//! missing, and stored data stays.

use insta::assert_snapshot;

use crate::fixture::Folder;

#[test]
fn a_run_that_has_no_more_open_files_stops_and_is_resumed() {
    let folder = Folder::new();
    let scorers = |number| {
        format!("[scorers.s{number}]\nuse = \"contains\"\nconfig = {{ value = \"{number}\" }}\n")
    };
    let suite: String = (0..60).map(scorers).collect();
    folder.write("many.toml", format!("version = 1\n{suite}"));
    folder.sh("head -5 answers.jsonl > few.jsonl").exits_with(0);
    let run = "scorebox run many.toml few.jsonl -q -j 1";
    let stopped = folder.sh(&format!("ulimit -n 48; exec {run} --run-id r")).exits_with(2);
    assert!(
        stopped.stderr.contains("error: the system has no room for the score: Too many open files"),
        "{stopped}"
    );
    assert!(stopped.stderr.contains("`ulimit -n`"), "{stopped}");
    assert!(stopped.stderr.contains("Scores so far are kept."), "{stopped}");
    assert_eq!(folder.rows("SELECT count(*) FROM scores WHERE status = 'error'"), ["0"]);
    folder.sh(&format!("{run} --resume r")).exits_with(0);
    assert_eq!(folder.rows("SELECT count(*), count(score) FROM scores"), ["300 | 300"]);
}

#[test]
fn the_soft_limit_of_open_files_is_raised() {
    let folder = Folder::new();
    folder.sh("ulimit -Sn 10; exec scorebox run suite.toml answers.jsonl -q").exits_with(0);
}

#[test]
fn too_few_open_files_are_named_before_anything_begins() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("ulimit -n 20; exec scorebox runs"), @"
    [stderr]
    error: this process may have 20 open files, and scorebox needs 24 at least
    hint: raise the limit: `ulimit -n`
    [exit code 2]
    ");
}

#[test]
fn a_file_that_may_not_become_larger_is_reported_and_ends_no_process() {
    let folder = Folder::new();
    folder.sh("scorebox run suite.toml answers.jsonl --run-id r -q").exits_with(0);
    let export = folder.sh("ulimit -f 8; exec scorebox export r -o rows.csv").exits_with(2);
    assert_snapshot!(export, @"
    [stderr]
    error: cannot write `rows.csv`: File too large (os error 27)
    [exit code 2]
    ");
    assert!(!folder.path("rows.csv").exists());
}

#[test]
fn what_is_stored_can_be_read_where_nothing_can_be_written() {
    let folder = Folder::new();
    folder.sh("scorebox run suite.toml answers.jsonl --run-id r -q").exits_with(0);
    for command in ["runs", "scores r", "cases r"] {
        // Too little for the files that SQLite keeps next to a database that is read, as on a full disk.
        folder.sh(&format!("ulimit -f 8; exec scorebox {command} 2> /dev/null")).exits_with(0);
    }
}

#[test]
fn a_folder_that_was_removed_is_named_as_the_reason() {
    let folder = Folder::new();
    let gone = folder.sh("mkdir gone; cd gone; rmdir ../gone; exec scorebox runs").exits_with(2);
    assert_snapshot!(gone, @"
    [stderr]
    error: the current folder no longer exists, and scorebox.db is a name in it
    hint: go to a folder that exists (`cd`), or name a path that begins with `/`
    [exit code 2]
    ");
}

#[test]
fn help_that_cannot_be_written_is_an_error_and_help_that_is_cut_off_by_its_reader_is_not() {
    let folder = Folder::new();
    for option in ["--version", "--help"] {
        let full = folder.sh(&format!("scorebox {option} > /dev/full")).exits_with(2);
        assert!(full.stderr.starts_with("error: cannot write to standard output: "), "{full}");
        folder.sh(&format!("scorebox {option}")).exits_with(0);
    }
    let cut = folder.sh("{ scorebox run --help; echo $? > code; } | true; cat code");
    assert_eq!(cut.stdout, "0\n");
}

#[test]
fn a_cache_that_takes_nothing_is_reported_once() {
    let folder = Folder::new();
    folder.sh("head -5 answers.jsonl > few.jsonl").exits_with(0);
    let run = "SCOREBOX_CACHE_DIR=cache scorebox run suite.toml few.jsonl -q";
    folder.sh(run).exits_with(0);
    // A folder in place of each entry.
    folder.sh("for entry in cache/*.code; do rm $entry; mkdir $entry; done").exits_with(0);
    let again = folder.sh(run).exits_with(0);
    let warnings: Vec<&str> =
        again.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    let [warning] = warnings[..] else { panic!("{again}") };
    assert!(warning.contains("compiled code is not kept in the folder `cache`"), "{warning}");
}
