//! Cases one at a time, without those that an earlier session finished. Parses nothing itself; `case`
//! does.

use std::sync::Arc;

use async_channel::Sender;
use tokio::sync::mpsc;

use crate::{
    case::{Case, CaseReader, ReadError},
    digest::Digest,
    store::{RunHandle, ScorerKey, Store, StoreError},
};

use super::{Control, OnBadCase, RunError, Stop, writing::Message};

/// A case on its way to the workers.
pub(super) struct Task {
    pub(super) case: Arc<Case>,
    /// The scorers that an earlier session has not finished; none means all.
    pub(super) missing: Option<Vec<ScorerKey>>,
}

/// The cases of a run.
pub(super) struct Cases {
    reader: CaseReader,
    first: Option<Case>,
    on_bad_case: OnBadCase,
    earlier: Option<Earlier>,
}

/// What earlier sessions of the run have stored.
struct Earlier {
    store: Store,
    run: RunHandle,
}

impl Cases {
    /// Reads up to the first case, so that a file without any is known before a run is begun.
    pub(super) fn begin(
        mut reader: CaseReader,
        on_bad_case: OnBadCase,
        control: &Control,
    ) -> Result<Cases, RunError> {
        control.note_sources(reader.total_bytes());
        loop {
            match reader.next_case() {
                Some(Ok(case)) => {
                    return Ok(Cases { reader, first: Some(case), on_bad_case, earlier: None });
                }
                Some(Err(ReadError::BadCase(bad))) if on_bad_case == OnBadCase::Skip => {
                    control.note_bad_case(bad.to_string());
                }
                Some(Err(error)) => return Err(error.into()),
                None => return Err(RunError::NoCases),
            }
        }
    }

    /// Leaves out what earlier sessions of the run have stored.
    pub(super) fn skip_finished(&mut self, store: Store, run: RunHandle) {
        self.earlier = Some(Earlier { store, run });
    }

    /// Reads to the end, or until the run is stopped.
    pub(super) fn read_all(
        self,
        to_workers: &Sender<Task>,
        to_writer: &mpsc::Sender<Message>,
        control: &Control,
    ) {
        if let Err(error) = self.hand_out(to_workers, to_writer, control) {
            control.stop(Stop::Unreadable { message: error.to_string(), hint: Some(error.hint()) });
        }
    }

    fn hand_out(
        mut self,
        to_workers: &Sender<Task>,
        to_writer: &mpsc::Sender<Message>,
        control: &Control,
    ) -> Result<(), StoreError> {
        while !control.is_stopping() {
            let case = match self.first.take().map(Ok).or_else(|| self.reader.next_case()) {
                None => return Ok(()),
                Some(Ok(case)) => case,
                Some(Err(error)) => {
                    self.note(error, control);
                    continue;
                }
            };
            control.note_read(self.reader.bytes_read());
            let digest = case.digest();
            let missing = match &self.earlier {
                None => None,
                Some(earlier) => match earlier.missing(&case, digest)? {
                    Missing::Nothing => {
                        control.note_finished_before();
                        continue;
                    }
                    Missing::All => None,
                    Missing::Some(scorers) => Some(scorers),
                },
            };
            let case = Arc::new(case);
            let message = Message::Read { case: Arc::clone(&case), digest };
            let sent = to_writer.blocking_send(message).is_ok()
                && to_workers.send_blocking(Task { case, missing }).is_ok();
            if !sent {
                // The other side has ended, and says why.
                return Ok(());
            }
        }
        Ok(())
    }

    fn note(&self, error: ReadError, control: &Control) {
        let hint = error.hint();
        match error {
            ReadError::BadCase(bad) => note_bad_case(bad.to_string(), hint, self.on_bad_case, control),
            ReadError::Source(error) => {
                control.stop(Stop::Unreadable { message: error.to_string(), hint });
            }
        }
    }
}

/// Counts a bad case, and stops the run where it is to stop at one.
pub(super) fn note_bad_case(
    message: String,
    hint: Option<String>,
    on_bad_case: OnBadCase,
    control: &Control,
) {
    control.note_bad_case(message.clone());
    if on_bad_case == OnBadCase::Stop {
        control.stop(Stop::BadCase { message, hint });
    }
}

/// What is left to score of a case.
enum Missing {
    Nothing,
    All,
    Some(Vec<ScorerKey>),
}

impl Earlier {
    fn missing(&self, case: &Case, digest: Digest) -> Result<Missing, StoreError> {
        let stored =
            self.store.stored_case(self.run.key, case.id(), case.iteration(), case.attempt())?;
        // A case of the same name that is not this one is for the writer to complain about.
        let Some(stored) = stored.filter(|stored| {
            stored.ordinal == case.ordinal() && stored.digest == digest
        }) else {
            return Ok(Missing::All);
        };
        let missing: Vec<ScorerKey> = self
            .run
            .scorers
            .iter()
            .copied()
            .filter(|scorer| !stored.finished.contains(scorer))
            .collect();
        Ok(match missing.is_empty() {
            true => Missing::Nothing,
            false => Missing::Some(missing),
        })
    }
}
