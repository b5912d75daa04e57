//! Reads the factors of a product: numbers, names, brackets, powers, functions, matrices. It computes nothing.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;

use crate::expression::{Expression, Function};
use crate::parser::Parser;
use crate::tokens::Token;

/// The largest absolute exponent of ten in a number.
const EXPONENT_LIMIT: i32 = 1000;

/// A factor; true means that the product is divided by it.
pub(crate) type Factor = (bool, Expression);

impl Parser<'_> {
    /// A factor that follows another one without an operator. After a whole number, a fraction is added rather than
    /// multiplied: `1\frac{1}{2}`, `1 1/2`.
    pub(crate) fn side_by_side(&mut self, before: Factor) -> Option<Vec<Factor>> {
        let is_fraction = self.peek() == Some(&Token::Command("frac"));
        let follows_whole = is_whole(&before.1) && !before.0;
        let add = |after| vec![(false, Expression::Sum(vec![before.clone(), (false, after)]))];
        if let Some(number) = self.number() {
            if matches!(before.1, Expression::Number { .. }) {
                // Otherwise, two adjacent numbers are not a product.
                self.take('/').filter(|()| follows_whole)?;
                return Some(add(Expression::Product(vec![
                    (false, number),
                    (true, self.number()?),
                ])));
            }
            return Some(vec![before, (false, self.power_of(number)?)]);
        }
        let after = self.power()?;
        match &after {
            Expression::Product(parts)
                if is_fraction && follows_whole && parts.iter().all(|(_, part)| is_whole(part)) =>
            {
                Some(add(after))
            }
            _ => Some(vec![before, (false, after)]),
        }
    }

    pub(crate) fn power(&mut self) -> Option<Expression> {
        let base = self.atom()?;
        self.power_of(base)
    }

    fn power_of(&mut self, mut base: Expression) -> Option<Expression> {
        if self.take('!').is_some() {
            base = Expression::Call(Function::Factorial, vec![base]);
        }
        match self.take('^') {
            Some(()) => {
                let exponent = self.exponent()?;
                Some(Expression::Power(Box::new(base), Box::new(exponent)))
            }
            None => Some(base),
        }
    }

    fn exponent(&mut self) -> Option<Expression> {
        let minus = self.signs();
        let exponent = self.deeper(Self::power)?;
        Some(if minus { Expression::Sum(vec![(true, exponent)]) } else { exponent })
    }

    fn number(&mut self) -> Option<Expression> {
        let Some(Token::Number(text)) = self.peek() else { return None };
        let number = number(text)?;
        self.next += 1;
        Some(number)
    }

    fn atom(&mut self) -> Option<Expression> {
        if let Some(number) = self.number() {
            return Some(number);
        }
        let token = self.peek()?.clone();
        self.next += 1;
        match token {
            Token::Name(name) if self.is_applied(&name) => match self.argument()? {
                Expression::List { items, .. } => Some(Expression::Unknown(name, items)),
                one => Some(Expression::Unknown(name, vec![one])),
            },
            Token::Name(name) => Some(Expression::Name(name)),
            Token::Function(function) => self.call(function),
            Token::Command("frac") => {
                let parts = vec![(false, self.argument()?), (true, self.argument()?)];
                Some(Expression::Product(parts))
            }
            Token::Command("binom") => {
                let arguments = vec![self.argument()?, self.argument()?];
                Some(Expression::Call(Function::Binomial, arguments))
            }
            Token::Command(_) => {
                let index = match self.take('[') {
                    Some(()) => Some(self.list(Some('['))?),
                    None => None,
                };
                let mut arguments = vec![self.argument()?];
                arguments.extend(index);
                Some(Expression::Call(Function::Root, arguments))
            }
            Token::Mark(open @ ('(' | '[' | '{' | '⟨')) => self.list(Some(open)),
            Token::Mark('|') => self.enclosed(Function::Abs, '|'),
            Token::Mark('⌊') => self.enclosed(Function::Floor, '⌋'),
            Token::Mark('⌈') => self.enclosed(Function::Ceiling, '⌉'),
            Token::Begin => self.matrix(),
            _ => None,
        }
    }

    /// Whether a name with brackets after it is a function: `f(x+1)`, `g(x)`, `g(f(x))`. With a longer argument, `g`
    /// and `h` are variables: `h(a+b)/2`.
    fn is_applied(&self, name: &str) -> bool {
        let is_function = |name: &str, letters: &[char]| {
            let rest = name.strip_prefix(letters);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['\'', '_']))
        };
        let bracket = |place, bracket| self.peek_after(place) == Some(&Token::Mark(bracket));
        let argument = match self.peek_after(1) {
            Some(Token::Number(_)) => bracket(2, ')'),
            Some(Token::Name(inner)) => {
                bracket(2, ')') || is_function(inner, &['f', 'g', 'h']) && bracket(2, '(')
            }
            _ => false,
        };
        bracket(0, '(') && is_function(name, if argument { &['f', 'g', 'h'] } else { &['f'] })
    }

    fn enclosed(&mut self, function: Function, close: char) -> Option<Expression> {
        let inside = self.deeper(Self::sum)?;
        self.take(close)?;
        Some(Expression::Call(function, vec![inside]))
    }

    /// The argument of a command: something in braces, or one digit, letter or command.
    fn argument(&mut self) -> Option<Expression> {
        self.deeper(Self::atom)
    }

    /// A function with its argument: `\sin(x)`, `\sin 2x`, `\sin^2 x`, `\log_2 8`, `max(1, 2)`.
    fn call(&mut self, function: Function) -> Option<Expression> {
        let base = match self.take('_') {
            Some(()) => Some(self.argument()?),
            None => None,
        };
        let power = match self.take('^') {
            Some(()) => Some(self.exponent()?),
            None => None,
        };
        let mut arguments = match self.peek() {
            Some(Token::Mark('(' | '{')) => match self.argument()? {
                Expression::List { items, .. } => items,
                one => vec![one],
            },
            _ => vec![self.open_argument()?],
        };
        arguments.extend(base);
        if power.as_ref().is_some_and(is_minus_one) {
            if let (Some((inverse, divides)), [argument]) = (function.inverse(), &arguments[..]) {
                let argument = match divides {
                    true => Expression::Product(vec![(true, argument.clone())]),
                    false => argument.clone(),
                };
                return Some(Expression::Call(inverse, vec![argument]));
            }
            (!function.is_hyperbolic()).then_some(())?;
        }
        let call = Expression::Call(function, arguments);
        Some(match power {
            Some(power) => Expression::Power(Box::new(call), Box::new(power)),
            None => call,
        })
    }

    /// An argument without brackets: adjacent factors up to the next function.
    fn open_argument(&mut self) -> Option<Expression> {
        let mut factors = vec![(self.signs(), self.deeper(Self::power)?)];
        while let Some(token) = self.peek()
            && begins_factor(token)
            && !matches!(token, Token::Function(_))
        {
            factors.push((false, self.power()?));
        }
        let (minus, first) = factors.remove(0);
        let first = if minus { Expression::Sum(vec![(true, first)]) } else { first };
        factors.insert(0, (false, first));
        Some(if factors.len() > 1 { Expression::Product(factors) } else { factors.pop()?.1 })
    }

    fn matrix(&mut self) -> Option<Expression> {
        let mut rows = vec![vec![self.deeper(Self::sum)?]];
        while self.peek() != Some(&Token::End) {
            if self.take('&').is_some() {
                let cell = self.deeper(Self::sum)?;
                rows.last_mut()?.push(cell);
            } else {
                self.take(';')?;
                if self.peek() != Some(&Token::End) {
                    rows.push(vec![self.deeper(Self::sum)?]);
                }
            }
        }
        self.next += 1;
        Some(Expression::Matrix(rows))
    }
}

/// Whether a token begins a factor that needs no operator before it.
pub(crate) fn begins_factor(token: &Token) -> bool {
    match token {
        Token::Number(_) | Token::Name(_) | Token::Function(_) | Token::Command(_) => true,
        Token::Mark(mark) => matches!(mark, '(' | '[' | '{' | '⌊' | '⌈'),
        _ => false,
    }
}

fn is_minus_one(expression: &Expression) -> bool {
    matches!(expression, Expression::Sum(terms) if terms.as_slice() == [(true, whole(1))])
}

fn is_whole(expression: &Expression) -> bool {
    matches!(expression, Expression::Number { value, .. } if value.is_integer())
}

pub(crate) fn whole(number: i64) -> Expression {
    Expression::Number { value: BigRational::from_integer(number.into()), is_decimal: false }
}

/// The exact number in a token.
fn number(text: &str) -> Option<Expression> {
    match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((start, cycle)) => repeating(start, cycle),
        None => decimal(text).map(|value| {
            let is_decimal = text.contains(['.', 'e', 'E']);
            Expression::Number { value, is_decimal }
        }),
    }
}

/// The fraction for a decimal fraction with repeating digits.
fn repeating(start: &str, cycle: &str) -> Option<Expression> {
    let places = start.rsplit_once('.')?.1.len() + cycle.len();
    // 0.1(6) is 0.1 + 0.06 / (1 - 0.1).
    let once = decimal(&format!("{cycle}e-{places}"))?;
    let shift = decimal(&format!("1e-{}", cycle.len()))?;
    let value = decimal(start)? + once / (BigRational::one() - shift);
    Some(Expression::Number { value, is_decimal: false })
}

/// A number in a program's notation, exactly.
fn decimal(text: &str) -> Option<BigRational> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let places = i32::try_from(after.len()).ok()?;
    let exponent: i32 = exponent.parse().ok().filter(|e: &i32| e.abs() <= EXPONENT_LIMIT)?;
    let digits: BigInt = format!("0{before}{after}").parse().ok()?;
    let ten = BigRational::from_integer(10.into());
    Some(BigRational::from_integer(digits) * ten.pow(exponent - places))
}
