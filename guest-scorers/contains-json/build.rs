//! Asks the linker for a stack that deep schemas fit on. It builds nothing.

/// The validator recurses with schema and value: some 5 KB a level, and 127 levels are readable JSON.
const STACK_BYTES: usize = 1 << 20;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
