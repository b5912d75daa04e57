//! Writes the events of a run as JSON Lines. The file is opened before anything is scored, so that a file that cannot
//! be written is an error at once; a later failure ends the events, but not the run.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read as _, Seek as _, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use scorebox::run::{Event, Refused, Sink};

use super::{Reports, event_writer::EventWriter, place};
use crate::{
    failure::{Exit, Failure},
    output::is_stdout,
    report::printable_json_line,
    same_file::{is_beside_database, is_same},
    signals::Signalled,
    words,
};

/// Events of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct EventArguments {
    /// Append the events of the run to a file as JSON Lines while it runs (`-`: standard output, in place of the
    /// summary)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    events: Option<PathBuf>,
}

impl EventArguments {
    /// Opens the file. It must not be one of `others`, the files that the command reads or writes itself.
    fn open(&self, others: &[&Path]) -> Result<Events, Failure> {
        let Some(path) = &self.events else { return Ok(Events::default()) };
        if is_stdout(path) {
            let out: Box<dyn Write + Send> = Box::new(io::stdout());
            let is_terminal = io::stdout().is_terminal();
            return Ok(Events {
                opened: Some(Opened { path: None, is_terminal, out }),
                ..Events::default()
            });
        }
        let is_used = |other: &&&Path| is_same(path, other) || is_beside_database(path, other);
        if let Some(other) = others.iter().find(is_used) {
            let used = if is_same(path, other) { other.display() } else { path.display() };
            return Err(Failure::new(format!(
                "the events cannot go to `{used}`: the run itself uses this file"
            ))
            .hint("name another file"));
        }
        let file = open(path).map_err(|error| place::cannot_open("the events", path, &error))?;
        let out: Box<dyn Write + Send> = Box::new(file);
        let opened = Opened { path: Some(path.clone()), is_terminal: false, out };
        Ok(Events { opened: Some(opened), ..Events::default() })
    }
}

impl EventArguments {
    /// Opens the file in addition to reports, which must not go to the same place.
    pub(crate) fn open_with(&self, others: &[&Path], reports: &Reports) -> Result<Events, Failure> {
        let others: Vec<&Path> = others.iter().copied().chain(reports.files()).collect();
        let events = self.open(&others)?;
        match events.go_to_stdout() && reports.go_to_stdout() {
            true => Err(Failure::new("both a report and the events go to standard output")
                .hint("name a file for one of them")),
            false => Ok(events),
        }
    }
}

/// The destination of the events, if there is one, and its errors.
#[derive(Debug, Default)]
pub(crate) struct Events {
    opened: Option<Opened>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

/// An open destination of events.
struct Opened {
    /// `None` for standard output.
    path: Option<PathBuf>,
    is_terminal: bool,
    out: Box<dyn Write + Send>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Opened").field(&self.path).finish()
    }
}

/// The part of [`Events`] that remains while a run writes them.
#[derive(Debug, Default)]
pub(crate) struct EventsGoing {
    path: Option<PathBuf>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Events {
    /// Whether they go to standard output.
    pub(crate) fn go_to_stdout(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.path.is_none())
    }

    /// Whether they are shown on a terminal.
    pub(crate) fn go_to_a_terminal(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.is_terminal)
    }

    /// The sink that writes the events, if the user wants them, and the handle that reports errors at the end. After a
    /// signal, the sink does not wait for a reader that stopped reading.
    pub(crate) fn sink(self, signalled: &Signalled) -> (Option<impl Sink + use<>>, EventsGoing) {
        let signalled = signalled.clone();
        let Events { opened, failure } = self;
        let path = opened.as_ref().and_then(|opened| opened.path.clone());
        let going = EventsGoing { path, failure: Arc::clone(&failure) };
        let sink = opened.map(|Opened { out, .. }| {
            let mut lines = JsonLines { out: None, failure };
            match EventWriter::new(out, move || signalled.came()) {
                Ok(out) => lines.out = Some(out),
                Err(error) => lines.note(Err(error)),
            }
            lines
        });
        (sink, going)
    }
}

impl EventsGoing {
    /// Fails if events could not be written. It is not a failure if the reader of standard output closes it.
    fn ended(&self) -> Result<(), Failure> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(error) = failure else { return Ok(()) };
        let place = match &self.path {
            None if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            None => "to standard output".to_owned(),
            Some(path) => format!("to `{}`", path.display()),
        };
        Err(Failure::new(format!("cannot write the events {place}: {error}"))
            .hint("the scores are stored; the events after that point are missing"))
    }
}

impl EventsGoing {
    /// The end of the command, which is a failure too if events could not be written. If the command itself failed or
    /// was interrupted, both are reported.
    pub(crate) fn with_failure(&self, ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
        match (ended, self.ended()) {
            (Ok(exit @ (Exit::Interrupted | Exit::Terminated)), Err(failure)) => {
                words::failure(&failure);
                Ok(exit)
            }
            (Err(worse), Err(failure)) => {
                words::failure(&failure);
                Err(worse)
            }
            (ended, written) => written.and(ended),
        }
    }
}

/// Writes each event as a line. After an error it writes nothing more, and lets the run continue.
struct JsonLines {
    out: Option<EventWriter>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl JsonLines {
    fn note(&mut self, written: io::Result<()>) {
        let Err(error) = written else { return };
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        // Dropping the writer prevents another attempt to write its buffer.
        self.out = None;
    }
}

impl Sink for JsonLines {
    fn take(&mut self, event: &Event) -> Result<(), Refused> {
        let Some(out) = &mut self.out else { return Ok(()) };
        // Invisible characters are escaped in files, too, because users may view them on a terminal.
        let written = serde_json::to_string(event)
            .map_err(io::Error::from)
            .and_then(|line| writeln!(out, "{}", printable_json_line(&line)));
        self.note(written);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Refused> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let written = out.flush();
        self.note(written);
        Ok(())
    }
}

/// Opens a file to append to, at the beginning of a line: an earlier run may have been killed within one.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.append(true).create(true);
    let is_regular = match path.metadata() {
        Ok(there) => there.is_file(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_regular {
        // Needed to read the last byte.
        options.read(true);
    }
    let file = place::open(&mut options, path)?;
    if is_regular { at_the_beginning_of_a_line(file) } else { Ok(file) }
}

fn at_the_beginning_of_a_line(mut file: File) -> io::Result<File> {
    if file.metadata()?.len() > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_begins_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        for (there, then) in [("", "new"), ("old\n", "old\nnew"), ("cut o", "cut o\nnew")] {
            std::fs::write(&path, there).unwrap();
            open(&path).unwrap().write_all(b"new").unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), then);
        }
    }
}
