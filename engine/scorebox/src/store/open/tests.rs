//! Which files can be opened, for which purpose, and the message of each refusal.

use rusqlite::types::Value;

use super::{super::sample, *};
use crate::advice::{Advice, Advised as _};

fn refused(path: &Path) -> (StoreError, StoreError) {
    (Store::open(path).unwrap_err(), Store::open_read_only(path).unwrap_err())
}

#[test]
fn a_new_or_empty_file_becomes_a_database_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    for path in [empty, folder.path().join("new.db")] {
        drop(Store::open(&path).unwrap());
        let bytes = fs::read(&path).unwrap();
        assert_eq!(&bytes[68..72], b"SBOX", "the application id, where file(1) looks for it");
        assert!(Store::open_read_only(&path).unwrap().runs(1).unwrap().is_empty());
    }
}

#[test]
fn the_settings_that_safety_rests_on_are_on() {
    let (_folder, store) = sample::database();
    let setting = |name| store.conn.pragma_query_value(None, name, |row| row.get::<_, Value>(0));
    assert_eq!(setting("journal_mode").unwrap(), Value::Text("wal".into()));
    assert_eq!(setting("foreign_keys").unwrap(), Value::Integer(1));
    assert_eq!(setting("synchronous").unwrap(), Value::Integer(1));
    assert_eq!(setting("trusted_schema").unwrap(), Value::Integer(0));
    assert_eq!(setting("cell_size_check").unwrap(), Value::Integer(1));
}

#[test]
fn reading_creates_nothing_writes_nothing_and_leaves_nothing_behind() {
    let (folder, store) = sample::database();
    drop(store);
    assert!(Store::open_read_only(folder.path().join("typo.db")).is_err());
    let mut reader = Store::open_read_only(folder.path().join("scores.db")).unwrap();
    let written = reader.create_run(&sample::run("r"), &[], &sample::session());
    assert!(matches!(written, Err(StoreError::ReadOnly { .. })), "{written:?}");
    drop(reader);
    let files: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["scores.db"]);
}

#[test]
fn a_name_is_only_a_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in [":memory:", "file:x?mode=memory", "a b%20c#d.db"] {
        drop(Store::open(folder.path().join(name)).unwrap());
        assert!(folder.path().join(name).is_file(), "{name}");
    }
}

#[test]
fn what_is_not_a_database_of_ours_is_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(
        &text,
        "not a database at all, but long enough to have a header of 100 bytes. ".repeat(9),
    )
    .unwrap();
    let foreign = folder.path().join("other.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    let named = folder.path().join("named.db");
    Connection::open(&named).unwrap().pragma_update(None, "application_id", 7).unwrap();
    for (path, expected) in [
        (&text, "is not an SQLite database"),
        (&foreign, "is the database of another program"),
        (&named, "is the database of another program"),
    ] {
        let before = fs::read(path).unwrap();
        let (write, read) = refused(path);
        assert!(write.to_string().ends_with(expected), "{write}");
        assert!(read.to_string().ends_with(expected), "{read}");
        assert_eq!(fs::read(path).unwrap(), before);
    }
}

#[test]
fn a_database_with_anything_that_is_not_ours_is_refused_and_not_changed() {
    for (change, expected) in [
        (
            "CREATE TRIGGER t AFTER INSERT ON score_rows BEGIN DELETE FROM cases; END",
            "it has the trigger `t`, which scorebox does not create",
        ),
        ("CREATE VIEW v AS SELECT 1", "it has the view `v`, which scorebox does not create"),
        (
            "CREATE INDEX i ON cases (ordinal)",
            "it has the index `i`, which scorebox does not create",
        ),
        ("CREATE TABLE notes (a)", "it has the table `notes`, which scorebox does not create"),
        (
            "ALTER TABLE cases ADD COLUMN huge TEXT AS (printf('%.*c', 200000000, 'x'))",
            "the table `cases` is not the one that scorebox creates",
        ),
        (
            "DROP VIEW scores; CREATE VIEW scores AS SELECT 1",
            "the view `scores` is not the one that scorebox creates",
        ),
        ("DROP INDEX cases_by_node", "the index `cases_by_node` is missing"),
    ] {
        let (folder, mut store) = sample::database();
        store.create_run(&sample::run("r"), &[], &sample::session()).unwrap();
        drop(store);
        let path = folder.path().join("scores.db");
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let before = fs::read(&path).unwrap();
        let (write, read) = refused(&path);
        for error in [write, read] {
            assert!(matches!(error, StoreError::Strange { .. }), "{error:?}");
            let words = error.to_string();
            let expected = format!("is not a database as scorebox creates it: {expected}");
            assert!(words.ends_with(&expected), "{words}");
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_trigger_that_comes_while_the_database_is_open_does_not_run() {
    let (folder, store) = sample::database();
    let mut writer = sample::writer(store, "r", &["a"]);
    let trigger = "CREATE TRIGGER t BEFORE INSERT ON score_rows BEGIN SELECT RAISE(IGNORE); END";
    let other = Connection::open(folder.path().join("scores.db")).unwrap();
    other.execute_batch(trigger).unwrap();
    let key = sample::added(&mut writer, &sample::case(0, "x"));
    let scorer = writer.run().scorers[0];
    assert!(writer.add_score(key, scorer, &sample::scored(1.0)).unwrap());
    assert_eq!(writer.store().row_count(writer.run().key).unwrap(), 1);
}

#[test]
fn a_place_without_a_database_has_an_error_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (write, read) = refused(folder.path());
    assert!(matches!((write, read), (StoreError::NotAFile { .. }, StoreError::NotAFile { .. })));
    let (write, read) = refused(&folder.path().join("no/such/folder.db"));
    assert!(matches!((write, read), (StoreError::NoFolder { .. }, StoreError::Missing { .. })));
    let empty = folder.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    assert!(matches!(Store::open_read_only(&empty), Err(StoreError::Empty { .. })));
    assert_eq!(fs::read(&empty).unwrap(), b"");
}

#[test]
fn a_newer_database_is_refused_with_both_versions() {
    let (folder, store) = sample::database();
    store.conn.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    let (write, read) = refused(&folder.path().join("scores.db"));
    let expected = format!(
        "was written by a newer scorebox: it has schema 99, this one knows up to {}",
        MIGRATIONS.len()
    );
    assert!(write.to_string().ends_with(&expected), "{write}");
    assert!(read.to_string().ends_with(&expected), "{read}");
    assert_eq!(read.advice(), Some(Advice::Update));
}

#[test]
fn an_older_database_is_brought_up_to_date_by_readers_too() {
    for to_read in [false, true] {
        let (folder, mut store) = sample::database();
        store.create_run(&sample::run("old"), &[], &sample::session()).unwrap();
        drop(store);
        let mut scripts = MIGRATIONS.to_vec();
        scripts.push("ALTER TABLE runs ADD COLUMN note TEXT");
        let path = folder.path().join("scores.db");
        let opening = Opening { scripts: &scripts, ..Opening::of(&path).unwrap() };
        let store = if to_read { opening.to_read() } else { opening.to_write() }.unwrap();
        assert_eq!(schema::content(&store.conn).unwrap(), Content::Ours(scripts.len() as u32));
        assert_eq!(store.run("old").unwrap().spec, sample::run("old"));
        assert_eq!(store.updated_from(), Some(MIGRATIONS.len() as u32));
        drop(store);
        let again = if to_read { opening.to_read() } else { opening.to_write() }.unwrap();
        assert_eq!(again.updated_from(), None);
    }
}

#[test]
fn a_statement_waits_on_after_its_patience_as_long_as_it_is_to() {
    let (folder, writing) = sample::database();
    writing.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut waiting = Store::open(folder.path().join("scores.db")).unwrap();
    let (asked, was_asked) = std::sync::mpsc::channel();
    let mut left = 3;
    let waits_on = move |is_first| {
        asked.send(is_first).unwrap();
        left -= 1;
        left > 0
    };
    wait_for_locks(&mut waiting.conn, Duration::from_millis(20), waits_on).unwrap();
    let refused = waiting.create_run(&sample::run("r"), &[], &sample::session()).unwrap_err();
    assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    assert_eq!(was_asked.try_iter().collect::<Vec<_>>(), [true, false, false]);
    writing.conn.execute_batch("ROLLBACK").unwrap();
    waiting.create_run(&sample::run("r"), &[], &sample::session()).unwrap();
}

#[test]
fn a_locked_database_is_reported_after_some_patience_and_can_be_read() {
    let (folder, mut writing) = sample::database();
    writing.create_run(&sample::run("r"), &[], &sample::session()).unwrap();
    writing.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    let path = folder.path().join("scores.db");
    let hasty = Opening { patience: Duration::from_millis(20), ..Opening::of(&path).unwrap() };
    let refused = hasty
        .to_write()
        .unwrap()
        .create_run(&sample::run("s"), &[], &sample::session())
        .unwrap_err();
    assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    assert_eq!(hasty.to_read().unwrap().runs(9).unwrap().len(), 1);
}

#[test]
fn a_damaged_database_is_reported() {
    let (folder, mut store) = sample::database();
    store.create_run(&sample::run("r"), &[], &sample::session()).unwrap();
    drop(store);
    let path = folder.path().join("scores.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xA5);
    fs::write(&path, bytes).unwrap();
    let read = Store::open_read_only(&path).and_then(|store| store.runs(9));
    assert!(matches!(read, Err(StoreError::Corrupt { .. })), "{read:?}");
}
