//! Checks that the examples of docs/coming-from.md do what the page says: each section's suite runs over its case, with
//! the script next to it.

use std::{fs, path::Path};

use crate::fixture::Folder;

/// A section of the page: its title, and its blocks with their languages.
struct Section<'p> {
    title: &'p str,
    blocks: Vec<(&'p str, &'p str)>,
}

impl<'p> Section<'p> {
    fn all(page: &'p str) -> Vec<Section<'p>> {
        let of = |text: &'p str| {
            let (title, text) = text.split_once('\n').unwrap_or((text, ""));
            let blocks = text.split("```").skip(1).step_by(2);
            Section { title, blocks: blocks.filter_map(|block| block.split_once('\n')).collect() }
        };
        page.split("\n## ").skip(1).map(of).collect()
    }

    /// The texts of its blocks in one language.
    fn of(&self, language: &str) -> Vec<&'p str> {
        let is_it = |block: &&(&str, &str)| block.0 == language;
        self.blocks.iter().filter(is_it).map(|(_, text)| *text).collect()
    }

    /// Its suite and cases as files. A configuration of the other tool may also be JSON, so only lines with an output
    /// are cases.
    fn written(&self, suite: &str) -> Folder {
        let folder = Folder::new();
        folder.write("suite.toml", suite);
        let cases = self.of("json").into_iter().filter(|json| json.contains("\"output\":"));
        folder.write("cases.jsonl", cases.collect::<String>());
        for script in self.of("js") {
            let name = script.lines().next().unwrap().trim_start_matches("// ");
            folder.write(name, script);
        }
        folder
    }
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coming-from.md");
    fs::read_to_string(path).unwrap()
}

#[test]
fn every_suite_scores_the_case_beside_it() {
    let page = page();
    let mut suites = 0;
    for section in Section::all(&page) {
        for suite in section.of("toml") {
            suites += 1;
            let folder = section.written(suite);
            let run = folder.sh("scorebox run suite.toml cases.jsonl -q --seed 3 --run-id r");
            assert!(matches!(run.code, Some(0 | 3)), "{}\n{run}", section.title);
            let rows = "SELECT count(*) FROM scores WHERE status = 'scored'";
            assert_ne!(folder.rows(rows), ["0"], "{}", section.title);
        }
    }
    assert!(suites > 8, "{suites}");
}

/// The scores that Smithers' own scorers give these outputs.
#[test]
fn a_scorer_of_create_scorer_becomes_a_script_with_the_same_scores() {
    let page = page();
    let smithers = Section::all(&page).into_iter().find(|it| it.title == "Smithers").unwrap();
    let folder = smithers.written(smithers.of("toml")[0]);
    let score = |output: &str| {
        let line = format!("scorebox score length-check.js --output-text '{output}'");
        let said = folder.sh(&line).exits_with(0).json();
        (said["score"].as_f64().unwrap(), said["reason"].as_str().unwrap().to_owned())
    };
    assert_eq!(score("Two modules"), (0.022, "Output is 11 chars".to_owned()));
    assert_eq!(score(&"x".repeat(900)), (1.0, "Output is 900 chars".to_owned()));
    folder.sh("scorebox run suite.toml cases.jsonl -q --seed 3").exits_with(0);
    let ids =
        folder.rows("SELECT scorer_id, scorer_name FROM _smithers_scorers ORDER BY scorer_id");
    assert!(ids.contains(&"schema-adherence | Schema Adherence".to_owned()), "{ids:?}");
    assert!(ids.contains(&"length-check | Length Check".to_owned()), "{ids:?}");
}
