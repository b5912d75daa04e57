//! `scorebox new`: each language's files work as their README says, nothing is overwritten, and missing answers are
//! asked for. `.ci/run` runs the commands of a crate's README, which need a compiler for wasm32.

use std::fs;

use insta::assert_snapshot;

use crate::{command_python::with_python, fixture::Folder};

/// The commands that a README shows.
fn commands(readme: &str) -> Vec<String> {
    readme.lines().filter_map(|line| line.strip_prefix("    ").map(str::to_owned)).collect()
}

#[test]
fn a_new_script_does_all_that_its_readme_says() {
    for (language, file) in [("javascript", "ends-well.js"), ("typescript", "ends-well.ts")] {
        let folder = Folder::new();
        folder.sh(&format!("scorebox new ends-well --lang {language}")).exits_with(0);
        fs::copy(folder.path("ends-well/test.jsonl"), folder.path("ends-well/cases.jsonl"))
            .unwrap();
        let readme = fs::read_to_string(folder.path("ends-well/README.md")).unwrap();
        assert!(readme.starts_with("# Ends Well\n"), "{readme}");
        let commands = commands(&readme);
        assert_eq!(commands.len(), 3, "{readme}");
        for command in commands {
            assert!(command.contains(file) || command.contains("test.toml"), "{command}");
            // One of the two sample cases does not contain the answer, so the new scorer fails it.
            let code = if command.contains("cases.jsonl") { 3 } else { 0 };
            let shown = folder.sh(&format!("cd ends-well && {command}")).exits_with(code);
            assert!(!shown.stdout.is_empty(), "{command}: {shown}");
        }
        folder.sh(&format!("cd ends-well && scorebox build {file}")).exits_with(0);
        assert!(folder.path("ends-well/ends-well.wasm").exists());
    }
}

#[test]
fn a_new_script_in_python_does_all_that_its_readme_says() {
    let Some(folder) = with_python() else { return };
    folder.sh("scorebox new ends-well --lang python").exits_with(0);
    fs::copy(folder.path("ends-well/test.jsonl"), folder.path("ends-well/cases.jsonl")).unwrap();
    let readme = fs::read_to_string(folder.path("ends-well/README.md")).unwrap();
    let commands = commands(&readme);
    assert_eq!((commands.len(), commands[0].as_str()), (4, "scorebox toolchain add python"));
    for command in &commands[1..] {
        let code = if command.contains("cases.jsonl") { 3 } else { 0 };
        let shown = folder.sh(&format!("cd ends-well && {command}")).exits_with(code);
        assert!(!shown.stdout.is_empty(), "{command}: {shown}");
    }
}

/// Checks the scores of a new script for outputs that are not text, in a folder where scripts can run.
fn reads_json(folder: &Folder, language: &str, file: &str) {
    folder.sh(&format!("scorebox new reads --lang {language}")).exits_with(0);
    for (output, expected, score) in [
        (r#"{"answer": "paris"}"#, r#""paris""#, 1.0),
        (r#"{"answer": 7}"#, r#""object""#, 0.0),
        (r#""paris""#, r#"["paris"]"#, 0.0),
        ("null", r#""null""#, 1.0),
    ] {
        let score_it =
            format!("scorebox score reads/{file} --output '{output}' --ground-truth '{expected}'");
        let scored = folder.sh(&score_it).exits_with(0).json();
        assert_eq!(scored["score"], score, "{language}: {output}: {scored}");
    }
}

#[test]
fn a_new_script_reads_an_output_that_is_not_text_as_its_json() {
    for (language, file) in [("javascript", "reads.js"), ("typescript", "reads.ts")] {
        reads_json(&Folder::new(), language, file);
    }
    if let Some(folder) = with_python() {
        reads_json(&folder, "python", "reads.py");
    }
}

#[test]
fn a_new_script_in_python_says_what_it_needs_where_that_is_missing() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("SCOREBOX_DATA_DIR=none scorebox new ends-well --lang py"), @"
    [stderr]
    ends-well: ends-well.py, README.md, test.toml, test.jsonl
    test it: cd ends-well && scorebox run test.toml test.jsonl; its README.md has the rest
    hint: before it can run, once for all scripts: scorebox toolchain add python
    [exit code 0]
    ");
}

#[test]
fn the_test_of_a_new_scorer_fails_if_a_case_gets_another_score() {
    let folder = Folder::new();
    folder.sh("scorebox new brief --lang js").exits_with(0);
    let script = fs::read_to_string(folder.path("brief/brief.js")).unwrap();
    folder.write("brief/brief.js", script.replace("score: found", "score: !found"));
    folder.sh("cd brief && scorebox run test.toml test.jsonl").exits_with(3);
}

#[test]
fn the_folder_and_its_test_are_named() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox new scorers/ends-well --lang ts"), @"
    [stderr]
    scorers/ends-well: ends-well.ts, scorebox.d.ts, scorebox-judge.d.ts, README.md, test.toml, test.jsonl
    test it: cd scorers/ends-well && scorebox run test.toml test.jsonl; its README.md has the rest
    [exit code 0]
    ");
    assert_snapshot!(folder.sh("scorebox new first --lang rust"), @"
    [stderr]
    first: src/lib.rs, Cargo.toml, .gitignore, README.md, test.toml, test.jsonl
    test it: cd first && cargo test; its README.md has the rest
    [exit code 0]
    ");
    let manifest = fs::read_to_string(folder.path("first/Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let sdk = manifest["dependencies"]["scorebox-sdk"]["path"].as_str().unwrap();
    assert!(fs::exists(format!("{sdk}/src/lib.rs")).unwrap(), "{sdk}");
    let readme = fs::read_to_string(folder.path("first/README.md")).unwrap();
    assert_snapshot!(commands(&readme).join("\n"), @r#"
    cargo test
    scorebox build .
    scorebox score ./first.wasm --output-text 'It is Paris.' --ground-truth '"paris"'
    scorebox run test.toml test.jsonl
    scorebox run cases.jsonl -s ./first.wasm
    "#);
}

/// `.ci/run` runs the build commands, because it has the compilers.
#[test]
fn a_new_scorer_in_a_compiled_language_has_its_sdk_and_says_what_it_needs() {
    for (language, files) in [
        ("c", "ends-well.c, .gitignore, scorebox.h, README.md, test.toml, test.jsonl"),
        (
            "cpp",
            "ends-well.cpp, .gitignore, scorebox.h, scorebox.hpp, README.md, test.toml, test.jsonl",
        ),
        ("zig", "ends-well.zig, .gitignore, scorebox.zig, README.md, test.toml, test.jsonl"),
        (
            "go",
            "main.go, go.mod, .gitignore, scorebox/scorebox.go, README.md, test.toml, test.jsonl",
        ),
        (
            "assemblyscript",
            "scorer.ts, asconfig.json, package.json, .gitignore, scorebox.ts, README.md, test.toml, test.jsonl",
        ),
    ] {
        let folder = Folder::new();
        let made = folder.sh(&format!("scorebox new ends-well --lang {language}")).exits_with(0);
        assert!(made.stderr.starts_with(&format!("ends-well: {files}\n")), "{made}");
        let again = folder.sh(&format!("scorebox new ends-well --lang {language}")).exits_with(2);
        assert!(again.stderr.starts_with("error: `ends-well` exists"), "{again}");
        let readme = fs::read_to_string(folder.path("ends-well/README.md")).unwrap();
        assert_eq!(
            commands(&readme),
            [
                "scorebox build .",
                "scorebox score ./ends-well.wasm --output-text 'It is Paris.' --ground-truth '\"paris\"'",
                "scorebox run test.toml test.jsonl",
                "scorebox run cases.jsonl -s ./ends-well.wasm",
            ]
        );
        for file in files.split(", ") {
            let named = readme.contains(&format!("`{file}`"))
                || file == ".gitignore"
                || file == "README.md";
            assert!(named, "{language}: {file} is not in the README");
        }
    }
}

#[test]
fn nothing_is_overwritten_and_a_name_that_no_scorer_can_have_is_refused() {
    let folder = Folder::new();
    folder.write("taken", "a file");
    assert_snapshot!(folder.sh("scorebox new taken --lang js"), @"
    [stderr]
    error: `taken` exists
    hint: name a folder that does not: nothing is overwritten
    [exit code 2]
    ");
    assert_eq!(fs::read_to_string(folder.path("taken")).unwrap(), "a file");
    assert_snapshot!(folder.sh("scorebox new My_Scorer --lang js"), @"
    [stderr]
    error: `My_Scorer` is not a name of a scorer, which has 1 to 64 of a-z, 0-9 and -, and begins with a letter
    hint: call it `my-scorer`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox new .. --lang js"), @"
    [stderr]
    error: `..` is not a name of a scorer, which has 1 to 64 of a-z, 0-9 and -, and begins with a letter
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox new first --lang rust --sdk ."), @"
    [stderr]
    error: the SDK for Rust is not in `.`
    hint: name its folder, `sdk/rust/core` in a clone of scorebox: --sdk FOLDER
    [exit code 2]
    ");
    // A clone of scorebox is not its SDK.
    fs::write(folder.path("Cargo.toml"), "[workspace]\n").unwrap();
    assert_snapshot!(folder.sh("scorebox new first --lang rust --sdk ."), @"
    [stderr]
    error: the SDK for Rust is not in `.`
    hint: name its folder, `sdk/rust/core` in a clone of scorebox: --sdk FOLDER
    [exit code 2]
    ");
    assert!(!folder.path("first").exists());
    assert_snapshot!(folder.sh("scorebox new serde --lang rust"), @"
    [stderr]
    error: `serde` is the name of a crate that scorers in Rust are made with
    hint: call it `serde-scorer`
    [exit code 2]
    ");
    assert!(!folder.path("serde").exists());
}

#[test]
fn without_a_terminal_all_must_be_said() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox new"), @"
    [stderr]
    error: the name is missing
    hint: name it: scorebox new NAME
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox new brief"), @"
    [stderr]
    error: the language is missing
    hint: say it: --lang LANGUAGE, one of javascript, typescript, python, rust, c, cpp, zig, go, assemblyscript
    [exit code 2]
    ");
    assert!(!folder.path("brief").exists());
}

/// `script` provides a terminal.
#[test]
fn on_a_terminal_it_asks() {
    let folder = Folder::new();
    let asked = |answers: &str| {
        folder.sh(&format!("printf '{answers}' | script -qec 'scorebox new' /dev/null"))
    };
    let named = asked(r"brief\ntypescript\n").exits_with(0);
    assert!(named.stdout.contains("Name of the scorer: "), "{named}");
    let question = "Language (javascript, typescript, python, rust, c, cpp, zig, go, assemblyscript) [javascript]: ";
    assert!(named.stdout.contains(question), "{named}");
    assert!(folder.path("brief/brief.ts").exists());
    asked(r"short\n\n").exits_with(0);
    assert!(folder.path("short/short.js").exists());
    let nothing = asked(r"\n").exits_with(2);
    assert!(nothing.stdout.contains("the name is missing"), "{nothing}");
    let unknown = asked(r"other\ncobol\n").exits_with(2);
    assert!(unknown.stdout.contains("`cobol` is not a language"), "{unknown}");
    assert!(!folder.path("other").exists());
}
