//! The fuzzer's entry to the target `component_outside`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scorebox_fuzz::component_outside(data));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    scorebox_fuzz::change_component(data, size, most, seed)
});
