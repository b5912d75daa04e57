//! Writes the output of a shard: a file that gets its name when it is complete, or a device or pipe, which is written
//! to directly. Knows nothing of rows.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// What already exists at the path of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum There {
    Nothing,
    /// A file, or a link without a target.
    File,
    /// A device or a pipe.
    Stream,
}

impl There {
    /// What exists at this path.
    ///
    /// # Errors
    /// The path cannot be examined, or is a folder.
    pub(crate) fn at(path: &Path) -> io::Result<There> {
        let link = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(There::Nothing),
            there => there?,
        };
        match path.metadata().unwrap_or(link).file_type() {
            kind if kind.is_dir() => Err(io::Error::other("it is a folder: name a file in it")),
            kind if kind.is_file() || kind.is_symlink() => Ok(There::File),
            _ => Ok(There::Stream),
        }
    }
}

/// An output that is being written.
#[derive(Debug)]
pub(crate) enum Output {
    /// A file in the same folder, which gets its name at the end.
    Unnamed {
        file: NamedTempFile,
        path: PathBuf,
    },
    Stream(File),
}

impl Output {
    /// Opens an output at this path.
    ///
    /// # Errors
    /// The output cannot be written, or its folder does not exist.
    pub(crate) fn begin(path: &Path) -> io::Result<Output> {
        if There::at(path)? == There::Stream {
            return OpenOptions::new().write(true).open(path).map(Output::Stream);
        }
        // The target of a link is replaced, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            let why = format!("there is no folder `{}`: make it first", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".scorebox-").suffix(".part");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        Ok(Output::Unnamed { file, path })
    }

    /// Gives the file its name; an existing file is kept unless `replaces` is set.
    ///
    /// # Errors
    /// The output cannot be written; [`io::ErrorKind::AlreadyExists`].
    pub(crate) fn finish(self, replaces: bool) -> io::Result<()> {
        let Output::Unnamed { file, path } = self else { return Ok(()) };
        file.as_file().sync_all()?;
        let named = if replaces { file.persist(&path) } else { file.persist_noclobber(&path) };
        named.map(drop).map_err(|error| error.error)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Unnamed { file, .. } => file.write(bytes),
            Output::Stream(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Unnamed { file, .. } => file.flush(),
            Output::Stream(file) => file.flush(),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_replaced_if_it_may_be_and_a_device_never() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert_eq!(There::at(&path).unwrap(), There::Nothing);
        for (replaces, ends_well) in [(false, true), (false, false), (true, true)] {
            let mut output = Output::begin(&path).unwrap();
            output.write_all(b"whole").unwrap();
            assert_eq!(output.finish(replaces).is_ok(), ends_well);
        }
        assert_eq!(There::at(&path).unwrap(), There::File);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let mut output = Output::begin(&link).unwrap();
        output.write_all(b"away").unwrap();
        output.finish(true).unwrap();
        assert!(link.is_symlink());
        assert_eq!(
            There::at(folder.path()).unwrap_err().to_string(),
            "it is a folder: name a file in it"
        );
        let missing = folder.path().join("missing");
        assert_eq!(
            Output::begin(&missing.join("file")).unwrap_err().to_string(),
            format!("there is no folder `{}`: make it first", missing.display())
        );
    }
    #[test]
    fn a_link_stays_and_the_file_that_it_leads_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        let write = |replaces| {
            let mut output = Output::begin(&link).unwrap();
            output.write_all(b"after").unwrap();
            output.finish(replaces)
        };
        assert_eq!(write(false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&file).unwrap(), "before");
        write(true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "after");
        assert!(link.is_symlink());
    }
}
