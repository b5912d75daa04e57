//! `scorebox build` of folders that are not crates. `built_components` compares what it builds.

use std::fs;

use insta::assert_snapshot;

use crate::fixture::Folder;

#[test]
fn a_folder_with_a_script_is_built_by_the_script() {
    let folder = Folder::new();
    folder.sh("scorebox new good --lang javascript").exits_with(0);
    assert_snapshot!(folder.sh("scorebox build good"), @"
    [stderr]
    error: `good` is not a scorer in a language that is known here
    hint: name the script in it: scorebox build good/good.js
    [exit code 2]
    ");
}

#[test]
fn a_folder_that_is_not_a_crate_is_not_built() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox build"), @"
    [stderr]
    error: `.` is not a scorer in a language that is known here
    hint: name a folder with Cargo.toml, go.mod, build.zig, asconfig.json, or sources in C, C++ or Zig, or a file: .js, .ts, .py, .c, .cpp, .zig, or .wasm of a core module; `scorebox new` makes a scorer
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox build nowhere"), @"
    [stderr]
    error: `nowhere` does not exist
    hint: name a folder with Cargo.toml, go.mod, build.zig, asconfig.json, or sources in C, C++ or Zig, or a file: .js, .ts, .py, .c, .cpp, .zig, or .wasm of a core module; `scorebox new` makes a scorer
    [exit code 2]
    ");
    // Refused before a compiler is looked for.
    fs::create_dir_all(folder.path("all/one")).unwrap();
    folder.write("all/one/Cargo.toml", "[workspace]\nmembers = [\"two\"]\n");
    assert_snapshot!(folder.sh("scorebox build all/one"), @"
    [stderr]
    error: `all/one/Cargo.toml` has no [package]: it is not the manifest of a crate
    hint: name the folder of a crate: `scorebox build PATH`
    [exit code 2]
    ");
    let all = folder.sh("scorebox build --all all").exits_with(2);
    assert!(all.stderr.starts_with("error: `all/one/Cargo.toml` has no [package]"), "{all}");
    folder.write("all/one/Cargo.toml", "[package]\nname = one\n");
    assert_snapshot!(folder.sh("scorebox build all/one"), @"
    [stderr]
    error: `all/one/Cargo.toml` is not as expected: line 2: string values must be quoted, expected literal string
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox build --all all/one"), @"
    [stderr]
    error: there are no crates in `all/one`
    hint: --all takes a folder of crates' folders; without it, name a crate's folder
    [exit code 2]
    ");
}

/// With a lock, a digest of the sources covers everything that they are built from.
#[test]
fn crates_that_are_built_together_have_a_lock_of_their_versions() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("all/one/src")).unwrap();
    folder.write("all/one/src/lib.rs", "");
    folder.write(
        "all/one/Cargo.toml",
        "[package]\nname = \"one\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n",
    );
    let refused = folder.sh("scorebox build --all all").exits_with(2).stderr;
    let said = "/all` nor a folder above it has a Cargo.lock: crates that are built together are in one workspace\n\
                hint: write a Cargo.toml with `[workspace]` and its `members` beside or above the crates, and run `cargo generate-lockfile` there\n";
    assert!(refused.contains("error: neither `/") && refused.ends_with(said), "{refused}");
    assert!(!folder.path("all/dist").exists() && !folder.path("dist").exists());
}

#[test]
fn a_script_with_a_key_that_is_required_is_built_and_one_with_a_mistake_is_not() {
    let folder = Folder::new();
    folder.write(
        "brief.js",
        "export const info = { configSchema: { type: 'object', properties: { max: { type: 'integer' } }, required: ['max'] } };\n\
         export default (input, config) => Number(input.output.length <= config.max);\n",
    );
    folder.sh("scorebox build brief.js").exits_with(0);
    let scored = |config: &str| {
        folder.sh(&format!(
            "scorebox score brief.wasm --output-text abc --config '{config}' --format json"
        ))
    };
    assert_eq!(scored("{\"max\": 3}").exits_with(0).json()["score"], 1.0);
    let missing = scored("{}").exits_with(2);
    assert!(missing.stderr.contains("max"), "{missing}");
    folder.write("broken.js", "export default (input) => {\n");
    let broken = folder.sh("scorebox build broken.js").exits_with(2);
    assert!(broken.stderr.starts_with("error: script `broken.js`: "), "{broken}");
    assert!(!folder.path("broken.wasm").exists());
}

#[test]
fn a_scorer_that_needs_more_than_the_defaults_to_load_is_built_with_the_limits_that_are_named() {
    let folder = Folder::new();
    folder.write(
        "large.js",
        "const table = new Uint8Array(90e6).fill(1); export default () => table[1];\n",
    );
    let refused = folder.sh("scorebox build large.js").exits_with(2);
    assert!(refused.stderr.contains("out-of-memory"), "{refused}");
    assert!(refused.stderr.contains("or --memory"), "{refused}");
    folder.sh("scorebox build large.js --memory 200MiB").exits_with(0);
    let scored = "scorebox score large.wasm --output 1 --memory 200MiB --format json";
    assert_eq!(folder.sh(scored).exits_with(0).json()["score"], 1.0);
}
