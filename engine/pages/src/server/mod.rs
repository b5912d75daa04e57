//! Serves pages about the runs of a database, for browsers on this machine or, with a token, on others. Reads the
//! database and never writes to it; keeps an index of its cases in a separate file.
//!
//! - `guard`: which requests are allowed, and the policies of answers.
//! - `connections`: accepts connections, and limits them.
//! - `impatient`: a connection that ends if the client receives nothing.
//! - `texts`: long texts as answers, a few at a time.
//! - `files`: the database and the index, and whether they are still what was opened.
//! - `belief`: for which runs the index is known to be right.
//! - `indexing`: the thread that keeps the index and the figures up to date.
//! - `case_reading`: one reading of a run's cases into the index.
//! - `comparing`: comparisons of two runs, each computed once.
//! - `reading`: open databases, one for each simultaneous request.
//! - `routes`: turns a URL into a page.
//! - `address`: URLs of pages.
//! - `live`: a stream of events about changes.
//! - `trouble`: why a page cannot be shown.
//! - `views`: the pages.

mod address;
mod belief;
mod case_reading;
mod comparing;
mod connections;
mod files;
mod guard;
mod impatient;
mod indexing;
mod live;
mod reading;
mod routes;
mod texts;
mod trouble;
mod views;

use std::{io, net::TcpListener, path::PathBuf, sync::Arc};

use scorebox::store::StoreError;

use self::{
    belief::Belief, connections::Bounds, files::Files, guard::Guard, indexing::Indexing,
    reading::Readers,
};

/// What is served, and who may request it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pages {
    /// The database.
    pub database: PathBuf,
    /// The file of the index: it is created if it does not exist, and can be deleted at any time.
    pub index: PathBuf,
    /// Names under which the server may be reached, in addition to `localhost` and addresses.
    pub names: Vec<String>,
    /// The token that every request must contain; `None` for a server that only this machine can reach.
    pub token: Option<String>,
}

/// Why pages cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The database cannot be read.
    #[error(transparent)]
    Database(StoreError),
    /// The index cannot be written.
    #[error("the index of the cases cannot be written: {0}")]
    Index(StoreError),
    /// The socket failed.
    #[error("cannot serve: {0}")]
    Socket(#[from] io::Error),
}

impl Pages {
    /// The pages of a database, with the index in this file.
    pub fn new(database: impl Into<PathBuf>, index: impl Into<PathBuf>) -> Pages {
        Pages { database: database.into(), index: index.into(), names: Vec::new(), token: None }
    }

    /// The same with these [`names`](Pages::names).
    #[must_use]
    pub fn with_names(mut self, names: Vec<String>) -> Pages {
        self.names = names;
        self
    }

    /// The same with this [`token`](Pages::token).
    #[must_use]
    pub fn with_token(mut self, token: impl Into<Option<String>>) -> Pages {
        self.token = token.into();
        self
    }

    /// Serves the pages until `end` is ready. Requests that are being answered then have a few seconds left.
    ///
    /// # Errors
    /// The database or the index cannot be opened; errors of the socket.
    pub async fn serve(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let files = Arc::new(Files::new(self.database, self.index));
        let belief = Arc::<Belief>::default();
        let readers = Arc::new(Readers::new(Arc::clone(&files), Arc::clone(&belief)));
        // This reports what is wrong with either file before the first request.
        readers.check()?;
        let indexing = Indexing::start(files, belief)?;
        let guard = Guard::new(self.names, self.token.as_deref());
        // Streams of changes do not end by themselves.
        let (ended, is_ended) = tokio::sync::watch::channel(false);
        let app = routes::app(readers, indexing.state(), indexing.changed(), is_ended, guard);
        connections::serve(listener, app, Bounds::default(), end, ended).await;
        drop(indexing);
        Ok(())
    }
}
