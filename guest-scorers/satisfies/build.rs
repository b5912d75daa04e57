//! Tells the linker to reserve a stack that is large enough for deep cases. It builds nothing.

/// An expression that walks a case recurses into it, and JSON may have 127 levels.
const STACK_BYTES: usize = 1 << 20;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
