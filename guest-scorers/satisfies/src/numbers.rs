//! Functions on floating-point numbers that C has but Rust lacks, exact to the last bit.

/// A mantissa from 0.5 to 1, and the power of two that it is multiplied by; for zero and numbers that are not finite,
/// the number itself.
pub(crate) fn mantissa_and_exponent(x: f64) -> (f64, i32) {
    const BITS: u64 = 0x7ff << 52;
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // A subnormal number must be scaled first, because its exponent is in its digits.
    let (normal, shift) = if x.is_normal() { (x, 0) } else { (x * 2_f64.powi(54), 54) };
    let bits = normal.to_bits();
    let exponent = ((bits & BITS) >> 52) as i32 - 1022;
    (f64::from_bits((bits & !BITS) | (1022 << 52)), exponent - shift)
}

pub(crate) fn exponent(x: f64) -> f64 {
    match x {
        0.0 => f64::NEG_INFINITY,
        _ if x.is_nan() => x,
        _ if x.is_infinite() => f64::INFINITY,
        _ => f64::from(mantissa_and_exponent(x).1 - 1),
    }
}

pub(crate) fn significand(x: f64) -> f64 {
    let is_itself = x == 0.0 || !x.is_finite();
    if is_itself { x } else { 2.0 * mantissa_and_exponent(x).0 }
}

/// `x` times two to the power of the integer part of `power`.
pub(crate) fn scaled(x: f64, power: f64) -> f64 {
    // In steps, none of which overflows or underflows; beyond this range, the result is infinite or zero anyway.
    let mut left = power.clamp(-2200.0, 2200.0) as i32;
    let mut scaled = x;
    while left != 0 {
        let part = left.clamp(-1000, 1000);
        scaled *= 2_f64.powi(part);
        left -= part;
    }
    scaled
}

/// The difference of `x` and the closest multiple of `y`; if two are equally close, the even one.
pub(crate) fn remainder(x: f64, y: f64) -> f64 {
    let y = y.abs();
    if y.is_infinite() && x.is_finite() {
        return x;
    }
    // Twice `y` may be infinite; then nothing is subtracted.
    let rest = x.abs() % (2.0 * y);
    let closest = match rest {
        _ if rest <= y / 2.0 => rest,
        _ if rest - y < y / 2.0 => rest - y,
        _ => rest - y - y,
    };
    if x.is_sign_negative() { -closest } else { closest }
}
