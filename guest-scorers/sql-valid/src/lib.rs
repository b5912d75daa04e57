//! sql-valid: 1 if the output parses as SQL in a dialect, else 0. It knows no tables and runs nothing.

mod dialects;
mod fences;
mod links;
mod pragmas;
mod rewrites;

use dialects::Dialect;
use fences::sql_blocks;
use links::{BRACKETS, JOIN, LINKS, longest_path};
use scorebox_sdk::{
    Case, ConfigError, Info, JsonSchema, Negate, Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Tokenizer;

/// Scores 1 if the output parses as SQL, else 0.
///
/// There may be several statements, separated by semicolons; at least one is required. With `at`
/// `fenced`, only the code blocks of a Markdown text that are marked `sql` or not marked are
/// parsed, and it is enough that one of them is valid; a text without such a block is parsed as a
/// whole. The grammar is that of the crate sqlparser, which is more lenient than most databases, but knows no
/// dialect in full: statements that only one database has can be refused (`SUMMARIZE t` of DuckDB, `INSERT ALL`
/// of Oracle), so look at the reasons before you trust a low mean.
/// SQL that is nested more than 50 deep (a subquery counts as two), or that chains more than 2000
/// operators (a join counts as 16, brackets as 9), is not parsed: the result is an error.
///
/// Replaces promptfoo's `is-sql`, and with `at` `fenced` its `contains-sql`; they use a different
/// grammar.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SqlValid {
    /// The dialect of SQL.
    #[serde(default)]
    dialect: Dialect,
    /// Where in the output the SQL must be.
    #[serde(default)]
    at: At,
    #[serde(default)]
    negate: Negate,
}

/// Where in the output the SQL must be.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum At {
    /// The whole output is SQL.
    #[default]
    Whole,
    /// At least one of its code blocks is.
    Fenced,
}

impl Scorer for SqlValid {
    type Config = Self;

    const INFO: Info = Info::new("sql-valid", "SQL Valid", env!("CARGO_PKG_VERSION"));

    fn new(config: Self) -> Result<Self, ConfigError> {
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let text = output.text()?;
        let blocks = match self.at {
            At::Whole => Vec::new(),
            At::Fenced => sql_blocks(&text),
        };
        let found =
            if blocks.is_empty() { self.statements(&text) } else { self.first_sql(&blocks) };
        let score = self.negate.pass(found.is_ok());
        Ok(match found {
            Ok(1) => score.reason("1 SQL statement").meta(json!({ "statements": 1 })),
            Ok(count) => {
                score.reason(format!("{count} SQL statements")).meta(json!({ "statements": count }))
            }
            Err(Problem::Wrong(why)) => {
                score.reason(format!("not valid SQL: {}", excerpt(&why, 200)))
            }
            Err(Problem::NotParsed(why)) => return Err(ScoreError::invalid_input(why)),
        })
    }
}

/// Why a text has no statements.
enum Problem {
    /// It is not SQL.
    Wrong(String),
    /// It is not known whether it is SQL, because the parser would exceed the stack.
    NotParsed(String),
}

impl Problem {
    fn too_long() -> Self {
        Self::NotParsed(format!(
            "the SQL in `output` is not parsed: it chains more than {LINKS} operators (a join counts as \
             {JOIN}, brackets as {BRACKETS})"
        ))
    }
}

impl From<ParserError> for Problem {
    fn from(error: ParserError) -> Self {
        match error {
            ParserError::RecursionLimitExceeded => Self::NotParsed(format!(
                "the SQL in `output` is not parsed: it nests more than {RECURSION_LIMIT} deep"
            )),
            error => Self::Wrong(error.to_string()),
        }
    }
}

impl SqlValid {
    /// The number of statements in the first block that parses; else the problem of the first block that was not
    /// parsed, or of the first one.
    fn first_sql(&self, blocks: &[String]) -> Result<usize, Problem> {
        let mut first = None;
        for block in blocks {
            match (self.statements(block), &first) {
                (Ok(count), _) => return Ok(count),
                (Err(problem @ Problem::NotParsed(_)), Some(Problem::Wrong(_)))
                | (Err(problem), None) => first = Some(problem),
                _ => {}
            }
        }
        Err(first.unwrap_or_else(no_statement))
    }

    /// The number of statements in a text, or what is wrong with it.
    fn statements(&self, text: &str) -> Result<usize, Problem> {
        let dialect = self.dialect.grammar();
        let tokens = Tokenizer::new(dialect.as_ref(), text).tokenize_with_location();
        let mut tokens = tokens.map_err(ParserError::from)?;
        if matches!(self.dialect, Dialect::Sqlite) {
            pragmas::simplify(&mut tokens);
        }
        rewrites::rewrite(self.dialect, &mut tokens);
        if longest_path(&tokens) > LINKS {
            return Err(Problem::too_long());
        }
        let parser = Parser::new(dialect.as_ref()).with_recursion_limit(RECURSION_LIMIT);
        match parser.with_tokens_with_locations(tokens).parse_statements()?.len() {
            0 => Err(no_statement()),
            count => Ok(count),
        }
    }
}

fn no_statement() -> Problem {
    Problem::Wrong("there is no statement".to_owned())
}

/// How deeply expressions and queries may be nested, because the parser recurses.
const RECURSION_LIMIT: usize = 50;

scorebox_sdk::export!(SqlValid);

#[cfg(test)]
mod tests;
