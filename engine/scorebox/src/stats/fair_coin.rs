//! Computes in how many of all sequences of throws a fair coin shows few heads, exact to the last digit. It makes no
//! test, and counts no more throws than an `f64` has room for.

/// How many throws can be counted: 2^1000 is an `f64`, and so is its inverse.
pub(super) const MAX_COUNTED: u64 = 1000;

/// The probability that of `throws`, at most [`MAX_COUNTED`], at most `heads` are heads.
pub(super) fn at_most(heads: u64, throws: u64) -> f64 {
    let mut ways = Precise::from(1.0);
    let mut sum = ways;
    for heads in 1..=heads.min(throws) {
        ways = ways.times((throws - heads + 1) as f64).over(heads as f64);
        sum = sum.plus(ways);
    }
    // Each halving is exact.
    (0..throws).fold(sum.high, |part, _| part / 2.0)
}

/// A number with twice the digits of an `f64`: an `f64`, and the rest that rounding to it leaves out. So the rounding
/// errors of a thousand steps do not reach the last digit of the first part.
///
/// Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18 (1971).
#[derive(Clone, Copy, Debug)]
struct Precise {
    high: f64,
    low: f64,
}

impl Precise {
    fn from(number: f64) -> Precise {
        Precise { high: number, low: 0.0 }
    }

    /// The sum of a number and a much smaller one.
    fn of(large: f64, small: f64) -> Precise {
        let high = large + small;
        Precise { high, low: small - (high - large) }
    }

    fn times(self, factor: f64) -> Precise {
        let product = self.high * factor;
        let rounded_off = self.high.mul_add(factor, -product);
        Precise::of(product, rounded_off + self.low * factor)
    }

    fn over(self, divisor: f64) -> Precise {
        let quotient = self.high / divisor;
        let remainder = (-quotient).mul_add(divisor, self.high);
        Precise::of(quotient, (remainder + self.low) / divisor)
    }

    fn plus(self, other: Precise) -> Precise {
        let sum = self.high + other.high;
        let of_other = sum - self.high;
        let rounded_off = (self.high - (sum - of_other)) + (other.high - of_other);
        Precise::of(sum, rounded_off + self.low + other.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected: Python, `float(Fraction(sum(comb(throws, k) for k in range(heads + 1)), 2**throws))`.
    #[test]
    fn ways_are_those_of_fractions_to_the_last_digit() {
        for (heads, throws, expected) in [
            (0, 0, 1.0),
            (0, 1, 0.5),
            (0, 2, 0.25),
            (0, 6, 0.015_625),
            (0, 7, 0.007_812_5),
            (9, 32, 0.010_030_803_503_468_633),
            (12, 36, 0.032_622_667_611_576_62),
            (20, 60, 0.006_744_646_865_595_93),
            (27, 57, 0.395_683_213_889_590_3),
            (100, 300, 4.007_437_608_269_459e-09),
            (3, 999, 3.101_570_979_188_857_5e-293),
            (400, 1000, 1.364_232_078_033_009_2e-10),
            (499, 1000, 0.487_387_490_910_819_6),
            (0, 1000, 9.332_636_185_032_189e-302),
        ] {
            assert_eq!(at_most(heads, throws), expected, "{heads} of {throws}");
        }
    }

    #[test]
    fn as_many_throws_fall_on_one_side_as_on_the_other() {
        for throws in (1..=MAX_COUNTED).step_by(2) {
            assert_eq!(at_most(throws / 2, throws), 0.5, "{throws}");
            assert_eq!(at_most(throws, throws), 1.0, "{throws}");
        }
    }
}
