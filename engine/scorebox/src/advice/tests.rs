//! Tests that all advice has an example, and that the library leaves texts about options and commands to front ends: it
//! searches the library's sources for such texts.

use std::{
    collections::HashSet,
    fs,
    mem::discriminant,
    path::{Path, PathBuf},
};

use super::*;

#[test]
fn there_is_one_of_each() {
    // This fails to compile for a new variant, which is then missing in `one_of_each` too.
    let variants = |advice: &Advice| match advice {
        Advice::Raise(_)
        | Advice::Shorten(_)
        | Advice::Lower { .. }
        | Advice::Bound(_)
        | Advice::Grant(_)
        | Advice::Importable(_)
        | Advice::DidYouMean(_)
        | Advice::Choose { .. }
        | Advice::List(_)
        | Advice::Name(_)
        | Advice::NameFilesIn(_)
        | Advice::Once(_)
        | Advice::Check(_)
        | Advice::Rename { .. }
        | Advice::Write(_)
        | Advice::Convert(_)
        | Advice::Map { .. }
        | Advice::MakeComponent(_)
        | Advice::Build(_)
        | Advice::PrepareCompiler
        | Advice::MakeSandboxAfterFork
        | Advice::InstallToolchain
        | Advice::AddScriptEngine
        | Advice::Lock { .. }
        | Advice::Fetch { .. }
        | Advice::InstallCompiler(_)
        | Advice::FetchAgain { .. }
        | Advice::LeaveOut(_)
        | Advice::Database(_)
        | Advice::NameOthers
        | Advice::SameCases
        | Advice::WithoutErrors
        | Advice::SameScorers
        | Advice::Record
        | Advice::AllowModels(_)
        | Advice::ReduceByMean
        | Advice::AskAgain
        | Advice::BoundCalls
        | Advice::TryLater
        | Advice::GiveMore(_)
        | Advice::Update
        | Advice::UseItsWriter
        | Advice::Report => 43,
    };
    let all = Advice::one_of_each();
    let kinds: HashSet<_> = all.iter().map(discriminant).collect();
    assert_eq!(kinds.len(), variants(&all[0]));
}

#[test]
fn advice_is_data_for_a_program() {
    let json = |advice: Advice| serde_json::to_string(&advice).unwrap();
    assert_eq!(json(Advice::Raise(Limit::CompileTime)), r#"{"raise":"compileTime"}"#);
    assert_eq!(json(Advice::Grant(Grant::Wasi)), r#"{"grant":"wasi"}"#);
    assert_eq!(json(Advice::SameCases), r#""sameCases""#);
}

#[test]
fn no_text_of_the_library_names_an_option_or_a_command() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for file in sources(&folder) {
        let shown = file.strip_prefix(&folder).unwrap().display().to_string();
        // `build` runs cargo and rustc, and these are their options.
        let is_argument = |text: &str| shown.starts_with("build/") && text.starts_with("--");
        for text in literals(&fs::read_to_string(&file).unwrap()) {
            if !is_argument(&text) && names_a_front_end(&text) {
                wrong.push(format!("{shown}: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "make it advice (`advice.rs`):\n{}", wrong.join("\n"));
}

#[test]
fn options_and_commands_are_found_in_texts_and_nowhere_else() {
    let source = r##"
        //! `--fuel` in a comment.
        fn f<'a>(c: char) -> &'a str { /* "--no" /* nested */ */ if c == '"' { "raise \"it\": --fuel" } else { r#"-- a"b"# } }
        #[cfg(test)]
        mod tests { const A: &str = "--tests"; }
    "##;
    assert_eq!(literals(source), ["raise \\\"it\\\": --fuel", "-- a\"b"]);
    for text in ["raise --fuel", "(--a)", "`-s`", "`scorebox run`", "use `jq -c`", "limits = { a }"]
    {
        assert!(names_a_front_end(text), "{text}");
    }
    for text in ["a -- b", "well-known", "2^-1", "scorebox run 1", "which scorebox makes", "a `--`"]
    {
        assert!(!names_a_front_end(text), "{text}");
    }
}

/// The library's source files, except tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    const OF_TESTS: [&str; 3] = ["tests", "properties", "sample"];
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if OF_TESTS.contains(&stem) || stem.ends_with("_tests") {
            continue;
        }
        match path.is_dir() {
            true => found.extend(sources(&path)),
            false if path.extension().is_some_and(|suffix| suffix == "rs") => found.push(path),
            false => {}
        }
    }
    found
}

/// The text literals of a source, as they are written; the tests are the last item of a file.
fn literals(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code = code.split("#[cfg(test)]\n        mod tests").next().unwrap_or_default();
    let (mut found, mut rest) = (Vec::new(), code);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some((text, length)) = raw_string(rest) {
            found.push(text.to_owned());
            length
        } else if first == '"' {
            let length = string(rest);
            found.push(rest[1..length - 1].to_owned());
            length
        } else if first == '\'' {
            character(rest)
        } else if first.is_alphanumeric() || first == '_' {
            // This takes a word as a whole, so that an `r` at its end does not begin a raw string.
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        match rest[at..].find(['/', '*']).map(|next| at + next) {
            Some(next) if rest[next..].starts_with("/*") => (depth, at) = (depth + 1, next + 2),
            Some(next) if rest[next..].starts_with("*/") => {
                (depth, at) = (depth - 1, next + 2);
                if depth == 0 {
                    return at;
                }
            }
            Some(next) => at = next + 1,
            None => return rest.len(),
        }
    }
}

fn raw_string(rest: &str) -> Option<(&str, usize)> {
    let quoted = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = quoted.len() - quoted.trim_start_matches('#').len();
    let text = quoted[hashes..].strip_prefix('"')?;
    let end = text.find(&format!("\"{}", "#".repeat(hashes)))?;
    Some((&text[..end], rest.len() - text.len() + end + 1 + hashes))
}

fn string(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest[1..].char_indices().find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |(at, _)| at + 2)
}

/// The length of a character literal, or of the quote of a lifetime.
fn character(rest: &str) -> usize {
    let mut after = rest[1..].char_indices();
    match (after.next(), after.next()) {
        (Some((_, '\\')), Some((escaped, _))) => {
            rest[escaped + 2..].find('\'').map_or(rest.len(), |end| escaped + end + 3)
        }
        (Some(_), Some((at, '\''))) => at + 2,
        _ => 1,
    }
}

/// Whether a text contains an option, a command of scorebox or of a shell, or a line of a suite file.
fn names_a_front_end(text: &str) -> bool {
    /// The input of a run's root digest begins with this name.
    const NAME_OF_THE_ROOT: &str = "scorebox run 1";
    const COMMANDS: [&str; 15] = [
        "build",
        "cases",
        "compile",
        "completions",
        "inspect",
        "rm",
        "run",
        "runs",
        "score",
        "scorers",
        "scores",
        "show",
        "stats",
        "suite",
        "verify",
    ];
    const TOOLS: [&str; 11] = [
        "apt-get", "cargo", "curl", "grep", "gzip", "head", "iconv", "jq", "rustup", "sqlite3",
        "zstd",
    ];
    let after = |mark: &'static str| {
        text.match_indices(mark).map(move |(at, _)| (at, &text[at + mark.len()..]))
    };
    let word = |rest: &str| {
        rest.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or("").to_owned()
    };
    let long = after("--").any(|(at, rest)| {
        let begins = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
        begins && rest.starts_with(|c: char| c.is_ascii_lowercase())
    });
    let short = after("`-").any(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    let command = text != NAME_OF_THE_ROOT
        && after("scorebox ").any(|(_, rest)| COMMANDS.contains(&word(rest).as_str()));
    let tool =
        after("`").any(|(_, rest)| TOOLS.iter().any(|tool| rest.starts_with(&format!("{tool} "))));
    let suite = ["limits = {", "grants = ["].iter().any(|line| text.contains(line));
    long || short || command || tool || suite
}
