//! Changes of a database, one on each line: words that name a change and its object. A word that does not name an
//! object of the required kind selects some such object, so that every line of every input changes something. Checks
//! nothing.
//!
//! | line                          | change                                                                      |
//! |-------------------------------|-----------------------------------------------------------------------------|
//! | `byte PLACE VALUE`            | a byte of the file                                                          |
//! | `page PAGE PLACE VALUE`       | a byte of a page                                                            |
//! | `copy PAGE PAGE`              | overwrites one page with another                                            |
//! | `cut BYTES`                   | the file ends there                                                         |
//! | `circle TABLE LEVELS`         | the table's pages lead to its rows by hundreds of ways on each level; last  |
//! | `with SETTING VALUE`          | sets `foreign_keys` or `ignore_check_constraints`, for the lines below      |
//! | `set COLUMN ROW VALUE`        | a value of the row at an index, or of all rows (`*`)                        |
//! | `exchange COLUMN ROW ROW`     | the values of two rows                                                      |
//! | `delete TABLE ROW`            | a row                                                                       |
//! | `double TABLE ROW KEY`        | a copy of a row, under another key                                          |
//! | `forge ROW OUTPUT`            | a case's output, with the digests that match it                             |
//! | `make STATEMENT`              | triggers, views, indexes, columns: one of [`STATEMENTS`]                    |
//! | `pragma NAME VALUE`           | one of [`PRAGMAS`]                                                          |
//! | `schema OBJECT COLUMN VALUE`  | the schema's own table                                                      |
//! | `roots OBJECT OBJECT`         | exchanges the root pages of two objects                                     |

use std::{
    fs,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, params, types::Value};
use scorebox::{
    case::{Case, Key},
    contract::{Field, Fields},
};

/// The most lines that are read of an input.
const MAX_CHANGES: usize = 16;
/// The most steps of SQLite's virtual machine that one change may take.
const MAX_STEPS: i32 = 2_000_000;
/// The most bytes that the file may grow to.
const MAX_BYTES: usize = 4 << 20;

/// Statements that change the schema or its objects, by the words that name them.
const STATEMENTS: [(&str, &str); 22] = [
    (
        "trigger",
        "CREATE TRIGGER t AFTER INSERT ON score_rows BEGIN UPDATE score_rows SET score = 1.0; END",
    ),
    ("trigger-of-runs", "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM score_rows; END"),
    (
        "trigger-that-ignores",
        "CREATE TRIGGER t BEFORE INSERT ON score_rows BEGIN SELECT RAISE(IGNORE); END",
    ),
    (
        "trigger-of-a-view",
        "CREATE TRIGGER t INSTEAD OF INSERT ON scores BEGIN DELETE FROM cases; END",
    ),
    ("view", "CREATE VIEW extra AS SELECT 1"),
    ("changed-view", "DROP VIEW scores; CREATE VIEW scores AS SELECT 1"),
    (
        "view-as-table",
        "ALTER TABLE score_rows RENAME TO r; CREATE VIEW score_rows AS SELECT * FROM r",
    ),
    ("index", "CREATE INDEX extra ON cases (digest)"),
    ("index-of-an-expression", "CREATE INDEX extra ON score_rows (score + 1)"),
    ("no-index", "DROP INDEX cases_by_node"),
    ("other-index", "DROP INDEX cases_by_node; CREATE INDEX cases_by_node ON cases (output)"),
    ("table", "CREATE TABLE extra (a)"),
    ("no-table", "DROP TABLE summaries"),
    ("virtual-table", "CREATE VIRTUAL TABLE extra USING fts5 (a)"),
    ("column", "ALTER TABLE cases ADD COLUMN extra TEXT DEFAULT 'x'"),
    (
        "generated-column",
        "ALTER TABLE cases ADD COLUMN huge TEXT AS (printf('%.*c', 200000000, 'x'))",
    ),
    ("renamed-column", "ALTER TABLE cases RENAME COLUMN output TO other"),
    ("no-column", "ALTER TABLE runs DROP COLUMN root_version"),
    ("statistics", "ANALYZE"),
    ("vacuum", "VACUUM"),
    ("reindex", "REINDEX"),
    ("without-roots", "UPDATE runs SET root = NULL, root_version = NULL"),
];

const PRAGMAS: [&str; 8] = [
    "user_version",
    "application_id",
    "page_size",
    "auto_vacuum",
    "journal_mode",
    "schema_version",
    "encoding",
    "secure_delete",
];

const SETTINGS: [&str; 2] = ["foreign_keys", "ignore_check_constraints"];

const SCHEMA_COLUMNS: [&str; 5] = ["type", "name", "tbl_name", "rootpage", "sql"];

/// The tables with the columns that name a row.
const TABLES: [(&str, &str); 7] = [
    ("score_rows", "case_key, scorer"),
    ("cases", "case_key"),
    ("runs", "run"),
    ("scorers", "scorer"),
    ("sessions", "session"),
    ("components", "component"),
    ("summaries", "scorer"),
];

/// The files that SQLite keeps beside a database.
pub(super) fn beside(path: &Path) -> [PathBuf; 3] {
    ["-wal", "-shm", "-journal"].map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    })
}

/// Writes a database to `path`: `base` with the changes that the bytes name.
pub(super) fn make(path: &Path, base: &[u8], data: &[u8]) {
    for file in beside(path).iter().map(PathBuf::as_path).chain([path]) {
        let _ = fs::remove_file(file);
    }
    fs::write(path, base).unwrap();
    let text = String::from_utf8_lossy(data);
    let mut changing = Changing { path, conn: None };
    let lines = text.lines().filter(|line| !line.is_empty()).take(MAX_CHANGES).map(Words::of);
    // A statement that counts pages in a circle would never end, so circles are made last.
    let (circles, others): (Vec<_>, Vec<_>) = lines.partition(|words| kind(words) == "circle");
    for words in others.iter().chain(&circles) {
        // A change that SQLite refuses changes nothing.
        let _ = changing.make(words);
    }
}

/// The kind of change that a line makes.
fn kind(words: &Words<'_>) -> &'static str {
    const KINDS: [&str; 15] = [
        "byte", "page", "copy", "cut", "circle", "with", "set", "exchange", "delete", "double",
        "forge", "make", "pragma", "schema", "roots",
    ];
    KINDS[words.choice(0, KINDS)]
}

struct Changing<'a> {
    path: &'a Path,
    /// Kept open between consecutive statements.
    conn: Option<Connection>,
}

impl Changing<'_> {
    fn make(&mut self, words: &Words<'_>) -> rusqlite::Result<()> {
        match kind(words) {
            "byte" => self.bytes(|bytes| {
                let place = words.place(1, bytes.len());
                bytes[place] = words.number(2) as u8;
            }),
            "page" => self.bytes(|bytes| {
                let size = page_size(bytes);
                let start = words.place(1, bytes.len() / size) * size;
                bytes[start + words.place(2, size)] = words.number(3) as u8;
            }),
            "copy" => self.bytes(|bytes| {
                let size = page_size(bytes);
                let [from, to] = [1, 2].map(|word| words.place(word, bytes.len() / size) * size);
                bytes.copy_within(from..from + size, to);
            }),
            "cut" => self.bytes(|bytes| bytes.truncate(words.place(1, bytes.len()))),
            "circle" => return self.circle(words),
            "with" => {
                let setting = SETTINGS[words.choice(1, SETTINGS)];
                return self.conn()?.pragma_update(None, setting, words.number(2) & 1);
            }
            "set" => return self.set(words),
            "exchange" => return self.exchange(words),
            "delete" => {
                let (table, key) = TABLES[words.choice(1, TABLES.map(|(table, _)| table))];
                let rows = self.rows(table, key, words, 2)?;
                return self.execute(&format!("DELETE FROM {table}{rows}"));
            }
            "double" => return self.double(words),
            "forge" => return self.forge(words),
            "make" => {
                let (_, sql) = STATEMENTS[words.choice(1, STATEMENTS.map(|(name, _)| name))];
                return self.execute(sql);
            }
            "pragma" => return self.pragma(words),
            "schema" => return self.schema(words),
            _ => return self.exchange_roots(words),
        }
        Ok(())
    }

    /// Changes the file itself.
    fn bytes(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        self.conn = None;
        let Ok(mut bytes) = fs::read(self.path) else { return };
        if (512..MAX_BYTES).contains(&bytes.len()) {
            change(&mut bytes);
            fs::write(self.path, bytes).unwrap();
        }
    }

    fn conn(&mut self) -> rusqlite::Result<&Connection> {
        if self.conn.is_none() {
            let mut conn = Connection::open(self.path)?;
            let mut looks = 0;
            conn.progress_handler(
                1000,
                Some(move || {
                    looks += 1;
                    looks > MAX_STEPS / 1000
                }),
            )?;
            self.conn = Some(conn);
        }
        Ok(self.conn.as_ref().expect("just opened"))
    }

    fn execute(&mut self, sql: &str) -> rusqlite::Result<()> {
        self.conn()?.execute_batch(sql)
    }

    /// The condition that selects the row that a word names, or all rows.
    fn rows(
        &mut self,
        table: &str,
        key: &str,
        words: &Words<'_>,
        word: usize,
    ) -> rusqlite::Result<String> {
        if words.get(word) == "*" {
            return Ok(String::new());
        }
        // Counts row by row: a plain count is a single step, which the limit on steps cannot interrupt.
        let count = format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1000000)");
        let count: i64 = self.conn()?.query_row(&count, [], |row| row.get(0))?;
        let place = words.place(word, usize::try_from(count).unwrap_or(0));
        Ok(format!(
            " WHERE ({key}) = (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET {place})"
        ))
    }

    /// The table and the column that a word names.
    fn column(
        &mut self,
        words: &Words<'_>,
        word: usize,
    ) -> rusqlite::Result<(&'static str, &'static str, String)> {
        let mut columns = Vec::new();
        for (table, key) in TABLES {
            for column in self.columns(table)? {
                columns.push((table, key, column));
            }
        }
        let names: Vec<String> =
            columns.iter().map(|(table, _, column)| format!("{table}.{column}")).collect();
        let place = words.choice(word, names.iter().map(String::as_str));
        columns.into_iter().nth(place).ok_or(rusqlite::Error::QueryReturnedNoRows)
    }

    fn columns(&mut self, table: &str) -> rusqlite::Result<Vec<String>> {
        let mut query = self.conn()?.prepare("SELECT name FROM pragma_table_info(?1)")?;
        query.query_map([table], |row| row.get(0))?.collect()
    }

    fn set(&mut self, words: &Words<'_>) -> rusqlite::Result<()> {
        let (table, key, column) = self.column(words, 1)?;
        let rows = self.rows(table, key, words, 2)?;
        let sql = format!("UPDATE {table} SET {column} = ?1{rows}");
        self.conn()?.execute(&sql, [words.value(3)]).map(drop)
    }

    fn exchange(&mut self, words: &Words<'_>) -> rusqlite::Result<()> {
        let (table, key, column) = self.column(words, 1)?;
        let [first, second] = [self.rows(table, key, words, 2)?, self.rows(table, key, words, 3)?];
        let value = |conn: &Connection, rows: &str| {
            conn.query_row(&format!("SELECT {column} FROM {table}{rows}"), [], |row| {
                row.get::<_, Value>(0)
            })
        };
        let conn = self.conn()?;
        let values = [value(conn, &first)?, value(conn, &second)?];
        // Sets one value aside first, because a column may require unique values.
        let aside = Value::Text("aside".into());
        let [first_value, second_value] = values;
        for (rows, value) in [(&first, aside), (&second, first_value), (&first, second_value)] {
            let set = conn.execute(&format!("UPDATE {table} SET {column} = ?1{rows}"), [value]);
            // A column that refuses this text does not need that step.
            if set.is_err() && rows != &first {
                return set.map(drop);
            }
        }
        Ok(())
    }

    fn double(&mut self, words: &Words<'_>) -> rusqlite::Result<()> {
        let (table, key) = TABLES[words.choice(1, TABLES.map(|(table, _)| table))];
        let rows = self.rows(table, key, words, 2)?;
        let first = key.split(',').next().unwrap_or(key);
        let columns = self.columns(table)?;
        let taken: Vec<&str> =
            columns.iter().map(|column| if column == first { "?1" } else { column }).collect();
        let sql = format!(
            "INSERT INTO {table} ({}) SELECT {} FROM {table}{rows}",
            columns.join(","),
            taken.join(",")
        );
        self.conn()?.execute(&sql, [words.number(3)]).map(drop)
    }

    /// Changes a case's output like someone who knows how the digests are made.
    fn forge(&mut self, words: &Words<'_>) -> rusqlite::Result<()> {
        let rows = self.rows("cases", "case_key", words, 1)?;
        let Ok(case) = Case::builder().json(Key::Output, words.rest(2)).build() else {
            return Ok(());
        };
        let conn = self.conn()?;
        conn.execute(
            &format!("UPDATE cases SET output = ?1, digest = ?2, ground_truth = NULL, latency_ms = NULL{rows}"),
            params![case.output(), case.digest().as_bytes().as_slice()],
        )?;
        let input = case.scorer_input(Fields::from_iter([Field::GroundTruth])).digest(None);
        let sql = format!(
            "UPDATE score_rows SET input_digest = ?1 WHERE case_key IN (SELECT case_key FROM cases{rows})"
        );
        conn.execute(&sql, [input.as_bytes().as_slice()]).map(drop)
    }

    fn pragma(&mut self, words: &Words<'_>) -> rusqlite::Result<()> {
        let name = PRAGMAS[words.choice(1, PRAGMAS)];
        const MODES: [&str; 5] = ["delete", "truncate", "persist", "memory", "wal"];
        let value = match name {
            "journal_mode" => MODES[words.choice(2, MODES)].to_owned(),
            "encoding" => "'UTF-16le'".to_owned(),
            "page_size" => (512 << (words.number(2).unsigned_abs() % 8)).to_string(),
            _ => words.number(2).to_string(),
        };
        self.execute(&format!("PRAGMA {name} = {value}"))?;
        // Both take effect when the file is rewritten without a log.
        match name {
            "page_size" | "auto_vacuum" => self
                .execute(&format!("PRAGMA journal_mode = delete; PRAGMA {name} = {value}; VACUUM")),
            _ => Ok(()),
        }
    }

    fn objects(&mut self) -> rusqlite::Result<Vec<String>> {
        let mut query = self.conn()?.prepare("SELECT name FROM sqlite_schema ORDER BY rowid")?;
        query.query_map([], |row| row.get(0))?.take(100).collect()
    }

    fn schema(&mut self, words: &Words<'_>) -> rusqlite::Result<()> {
        let objects = self.objects()?;
        let chosen = words.choice(1, objects.iter().map(String::as_str));
        // The schema may be empty after a page was copied over it.
        let Some(object) = objects.get(chosen) else { return Ok(()) };
        let column = SCHEMA_COLUMNS[words.choice(2, SCHEMA_COLUMNS)];
        self.write_schema(
            &format!("UPDATE sqlite_schema SET {column} = ?1 WHERE name = ?2"),
            params![words.value(3), object],
        )
    }

    fn exchange_roots(&mut self, words: &Words<'_>) -> rusqlite::Result<()> {
        let objects = self.objects()?;
        if objects.is_empty() {
            return Ok(());
        }
        let [one, other] =
            [1, 2].map(|word| &objects[words.choice(word, objects.iter().map(String::as_str))]);
        let sql = "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema AS s
                       WHERE s.name = iif(sqlite_schema.name = ?1, ?2, ?1)) WHERE name IN (?1, ?2)";
        self.write_schema(sql, params![one, other])
    }

    fn write_schema(&mut self, sql: &str, values: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<()> {
        let conn = self.conn()?;
        conn.pragma_update(None, "writable_schema", true)?;
        conn.execute(sql, values)?;
        // Closes the connection, so that the next one reads the changed schema.
        self.conn = None;
        Ok(())
    }

    /// Makes the table's first page point to a page that points to a page, each about a hundred times; the last one
    /// points to the rows.
    fn circle(&mut self, words: &Words<'_>) -> rusqlite::Result<()> {
        let (table, _) = TABLES[words.choice(1, TABLES.map(|(table, _)| table))];
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1 AND type = 'table'";
        let root: u32 = match words.get(1) {
            "sqlite_schema" => 1,
            _ => self.conn()?.query_row(sql, [table], |row| row.get(0))?,
        };
        let levels = 1 + words.place(2, 4);
        self.bytes(|bytes| {
            let size = page_size(bytes);
            let pages = bytes.len() / size;
            // The first page of the schema also contains the header of the file.
            let Some(start) =
                (root as usize).checked_sub(1).filter(|start| *start > 0 && *start < pages)
            else {
                return;
            };
            let first = bytes[start * size..(start + 1) * size].to_vec();
            let is_table = first[0] == 13;
            let next = |level: usize| (pages + level + 1) as u32;
            bytes[start * size..(start + 1) * size].copy_from_slice(&page_of_pointers(
                next(0),
                size,
                is_table,
            ));
            for level in 1..levels {
                bytes.extend(page_of_pointers(next(level), size, is_table));
            }
            bytes.extend(first);
            let count = (bytes.len() / size) as u32;
            bytes[28..32].copy_from_slice(&count.to_be_bytes());
        });
        Ok(())
    }
}

/// A page of a tree (SQLite's file format, section 1.6) that points to page `child` about a hundred times.
fn page_of_pointers(child: u32, bytes: usize, is_table: bool) -> Vec<u8> {
    // A cell is a page number and, in a table, the greatest key below it, here 2^63 - 1; in an index, a row of one
    // NULL.
    let key: &[u8] =
        if is_table { &[0xBF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] } else { &[2, 2, 0] };
    let pointer = [&child.to_be_bytes()[..], key].concat();
    let (cells, cell) = (bytes / 7, bytes - pointer.len());
    let mut page = vec![0; bytes];
    page[0] = if is_table { 5 } else { 2 };
    page[3..5].copy_from_slice(&(cells as u16).to_be_bytes());
    page[5..7].copy_from_slice(&(cell as u16).to_be_bytes());
    page[8..12].copy_from_slice(&child.to_be_bytes());
    for place in page[12..12 + 2 * cells].chunks_mut(2) {
        place.copy_from_slice(&(cell as u16).to_be_bytes());
    }
    page[cell..].copy_from_slice(&pointer);
    page
}

/// The page size in the header; if the header has none, the size of the file.
fn page_size(bytes: &[u8]) -> usize {
    match usize::from(u16::from_be_bytes([bytes[16], bytes[17]])) {
        size @ 512..=32768 if size.is_power_of_two() && size <= bytes.len() => size,
        _ => 512,
    }
}

/// The words of a line.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Words<'a> {
        Words(line)
    }

    fn get(&self, word: usize) -> &'a str {
        self.0.split(' ').nth(word).unwrap_or_default()
    }

    /// The rest of the line from a word on.
    fn rest(&self, word: usize) -> &'a str {
        self.0.splitn(word + 1, ' ').nth(word).unwrap_or_default()
    }

    /// The index of the name that a word is; if it is not a name, some index.
    fn choice<'n>(&self, word: usize, names: impl IntoIterator<Item = &'n str>) -> usize {
        let names: Vec<&str> = names.into_iter().collect();
        let word = self.get(word);
        let any = || some_number(word).unsigned_abs() as usize % names.len().max(1);
        names.iter().position(|name| *name == word).unwrap_or_else(any)
    }

    fn number(&self, word: usize) -> i64 {
        let word = self.get(word);
        word.parse().unwrap_or_else(|_| some_number(word))
    }

    /// An index into something of this length.
    fn place(&self, word: usize, length: usize) -> usize {
        self.number(word).unsigned_abs() as usize % length.max(1)
    }

    /// The value in the rest of the line: `null`, a number, `x` and hexadecimal digits, or text.
    fn value(&self, word: usize) -> Value {
        let text = self.rest(word);
        if text == "null" {
            return Value::Null;
        }
        if let Ok(number) = text.parse::<i64>() {
            return Value::Integer(number);
        }
        if let Ok(number) = text.parse::<f64>() {
            return Value::Real(number);
        }
        let digits =
            text.strip_prefix('x').filter(|digits| digits.is_ascii() && digits.len() % 2 == 0);
        let bytes = digits.and_then(|digits| {
            let pair = |place: usize| u8::from_str_radix(&digits[place..place + 2], 16).ok();
            (0..digits.len()).step_by(2).map(pair).collect::<Option<Vec<u8>>>()
        });
        bytes.map_or_else(|| Value::Text(text.to_owned()), Value::Blob)
    }
}

/// A number that is derived from a word (FNV-1a).
fn some_number(word: &str) -> i64 {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    word.bytes().fold(0xcbf2_9ce4_8422_2325, hash) as i64
}
