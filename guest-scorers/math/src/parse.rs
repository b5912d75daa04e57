//! Parses tokens into an expression: lists, relations, sums and products. Factors are left to `factor`. It computes
//! nothing, and knows nothing of answers in sentences.

use crate::expression::{Expression, Function, Relation};
use crate::factor::{begins_factor, whole};
use crate::parser::Parser;
use crate::tokens::{Token, tokens};

/// Parses a text as an expression; `None` if it is not mathematics, or is too large.
pub(crate) fn parse(text: &str) -> Option<Expression> {
    let tokens = tokens(text)?;
    let is_either = tokens.iter().any(|token| matches!(token, Token::PlusMinus(_)));
    let read = |plus| Parser::new(&tokens, plus).all();
    if is_either {
        return Some(Expression::Set(vec![read(true)?, read(false)?]));
    }
    read(true)
}

impl Parser<'_> {
    fn all(mut self) -> Option<Expression> {
        let expression = self.list(None)?;
        self.peek().is_none().then_some(expression)
    }

    /// One value, or several separated by commas or `or`, up to a closing bracket.
    pub(crate) fn list(&mut self, open: Option<char>) -> Option<Expression> {
        let (mut items, mut is_either, mut has_commas) = (Vec::new(), false, false);
        if open.is_none() || !self.closes() {
            items.push(self.deeper(Self::relations)?);
        }
        while let Some(token) = self.peek() {
            match token {
                Token::Mark(',') => has_commas = true,
                token if is_or(token) => is_either = true,
                _ => break,
            }
            self.next += 1;
            // "1, 2, or 3" and "(0,)" end like this.
            if !self.peek().is_none_or(is_or) && !self.closes() {
                items.push(self.deeper(Self::relations)?);
            }
        }
        let close = match (open, self.peek()) {
            (None, _) => None,
            (Some(open), Some(Token::Mark(close))) if closes(open, *close) => Some(*close),
            _ => return None,
        };
        self.next += usize::from(close.is_some());
        let brackets = open.zip(close);
        let is_set = open == Some('⟨') || open == Some('{') && has_commas;
        let groups = matches!(brackets, None | Some(('(', ')') | ('[', ']') | ('{', '}')));
        match items.len() {
            _ if is_set || is_either => Some(Expression::Set(items)),
            1 if groups && !has_commas => items.pop(),
            _ => Some(Expression::List { brackets, items }),
        }
    }

    fn closes(&self) -> bool {
        matches!(self.peek(), Some(Token::Mark(')' | ']' | '}' | '⟩')))
    }

    fn next_is_name(&self) -> bool {
        matches!(self.peek(), Some(Token::Name(_)))
    }

    fn relations(&mut self) -> Option<Expression> {
        let mut sides = vec![self.union()?];
        let mut relations = Vec::new();
        loop {
            let relation = match self.peek() {
                Some(Token::Relation(relation)) => *relation,
                Some(Token::Mark('∈')) => Relation::In,
                _ => break,
            };
            self.next += 1;
            relations.push(relation);
            sides.push(self.union()?);
        }
        match relations.is_empty() {
            true => sides.pop(),
            false => Some(Expression::Relations(sides, relations)),
        }
    }

    fn union(&mut self) -> Option<Expression> {
        let mut parts = vec![self.choice()?];
        while self.take('∪').is_some() {
            parts.push(self.choice()?);
        }
        if parts.len() > 1 { Some(Expression::Union(parts)) } else { parts.pop() }
    }

    /// A sum, or the binomial coefficient of two: `n+1 \choose 2`.
    fn choice(&mut self) -> Option<Expression> {
        let of = self.sum()?;
        match self.take_between(Function::Binomial) {
            Some(()) => Some(Expression::Call(Function::Binomial, vec![of, self.sum()?])),
            None => Some(of),
        }
    }

    pub(crate) fn sum(&mut self) -> Option<Expression> {
        let mut terms = vec![(self.signs(), self.product()?)];
        while matches!(self.peek(), Some(Token::Mark('+' | '-') | Token::PlusMinus(_))) {
            terms.push((self.signs(), self.product()?));
        }
        match terms.as_slice() {
            [(false, _)] => terms.pop().map(|(_, term)| term),
            terms if terms.iter().any(|(_, term)| is_several(term)) => None,
            _ => Some(Expression::Sum(terms)),
        }
    }

    /// A product, or the remainder of its division: `2n \bmod 5`.
    fn product(&mut self) -> Option<Expression> {
        let of = self.factors()?;
        match self.take_between(Function::Modulo) {
            Some(()) => Some(Expression::Call(Function::Modulo, vec![of, self.factors()?])),
            None => Some(of),
        }
    }

    fn factors(&mut self) -> Option<Expression> {
        let mut has_percent = false;
        let mut factors = vec![(false, self.power()?)];
        loop {
            let divides = match self.peek() {
                // It applies to everything before it: `2\frac12\%`, `1/2\%`, `2^3\%`. `50%/25%` is not understood.
                Some(Token::Mark('%')) if !(has_percent && factors.last()?.0) => {
                    self.next += 1;
                    factors.push((true, whole(100)));
                    has_percent = true;
                    continue;
                }
                Some(Token::Mark('*')) => false,
                Some(Token::Mark('/')) => true,
                Some(token) if begins_factor(token) => {
                    let before = factors.pop()?;
                    factors.extend(self.side_by_side(before)?);
                    continue;
                }
                _ => break,
            };
            self.next += 1;
            let minus = self.signs();
            let is_letter = self.next_is_name();
            let factor = self.power()?;
            let factor = if minus { Expression::Sum(vec![(true, factor)]) } else { factor };
            factors.push((divides, factor));
            // `1/xy` is `1/(xy)`, but `1/2x` is a half of `x`.
            while divides && is_letter && self.next_is_name() {
                factors.push((true, self.power()?));
            }
        }
        match factors.as_slice() {
            [_] => factors.pop().map(|(_, factor)| factor),
            factors if factors.iter().any(|(_, factor)| is_several(factor)) => None,
            _ => Some(Expression::Product(factors)),
        }
    }
}

/// Whether a bracket closes another one; intervals mix the kinds.
fn closes(open: char, close: char) -> bool {
    match open {
        '(' | '[' => matches!(close, ')' | ']'),
        '{' => close == '}',
        _ => close == '⟩',
    }
}

fn is_or(token: &Token) -> bool {
    matches!(token, Token::Text(word) if word == "or" || word == "and")
}

/// Whether an expression is more than one value, so that it cannot be computed with.
fn is_several(expression: &Expression) -> bool {
    use Expression::{List, Relations, Set, Union};
    matches!(expression, List { .. } | Relations(..) | Set(_) | Union(_))
}
