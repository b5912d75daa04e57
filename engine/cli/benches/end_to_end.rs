//! A whole run: read, score in fresh sandboxes, store; its rate and its peak memory at 30 000 and at
//! 300 000 cases. And `scorebox score` of one case, from start to exit.
//!
//!     cargo bench --bench end_to_end

// A bench reports its figures on standard output.
#![allow(clippy::print_stdout)]

use std::{
    env, fs,
    io::{BufWriter, Write as _},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

const SCOREBOX: &str = env!("CARGO_BIN_EXE_scorebox");
const ANSWERS: &str = include_str!("../../../examples/gsm8k/answers.jsonl");
const SIZES: [usize; 2] = [30_000, 300_000];
const STARTS: usize = 50;

fn main() {
    // `cargo test --benches` only asks whether it runs.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Compiles the scorers into the cache, so that the figures are those of running.
    run(folder.path(), 10);
    println!("three scorers (exact-match, contains, numeric-answer) on GSM8K answers, repeated:");
    for cases in SIZES {
        let (seconds, peak) = run(folder.path(), cases);
        tell(cases, seconds, peak);
    }
    measure_start(folder.path());
}

/// Seconds from start to exit, and the peak of resident memory in KiB.
fn run(folder: &Path, cases: usize) -> (f64, u64) {
    let file = folder.join("cases.jsonl");
    write_cases(&file, cases);
    let (database, cache) = (folder.join(format!("{cases}.db")), folder.join("cache"));
    let mut command = Command::new(SCOREBOX);
    command
        .arg("run")
        .arg(&file)
        .args(["-s", "exact-match", "-s", "contains", "-s", "numeric-answer"])
        .args(["--quiet", "--format", "json"])
        .arg("--db")
        .arg(&database)
        .arg("--cache-dir")
        .arg(&cache);
    let started = Instant::now();
    let mut child = command.stdout(std::process::Stdio::null()).spawn().expect("scorebox starts");
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        peak = peak.max(peak_kib(child.id()));
        std::thread::sleep(Duration::from_millis(20));
    };
    let seconds = started.elapsed().as_secs_f64();
    assert!(status.success());
    (seconds, peak)
}

fn tell(cases: usize, seconds: f64, peak: u64) {
    let scores = (cases * 3) as f64;
    println!(
        "  {cases:>7} cases: {:>6.0} stored scores a second, start to exit ({seconds:.1} s), peak {} MB",
        scores / seconds,
        peak / 1024
    );
}

/// The example's cases, each under a different name.
fn write_cases(file: &Path, cases: usize) {
    let mut out = BufWriter::new(fs::File::create(file).expect("a file can be made"));
    for (number, line) in ANSWERS.lines().cycle().take(cases).enumerate() {
        let rest = line.split_once(r#""id": ""#).expect("every case has an id").1;
        writeln!(out, r#"{{"id": "{number}-{rest}"#).expect("a file can be written");
    }
}

/// The most memory that a process ever had resident (Linux).
fn peak_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn measure_start(folder: &Path) {
    let mut times: Vec<Duration> = (0..STARTS)
        .map(|_| {
            let started = Instant::now();
            let output = Command::new(SCOREBOX)
                .args(["score", "exact-match", "--output", "1", "--ground-truth", "1"])
                .arg("--cache-dir")
                .arg(folder.join("cache"))
                .output()
                .expect("scorebox starts");
            assert!(output.status.success());
            started.elapsed()
        })
        .collect();
    times.sort();
    println!(
        "`scorebox score`, start to exit: median {:.1} ms, slowest of {STARTS} {:.1} ms",
        times[STARTS / 2].as_secs_f64() * 1e3,
        times[STARTS - 1].as_secs_f64() * 1e3
    );
}
