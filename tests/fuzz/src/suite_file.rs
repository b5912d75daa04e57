//! Suite files: TOML or JSON, names, quantities, and the locations of mistakes.

use std::{collections::HashSet, fs, path::PathBuf, sync::OnceLock};

use scorebox::{
    sandbox::Limits,
    suite::{Mistake, Suite, SuiteError},
};
use tempfile::TempDir;

/// Reads the bytes as a suite, and checks that a suite that is read could run.
pub fn suite_file(data: &[u8]) {
    let path = file();
    fs::write(&path, data).unwrap();
    match Suite::read(&path) {
        Ok(suite) => check(&suite),
        Err(error) => check_error(&error, &String::from_utf8_lossy(data)),
    }
}

/// The file that holds the bytes: in memory if there is such a folder, because it is rewritten for every input.
fn file() -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let in_memory = || tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    FOLDER.get_or_init(|| in_memory().unwrap()).path().join("suite.toml")
}

fn check(suite: &Suite) {
    assert!(!suite.scorers.is_empty());
    let ids: HashSet<&str> = suite.scorers.iter().map(|scorer| scorer.id.as_str()).collect();
    assert_eq!(ids.len(), suite.scorers.len());
    for scorer in &suite.scorers {
        let id = scorer.id.as_str();
        assert!((1..=64).contains(&id.len()) && id.is_ascii());
        let config: serde_json::Value = serde_json::from_str(scorer.config.as_str()).unwrap();
        assert_eq!(config.to_string(), scorer.config.as_str(), "canonical");
        assert!(scorer.limits.memory_bytes <= Limits::MAX_MEMORY_BYTES);
        assert!(!scorer.limits.timeout.is_zero());
        let subject = scorer.subject.as_ref();
        assert!(
            subject.is_none_or(|subject| ids.contains(subject.as_str()) && *subject != scorer.id)
        );
    }
    let of_cases = suite.scorers.iter().filter(|scorer| scorer.subject.is_none());
    let of_cases = of_cases.filter(|scorer| suite.target.as_ref() != Some(&scorer.id));
    let locations: Vec<_> = of_cases.flat_map(|scorer| &scorer.location).collect();
    assert!(locations.iter().all(|location| location.line > 0 && location.column > 0));
    assert!(locations.is_sorted_by_key(|location| (location.line, location.column)));
    let json: serde_json::Value = serde_json::from_str(&suite.to_json()).unwrap();
    assert_eq!(json["scorers"].as_array().unwrap().len(), suite.scorers.len());
}

fn check_error(error: &SuiteError, text: &str) {
    assert!(!error.to_string().is_empty());
    let SuiteError::Invalid { mistakes, .. } = error else { return };
    assert!(!mistakes.is_empty());
    let own = mistakes.iter().filter(|mistake| mistake.location.file == file());
    for Mistake { location, reason, .. } in own {
        assert!(!reason.is_empty() && !reason.contains('\n'), "{reason:?}");
        let line = text.split('\n').nth(location.line - 1).expect("a line of the file");
        assert!((1..=line.chars().count() + 1).contains(&location.column), "{location}");
    }
}
