//! Writes the tables of the built-in components and of the script engines from their manifests; they are empty without
//! the feature `builtins`. It builds no component; `scorebox build` does.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() {
    // Links to `guest-scorers/dist` and `script-engines/dist`, which cargo follows when it packs the crate.
    let crate_folder = variable("CARGO_MANIFEST_DIR");
    let table = |folder: &str, name: &str, docs: &str| {
        let dist = Path::new(&crate_folder).join(folder);
        match env::var_os("CARGO_FEATURE_BUILTINS") {
            Some(_) => component_table(&read(&dist.join("manifest.json")), &dist, name, docs),
            None => component_table(r#"{"scorers":[]}"#, &dist, name, docs),
        }
    };
    let table = table("dist", "COMPONENTS", "The built-in scorers, sorted by name.")
        + &table("script-engines", "SCRIPT_ENGINES", "What runs scripts.");
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

fn component_table(manifest: &str, dist: &Path, table: &str, docs: &str) -> String {
    let manifest: serde_json::Value =
        serde_json::from_str(manifest).expect("the manifest is what `scorebox build` wrote");
    let compressed = manifest["compressed"].as_bool().unwrap_or(false);
    let scorers = manifest["scorers"].as_array().expect("the manifest lists scorers");
    let rows = scorers.iter().map(|scorer| {
        let name = scorer["name"].as_str().expect("a scorer of the manifest has a name");
        let file = dist.join(format!("{name}.wasm{}", if compressed { ".zst" } else { "" }));
        println!("cargo::rerun-if-changed={}", file.display());
        // Users of the embedded components do not need to know how they were built.
        let mut row = scorer.clone();
        if let Some(row) = row.as_object_mut() {
            row.remove("packages");
        }
        let (file, row) = (file.display().to_string(), row.to_string());
        format!(
            "    BuiltIn {{ name: {name:?}, stored: include_bytes!({file:?}), \
             compressed: {compressed}, dictionary: &{table}_DICTIONARY, row: {row:?} }},\n"
        )
    });
    // Statics, because the bytes of a constant would be in the binary once for each use.
    format!(
        "/// {docs}\n\
         pub(super) static {table}: [BuiltIn; {}] = [\n{}];\n\
         {}",
        scorers.len(),
        rows.collect::<String>(),
        // Nothing uses it if the table is empty.
        if scorers.is_empty() { String::new() } else { dictionary(&manifest, dist, table) }
    )
}

fn dictionary(manifest: &serde_json::Value, dist: &Path, table: &str) -> String {
    let (stored, bytes) = match manifest["dictionary"]["bytes"].as_u64() {
        Some(bytes) => {
            let file = dist.join("dictionary.zst");
            println!("cargo::rerun-if-changed={}", file.display());
            (format!("include_bytes!({:?})", file.display().to_string()), bytes)
        }
        None => ("&[]".to_owned(), 0),
    };
    format!(
        "/// What they are compressed against.\n\
         static {table}_DICTIONARY: Dictionary = Dictionary {{\n    \
         stored: {stored},\n    bytes: {bytes},\n    uncompressed: OnceLock::new(),\n}};\n"
    )
}
