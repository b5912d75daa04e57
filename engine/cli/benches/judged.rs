//! A run whose scorers ask a judge, against a server on the loopback interface that takes 200 ms for each call: how
//! close the run comes to the ideal time, from start to exit with its database, and its peak memory at 1000 and at 4000
//! cases.
//!
//!     cargo bench --bench judged

// A bench reports its figures on standard output.
#![allow(clippy::print_stdout)]

use std::{
    env, fs,
    io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

const SCOREBOX: &str = env!("CARGO_BIN_EXE_scorebox");
const ANSWERS: &str = include_str!("../../../examples/gsm8k/answers.jsonl");
const SIZES: [usize; 2] = [1000, 4000];
/// Each asks once for each case.
const SCORERS: [&str; 3] = ["relevancy", "toxicity", "factuality"];
/// Calls at once.
const CONCURRENCY: usize = 100;
/// How long the server thinks.
const THINKING: Duration = Duration::from_millis(200);
/// How many calls the server answered.
static ANSWERED: AtomicUsize = AtomicUsize::new(0);
/// What each of the scorers can read.
const VERDICT: &str = r#"{\"reason\": \"It is.\", \"score\": 1, \"choice\": \"C\"}"#;

fn main() {
    // `cargo test --benches` only asks whether it runs.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write_suite(&folder.join("suite.toml"), serve());
    // Compiles the scorers into the cache, so that the figures are those of running.
    run(folder, 1);
    println!(
        "{} judged scorers, {CONCURRENCY} calls of {} ms at once, from start to exit:",
        SCORERS.len(),
        THINKING.as_millis()
    );
    for cases in SIZES {
        let before = ANSWERED.load(Relaxed);
        let (seconds, peak) = run(folder, cases);
        let calls = ANSWERED.load(Relaxed) - before;
        let ideal = calls.div_ceil(CONCURRENCY) as f64 * THINKING.as_secs_f64();
        println!(
            "  {cases:>5} cases: {calls} calls in {seconds:.2} s, {:.3} times the ideal {ideal:.1} s, peak {} MB",
            seconds / ideal,
            peak / 1024
        );
    }
}

/// Seconds from start to exit, and the peak of resident memory in KiB.
fn run(folder: &Path, cases: usize) -> (f64, u64) {
    let file = folder.join(format!("{cases}.jsonl"));
    write_cases(&file, cases);
    let started = Instant::now();
    let mut child = Command::new(SCOREBOX)
        .arg("run")
        .args([&folder.join("suite.toml"), &file])
        .args(["--quiet", "--format", "json"])
        .arg("--db")
        .arg(folder.join(format!("{cases}.db")))
        .arg("--cache-dir")
        .arg(folder.join("cache"))
        .stdout(Stdio::null())
        .spawn()
        .expect("scorebox starts");
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        peak = peak.max(peak_kib(child.id()));
        thread::sleep(Duration::from_millis(20));
    };
    let seconds = started.elapsed().as_secs_f64();
    assert!(status.success());
    (seconds, peak)
}

fn write_suite(file: &Path, server: SocketAddr) {
    let scorers = SCORERS.map(|scorer| format!("[scorers.{scorer}]\ngrants = ['judge']\n"));
    let suite = format!(
        "[judges.default]\nprovider = 'openai'\nbase_url = 'http://{server}/v1'\nmodel = 'm'\n\
         concurrency = {CONCURRENCY}\n{}",
        scorers.concat()
    );
    fs::write(file, suite).expect("a file can be written");
}

/// The example's cases, each under a different name and with a different output, so that no question is asked twice.
fn write_cases(file: &Path, cases: usize) {
    let mut out = BufWriter::new(fs::File::create(file).expect("a file can be made"));
    for (number, line) in ANSWERS.lines().cycle().take(cases).enumerate() {
        let line = line.replacen(r#""id": ""#, &format!(r#""id": "{number}-"#), 1);
        let line = line.replacen(r#""output": ""#, &format!(r#""output": "{number}. "#), 1);
        writeln!(out, "{line}").expect("a file can be written");
    }
}

/// A server with a thread for each connection.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // Ends with the connection.
            thread::spawn(move || answer(stream));
        }
    });
    address
}

/// Answers the requests of one connection, one after the other, until it ends.
fn answer(stream: TcpStream) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let (mut reader, mut writer) = (BufReader::new(stream.try_clone().ok()?), stream);
    let answer = format!(
        r#"{{"model": "m", "choices": [{{"message": {{"content": "{VERDICT}"}}, "finish_reason": "stop"}}],
            "usage": {{"prompt_tokens": 400, "completion_tokens": 12}}}}"#
    );
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    );
    let (mut line, mut body) = (String::new(), Vec::new());
    loop {
        let mut bytes = 0;
        loop {
            line.clear();
            reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    bytes = value.parse().ok()?;
                }
                None if line.trim().is_empty() => break,
                _ => {}
            }
        }
        body.resize(bytes, 0);
        reader.read_exact(&mut body).ok()?;
        thread::sleep(THINKING);
        ANSWERED.fetch_add(1, Relaxed);
        writer.write_all(reply.as_bytes()).ok()?;
    }
}

/// The most memory that a process ever had resident (Linux).
fn peak_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
