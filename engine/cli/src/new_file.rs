//! Writes a command's output file: the file gets its name only when it is complete, and replaces another file only if
//! the user says so. Devices and pipes are written directly. It knows no formats.

use std::{
    fs::OpenOptions,
    io::{self, BufWriter, IsTerminal as _, Write},
    path::{Path, PathBuf},
};

use crate::{
    failure::{Failure, WriteError},
    output::{Document, is_stdout},
    report::shell_word,
    same_file::{is_beside_a_database, is_same},
    unfinished::Unfinished,
};

/// Where a command's data goes.
#[derive(Debug, clap::Args)]
pub(crate) struct NewFileArguments {
    /// The file to write; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-", help_heading = "Output")]
    output: PathBuf,

    /// Replace the file if it exists
    #[arg(long, help_heading = "Output")]
    force: bool,
}

impl NewFileArguments {
    /// The name of the file; `None` if data goes to standard output.
    pub(crate) fn path(&self) -> Option<&Path> {
        (!is_stdout(&self.output)).then_some(&self.output)
    }

    /// Refuses a file that is one of `used`, which the command reads or writes itself: even `--force` does not allow
    /// it.
    pub(crate) fn must_be_apart<'p>(
        &self,
        used: impl IntoIterator<Item = &'p Path>,
    ) -> Result<(), Failure> {
        self.path().map_or(Ok(()), |path| must_be_apart(path, used))
    }

    /// Refuses a file that cannot be written, before the command does the work for it.
    pub(crate) fn must_be_writable(&self) -> Result<(), Failure> {
        self.path().map_or(Ok(()), |path| NewFile::create(path, self.force).map(drop))
    }

    /// Lets `write` write all of the data. If it fails, there is no file. `None` if the reader of standard output
    /// closed it.
    pub(crate) fn write<T>(
        &self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, WriteError>,
    ) -> Result<Option<T>, Failure> {
        write_to(&self.output, self.force, write)
    }
}

/// Lets `write` write all of the file of this name, like [`NewFileArguments::write`].
pub(crate) fn write_to<T>(
    path: &Path,
    replaces: bool,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, WriteError>,
) -> Result<Option<T>, Failure> {
    match is_stdout(path) {
        true => to_stdout(write),
        false => NewFile::create(path, replaces)?.write(write).map(Some),
    }
}

/// Refuses to write a file that SQLite keeps beside a database: it may hold data of the database that is nowhere else.
pub(crate) fn must_not_be_beside_a_database(path: &Path) -> Result<(), Failure> {
    match is_beside_a_database(path) {
        true => Err(Failure::new(format!(
            "cannot write `{}`: SQLite uses this file for the database beside it",
            path.display()
        ))
        .hint("name another file")),
        false => Ok(()),
    }
}

/// Refuses to write `path` if it is one of the files that the command reads or writes itself.
pub(crate) fn must_be_apart<'p>(
    path: &Path,
    used: impl IntoIterator<Item = &'p Path>,
) -> Result<(), Failure> {
    must_not_be_beside_a_database(path)?;
    match used.into_iter().any(|used| is_same(path, used)) {
        true => Err(Failure::new(format!(
            "cannot write `{}`: the command itself uses this file",
            path.display()
        ))
        .hint("name another file")),
        false => Ok(()),
    }
}

fn to_stdout<T>(
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, WriteError>,
) -> Result<Option<T>, Failure> {
    // Not locked: the lock belongs to this thread, and `write` may use other threads.
    let mut out = BufWriter::new(Document::new(io::stdout(), io::stdout().is_terminal()));
    match write(&mut out).and_then(|value| Ok(out.flush().map(|()| value)?)) {
        Ok(value) => Ok(Some(value)),
        Err(WriteError::Failure(failure)) => Err(failure),
        Err(WriteError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(None),
        Err(WriteError::Io(error)) => Err(Failure::stdout(&error)),
    }
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct NewFile {
    place: Place,
    path: PathBuf,
}

/// Where its data goes until it is complete.
#[derive(Debug)]
enum Place {
    /// To a temporary file beside the path, which gets its name.
    Beside { file: Unfinished, replaces: bool },
    /// To the device or the pipe that has the name, which no file replaces.
    Stream,
}

impl NewFile {
    /// Begins a file; a temporary file beside it has the data until it is complete. A device or a pipe is opened only
    /// when there is data for it: a pipe that is opened and closed has ended for its reader.
    pub(crate) fn create(path: &Path, replaces: bool) -> Result<NewFile, Failure> {
        let there = path.symlink_metadata().map(|link| path.metadata().unwrap_or(link).file_type());
        match there {
            Ok(there) if there.is_dir() => {
                return Err(Failure::new(format!("`{}` is a folder", path.display()))
                    .hint("name a file in it"));
            }
            Ok(there) if !there.is_file() && !there.is_symlink() => {
                return Ok(NewFile { place: Place::Stream, path: path.to_owned() });
            }
            Ok(_) if !replaces => return Err(exists(path)),
            _ => {}
        }
        // Replaces the target of a link, not the link itself.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let file =
            Unfinished::beside(&path, ".scorebox-").map_err(|error| cannot_write(&path, &error))?;
        Ok(NewFile { place: Place::Beside { file, replaces }, path })
    }

    /// Lets `write` write all of the data, and gives the file its name.
    pub(crate) fn write<T>(
        self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, WriteError>,
    ) -> Result<T, Failure> {
        let failed = |error: &io::Error| cannot_write(&self.path, error);
        let (mut file, replaces) = match self.place {
            Place::Beside { file, replaces } => (file, replaces),
            Place::Stream => {
                let opened = OpenOptions::new().write(true).open(&self.path);
                return write_all(&opened.map_err(|error| failed(&error))?, &self.path, write);
            }
        };
        let written = write_all(file.file(), &self.path, write)?;
        match file.finish(&self.path, replaces) {
            Ok(()) => Ok(written),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists(&self.path)),
            Err(error) => Err(failed(&error)),
        }
    }
}

/// Lets `write` write all of the data into `file`.
fn write_all<T>(
    file: impl Write + Send,
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, WriteError>,
) -> Result<T, Failure> {
    let mut out = BufWriter::new(file);
    match write(&mut out).and_then(|value| Ok(out.flush().map(|()| value)?)) {
        Ok(value) => Ok(value),
        Err(WriteError::Io(error)) => Err(cannot_write(path, &error)),
        Err(WriteError::Failure(failure)) => Err(failure),
    }
}

fn exists(path: &Path) -> Failure {
    Failure::new(format!("`{}` exists", path.display()))
        .hint("name another file, or replace it with --force")
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    cannot_make(&format!("cannot write `{}`", path.display()), path, error)
}

/// The error that the file at `path` cannot be made; `what` is the action that fails without it.
pub(crate) fn cannot_make(what: &str, path: &Path, error: &io::Error) -> Failure {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| error.kind() == io::ErrorKind::NotFound && !folder.exists()) {
        Some(folder) => Failure::new(format!("{what}: there is no folder `{}`", folder.display()))
            .hint(format!("make it first: mkdir -p {}", shell_word(folder))),
        None => Failure::new(format!("{what}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_there_when_it_is_complete_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = NewFile::create(&path, false).unwrap();
        let written = file.write(|out| {
            out.write_all(b"whole")?;
            assert!(!path.exists());
            Ok(5)
        });
        assert_eq!(written.unwrap(), 5);
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");

        let broken = NewFile::create(&path, true).unwrap();
        let failed = broken.write::<()>(|out| {
            out.write_all(b"half")?;
            Err(WriteError::Failure(Failure::new("no more")))
        });
        assert_eq!(failed.unwrap_err().message, "no more");
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn no_other_file_is_replaced_unless_the_user_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let ours = NewFile::create(&path, false).unwrap();
        fs::write(&path, "theirs").unwrap();
        let said = |failure: Failure| failure.message;
        assert!(said(NewFile::create(&path, false).unwrap_err()).ends_with("exists"));
        assert!(said(ours.write(|_| Ok(())).unwrap_err()).ends_with("exists"), "it came meanwhile");
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        NewFile::create(&path, true).unwrap().write(|_| Ok(())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
    }

    #[cfg(unix)]
    #[test]
    fn what_takes_the_place_of_a_file_is_as_open_as_it_was_and_never_more_before() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink(&path, &link).unwrap();
        for kept in [0o600, 0o640, 0o666, 0o755] {
            fs::write(&path, "secret").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            for name in [&path, &link] {
                let written = NewFile::create(name, true).unwrap().write(|out| {
                    out.write_all(b"new")?;
                    let mut beside = fs::read_dir(folder.path())?.map(|it| it.unwrap().path());
                    let unfinished = beside.find(|it| it != &path && it != &link).unwrap();
                    assert_eq!(mode(&unfinished), 0o600);
                    Ok(())
                });
                written.unwrap();
                assert_eq!((mode(&path), fs::read(&path).unwrap()), (kept, b"new".to_vec()));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_into_and_stays_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        for replaces in [false, true] {
            let device = NewFile::create(&path, replaces).unwrap();
            assert_eq!(device.write(|out| Ok(out.write_all(b"away")?)).unwrap(), ());
            assert!(path.is_symlink());
            assert!(!path.is_file());
        }
        let said = NewFile::create(folder.path(), true).unwrap_err();
        assert!(said.message.ends_with("is a folder"), "{}", said.message);
    }
}
