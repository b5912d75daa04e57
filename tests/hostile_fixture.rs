//! Shared parts of the `hostile_` tests: a folder with the attackers in it, commands that run there while their memory
//! is watched, and a good scorer next to the attacker, whose scores must be right. The test guests in `tests/hostile/`
//! contain the attacks; this file knows none of them.

use std::{
    fmt::Write as _,
    fs,
    path::PathBuf,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use insta::{Settings, internals::SettingsBindDropGuard};
use scorebox::{
    advice::{Advice, Limit},
    sandbox::{CompileLimits, Compiler, ErrorKind, Limits, Sandbox, SandboxOptions, ScoreError},
};
use serde_json::{Value, json};

use crate::{
    fixture::{Folder, Output},
    sandbox_fixture::{refusal, sandbox, try_load},
};

/// The most memory that scorebox may use, whatever a scorer tries: two scores at once, of 64 MiB each, a few copies of
/// a component of 128 MiB, and its own needs.
const MAX_MEMORY_BYTES: u64 = 768 << 20;
/// The most memory of the process that compiles for it: its default limit, and its own code and stack.
const MAX_COMPILER_BYTES: u64 = (2 << 30) + (128 << 20);
/// A command that takes longer than this does not end by itself.
const WITHOUT_END: Duration = Duration::from_secs(180);
/// How often the memory is measured.
const LOOK: Duration = Duration::from_millis(2);
/// The offset of the order for `describe` in the attacker's bytes, and its maximum length.
const ORDER: &[u8] = b"order of describe: ";
const ORDER_BYTES: usize = 45;

/// The component of an attacker.
pub(crate) fn attacker(name: &str) -> Vec<u8> {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    fs::read(tests.join("hostile/dist").join(format!("{name}.wasm"))).unwrap()
}

/// The attacker that attacks in `describe`, with the order in it: `word` and an amount.
pub(crate) fn attacker_in_describe(order: &str) -> Vec<u8> {
    let mut component = attacker("attacker");
    let mut places = component.windows(ORDER.len()).enumerate();
    let (place, _) = places.find(|(_, window)| *window == ORDER).unwrap();
    assert!(places.all(|(_, window)| window != ORDER), "there is one place for it");
    let start = place + ORDER.len();
    component[start..start + ORDER_BYTES].copy_from_slice(format!("{order:45}").as_bytes());
    component
}

/// Checks that a scorer which computes endlessly in `export`, while it is loaded, is stopped with a message.
#[track_caller]
pub(crate) fn is_ended_by_the_clock_in(export: &str, component: &[u8], settings: &Value) {
    let error = load_in_little_time(component, settings);
    let message = format!("in `{export}`: no answer within 200 ms; the scorer was stopped");
    assert_eq!((error.kind, error.message), (ErrorKind::TimedOut, message));
    assert_eq!(error.advice, Some(Advice::Raise(Limit::Timeout)));
}

/// Not through the command line, which gives each of these exports at least its default time.
#[tokio::main(flavor = "current_thread")]
async fn load_in_little_time(component: &[u8], settings: &Value) -> ScoreError {
    let time = Duration::from_millis(200);
    let limits = Limits::default().with_fuel(u64::MAX).with_loading_timeout(time);
    refusal(try_load(&sandbox(1), component, settings, &limits).await)
}

/// A sandbox that compiles in a separate process.
pub(crate) fn compiling_as_the_command_line_does(limits: &CompileLimits) -> Sandbox {
    compiling_by(env!("CARGO_BIN_EXE_scorebox"), &[], limits)
}

/// A sandbox that compiles in the process that a line of shell starts: in it, `scorebox` runs the compiler of the
/// command line.
pub(crate) fn compiling_by_shell(line: &str, limits: &CompileLimits) -> Sandbox {
    let line = format!("scorebox() {{ \"$0\"; }}; {line}");
    compiling_by("sh", &["-c", &line, env!("CARGO_BIN_EXE_scorebox")], limits)
}

fn compiling_by(program: &str, arguments: &[&str], limits: &CompileLimits) -> Sandbox {
    let arguments = arguments.iter().map(Into::into).collect();
    let compiler = Compiler::Process { program: program.into(), arguments };
    let compile_limits = limits.clone();
    Sandbox::new(
        &SandboxOptions::default().with_compiler(compiler).with_compile_limits(compile_limits),
    )
    .unwrap()
}

/// A folder with `attacker.wasm`, `wasi-attacker.wasm` and `cases.jsonl`.
pub(crate) struct Arena {
    /// Keeps times in these texts, which are limits that the filters of the folder would hide; must be called first.
    _unfiltered: SettingsBindDropGuard,
    folder: Folder,
}

/// Six cases: `exact-match` scores them 1, 0, 1, 0, 1, 0.
const CASES: &str = r#"{"id": "a", "output": 1, "groundTruth": 1}
{"id": "b", "output": 2, "groundTruth": 1}
{"id": "c", "output": "x", "groundTruth": "x"}
{"id": "d", "output": "x", "groundTruth": "y"}
{"id": "e", "output": [], "groundTruth": []}
{"id": "f", "output": {}, "groundTruth": []}
"#;

impl Arena {
    pub(crate) fn new() -> Arena {
        let folder = Folder::new();
        for name in ["attacker", "wasi-attacker"] {
            folder.write(&format!("{name}.wasm"), attacker(name));
        }
        folder.write("cases.jsonl", CASES);
        Arena { _unfiltered: Settings::new().bind_to_scope(), folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        self.folder.write(name, content);
    }

    /// The rows of the database that a query returns, each as a line.
    pub(crate) fn rows(&self, query: &str) -> Vec<String> {
        self.folder.rows(query)
    }

    /// Runs one command. It must end, stay within its memory, and print nothing that a terminal would act on.
    #[track_caller]
    pub(crate) fn run(&self, command: &str) -> Output {
        let (out, err) = ("standard-output.txt", "standard-error.txt");
        let file = |name| Stdio::from(fs::File::create(self.folder.path(name)).unwrap());
        let mut shell = self.folder.shell(&format!("exec {command}"));
        let mut child = shell.stdout(file(out)).stderr(file(err)).spawn().unwrap();
        let (code, peak) = watch(&mut child);
        let Peak { own, compilers } = peak;
        let read = |name| String::from_utf8(fs::read(self.folder.path(name)).unwrap()).unwrap();
        let output = Output { stdout: read(out), stderr: read(err), code };
        assert!(own < MAX_MEMORY_BYTES, "{} MiB\n{}", own >> 20, words(&output));
        let compilers_mib = compilers >> 20;
        assert!(compilers < MAX_COMPILER_BYTES, "{compilers_mib} MiB\n{}", words(&output));
        for character in output.stdout.chars().chain(output.stderr.chars()) {
            assert!(!acts(character), "{character:?} in the output of {command}");
        }
        output
    }

    /// The output that the user sees if the attacker does `word` in `describe`.
    #[track_caller]
    pub(crate) fn attack_describe(&self, word: &str, amount: usize, options: &str) -> String {
        self.write("attacker.wasm", attacker_in_describe(&format!("{word} {amount}")));
        let output = self.run(&format!("scorebox score ./attacker.wasm --output 1 {options}"));
        self.write("attacker.wasm", attacker("attacker"));
        without_sizes(&words(&output))
    }

    /// The output that the user sees if the attacker does `word` in `configure`.
    #[track_caller]
    pub(crate) fn attack_configure(&self, word: &str, amount: usize, options: &str) -> String {
        let config = json!({"configure": word, "amount": amount});
        without_sizes(&words(&self.score("attacker", &config.to_string(), options)))
    }

    /// The output that the user sees if the attacker does `word` in `score`. Checks that a good scorer next to it is
    /// not affected.
    #[track_caller]
    pub(crate) fn attack_score(&self, word: &str, amount: usize, options: &str) -> String {
        let config = json!({"score": word, "amount": amount}).to_string();
        let alone = self.score("attacker", &config, options);
        self.run_beside_a_good_scorer("attacker", &config, options);
        without_sizes(&words(&alone))
    }

    /// The three attacks above, one after another.
    #[track_caller]
    pub(crate) fn attack_everywhere(&self, word: &str, amount: usize, options: &str) -> String {
        format!(
            "-- describe\n{}\n-- configure\n{}\n-- score\n{}",
            self.attack_describe(word, amount, options),
            self.attack_configure(word, amount, options),
            self.attack_score(word, amount, options)
        )
    }

    #[track_caller]
    pub(crate) fn score(&self, scorer: &str, config: &str, options: &str) -> Output {
        let command =
            format!("scorebox score ./{scorer}.wasm --config '{config}' --output 1 {options}");
        self.run(&command)
    }

    /// Runs the attacker and a good scorer over the cases, two at once. All scores of the good one must be there and
    /// right; the attacker must have a row for every case, and all of these must be the same.
    #[track_caller]
    pub(crate) fn run_beside_a_good_scorer(
        &self,
        scorer: &str,
        config: &str,
        options: &str,
    ) -> Output {
        let options = options.replace("--grant ", "--grant attacker=");
        let output = self.run(&format!(
            "scorebox run -s attacker=./{scorer}.wasm -s exact-match cases.jsonl -j 2 --run-id r \
             --config attacker='{config}' {options}"
        ));
        let scores = |scorer: &str| {
            self.rows(&format!(
                "SELECT case_id, status, score, error_kind, error_message, reason FROM scores \
                 WHERE scorer_id = '{scorer}' ORDER BY case_id"
            ))
        };
        let right = [("a", 1), ("b", 0), ("c", 1), ("d", 0), ("e", 1), ("f", 0)];
        for (row, (case, score)) in scores("exact-match").iter().zip(right) {
            assert!(row.starts_with(&format!("{case} | scored | {score} | null | null")), "{row}");
        }
        assert_eq!(scores("exact-match").len(), right.len());
        let attackers = scores("attacker");
        assert_eq!(attackers.len(), right.len());
        for (row, (case, _)) in attackers.iter().zip(right) {
            assert_eq!(
                row.strip_prefix(case),
                attackers[0].strip_prefix("a"),
                "as on the first case"
            );
        }
        for name in ["scorebox.db", "scorebox.db-wal", "scorebox.db-shm"] {
            let _ = fs::remove_file(self.folder.path(name));
        }
        output
    }
}

/// The output that a user sees of a command, without data, and its duration.
pub(crate) fn words(output: &Output) -> String {
    let code = output.code.map_or("none".into(), |code| code.to_string());
    let timeless = output.stderr.lines().map(|line| match line.split_once(" scores in ") {
        Some((scores, _time)) => format!("{scores} scores in [time]\n"),
        // A root covers times too.
        None if line.starts_with("root ") => "root [digest]\n".to_owned(),
        None => format!("{line}\n"),
    });
    format!("{}[exit code {code}]", without_frames(&timeless.collect::<String>()))
}

/// How much memory a compiled guest requested depends on how much it already has, and so on its compiler.
pub(crate) fn without_sizes(words: &str) -> String {
    let parts: Vec<&str> = words.split("the scorer needs ").collect();
    let rest = |part: &&str| match part.split_once(" bytes of memory") {
        Some((_wanted, rest)) => format!("[needed] bytes of memory{rest}"),
        None => (*part).to_owned(),
    };
    let (first, wanted) = parts.split_first().unwrap();
    wanted.iter().fold((*first).to_owned(), |words, part| words + "the scorer needs " + &rest(part))
}

/// Cuts backtraces to a sign that there is one, because the compiler decides what is inlined.
pub(crate) fn without_frames(text: &str) -> String {
    let frame = |line: &str| line.starts_with("    at ");
    let mut rest = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !frame(line) {
            writeln!(rest, "{line}").unwrap();
        } else if !lines.peek().is_some_and(|next| frame(next)) {
            rest.push_str("    at [frames]\n");
        }
    }
    rest
}

/// The peak memory of a process, and that of the processes that it started.
#[derive(Clone, Copy, Default)]
struct Peak {
    own: u64,
    compilers: u64,
}

/// Waits for the end of a process; returns its exit code and its memory.
#[track_caller]
fn watch(child: &mut Child) -> (Option<i32>, Peak) {
    let started = Instant::now();
    let mut peak = Peak::default();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), peak);
        }
        let compilers = children(child.id()).into_iter().map(resident).sum();
        peak.own = peak.own.max(resident(child.id()));
        peak.compilers = peak.compilers.max(compilers);
        if started.elapsed() > WITHOUT_END || peak.own > 2 * MAX_COMPILER_BYTES {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("killed after {:?}, with {} MiB in use", started.elapsed(), peak.own >> 20);
        }
        // The kernel forgets a process's peak when the process ends, so there is nothing to wait for.
        thread::sleep(LOOK);
    }
}

/// The highest resident set of a process so far, according to the kernel; without `/proc`, nothing is measured.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = kibibytes.and_then(|rest| rest.trim().split(' ').next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// The processes that a process started and that still exist.
pub(crate) fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let pids: Vec<String> = lists.collect();
    pids.iter()
        .flat_map(|pids| pids.split_whitespace())
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// Whether a terminal would act on a character instead of showing it; line breaks and tabs are allowed. This is a
/// second implementation, so that it finds what scorebox's own list forgets.
pub(crate) fn acts(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}'
        )
}
