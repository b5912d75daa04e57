//! `scorebox build` on what is not a crate. What it builds is compared in `built_components`.

use std::fs;

use insta::assert_snapshot;

use crate::fixture::Folder;

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
    // Before a compiler is looked for.
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
