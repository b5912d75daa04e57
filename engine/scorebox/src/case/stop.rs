//! Readers that end when they should stop, even while there is nothing to read. They know no lines.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    sync::Arc,
};

/// Whether reading should end, as another thread decides.
#[derive(Clone, Default)]
pub(super) struct StopSign(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl StopSign {
    /// A sign that is set when `stop` returns true.
    pub(super) fn new(stop: impl Fn() -> bool + Send + Sync + 'static) -> StopSign {
        StopSign(Some(Arc::new(stop)))
    }

    /// Returns an error if the sign is set.
    pub(super) fn check(&self) -> io::Result<()> {
        match &self.0 {
            Some(stop) if stop() => Err(io::Error::other("the reading was stopped")),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for StopSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopSign").field(&self.check().is_err()).finish()
    }
}

/// A pipe, a terminal or any other standard input, which may have no data for hours. It waits for data, and checks the
/// sign meanwhile.
pub(super) struct Waiting {
    file: File,
    stop: StopSign,
    /// Whether a read without data returns at once, so that it may be tried on systems that do not report that the
    /// writers are gone.
    reads_come_back: bool,
    begun: bool,
}

impl Waiting {
    /// Reads `file` until the sign is set.
    pub(super) fn new(file: File, stop: StopSign) -> Waiting {
        Waiting { file, stop, reads_come_back: false, begun: false }
    }

    /// Reads a pipe that was opened without waiting for a writer, until the sign is set.
    pub(super) fn named_pipe(file: File, stop: StopSign) -> Waiting {
        Waiting { reads_come_back: true, ..Waiting::new(file, stop) }
    }

    /// The process's standard input, without the buffer of [`io::stdin`], because nothing reports whether that has
    /// data.
    pub(super) fn stdin(stop: StopSign) -> io::Result<Box<dyn Read + Send>> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd as _;
            let stdin = io::stdin().as_fd().try_clone_to_owned()?;
            Ok(Box::new(Waiting::new(File::from(stdin), stop)))
        }
        #[cfg(not(unix))]
        {
            let _ = stop;
            Ok(Box::new(io::stdin()))
        }
    }
}

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stop.check()?;
            // Before the first byte, nothing to read does not mean the end: there may be no writer yet.
            let may_read = is_ready(&self.file)? || (self.reads_come_back && self.begun);
            if !may_read {
                continue;
            }
            match self.file.read(buffer) {
                // Another reader of the same pipe was faster.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => {
                    self.begun = true;
                    return result;
                }
            }
        }
    }
}

/// Whether there is something to read, or the end, within 100 ms.
#[cfg(unix)]
fn is_ready(file: &File) -> io::Result<bool> {
    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        io::Errno,
    };

    const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&LOOK)) {
        Ok(0) | Err(Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn is_ready(_: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        io::Write as _,
        os::{fd::OwnedFd, unix::net::UnixStream},
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use super::*;

    #[test]
    fn what_is_there_is_read_and_then_waited_for_until_the_sign_is_up() {
        let (mut theirs, ours) = UnixStream::pair().unwrap();
        let stopping = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stopping);
        let sign = StopSign::new(move || seen.load(Ordering::Acquire));
        let mut waiting = Waiting::new(File::from(OwnedFd::from(ours)), sign);
        theirs.write_all(b"line").unwrap();
        let mut buffer = [0; 10];
        assert_eq!(waiting.read(&mut buffer).unwrap(), 4);

        let reader = thread::spawn(move || waiting.read(&mut [0; 10]));
        stopping.store(true, Ordering::Release);
        let error = reader.join().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "the reading was stopped");
    }

    #[test]
    fn the_end_is_not_waited_for() {
        let (theirs, ours) = UnixStream::pair().unwrap();
        drop(theirs);
        let file = File::from(OwnedFd::from(ours));
        assert_eq!(Waiting::new(file, StopSign::default()).read(&mut [0; 10]).unwrap(), 0);
    }
}
