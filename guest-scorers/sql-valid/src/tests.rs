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
    assert_eq!(two.reason.as_deref(), Some("2 statements of SQL"));
    assert_eq!(two.meta, Some(json!({"statements": 2})));
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
    assert_eq!(score(json!({}), " ").reason.as_deref(), Some("no SQL: there is no statement"));
    let wrong = score(json!({}), "SELECT * FORM users").reason.unwrap();
    assert!(wrong.starts_with("no SQL: "), "{wrong}");
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
    // One that parses will do.
    assert!(valid(json!({"at": "fenced"}), "```\nnot this\n```\n```SQL\nSELECT 1\n```"));
    // Other languages are not looked at, and without a block the text is SQL or not.
    assert!(!valid(json!({"at": "fenced"}), "```python\nSELECT 1\n```"));
    assert!(valid(json!({"at": "fenced"}), "SELECT 1"));
}

#[test]
fn negate_turns_the_score_around() {
    assert!(valid(json!({"negate": true}), "prose"));
    assert!(!valid(json!({"negate": true}), "SELECT 1"));
}

#[test]
fn nesting_is_bounded() {
    let deep = format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(!valid(json!({}), &deep));
    assert!(valid(json!({}), &format!("SELECT {}1{}", "(".repeat(10), ")".repeat(10))));
    let unions = vec!["SELECT 1"; 2000].join(" UNION ");
    assert!(valid(json!({}), &unions));
}
