//! The versions of the tables: which version a file has, whether its schema is exactly ours, and how an older one is
//! migrated to this build's. It opens no file and reads no row.

use std::collections::BTreeMap;

use rusqlite::{Connection, Transaction, TransactionBehavior, config::DbConfig};

/// The `PRAGMA application_id` of every scorebox database: the bytes `SBOX`. `file(1)` shows it.
pub(super) const APPLICATION_ID: i64 = 0x5342_4F58;

/// The scripts that build this version's tables in an empty file; script N migrates version N - 1 to version N. A
/// script that was released is never edited.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
    include_str!("migrations/0009.sql"),
    include_str!("migrations/0010.sql"),
    include_str!("migrations/0011.sql"),
    include_str!("migrations/0012.sql"),
    include_str!("migrations/0013.sql"),
];

/// What a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Nothing.
    Nothing,
    /// Our tables, of this version (1 or more).
    Ours(u32),
    /// Tables of another program.
    Foreign,
}

/// Finds out what the open file contains; changes nothing. Call it within one transaction ([`looking`]), because
/// otherwise another process could create or migrate the tables between two queries.
pub(super) fn content(conn: &Connection) -> rusqlite::Result<Content> {
    let application: i64 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = version(conn)?;
    let empty: bool =
        conn.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
    Ok(match (application, version, empty) {
        (APPLICATION_ID, 1.., _) => Content::Ours(version),
        (0, 0, true) => Content::Nothing,
        _ => Content::Foreign,
    })
}

/// A transaction that shows one state of the file, that of the first read.
pub(super) fn looking(conn: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(conn, TransactionBehavior::Deferred)
}

/// How the schema of the open file differs from the one that `scripts` make, in words; `None` if it does not.
///
/// With an additional column, index, view or trigger, a stranger's expressions would run inside our statements: they
/// might never end, change rows while they are written, or make small rows large.
pub(super) fn not_ours(conn: &Connection, scripts: &[&str]) -> rusqlite::Result<Option<String>> {
    let expected = {
        let model = Connection::open_in_memory()?;
        scripts.iter().try_for_each(|script| model.execute_batch(script))?;
        match objects(&model, usize::MAX)? {
            Objects::EachOnce(objects) => objects,
            Objects::Twice(object) => return Ok(Some(format!("the scripts make {object} twice"))),
        }
    };
    // One more than expected is enough to find one that should not exist.
    let found = match objects(conn, expected.len() + 1)? {
        Objects::EachOnce(found) => found,
        Objects::Twice(object) => return Ok(Some(format!("it has {object} twice"))),
    };
    let differs = |(object, statement): (&Object, &Statement)| match expected.get(object) {
        None => Some(format!("it has {object}, which scorebox does not create")),
        Some(ours) if ours != statement => {
            Some(format!("{object} is not the one that scorebox creates"))
        }
        Some(_) => None,
    };
    let missing = || {
        let object = expected.keys().find(|object| !found.contains_key(*object))?;
        Some(format!("{object} is missing"))
    };
    Ok(found.iter().find_map(differs).or_else(missing))
}

/// A table, an index, a view or a trigger.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Object {
    kind: String,
    name: String,
}

impl std::fmt::Display for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN_CHARACTERS: usize = 64;
        let name: String = self.name.chars().take(SHOWN_CHARACTERS).collect();
        let kind = match self.kind.as_str() {
            kind @ ("table" | "index" | "view" | "trigger") => kind,
            _ => "object",
        };
        write!(f, "the {kind} `{name}`")
    }
}

/// The table that an object belongs to, and the statement that made it; `None` for the indexes that SQLite creates by
/// itself.
type Statement = (String, Option<String>);

/// The objects of a schema.
enum Objects {
    EachOnce(BTreeMap<Object, Statement>),
    /// SQLite itself never creates an object twice, but accepts a file in which someone did.
    Twice(Object),
}

/// The first `most` objects of a schema.
fn objects(conn: &Connection, most: usize) -> rusqlite::Result<Objects> {
    let mut query = conn.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    let mut rows = query.query([])?;
    let mut objects = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let object = Object { kind: row.get(0)?, name: row.get(1)? };
        if objects.contains_key(&object) {
            return Ok(Objects::Twice(object));
        }
        objects.insert(object, (row.get(2)?, row.get(3)?));
        if objects.len() == most {
            break;
        }
    }
    Ok(Objects::EachOnce(objects))
}

/// Runs the scripts that the file has not run, in one transaction. Two processes may do this at the same time: the
/// second one waits, checks again and finds nothing to do.
///
/// Scripts may replace a table's definition, which SQLite refuses in its defensive mode.
pub(super) fn migrate(conn: &Connection, scripts: &[&str]) -> rusqlite::Result<()> {
    let defends = conn.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    let migrated = migrate_undefended(conn, scripts);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, defends)?;
    migrated
}

fn migrate_undefended(conn: &Connection, scripts: &[&str]) -> rusqlite::Result<()> {
    let change = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    let seen = version(&change)? as usize;
    if seen >= scripts.len() {
        return Ok(());
    }
    for script in &scripts[seen..] {
        change.execute_batch(script)?;
    }
    change.pragma_update(None, "application_id", APPLICATION_ID)?;
    change.pragma_update(None, "user_version", scripts.len() as i64)?;
    change.commit()
}

fn version(conn: &Connection) -> rusqlite::Result<u32> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::{super::*, *};

    /// The rows that each released version wrote, in the order of [`MIGRATIONS`].
    const FIXTURES: &[&str] = &[
        include_str!("fixtures/0001.sql"),
        include_str!("fixtures/0002.sql"),
        include_str!("fixtures/0003.sql"),
        include_str!("fixtures/0004.sql"),
        include_str!("fixtures/0005.sql"),
        include_str!("fixtures/0006.sql"),
        include_str!("fixtures/0007.sql"),
        include_str!("fixtures/0008.sql"),
        include_str!("fixtures/0009.sql"),
        include_str!("fixtures/0010.sql"),
        include_str!("fixtures/0011.sql"),
        include_str!("fixtures/0012.sql"),
        include_str!("fixtures/0013.sql"),
    ];

    /// A database with the current tables, and rows in them.
    fn filled() -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        migrate(&conn, MIGRATIONS).unwrap();
        conn.execute_batch(FIXTURES[FIXTURES.len() - 1]).unwrap();
        conn
    }

    #[test]
    fn a_database_of_every_earlier_version_is_read() {
        assert_eq!(FIXTURES.len(), MIGRATIONS.len(), "every version has a fixture");
        for (index, fixture) in FIXTURES.iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("old.db");
            let old = Connection::open(&path).unwrap();
            migrate(&old, &MIGRATIONS[..=index]).unwrap();
            old.execute_batch(fixture).unwrap();
            drop(old);

            let store = Store::open_read_only(&path).unwrap();
            let scores = store.scores(&ScoreFilter::default(), None, 100).unwrap();
            assert_eq!(scores.len(), 5, "version {}", index + 1);
            assert_eq!(scores[0].id.to_string(), "nightly.1:exact-match:0:0:capital-of-france");
            assert_eq!(scores[3].row.answer.error.as_ref().unwrap().kind, "trap");
            assert_eq!(store.latest_run().unwrap().unwrap().state, RunState::Finished);
        }
    }

    #[test]
    fn an_old_database_that_many_open_at_once_is_read_by_all() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..10 {
            let path = folder.path().join(format!("{round}.db"));
            let old = Connection::open(&path).unwrap();
            migrate(&old, &MIGRATIONS[..8]).unwrap();
            old.execute_batch(FIXTURES[7]).unwrap();
            drop(old);
            std::thread::scope(|scope| {
                for _ in 0..6 {
                    scope.spawn(|| {
                        let store = Store::open_read_only(&path).unwrap();
                        assert_eq!(store.runs(9).unwrap().len(), 1);
                    });
                }
            });
        }
    }

    #[test]
    fn a_stored_root_is_computed_as_it_was_by_the_version_that_stored_it() {
        for version in [4, 5, 6, 7, 8, 9, 10, 11, 12, 13] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("old.db");
            let old = Connection::open(&path).unwrap();
            migrate(&old, &MIGRATIONS[..version]).unwrap();
            old.execute_batch(FIXTURES[version - 1]).unwrap();
            drop(old);
            let store = Store::open_read_only(&path).unwrap();
            let run = store.latest_run().unwrap().unwrap();
            let size = (version >= 7).then(|| store.size_of_run(run.key).unwrap());
            assert_eq!(run.size_bytes, size, "version {version}");
            let root = store.run_root(run.key, |store, key| Ok(store.case_content(key)?.digest));
            assert_eq!(run.root, Some(root.unwrap()), "version {version}");
        }
    }

    /// Roots of version 1 are older than these columns, which have the values from the migration.
    #[test]
    fn what_an_older_root_does_not_cover_cannot_be_filled_in_later() {
        for change in [
            "UPDATE runs SET seed = 'x'",
            "UPDATE runs SET cases_bad = 1",
            "UPDATE scorers SET declared_severity = 'gate' WHERE scorer = 2",
            "UPDATE scorers SET declared_threshold = 0.5 WHERE scorer = 2",
            "UPDATE scorers SET softened = 1 WHERE scorer = 2",
            "UPDATE scorers SET weight = 2.0 WHERE scorer = 2",
            "UPDATE scorers SET required = 1 WHERE scorer = 2",
            "UPDATE scorers SET sampling_json = '{}' WHERE scorer = 2",
            "UPDATE scorers SET nodes_json = '[]' WHERE scorer = 2",
            "UPDATE scorers SET output_from = '/output' WHERE scorer = 2",
            "UPDATE cases SET skip_reason = '' WHERE ordinal = 1",
            "UPDATE cases SET error = '' WHERE ordinal = 1",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("old.db");
            let old = Connection::open(&path).unwrap();
            migrate(&old, &MIGRATIONS[..4]).unwrap();
            old.execute_batch(FIXTURES[3]).unwrap();
            migrate(&old, MIGRATIONS).unwrap();
            old.execute_batch(change).unwrap();
            drop(old);
            let store = Store::open_read_only(&path).unwrap();
            let run = store.latest_run().unwrap().unwrap();
            let root = store.run_root(run.key, |store, key| Ok(store.case_content(key)?.digest));
            assert_ne!(run.root, Some(root.unwrap()), "{change}");
        }
    }

    #[test]
    fn a_scorer_of_an_earlier_version_declares_what_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let old = Connection::open(&path).unwrap();
        migrate(&old, &MIGRATIONS[..4]).unwrap();
        old.execute_batch(FIXTURES[3]).unwrap();
        drop(old);
        let store = Store::open_read_only(&path).unwrap();
        let run = store.latest_run().unwrap().unwrap();
        assert_eq!(run.spec.seed, None);
        for scorer in store.scorers(run.key).unwrap() {
            let spec = scorer.spec;
            assert_eq!(spec.declared_severity, spec.severity);
            assert_eq!(spec.declared_threshold, spec.threshold);
            assert_eq!((spec.weight, spec.required, spec.softened), (1.0, false, false));
        }
    }

    #[test]
    fn a_script_that_fails_leaves_the_database_as_it_was() {
        let conn = Connection::open_in_memory().unwrap();
        migrate(&conn, MIGRATIONS).unwrap();
        let mut scripts = MIGRATIONS.to_vec();
        scripts.push("CREATE TABLE extra (a) STRICT; CREATE TABLE nonsense");
        assert!(migrate(&conn, &scripts).is_err());
        assert_eq!(content(&conn).unwrap(), Content::Ours(MIGRATIONS.len() as u32));
        assert!(conn.prepare("SELECT * FROM extra").is_err());
    }

    /// The columns that Smithers' document lists, in its order.
    #[test]
    fn the_smithers_view_has_exactly_the_16_columns() {
        let conn = filled();
        let mut view = conn.prepare("SELECT * FROM _smithers_scorers ORDER BY id").unwrap();
        let columns = "id run_id node_id iteration attempt scorer_id scorer_name source score \
                       reason meta_json input_json output_json latency_ms scored_at_ms duration_ms";
        assert_eq!(view.column_names().collect::<Vec<_>>().join(" "), columns);
        let ids: Vec<String> =
            view.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let scored =
            ["nightly.1:exact-match:0:0:capital-of-france", "nightly.1:exact-match:0:0:last"];
        assert_eq!(ids, scored, "scored rows and no others");
    }

    #[test]
    fn a_reused_row_names_the_one_that_it_is_a_copy_of() {
        let conn = filled();
        let origin: String = conn
            .query_row("SELECT reused_from FROM scores WHERE case_id = 'last'", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(origin, "nightly.1:exact-match:0:0:capital-of-france");
    }

    #[test]
    fn no_table_accepts_a_row_in_a_wrong_state() {
        let conn = filled();
        conn.pragma_update(None, "foreign_keys", true).unwrap();
        let sql = "UPDATE score_rows SET error_kind = NULL WHERE status = 'skipped'";
        assert_eq!(conn.execute(sql, []).unwrap(), 1, "the row is there");
        let refused = [
            ("a scored row without a score", "status = 'scored'"),
            ("a score in a row that is not scored", "score = 0.5"),
            ("an unknown status", "status = 'fine'"),
            ("an error without a kind", "status = 'error', error_message = 'x'"),
            ("an error without a message", "status = 'error', error_kind = 'x'"),
            ("an error's kind in another row", "error_kind = 'trap', error_message = 'x'"),
            ("assertions without a score", "assertions_json = '[]'"),
            ("an infinite score", "status = 'scored', score = 9e999"),
            ("a negative score", "status = 'scored', score = -0.5"),
            ("a score that is text", "status = 'scored', score = 'high'"),
            ("a case that is not there", "case_key = 1"),
            ("a scorer that is not there", "scorer = 99"),
            ("a session that is not there", "session = 99"),
            ("a digest of another length", "input_digest = x'00'"),
        ];
        for (what, set) in refused {
            let sql = format!("UPDATE score_rows SET {set} WHERE status = 'skipped'");
            let error = conn.execute(&sql, []).unwrap_err();
            let code = error.sqlite_error_code();
            assert_eq!(code, Some(rusqlite::ErrorCode::ConstraintViolation), "{what}: {error}");
        }
    }

    /// The rules of schema 9 have another form than those of schema 8.
    #[test]
    fn rules_that_were_rewritten_accept_the_same_rows() {
        let [before, after] = [8, 9].map(|version| {
            let conn = Connection::open_in_memory().unwrap();
            migrate(&conn, &MIGRATIONS[..version]).unwrap();
            conn.execute_batch(FIXTURES[version - 1]).unwrap();
            conn
        });
        let values: [&[&str]; 8] = [
            &["'scored'", "'not-applicable'", "'skipped'", "'error'", "'fine'"],
            &["NULL", "-0.5", "0.0", "1.7976931348623157e308", "9e999"],
            &["NULL", "'trap'"],
            &["NULL", "'x'"],
            &["NULL", "'[]'"],
            &[
                "fuel = NULL, memory_bytes = NULL",
                "fuel = 0, memory_bytes = 0",
                "fuel = -1",
                "memory_bytes = -1",
            ],
            &["0.0", "-1.0"],
            &["NULL", "zeroblob(32)", "x'00'"],
        ];
        let (mut accepted, mut refused) = (0, 0);
        for mut number in 0..values.iter().map(|all| all.len()).product() {
            let [status, score, kind, message, assertions, cost, duration, digest] =
                values.map(|all| {
                    let chosen = all[number % all.len()];
                    number /= all.len();
                    chosen
                });
            let update = format!(
                "UPDATE score_rows SET status = {status}, score = {score}, error_kind = {kind}, error_message = {message},
                     assertions_json = {assertions}, {cost}, duration_ms = {duration}, input_digest = {digest}
                 WHERE case_key = (1 << 40) + 1 AND scorer = 1"
            );
            let [then, now] = [&before, &after].map(|conn| {
                conn.execute_batch("SAVEPOINT update_one").unwrap();
                let changed = conn.execute(&update, []);
                conn.execute_batch("ROLLBACK TO update_one").unwrap();
                changed.is_ok_and(|rows| rows == 1)
            });
            assert_eq!(then, now, "{update}");
            *if now { &mut accepted } else { &mut refused } += 1;
        }
        assert!(accepted > 10 && refused > 1000, "{accepted} accepted, {refused} refused");
    }
}
