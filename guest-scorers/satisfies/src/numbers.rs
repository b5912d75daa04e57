//! Functions on floating-point numbers that C has and Rust has not, exact to the last bit.

/// A mantissa from 0.5 to 1 and the power of two that it stands before; zero and what is not finite is itself.
pub(crate) fn mantissa_and_exponent(x: f64) -> (f64, i32) {
    const BITS: u64 = 0x7ff << 52;
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // A subnormal number has its exponent in its digits.
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

/// `x` times two to the power of the whole part of `power`.
pub(crate) fn scaled(x: f64, power: f64) -> f64 {
    // In parts, of which none is too large or too small; beyond this it is infinite or zero anyway.
    let mut left = power.clamp(-2200.0, 2200.0) as i32;
    let mut scaled = x;
    while left != 0 {
        let part = left.clamp(-1000, 1000);
        scaled *= 2_f64.powi(part);
        left -= part;
    }
    scaled
}

/// What remains of `x` by the closest multiple of `y`; of two that are as close, by the even one.
pub(crate) fn remainder(x: f64, y: f64) -> f64 {
    let y = y.abs();
    if y.is_infinite() && x.is_finite() {
        return x;
    }
    // Twice `y` may be infinite, then nothing is taken off.
    let rest = x.abs() % (2.0 * y);
    let closest = match rest {
        _ if rest <= y / 2.0 => rest,
        _ if rest - y < y / 2.0 => rest - y,
        _ => rest - y - y,
    };
    if x.is_sign_negative() { -closest } else { closest }
}
