//! Adds, changes and removes entries of a suite file, and preserves its comments, order and formatting. It knows no
//! scorers.

use std::{
    fs,
    path::{Path, PathBuf},
};

use scorebox::input_file::MAX_CONFIGURATION_BYTES;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use crate::{
    bundled,
    failure::{Failure, WriteError},
    input,
    new_file::NewFile,
    report::shell_word,
};

/// A suite file whose entries change.
#[derive(Debug)]
pub(crate) struct SuiteEdit {
    path: PathBuf,
    document: DocumentMut,
    /// Whether its lines end with CRLF, which writing preserves.
    ends_with_crlf: bool,
}

impl SuiteEdit {
    /// Reads the file, and checks that it can be written.
    pub(crate) fn open(path: &Path) -> Result<SuiteEdit, Failure> {
        let shown = path.display();
        if is_json(path) {
            return Err(Failure::new(format!("`{shown}` is a suite in JSON, which is not edited"))
                .hint(format!(
                    "suites in TOML are; change this one by hand, and lock what it uses then: scorebox add REGISTRY/NAME:VERSION --suite {}",
                    shell_word(path)
                )));
        }
        if bundled::is_bundle(path) {
            return Err(Failure::new(format!("`{shown}` is a bundle, which is not edited"))
                .hint("change the suite that it was made of, and make the bundle again"));
        }
        if !path.exists() {
            return Err(Failure::new(format!("there is no suite `{shown}`"))
                .hint("name the suite with --suite FILE; an empty file is a suite to begin with"));
        }
        let text = input::read_file(path, MAX_CONFIGURATION_BYTES)?;
        let document = text.parse::<DocumentMut>().map_err(|error| {
            let reason = error.to_string();
            Failure::new(format!("`{shown}` is not a valid suite: {}", reason.trim_end()))
        })?;
        if document.get("scorers").is_some_and(|scorers| scorers.as_table_like().is_none()) {
            return Err(Failure::new(format!("`scorers` in `{shown}` is not a table")));
        }
        if fs::metadata(path).is_ok_and(|there| there.permissions().readonly()) {
            return Err(Failure::new(format!("`{shown}` is read-only")));
        }
        let lines = text.matches('\n').count();
        let ends_with_crlf = lines > 0 && text.matches("\r\n").count() == lines;
        Ok(SuiteEdit { path: path.to_owned(), document, ends_with_crlf })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is an entry of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.scorers().is_some_and(|scorers| scorers.contains_key(name))
    }

    /// The `uses` of the entry of this name; `None` if it has none.
    pub(crate) fn uses(&self, name: &str) -> Option<&str> {
        self.scorers()?.get(name)?.as_table_like()?.get("use")?.as_str()
    }

    /// The address of the published scorer that the entry of this name uses.
    pub(crate) fn published(&self, name: &str) -> Option<&str> {
        self.uses(name)?.strip_prefix("oci://")
    }

    /// The entries, by their names.
    pub(crate) fn names(&self) -> Vec<&str> {
        let scorers = self.scorers().into_iter().flat_map(|scorers| scorers.iter());
        scorers.map(|(name, _)| name).collect()
    }

    /// Adds an entry at the end.
    pub(crate) fn add(&mut self, name: &str, uses: &str, grants: &[String]) {
        let scorers = self.document.entry("scorers").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let mut entry = Table::new();
        entry.insert("use", value(uses));
        if !grants.is_empty() {
            entry.insert("grants", value(grants.iter().collect::<Array>()));
        }
        // This is always a table: `open` refuses anything else.
        if let Some(scorers) = scorers.as_table_like_mut() {
            scorers.insert(name, Item::Table(entry));
        }
    }

    /// Changes what the entry of this name uses, and adds these grants.
    pub(crate) fn change(&mut self, name: &str, uses: &str, grants: &[String]) {
        let scorers = self.document.get_mut("scorers").and_then(Item::as_table_like_mut);
        let entry = scorers.and_then(|scorers| scorers.get_mut(name));
        let Some(entry) = entry.and_then(Item::as_table_like_mut) else { return };
        if let Some(Item::Value(written)) = entry.get_mut("use") {
            // Keeps a comment after the value.
            let decor = written.decor().clone();
            *written = uses.into();
            *written.decor_mut() = decor;
        }
        self.grant(name, grants);
    }

    /// Adds these grants to the entry of this name. Returns those that it did not have.
    pub(crate) fn grant<'g>(&mut self, name: &str, grants: &'g [String]) -> Vec<&'g String> {
        let scorers = self.document.get_mut("scorers").and_then(Item::as_table_like_mut);
        let entry = scorers.and_then(|scorers| scorers.get_mut(name));
        let Some(entry) = entry.and_then(Item::as_table_like_mut) else { return Vec::new() };
        let there = entry.get("grants").and_then(Item::as_array);
        let missing: Vec<&'g String> = grants
            .iter()
            .filter(|grant| !there.is_some_and(|it| it.iter().any(|it| it.as_str() == Some(grant))))
            .collect();
        match entry.get_mut("grants").and_then(Item::as_array_mut) {
            _ if missing.is_empty() => {}
            Some(there) => missing.iter().for_each(|grant| there.push(*grant)),
            None => {
                entry.insert("grants", value(missing.iter().copied().collect::<Array>()));
            }
        }
        missing
    }

    /// Removes an entry, with the comments right above it. Comments that a blank line separates from it stay: they may
    /// be about the file.
    pub(crate) fn remove(&mut self, name: &str) {
        let scorers = self.document.get_mut("scorers").and_then(Item::as_table_like_mut);
        let removed = scorers.and_then(|scorers| scorers.remove(name));
        let Some(Item::Table(removed)) = removed else { return };
        let above = removed.decor().prefix().and_then(|it| it.as_str()).unwrap_or_default();
        let Some(end) = above.rfind("\n\n").or_else(|| above.rfind("\n\r\n")) else { return };
        let kept = &above[..end + 1];
        if kept.trim().is_empty() {
            return;
        }
        let mut next = None;
        let after = removed.position();
        each_table(self.document.as_table_mut(), &mut |table| {
            let is_nearer = next.is_none_or(|next| table.position() < next);
            if table.position() > after && is_nearer {
                next = Some(table.position());
            }
        });
        let Some(next) = next else {
            let trailing = self.document.trailing().as_str().unwrap_or_default().to_owned();
            self.document.set_trailing(format!("{kept}{trailing}"));
            return;
        };
        each_table(self.document.as_table_mut(), &mut |table| {
            if table.position() == next {
                let own = table.decor().prefix().and_then(|it| it.as_str()).unwrap_or("\n");
                let both = format!("{kept}{own}");
                table.decor_mut().set_prefix(both);
            }
        });
    }

    /// Writes the file, completely or not at all.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let mut text = self.document.to_string();
        if self.ends_with_crlf {
            text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        let file = NewFile::create(&self.path, true)?;
        file.write(|out| out.write_all(text.as_bytes()).map_err(WriteError::Io))
    }

    fn scorers(&self) -> Option<&dyn TableLike> {
        self.document.get("scorers").and_then(Item::as_table_like)
    }
}

/// Whether a suite is in JSON, by its name.
pub(crate) fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == "json")
}

/// Calls `found` with each table below this one that has its own header.
fn each_table(table: &mut Table, found: &mut impl FnMut(&mut Table)) {
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(table) => {
                if !table.is_implicit() && !table.is_dotted() {
                    found(table);
                }
                each_table(table, found);
            }
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| {
                found(table);
                each_table(table, found);
            }),
            Item::None | Item::Value(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut SuiteEdit)) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.toml");
        fs::write(&path, text).unwrap();
        let mut suite = SuiteEdit::open(&path).unwrap();
        edit(&mut suite);
        suite.write().unwrap();
        fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn comments_and_order_stay() {
        let text = "# What we expect.\nversion = 1\n\n[scorers.exact-match] # strict\nconfig.ignoreCase = true\n";
        let added = edited(text, |suite| {
            suite.add("grade", "oci://a.test/grade:1.2.0", &[]);
        });
        assert_eq!(added, format!("{text}\n[scorers.grade]\nuse = \"oci://a.test/grade:1.2.0\"\n"));
        let removed = edited(&added, |suite| {
            assert!(suite.has("grade") && !suite.has("other"));
            assert_eq!(suite.uses("grade"), Some("oci://a.test/grade:1.2.0"));
            assert_eq!(suite.names(), ["exact-match", "grade"]);
            suite.remove("grade");
        });
        assert_eq!(removed, text);
    }

    #[test]
    fn comments_about_the_file_stay_when_its_first_entry_goes() {
        let head = "# What we expect.\n# Ask Ann.\n";
        let other = "\n# Brief.\n[scorers.brief]\n";
        let one = |between: &str, rest: &str| {
            let text = format!("{head}{between}[scorers.grade] # strict\nweight = 2\n{rest}");
            edited(&text, |suite| suite.remove("grade"))
        };
        assert_eq!(one("\n# Of answers.\n", other), format!("{head}{other}"));
        assert_eq!(one("\n", ""), head);
        assert_eq!(one("", other), other, "what is right above it is about it");
        let in_between = format!("version = 1\n\n[scorers.brief]\n\n{head}\n[scorers.grade]\n");
        let removed = edited(&in_between, |suite| suite.remove("grade"));
        assert_eq!(removed, format!("version = 1\n\n[scorers.brief]\n\n{head}"));
    }

    #[test]
    fn lines_end_as_they_ended() {
        let text = "version = 1\r\n\r\n# Words.\r\n[scorers.exact-match]\r\n";
        let added = edited(text, |suite| suite.add("grade", "oci://a.test/grade:1.2.0", &[]));
        let entry = "\r\n[scorers.grade]\r\nuse = \"oci://a.test/grade:1.2.0\"\r\n";
        assert_eq!(added, format!("{text}{entry}"));
    }

    #[test]
    fn an_empty_file_is_a_suite_to_begin_with() {
        let added = edited("", |suite| {
            suite.add("grade", "oci://a.test/grade:1", &["judge".to_owned()]);
        });
        assert_eq!(
            added,
            "[scorers.grade]\nuse = \"oci://a.test/grade:1\"\ngrants = [\"judge\"]\n"
        );
    }
}
