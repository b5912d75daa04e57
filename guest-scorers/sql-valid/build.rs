//! Asks the linker for a stack that long queries fit on. It builds nothing.

/// The parser recurses with what nests, and compares and frees what it read by recursion as well.
const STACK_BYTES: usize = 1 << 20;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
