//! Estimates the length of the chains in a statement from its tokens. For `1 + 1 + 1` the parser builds, in a loop, a
//! tree that is as deep as there are operators, and freeing a tree recurses. It parses nothing.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The most links from the root of a statement's tree to a leaf. A component's stack is large enough for twice as many.
pub(crate) const LINKS: usize = 2000;

/// How many links brackets count, because for some brackets the parser recurses without a limit.
pub(crate) const BRACKETS: usize = 9;
/// How many links a join counts, because the parser recurses likewise for joins whose conditions come after all of
/// them.
pub(crate) const JOIN: usize = 16;

/// The links of the longest path through any statement of a text: at least as many as the parser builds.
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

/// The part of a statement inside one pair of brackets, or outside all.
#[derive(Default)]
struct Level {
    /// The longest path of the statements that have ended.
    ended: usize,
    /// Queries that are joined, as by `UNION`: the only chain that continues across commas.
    queries: usize,
    /// The links since the last comma.
    item: usize,
    longest_item: usize,
    /// The longest path inside its brackets.
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

    /// The enclosing level; this level itself if a bracket closes that was not opened.
    fn closed(self, around: Option<Self>) -> Self {
        match around {
            None => self,
            Some(mut around) => {
                around.inside = around.inside.max(self.longest() + BRACKETS - 1);
                around
            }
        }
    }

    /// Counts every operator and keyword as a link. Names and values are not links; nor is a query's `SELECT`.
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
        // The keyword of a type may count as a link.
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
