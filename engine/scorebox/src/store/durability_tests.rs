//! Tests what the store guarantees when processes die, disks are full and files are damaged. Tests that need another
//! process run this test binary again.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::{sample::*, *};

/// The environment variable with the database that the other process uses.
const TASK: &str = "SCOREBOX_STORE_TEST";

/// This binary again, to run one of the `other_process_…` tests below on the database at `path`.
fn other_process(binary: &Path, test: &str, path: &Path) -> Command {
    let (_crate, module) = module_path!().split_once("::").unwrap();
    let mut command = Command::new(binary);
    command.args(["--ignored", "--exact", "--nocapture", &format!("{module}::{test}")]);
    command.env(TASK, path).stdout(Stdio::null());
    command
}

#[test]
#[ignore = "run by the tests of this file, in a separate process"]
fn other_process_writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(TASK) else { return };
    let mut writer = writer(Store::open(path).unwrap(), "killed", &["a", "b"]);
    let scorers = writer.run().scorers.clone();
    for ordinal in 0.. {
        let key = added(&mut writer, &case(ordinal, &format!("case-{ordinal}")));
        for scorer in &scorers {
            writer.add_score(key, *scorer, &scored(0.5)).unwrap();
        }
        if ordinal % 10 == 9 {
            writer.commit().unwrap();
        }
    }
}

#[test]
fn a_writer_that_is_killed_loses_no_committed_row_and_leaves_a_valid_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.db");
    let binary = std::env::current_exe().unwrap();
    let mut writing =
        other_process(&binary, "other_process_writes_until_it_is_killed", &path).spawn().unwrap();
    let mut seen = 0;
    for _ in 0..1000 {
        thread::sleep(Duration::from_millis(10));
        seen = Store::open_read_only(&path)
            .and_then(|store| store.score_count(&ScoreFilter::default()))
            .unwrap_or(0);
        if seen > 2000 {
            break;
        }
    }
    writing.kill().unwrap(); // SIGKILL on Unix
    writing.wait().unwrap();
    assert!(seen > 2000, "the writer never came far");

    let store = Store::open(&path).unwrap();
    must_be_whole(&store);
    let stored = store.score_count(&ScoreFilter::default()).unwrap();
    assert!(stored >= seen, "{stored} rows left of {seen}");
    assert_eq!(stored % 20, 0, "a batch is there as a whole or not at all");
    assert_eq!(store.run("killed").unwrap().state, RunState::Running);

    // It continues where it stopped, and writes nothing twice.
    let run = store.resume_run("killed", &session()).unwrap();
    let scorer = run.scorers[0];
    let mut writer = RunWriter::new(store, run);
    let CaseAdded::Known(first) = writer.add_case(&case(0, "case-0")).unwrap() else {
        panic!("the first case was lost");
    };
    assert!(!writer.add_score(first, scorer, &scored(1.0)).unwrap());
    let next = stored / 2;
    let key = added(&mut writer, &case(next, &format!("case-{next}")));
    assert!(writer.add_score(key, scorer, &scored(1.0)).unwrap());
}

/// A few more cases than one transaction of a removal deletes, with one scorer.
const TWO_TRANSACTIONS: u64 = 6000;

#[test]
#[ignore = "run by the tests of this file, in a separate process"]
fn other_process_removes_a_run_and_waits_after_its_first_transaction() {
    let Some(path) = std::env::var_os(TASK) else { return };
    let mut store = Store::open(path).unwrap();
    let waits = |removed: Removed| {
        assert!(removed.cases > 0 && removed.cases < TWO_TRANSACTIONS);
        let mut out = std::io::stdout();
        writeln!(out, "removed a part").and_then(|()| out.flush()).unwrap();
        // Waits forever: standard input is a pipe without a writer.
        std::io::stdin().read_line(&mut String::new()).unwrap();
    };
    store.remove_runs(&["goes"], 0, waits).unwrap();
}

#[test]
fn a_removal_that_is_killed_leaves_a_whole_database_and_is_finished_or_undone_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.db");
    let fill = |id: &str| {
        let mut writer = writer(Store::open(&path).unwrap(), id, &["a"]);
        let scorer = writer.run().scorers[0];
        for ordinal in 0..TWO_TRANSACTIONS {
            let key = added(&mut writer, &case(ordinal, &ordinal.to_string()));
            writer.add_score(key, scorer, &scored(0.5)).unwrap();
        }
        writer.finish(RunState::Finished, None, 1).unwrap();
    };
    fill("stays");
    fill("goes");
    let binary = std::env::current_exe().unwrap();
    let test = "other_process_removes_a_run_and_waits_after_its_first_transaction";
    let mut removing = other_process(&binary, test, &path);
    let mut removing = removing.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(removing.stdout.take().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line.contains("removed a part")));
    removing.kill().unwrap(); // SIGKILL on Unix
    removing.wait().unwrap();

    let mut store = Store::open(&path).unwrap();
    must_be_whole(&store);
    let run = store.run("goes").unwrap();
    assert_eq!((run.state, run.root), (RunState::Stopped, None), "it does not look finished");
    let left = store.case_count(run.key).unwrap();
    assert!(left > 0 && left < TWO_TRANSACTIONS);
    assert_eq!(store.row_count(run.key).unwrap(), left, "a case goes with its rows");

    // A resumed run computes the deleted rows again.
    let handle = store.resume_run("goes", &session()).unwrap();
    let scorer = handle.scorers[0];
    let mut writer = RunWriter::new(Store::open(&path).unwrap(), handle);
    let key = added(&mut writer, &case(0, "0"));
    assert!(writer.add_score(key, scorer, &scored(0.5)).unwrap());
    drop(writer);

    let removed = store.remove_runs(&["goes"], 2, |_| {}).unwrap();
    assert_eq!((removed.cases, removed.rows), (left + 1, left + 1));
    must_be_whole(&store);
    let stays = store.run("stays").unwrap();
    let root = store.run_root(stays.key, |store, key| Ok(store.case_content(key)?.digest));
    assert_eq!(root.unwrap(), stays.root.unwrap());
}

fn must_be_whole(store: &Store) {
    let whole: String =
        store.conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(whole, "ok");
    let dangling = store.conn.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap();
    assert!(!dangling, "every row that a row names is there");
}

#[test]
fn a_full_disk_is_reported_and_what_was_committed_stays() {
    let (folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    writer.store().conn.pragma_update(None, "max_page_count", 40).unwrap();
    let large = format!("\"{}\"", "x".repeat(4000));
    let mut committed = 0;
    let full = loop {
        let id = format!("case-{committed}");
        let new = NewCase { output: &large, ..case(committed, &id) };
        if let Err(error) = writer.add_case(&new).map(drop).and_then(|()| writer.commit()) {
            break error;
        }
        committed += 1;
        assert!(committed < 1000, "the disk never filled");
    };
    assert!(matches!(full, StoreError::DiskFull { .. }), "{full}");
    drop(writer);
    let store = Store::open_read_only(folder.path().join("scores.db")).unwrap();
    let stored: u64 = store
        .conn
        .query_row("SELECT count(*) FROM cases", [], |row| row.get::<_, i64>(0))
        .unwrap()
        .unsigned_abs();
    assert_eq!(stored, committed);
}

#[test]
fn processes_that_create_one_database_at_once_agree_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.db");
    let create =
        |id: String| Store::open(&path).unwrap().create_run(&run(&id), &[], &session()).unwrap();
    thread::scope(|scope| {
        for n in 0..8 {
            scope.spawn(move || create(format!("run-{n}")));
        }
    });
    assert_eq!(Store::open(&path).unwrap().runs(100).unwrap().len(), 8);
}

/// A database in a folder that can't be written, read by a process without special rights.
#[cfg(unix)]
mod without_rights {
    use std::os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    };

    use super::*;

    const NOBODY: u32 = 65534;

    #[test]
    #[ignore = "run by the test below, in a separate process"]
    fn another_process_reads_and_learns_why_it_cannot_write() {
        let Some(path) = std::env::var_os(TASK) else { return };
        let path = Path::new(&path);
        let clean = path.join("clean.db");
        assert_eq!(Store::open_read_only(&clean).unwrap().runs(9).unwrap().len(), 1);
        assert!(matches!(Store::open(&clean), Err(StoreError::ReadOnly { .. })));
        let unclean = path.join("unclean.db");
        assert!(matches!(Store::open_read_only(&unclean), Err(StoreError::Unrecovered { .. })));
        let secret = path.join("secret.db");
        assert!(matches!(Store::open_read_only(&secret), Err(StoreError::Permission { .. })));
        assert!(matches!(Store::open(&secret), Err(StoreError::Permission { .. })));
        assert!(matches!(Store::open(path.join("new.db")), Err(StoreError::Permission { .. })));
    }

    #[test]
    fn a_read_only_folder_can_be_read_and_says_what_can_not_be_done() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("100% read only?");
        fs::create_dir(&place).unwrap();
        for name in ["clean.db", "secret.db"] {
            Store::open(place.join(name)).unwrap().create_run(&run("r"), &[], &session()).unwrap();
        }
        // A log that was never merged into its database, as a killed writer leaves it.
        let mut writing = Store::open(folder.path().join("open.db")).unwrap();
        writing.create_run(&run("r"), &[], &session()).unwrap();
        fs::copy(folder.path().join("open.db"), place.join("unclean.db")).unwrap();
        fs::copy(folder.path().join("open.db-wal"), place.join("unclean.db-wal")).unwrap();

        let binary = folder.path().join("tests");
        fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
        let chmod = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        chmod(&place.join("secret.db"), 0o000);
        chmod(&place, 0o555);
        chmod(folder.path(), 0o755);
        let test = "without_rights::another_process_reads_and_learns_why_it_cannot_write";
        let mut reading = other_process(&binary, test, &place);
        let root = fs::metadata(&binary).unwrap().uid() == 0;
        if root {
            reading.uid(NOBODY);
        }
        let written = reading.current_dir("/").status().unwrap();
        chmod(&place, 0o755);
        assert!(written.success());
    }
}
