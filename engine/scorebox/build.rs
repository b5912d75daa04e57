//! Writes down what the engine is built with: the locked version of wasmtime, and the table of the
//! built-in components from their manifest, an empty one without the feature `builtins`. Builds no
//! component; `scorebox build` does.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() {
    let workspace = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    println!(
        "cargo::rustc-env=SCOREBOX_WASMTIME_VERSION={}",
        wasmtime_version(&read(&workspace.join("Cargo.lock")))
    );
    let dist = workspace.join("guest-scorers/dist");
    let table = match env::var_os("CARGO_FEATURE_BUILTINS") {
        Some(_) => component_table(&read(&dist.join("manifest.json")), &dist),
        None => component_table(r#"{"scorers":[]}"#, &dist),
    };
    let target = PathBuf::from(variable("OUT_DIR")).join("builtin_components.rs");
    fs::write(&target, table).expect("cargo's own folder can be written to");
}

fn variable(name: &str) -> String {
    env::var(name).expect("set by cargo")
}

fn read(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn wasmtime_version(lock: &str) -> &str {
    lock.split("[[package]]")
        .find(|package| package.contains("name = \"wasmtime\"\n"))
        .and_then(|package| package.split("version = \"").nth(1))
        .and_then(|rest| rest.split('"').next())
        .expect("wasmtime is locked")
}

fn component_table(manifest: &str, dist: &Path) -> String {
    let manifest: serde_json::Value =
        serde_json::from_str(manifest).expect("the manifest is what `scorebox build` wrote");
    let compressed = manifest["compressed"].as_bool().unwrap_or(false);
    let scorers = manifest["scorers"].as_array().expect("the manifest lists scorers");
    let rows = scorers.iter().map(|scorer| {
        let name = scorer["name"].as_str().expect("a scorer of the manifest has a name");
        let file = dist.join(format!("{name}.wasm{}", if compressed { ".zst" } else { "" }));
        println!("cargo::rerun-if-changed={}", file.display());
        let (file, row) = (file.display().to_string(), scorer.to_string());
        format!(
            "    BuiltIn {{ name: {name:?}, stored: include_bytes!({file:?}), \
             compressed: {compressed}, row: {row:?} }},\n"
        )
    });
    // Statics: a constant's bytes would be in the binary once for each place that names it.
    format!(
        "/// The built-in scorers, sorted by name.\n\
         pub(super) static COMPONENTS: [BuiltIn; {}] = [\n{}];\n\
         {}",
        scorers.len(),
        rows.collect::<String>(),
        dictionary(&manifest, dist)
    )
}

fn dictionary(manifest: &serde_json::Value, dist: &Path) -> String {
    let (stored, bytes) = match manifest["dictionary"]["bytes"].as_u64() {
        Some(bytes) => {
            let file = dist.join("dictionary.zst");
            println!("cargo::rerun-if-changed={}", file.display());
            (format!("include_bytes!({:?})", file.display().to_string()), bytes)
        }
        None => ("&[]".to_owned(), 0),
    };
    format!(
        "/// What they are compressed against, itself compressed, and how long it is.\n\
         static DICTIONARY: (&[u8], u64) = ({stored}, {bytes});\n"
    )
}
