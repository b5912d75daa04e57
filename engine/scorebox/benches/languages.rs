//! Measures the same scorer in every language (`tests/languages`), in one run: the time and the fuel of a score
//! relative to the scorer in Rust, on real answers; and a script that computes nothing. Absolute times depend on the
//! machine.
//!
//!     cargo bench --bench languages
//!
//! `PYTHON_ENGINE=FILE` adds Python, with the file that `scorebox toolchain add python` made.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use scorebox::{
    case::Case,
    component_bytes::ComponentBytes,
    registry::{Reference, Registry, ScriptLanguage},
    sandbox::{
        Compiler, Grants, Limits, LoadedScorer, Sandbox, SandboxOptions, ScorerConfig, Start,
    },
};

/// How often each scorer scores each case.
const ROUNDS: usize = 20;
/// The scorer with which all are compared.
const REFERENCE: &str = "rust";
const COMPILED: [&str; 5] = ["c", "cpp", "zig", "go", "assemblyscript"];

/// A scorer and the cost of its scores.
struct Measured {
    name: &'static str,
    scorer: LoadedScorer,
    times: Vec<Duration>,
    fuel: u64,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let options = SandboxOptions::default().with_compiler(Compiler::InProcess).with_slots(16);
    let sandbox = Sandbox::new(&options).unwrap();
    let mut all: Vec<Measured> = components()
        .into_iter()
        .map(|(name, component)| {
            let (config, limits) = (ScorerConfig::default(), Limits::default());
            let component = ComponentBytes::new(component);
            let loading = sandbox.load(&component, &config, &limits, Grants::NONE);
            let scorer = runtime.block_on(loading).unwrap();
            assert_eq!(*scorer.start(), Start::Frozen, "{name}");
            Measured { name, scorer, times: Vec::new(), fuel: 0 }
        })
        .collect();
    let cases = cases();
    // Interleaved, so that a machine that slows down affects all of them equally.
    for round in 0..=ROUNDS {
        for case in &cases {
            for measured in &mut all {
                let scorer = &measured.scorer;
                let began = Instant::now();
                let outcome =
                    runtime.block_on(scorer.score(case.scorer_input(scorer.info().reads)));
                let time = began.elapsed();
                outcome.result.unwrap();
                // The first round warms up.
                if round > 0 {
                    measured.times.push(time);
                    measured.fuel += outcome.fuel.unwrap();
                }
            }
        }
    }
    print(&mut all);
}

#[expect(clippy::print_stdout, reason = "it is what the bench is for")]
fn print(all: &mut [Measured]) {
    all.iter_mut().for_each(|measured| measured.times.sort());
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let of = |measured: &Measured| {
        let scores = measured.times.len();
        let at = |part: usize| micros(measured.times[scores * part / 100]);
        (at(10), at(50), measured.fuel as f64 / scores as f64)
    };
    let reference = all.iter().find(|measured| measured.name == REFERENCE).map(of).unwrap();
    let mut table = String::new();
    let head = ["scorer", "p10 µs", "p50 µs", "p10 / Rust", "p50 / Rust", "fuel", "fuel / Rust"];
    for word in head {
        write!(table, "{word:>16}").unwrap();
    }
    for measured in all.iter() {
        let (low, median, fuel) = of(measured);
        let (name, ratio) = (measured.name, median / reference.1);
        write!(
            table,
            "\n{name:>16}{low:>16.1}{median:>16.1}{:>16.2}{ratio:>16.2}{fuel:>16.0}{:>16.2}",
            low / reference.0,
            fuel / reference.2
        )
        .unwrap();
    }
    println!("{table}");
}

/// All scorers, and a script that computes nothing.
fn components() -> Vec<(&'static str, Vec<u8>)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let rust = fs::read(tests.join("guests/dist/word-f1.wasm")).unwrap();
    let compiled = COMPILED.map(|name| {
        let packed = fs::read(tests.join(format!("languages/dist/{name}.wasm.zst"))).unwrap();
        (name, zstd::decode_all(&packed[..]).unwrap())
    });
    let folder = tempfile::tempdir().unwrap();
    let constant = folder.path().join("constant.js");
    fs::write(&constant, "export default () => 1;\nexport const info = { reads: [] };\n").unwrap();
    let languages = tests.join("languages");
    let mut registry = Registry::with_builtins();
    let mut scripts = vec![
        ("javascript", languages.join("javascript/word-f1.js")),
        ("typescript", languages.join("typescript/word-f1.ts")),
        ("constant script", constant),
    ];
    if let Some(engine) = env::var_os("PYTHON_ENGINE") {
        registry = registry.with_script_engine(ScriptLanguage::Python, PathBuf::from(engine));
        scripts.push(("python", languages.join("python/word-f1.py")));
    }
    let scripts = scripts.into_iter().map(|(name, path)| {
        let component = registry.resolve(&Reference::File(path)).unwrap().component;
        (name, component.bytes().unwrap().to_vec())
    });
    [(REFERENCE, rust)].into_iter().chain(compiled).chain(scripts).collect()
}

/// Every second answer of the GSM8K example, with the problem that it answers.
fn cases() -> Vec<Case> {
    let lines = include_str!("../../../examples/gsm8k/answers.jsonl").lines().step_by(2);
    let cases = lines.map(|line| {
        let read: serde_json::Value = serde_json::from_str(line).unwrap();
        let case = serde_json::json!({"output": read["output"], "groundTruth": read["input"]});
        Case::from_json(case.to_string()).unwrap()
    });
    cases.collect()
}
