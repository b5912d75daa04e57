//! What it costs that scorers are published ones: a run of one case with twenty scorers that are locked, signed and
//! fetched, beside the same run with the same components as files. Nothing is asked of a registry.
//!
//!     cargo bench --bench starting

// A bench reports its figures on standard output.
#![allow(clippy::print_stdout)]

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use scorebox::{digest::Digest, sandbox::Anatomy};
use scorebox_community::{Components, LOCK_FILE, Lock, Locked, Signature, Signed};
use wasm_encoder::{ComponentSection as _, CustomSection};

const SCOREBOX: &str = env!("CARGO_BIN_EXE_scorebox");
const SCORER: &[u8] = include_bytes!("../../../tests/guests/dist/word-f1.wasm");
const KEY: &str = include_str!("../../../tests/signing-keys/team.key");
const SCORERS: usize = 20;
const ROUNDS: usize = 30;

fn main() {
    // `cargo test --benches` only asks whether it runs.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    fs::write(folder.join("case.jsonl"), "{\"output\": \"a b\", \"groundTruth\": \"a c\"}\n")
        .expect("a file with a case");
    write_suites(folder);
    // Compiles the scorers into the cache, so that the figures are those of starting.
    let suites = ["files.toml", "locked.toml"];
    for suite in suites {
        run(folder, suite);
    }
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (suite, times) in suites.iter().zip(&mut times) {
            times.push(run(folder, suite));
        }
    }
    let [files, locked] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!(
        "a run of one case with {SCORERS} scorers, median of {ROUNDS}: {files:.1} ms with files, {locked:.1} ms locked and signed, ratio {:.3}",
        locked / files
    );
}

/// Two suites of the same components: as files, and published.
fn write_suites(folder: &Path) {
    let (mut files, mut locked, mut lock) = (String::new(), String::new(), Lock::default());
    let components = Components::new(folder.join("data/components"));
    for number in 0..SCORERS {
        let component = component(number);
        fs::write(folder.join(format!("{number}.wasm")), &component).expect("a component");
        components.keep(&component).expect("a component among those that were fetched");
        let address = format!("registry.example.com/team/scorer-{number}:0.1.0");
        lock.insert(locked_to(&address, &component));
        files += &format!("[scorers.s{number}]\nuse = \"./{number}.wasm\"\n");
        locked += &format!("[scorers.s{number}]\nuse = \"oci://{address}\"\n");
    }
    for (name, text) in [("files.toml", files), ("locked.toml", locked), (LOCK_FILE, lock.text())] {
        fs::write(folder.join(name), text).expect("a suite");
    }
}

/// A scorer with bytes of its own.
fn component(number: usize) -> Vec<u8> {
    let mut component = SCORER.to_vec();
    let number = number.to_string();
    let section = CustomSection { name: "number".into(), data: number.as_bytes().into() };
    section.append_to_component(&mut component);
    component
}

fn locked_to(address: &str, component: &[u8]) -> Locked {
    let anatomy = Anatomy::read(component).expect("a component");
    let signature = Signature::make(component, KEY, None).expect("a signature");
    let digest = Digest::of(component);
    let version = anatomy.contract_version().expect("a scorer").to_owned();
    Locked::new(address.parse().expect("an address"), digest, digest, &version)
        .reading(["groundTruth".to_owned()])
        .importing(anatomy.imports, [])
        .signed(Some(Signed::By(signature)))
}

/// How long the run takes, in milliseconds.
fn run(folder: &Path, suite: &str) -> f64 {
    let begun = Instant::now();
    let status = Command::new(SCOREBOX)
        .args(["run", suite, "case.jsonl", "-q", "--db", "runs.db"])
        .current_dir(folder)
        .env("SCOREBOX_DATA_DIR", folder.join("data"))
        .env("SCOREBOX_CACHE_DIR", folder.join("cache"))
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("scorebox starts");
    assert!(status.success(), "{suite}");
    begun.elapsed().as_secs_f64() * 1000.0
}
