//! workspace-tests: named tests of the files that an agent left, to be copied. It reads files that the
//! user granted, and runs nothing.

use scorebox_sdk::serde_json::{self, Value};
use scorebox_sdk::{
    Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, Tests, ensure, ensure_eq,
    schemars,
};
use scorebox_sdk_workspace::Files;
use serde::Deserialize;

/// Tests the button that the agent was asked for.
///
/// Every test is a gate. The score is the part of them that passes.
#[derive(Deserialize, JsonSchema)]
pub struct WorkspaceTests {}

impl Scorer for WorkspaceTests {
    type Config = Self;
    const INFO: Info = Info::new("workspace-tests", "Workspace Tests", env!("CARGO_PKG_VERSION"));

    fn new(config: Self) -> Result<Self, ConfigError> {
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let files = Files::granted(case)?;
        let mut tests = Tests::default();
        tests.test("the button exists", || {
            ensure!(files.exists("src/components/Button.tsx"), "there is no such file");
            Ok(())
        });
        tests.test("it takes a label and a handler", || {
            let source = files.text("src/components/Button.tsx")?;
            for name in ["label", "onClick"] {
                ensure!(source.contains(name), "`{name}` is not in it");
            }
            Ok(())
        });
        tests.test("the package is a module", || {
            let package: Value = serde_json::from_str(&files.text("package.json")?)?;
            ensure_eq!(package["type"].as_str(), Some("module"));
            Ok(())
        });
        let no_styles = tests.test("no styles are inline", || {
            for path in files.paths().iter().filter(|path| path.ends_with(".tsx")) {
                ensure!(!files.text(path)?.contains("style={{"), "`{path}` has some");
            }
            Ok(())
        });
        no_styles.soft();
        Ok(tests.into_score())
    }
}

scorebox_sdk::export!(WorkspaceTests);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_fails_stops_no_other() {
        let case = Case::new("Done.".into())
            .with_file("package.json", r#"{"type": "commonjs"}"#)
            .with_file("src/components/Button.tsx", "({ label, onClick }) => <button …/>");
        let score = WorkspaceTests {}.score(&case).unwrap();
        assert_eq!(score.score, Some(0.75));
        assert_eq!(
            score.reason.as_deref(),
            Some(
                "1 of 4 tests fails: the package is a module (`package[\"type\"].as_str()` is \
                 Some(\"commonjs\"), expected Some(\"module\"))"
            )
        );
    }
}
