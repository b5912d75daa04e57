//! Makes the pages that the server shows, and what surrounds each.
//!
//! - `runs`: all runs, and their scorers.
//! - `run`: a run with its figures, and its cases with filters.
//! - `case`: a case in full.
//! - `scorer`: a scorer in the runs over time.
//! - `compare`: compares two runs.
//! - `reach`: how far a run is read.
//! - this file: the frame of a page, and the page that reports what is wrong.

pub(super) mod case;
pub(super) mod compare;
mod reach;
pub(super) mod run;
pub(super) mod runs;
pub(super) mod scorer;

use maud::{DOCTYPE, Markup, html};
use scorebox::store::{RunRecord, RunState};

use self::reach::figures;
use super::reading::Reader;
use crate::said::{Said, plain};

/// A page, from its title to its end.
struct Frame<'a> {
    /// The database's file.
    database: &'a str,
    /// The title, for the tab.
    title: &'a str,
    /// The pages above this one, the closest one last: their titles and URLs.
    above: &'a [(&'a str, String)],
}

impl Frame<'_> {
    fn around(&self, content: &Markup) -> Markup {
        let last = self.above.len().checked_sub(1);
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (plain(self.title, 120)) " – scorebox" }
                    link rel="stylesheet" href="/page.css";
                    link rel="icon" type="image/svg+xml" href="/icon.svg";
                    script src="/page.js" defer {}
                }
                body {
                    a.skip href="#content" { "To the content" }
                    header.top {
                        div {
                            a.brand href="/" rel=[self.above.is_empty().then_some("up")] { "scorebox" }
                            @if !self.above.is_empty() {
                                nav aria-label="Above this page" {
                                    ol.trail {
                                        @for (index, (name, to)) in self.above.iter().enumerate() {
                                            li { a href=(to) rel=[(Some(index) == last).then_some("up")] { (Said::line(name, 60)) } }
                                        }
                                    }
                                }
                            }
                            span.far.small { (Said::line(self.database, 60)) " " button id="show-keys" type="button" { "Keys" } }
                        }
                    }
                    main id="content" { (content) }
                    (keys())
                }
            }
        }
    }
}

/// The keys that a page listens to.
fn keys() -> Markup {
    let all = [
        ("j", "the next line"),
        ("k", "the line before"),
        ("n", "the next case or page"),
        ("p", "the case or page before"),
        ("u", "up"),
        ("/", "search"),
        ("?", "these keys"),
    ];
    html! {
        dialog id="keys" aria-labelledby="keys-title" {
            h2 id="keys-title" { "Keys" }
            dl.list { @for (key, what) in all { dt { kbd { (key) } } dd { (what) } } }
            form method="dialog" { button { "Close" } }
        }
    }
}

/// A page that reports what is wrong.
pub(super) fn trouble(database: &str, words: &str) -> Markup {
    Frame { database, title: "Not shown", above: &[("All runs", "/".to_owned())] }.around(&html! {
        h1 { "This cannot be shown" }
        p { (Said::line(words, 600)) }
    })
}

/// Whether a run no longer changes: it is finished, and all its cases are read. Its page then needs no updates.
fn is_settled(reader: &Reader, run: &RunRecord) -> Result<bool, scorebox::store::StoreError> {
    Ok(run.state == RunState::Finished && reader.indexed(run)?.is_complete)
}

/// Whether a scorer of a run can fail a case, as far as that is known before its assertions are read.
fn decides(reader: &Reader, run: &RunRecord) -> Result<bool, scorebox::store::StoreError> {
    Ok(match figures(reader, run)? {
        Some(figures) => figures.decides,
        None => {
            let scorers = reader.store.scorers(run.key)?;
            scorers.iter().any(|scorer| scorer.spec.policy().can_fail(false))
        }
    })
}
