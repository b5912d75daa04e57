//! The names in one suite file: the scorers that its entries use, and the files that it includes. It reads no other
//! file, and does not know whether the suite is valid.

use std::path::{Path, PathBuf};

use super::{
    Environment, Suite, SuiteError,
    document::{self, Node, Value},
    file,
    reading::{Reading, Room},
};
use crate::registry::Reference;

/// The scorers and files that a suite file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuiteNames {
    /// The component that each of its entries uses, if it has the key, by the entries' names, in the order of the file.
    pub uses: Vec<(String, Reference)>,
    /// The files that it includes.
    pub includes: Vec<PathBuf>,
    /// Whether there may be more names: it is not valid TOML or JSON, or a variable has no value.
    pub is_unclear: bool,
}

impl Suite {
    /// The names in the text of the suite file at `path`.
    ///
    /// # Errors
    /// If the text cannot be read at all because no thread could be started.
    pub fn names_in(
        path: &Path,
        text: &str,
        environment: Environment<'_>,
    ) -> Result<SuiteNames, SuiteError> {
        file::apart(path, || Ok(names(path, text, environment)))
    }
}

fn names(path: &Path, text: &str, environment: Environment<'_>) -> SuiteNames {
    let folder = path.parent().unwrap_or(Path::new(""));
    let (document, errors) = document::of(path, text);
    let mut reading = Reading::new(path, text, environment, &Room::new());
    let mut names = SuiteNames { is_unclear: !errors.is_empty(), ..SuiteNames::default() };
    let entries = member(&document, "scorers").map(members).unwrap_or_default();
    let target = member(&document, "target").map(|target| ("target", target));
    for (name, entry) in entries.into_iter().chain(target) {
        let Some(node @ Node { value: Value::Text(_), .. }) = member(entry, "use") else {
            continue;
        };
        match reading.text(node, "use") {
            Some(uses) => names.uses.push((name.to_owned(), Reference::parse(&uses, folder))),
            None => names.is_unclear = true,
        }
    }
    let includes = member(&document, "include").map(|node| &node.value);
    let Some(Value::List(includes)) = includes else { return names };
    for include in includes.iter().filter(|node| matches!(node.value, Value::Text(_))) {
        match reading.text(include, "include") {
            Some(included) => names.includes.push(folder.join(included)),
            None => names.is_unclear = true,
        }
    }
    names
}

/// The members of a table; none for other values.
fn members(node: &Node) -> Vec<(&str, &Node)> {
    match &node.value {
        Value::Table(members) => members.iter().map(|it| (it.key.as_str(), &it.node)).collect(),
        _ => Vec::new(),
    }
}

fn member<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    members(node).into_iter().find(|(name, _)| *name == key).map(|(_, node)| node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(name: &str, text: &str) -> SuiteNames {
        let host = |name: &str| (name == "HOST").then(|| "a.test".to_owned());
        Suite::names_in(Path::new(name), text, &host).unwrap()
    }

    #[test]
    fn a_file_names_what_its_entries_use_however_that_is_written() {
        let text = "include = ['sub/${HOST}.toml']\n[scorers]\none.use = 'oci://${HOST}/one:1.0.0'\n\
                    two = { use = \"oci\\u003A//a.test/two:1.0.0\" }\nthree.config = {}\n[target]\nuse = './run.js'\n";
        let published = |address: &str| Reference::Published(address.to_owned());
        let names = names_of("folder/suite.conf", text);
        assert!(!names.is_unclear);
        assert_eq!(names.includes, [Path::new("folder/sub/a.test.toml")]);
        let uses: Vec<&Reference> = names.uses.iter().map(|(_, uses)| uses).collect();
        let run = Reference::parse("./run.js", Path::new("folder"));
        assert_eq!(uses, [&published("a.test/one:1.0.0"), &published("a.test/two:1.0.0"), &run]);
        let json =
            names_of("s.json", r#"{"scorers": {"one": {"use": "oci:\/\/a.test/one:1.0.0"}}}"#);
        assert_eq!(json.uses, [("one".to_owned(), published("a.test/one:1.0.0"))]);
    }

    #[test]
    fn what_is_not_valid_or_has_a_variable_without_a_value_is_unclear() {
        assert!(names_of("s.toml", "[scorers.one\nuse = 'contains'\n").is_unclear);
        assert!(names_of("s.json", "{").is_unclear);
        assert!(
            names_of("s.toml", "[scorers.one]\nuse = 'oci://${NOWHERE}/one:1.0.0'\n").is_unclear
        );
        assert!(names_of("s.toml", "include = ['${NOWHERE}.toml']\n").is_unclear);
        let other = names_of("pyproject.toml", "[project]\nname = '${NOWHERE}'\nscorers = 1\n");
        assert_eq!(other, SuiteNames::default());
    }
}
