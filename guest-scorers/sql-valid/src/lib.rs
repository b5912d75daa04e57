//! sql-valid: 1 where the output parses as SQL of a dialect, else 0. It knows no tables and runs nothing.

mod dialects;
mod fences;

use dialects::Dialect;
use fences::sql_blocks;
use scorebox_sdk::{Case, Info, JsonSchema, Score, ScoreError, Scorer, excerpt, schemars};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlparser::parser::Parser;

/// Scores 1 when the output parses as SQL, else 0.
///
/// There may be several statements, parted by semicolons; there has to be one. With `at` `fenced` the code
/// blocks of a Markdown text that are marked `sql`, or not marked, are looked at, and one that parses will
/// do; a text without such a block is looked at as a whole. The grammar is that of the crate sqlparser,
/// which is laxer than most databases.
///
/// Stands in for promptfoo's `is-sql`, and with `at` `fenced` for its `contains-sql`; theirs is another
/// grammar.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SqlValid {
    /// Whose SQL it is.
    #[serde(default)]
    dialect: Dialect,
    /// Where in the output the SQL has to be.
    #[serde(default)]
    at: At,
    /// Turns the score around: 1 when there is no such SQL.
    #[serde(default)]
    negate: bool,
}

/// Where in the output the SQL has to be.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum At {
    /// The whole output is SQL.
    #[default]
    Whole,
    /// One of the code blocks in it is.
    Fenced,
}

impl Scorer for SqlValid {
    const INFO: Info = Info::new("sql-valid", "SQL Valid", env!("CARGO_PKG_VERSION"));

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let text = output.text()?;
        let blocks = match self.at {
            At::Whole => Vec::new(),
            At::Fenced => sql_blocks(&text),
        };
        let found = if blocks.is_empty() {
            self.statements(&text)
        } else {
            let found: Vec<_> = blocks.iter().map(|block| self.statements(block)).collect();
            let parsed = found.iter().find(|found| found.is_ok()).cloned();
            parsed.unwrap_or_else(|| found[0].clone())
        };
        let score = Score::pass(found.is_ok() != self.negate);
        Ok(match found {
            Ok(1) => score.reason("1 statement of SQL").meta(json!({ "statements": 1 })),
            Ok(count) => score
                .reason(format!("{count} statements of SQL"))
                .meta(json!({ "statements": count })),
            Err(problem) => score.reason(format!("no SQL: {}", excerpt(&problem, 200))),
        })
    }
}

impl SqlValid {
    /// How many statements a text has, or what is wrong with it.
    fn statements(&self, text: &str) -> Result<usize, String> {
        let dialect = self.dialect.grammar();
        let parser = Parser::new(dialect.as_ref()).with_recursion_limit(RECURSION_LIMIT);
        let statements = parser.try_with_sql(text).and_then(|mut parser| parser.parse_statements());
        match statements {
            Ok(statements) if statements.is_empty() => Err("there is no statement".to_owned()),
            Ok(statements) => {
                let count = statements.len();
                // A sum of thousands of terms is a tree as deep, and freeing it would recurse; the memory is
                // gone with the score.
                std::mem::forget(statements);
                Ok(count)
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

/// How deep expressions and queries may nest; the parser recurses with them.
const RECURSION_LIMIT: usize = 50;

scorebox_sdk::export!(SqlValid);

#[cfg(test)]
mod tests;
