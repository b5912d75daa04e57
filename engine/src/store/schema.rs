//! The versions of the tables: which one a file has, and the way from an older one to this build's.
//! Opens no file and reads no row.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// `PRAGMA application_id` of every database of scorebox: the bytes `SBOX`. `file(1)` shows it.
pub(super) const APPLICATION_ID: i64 = 0x5342_4F58;

/// The scripts that lead from an empty file to this build's tables; script N makes version N of
/// version N - 1. A script that was released is never edited.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
];

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Nothing at all.
    Nothing,
    /// Our tables, of this version (1 or more).
    Ours(u32),
    /// Somebody else's.
    Foreign,
}

/// Looks at what the open file holds; changes nothing.
pub(super) fn content(conn: &Connection) -> rusqlite::Result<Content> {
    // In one transaction, or another process creates the tables between two of these questions.
    let look = Transaction::new_unchecked(conn, TransactionBehavior::Deferred)?;
    let application: i64 = look.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = version(&look)?;
    let objects: i64 =
        look.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    // A view of a name that we read from could take for ever.
    let strange: i64 = look.query_row(
        "SELECT count(*) FROM sqlite_schema
         WHERE type = 'view' AND name NOT IN ('scores', '_smithers_scorers')",
        [],
        |row| row.get(0),
    )?;
    Ok(match (application, version, objects) {
        _ if strange > 0 => Content::Foreign,
        (APPLICATION_ID, 1.., _) => Content::Ours(version),
        (0, 0, 0) => Content::Nothing,
        _ => Content::Foreign,
    })
}

/// Runs the scripts that the file has not seen, in one transaction. Two processes may do this at
/// once: the second waits, looks again and finds nothing to do.
pub(super) fn migrate(conn: &Connection, scripts: &[&str]) -> rusqlite::Result<()> {
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

    /// What each released version wrote, in the order of [`MIGRATIONS`].
    const FIXTURES: &[&str] = &[
        include_str!("fixtures/0001.sql"),
        include_str!("fixtures/0002.sql"),
        include_str!("fixtures/0003.sql"),
    ];

    /// A database with today's tables, and rows in them.
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
            assert_eq!(scores[3].error_kind.as_deref(), Some("trap"));
            assert_eq!(store.latest_run().unwrap().unwrap().state, RunState::Finished);
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

    /// What Smithers' document lists, in its order.
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
            assert!(conn.execute(&sql, []).is_err(), "{what}");
        }
    }
}
