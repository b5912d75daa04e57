//! Imports recordings from a file to a database: it checks all of them first, and then stores them in batches, so that
//! no other process waits for a slow or a large file. It prints how many existed already.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufReader, BufWriter, Seek as _, Write as _},
    path::Path,
    sync::Arc,
};

use scorebox::{
    digest::Digest,
    judge::{Recording, RecordingLineError},
    store::Store,
};

use crate::{
    arguments::NOT_A_RECORDING, failure::Failure, input::unreadable, report, waiting::Waiting,
    words,
};

/// The recordings that are stored in one transaction.
const AT_ONCE: usize = 256;

/// Imports the recordings in the file at `path` to a database.
///
/// # Errors
/// If the file cannot be read or has a line that is not a recording (then nothing is stored), or if writing fails.
pub(super) fn import(path: &Path, database: &Path) -> Result<(), Failure> {
    let _waiting = Waiting::on(format!("importing {}", path.display()));
    let mut lines = Recording::lines(BufReader::new(checked(path)?));
    let store = Store::open(database)?;
    let mut imported = Imported::default();
    loop {
        let mut batch = Vec::new();
        for line in lines.by_ref().take(AT_ONCE) {
            let recording = line.map_err(|error| refused(path, error))?.recording;
            imported.note(&store, &recording)?;
            batch.push(Arc::new(recording));
        }
        if batch.is_empty() {
            break;
        }
        store.keep_recordings(&batch)?;
    }
    imported.say(database);
    Ok(())
}

/// A copy of the file, which may be a pipe, if each of its lines is a recording.
fn checked(path: &Path) -> Result<File, Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, error.into()))?;
    let temporary =
        |error: io::Error| Failure::new(format!("cannot write a temporary file: {error}"));
    let mut copy = BufWriter::new(tempfile::tempfile().map_err(temporary)?);
    for line in Recording::lines(BufReader::new(file)) {
        let text = line.map_err(|error| refused(path, error))?.text;
        copy.write_all(text.trim_ascii())
            .and_then(|()| copy.write_all(b"\n"))
            .map_err(temporary)?;
    }
    let mut copy = copy.into_inner().map_err(|error| temporary(error.into_error()))?;
    copy.rewind().map_err(temporary)?;
    Ok(copy)
}

/// Why nothing of the file is imported.
fn refused(path: &Path, error: RecordingLineError) -> Failure {
    match error {
        RecordingLineError::NotARecording { number, why } => {
            let message = format!("{}:{number}: {why}", path.display());
            Failure::new(format!("{message}; nothing of the file is imported"))
                .hint(NOT_A_RECORDING)
        }
        RecordingLineError::Unreadable(error) => unreadable(path, error.into()),
        other => Failure::new(format!("{}: {other}", path.display())),
    }
}

/// How many recordings were imported.
#[derive(Default)]
struct Imported {
    /// Each imported call with its answer.
    all: HashSet<(Digest, Digest)>,
    /// The recordings that existed already.
    known: u64,
    /// The recordings of a call that has another answer.
    differing: u64,
}

impl Imported {
    /// Counts a recording that is about to be stored; a repeated recording counts once.
    fn note(&mut self, store: &Store, recording: &Recording) -> Result<(), Failure> {
        let (call, reply) = (recording.call.digest(), recording.reply_digest());
        if !self.all.insert((call, reply)) {
            return Ok(());
        }
        match store.recording_of(call, reply)?.map(|there| there.reply_digest()) {
            Some(there) if there == reply => self.known += 1,
            Some(there) if !self.all.contains(&(call, there)) => self.differing += 1,
            _ => {}
        }
        Ok(())
    }

    fn say(&self, database: &Path) {
        let recordings = report::counted(self.all.len() as u64, "recording", "recordings");
        let known = match self.known {
            0 => String::new(),
            known => format!(", {} of which were already there", report::count(known)),
        };
        words::say(&format!("{recordings} imported into {}{known}", database.display()));
        if self.differing > 0 {
            let calls = report::counted(self.differing, "call has", "calls have");
            words::warn(&format!(
                "{calls} another answer in the database: the one that was given last is used"
            ));
        }
    }
}
