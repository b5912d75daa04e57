//! A fixed stream in place of randomness, so that crates which seed hash tables compile and every
//! score repeats exactly. Not for anything that must be unpredictable.

use std::num::NonZeroI32;

/// What crates that use getrandom 0.3 or 0.4 call when they are built with
/// `--cfg getrandom_backend="custom"`. Fills with the same bytes on every call.
// SAFETY: the name is getrandom's own, and defined once in a component: here. The error type of the
// caller's declaration is a newtype over `NonZeroI32`, so both results are one `i32` with 0 for `Ok`.
#[unsafe(no_mangle)]
unsafe fn __getrandom_v03_custom(destination: *mut u8, length: usize) -> Result<(), NonZeroI32> {
    let mut state: u64 = 0x5c0e_b0c5_5c0e_b0c5;
    for index in 0..length {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // SAFETY: getrandom passes a buffer of `length` bytes that it owns.
        unsafe { destination.add(index).write((state >> 56) as u8) };
    }
    Ok(())
}
