//! The dialects of SQL that a configuration can name, and the grammar of each.

use scorebox_sdk::{JsonSchema, schemars};
use serde::{Deserialize, Serialize};
use sqlparser::dialect as grammar;

/// The dialect of SQL.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dialect {
    /// What most databases understand, and much that only some do.
    #[default]
    Generic,
    /// ANSI SQL:2011.
    Ansi,
    /// BigQuery.
    BigQuery,
    /// ClickHouse.
    ClickHouse,
    /// Databricks.
    Databricks,
    /// DuckDB.
    DuckDb,
    /// Hive.
    Hive,
    /// Microsoft SQL Server.
    MsSql,
    /// MySQL and MariaDB.
    MySql,
    /// Oracle.
    Oracle,
    /// PostgreSQL.
    PostgreSql,
    /// Redshift.
    Redshift,
    /// Snowflake.
    Snowflake,
    /// SQLite.
    Sqlite,
}

impl Dialect {
    pub(crate) fn grammar(self) -> Box<dyn grammar::Dialect> {
        match self {
            Self::Generic => Box::new(grammar::GenericDialect {}),
            Self::Ansi => Box::new(grammar::AnsiDialect {}),
            Self::BigQuery => Box::new(grammar::BigQueryDialect),
            Self::ClickHouse => Box::new(grammar::ClickHouseDialect {}),
            Self::Databricks => Box::new(grammar::DatabricksDialect {}),
            Self::DuckDb => Box::new(grammar::DuckDbDialect {}),
            Self::Hive => Box::new(grammar::HiveDialect {}),
            Self::MsSql => Box::new(grammar::MsSqlDialect {}),
            Self::MySql => Box::new(grammar::MySqlDialect {}),
            Self::Oracle => Box::new(grammar::OracleDialect {}),
            Self::PostgreSql => Box::new(grammar::PostgreSqlDialect {}),
            Self::Redshift => Box::new(grammar::RedshiftSqlDialect {}),
            Self::Snowflake => Box::new(grammar::SnowflakeDialect),
            Self::Sqlite => Box::new(grammar::SQLiteDialect {}),
        }
    }
}
