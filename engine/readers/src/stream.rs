//! Turns a reader's lines into a stream of bytes: the reader works on a thread, a few chunks ahead of the caller. Knows
//! no format.

use std::{
    fmt,
    io::{self, Cursor, Read},
    sync::mpsc::{Receiver, sync_channel},
    thread::{self, JoinHandle},
};

use crate::{emit::Emit, left_out::LeftOut, problem::Problem};

/// The name of the readers' threads. A panic there is reported to the caller as an error.
pub const READERS_NAME: &str = "scorebox-reader";

/// How many chunks may wait for the caller. Each contains 64 KiB of lines, or one line.
const CHUNKS_AHEAD: usize = 2;

/// A reader: passes all cases of a file to `Emit`, until the end or until no one reads them any more.
pub(crate) type Produce = Box<dyn FnOnce(&mut Emit) -> Result<(), Problem> + Send>;

/// The lines of a reader, which starts when they are first requested.
pub(crate) struct Lines {
    state: State,
    left_out: LeftOut,
}

enum State {
    Waiting(Produce),
    Reading {
        chunks: Receiver<Result<Vec<u8>, Problem>>,
        thread: JoinHandle<()>,
        chunk: Cursor<Vec<u8>>,
    },
    Ended,
}

impl Lines {
    pub(crate) fn new(produce: Produce, left_out: LeftOut) -> Lines {
        Lines { state: State::Waiting(produce), left_out }
    }

    fn begin(&self, produce: Produce) -> io::Result<State> {
        let (to, chunks) = sync_channel(CHUNKS_AHEAD);
        let mut emit = Emit::new(to, self.left_out.clone());
        let work = move || {
            let ended = produce(&mut emit);
            emit.finish(ended);
        };
        let thread = thread::Builder::new().name(READERS_NAME.to_owned()).spawn(work)?;
        Ok(State::Reading { chunks, thread, chunk: Cursor::default() })
    }
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Ok(0),
                State::Waiting(produce) => self.state = self.begin(produce)?,
                State::Reading { chunks, thread, mut chunk } => {
                    let count = chunk.read(buffer)?;
                    if count > 0 || buffer.is_empty() {
                        self.state = State::Reading { chunks, thread, chunk };
                        return Ok(count);
                    }
                    match chunks.recv() {
                        Ok(Ok(next)) => {
                            self.state =
                                State::Reading { chunks, thread, chunk: Cursor::new(next) };
                        }
                        Ok(Err(Problem::Io(error))) => return Err(error),
                        // This is a whole sentence, which needs no position before it.
                        Ok(Err(problem)) => {
                            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
                        }
                        // A parser that was not written for hostile files may panic over one.
                        Err(_) if thread.join().is_err() => {
                            let why = "the file is damaged";
                            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                        }
                        Err(_) => return Ok(0),
                    }
                }
            }
        }
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Waiting(_) => "Lines(waiting)",
            State::Reading { .. } => "Lines(reading)",
            State::Ended => "Lines(ended)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(produce: Produce) -> (String, Option<String>) {
        let mut lines = Lines::new(produce, LeftOut::default());
        let (mut bytes, mut buffer) = (Vec::new(), [0; 7]);
        loop {
            match lines.read(&mut buffer) {
                Ok(0) => return (String::from_utf8(bytes).unwrap(), None),
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
                Err(error) => return (String::from_utf8(bytes).unwrap(), Some(error.to_string())),
            }
        }
    }

    #[test]
    fn what_was_read_comes_before_the_problem() {
        let (lines, error) = read(Box::new(|emit| {
            emit.case(&[1])?;
            emit.case(&[1, 2])?;
            Err(Problem::content("the rest is missing"))
        }));
        assert_eq!(
            (lines.as_str(), error.as_deref()),
            ("[1]\n[1,2]\n", Some("the rest is missing"))
        );
    }

    #[test]
    fn a_reader_ends_when_no_one_reads_on() {
        let (said, ended) = sync_channel(1);
        let mut lines = Lines::new(
            Box::new(move |emit| {
                loop {
                    if let Err(problem) = emit.row(None, &[b'x'; 1000]) {
                        said.send(problem.to_string()).unwrap();
                        return Err(problem);
                    }
                }
            }),
            LeftOut::default(),
        );
        assert_eq!(lines.read(&mut [0; 10]).unwrap(), 10);
        drop(lines);
        assert_eq!(ended.recv().unwrap(), "the reading was stopped");
    }

    #[test]
    fn a_panic_is_an_error() {
        let (lines, error) = read(Box::new(|_| panic!("a parser gave up")));
        assert_eq!((lines.as_str(), error.as_deref()), ("", Some("the file is damaged")));
    }
}
