//! Asks the linker for a stack that deep cases fit on. It builds nothing.

/// An expression that walks a case recurses with it, and 127 levels are readable JSON.
const STACK_BYTES: usize = 1 << 20;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
