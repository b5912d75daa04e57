//! The words of wasmtime, wasmparser and Rust's runtime that are matched, because there is no type or code for
//! what they say. Each has the place upstream that says it (paths are in the crate of the version in Cargo.toml),
//! and a test that makes it say so. What they mean is for `fault` and `compile` to say.

/// Whether one of `phrases` is in `text`.
pub(super) fn says(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// A value that breaks the component model's rules on its way out of a guest, or a place for one on its way in.
pub(super) const BREAKS_THE_CONTRACT: [&str; 6] = [
    // wasmtime, src/runtime/component/func/typed.rs: `WasmStr::new`, `WasmList::new`.
    "pointer/length out of bounds of memory",
    // wasmtime, src/runtime/component/func/typed.rs: `TypedFunc::lift_heap_result`;
    // src/runtime/component/func/host.rs: `validate_inbounds_dynamic`.
    "pointer out of bounds",
    // The same two, and `WasmStr::new` for UTF-16.
    "pointer not aligned",
    // wasmtime, src/runtime/component/func/typed.rs: `WasmList::new`.
    "pointer is not aligned",
    // wasmtime, src/runtime/component/func/typed.rs: `Lift` of `Option` and `Result`;
    // wasmtime-internal-component-macro, src/component.rs: `expand_lift_for_enum`, `expand_lift_for_variant`.
    "discriminant",
    // wasmtime, src/runtime/component/func/options.rs: `LowerContext::realloc`.
    "realloc return: ",
];

/// A call that hands more to the host than it may.
// wasmtime, src/runtime/component/func/options.rs: `HostcallFuelExhausted`.
pub(super) const HANDS_OVER_TOO_MUCH: &str = "fuel allocated for hostcalls has been exhausted";

/// More handles than `Store::set_max_component_handles` allows.
// wasmtime, src/runtime/vm/component/handle_table.rs: `HandleTable::insert`, `HandleTable::resource_lend`.
pub(super) const TOO_MANY_HANDLES: &str = "handle limit exceeded";

/// More printed than is kept.
pub(super) const PRINTS_TOO_MUCH: [&str; 2] = [
    // wasmtime-wasi, src/p2/pipe.rs: `MemoryOutputPipe::write`.
    "write beyond capacity of MemoryOutputPipe",
    // wasmtime-wasi-io, src/streams.rs: `OutputStream::write_zeroes`.
    "than `check_write` allows",
];

/// More random bytes than one call gives.
// wasmtime-wasi, src/p2/host/random.rs: `get_random_bytes`, `get_insecure_random_bytes`.
pub(super) const TOO_MUCH_RANDOMNESS: &str = "requested len";

/// Stands before every fault that the parser finds.
// wasmtime, src/compile.rs: `build_component_artifacts`.
pub(super) const DOES_NOT_PARSE: &str = "failed to parse WebAssembly module: ";

/// A component of asynchronous functions.
// wasmparser, src/validator/component.rs: `ComponentState::canonical_options` and others.
pub(super) const IS_ASYNCHRONOUS: &str = "component model async feature";

/// More than a pool has room for.
// wasmtime, src/runtime/vm/instance/allocator/pooling.rs: `PoolingInstanceAllocator::validate_component`.
pub(super) const DOES_NOT_FIT_THE_POOL: &str = "pooling allocator";

/// Stands before what does not fit, if that is a part of a module.
// The same file: `PoolingInstanceAllocator::validate_module`.
pub(super) const POOL_REQUIREMENTS: &str = "pooling allocator requirements: ";

/// Rust's last words if memory is exhausted; then it aborts.
// std, src/alloc.rs: `default_alloc_error_hook`.
pub(super) const OUT_OF_MEMORY: &str = "memory allocation of";

/// Rust's last words if a stack is exhausted; then it aborts.
// std, src/sys/pal/unix/stack_overflow.rs: `signal_handler`.
pub(super) const OUT_OF_STACK: &str = "overflowed its stack";

#[cfg(test)]
mod tests;
