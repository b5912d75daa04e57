//! Suites whose files are not on the disk, or that are read from another folder.

use std::path::{Path, PathBuf};

use super::{
    tests::{folder, plan},
    *,
};
use crate::{input_file::InputFileError, registry::Reference};

/// Texts by their paths, and which of them were requested.
pub(super) struct Elsewhere<'t>(
    pub(super) &'t [(&'t str, &'t str)],
    pub(super) std::sync::Mutex<Vec<PathBuf>>,
);

impl SuiteFiles for Elsewhere<'_> {
    fn text(&self, path: &Path) -> Result<String, InputFileError> {
        self.1.lock().unwrap().push(path.to_owned());
        let text = self.0.iter().find(|(there, _)| Path::new(there) == path);
        text.map(|(_, text)| (*text).to_owned()).ok_or(InputFileError::NotFound)
    }
}

#[test]
fn texts_from_elsewhere_stand_for_files_and_the_disk_is_not_asked() {
    let folder = folder(&[("there.toml", "[scorers.contains]")]);
    let there = folder.path().join("there.toml").display().to_string();
    let main = "include = ['../b/base.toml']\n[scorers.own]\nuse = '../x.wasm'\n";
    let texts = [("a/suite.toml", main), ("a/../b/base.toml", "[scorers.regex]\n")];
    let files = Elsewhere(&texts, Default::default());
    let suite = Suite::read_from(Path::new("a/suite.toml"), &files, &|_| None).unwrap();
    let uses: Vec<String> = suite.scorers.iter().map(|scorer| scorer.uses.to_string()).collect();
    assert_eq!(
        (suite.name.as_str(), &uses[..]),
        ("suite", &["regex".into(), "a/../x.wasm".into()][..])
    );
    assert_eq!(*files.1.lock().unwrap(), texts.map(|(path, _)| PathBuf::from(path)));

    let includes = format!("include = ['{there}']");
    let files = Elsewhere(&[("suite.toml", &includes)], Default::default());
    let error = Suite::read_from(Path::new("suite.toml"), &files, &|_| None).unwrap_err();
    assert!(
        error.to_string().ends_with(&format!("cannot read `{there}`: no such file")),
        "{error}"
    );
    // A file that includes itself is detected by its path, or by the number of files.
    for (include, words) in
        [("suite.toml", "includes itself"), ("x/../suite.toml", "100 files at most")]
    {
        let includes = format!("include = ['{include}']");
        let all: Vec<(String, &str)> = (0..120)
            .map(|times| (format!("{}suite.toml", "x/../".repeat(times)), includes.as_str()))
            .collect();
        let all: Vec<(&str, &str)> =
            all.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let files = Elsewhere(&all, Default::default());
        let error = Suite::read_from(Path::new("suite.toml"), &files, &|_| None).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_suite_is_the_same_from_wherever_it_is_read() {
    let main = "include = [\"parts/base.toml\"]\n[scorers.own]\nuse = \"./own.js\"\n";
    let base = "include = [\"../more.toml\"]\n[scorers.brief]\nuse = \"brief.wasm\"\n[target]\nuse = \"/t.js\"\n";
    let more = "[scorers.more]\nuse = \"../more.py\"\n";
    let files = [("m/s.toml", main), ("m/parts/base.toml", base), ("m/more.toml", more)];
    let spelled = |folder: &str| {
        let texts = files.map(|(path, text)| (path.replacen("m/", folder, 1), text));
        let mut texts: Vec<_> = texts.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let more = format!("{folder}parts/../more.toml");
        texts[2].0 = &more;
        let first = PathBuf::from(texts[0].0);
        Suite::read_from(&first, &Elsewhere(&texts, Default::default()), &|_| None).unwrap()
    };
    let uses = |suite: &Suite| -> Vec<serde_json::Value> {
        let plan = plan(suite);
        plan["scorers"].as_array().unwrap().iter().map(|it| it["use"].clone()).collect()
    };
    let beside = spelled("");
    assert_eq!(
        uses(&beside),
        ["/t.js", "parts/../../more.py", "parts/brief.wasm", "./own.js"],
        "as written, in included files as from the folder of the suite"
    );
    for folder in ["./", "../m/", "/abs/", "a//b/../"] {
        let suite = spelled(folder);
        assert_eq!(uses(&suite), uses(&beside), "{folder}");
        assert_eq!(suite.digest(), beside.digest(), "{folder}");
        let own = suite.scorers.last().unwrap();
        assert_eq!(own.uses, Reference::File(format!("{folder}./own.js").into()), "is read there");
    }

    // The plan contains the component that a program uses instead of a file.
    let mut other = beside;
    let digest = other.digest();
    other.scorer_mut("own").unwrap().uses = Reference::Name("rouge".into());
    assert_eq!(uses(&other)[3], "rouge");
    assert_ne!(other.digest(), digest);
}
