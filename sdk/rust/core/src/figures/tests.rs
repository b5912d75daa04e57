//! The text is the same as that of `{}`, at every boundary where the notation changes.

use super::{push_count, push_number, push_whole};

#[test]
fn counts_are_written_as_they_are_displayed() {
    for count in [0, 1, 9, 10, 12_345, u64::from(u32::MAX), u64::MAX] {
        let mut text = String::from("x");
        push_count(&mut text, count);
        assert_eq!(text, format!("x{count}"));
    }
}

#[test]
fn numbers_are_written_as_they_are_displayed() {
    for number in numbers() {
        let mut text = String::new();
        push_number(&mut text, number);
        assert_eq!(text, number.to_string());
    }
}

#[test]
fn whole_numbers_are_written_with_all_of_their_digits() {
    let whole = |number: &f64| number.is_finite() && number.fract() == 0.0;
    for number in numbers().filter(whole) {
        let mut text = String::from("x");
        push_whole(&mut text, number);
        assert_eq!(text, format!("x{number:.0}"));
    }
}

/// Numbers around the boundaries where the notation changes, and a stream of pseudorandom ones, with either sign.
fn numbers() -> impl Iterator<Item = f64> {
    let exact = (1_u64 << 53) as f64;
    let edges = [
        0.0,
        0.5,
        1.0,
        9.0,
        10.0,
        99.0,
        1200.0,
        1e15,
        1e16,
        1e21,
        1e300,
        0.1,
        1e-7,
        5e-324,
        exact - 1.0,
        exact,
        exact + 2.0,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    let mut state = 1_u64;
    let others = (0..2000).map(move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Half of them whole.
        if state.is_multiple_of(2) { (state >> 20) as f64 } else { f64::from_bits(state) }
    });
    edges.into_iter().chain(others).flat_map(|number| [number, -number])
}
