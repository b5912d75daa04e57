//! A temporary folder in which a test runs commands of scorebox, and their outcome. The commands run in a real shell
//! with the real binary; nothing here knows how scorebox works.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rusqlite::{Connection, types::Value};

use crate::sandbox_fixture::shared_cache;

/// A separate folder for each test, with files that a user might have: `answers.jsonl` and `suite.toml` of the GSM8K
/// example, and `misbehave.wasm`.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
    _filters: insta::internals::SettingsBindDropGuard,
}

/// What a command printed, and how it ended.
pub(crate) struct Output {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (from, to) in [
            ("examples/gsm8k/answers.jsonl", "answers.jsonl"),
            ("examples/gsm8k/suite.toml", "suite.toml"),
            ("tests/guests/dist/misbehave.wasm", "misbehave.wasm"),
        ] {
            fs::copy(workspace.join(from), folder.path().join(to)).unwrap();
        }
        let filters = filters(folder.path()).bind_to_scope();
        Folder { folder, _filters: filters }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Runs a line of shell, in which `scorebox` is the binary under test.
    pub(crate) fn sh(&self, line: &str) -> Output {
        let output = self.shell(line).output().unwrap();
        Output {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }

    /// Starts one command; the child is scorebox itself. Its output can be read once it has ended.
    pub(crate) fn spawn(&self, command: &str) -> Child {
        let mut shell = self.shell(&format!("exec {command}"));
        shell.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A shell that is about to run a line; its output is not captured yet.
    pub(crate) fn shell(&self, line: &str) -> Command {
        let binary = Path::new(env!("CARGO_BIN_EXE_scorebox"));
        let mut search: Vec<PathBuf> = vec![binary.parent().unwrap().to_owned()];
        search.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .env("PATH", std::env::join_paths(search).unwrap())
            .env("SCOREBOX_CACHE_DIR", shared_cache())
            // A test may put a user's configuration here; otherwise there is none.
            .env("XDG_CONFIG_HOME", self.path("config"));
        for name in ["SCOREBOX_CONFIG", "SCOREBOX_DB", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("OTEL_") {
                command.env_remove(name);
            }
        }
        command
    }

    pub(crate) fn database(&self, name: &str) -> Connection {
        Connection::open(self.path(name)).unwrap()
    }

    /// The rows that a query of `scorebox.db` returns, each as a line.
    pub(crate) fn rows(&self, query: &str) -> Vec<String> {
        let database = self.database("scorebox.db");
        let mut statement = database.prepare(query).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            (0..columns).map(|index| Ok(text(row.get(index)?))).collect::<Result<Vec<_>, _>>()
        };
        statement.query_map([], row).unwrap().map(|row| row.unwrap().join(" | ")).collect()
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

/// Replaces whatever differs between runs and between machines.
fn filters(folder: &Path) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    let folder = folder.display().to_string();
    settings.add_filter(&folder.replace('.', "\\."), "[folder]");
    settings.add_filter(r" +[\d.]+ (ns|µs|ms|s)\b", " [time]");
    settings.add_filter(r"(?m) +time$", " time");
    settings.add_filter(r#"("\w+(?:Ms|_ms)": ?)[\d.e+-]+"#, "$1[time]");
    // The cost of a score, which another SDK changes: in a table, as JSON, where it differs, in `inspect`.
    settings.add_filter(r"(?m) +fuel time$", " fuel time");
    settings.add_filter(r" +[\d.,]+( [kMGT])? \[time\]", " [fuel] [time]");
    // The cells of rows without a score, which are as wide as the times above.
    settings.add_filter(r"(?m)((?: +-){3}) +- +-$", "$1 - -");
    settings.add_filter(r#""(fuel|meanFuel)": \d{1,9}\b(\.\d+)?"#, r#""$1": [fuel]"#);
    settings.add_filter(r#""memoryBytes": \d{6,7}\b"#, r#""memoryBytes": [memory]"#);
    settings.add_filter(r"(different  fuel) +\d+ +\d+", "$1 [fuel] [fuel]");
    settings.add_filter(r"(?m)^fuel +[\d.]+( [kMGT])? of", "fuel          [fuel] of");
    settings.add_filter(r"(?m)^memory +[\d.]+ KiB of", "memory        [memory] of");
    settings.add_filter(r"\b[0-9a-f]{40,64}…?", "[digest]");
    settings.add_filter(r"\d{8}-\d{6}-[a-z2-9]{4}", "[run]");
    settings
}

impl Output {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// Fails the test unless the command exited with `code`.
    #[track_caller]
    pub(crate) fn exits_with(self, code: i32) -> Output {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }
}

/// Everything that a user sees.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "[stderr]\n{}", self.stderr)?;
        }
        write!(f, "[exit code {}]", self.code.map_or("none".into(), |code| code.to_string()))
    }
}
