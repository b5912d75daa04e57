//! The fuzzer's entry to the target `core_module`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scorebox_fuzz::core_module(data));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    scorebox_fuzz::change_module(data, size, most, seed)
});
