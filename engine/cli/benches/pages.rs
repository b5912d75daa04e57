//! How long the server's pages take of a run with a million scores: four scorers over 250 000 answers of GSM8K, each
//! page 20 times, with how long the index took to be made.
//!
//!     cargo bench --bench pages

// A bench reports its figures on standard output.
#![allow(clippy::print_stdout)]

use std::{
    env, fs,
    io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

const SCOREBOX: &str = env!("CARGO_BIN_EXE_scorebox");
const ANSWERS: &str = include_str!("../../../examples/gsm8k/answers.jsonl");
const CASES: usize = 250_000;
const TIMES: usize = 20;

const SUITE: &str = "name = 'a million scores'
[scorers.numeric-answer]
severity = 'gate'
[scorers.exact-match]
[scorers.length]
config = { max = 2000 }
threshold = 1
[scorers.token-f1]
threshold = 0.2
";

/// Pages, each with what it shows.
const PAGES: [(&str, &str); 17] = [
    ("/", "the runs"),
    ("/runs/r", "the run"),
    ("/runs/r?verdict=failed", "cases that failed"),
    ("/runs/r?verdict=errored", "cases of a verdict that none has"),
    ("/runs/r?scorer=token-f1&least=0.3&most=0.31", "cases between two scores of a scorer"),
    ("/runs/r?scorer=token-f1&order=lowest", "cases with the lowest scores"),
    (
        "/runs/r?scorer=token-f1&order=lowest&verdict=passed&after=125000:0.2",
        "the same from the middle on",
    ),
    ("/runs/r?status=error", "cases with an error"),
    ("/runs/r?q=the", "a word that all cases have"),
    ("/runs/r?q=the&scorer=token-f1&order=lowest", "the same, the lowest scores first"),
    ("/runs/r?q=the&scorer=token-f1&least=0.1&most=0.2", "the same, between two scores"),
    ("/runs/r?status=scored&order=lowest", "cases of a status, the lowest scores first"),
    ("/runs/r?q=zebra", "a word that few cases have"),
    (
        "/runs/r?q=%22dollars+a+day%22&verdict=failed",
        "words in quotation marks, of cases that failed",
    ),
    ("/runs/r/case?id=CASE", "a case"),
    ("/compare?a=r&b=s", "two runs"),
    ("/scorer?id=token-f1", "a scorer over time"),
];

fn main() {
    // `cargo test --benches` only asks whether it runs.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let some_case = write_cases(&folder.join("cases.jsonl"), CASES);
    write_cases(&folder.join("some.jsonl"), 1000);
    fs::write(folder.join("suite.toml"), SUITE).expect("a file can be written");
    run(folder, "cases.jsonl", "r");
    run(folder, "some.jsonl", "s");

    let mut server = Command::new(SCOREBOX)
        .args(["serve", "--listen", "0", "--db"])
        .arg(folder.join("scores.db"))
        .arg("--cache-dir")
        .arg(folder.join("cache"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("scorebox starts");
    let mut url = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut url).expect("the URL");
    let address = url.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let began = Instant::now();
    while !is_read(&get(&address, "/").1) {
        thread::sleep(Duration::from_millis(200));
    }
    println!(
        "index of {CASES} cases and {} scores: {:.1} s",
        4 * CASES,
        began.elapsed().as_secs_f64()
    );
    let size = fs::read_dir(folder.join("cache/pages")).expect("the folder of the index");
    let bytes: u64 = size.flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    let database = fs::metadata(folder.join("scores.db")).expect("the database").len();
    println!("index: {} MB beside a database of {} MB", bytes >> 20, database >> 20);

    for (path, what) in PAGES {
        let path = path.replace("CASE", &some_case);
        let mut times: Vec<f64> = (0..TIMES)
            .map(|_| {
                let began = Instant::now();
                let (status, _) = get(&address, &path);
                assert_eq!(status, 200, "{path}");
                began.elapsed().as_secs_f64() * 1000.0
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "{:7.1} ms, at most {:7.1} ms: {what} ({path})",
            times[TIMES / 2],
            times[TIMES - 1]
        );
    }
    server.kill().expect("the server ends");
    server.wait().expect("the server ended");
}

/// Whether the page of the runs shows figures of both.
fn is_read(page: &str) -> bool {
    !page.contains("reading cases") && !page.contains("not read yet")
}

/// The status and the body of an answer.
fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .expect("the server takes a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers");
    let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
    (status, answer)
}

fn run(folder: &Path, cases: &str, id: &str) {
    let status = Command::new(SCOREBOX)
        .arg("run")
        .args([folder.join("suite.toml"), folder.join(cases)])
        .args(["--quiet", "--allow-failures", "--allow-errors", "--run-id", id, "--db"])
        .arg(folder.join("scores.db"))
        .arg("--cache-dir")
        .arg(folder.join("cache"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("scorebox starts");
    assert!(status.success(), "{id}");
}

/// The example's cases, each under a different name; answers with one of these.
fn write_cases(file: &Path, cases: usize) -> String {
    let mut out = BufWriter::new(fs::File::create(file).expect("a file can be made"));
    let mut some = String::new();
    for (number, line) in ANSWERS.lines().cycle().take(cases).enumerate() {
        let rest = line.split_once(r#""id": ""#).expect("every case has an id").1;
        if number == cases / 2 {
            some = format!("{number}-{}", rest.split('"').next().expect("an id"));
        }
        writeln!(out, r#"{{"id": "{number}-{rest}"#).expect("a file can be written");
    }
    some
}
