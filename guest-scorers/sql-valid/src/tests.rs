//! sql-valid, as a specification.

use serde_json::Value;

use super::*;

fn score(config: Value, output: &str) -> Score {
    let scorer: SqlValid = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output))).unwrap()
}

fn valid(config: Value, output: &str) -> bool {
    score(config, output).score == Some(1.0)
}

#[test]
fn a_statement_counts() {
    let statements = [
        "SELECT id, name FROM users",
        "select count(*) from a join b on a.x = b.x where a.y in (1, 2) group by z having z > 1;",
        "INSERT INTO t (a) VALUES (1), (2)",
        "WITH x AS (SELECT 1) SELECT * FROM x -- done",
        "CREATE TABLE t (a INT PRIMARY KEY); DROP TABLE t;",
    ];
    for statement in statements {
        assert!(valid(json!({}), statement), "{statement}");
    }
    let two = score(json!({}), "SELECT 1; SELECT 2");
    assert_eq!(two.reason.as_deref(), Some("2 SQL statements"));
    assert_eq!(two.meta_value(), Some(json!({"statements": 2})));
}

#[test]
fn pragmas_of_sqlite_take_words_and_signed_numbers() {
    let sqlite = || json!({"dialect": "sqlite"});
    for pragma in [
        "PRAGMA table_info(t)",
        "pragma main.table_info ( users ); SELECT 1",
        "PRAGMA journal_mode = WAL;",
        "PRAGMA cache_size=-2000",
        "PRAGMA foreign_keys = ON",
        "PRAGMA index_list('t')",
        "PRAGMA user_version",
    ] {
        assert!(valid(sqlite(), pragma), "{pragma}");
    }
    for wrong in ["PRAGMA", "PRAGMA table_info(t", "PRAGMA table_info(a b)", "PRAGMA x = -y"] {
        assert!(!valid(sqlite(), wrong), "{wrong}");
    }
}

#[track_caller]
fn all_valid(dialect: &str, statements: &[&str]) {
    for statement in statements {
        let score = score(json!({ "dialect": dialect }), statement);
        assert_eq!(score.score, Some(1.0), "{statement}: {:?}", score.reason);
    }
}

#[track_caller]
fn none_valid(dialect: &str, statements: &[&str]) {
    for statement in statements {
        assert!(!valid(json!({ "dialect": dialect }), statement), "{statement}");
    }
}

#[test]
fn sqlite_compares_with_is_and_negates_all_operators() {
    all_valid(
        "sqlite",
        &[
            "SELECT * FROM t WHERE a IS NOT b AND c = 1",
            "SELECT a IS b, a IS 'x', a IS (SELECT 1) FROM t",
            "SELECT a IS NULL, a IS NOT NULL, a IS NOT TRUE FROM t",
            "SELECT a IS NOT DISTINCT FROM b FROM t",
            "SELECT * FROM t WHERE name NOT GLOB 'x*' OR a NOT MATCH 'y'",
            "SELECT NOT GLOB('x*', a) FROM t",
            "SELECT * FROM t INDEXED BY i WHERE a = 1",
            "DELETE FROM t NOT INDEXED WHERE a = 1",
            "REINDEX",
            "REINDEX main.t; SELECT 1",
        ],
    );
    none_valid(
        "sqlite",
        &[
            "SELECT a IS NOT",
            "SELECT a IS = b FROM t",
            "SELECT * FROM t WHERE NOT GLOB 'x'",
            "SELECT * FROM t INDEXED BY",
            "REINDEX a b",
        ],
    );
}

#[test]
fn bits_are_shifted_where_the_dialect_does() {
    for dialect in ["sqlite", "bigquery", "mssql", "databricks", "mysql", "postgresql", "duckdb"] {
        all_valid(dialect, &["SELECT a<<1, (b >> 2) + 1 FROM t WHERE c >> 3 = 1"]);
        none_valid(dialect, &["SELECT a <<", "SELECT << 1"]);
    }
    none_valid("snowflake", &["SELECT a << 1"]);
    all_valid(
        "bigquery",
        &[
            "SELECT CAST(a AS ARRAY<STRUCT<x ARRAY<INT64>>>) >> 1, b >> 2 FROM t",
            "SELECT STRUCT<a ARRAY<INT64>>([1]), a >> 1",
            "CREATE TABLE d.t (a ARRAY<STRUCT<b INT64>>)",
        ],
    );
}

#[test]
fn statements_of_postgresql_with_a_text_inside_are_not_looked_into() {
    all_valid(
        "postgresql",
        &[
            "DO $$ BEGIN PERFORM f(); END $$",
            "DO $x$ BEGIN END $x$ LANGUAGE plpgsql; SELECT 1",
            "DO LANGUAGE plpgsql 'BEGIN END'",
            "REFRESH MATERIALIZED VIEW v",
            "REFRESH MATERIALIZED VIEW CONCURRENTLY s.v WITH NO DATA;",
        ],
    );
    none_valid(
        "postgresql",
        &[
            "DO",
            "DO $$ BEGIN END $$, 2",
            "DO BEGIN END",
            "REFRESH VIEW v",
            "REFRESH MATERIALIZED VIEW",
            "REFRESH MATERIALIZED VIEW v WITH",
            "SELECT 1 DO $$ $$",
        ],
    );
    let two = score(json!({"dialect": "postgresql"}), "DO $$ $$; REFRESH MATERIALIZED VIEW v");
    assert_eq!(two.meta_value(), Some(json!({"statements": 2})));
}

#[test]
fn go_on_a_line_of_its_own_ends_a_batch_of_sql_server() {
    let two = score(json!({"dialect": "mssql"}), "SELECT 1\nGO\nSELECT go FROM t\ngo");
    assert_eq!(two.meta_value(), Some(json!({"statements": 2})), "{:?}", two.reason);
    none_valid("mssql", &["GO", "SELECT 1 FROM\nGO\n"]);
    none_valid("generic", &["SELECT 1\nGO\nSELECT 2"]);
}

#[test]
fn anything_else_does_not() {
    for text in [
        "",
        "-- nothing",
        "SELECT * FORM users",
        "SELECT (1",
        "Here is the query: SELECT 1",
        "SELECT 'a",
    ] {
        assert!(!valid(json!({}), text), "{text}");
    }
    assert_eq!(
        score(json!({}), " ").reason.as_deref(),
        Some("not valid SQL: there is no statement")
    );
    let wrong = score(json!({}), "SELECT * FORM users").reason.unwrap();
    assert!(wrong.starts_with("not valid SQL: "), "{wrong}");
}

#[test]
fn the_dialect_decides() {
    let backticks = "SELECT `id` FROM `users`";
    assert!(valid(json!({"dialect": "mysql"}), backticks));
    assert!(!valid(json!({"dialect": "postgresql"}), backticks));
    let top = "SELECT TOP 10 [name] FROM [users]";
    assert!(valid(json!({"dialect": "mssql"}), top));
    let names = [
        "generic",
        "ansi",
        "bigquery",
        "clickhouse",
        "databricks",
        "duckdb",
        "hive",
        "mssql",
        "mysql",
        "oracle",
        "postgresql",
        "redshift",
        "snowflake",
        "sqlite",
    ];
    for name in names {
        assert!(valid(json!({"dialect": name}), "SELECT a FROM b WHERE c = 1"), "{name}");
    }
    let error = scorebox_sdk::configure::<SqlValid>(json!({"dialect": "postgres"})).err().unwrap();
    assert!(error.to_string().contains("did you mean `postgresql`?"), "{error}");
}

#[test]
fn code_blocks_are_looked_at_where_asked() {
    let text = "Use this:\n```sql\nSELECT 1\n```\nor\n~~~\nSELECT 2;\n~~~\n";
    assert!(!valid(json!({}), text));
    assert!(valid(json!({"at": "fenced"}), text));
    assert!(!valid(json!({"at": "fenced"}), "```sql\nSELEC 1\n```"));
    // One valid block is enough.
    assert!(valid(json!({"at": "fenced"}), "```\nnot this\n```\n```SQL\nSELECT 1\n```"));
    // Other languages are ignored; without a block, the whole text must be SQL.
    assert!(!valid(json!({"at": "fenced"}), "```python\nSELECT 1\n```"));
    assert!(valid(json!({"at": "fenced"}), "SELECT 1"));
}

#[test]
fn negate_turns_the_score_around() {
    assert!(valid(json!({"negate": true}), "prose"));
    assert!(!valid(json!({"negate": true}), "SELECT 1"));
}

fn refusal(config: Value, output: &str) -> String {
    let scorer: SqlValid = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output))).unwrap_err().message().to_owned()
}

/// Runs assertions with as much stack as a component has.
fn in_a_components_stack(assertions: fn()) {
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    thread.spawn(assertions).unwrap().join().unwrap();
}

const TOO_DEEP: &str = "the SQL in `output` is not parsed: it nests more than 50 deep";
const TOO_LONG: &str = "the SQL in `output` is not parsed: it chains more than 2000 operators (a join \
                        counts as 16, brackets as 9)";

#[test]
fn what_nests_too_deep_is_not_parsed() {
    let deep = |depth| format!("SELECT {}1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(valid(json!({}), &deep(10)));
    assert_eq!(refusal(json!({}), &deep(60)), TOO_DEEP);
    assert_eq!(refusal(json!({}), &deep(10_000)), TOO_LONG);
    // Nor is it known not to be SQL.
    assert_eq!(refusal(json!({"negate": true}), &deep(60)), TOO_DEEP);
}

#[test]
fn chains_are_parsed_in_the_stack_that_there_is() {
    in_a_components_stack(|| {
        let sum = |terms| vec!["1"; terms].join("+");
        assert!(valid(json!({}), &format!("SELECT {}", sum(2000))));
        // The parsed part of an incomplete statement is freed too.
        assert!(!valid(json!({}), &format!("SELECT {}+", sum(2000))));
        assert!(!valid(json!({}), &format!("SELECT {}; nonsense", sum(2000))));
        let unions = vec!["SELECT 1, 2"; 2000].join(" UNION ");
        assert!(valid(json!({}), &unions));
        assert!(!valid(json!({}), &format!("{unions} nonsense 1")));
        assert!(!valid(json!({}), &format!("CREATE TABLE t (a int{} 1)", "[]".repeat(1900))));
    });
}

#[test]
fn longer_chains_are_not_parsed() {
    in_a_components_stack(|| {
        let sum = |terms| vec!["1"; terms].join("+");
        for sql in [
            format!("SELECT {}", sum(20_000)),
            format!("SELECT {}+", sum(20_000)),
            format!("SELECT {}; nonsense", sum(5000)),
            format!("nonsense; SELECT {}", sum(5000)),
            format!("SELECT a WHERE {}", vec!["a = 1"; 5000].join(" AND ")),
            format!("SELECT a, {} FROM b", sum(5000)),
            format!("SELECT ({}), 1", sum(5000)),
            vec!["SELECT 1, 2"; 5000].join(" UNION "),
            format!("CREATE TABLE t (a int{})", "[]".repeat(5000)),
        ] {
            assert_eq!(refusal(json!({}), &sql), TOO_LONG);
        }
        // For these, the parser itself recurses.
        let joins = format!("SELECT * FROM a{}", " JOIN b".repeat(1000));
        assert_eq!(refusal(json!({"dialect": "snowflake"}), &joins), TOO_LONG);
        let pattern = format!("{}a{}", "(".repeat(2000), ")".repeat(2000));
        let pattern = format!("SELECT * FROM a MATCH_RECOGNIZE(PATTERN ({pattern}) DEFINE a AS 1)");
        assert_eq!(refusal(json!({"dialect": "snowflake"}), &pattern), TOO_LONG);
    });
}

#[test]
fn what_stands_side_by_side_is_not_a_chain() {
    let rows = vec!["(1, -2, lower('a' || 'b'))"; 5000].join(", ");
    assert!(valid(json!({}), &format!("INSERT INTO t VALUES {rows}")));
    let columns = vec!["a.b + 1 AS c"; 5000].join(", ");
    assert!(valid(json!({}), &format!("SELECT {columns} FROM a")));
    assert!(valid(json!({}), &format!("SELECT 1 WHERE a IN ({})", vec!["-1"; 5000].join(", "))));
    assert!(valid(json!({}), &"SELECT 1 + 1;".repeat(5000)));
    let joins = " JOIN b ON a.x = b.x AND a.y = b.y".repeat(90);
    assert!(valid(json!({}), &format!("SELECT * FROM a{joins}")));
}

#[test]
fn a_block_that_is_not_parsed_is_an_error_where_none_parses() {
    let block = |sql: &str| format!("```sql\n{sql}\n```\n");
    let long = block(&format!("SELECT {}", vec!["1"; 5000].join("+")));
    let fenced = json!({"at": "fenced"});
    assert!(valid(fenced.clone(), &format!("{long}{}", block("SELECT 1"))));
    assert_eq!(refusal(fenced.clone(), &format!("{}{long}", block("nonsense"))), TOO_LONG);
    assert_eq!(refusal(fenced, &format!("{long}{}", block("nonsense"))), TOO_LONG);
}
