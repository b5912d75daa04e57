//! What it costs that a suite decides: five scorers over 100 000 cases, without and with sampling, severities,
//! thresholds, weights and verdicts, one after the other. The sample takes every case, so that both compute and store
//! the same scores.
//!
//!     cargo bench --bench deciding

// A bench reports its figures on standard output.
#![allow(clippy::print_stdout)]

use std::{
    env, fs,
    io::{BufWriter, Write as _},
    path::Path,
    process::{Command, Stdio},
};

const SCOREBOX: &str = env!("CARGO_BIN_EXE_scorebox");
const ANSWERS: &str = include_str!("../../../examples/gsm8k/answers.jsonl");
const CASES: usize = 100_000;
const ROUNDS: usize = 3;
/// Ticks of the processor time that Linux reports, in a second.
const TICKS: f64 = 100.0;

/// The scorers, each with what is said about it in both suites, and in that which decides.
const SCORERS: [(&str, &str, &str); 5] = [
    ("exact-match", "", "threshold = 0.5\nweight = 0.5"),
    ("contains", "", "severity = 'gate'\nthreshold = 1"),
    ("numeric-answer", "", "severity = 'gate'\nweight = 3\nrequired = true"),
    ("length", "config = { max = 2000 }", "threshold = 1"),
    ("token-f1", "", "threshold = 0.2\nweight = 2"),
];

fn main() {
    // `cargo test --benches` only asks whether it runs.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write_cases(&folder.join("cases.jsonl"));
    write_suite(&folder.join("plain.toml"), |_| String::new());
    write_suite(&folder.join("decides.toml"), |decides| {
        format!("{decides}\nsampling = {{ type = 'ratio', rate = 1.0 }}\nnodes = ['*']\n")
    });
    // Compiles the scorers into the cache, so that the figures are those of running.
    run(folder, "plain.toml");
    let mut least = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (suite, least) in ["plain.toml", "decides.toml"].into_iter().zip(&mut least) {
            *least = least.min(run(folder, suite));
        }
    }
    let [plain, decides] = least;
    println!(
        "five scorers on {CASES} GSM8K answers, least of {ROUNDS}: {plain:.2} s of processor time without \
         verdicts, {decides:.2} s with them, ratio {:.3}",
        decides / plain
    );
}

/// Seconds of processor time of a run, from start to exit.
fn run(folder: &Path, suite: &str) -> f64 {
    let database = folder.join("scores.db");
    let _ = fs::remove_file(&database);
    let before = ticks_of_children();
    let status = Command::new(SCOREBOX)
        .arg("run")
        .args([folder.join(suite), folder.join("cases.jsonl")])
        .args(["--quiet", "--allow-failures", "--allow-errors"])
        .arg("--db")
        .arg(&database)
        .arg("--cache-dir")
        .arg(folder.join("cache"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("scorebox starts");
    assert!(status.success(), "{suite}");
    (ticks_of_children() - before) / TICKS
}

/// The processor time of the children that have ended, in the kernel's ticks (proc_pid_stat(5): cutime, cstime).
fn ticks_of_children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    // The name in parentheses may have spaces; the third field comes after it.
    let fields = stat.rsplit_once(')').expect("a name").1.split_whitespace();
    fields.skip(13).take(2).map(|ticks| ticks.parse::<f64>().expect("a number")).sum()
}

fn write_suite(file: &Path, deciding: impl Fn(&str) -> String) {
    let entry = |(name, both, decides): (&str, &str, &str)| {
        format!("[scorers.{name}]\n{both}\n{}\n", deciding(decides))
    };
    let suite: String = SCORERS.into_iter().map(entry).collect();
    fs::write(file, suite).expect("a file can be written");
}

/// The example's cases, each under a different name.
fn write_cases(file: &Path) {
    let mut out = BufWriter::new(fs::File::create(file).expect("a file can be made"));
    for (number, line) in ANSWERS.lines().cycle().take(CASES).enumerate() {
        let rest = line.split_once(r#""id": ""#).expect("every case has an id").1;
        writeln!(out, r#"{{"id": "{number}-{rest}"#).expect("a file can be written");
    }
}
