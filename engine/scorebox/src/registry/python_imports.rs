//! The files in the script's folder that the imports of a Python file can refer to. It reads no files and does not
//! parse the grammar: an extra path names a file that may not exist, and the engine resolves the real imports.

use std::iter::Peekable;

/// The most characters of one import's names.
const NAMES_CHARACTERS: usize = 4000;

/// The paths that the imports of `file` can refer to, relative to the script's folder.
pub(super) fn imports_of(file: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let text = statements(text);
    for (at, word) in text.match_indices("import") {
        let (before, behind) = (&text[..at], &text[at + word.len()..]);
        if before.ends_with(is_of_a_name) || behind.starts_with(is_of_a_name) {
            continue;
        }
        match module_before(before) {
            Some(module) => {
                add(&mut found, file, module, None);
                names(list(behind)).for_each(|name| add(&mut found, file, module, Some(name)));
            }
            None => names(list(behind)).for_each(|module| add(&mut found, file, module, None)),
        }
    }
    found
}

/// The text without comments and the content of strings, and with lines joined that end with `\`.
fn statements(text: &str) -> String {
    let mut statements = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '#' => while rest.next_if(|it| *it != '\n').is_some() {},
            '\\' => {
                rest.next_if_eq(&'\r');
                rest.next_if_eq(&'\n');
                statements.push(' ');
            }
            '\'' | '"' => {
                skip_string(letter, &mut rest);
                statements.push('"');
            }
            '\r' => statements.push('\n'),
            letter => statements.push(letter),
        }
    }
    statements
}

/// Skips a string after its first quotation mark. A string that should have ended in its line ends there.
fn skip_string(mark: char, rest: &mut Peekable<impl Iterator<Item = char>>) {
    let mut marks = 1;
    while marks < 3 && rest.next_if_eq(&mark).is_some() {
        marks += 1;
    }
    let is_long = match marks {
        1 => false,
        // The string is empty.
        2 => return,
        _ => true,
    };
    let mut in_a_row = 0;
    while let Some(letter) = rest.next() {
        in_a_row = if letter == mark { in_a_row + 1 } else { 0 };
        match letter {
            '\\' => drop(rest.next()),
            '\n' if !is_long => return,
            _ if in_a_row == if is_long { 3 } else { 1 } => return,
            _ => {}
        }
    }
}

/// The module between `from` and the end of the text, if the text ends like this.
fn module_before(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(is_blank);
    let start = text.trim_end_matches(|letter| letter == '.' || is_of_a_name(letter)).len();
    let (before, module) = text.split_at(start);
    // `from.words import` has no blank after `from`.
    if let Some(module) = module.strip_prefix("from").filter(|it| it.starts_with('.')) {
        return Some(module);
    }
    let before = before.trim_end_matches(is_blank).strip_suffix("from")?;
    (!module.is_empty() && !before.ends_with(is_of_a_name)).then_some(module)
}

fn is_of_a_name(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\x0c')
}

/// The list of names at the beginning of the text: in parentheses, or to the end of the statement.
fn list(text: &str) -> &str {
    let text = text.trim_start_matches(is_blank);
    let list = match text.strip_prefix('(') {
        Some(listed) => listed.split(')').next(),
        None => text.split(['\n', ';']).next(),
    };
    let list = list.unwrap_or_default();
    list.char_indices().nth(NAMES_CHARACTERS).map_or(list, |(end, _)| &list[..end])
}

/// The names in a list, without their aliases.
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', '\n']).filter_map(|name| name.split_whitespace().next())
}

/// Adds the files that `module`, or `name` in it, can be, and the packages on the way to them.
fn add(found: &mut Vec<String>, file: &str, module: &str, name: Option<&str>) {
    let names = module.trim_start_matches('.');
    let dots = module.len() - names.len();
    let Some(mut path) = folder(file, dots) else { return };
    let parts = names.split('.').filter(|part| !part.is_empty()).chain(name);
    for part in parts {
        if !part.chars().all(|letter| letter == '_' || letter.is_alphanumeric()) {
            return;
        }
        path.push_str(part);
        found.extend([format!("{path}.py"), format!("{path}/__init__.py")]);
        path.push('/');
    }
}

/// The folder to which a module name with this many leading dots is relative, with a slash at the end unless it is the
/// script's folder.
fn folder(file: &str, dots: usize) -> Option<String> {
    if dots == 0 {
        return Some(String::new());
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    // The first dot removes the file's name, and each further dot a folder.
    for _ in 0..dots {
        parts.pop()?;
    }
    Some(parts.iter().map(|part| format!("{part}/")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(file: &str, text: &str) -> Vec<String> {
        let plain = |path: &String| !path.ends_with("__init__.py");
        imports_of(file, text).into_iter().filter(plain).collect()
    }

    #[test]
    fn every_form_of_an_import_is_found() {
        assert_eq!(
            files("a.py", "import json, words as w; import x.y"),
            ["json.py", "words.py", "x.py", "x/y.py"]
        );
        assert_eq!(
            files("a.py", "  from lib import one, two as three # four"),
            ["lib.py", "lib.py", "lib/one.py", "lib.py", "lib/two.py"]
        );
        let listed = "from lib import (\n    one,\n    two,\n)\nimport last";
        let found = files("a.py", listed);
        assert!(
            ["lib/one.py", "lib/two.py", "last.py"].iter().all(|it| found.iter().any(|f| f == it))
        );
        assert!(imports_of("a.py", "import lib").contains(&"lib/__init__.py".to_owned()));
    }

    #[test]
    fn an_import_is_found_wherever_a_statement_can_stand() {
        for text in [
            "try: from lib.words import words\nexcept ImportError: words = None",
            "if True: from lib.words import words",
            "def score(case, config): from lib.words import words; return words()",
            "from\tlib.words\timport\twords",
            "from lib import \\\n    words",
            "from lib import \\\r\n    words",
            "from lib import (\n  other,  # those (few)\n  words,\n)",
            "x = \"it's # no comment\"; from lib import words",
            "\"\"\"It's \"quoted\" here.\"\"\"\nfrom lib import words",
            "import json, \\\n    lib.words",
        ] {
            assert!(files("a.py", text).contains(&"lib/words.py".to_owned()), "{text}");
        }
        assert_eq!(files("lib/a.py", "from.words import one")[0], "lib/words.py");
    }

    #[test]
    fn what_only_looks_like_an_import_names_nothing() {
        for text in [
            "# import a",
            "s = 'import a'",
            "\"\"\"\nimport a\n\"\"\"",
            "reimport = a",
            "importlib.reload(a)",
        ] {
            assert!(files("a.py", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn dots_lead_up_and_never_out() {
        assert_eq!(files("lib/a.py", "from . import b"), ["lib/b.py"]);
        assert_eq!(files("lib/a.py", "from .b import c"), ["lib/b.py", "lib/b.py", "lib/b/c.py"]);
        assert_eq!(files("lib/a.py", "from ..d import e"), ["d.py", "d.py", "d/e.py"]);
        for out in ["from .. import b", "from ...x import y"] {
            assert!(files("a.py", out).is_empty(), "{out}");
        }
    }

    #[test]
    fn what_is_not_a_name_names_no_file() {
        assert!(files("a.py", "import ../secret, a/b\nfrom import").is_empty());
        assert!(files("a.py", "# nothing\nimportant = 1\nfrom").is_empty());
    }
}
