//! Replaces syntax of some dialects that the parser does not support with syntax of the same form that it does. Nothing
//! is checked here: the parser checks what surrounds it.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

use crate::dialects::Dialect;

/// Rewrites the tokens of a text in a dialect.
pub(crate) fn rewrite(dialect: Dialect, tokens: &mut [TokenWithSpan]) {
    match dialect {
        Dialect::Sqlite => {
            let mut text = Text::new(tokens);
            text.each(Text::comparison);
            text.each(Text::index_hint);
            text.each(Text::reindex);
            text.shifts();
        }
        Dialect::BigQuery | Dialect::Databricks => Text::new(tokens).shifts(),
        Dialect::MsSql => {
            Text::new(tokens).shifts();
            end_batches(tokens);
        }
        Dialect::PostgreSql => Text::new(tokens).each(Text::opaque_statement),
        _ => {}
    }
}

/// The tokens of a text without white space, by index.
struct Text<'t> {
    tokens: &'t mut [TokenWithSpan],
    places: Vec<usize>,
}

impl<'t> Text<'t> {
    fn new(tokens: &'t mut [TokenWithSpan]) -> Self {
        let is_space = |token: &TokenWithSpan| matches!(token.token, Token::Whitespace(_));
        let places = (0..tokens.len()).filter(|place| !is_space(&tokens[*place])).collect();
        Self { tokens, places }
    }

    fn each(&mut self, rewrite: fn(&mut Self, usize)) {
        (0..self.places.len()).for_each(|at| rewrite(self, at));
    }

    fn get(&self, at: usize) -> &Token {
        self.places.get(at).map_or(&Token::EOF, |place| &self.tokens[*place].token)
    }

    fn keyword(&self, at: usize) -> Keyword {
        match self.get(at) {
            Token::Word(word) => word.keyword,
            _ => Keyword::NoKeyword,
        }
    }

    fn set(&mut self, at: usize, token: Token) {
        if let Some(place) = self.places.get(at) {
            self.tokens[*place].token = token;
        }
    }

    fn leave_out(&mut self, at: usize) {
        self.set(at, Token::Whitespace(Whitespace::Space));
    }

    fn begins_statement(&self, at: usize) -> bool {
        at == 0 || *self.get(at - 1) == Token::SemiColon
    }

    /// SQLite compares any values with `IS` and `IS NOT`, and allows `NOT` before more of its operators.
    fn comparison(&mut self, at: usize) {
        let is_not = self.keyword(at + 1) == Keyword::NOT;
        match self.keyword(at) {
            Keyword::IS if !is_known(self.keyword(at + 1 + usize::from(is_not))) => {
                self.set(at, Token::Eq);
                if is_not {
                    self.leave_out(at + 1);
                }
            }
            Keyword::NOT if self.follows_value(at) => {
                if matches!(self.keyword(at + 1), Keyword::GLOB | Keyword::MATCH) {
                    self.leave_out(at);
                }
            }
            _ => {}
        }
    }

    /// Whether the token before an index can be the end of a value.
    fn follows_value(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        match self.get(before) {
            Token::Word(word) => !matches!(
                word.keyword,
                Keyword::SELECT
                    | Keyword::WHERE
                    | Keyword::AND
                    | Keyword::OR
                    | Keyword::NOT
                    | Keyword::ON
                    | Keyword::HAVING
                    | Keyword::WHEN
                    | Keyword::THEN
                    | Keyword::ELSE
                    | Keyword::BY
            ),
            Token::RParen | Token::Number(..) | Token::SingleQuotedString(_) => true,
            Token::DoubleQuotedString(_) | Token::Placeholder(_) => true,
            _ => false,
        }
    }

    /// `INDEXED BY i` and `NOT INDEXED` after a table's name.
    fn index_hint(&mut self, at: usize) {
        let is_indexed = |token: &Token| matches!(token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("indexed"));
        let follows_name = at > 0 && matches!(self.get(at - 1), Token::Word(_));
        let names_index = matches!(self.get(at + 2), Token::Word(_));
        if !follows_name {
        } else if is_indexed(self.get(at)) && self.keyword(at + 1) == Keyword::BY && names_index {
            (at..at + 3).for_each(|at| self.leave_out(at));
        } else if self.keyword(at) == Keyword::NOT && is_indexed(self.get(at + 1)) {
            (at..at + 2).for_each(|at| self.leave_out(at));
        }
    }

    /// `REINDEX` takes the same names as `ANALYZE`.
    fn reindex(&mut self, at: usize) {
        if self.begins_statement(at) && self.keyword(at) == Keyword::REINDEX {
            self.set(at, Token::make_keyword("ANALYZE"));
        }
    }

    /// `<<` and `>>` take the same operands as `&`. A `>>` that closes two types stays: `ARRAY<STRUCT<INT64>>`.
    fn shifts(&mut self) {
        let mut open_types = 0_usize;
        for at in 0..self.places.len() {
            match self.get(at) {
                Token::Lt if open_types > 0 || at > 0 && is_type(self.keyword(at - 1)) => {
                    open_types += 1
                }
                Token::Gt => open_types = open_types.saturating_sub(1),
                Token::ShiftRight if open_types > 0 => open_types = open_types.saturating_sub(2),
                Token::ShiftLeft | Token::ShiftRight => self.set(at, Token::Ampersand),
                Token::SemiColon => open_types = 0,
                _ => {}
            }
        }
    }

    /// PostgreSQL's `DO $$…$$`, whose block is a text in SQL, and `REFRESH MATERIALIZED VIEW v`.
    fn opaque_statement(&mut self, at: usize) {
        let end = match self.keyword(at) {
            _ if !self.begins_statement(at) => None,
            Keyword::DO => self.block_end(at + 1),
            Keyword::REFRESH => self.refresh_end(at + 1),
            _ => None,
        };
        if let Some(end) = end.filter(|end| matches!(self.get(*end), Token::SemiColon | Token::EOF))
        {
            (at + 2..end).for_each(|at| self.leave_out(at));
            self.set(at, Token::make_keyword("SELECT"));
            self.set(at + 1, Token::Number("1".to_owned(), false));
        }
    }

    /// The end of a block, whose language may be named before or after it.
    fn block_end(&self, at: usize) -> Option<usize> {
        let language = |at: usize| {
            let is_named =
                matches!(self.get(at + 1), Token::Word(_) | Token::SingleQuotedString(_));
            at + if self.keyword(at) == Keyword::LANGUAGE && is_named { 2 } else { 0 }
        };
        let block = language(at);
        let is_text = matches!(
            self.get(block),
            Token::DollarQuotedString(_)
                | Token::SingleQuotedString(_)
                | Token::EscapedStringLiteral(_)
        );
        is_text.then(|| if block > at { block + 1 } else { language(block + 1) })
    }

    /// The end of `MATERIALIZED VIEW [CONCURRENTLY] name [WITH [NO] DATA]`.
    fn refresh_end(&self, at: usize) -> Option<usize> {
        let is_view =
            self.keyword(at) == Keyword::MATERIALIZED && self.keyword(at + 1) == Keyword::VIEW;
        let mut at = is_view.then_some(at + 2)?;
        at += usize::from(self.keyword(at) == Keyword::CONCURRENTLY);
        matches!(self.get(at), Token::Word(_)).then(|| at += 1)?;
        while *self.get(at) == Token::Period {
            matches!(self.get(at + 1), Token::Word(_)).then(|| at += 2)?;
        }
        if self.keyword(at) != Keyword::WITH {
            return Some(at);
        }
        let data = at + 1 + usize::from(self.keyword(at + 1) == Keyword::NO);
        (self.keyword(data) == Keyword::DATA).then_some(data + 1)
    }
}

/// Whether the parser supports this after `IS`.
fn is_known(after: Keyword) -> bool {
    matches!(
        after,
        Keyword::NULL
            | Keyword::TRUE
            | Keyword::FALSE
            | Keyword::UNKNOWN
            | Keyword::DISTINCT
            | Keyword::JSON
    )
}

/// Whether a type may contain others in angle brackets.
fn is_type(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::ARRAY | Keyword::STRUCT | Keyword::MAP | Keyword::TABLE | Keyword::RANGE
    )
}

/// `GO` on a separate line, with which SQL Server's tools end a batch, ends a statement.
fn end_batches(tokens: &mut [TokenWithSpan]) {
    let is_break = |token: Option<&TokenWithSpan>| {
        token.is_none_or(|token| {
            matches!(
                token.token,
                Token::EOF
                    | Token::Whitespace(Whitespace::Newline | Whitespace::SingleLineComment { .. })
            )
        })
    };
    for at in 0..tokens.len() {
        let is_go = matches!(&tokens[at].token, Token::Word(word)
            if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("go"));
        let begins = at == 0 || is_break(tokens.get(at - 1));
        if is_go && begins && is_break(tokens.get(at + 1)) {
            tokens[at].token = Token::SemiColon;
        }
    }
}
