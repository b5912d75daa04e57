//! A stream of tokens, with a limit for the depth of recursion. It knows no grammar: `parse` and `factor` do.

use crate::expression::Function;
use crate::tokens::Token;

/// How deeply brackets and exponents may be nested, because reading and computing recurse.
const DEPTH_LIMIT: usize = 32;

/// Tokens, and the current position.
pub(crate) struct Parser<'t> {
    tokens: &'t [Token],
    pub(crate) next: usize,
    depth: usize,
    /// Whether `±` is read as a plus.
    plus: bool,
}

impl<'t> Parser<'t> {
    pub(crate) fn new(tokens: &'t [Token], plus: bool) -> Self {
        Self { tokens, next: 0, depth: 0, plus }
    }

    /// Reads something one level deeper.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        (self.depth < DEPTH_LIMIT).then_some(())?;
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    pub(crate) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    /// The token after this many others.
    pub(crate) fn peek_after(&self, others: usize) -> Option<&Token> {
        self.tokens.get(self.next + others)
    }

    /// Takes the separator of two arguments.
    pub(crate) fn take_between(&mut self, function: Function) -> Option<()> {
        (self.peek() == Some(&Token::Between(function))).then(|| self.next += 1)
    }

    pub(crate) fn take(&mut self, mark: char) -> Option<()> {
        (self.peek() == Some(&Token::Mark(mark))).then(|| self.next += 1)
    }

    /// Reads signs, and returns whether they make a minus.
    pub(crate) fn signs(&mut self) -> bool {
        let mut minus = false;
        while let Some(token) = self.peek() {
            match token {
                Token::Mark('+') => {}
                Token::Mark('-') => minus = !minus,
                Token::PlusMinus(plus) => minus ^= *plus != self.plus,
                _ => break,
            }
            self.next += 1;
        }
        minus
    }
}
