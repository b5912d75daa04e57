//! Messages of wasmtime, wasmparser and Rust's runtime that are matched, because no type or code expresses the same.
//! Each has a link to its place upstream, and a test that produces it. What they mean is decided in `fault` and
//! `compile`.

/// Whether `text` contains one of `phrases`.
pub(super) fn says(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// A value that breaks the component model's rules on its way out of a guest, or an address for a value on its way in.
pub(super) const BREAKS_THE_CONTRACT: [&str; 6] = [
    // https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasmtime/src/runtime/component/func/typed.rs
    // `WasmStr::new`, `WasmList::new`.
    "pointer/length out of bounds of memory",
    // https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasmtime/src/runtime/component/func/typed.rs
    // `TypedFunc::lift_heap_result`;
    // https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasmtime/src/runtime/component/func/host.rs
    // `validate_inbounds_dynamic`.
    "pointer out of bounds",
    // The same two functions, and `WasmStr::new` for UTF-16.
    "pointer not aligned",
    // https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasmtime/src/runtime/component/func/typed.rs
    // `WasmList::new`.
    "pointer is not aligned",
    // https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasmtime/src/runtime/component/func/typed.rs
    // `Lift` of `Option` and `Result`;
    // https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/component-macro/src/component.rs
    // `expand_lift_for_enum`, `expand_lift_for_variant`.
    "discriminant",
    // https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasmtime/src/runtime/component/func/options.rs
    // `LowerContext::realloc`.
    "realloc return: ",
];

/// A call that passes more to the host than it may.
// https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasmtime/src/runtime/component/func/options.rs
// `HostcallFuelExhausted`.
pub(super) const HANDS_OVER_TOO_MUCH: &str = "fuel allocated for hostcalls has been exhausted";

/// More handles than `Store::set_max_component_handles` allows.
// https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasmtime/src/runtime/vm/component/handle_table.rs
// `HandleTable::insert`, `HandleTable::resource_lend`.
pub(super) const TOO_MANY_HANDLES: &str = "handle limit exceeded";

/// More printed output than is kept.
pub(super) const PRINTS_TOO_MUCH: [&str; 2] = [
    // https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasi/src/p2/pipe.rs
    // `MemoryOutputPipe::write`.
    "write beyond capacity of MemoryOutputPipe",
    // https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasi-io/src/streams.rs
    // `OutputStream::write_zeroes`.
    "than `check_write` allows",
];

/// More random bytes than one call may request.
// https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasi/src/p2/host/random.rs
// `get_random_bytes`, `get_insecure_random_bytes`.
pub(super) const TOO_MUCH_RANDOMNESS: &str = "requested len";

/// The prefix of every error that the parser finds.
// https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasmtime/src/compile.rs
// `build_component_artifacts`.
pub(super) const DOES_NOT_PARSE: &str = "failed to parse WebAssembly module: ";

/// A component with asynchronous functions.
// https://github.com/bytecodealliance/wasm-tools/blob/v1.254.0/crates/wasmparser/src/validator/component.rs
// `ComponentState::canonical_options` and others.
pub(super) const IS_ASYNCHRONOUS: &str = "component model async feature";

/// More than a pool has room for.
// https://github.com/bytecodealliance/wasmtime/blob/v48.0.8/crates/wasmtime/src/runtime/vm/instance/allocator/pooling.rs
// `PoolingInstanceAllocator::validate_component`.
pub(super) const DOES_NOT_FIT_THE_POOL: &str = "pooling allocator";

/// The prefix of what does not fit, if that is a part of a module.
// The same file: `PoolingInstanceAllocator::validate_module`.
pub(super) const POOL_REQUIREMENTS: &str = "pooling allocator requirements: ";

/// A compiler that has no threads to share its work, because the system gives it none; it panics.
// https://github.com/rayon-rs/rayon/blob/rayon-core-v1.13.0/rayon-core/src/registry.rs
// `global_registry`.
pub(super) const WITHOUT_THREADS: &str = "The global thread pool has not been initialized";

/// Rust's last message if memory is exhausted; then it aborts.
// https://github.com/rust-lang/rust/blob/1.95.0/library/std/src/alloc.rs
// `default_alloc_error_hook`.
pub(super) const OUT_OF_MEMORY: &str = "memory allocation of";

/// Rust's last message if a stack is exhausted; then it aborts.
// https://github.com/rust-lang/rust/blob/1.95.0/library/std/src/sys/pal/unix/stack_overflow.rs
// `signal_handler`.
pub(super) const OUT_OF_STACK: &str = "overflowed its stack";

#[cfg(test)]
mod tests;
