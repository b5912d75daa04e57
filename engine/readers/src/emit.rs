//! Passes on lines of cases from a reader, and counts what it leaves out. Knows no format.

use std::sync::mpsc::SyncSender;

use scorebox::case::row_mark;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    left_out::LeftOut,
    lenient_json::LenientJson,
    problem::{Problem, without_place},
    record::MAX_RECORD_BYTES,
    table::line_of_no_case,
};

/// The problem of a case that is larger than what is read.
pub(crate) fn next_is_too_large() -> Problem {
    Problem::content(format!("the next case would have more than {} MiB", MAX_RECORD_BYTES >> 20))
}

/// How many bytes of lines are passed on at once: enough that the threads seldom wait for each other.
const CHUNK_BYTES: usize = 64 << 10;

/// The destination of a reader's lines.
#[derive(Debug)]
pub(crate) struct Emit {
    to: SyncSender<Result<Vec<u8>, Problem>>,
    chunk: Vec<u8>,
    left_out: LeftOut,
}

impl Emit {
    pub(crate) fn new(to: SyncSender<Result<Vec<u8>, Problem>>, left_out: LeftOut) -> Emit {
        Emit { to, chunk: Vec::new(), left_out }
    }

    /// Passes on one case.
    pub(crate) fn case(&mut self, case: &impl Serialize) -> Result<(), Problem> {
        let before = self.chunk.len();
        serde_json::to_writer(&mut self.chunk, case)
            .map_err(|error| Problem::content(error.to_string()))?;
        self.end_line(before)
    }

    /// Passes on a row of a table that is already the line of a case; `line` is the line where the row begins, if the
    /// file has lines.
    pub(crate) fn row(&mut self, line: Option<u64>, case: &[u8]) -> Result<(), Problem> {
        let before = self.chunk.len();
        self.chunk.extend_from_slice(row_mark(line).as_bytes());
        self.chunk.extend_from_slice(case);
        self.end_line(before)
    }

    /// Parses a line of a JSON Lines file; `number` is the number of the line. Returns `None` if the line is damaged,
    /// like the last one of a program that crashed, or is something else. The case reader then reports a case that is
    /// not valid, and reading continues.
    pub(crate) fn json_line<T: DeserializeOwned>(
        &mut self,
        number: u64,
        line: &[u8],
    ) -> Result<Option<T>, Problem> {
        let read = serde_json::from_reader(LenientJson::new(line, self.left_out()));
        let error: serde_json::Error = match read {
            Ok(read) => return Ok(Some(read)),
            Err(error) => error,
        };
        let what = match error.is_data() {
            true => "is not what is expected",
            false => "is not valid JSON",
        };
        let before = self.chunk.len();
        let why = format!("line {number} of the file {what}: {}", without_place(&error));
        self.chunk.extend_from_slice(&line_of_no_case(&why));
        self.end_line(before)?;
        Ok(None)
    }

    /// The counter of what is left out, which continues to count.
    pub(crate) fn left_out(&self) -> LeftOut {
        self.left_out.clone()
    }

    /// Counts something that is not part of a case.
    pub(crate) fn leave_out(&self, why: &'static str) {
        self.left_out.note(why);
    }

    fn end_line(&mut self, before: usize) -> Result<(), Problem> {
        if self.chunk.len() - before > MAX_RECORD_BYTES {
            // The lines before it are complete, and are read first.
            self.chunk.truncate(before);
            return Err(next_is_too_large());
        }
        self.chunk.push(b'\n');
        match self.chunk.len() >= CHUNK_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), Problem> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::take(&mut self.chunk);
        self.to.send(Ok(chunk)).map_err(|_| Problem::Stopped)
    }

    /// Passes on the last lines, and how the reading ended.
    pub(crate) fn finish(mut self, ended: Result<(), Problem>) {
        let flushed = self.flush();
        if let Err(problem) = ended.and(flushed) {
            // If no one reads any more, the problem is not reported.
            let _ = self.to.send(Err(problem));
        }
    }
}
