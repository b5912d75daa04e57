//! The fuzzer's entry to the target `shards`.
#![no_main]

libfuzzer_sys::fuzz_target!(init: scorebox_fuzz::let_parsers_panic(), |data: &[u8]| {
    scorebox_fuzz::shards(data);
});
