//! The files of a new scorer, from the templates in `engine/cli/templates`. Writes none of them.

use std::path::Path;

/// A language that scorers are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Language {
    /// A script, which needs no tool
    #[value(alias = "js")]
    Javascript,
    /// A script with types, which needs no tool
    #[value(alias = "ts")]
    Typescript,
    /// A crate, which needs a Rust compiler
    #[value(alias = "rs")]
    Rust,
}

/// What a file is called, and what is in it; `{{…}}` in both is filled in.
type Template = (&'static str, &'static str);

const TEST: [Template; 2] = [
    ("test.toml", include_str!("../templates/test.toml")),
    ("test.jsonl", include_str!("../templates/test.jsonl")),
];
const TYPES: Template = ("scorebox.d.ts", include_str!("../templates/scorebox.d.ts"));
const README_OF_A_SCRIPT: Template = ("README.md", include_str!("../templates/script.README.md"));
const JAVASCRIPT: Template = ("{{component}}", include_str!("../templates/javascript/scorer.js"));
const TYPESCRIPT: Template = ("{{component}}", include_str!("../templates/typescript/scorer.ts"));
const RUST: [Template; 4] = [
    ("src/lib.rs", include_str!("../templates/rust/lib.rs.template")),
    ("Cargo.toml", include_str!("../templates/rust/Cargo.toml.template")),
    (".gitignore", include_str!("../templates/rust/gitignore")),
    ("README.md", include_str!("../templates/rust/README.md")),
];

impl Language {
    /// The word for it, as `--lang` takes it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Language::Javascript => "javascript",
            Language::Typescript => "typescript",
            Language::Rust => "rust",
        }
    }

    /// The file that scorebox runs.
    fn component(self, name: &str) -> String {
        let ending = match self {
            Language::Javascript => "js",
            Language::Typescript => "ts",
            Language::Rust => "wasm",
        };
        format!("{name}.{ending}")
    }

    fn templates(self) -> Vec<Template> {
        let own = match self {
            Language::Javascript => vec![JAVASCRIPT, TYPES, README_OF_A_SCRIPT],
            Language::Typescript => vec![TYPESCRIPT, TYPES, README_OF_A_SCRIPT],
            Language::Rust => RUST.to_vec(),
        };
        own.into_iter().chain(TEST).collect()
    }

    /// How the new scorer is tested, in its folder.
    pub(crate) const fn test_command(self) -> &'static str {
        match self {
            Language::Javascript | Language::Typescript => "scorebox run test.toml test.jsonl",
            Language::Rust => "cargo test",
        }
    }
}

/// The files of a scorer of this name, each as a path and its text. `sdk` is the folder of the SDK, for languages that
/// need one.
pub(crate) fn files(language: Language, name: &str, sdk: Option<&Path>) -> Vec<(String, String)> {
    let component = language.component(name);
    // A TOML string may be written as JSON writes it.
    let sdk = sdk.map(|sdk| serde_json::Value::from(sdk.to_string_lossy()).to_string());
    let fill = |text: &str| {
        text.replace("{{name}}", name)
            .replace("{{title}}", &words(name).join(" "))
            .replace("{{type}}", &words(name).concat())
            .replace("{{component}}", &component)
            .replace("{{sdk}}", sdk.as_deref().unwrap_or_default())
    };
    let templates = language.templates().into_iter();
    templates.map(|(path, text)| (fill(path), fill(text))).collect()
}

/// The words of a name, each with a capital.
fn words(name: &str) -> Vec<String> {
    let capital = |word: &str| {
        let mut rest = word.chars();
        let first = rest.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(rest).collect()
    };
    name.split('-').filter(|word| !word.is_empty()).map(capital).collect()
}

/// Whether a scorer, and a crate, may have this name: 1 to 64 of `a-z`, `0-9` and `-`, from a letter on.
pub(crate) fn is_name(name: &str) -> bool {
    let may = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= 64
        && name.bytes().all(may)
}

/// The closest name to this one that a scorer may have; `None` if nothing of it can stay.
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
        for language in [Language::Javascript, Language::Typescript, Language::Rust] {
            for (path, text) in files(language, "ends-well", Some(Path::new("/a \"b\""))) {
                assert!(!path.contains("{{") && !text.contains("{{"), "{path}: {text}");
            }
        }
        let rust = files(Language::Rust, "ends-well", Some(Path::new("/a \"b\"")));
        let text = |name: &str| rust.iter().find(|(path, _)| path == name).unwrap().1.clone();
        assert!(text("Cargo.toml").contains(r#"scorebox-sdk = { path = "/a \"b\"" }"#));
        assert!(text("src/lib.rs").contains("pub struct EndsWell {"));
    }
}
