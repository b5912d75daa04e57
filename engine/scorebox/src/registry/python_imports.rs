//! What the imports of a Python file can mean: paths of files in the script's folder. Reads no file, and takes no
//! string or comment for what it is: the engine imports what the script really names.

/// Characters of the names of one import.
const NAMES_CHARACTERS: usize = 4000;

/// The paths that the imports of `file` can mean, from the script's folder.
pub(super) fn imports_of(file: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        // Several statements may stand in one line.
        for statement in line.split(';') {
            let statement = statement.trim_start();
            if let Some(modules) = statement.strip_prefix("import ") {
                names(modules).for_each(|module| add(&mut found, file, module, None));
            } else if let Some((module, names_of)) =
                statement.strip_prefix("from ").and_then(|from| from.split_once("import"))
            {
                let listed = match names_of.trim_start().strip_prefix('(') {
                    Some(_) => list_behind(rest),
                    None => names_of,
                };
                let module = module.trim();
                add(&mut found, file, module, None);
                names(listed).for_each(|name| add(&mut found, file, module, Some(name)));
            }
        }
        rest = behind;
    }
    found
}

/// What stands between the first brackets.
fn list_behind(text: &str) -> &str {
    let list = text.split_once('(').map_or("", |(_, list)| list);
    let list = list.split_once(')').map_or(list, |(list, _)| list);
    list.char_indices().nth(NAMES_CHARACTERS).map_or(list, |(end, _)| &list[..end])
}

/// The names in a list, without those that they are given.
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', '\n']).filter_map(|name| name.split_whitespace().next())
}

/// Adds the files that `module`, or `name` in it, can be, and the packages on the way.
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

/// The folder from which a module with so many dots in front is named, with a slash behind it if it is not the script's.
fn folder(file: &str, dots: usize) -> Option<String> {
    if dots == 0 {
        return Some(String::new());
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    // The file itself, and a folder for each further dot.
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
        assert!(
            files("a.py", "import ../secret, a/b\nfrom C:\\x import y\nfrom import").is_empty()
        );
        assert!(files("a.py", "# nothing\nimportant = 1\nfrom").is_empty());
    }
}
