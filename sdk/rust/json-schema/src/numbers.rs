//! Checks `multipleOf` and bounds of large numbers in exact decimal arithmetic, because the validator divides and
//! compares doubles. It reads a number from its shortest text, and parses no schema.
//!
//! The validator cannot be given new keywords, only new formats, which are functions of a value with a name. So a rule
//! becomes a format named after its place in a list, and the list is set while a value is validated.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::error::Error;

use boon::{ErrorKind, Format};
use serde_json::{Number, Value};

/// From this value on, doubles skip whole numbers.
const EXACT_DOUBLES: f64 = 9_007_199_254_740_992.0;

/// A keyword that limits numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Keyword {
    MultipleOf,
    Maximum,
    Minimum,
    ExclusiveMaximum,
    ExclusiveMinimum,
}

impl Keyword {
    pub(super) const ALL: [Self; 5] = [
        Self::MultipleOf,
        Self::Maximum,
        Self::Minimum,
        Self::ExclusiveMaximum,
        Self::ExclusiveMinimum,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::MultipleOf => "multipleOf",
            Self::Maximum => "maximum",
            Self::Minimum => "minimum",
            Self::ExclusiveMaximum => "exclusiveMaximum",
            Self::ExclusiveMinimum => "exclusiveMinimum",
        }
    }
}

/// A keyword and its number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    keyword: Keyword,
    limit: Number,
}

impl Rule {
    /// The rule for a keyword; `None` if the validator's own check is exact, or the schema is not valid.
    pub(super) fn new(keyword: Keyword, limit: &Number) -> Option<Self> {
        let size = limit.as_f64()?;
        let needed = match keyword {
            Keyword::MultipleOf => size > 0.0,
            _ => size.abs() >= EXACT_DOUBLES,
        };
        needed.then(|| Self { keyword, limit: limit.clone() })
    }

    fn holds(&self, number: &Number) -> bool {
        let (Some(number), Some(limit)) = (Decimal::new(number), Decimal::new(&self.limit)) else {
            return true;
        };
        let order = number.cmp(&limit);
        match self.keyword {
            Keyword::MultipleOf => number.is_multiple_of(&limit),
            Keyword::Maximum => order.is_le(),
            Keyword::Minimum => order.is_ge(),
            Keyword::ExclusiveMaximum => order.is_lt(),
            Keyword::ExclusiveMinimum => order.is_gt(),
        }
    }

    /// The validator's kind of error, with its keyword and number, for a number that breaks the rule.
    pub(super) fn failure<'a>(&'a self, number: &'a Number) -> ErrorKind<'a, 'a> {
        let (got, want) = (Cow::Borrowed(number), &self.limit);
        match self.keyword {
            Keyword::MultipleOf => ErrorKind::MultipleOf { got, want },
            Keyword::Maximum => ErrorKind::Maximum { got, want },
            Keyword::Minimum => ErrorKind::Minimum { got, want },
            Keyword::ExclusiveMaximum => ErrorKind::ExclusiveMaximum { got, want },
            Keyword::ExclusiveMinimum => ErrorKind::ExclusiveMinimum { got, want },
        }
    }
}

/// A number as digits and a power of ten. A number from a JSON reader has at most 20 digits.
struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

impl Decimal {
    fn new(number: &Number) -> Option<Self> {
        let text = number.to_string();
        let unsigned = text.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i32 = exponent.parse().ok()?;
        Some(Self {
            negative: unsigned.len() < text.len(),
            digits: [whole, fraction].concat().parse().ok()?,
            exponent: exponent - i32::try_from(fraction.len()).ok()?,
        })
    }

    /// Whether this is a multiple of another number that is not 0.
    fn is_multiple_of(&self, other: &Self) -> bool {
        if self.exponent < other.exponent {
            // A divisor that does not fit is larger than this number.
            return match scaled(other.digits, other.exponent - self.exponent) {
                Some(divisor) => self.digits.is_multiple_of(divisor),
                None => self.digits == 0,
            };
        }
        let mut rest = self.digits % other.digits;
        for _ in other.exponent..self.exponent {
            rest = rest * 10 % other.digits;
        }
        rest == 0
    }

    fn cmp(&self, other: &Self) -> Ordering {
        if self.digits == 0 && other.digits == 0 {
            return Ordering::Equal;
        }
        match (self.negative, other.negative) {
            (false, false) => self.cmp_size(other),
            (true, true) => other.cmp_size(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }

    /// Compares the absolute values.
    fn cmp_size(&self, other: &Self) -> Ordering {
        if self.exponent < other.exponent {
            return other.cmp_size(self).reverse();
        }
        match scaled(self.digits, self.exponent - other.exponent) {
            Some(digits) => digits.cmp(&other.digits),
            None => Ordering::Greater,
        }
    }
}

/// Digits times a power of ten; `None` if the product has more than 128 bits.
fn scaled(digits: u128, power: i32) -> Option<u128> {
    if digits == 0 {
        return Some(0);
    }
    let factor = 10_u128.checked_pow(u32::try_from(power).ok()?)?;
    digits.checked_mul(factor)
}

thread_local! {
    /// The rules of the schema that is being used.
    static RULES: RefCell<Vec<Rule>> = const { RefCell::new(Vec::new()) };
}

/// Runs a validation with the rules of its schema.
pub(super) fn with<T>(rules: &[Rule], validate: impl FnOnce() -> T) -> T {
    if !rules.is_empty() {
        RULES.set(rules.to_vec());
    }
    validate()
}

fn check(place: usize, value: &Value) -> Result<(), Box<dyn Error>> {
    let Value::Number(number) = value else { return Ok(()) };
    let holds = RULES.with_borrow(|rules| rules.get(place).is_none_or(|rule| rule.holds(number)));
    if holds { Ok(()) } else { Err("a number that the schema excludes".into()) }
}

macro_rules! formats {
    ($($place:literal)*) => {
        /// The formats of all rules that a schema may have.
        pub(super) const FORMATS: &[Format] = &[$(Format {
            name: concat!("rule of numbers ", $place),
            func: |value| check($place, value),
        }),*];
    };
}

formats! {
     0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
}

#[cfg(test)]
mod tests {
    use serde_json::from_str;

    use super::*;

    fn holds(keyword: Keyword, limit: &str, number: &str) -> bool {
        let rule = Rule { keyword, limit: from_str(limit).unwrap() };
        rule.holds(&from_str(number).unwrap())
    }

    #[test]
    fn a_multiple_of_a_decimal_is_one_in_decimals() {
        for cents in 1..=2000 {
            let price = format!("{}.{:02}", cents / 100, cents % 100);
            assert!(holds(Keyword::MultipleOf, "0.01", &price), "{price}");
            assert!(!holds(Keyword::MultipleOf, "0.01", &format!("{price}5")), "{price}5");
        }
        let rows = [
            ("0.1", "-0.3", true),
            ("1e-7", "3e-7", true),
            ("3", "1e300", false),
            ("0.5", "1e308", true),
            ("0.123456789", "1e308", false),
            ("1e300", "7", false),
            ("1e300", "0", true),
            ("2", "9007199254740993", false),
            ("2", "18446744073709551614", true),
            ("2", "-9223372036854775807", false),
        ];
        for (limit, number, expected) in rows {
            assert_eq!(holds(Keyword::MultipleOf, limit, number), expected, "{number} of {limit}");
        }
    }

    #[test]
    fn bounds_are_compared_digit_by_digit() {
        use Keyword::{ExclusiveMaximum, ExclusiveMinimum, Maximum, Minimum};
        let rows = [
            (Maximum, "9007199254740992", "9007199254740993", false),
            (Maximum, "9007199254740992", "9007199254740992.0", true),
            (ExclusiveMaximum, "9007199254740993", "9007199254740992", true),
            (ExclusiveMaximum, "9007199254740993", "9007199254740993", false),
            (Minimum, "-9007199254740992", "-9007199254740993", false),
            (Minimum, "9007199254740993", "-1e300", false),
            (ExclusiveMinimum, "18446744073709551614", "18446744073709551615", true),
            (ExclusiveMinimum, "-9007199254740993", "-9007199254740993", false),
            (ExclusiveMinimum, "1e16", "1e300", true),
            (Maximum, "1e16", "0.5", true),
            (Maximum, "-1e16", "-0.0", false),
        ];
        for (keyword, limit, number, expected) in rows {
            assert_eq!(holds(keyword, limit, number), expected, "{number} {keyword:?} {limit}");
        }
    }

    #[test]
    fn a_rule_is_made_only_where_doubles_are_not_exact() {
        let rule = |keyword, limit: &str| Rule::new(keyword, &from_str(limit).unwrap());
        assert!(rule(Keyword::Maximum, "9007199254740991").is_none());
        assert!(rule(Keyword::Minimum, "-9007199254740992").is_some());
        assert!(rule(Keyword::MultipleOf, "5").is_some());
        assert!(rule(Keyword::MultipleOf, "0").is_none());
    }
}
