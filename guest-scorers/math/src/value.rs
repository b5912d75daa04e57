//! Computes the value of an expression: exactly while it is a fraction, else to about 15 digits.

use num_bigint::BigInt;
use num_complex::Complex64;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::expression::{Expression, Function};

/// The largest exact number, by the bits of its numerator or denominator.
const BITS_LIMIT: u64 = 4096;

/// The largest number whose factorial is computed, and the most factors of a binomial coefficient.
const FACTORIAL_LIMIT: u64 = 500;

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Exact(BigRational),
    Approximate(Complex64),
}

impl Value {
    pub(crate) fn approximate(&self) -> Complex64 {
        match self {
            Value::Exact(value) => Complex64::new(value.to_f64().unwrap_or(f64::NAN), 0.0),
            Value::Approximate(value) => *value,
        }
    }

    fn real(&self) -> Option<f64> {
        let value = self.approximate();
        (value.im == 0.0).then_some(value.re)
    }

    fn whole(&self) -> Option<&BigInt> {
        match self {
            Value::Exact(value) if value.is_integer() => Some(value.numer()),
            _ => None,
        }
    }
}

/// Keeps the value exact unless it is too large.
fn bounded(value: BigRational) -> Value {
    if value.numer().bits().max(value.denom().bits()) <= BITS_LIMIT {
        return Value::Exact(value);
    }
    Value::Approximate(Value::Exact(value).approximate())
}

/// The value of an expression; `None` if it is not a finite number. `names` has the values of variables.
pub(crate) fn value(
    expression: &Expression,
    names: &dyn Fn(&str) -> Option<Complex64>,
) -> Option<Value> {
    let value = match expression {
        Expression::Number { value, .. } => bounded(value.clone()),
        Expression::Name(name) => Value::Approximate(constant(name).or_else(|| names(name))?),
        Expression::Sum(terms) => {
            let mut sum = Value::Exact(BigRational::zero());
            for (minus, term) in terms {
                let term = value(term, names)?;
                sum = match (sum, term) {
                    (Value::Exact(sum), Value::Exact(term)) => {
                        bounded(if *minus { sum - term } else { sum + term })
                    }
                    (sum, term) => {
                        let (sum, term) = (sum.approximate(), term.approximate());
                        Value::Approximate(if *minus { sum - term } else { sum + term })
                    }
                };
            }
            sum
        }
        Expression::Product(factors) => {
            let mut product = Value::Exact(BigRational::one());
            for (divides, factor) in factors {
                let factor = value(factor, names)?;
                product = match (product, factor) {
                    (_, Value::Exact(factor)) if *divides && factor.is_zero() => return None,
                    (Value::Exact(product), Value::Exact(factor)) => {
                        bounded(if *divides { product / factor } else { product * factor })
                    }
                    (product, factor) => {
                        let (product, factor) = (product.approximate(), factor.approximate());
                        Value::Approximate(if *divides {
                            product / factor
                        } else {
                            product * factor
                        })
                    }
                };
            }
            product
        }
        Expression::Power(base, exponent) => power(&value(base, names)?, &value(exponent, names)?)?,
        Expression::Call(function, arguments) => {
            let arguments: Option<Vec<Value>> =
                arguments.iter().map(|argument| value(argument, names)).collect();
            call(*function, &arguments?)?
        }
        Expression::Unknown(name, arguments) => unknown(names(name)?, arguments, names)?,
        _ => return None,
    };
    let finite = match &value {
        Value::Exact(_) => true,
        Value::Approximate(value) => value.is_finite(),
    };
    finite.then_some(value)
}

/// The value of a function of which only the name is known: an arbitrary function that depends on the name.
fn unknown(
    number: Complex64,
    arguments: &[Expression],
    names: &dyn Fn(&str) -> Option<Complex64>,
) -> Option<Value> {
    let mut sum = Complex64::one();
    for argument in arguments {
        // The result changes if arguments swap places.
        sum = (sum + value(argument, names)?.approximate()) * number;
    }
    Some(Value::Approximate((sum + number).sin() + number))
}

fn constant(name: &str) -> Option<Complex64> {
    match name {
        "pi" => Some(std::f64::consts::PI.into()),
        "e" => Some(std::f64::consts::E.into()),
        "i" | "imath" => Some(Complex64::i()),
        _ => None,
    }
}

fn power(base: &Value, exponent: &Value) -> Option<Value> {
    if let (Value::Exact(base), Some(exponent)) = (base, exponent.whole())
        && let Some(exponent) = exponent.to_i32()
    {
        if base.is_zero() && exponent < 0 {
            return None;
        }
        let bits = base.numer().bits().max(base.denom().bits());
        if bits * u64::from(exponent.unsigned_abs()) <= BITS_LIMIT || base.abs().is_one() {
            return Some(Value::Exact(base.pow(exponent)));
        }
    }
    let (base, exponent) = (base.approximate(), exponent.approximate());
    if base.is_zero() {
        return (exponent.re > 0.0).then(|| Value::Approximate(Complex64::zero()));
    }
    if base.im == 0.0 && exponent.im == 0.0 && (base.re > 0.0 || exponent.re.fract() == 0.0) {
        return Some(Value::Approximate(base.re.powf(exponent.re).into()));
    }
    Some(Value::Approximate(base.powc(exponent)))
}

fn call(function: Function, arguments: &[Value]) -> Option<Value> {
    let (first, second) = match arguments {
        [first] => (first, None),
        [first, second] => (first, Some(second)),
        _ if matches!(function, Function::Max | Function::Min) => (arguments.first()?, None),
        _ => return None,
    };
    let takes_two = matches!(
        function,
        Function::Binomial
            | Function::Root
            | Function::Log10
            | Function::Ln
            | Function::Max
            | Function::Min
            | Function::Modulo
    );
    (second.is_none() || takes_two).then_some(())?;
    let x = first.approximate();
    let inside = |range: bool| range.then_some(x.re).filter(|_| x.im == 0.0);
    Some(match function {
        Function::Abs => match first {
            Value::Exact(value) => Value::Exact(value.abs()),
            Value::Approximate(value) => Value::Approximate(value.norm().into()),
        },
        Function::Floor => rounded(first, f64::floor, BigRational::floor)?,
        Function::Ceiling => rounded(first, f64::ceil, BigRational::ceil)?,
        Function::Factorial => {
            let number = first.whole()?.to_u64().filter(|number| *number <= FACTORIAL_LIMIT)?;
            bounded(BigRational::from_integer((1..=number).product()))
        }
        Function::Binomial => binomial(first.whole()?, second?.whole()?)?,
        Function::Modulo => modulo(first, second?)?,
        Function::Root => root(first, second)?,
        Function::Exp => Value::Approximate(x.exp()),
        Function::Log10 | Function::Ln => {
            let base = match (second, function) {
                (Some(base), _) => base.approximate(),
                (None, Function::Ln) => std::f64::consts::E.into(),
                (None, _) => 10.0.into(),
            };
            (!x.is_zero() && !base.is_zero()).then_some(())?;
            Value::Approximate(x.ln() / base.ln())
        }
        Function::Max | Function::Min => {
            let numbers: Option<Vec<f64>> = arguments.iter().map(Value::real).collect();
            let choose = if function == Function::Max { f64::max } else { f64::min };
            Value::Approximate(numbers?.into_iter().reduce(choose)?.into())
        }
        Function::Sine => Value::Approximate(x.sin()),
        Function::Cosine => Value::Approximate(x.cos()),
        Function::Tangent => Value::Approximate(x.tan()),
        Function::Cotangent => Value::Approximate(x.tan().inv()),
        Function::Secant => Value::Approximate(x.cos().inv()),
        Function::Cosecant => Value::Approximate(x.sin().inv()),
        Function::ArcSine => Value::Approximate(inside(x.re.abs() <= 1.0)?.asin().into()),
        Function::ArcCosine => Value::Approximate(inside(x.re.abs() <= 1.0)?.acos().into()),
        Function::ArcTangent => Value::Approximate(inside(true)?.atan().into()),
        Function::HyperbolicSine => Value::Approximate(x.sinh()),
        Function::HyperbolicCosine => Value::Approximate(x.cosh()),
        Function::HyperbolicTangent => Value::Approximate(x.tanh()),
    })
}

fn rounded(
    value: &Value,
    round: fn(f64) -> f64,
    exactly: fn(&BigRational) -> BigRational,
) -> Option<Value> {
    match value {
        Value::Exact(value) => Some(Value::Exact(exactly(value))),
        Value::Approximate(_) => Some(Value::Approximate(round(value.real()?).into())),
    }
}

/// The remainder, with the sign of the divisor.
fn modulo(of: &Value, divisor: &Value) -> Option<Value> {
    let (Value::Exact(of), Value::Exact(divisor)) = (of, divisor) else { return None };
    (!divisor.is_zero()).then(|| bounded(of - divisor * (of / divisor).floor()))
}

fn binomial(n: &BigInt, k: &BigInt) -> Option<Value> {
    let rest = n - k;
    let k = k.min(&rest).to_u64().filter(|k| *k <= FACTORIAL_LIMIT)?;
    let mut result = BigInt::one();
    for step in 0..k {
        result = result * (n - step) / (step + 1);
        (result.bits() <= BITS_LIMIT).then_some(())?;
    }
    Some(Value::Exact(BigRational::from_integer(result)))
}

/// A square root, or another one; an odd root of a negative number is negative.
fn root(of: &Value, index: Option<&Value>) -> Option<Value> {
    let x = of.approximate();
    let Some(index) = index else { return Some(Value::Approximate(x.sqrt())) };
    let index = index.real().filter(|index| *index != 0.0)?;
    let is_odd = index.fract() == 0.0 && index % 2.0 != 0.0;
    if x.im == 0.0 && (x.re >= 0.0 || is_odd) {
        return Some(Value::Approximate((x.re.abs().powf(index.recip()) * x.re.signum()).into()));
    }
    Some(Value::Approximate(x.powf(index.recip())))
}
