//! The components that are embedded in the binary. The table is written by `build.rs` from the
//! manifest under `guest-scorers/dist/`; their sources are in `guest-scorers/`.

include!(concat!(env!("OUT_DIR"), "/builtin_components.rs"));
