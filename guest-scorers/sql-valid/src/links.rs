//! How long the chains of a statement are, by its tokens: of `1 + 1 + 1` the parser makes a tree as
//! deep as there are signs, in a loop, and freeing a tree recurses. Nothing is parsed here.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The most links from the root of a statement's tree to a leaf. A component's stack has room for twice as
/// many.
pub(crate) const LINKS: usize = 2000;

/// What brackets count around what is in them: for some the parser itself recurses without a bound.
pub(crate) const BRACKETS: usize = 9;
/// What a join counts: for joins whose conditions come after all of them the parser recurses likewise.
pub(crate) const JOIN: usize = 16;

/// The links of the longest path through any statement of a text: at least as many as the parser makes.
pub(crate) fn longest_path(tokens: &[TokenWithSpan]) -> usize {
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level::default();
    for token in tokens {
        match &token.token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                level.item += 1;
                outer.push(std::mem::take(&mut level));
            }
            Token::RParen | Token::RBracket | Token::RBrace => level = level.closed(outer.pop()),
            Token::Comma => level.end_item(),
            Token::SemiColon => level.end_statement(),
            other => level.add(other),
        }
    }
    while let Some(around) = outer.pop() {
        level = level.closed(Some(around));
    }
    level.longest()
}

/// What stands between one pair of brackets, or in none.
#[derive(Default)]
struct Level {
    /// Of the statements that have ended, the longest path.
    ended: usize,
    /// Queries that are joined, as by `UNION`: the one chain that continues over commas.
    queries: usize,
    /// The links since the last comma.
    item: usize,
    longest_item: usize,
    /// Of the brackets in it, the longest path.
    inside: usize,
}

impl Level {
    fn longest(&self) -> usize {
        self.ended.max(self.queries + self.item.max(self.longest_item) + self.inside)
    }

    fn end_item(&mut self) {
        self.longest_item = self.longest_item.max(self.item);
        self.item = 0;
    }

    fn end_statement(&mut self) {
        *self = Self { ended: self.longest(), ..Self::default() };
    }

    /// The level around this one; this one itself if a bracket closes that did not open.
    fn closed(self, around: Option<Self>) -> Self {
        match around {
            None => self,
            Some(mut around) => {
                around.inside = around.inside.max(self.longest() + BRACKETS - 1);
                around
            }
        }
    }

    /// Every sign and keyword may be a link. Names and values are not, and a query's `SELECT` is not.
    fn add(&mut self, token: &Token) {
        match token {
            Token::Whitespace(_)
            | Token::EOF
            | Token::Period
            | Token::Number(..)
            | Token::SingleQuotedString(_) => {}
            Token::Word(word) => match word.keyword {
                Keyword::NoKeyword | Keyword::SELECT => {}
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS => {
                    self.queries += 1;
                }
                Keyword::JOIN => self.item += JOIN,
                _ => self.item += 1,
            },
            _ => self.item += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::GenericDialect;
    use sqlparser::tokenizer::Tokenizer;

    use super::*;

    fn path(sql: &str) -> usize {
        let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location();
        longest_path(&tokens.unwrap())
    }

    #[test]
    fn a_chain_is_as_long_as_it_has_links() {
        assert_eq!(path("1 + a.b - 'c'"), 2);
        assert_eq!(path("a AND b OR NOT c"), 3);
        assert_eq!(path("1::x::x"), 2);
        // A type's keyword could be a link.
        assert_eq!(path("1::int::int"), 4);
        assert_eq!(path("SELECT 1 UNION SELECT 2 EXCEPT SELECT 3"), 2);
    }

    #[test]
    fn of_what_stands_side_by_side_the_longest_counts() {
        assert_eq!(path("1, 1 + 1 + 1, 1 + 1"), 2);
        assert_eq!(path("1 + 1; 1 + 1 + 1; 1"), 2);
        assert_eq!(path("(1 + 1), (1 + 1 + 1), (1)"), BRACKETS + 2);
        assert_eq!(path("x[][][]"), 2 + BRACKETS);
    }

    #[test]
    fn what_stands_inside_another_counts_with_it() {
        assert_eq!(path("1 + (1 + 1) + 1"), 2 + BRACKETS + 1);
        assert_eq!(path("((1"), 2 * BRACKETS);
        assert_eq!(path("SELECT 1 + 1, 2 UNION SELECT 1, 2"), 2);
        assert_eq!(path("1) + 1"), 1);
    }
}
