//! Pages of the runs of a database, for browsers on this machine or, with a token, on others. Reads the database and
//! never writes to it; keeps an index of its cases in a file of its own.
//!
//! - `guard`: who may ask, and the policies of answers.
//! - `connections`: who connects, and for how long.
//! - `impatient`: a connection that ends if nobody takes what is written to it.
//! - `texts`: long texts as answers, a few at a time.
//! - `files`: the database and the index, and whether they are still what was opened.
//! - `belief`: which runs the index is known to be right about.
//! - `indexing`: the thread that keeps the index and the figures up to date.
//! - `case_reading`: one reading of a run's cases into the index.
//! - `comparing`: comparisons of two runs, each computed once.
//! - `reading`: open databases, for as many requests as there are at once.
//! - `routes`: from a URL to a page.
//! - `address`: URLs of pages.
//! - `live`: a stream that says that something changed.
//! - `trouble`: why there is no page.
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

/// What is served, and to whom.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pages {
    /// The database.
    pub database: PathBuf,
    /// The file of the index: it is made if it is missing, and can be removed at any time.
    pub index: PathBuf,
    /// Names under which the server may be reached, in addition to `localhost` and addresses.
    pub names: Vec<String>,
    /// What every request must bring; `None`: nothing, for a server that only this machine reaches.
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
    /// The socket.
    #[error("cannot serve: {0}")]
    Socket(#[from] io::Error),
}

impl Pages {
    /// The pages of a database, whose index is in this file.
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

    /// Serves the pages to all who connect, until `end` is ready. Requests that are being answered then have a few
    /// seconds.
    ///
    /// # Errors
    /// The database or the index cannot be opened; troubles of the socket.
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
        // What is wrong with either file is said before anyone asks.
        readers.check()?;
        let indexing = Indexing::start(files, belief)?;
        let guard = Guard::new(self.names, self.token.as_deref());
        // Streams of changes have no end of their own.
        let (ended, is_ended) = tokio::sync::watch::channel(false);
        let app = routes::app(readers, indexing.state(), indexing.changed(), is_ended, guard);
        connections::serve(listener, app, Bounds::default(), end, ended).await;
        drop(indexing);
        Ok(())
    }
}
