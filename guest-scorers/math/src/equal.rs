//! Decides whether two expressions have the same value. Variables get numbers: two expressions that agree for several
//! of them, chosen without a pattern, are considered the same.

use std::collections::BTreeSet;

use num_complex::Complex64;

use crate::expression::{Expression, Function, Relation};
use crate::tokens::REALS;
use crate::value::{Value, value};

/// The relative difference up to which values are equal, for decimal fractions and transcendental numbers, roots, and
/// expressions with variables.
const TOLERANCE: f64 = 1e-10;
const TOLERANCE_OF_ROOTS: f64 = 1e-12;
const TOLERANCE_WITH_VARIABLES: f64 = 1e-9;

/// From this value to 1, the tolerance is absolute rather than relative. Computed values below it are compared
/// likewise, because they may be rounding errors of larger ones; written numbers are not.
const SMALL: f64 = 1e-3;

/// How many sets of numbers are tried for the variables, and how many of them must give a value.
const TRIALS: usize = 6;
const TRIALS_NEEDED: usize = 3;

/// Not a number: nothing is computed with it, because `1^\infty` is not 1.
const INFINITY: &str = "infty";

/// The most values of a set, because each is compared with each.
const SET_LIMIT: usize = 100;

/// Whether two answers have the same value.
pub(crate) fn equal(left: &Expression, right: &Expression) -> bool {
    if left == right {
        return true;
    }
    match (left, right) {
        (
            Expression::Relations(sides, relations),
            Expression::Relations(others, other_relations),
        ) => relations_equal((sides, relations), (others, other_relations)),
        // `x = 2` is the answer 2.
        (Expression::Relations(..), other) | (other, Expression::Relations(..)) => {
            let relation = if matches!(left, Expression::Relations(..)) { left } else { right };
            assigned(relation).is_some_and(|value| equal(value, other))
        }
        // An element that occurs twice in a set counts once.
        (Expression::Set(left), Expression::Set(right)) => {
            are_in(left, right) && are_in(right, left)
        }
        (Expression::List { brackets: Some(('(', ')')), items }, Expression::Name(name))
        | (Expression::Name(name), Expression::List { brackets: Some(('(', ')')), items }) => {
            name == REALS && is_everything(items)
        }
        (Expression::Set(left), Expression::List { brackets: None, items: right })
        | (Expression::List { brackets: None, items: left }, Expression::Set(right))
        | (Expression::Union(left), Expression::Union(right)) => in_any_order(left, right),
        (Expression::Set(items), Expression::Name(name))
        | (Expression::Name(name), Expression::Set(items)) => {
            items.is_empty() && name == "emptyset"
        }
        (
            Expression::List { brackets, items },
            Expression::List { brackets: other_brackets, items: others },
        ) => {
            let are_relations = items.iter().all(|item| matches!(item, Expression::Relations(..)));
            brackets_agree(*brackets, *other_brackets, items.len())
                && (all_equal(items, others) || are_relations && in_any_order(items, others))
        }
        (Expression::Matrix(rows), Expression::Matrix(others)) => {
            rows.len() == others.len()
                && rows.iter().zip(others).all(|(row, other)| all_equal(row, other))
        }
        _ => values_equal(left, right),
    }
}

fn all_equal(left: &[Expression], right: &[Expression]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
}

fn are_in(items: &[Expression], others: &[Expression]) -> bool {
    items.len().max(others.len()) <= SET_LIMIT
        && items.iter().all(|item| others.iter().any(|other| equal(item, other)))
}

/// Whether an interval with these ends contains all numbers.
fn is_everything(ends: &[Expression]) -> bool {
    let is_infinite = |end: &Expression| matches!(end, Expression::Name(name) if name == INFINITY);
    let [Expression::Sum(start), end] = ends else { return false };
    matches!(start.as_slice(), [(true, start)] if is_infinite(start)) && is_infinite(end)
}

fn in_any_order(left: &[Expression], right: &[Expression]) -> bool {
    let mut waiting: Vec<&Expression> = right.iter().collect();
    left.len() == right.len()
        && left.len() <= SET_LIMIT
        && left.iter().all(|item| {
            let place = waiting.iter().position(|other| equal(item, other));
            place.map(|place| waiting.swap_remove(place)).is_some()
        })
}

/// Two values in brackets may be an interval, and the brackets then say whether the ends belong to it.
fn brackets_agree(left: Option<(char, char)>, right: Option<(char, char)>, items: usize) -> bool {
    let closed = |brackets: (char, char)| brackets == ('[', ']') || brackets == ('(', ')');
    match (left, right) {
        (Some(left), Some(right)) => left == right || items != 2 && closed(left) && closed(right),
        (None, Some(other)) | (Some(other), None) => closed(other),
        (None, None) => true,
    }
}

/// The side of an equation that is the answer, if the other side is a variable.
fn assigned(relation: &Expression) -> Option<&Expression> {
    let Expression::Relations(sides, relations) = relation else { return None };
    let is_name = |side: &Expression| matches!(side, Expression::Name(_));
    match (sides.as_slice(), relations.as_slice()) {
        ([left, right], [Relation::Equal]) if is_name(right) && !is_name(left) => Some(left),
        ([_, right], [Relation::Equal | Relation::In]) => Some(right),
        // `3 + 4 = 5 + 2 = 7`.
        ([.., last], relations)
            if relations.iter().all(|relation| *relation == Relation::Equal) =>
        {
            Some(last)
        }
        _ => None,
    }
}

type Chain<'e> = (&'e [Expression], &'e [Relation]);

fn relations_equal(left: Chain<'_>, right: Chain<'_>) -> bool {
    let mirrored = |relation: &Relation| match relation {
        Relation::Less => Relation::Greater,
        Relation::AtMost => Relation::AtLeast,
        Relation::Greater => Relation::Less,
        Relation::AtLeast => Relation::AtMost,
        other => *other,
    };
    let turned: Vec<Relation> = right.1.iter().rev().map(mirrored).collect();
    left.1 == right.1 && all_equal(left.0, right.0)
        || left.1 == turned
            && !turned.contains(&Relation::In)
            && left.0.len() == right.0.len()
            && left.0.iter().zip(right.0.iter().rev()).all(|(left, right)| equal(left, right))
}

fn values_equal(left: &Expression, right: &Expression) -> bool {
    let (mut names, mut kind) = (BTreeSet::new(), Kind::Exact);
    for expression in [left, right] {
        look(expression, &mut names, &mut kind);
    }
    if names.is_empty() {
        let none = |_: &str| None;
        let (Some(left), Some(right)) = (value(left, &none), value(right, &none)) else {
            return false;
        };
        return match (&left, &right) {
            (Value::Exact(left), Value::Exact(right)) if kind != Kind::Decimal => left == right,
            _ => {
                let tolerance = if kind == Kind::Exact { TOLERANCE_OF_ROOTS } else { TOLERANCE };
                close(&left, &right, tolerance)
            }
        };
    }
    let mut agreed = 0;
    for trial in 0..TRIALS {
        let number = |name: &str| {
            names.iter().position(|other| *other == name).map(|place| sample(place, trial))
        };
        match (value(left, &number), value(right, &number)) {
            (Some(left), Some(right)) => {
                if !close(&left, &right, TOLERANCE_WITH_VARIABLES) {
                    return false;
                }
                agreed += 1;
            }
            (None, None) => {}
            _ => return false,
        }
    }
    agreed >= TRIALS_NEEDED
}

fn close(left: &Value, right: &Value, tolerance: f64) -> bool {
    let exact = match (left, right) {
        (Value::Exact(left), Value::Exact(right)) => Some(left == right),
        _ => None,
    };
    let (left, right) = (left.approximate(), right.approximate());
    // Outside the range of a double, there are no meaningful distances: a value that is too large would be infinitely
    // far from everything, and one that is too small would be 0.
    let is_in_range = |norm: f64| norm.is_normal() || norm < 1.0 && exact.is_none();
    if !is_in_range(left.norm()) || !is_in_range(right.norm()) {
        return exact.unwrap_or(false);
    }
    let scale = match left.norm().max(right.norm()) {
        size if size >= SMALL => size.max(1.0),
        size if exact.is_some() => size,
        _ => SMALL,
    };
    (left - right).norm() <= tolerance * scale
}

/// A number for the variable at an index, without a pattern: 0.25 to 2.25, or its negative.
fn sample(place: usize, trial: usize) -> Complex64 {
    let seed = (place * TRIALS + trial + 1) as u64;
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let part = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
    let sign = if mixed & 1 == 0 { 1.0 } else { -1.0 };
    Complex64::new(sign * (0.25 + 2.0 * part), 0.0)
}

/// The kind of numbers that a value is computed from.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Kind {
    /// Whole numbers, fractions and roots.
    Exact,
    /// With `pi`, `e` or a function.
    Transcendental,
    /// With a decimal fraction.
    Decimal,
}

/// Collects the variables of an expression, and the kind of its numbers.
fn look<'e>(expression: &'e Expression, names: &mut BTreeSet<&'e str>, kind: &mut Kind) {
    let found = match expression {
        Expression::Number { is_decimal: true, .. } => Kind::Decimal,
        Expression::Name(name) if matches!(name.as_str(), "pi" | "e") => Kind::Transcendental,
        Expression::Name(name) => {
            if !matches!(name.as_str(), "i" | "imath" | INFINITY) {
                names.insert(name);
            }
            Kind::Exact
        }
        Expression::Call(function, _) => match function {
            Function::Root
            | Function::Abs
            | Function::Factorial
            | Function::Binomial
            | Function::Modulo => Kind::Exact,
            _ => Kind::Transcendental,
        },
        Expression::Unknown(name, _) => {
            names.insert(name);
            Kind::Transcendental
        }
        _ => Kind::Exact,
    };
    if found > *kind {
        *kind = found;
    }
    match expression {
        Expression::Sum(parts) | Expression::Product(parts) => {
            parts.iter().for_each(|(_, part)| look(part, names, kind));
        }
        Expression::Power(base, exponent) => {
            look(base, names, kind);
            look(exponent, names, kind);
        }
        Expression::Call(_, arguments) | Expression::Unknown(_, arguments) => {
            arguments.iter().for_each(|argument| look(argument, names, kind));
        }
        _ => {}
    }
}
