//! `scorebox serve`: shows runs as pages in a browser, on this machine or, with a token, on others.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
};

use scorebox::digest::Digest;
use scorebox_pages::{Pages, ServeError};

use crate::{
    arguments::Database,
    failure::{Exit, Failure},
    output,
    setup::{CACHE_VARIABLE, cache_folder},
    signals::Signals,
    words,
};

/// What to do about a folder that cannot hold the index.
const ANOTHER_FOLDER: &str = "name another folder with --cache-dir";

/// The default port.
const PORT: u16 = 7717;
/// The fewest characters of a token; a shorter one could be guessed.
const LEAST_TOKEN: usize = 16;

/// Show runs as pages in a browser
///
/// A run with its figures, plots and cases; cases found by verdict, scorer, status, score and words; a case in full
/// with the difference to what was expected and the timeline of its agent; two runs side by side; a scorer over time. A
/// run in progress updates by itself. The database is only read. An index of its cases is kept in the cache folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Open the first page in the browser
    #[arg(long, help_heading = "Access")]
    open: bool,

    /// Where to listen: a port of this machine alone, or ADDRESS:PORT; beyond this machine a token is required (port 0:
    /// any that is free)
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "7717", value_parser = listen, help_heading = "Access")]
    listen: SocketAddr,

    /// What every request must bring, as a bearer token or as the password that the browser asks for: at least 16
    /// characters; better set as SCOREBOX_SERVE_TOKEN, which does not appear in process lists
    #[arg(
        long,
        value_name = "TOKEN",
        env = "SCOREBOX_SERVE_TOKEN",
        hide_env = true,
        help_heading = "Access"
    )]
    token: Option<String>,

    /// A name under which browsers reach the server, such as that of a proxy in front of it; may be repeated
    #[arg(long = "name", value_name = "NAME", value_parser = host_name, help_heading = "Access")]
    names: Vec<String>,

    /// The folder for the index [default: scorebox in the user's cache folder]
    #[arg(
        long,
        env = CACHE_VARIABLE,
        value_name = "FOLDER",
        hide_env = true,
        help_heading = "Index"
    )]
    cache_dir: Option<PathBuf>,

    #[command(flatten)]
    database: Database,
}

/// `PORT` of this machine, or `ADDRESS:PORT`.
fn listen(written: &str) -> Result<SocketAddr, String> {
    let port = || written.parse().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let with_default = || written.parse().map(|address: IpAddr| SocketAddr::from((address, PORT)));
    written.parse().or_else(|_| port()).or_else(|_| with_default()).map_err(|_| {
        "name a port, or an address and a port: `7717`, `0.0.0.0:7717`, `[::1]:7717`".to_owned()
    })
}

/// Parses the name of a host as in a request: without scheme, port and path.
fn host_name(written: &str) -> Result<String, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    match !written.is_empty() && written.bytes().all(allowed) {
        true => Ok(written.to_owned()),
        false => Err("name a host alone, such as `scores.example`: without `http://`, port and path, and in ASCII (`xn--…`)".to_owned()),
    }
}

impl Serve {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        self.check_token()?;
        // Errors of the database are reported before anything is created for it.
        drop(self.database.read()?);
        let index = self.index()?;
        let listener = TcpListener::bind(self.listen).map_err(|error| {
            Failure::new(format!("cannot listen on {}: {error}", self.listen))
                .hint("choose another port with --listen; --listen 0 takes one that is free")
        })?;
        let address = listener
            .local_addr()
            .map_err(|error| Failure::new(format!("cannot listen on {}: {error}", self.listen)))?;
        let url = format!("http://{address}/");
        let pages = Pages::new(&self.database.path, index)
            .with_names(self.names.clone())
            .with_token(self.token.clone());
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| Failure::new(format!("cannot start the server: {error}")))?;
        let served = runtime.block_on(async {
            let mut signals = Signals::listen()?;
            let end = async move {
                signals.next().await;
                // A second signal ends the server at once, even with open requests.
                tokio::spawn(async move {
                    if let Some(exit) = signals.next().await {
                        std::process::exit(exit as i32);
                    }
                });
            };
            let serving = tokio::spawn(pages.serve(listener, end));
            output::stdout(|out| {
                writeln!(out, "{url}")?;
                out.flush()
            })?;
            words::say("Ctrl-C ends it.");
            if !self.listen.ip().is_loopback() {
                words::warn("what is sent is not encrypted: put a proxy with TLS in front, or use a network that you trust");
            }
            if self.open && let Err(error) = open::that_detached(&url) {
                words::warn(&format!("no browser could be opened: {error}"));
            }
            match serving.await {
                Ok(served) => served.map_err(failure),
                Err(error) => Err(Failure::new(format!("the server ended: {error}"))),
            }
        });
        // No one waits for a comparison that is still being computed.
        runtime.shutdown_background();
        served?;
        Ok(Exit::Done)
    }

    /// Clients that are not on this machine must send a token that cannot be guessed.
    fn check_token(&self) -> Result<(), Failure> {
        match &self.token {
            Some(token) if token.chars().count() < LEAST_TOKEN => {
                Err(Failure::new(format!("the token has fewer than {LEAST_TOKEN} characters"))
                    .hint("make one with: openssl rand -hex 16"))
            }
            None if !self.listen.ip().is_loopback() => Err(Failure::new(format!(
                "{} can be reached from other machines, and no token is set",
                self.listen
            ))
            .hint("set SCOREBOX_SERVE_TOKEN, or listen on this machine alone")),
            _ => Ok(()),
        }
    }

    /// The file of the index: one for each database, in a folder that only this user can read.
    fn index(&self) -> Result<PathBuf, Failure> {
        let folder = cache_folder(self.cache_dir.clone()).ok_or_else(|| {
            Failure::new("there is no folder for the index: the user has no cache folder")
                .hint("name one with --cache-dir")
        })?;
        let folder = folder.join("pages");
        make_private(&folder).map_err(|error| {
            Failure::new(format!("cannot write the index in `{}`: {error}", folder.display()))
                .hint(ANOTHER_FOLDER)
        })?;
        if let Some(why) = is_for_others(&folder) {
            return Err(Failure::new(format!("the folder `{}` {why}", folder.display()))
                .hint("remove the folder, which is made again, or name another with --cache-dir"));
        }
        let path = self.database.path.canonicalize().unwrap_or_else(|_| self.database.path.clone());
        let name = Digest::of(path.as_os_str().as_encoded_bytes());
        Ok(folder.join(format!("{name}.index")))
    }
}

/// Makes a folder with access for this user alone.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Why others than this user can write to a folder. Files that they put there would be shown as data of the runs.
#[cfg(unix)]
fn is_for_others(folder: &Path) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    // If the folder cannot be read, writing the index fails, too, which is reported.
    let metadata = folder.metadata().ok()?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Some("belongs to another user");
    }
    let is_writable = metadata.mode() & WRITABLE_BY_OTHERS != 0;
    is_writable.then_some("can be written to by others, who may have planted an index in it")
}

/// On other systems, the location of the user's cache folder makes it private.
#[cfg(not(unix))]
fn is_for_others(_: &Path) -> Option<&'static str> {
    None
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Database(error) => Failure::from(error),
        error @ ServeError::Index(_) => Failure::new(error.to_string()).hint(ANOTHER_FOLDER),
        error => Failure::new(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_a_host_alone() {
        assert_eq!(host_name("scores.example").unwrap(), "scores.example");
        for wrong in ["", "http://scores.example", "scores.example:80", "scores.example/", "ä"] {
            assert!(host_name(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_port_is_one_of_this_machine() {
        assert_eq!(listen("80").unwrap().to_string(), "127.0.0.1:80");
        assert_eq!(listen("0.0.0.0:1").unwrap().to_string(), "0.0.0.0:1");
        assert_eq!(listen("[::1]:1").unwrap().to_string(), "[::1]:1");
        assert_eq!(listen("::1").unwrap().to_string(), "[::1]:7717");
        for wrong in ["", "localhost", "70000", "1.2.3.4:x", "1.2.3"] {
            assert!(listen(wrong).is_err(), "{wrong}");
        }
    }
}
