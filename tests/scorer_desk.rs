//! A registry, and the folder of a user who adds scorers from it to a suite, as the start of the tests of published
//! scorers. Tests nothing.

use std::{collections::BTreeMap, fs, path::PathBuf};

use scorebox::{digest::Digest, registry::component_file_name};
use scorebox_community::{Address, Artifact, Registry, Transport};
use wasm_encoder::{ComponentSection as _, CustomSection};

use crate::{
    fixture::{Folder, Output},
    oci_registry::{Door, OciRegistry},
};

pub(crate) const SUITE: &str =
    "# What we expect.\nversion = 1\n\n[scorers.exact-match] # strict\nname = \"The same\"\n";

/// Cases that `word-f1` scores with 1 and 0.5.
const CASES: &str = r#"{"id": "a", "output": "one two", "groundTruth": "one two"}
{"id": "b", "output": "one two", "groundTruth": "one three"}
"#;

/// A registry with `team/word-f1:0.1.0`, and a folder of a user who has not logged in there and has fetched nothing
/// yet.
pub(crate) struct Desk {
    pub registry: OciRegistry,
    pub folder: Folder,
}

impl Desk {
    /// `None` if no registry is installed.
    pub(crate) fn new() -> Option<Desk> {
        let registry = OciRegistry::start(Door::Open)?;
        let desk = Desk { registry, folder: folder() };
        desk.publish("team/word-f1", &guest("word-f1"));
        Some(desk)
    }

    pub(crate) fn publish(&self, name: &str, component: &[u8]) {
        self.folder.write("published.wasm", component);
        self.sh(&format!("scorebox publish published.wasm HOST/{name}:0.1.0 --plain-http"))
            .exits_with(0);
    }

    /// Publishes a component like another client, which checks nothing.
    pub(crate) fn publish_unseen(&self, name: &str, component: &[u8]) {
        let address: Address = format!("{}/{name}:0.1.0", self.registry.host()).parse().unwrap();
        let artifact = Artifact::new(component.to_vec(), &[], &[], &BTreeMap::new()).unwrap();
        let registry = Registry::new(&address, Transport::PlainHttp, None).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(scorebox_community::publish(&registry, &artifact)).unwrap();
    }

    /// Runs a line of shell in which `HOST` is the registry, as in the output that is returned.
    pub(crate) fn sh(&self, line: &str) -> Output {
        let host = self.registry.host();
        let output = sh(&self.folder, &line.replace("HOST", &host));
        let named = |text: String| text.replace(&host, "HOST");
        Output { stdout: named(output.stdout), stderr: named(output.stderr), code: output.code }
    }

    pub(crate) fn add(&self, options: &str) -> Output {
        self.sh(&format!("scorebox add --plain-http {options}"))
    }

    /// Adds `word-f1` to the suite.
    pub(crate) fn added(&self) {
        self.add("HOST/team/word-f1:0.1.0 --yes").exits_with(0);
    }

    /// The text of a file, in which `HOST` is the registry.
    pub(crate) fn read(&self, name: &str) -> String {
        let text = fs::read_to_string(self.folder.path(name)).unwrap();
        text.replace(&self.registry.host(), "HOST")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.folder.write(name, text.replace("HOST", &self.registry.host()));
    }
}

/// A folder with a suite and cases.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    for name in ["docker", "home"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    folder.write("suite.toml", SUITE);
    folder.write("cases.jsonl", CASES);
    folder
}

/// Runs a line of shell in a folder that has all files of a user.
pub(crate) fn sh(folder: &Folder, line: &str) -> Output {
    let settings = "DOCKER_CONFIG=docker HOME=home XDG_RUNTIME_DIR=docker SCOREBOX_DATA_DIR=data";
    folder.sh(&format!("unset REGISTRY_AUTH_FILE; export {settings}; {line}"))
}

pub(crate) fn run(folder: &Folder) -> Output {
    sh(folder, "scorebox run suite.toml cases.jsonl -q")
}

/// The scores of the locked scorer in all runs.
pub(crate) fn scores(folder: &Folder) -> Vec<String> {
    folder.rows("SELECT case_id, score FROM scores WHERE scorer_id = 'word-f1' ORDER BY case_id")
}

/// A component of the test guests.
pub(crate) fn guest(name: &str) -> Vec<u8> {
    let guests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests/dist");
    fs::read(guests.join(format!("{name}.wasm"))).unwrap()
}

/// `word-f1` with an example.
pub(crate) fn with_example(example: &str) -> Vec<u8> {
    let mut component = guest("word-f1");
    let (name, data) = ("scorebox:example".into(), example.as_bytes().into());
    CustomSection { name, data }.append_to_component(&mut component);
    component
}

/// The file of a component in the folder of fetched components.
pub(crate) fn fetched(component: &[u8]) -> String {
    format!("data/components/{}", component_file_name(Digest::of(component)))
}
