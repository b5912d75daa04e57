//! Numbers in reasons. It writes what `{}` writes, but whole numbers without the machinery of formatting,
//! which takes longer than most scores.

/// Whole numbers below this are exact, and written without an exponent.
const EXACT: f64 = (1_u64 << 53) as f64;

/// Adds a number to a text, as `{}` writes it. Worth its name where a score is little more than its
/// reason: a whole number, such as milliseconds, takes some dozen steps in place of a thousand.
///
/// ```
/// use scorebox_sdk::push_number;
///
/// let mut reason = String::from("took ");
/// push_number(&mut reason, 1200.0);
/// reason.push_str(" of ");
/// push_number(&mut reason, 0.25);
/// assert_eq!(reason, "took 1200 of 0.25");
/// ```
pub fn push_number(text: &mut String, number: f64) {
    let is_whole = number.abs() < EXACT && number.trunc() == number;
    // -0 is not written as a whole number: it has a sign.
    if !is_whole || number.to_bits() == (-0.0_f64).to_bits() {
        text.push_str(&format!("{number}"));
        return;
    }
    if number < 0.0 {
        text.push('-');
    }
    push_count(text, number.abs() as u64);
}

/// Adds a count to a text; see [`push_number`].
pub fn push_count(text: &mut String, count: u64) {
    let mut number = count;
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.push_str(std::str::from_utf8(&digits[first..]).unwrap_or_default());
}

#[cfg(test)]
mod tests;
