//! A suite of all built-in scorers that need no judge, for the tests that run all of them. It asserts only that they
//! load.

use std::{collections::BTreeMap, fs, path::Path, sync::Once};

use serde_json::Value;

use crate::fixture::Folder;

static COMPILED: Once = Once::new();

/// Each built-in scorer with the configuration of its example, or with one that has an effect on most cases. The first
/// caller compiles them, for all tests together.
pub(crate) fn suite() -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = fs::read_to_string(workspace.join("guest-scorers/dist/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let needed: BTreeMap<&str, &str> = BTreeMap::from([
        ("latency", "targetMs = 1.0, maxMs = 9.0"),
        ("contains", "values = [\"A: 1\", \"the\"], mode = \"all\""),
    ]);
    let scorers = manifest["scorers"].as_array().unwrap().iter();
    // A scorer that asks a judge has no example.
    let scorers = scorers.filter(|scorer| !scorer["example"].is_null()).map(|scorer| {
        let name = scorer["name"].as_str().unwrap();
        let example = workspace.join("guest-scorers").join(name).join("example.json");
        let config = match (needed.get(name), fs::read_to_string(example)) {
            (Some(config), _) => format!("{{ {config} }}"),
            (None, Ok(example)) => {
                let example: Value = serde_json::from_str(&example).unwrap();
                toml::Value::try_from(&example["config"]).unwrap().to_string()
            }
            (None, Err(error)) => panic!("{name}: {error}"),
        };
        format!("[scorers.{name}]\nconfig = {config}\n")
    });
    let suite: String = scorers.collect();
    COMPILED.call_once(|| compile(&suite));
    suite
}

/// Fills the cache that the commands of all tests share, because compiling takes most of the time of these tests.
fn compile(suite: &str) {
    let folder = Folder::new();
    folder.write("all.toml", suite);
    folder.write("case.jsonl", "{\"output\": 1}");
    folder
        .sh("scorebox run all.toml case.jsonl --allow-errors --allow-failures -q --compile-timeout 10min")
        .exits_with(0);
}
