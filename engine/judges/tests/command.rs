//! Tests programs as judges: the protocol, and that their processes end whatever they do.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use scorebox::judge::{
    AskErrorKind, Generation, JudgeSettings, Load, Provider, ProviderSettings, Question, Reply,
    StructuredOutput, TokenUsage,
};
use scorebox_judges::connect;
use serde_json::{Value, json};

use crate::asking::{FORM, LONG, asked, generation, question, question_of_form, texts, until};

/// A judge that is this shell script.
fn script_with(script: &str, change: impl FnOnce(&mut JudgeSettings)) -> Arc<dyn Provider> {
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    let mut settings = JudgeSettings::new(ProviderSettings::Command { command });
    settings.retries = 1;
    change(&mut settings);
    connect(&settings, None).unwrap()
}

fn script(script: &str) -> Arc<dyn Provider> {
    script_with(script, |_| {})
}

#[tokio::test]
async fn a_program_reads_the_question_as_json_and_prints_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("question.json");
    let judge = script(&format!("cat > {}; echo 'Yes, it'; echo is.", file.display()));
    let generation = Generation {
        system: Some("You judge.".to_owned()),
        max_output_tokens: Some(9),
        response_schema: Some(FORM.to_owned()),
        sample: 2,
        ..generation("Is it?")
    };
    let answer = judge.ask(&Question::Generate(generation), LONG).await.unwrap();
    assert_eq!(answer.reply, Reply::Text { text: "Yes, it\nis.".to_owned(), truncated: false });
    assert_eq!((answer.model.as_str(), answer.attempts), ("m", 1));
    let asked: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let expected = json!({
        "type": "generate", "model": "m", "system": "You judge.", "maxOutputTokens": 9, "sample": 2,
        "responseSchema": FORM, "messages": [{"role": "user", "text": "Is it?"}]
    });
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn a_program_may_answer_with_an_object() {
    let object = r#"{"text": " Ye", "truncated": true, "model": "x-1", "usage": {"inputTokens": 5, "outputTokens": 1}, "costUsd": 0.5}"#;
    let answer = script(&format!("echo '{object}'")).ask(&question("Is it?"), LONG).await.unwrap();
    assert_eq!(answer.reply, Reply::Text { text: " Ye".to_owned(), truncated: true });
    assert_eq!((answer.model.as_str(), answer.cost_usd), ("x-1", Some(0.5)));
    assert_eq!(answer.usage, TokenUsage { input_tokens: Some(5), output_tokens: Some(1) });
    let vectors = script(r#"echo '{"vectors": [[1, 0.5], [0, 2]]}'"#);
    let answer = vectors.ask(&texts(&["a", "b"]), LONG).await.unwrap();
    assert_eq!(answer.reply, Reply::Vectors(vec![vec![1.0, 0.5], vec![0.0, 2.0]]));
    let json = r#"{"why": "So.", "mark": 1}"#;
    assert_eq!(
        asked(&*script(&format!("echo '{json}'")), &question("Is it?")).await.unwrap(),
        json
    );
}

#[tokio::test]
async fn a_program_that_prints_nothing_says_nothing() {
    for does in ["true", "echo", r#"echo '{"text": ""}'"#] {
        let said = asked(&*script(does), &question("Is it?")).await;
        assert_eq!(said.as_deref(), Ok(""), "{does}");
    }
    let error = script("true").ask(&texts(&["a"]), LONG).await.unwrap_err();
    assert_eq!(error.kind, AskErrorKind::Unavailable);
    assert!(error.message.ends_with("printed nothing"), "{}", error.message);
}

#[tokio::test]
async fn a_program_that_need_not_see_schemas_gets_them_in_words() {
    let in_words =
        |settings: &mut JudgeSettings| settings.structured_output = StructuredOutput::Prompt;
    let judge = script_with("cat", in_words);
    let printed = asked(&*judge, &question_of_form("Is it?", FORM)).await.unwrap();
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert!(printed["system"].as_str().unwrap().ends_with(FORM));
    assert!(printed.get("responseSchema").is_none());
}

#[tokio::test]
async fn a_program_that_fails_is_quoted_with_its_last_line() {
    for (does, kind, attempts, says) in [
        (
            "echo one >&2; echo 'not logged in' >&2; echo >&2; exit 3",
            AskErrorKind::Unavailable,
            1,
            "ended with code 3: not logged in",
        ),
        ("exit 75", AskErrorKind::Unavailable, 2, "ended with code 75"),
        ("kill -9 $$", AskErrorKind::Unavailable, 1, "was ended by a signal"),
        (r"printf '\377'", AskErrorKind::Unavailable, 1, "printed text that is not UTF-8"),
        (
            r#"echo '{"error": "no such model"}'"#,
            AskErrorKind::Refused,
            1,
            "refuses: no such model",
        ),
        (
            r#"echo '{"vectors": [[1]]}'"#,
            AskErrorKind::Unavailable,
            1,
            "printed vectors instead of a text",
        ),
        (
            r"head -c 100000 /dev/zero | tr '\0' 'x' >&2; printf '\033[31mred' >&2; exit 1",
            AskErrorKind::Unavailable,
            1,
            "xxx…",
        ),
    ] {
        let error = script(does).ask(&question("Is it?"), LONG).await.unwrap_err();
        assert_eq!((error.kind, error.attempts), (kind, attempts), "{does}");
        assert!(error.message.ends_with(says), "{}", error.message);
        assert!(error.message.len() < 1200 && !error.message.contains(char::is_control));
    }
    let wrong = script(r#"echo '{"vectors": [[1], [2, 3]]}'"#).ask(&texts(&["a", "b"]), LONG).await;
    assert!(wrong.unwrap_err().message.ends_with("printed vectors of different lengths"));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let command = vec!["scorebox-has-no-such-program".to_owned()];
    let settings = JudgeSettings::new(ProviderSettings::Command { command });
    let error = connect(&settings, None).unwrap().ask(&question("Is it?"), LONG).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Unavailable, 1));
    let says = "cannot run `scorebox-has-no-such-program`: No such file or directory";
    assert!(error.message.starts_with(says), "{}", error.message);
}

#[tokio::test]
async fn a_program_need_not_read_a_long_question_and_may_not_print_without_end() {
    let long = question(&"x".repeat(1 << 20));
    assert_eq!(asked(&*script("echo Yes."), &long).await.unwrap(), "Yes.");
    let error = asked(&*script("yes"), &long).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Unavailable, 1));
    assert!(error.message.ends_with("printed more than 4194304 bytes"), "{}", error.message);
}

#[tokio::test]
async fn what_a_program_leaves_behind_does_not_hold_up_its_answer() {
    assert_eq!(
        asked(&*script("sleep 1000 & echo Yes."), &question("Is it?")).await.unwrap(),
        "Yes."
    );
}

#[tokio::test]
async fn what_leaves_the_group_and_keeps_the_output_open_does_not_hold_up_the_answer_either() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    // What the program leaves behind ends when this is dropped.
    let _open = fs::File::options().read(true).write(true).open(&path).unwrap();
    let script = |ends: &str| {
        let path = path.display();
        format!(
            "echo Yes.; echo 'No.' >&2; exec 3<{path}; rm -f {path}.left
             setsid sh -c 'touch {path}.left; exec cat' <&3 &
             until [ -e {path}.left ]; do sleep 0.01; done; {ends}"
        )
    };
    // The time-out of an attempt is a minute.
    assert_eq!(asked(&*self::script(&script("")), &question("Is it?")).await.unwrap(), "Yes.");
    let failing = self::script(&script("exit 3"));
    let error = failing.ask(&question("Is it?"), LONG).await.unwrap_err();
    assert!(error.message.ends_with("ended with code 3: No."), "{}", error.message);
}

/// A named pipe, whose reader ends when no process has it open any more.
struct Pipe {
    path: PathBuf,
    reader: JoinHandle<String>,
    _folder: tempfile::TempDir,
}

impl Pipe {
    fn new() -> Pipe {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || {
                let mut text = String::new();
                fs::File::open(path).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        Pipe { path, reader, _folder: folder }
    }

    /// A script that starts a long-running process, reports that in a file, and keeps the pipe open in both processes.
    fn script(&self) -> String {
        let Pipe { path, .. } = self;
        format!("exec 3>{0}; echo begun >&3; sleep 1000 & touch {0}.begun; wait", path.display())
    }

    fn has_begun(&self) -> bool {
        Path::new(&format!("{}.begun", self.path.display())).exists()
    }

    /// Waits until all processes have ended, and returns what they wrote.
    fn end(self) -> String {
        if !self.has_begun() {
            // The reader may wait for a writer that was killed; opening the pipe for both never blocks.
            drop(fs::File::options().read(true).write(true).open(&self.path).unwrap());
        }
        self.reader.join().unwrap()
    }
}

#[tokio::test]
async fn a_time_out_ends_the_program_and_all_that_it_started() {
    // On a busy machine, the program may need more time to begin than it gets.
    for seconds in 1.. {
        let pipe = Pipe::new();
        let timeout = Duration::from_secs(seconds);
        let judge = script_with(&pipe.script(), |settings| settings.timeout = timeout);
        let error = judge.ask(&question("Is it?"), LONG).await.unwrap_err();
        assert_eq!((error.kind, error.attempts), (AskErrorKind::TimedOut, 1));
        assert!(error.message.ends_with(&format!("did not end within {seconds}s")));
        let has_begun = pipe.has_begun();
        let said = pipe.end();
        if has_begun {
            assert_eq!(said, "begun\n");
            return;
        }
    }
}

#[tokio::test]
async fn a_dropped_call_ends_the_program_and_all_that_it_started() {
    let pipe = Pipe::new();
    let judge = script(&pipe.script());
    let question = question("Is it?");
    let mut call = judge.ask(&question, LONG);
    tokio::select! {
        _ = &mut call => panic!("it lasts"),
        () = until(|| pipe.has_begun()) => {}
    }
    assert_eq!(judge.load(), Load::new(0, 1, 0));
    drop(call);
    assert_eq!(judge.load(), Load::default());
    assert_eq!(pipe.end(), "begun\n");
}
