//! The recordings in a file as a judge that answers only from them. The file is read once, line by line; an answer is
//! read again when it is needed.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    fs::File,
    future::ready,
    io::{BufReader, Read as _, Seek as _, SeekFrom},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use super::{BoxFuture, Recording, RecordingLine, RecordingLineError, Recordings, RecordingsError};
use crate::{digest::Digest, input_file::open_regular};

/// The provider's kind in the calls of such a judge; they have no place.
pub(super) const KIND: &str = "recorded";

/// The recordings of a JSON Lines file. They are used whatever provider they come from.
#[derive(Debug)]
pub struct RecordedFile {
    file: Mutex<File>,
    /// The line of each call, by the digest of the call as a judge of this kind asks it.
    lines: HashMap<Digest, Line>,
    /// The lines of each call, by its own digest, with the digest of each of its answers.
    own: HashMap<Digest, Vec<(Digest, Line)>>,
    models: BTreeSet<String>,
}

/// Where a line is: its offset and its length, in bytes.
type Line = (u64, u64);

impl RecordedFile {
    /// The recordings of the file at `path`. If a call is recorded twice, the later recording is used.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is not a recording ([`Recording::of_line`]).
    pub fn open(path: &Path) -> Result<RecordedFile, RecordingsError> {
        let failed = |why: &dyn fmt::Display| RecordingsError(format!("{}: {why}", path.display()));
        // Answers are read from the file again, which is impossible with a pipe.
        let file = open_regular(path).map_err(|error| failed(&error))?;
        let reader = BufReader::new(file.try_clone().map_err(|error| failed(&error))?);
        let (mut lines, mut own) = (HashMap::new(), HashMap::<_, Vec<_>>::new());
        let mut models = BTreeSet::new();
        for line in Recording::lines(reader) {
            let RecordingLine { recording, text, offset } = line.map_err(|error| match error {
                RecordingLineError::Unreadable(error) => failed(&error),
                RecordingLineError::NotARecording { number, why } => {
                    RecordingsError(format!("{}:{number}: {why}", path.display()))
                }
            })?;
            let at = (offset, text.len() as u64);
            if !models.contains(recording.call.question.model()) {
                models.insert(recording.call.question.model().to_owned());
            }
            let of_call = own.entry(recording.call.digest()).or_default();
            of_call.push((recording.reply_digest(), at));
            lines.insert(of_this_kind(recording).call.digest(), at);
        }
        Ok(RecordedFile { file: Mutex::new(file), lines, own, models })
    }

    /// The models that were asked; an empty name for questions without a model, such as those to a program.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.models.iter().map(String::as_str)
    }

    /// How many calls have an answer.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether no call has an answer.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Reads the recording in this line.
    fn read(&self, (offset, bytes): Line) -> Result<Recording, RecordingsError> {
        // Every use seeks first, so a panic elsewhere does no harm.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = Vec::new();
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| (&mut *file).take(bytes).read_to_end(&mut line))
            .map_err(|error| RecordingsError(error.to_string()))?;
        serde_json::from_slice(&line).map_err(|_| changed())
    }
}

impl Recordings for RecordedFile {
    fn find(&self, call: Digest) -> Result<Option<Arc<Recording>>, RecordingsError> {
        let Some(line) = self.lines.get(&call) else { return Ok(None) };
        Ok(Some(named(call, of_this_kind(self.read(*line)?))?))
    }

    /// For a call as it was asked, whatever its provider is.
    fn find_reply(
        &self,
        call: Digest,
        reply: Digest,
    ) -> Result<Option<Arc<Recording>>, RecordingsError> {
        let Some(lines) = self.own.get(&call) else { return Ok(None) };
        let Some((_, line)) = lines.iter().find(|(it, _)| *it == reply).or(lines.last()) else {
            return Ok(None);
        };
        Ok(Some(named(call, self.read(*line)?)?))
    }

    fn keep(&self, _: Arc<Recording>) -> BoxFuture<'_, Result<(), RecordingsError>> {
        let refused = RecordingsError("recordings of a file are not added to".into());
        Box::pin(ready(Err(refused)))
    }
}

/// The recording, if it still belongs to this call, as it did when the file was opened.
fn named(call: Digest, recording: Recording) -> Result<Arc<Recording>, RecordingsError> {
    match recording.call.digest() == call {
        true => Ok(Arc::new(recording)),
        false => Err(changed()),
    }
}

fn changed() -> RecordingsError {
    RecordingsError("the file of recordings changed while it was used".into())
}

/// The recording as one of this kind of judge.
fn of_this_kind(mut recording: Recording) -> Recording {
    recording.call.provider = KIND.to_owned();
    recording.call.place = String::new();
    recording
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::judge::{Call, Generation, Message, Question, Reply, Role};

    fn recording(text: &str, answer: &str) -> Recording {
        let messages = vec![Message { role: Role::User, text: text.into() }];
        let question = Generation { model: "m".into(), messages, ..Generation::default() };
        let call = Call {
            provider: "openai".into(),
            place: "http://a/v1".into(),
            question: Question::Generate(question),
            iteration: 0,
            attempt: 0,
        };
        Recording::new(call, Reply::Text { text: answer.into(), truncated: false }, "m-1".into())
    }

    fn asked_of_a_file(text: &str) -> Digest {
        let call = recording(text, "").call;
        Call { provider: KIND.into(), place: String::new(), ..call }.digest()
    }

    #[test]
    fn recordings_of_a_file_answer_whatever_provider_they_are_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let lines: Vec<String> = [("one?", "1"), ("two?", "2"), ("two?", "two")]
            .iter()
            .map(|(text, answer)| serde_json::to_string(&recording(text, answer)).unwrap())
            .collect();
        fs::write(&path, lines.join("\n\n")).unwrap();
        let file = RecordedFile::open(&path).unwrap();
        assert_eq!(file.len(), 2);
        let said = |text: &str| {
            let found = file.find(asked_of_a_file(text)).unwrap();
            found.map(|found| found.reply.clone())
        };
        assert_eq!(said("one?"), Some(Reply::Text { text: "1".into(), truncated: false }));
        assert_eq!(said("two?"), Some(Reply::Text { text: "two".into(), truncated: false }));
        assert_eq!(said("three?"), None);
    }

    #[cfg(unix)]
    #[test]
    fn recordings_are_a_file_and_not_a_device_a_pipe_or_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (path, why) in [
            (Path::new("/dev/zero"), "this is a device, not a file"),
            (&pipe, "this is a pipe, not a file"),
            (folder.path(), "this is a folder, not a file"),
            (&folder.path().join("none"), "no such file"),
        ] {
            let error = RecordedFile::open(path).unwrap_err().to_string();
            assert_eq!(error, format!("{}: {why}", path.display()));
        }
    }

    #[test]
    fn each_answer_to_a_call_as_it_was_asked_is_found_by_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let both = [recording("two?", "2"), recording("two?", "two")];
        let lines = both.each_ref().map(|it| serde_json::to_string(it).unwrap());
        fs::write(&path, lines.join("\n")).unwrap();
        let file = RecordedFile::open(&path).unwrap();
        let call = both[0].call.digest();
        for recording in &both {
            let found = file.find_reply(call, recording.reply_digest()).unwrap();
            assert_eq!(found.as_deref(), Some(recording));
        }
        let other = file.find_reply(call, Digest::of(b"another answer")).unwrap();
        assert_eq!(other.as_deref(), Some(&both[1]));
        assert_eq!(file.find_reply(asked_of_a_file("two?"), both[0].reply_digest()).unwrap(), None);
    }

    /// Why a file with a good recording and this one is refused.
    fn refused(line: &serde_json::Value) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let good = serde_json::to_string(&recording("one?", "1")).unwrap();
        fs::write(&path, format!("{good}\n{line}\n")).unwrap();
        let error = RecordedFile::open(&path).unwrap_err().to_string();
        error.split_once("calls.jsonl:2: ").unwrap().1.to_owned()
    }

    #[test]
    fn an_answer_that_does_not_fit_its_question_is_named() {
        let asking = |question: serde_json::Value, reply: serde_json::Value| {
            let question = json!({"provider": "openai", "place": "p", "question": question});
            let mut recording = question;
            recording["reply"] = reply;
            recording["model"] = "m".into();
            refused(&recording)
        };
        let texts = json!({"type": "embed", "model": "m", "texts": ["one", "two"]});
        let said = |reply| asking(texts.clone(), reply);
        let does_not_fit = |why: &str| format!("the answer does not fit its question: {why}");
        assert_eq!(said(json!({"vectors": [[1]]})), does_not_fit("1 vectors for 2 texts"));
        assert_eq!(said(json!({"vectors": [[], []]})), does_not_fit("a vector without numbers"));
        assert_eq!(
            said(json!({"vectors": [[1], [1, 2]]})),
            does_not_fit("vectors of different lengths")
        );
        assert!(said(json!({"vectors": [[1], [1e300]]})).contains("number out of range"));
        assert_eq!(
            said(json!({"text": {"text": "no"}})),
            does_not_fit("a text where vectors are wanted")
        );
        let conversation = json!({"type": "generate", "model": "m", "messages": [{"role": "user", "text": "Is it?"}]});
        assert_eq!(
            asking(conversation, json!({"vectors": [[1]]})),
            does_not_fit("vectors to a conversation")
        );
    }

    #[test]
    fn numbers_that_an_answer_cannot_have_are_named() {
        let with = |key: &str, value: serde_json::Value| {
            let mut recording = serde_json::to_value(recording("two?", "2")).unwrap();
            recording[key] = value;
            refused(&recording)
        };
        assert_eq!(with("costUsd", json!(-5)), "`costUsd` must be 0 or more; found -5");
        assert_eq!(
            with("costUsd", json!(1.7e308)),
            "`costUsd` must be 1000000000 or less; found 1.7e308"
        );
        assert_eq!(with("latencyMs", json!(-1)), "`latencyMs` must be 0 or more; found -1");
        let tokens = json!({"inputTokens": u64::MAX});
        assert_eq!(
            with("usage", tokens),
            "`inputTokens` must be 9223372036854775807 or less; found 18446744073709551615"
        );
        assert_eq!(with("answeredAtMs", json!(-1)), "`answeredAtMs` must be 0 or more; found -1");
        assert_eq!(with("attempts", json!(0)), "`attempts` must be 1 or more; found 0");
    }

    #[test]
    fn an_answer_to_another_call_than_the_one_that_its_line_names_is_refused() {
        let mut line = serde_json::to_value(recording("two?", "2")).unwrap();
        let digest = |text: &str| recording(text, "").call.digest().to_string();
        line["callDigest"] = digest("three?").into();
        assert_eq!(
            refused(&line),
            format!(
                "the call was changed: its digest is {}, and not the `callDigest` {}",
                digest("two?"),
                digest("three?")
            )
        );
    }

    #[test]
    fn a_line_that_is_not_a_recording_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let good = serde_json::to_string(&recording("one?", "1")).unwrap();
        fs::write(&path, format!("{good}\n{{\"model\": 7}}\n")).unwrap();
        let error = RecordedFile::open(&path).unwrap_err().to_string();
        assert!(error.contains("calls.jsonl:2: this is not a recording"), "{error}");
    }
}
