//! Writes numbers into reasons, exactly as `{}` does. Whole numbers bypass the formatting machinery, which takes longer
//! than most scores.

/// Whole numbers below this value are exact, and are written without an exponent.
const EXACT: f64 = (1_u64 << 53) as f64;

/// Appends a number to a text, as `{}` writes it. It pays off if a score is little more than its reason: a whole
/// number, such as milliseconds, takes about a dozen steps instead of a thousand.
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
    // -0 is not written as a whole number, because it has a sign.
    if !is_whole || number.to_bits() == (-0.0_f64).to_bits() {
        text.push_str(&format!("{number}"));
        return;
    }
    if number < 0.0 {
        text.push('-');
    }
    push_count(text, number.abs() as u64);
}

/// Appends a count to a text; see [`push_number`].
pub fn push_count(text: &mut String, count: u64) {
    if count < 10 {
        return text.push(char::from(b'0' + count as u8));
    }
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

/// Appends a whole number to a text with all of its digits, as `{:.0}` writes it, but without the code that can format
/// any number, which would be a tenth of a small component.
pub fn push_whole(text: &mut String, whole: f64) {
    if whole.is_sign_negative() {
        text.push('-');
    }
    let mut rest = whole.abs();
    let mut doublings = 0;
    // Larger doubles are even, so half of one is whole too. The second condition ends the loop for infinity, which JSON
    // cannot contain.
    while rest >= EXACT && doublings < f64::MAX_EXP {
        rest /= 2.0;
        doublings += 1;
    }
    if doublings == 0 {
        return push_count(text, rest as u64);
    }
    let start = text.len();
    push_count(text, rest as u64);
    let mut digits = text.split_off(start).into_bytes();
    for _ in 0..doublings {
        let mut carry = 0;
        for digit in digits.iter_mut().rev() {
            let doubled = 2 * (*digit - b'0') + carry;
            *digit = b'0' + doubled % 10;
            carry = doubled / 10;
        }
        if carry > 0 {
            digits.insert(0, b'0' + carry);
        }
    }
    text.push_str(std::str::from_utf8(&digits).unwrap_or_default());
}

#[cfg(test)]
mod tests;
