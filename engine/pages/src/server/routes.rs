//! Turns a URL into a page: reads what it requests, and makes the page from it. The texts of a URL are not trusted.

use std::sync::Arc;

use axum::{
    Router,
    extract::{FromRequestParts, Path, Query, State},
    http::{StatusCode, header, request},
    middleware,
    response::{IntoResponse, Response},
    routing::get,
};
use maud::Markup;
use scorebox::{
    contract::Field,
    store::{StoreError, StoredCase},
};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::sync::watch;

use super::{
    address::Asked,
    comparing::Comparisons,
    guard::{Guard, guarded},
    indexing, live,
    reading::{Reader, Readers},
    texts::Texts,
    trouble::Trouble,
    views::{self, compare::Listed},
};
use crate::frame::STYLE;

/// What every page needs.
#[derive(Clone)]
struct App {
    readers: Arc<Readers>,
    state: Arc<indexing::State>,
    comparisons: Arc<Comparisons>,
    texts: Texts,
    changed: watch::Receiver<u64>,
    is_ended: watch::Receiver<bool>,
    database: Arc<str>,
}

pub(super) fn app(
    readers: Arc<Readers>,
    state: Arc<indexing::State>,
    changed: watch::Sender<u64>,
    is_ended: watch::Receiver<bool>,
    guard: Guard,
) -> Router {
    let path = readers.database();
    let name = path.file_name().unwrap_or(path.as_os_str());
    let database = Arc::from(name.to_string_lossy().as_ref());
    let follow = changed.subscribe();
    let comparisons = Arc::new(Comparisons::new(Arc::clone(&readers), changed));
    let file = |kind: &'static str, text: &'static str| {
        get(async move || {
            ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text)
        })
    };
    Router::new()
        .route("/", get(runs))
        .route("/runs/{run}", get(run))
        .route("/runs/{run}/case", get(case))
        .route("/runs/{run}/case/part", get(part))
        .route("/scorer", get(scorer))
        .route("/compare", get(compare))
        .route("/changes", get(changes))
        .route("/page.css", file("text/css; charset=utf-8", STYLE))
        .route(
            "/page.js",
            file("text/javascript; charset=utf-8", include_str!("../assets/page.js")),
        )
        .route("/icon.svg", file("image/svg+xml", include_str!("../assets/icon.svg")))
        .fallback(async |State(app): State<App>| {
            explained(Trouble::Missing("There is no such page.".to_owned()), &app)
        })
        .with_state(App {
            readers,
            state,
            comparisons,
            texts: Texts::new(),
            changed: follow,
            is_ended,
            database,
        })
        .layer(middleware::from_fn_with_state(guard, guarded))
}

/// What the URL requests; if it is not valid, the answer is a page that explains why.
struct Asking<T>(T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Asking<T> {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut request::Parts,
        app: &App,
    ) -> Result<Asking<T>, Response> {
        match Query::from_request_parts(parts, app).await {
            Ok(Query(asked)) => Ok(Asking(asked)),
            Err(rejection) => {
                let says = rejection.body_text();
                let why = says.rsplit_once("query string: ").map_or(says.as_str(), |(_, why)| why);
                let words = format!("This address cannot be read: {why}.");
                Err(explained(Trouble::Refused(words), app))
            }
        }
    }
}

/// The run that the URL's path names; if the path is not text, the answer is a page that explains why.
struct RunNamed(String);

impl FromRequestParts<App> for RunNamed {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut request::Parts,
        app: &App,
    ) -> Result<RunNamed, Response> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(run)) => Ok(RunNamed(run)),
            Err(_) => {
                let words = "This address cannot be read: its path is not UTF-8.".to_owned();
                Err(explained(Trouble::Refused(words), app))
            }
        }
    }
}

/// The page that explains why another one cannot be shown.
fn explained(trouble: Trouble, app: &App) -> Response {
    let (status, words) = match trouble {
        Trouble::Missing(words) => (StatusCode::NOT_FOUND, words),
        Trouble::Refused(words) => (StatusCode::BAD_REQUEST, words),
        Trouble::Busy(words) => (StatusCode::SERVICE_UNAVAILABLE, words),
        Trouble::Store(error @ StoreError::Locked { .. }) => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("{error}."))
        }
        Trouble::Store(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}.")),
    };
    let page = html(views::trouble(&app.database, &words));
    match status {
        StatusCode::SERVICE_UNAVAILABLE => {
            (status, [(header::RETRY_AFTER, "5")], page).into_response()
        }
        _ => (status, page).into_response(),
    }
}

fn html(page: Markup) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page.into_string()).into_response()
}

impl App {
    async fn page(
        &self,
        make: impl FnOnce(&Reader, &App) -> Result<Markup, Trouble> + Send + 'static,
    ) -> Response {
        let app = self.clone();
        let page = Arc::clone(&self.readers)
            .read(move |reader| reader.store.snapshot(|_| make(reader, &app)))
            .await;
        page.map_or_else(|trouble| explained(trouble, self), html)
    }
}

/// Which of the older runs are shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Older {
    skip: usize,
}

async fn runs(State(app): State<App>, Asking(older): Asking<Older>) -> Response {
    app.page(move |reader, app| views::runs::page(reader, &app.state, &app.database, older.skip))
        .await
}

async fn run(
    State(app): State<App>,
    RunNamed(run): RunNamed,
    Asking(asked): Asking<Asked>,
) -> Response {
    app.page(move |reader, app| views::run::page(reader, &app.state, &app.database, &run, &asked))
        .await
}

/// The name of a case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Named {
    id: String,
    iteration: u32,
    attempt: u32,
    part: String,
}

impl Named {
    fn find(&self, reader: &Reader, run: &str) -> Result<StoredCase, Trouble> {
        let key = reader.store.run(run)?.key;
        let case = reader.store.stored_case(key, &self.id, self.iteration, self.attempt)?;
        case.ok_or_else(|| Trouble::Missing("There is no such case in this run.".to_owned()))
    }
}

async fn case(
    State(app): State<App>,
    RunNamed(run): RunNamed,
    Asking(named): Asking<Named>,
    Asking(asked): Asking<Asked>,
) -> Response {
    app.page(move |reader, app| {
        let case = named.find(reader, &run)?;
        views::case::page(reader, &app.database, &run, &case, &asked)
    })
    .await
}

/// A part of a case as it is stored, as text that browsers do not interpret as anything else.
async fn part(
    State(app): State<App>,
    RunNamed(run): RunNamed,
    Asking(named): Asking<Named>,
) -> Response {
    let place = match app.texts.place().await {
        Ok(place) => place,
        Err(trouble) => return explained(trouble, &app),
    };
    let text = Arc::clone(&app.readers)
        .read(move |reader| {
            let case = named.find(reader, &run)?;
            let content = reader.store.case_content(case.key)?;
            let field = Field::ALL.into_iter().find(|field| field.key() == named.part);
            let text = match field {
                None if named.part == "output" => Some(content.output),
                None => None,
                Some(field) => content.parts.get(field).cloned(),
            };
            text.ok_or_else(|| Trouble::Missing("The case has no such part.".to_owned()))
        })
        .await;
    match text {
        Ok(text) => {
            let headers = [
                (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
                (
                    header::CONTENT_SECURITY_POLICY,
                    "default-src 'none'; sandbox; frame-ancestors 'none'",
                ),
            ];
            (headers, place.answer(text)).into_response()
        }
        Err(trouble) => explained(trouble, &app),
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ScorerNamed {
    id: String,
    skip: usize,
}

async fn scorer(State(app): State<App>, Asking(named): Asking<ScorerNamed>) -> Response {
    app.page(move |reader, app| {
        views::scorer::page(reader, &app.state, &app.database, &named.id, named.skip)
    })
    .await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Two {
    a: String,
    b: String,
    after: String,
    before: String,
    all: String,
}

async fn compare(State(app): State<App>, Asking(two): Asking<Two>) -> Response {
    if two.a.is_empty() || two.b.is_empty() {
        let words = "Two runs are compared: /compare?a=RUN&b=RUN".to_owned();
        return explained(Trouble::Refused(words), &app);
    }
    let known = match app.comparisons.of([two.a.clone(), two.b.clone()]).await {
        Ok(known) => known,
        Err(trouble) => return explained(trouble, &app),
    };
    app.page(move |reader, app| {
        let runs = [two.a.as_str(), two.b.as_str()];
        let listed = Listed { after: &two.after, before: &two.before, is_all: two.all == "yes" };
        views::compare::page(reader, &app.state, &app.database, runs, &known, &listed)
    })
    .await
}

async fn changes(State(app): State<App>) -> impl IntoResponse {
    live::changes(app.changed.clone(), app.is_ended.clone())
}
