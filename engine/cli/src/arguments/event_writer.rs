//! Writes the events of a run on a separate thread, so that a reader that stopped reading does not delay signals.

use std::{
    io::{self, Write},
    mem,
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

/// The size of one write, in bytes.
const AT_ONCE: usize = 64 << 10;
/// How long one write may take after the run was interrupted; before that, the writer waits for a slow reader.
/// Telemetry has the same time to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the writer checks whether the run was interrupted.
const LOOK: Duration = Duration::from_millis(100);

/// Whether the run was interrupted.
type IsInterrupted = Box<dyn Fn() -> bool + Send>;

/// A writer that stops waiting for its reader after an interruption.
pub(super) struct EventWriter {
    buffer: Vec<u8>,
    to_write: SyncSender<Vec<u8>>,
    written: Receiver<io::Result<()>>,
    is_interrupted: IsInterrupted,
    patience: Duration,
}

impl EventWriter {
    pub(super) fn new(
        mut out: impl Write + Send + 'static,
        is_interrupted: impl Fn() -> bool + Send + 'static,
    ) -> io::Result<EventWriter> {
        let (to_write, chunks) = mpsc::sync_channel::<Vec<u8>>(1);
        let (answer, written) = mpsc::sync_channel(1);
        // The thread ends with the writer, or with the process if the reader blocks it.
        let write = move || {
            for chunk in chunks {
                let done = out.write_all(&chunk).and_then(|()| out.flush());
                if answer.send(done).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("scorebox-events".into()).spawn(write)?;
        let is_interrupted = Box::new(is_interrupted);
        let (buffer, patience) = (Vec::new(), PATIENCE);
        Ok(EventWriter { buffer, to_write, written, is_interrupted, patience })
    }

    /// Waits until everything that was handed over is written.
    fn wait(&self) -> io::Result<()> {
        let mut interrupted_since = None;
        loop {
            match self.written.recv_timeout(LOOK) {
                Ok(written) => return written,
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !(self.is_interrupted)() {
                continue;
            }
            let since: &mut Instant = interrupted_since.get_or_insert_with(Instant::now);
            if since.elapsed() >= self.patience {
                let seconds = self.patience.as_secs();
                let why = format!(
                    "after the interruption, no program read them within {seconds} seconds"
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
        }
    }
}

impl Write for EventWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= AT_ONCE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.to_write.send(mem::take(&mut self.buffer)).map_err(|_| gone())?;
        self.wait()
    }
}

/// The error that the thread panicked.
fn gone() -> io::Error {
    io::Error::other("the thread that writes them ended")
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use super::*;

    /// A writer that blocks until its sender is dropped.
    struct Stalled(Receiver<()>);

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_takes_nothing_is_waited_for_until_some_time_after_the_interruption() {
        let (takes, stalled) = mpsc::channel();
        let interrupted = Arc::new(AtomicBool::new(false));
        let is_interrupted = Arc::clone(&interrupted);
        let mut writer =
            EventWriter::new(Stalled(stalled), move || is_interrupted.load(Ordering::Relaxed))
                .unwrap();
        writer.patience = LOOK;
        let interrupting = thread::spawn(move || {
            thread::sleep(LOOK * 5);
            interrupted.store(true, Ordering::Relaxed);
        });
        let began = Instant::now();
        writer.write_all(b"event\n").unwrap();
        let error = writer.flush().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() >= LOOK * 6, "{:?}", began.elapsed());
        interrupting.join().unwrap();
        drop(takes);
    }

    #[test]
    fn a_slow_reader_gets_all_after_the_interruption() {
        let (takes, slow) = mpsc::channel();
        let mut writer = EventWriter::new(Stalled(slow), || true).unwrap();
        let taking = thread::spawn(move || {
            for _ in 0..3 {
                thread::sleep(LOOK);
                takes.send(()).unwrap();
            }
        });
        for _ in 0..3 {
            writer.write_all(b"event\n").unwrap();
            writer.flush().unwrap();
        }
        taking.join().unwrap();
    }
}
