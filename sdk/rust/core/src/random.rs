//! A fixed stream in place of random numbers, so that crates that seed hash tables compile and every score is
//! reproducible. Not for anything that must be unpredictable.

use std::num::NonZeroI32;

/// The function that getrandom 0.3 and 0.4 call if built with `--cfg getrandom_backend="custom"`. It writes the same
/// bytes on every call.
// SAFETY: getrandom reserves the name, and it is defined once in a component: here. The error type in the caller's
// declaration is a newtype over `NonZeroI32`, so both results are one `i32`, with 0 for `Ok`.
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
