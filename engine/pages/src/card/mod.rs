//! Writes the page of a scorer, for people: what it scores and how, what it needs, a scored example, how it scores
//! given data, and how others can get the same figures. Scores nothing.
//!
//! - `about`: what the scorer reports about itself, and the properties of its component.
//! - `example`: the example that it contains, and its score.
//! - `reading`: reads stored scores in one pass.
//! - `scored`: the scores of a run, and how they agree with labels.
//! - `checking`: how others can check the page, and what differs between machines.
//! - this file: the content of a page, and the page.

#![expect(
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    reason = "front ends make what a page is made of, and make it whole"
)]

mod about;
mod checking;
mod example;
mod reading;
mod scored;

use std::io;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use scorebox::{
    aggregate::{AgreementError, AgreementOptions},
    contract::ScorerInfo,
    digest::Digest,
    row::Answer,
    store::{Store, StoreError},
    terminal::markup_without_commands,
};

use crate::{
    frame::{self, STYLE},
    said::{Said, plain},
};
use reading::Scores;

/// Why a page could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CardError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The run has no scorer, because someone has modified the database.
    #[error("the run `{0}` has no scorer")]
    NoScorer(String),
    /// The scores cannot be compared with the requested labels.
    #[error(transparent)]
    Agreement(AgreementError),
}

/// The content of a scorer's page.
#[derive(Clone, Copy, Debug)]
pub struct Card<'a> {
    /// What the scorer reports about itself.
    pub info: &'a ScorerInfo,
    /// The properties of its component.
    pub component: &'a CardComponent,
    /// The keys of its configuration, each followed by those inside it.
    pub keys: &'a [CardKey],
    /// The example that the scorer contains.
    pub example: &'a CardExample,
    /// Its scores of given data, if there are any.
    pub scored: Option<CardScored<'a>>,
    /// The commands that produce the same figures for others.
    pub commands: &'a [CardCommand],
    /// A short description of the machine; `None` for a page without anything that differs between machines or over
    /// time.
    pub machine: Option<&'a str>,
}

/// The properties of a component.
#[derive(Clone, Debug)]
pub struct CardComponent {
    /// Where it comes from, without a folder.
    pub origin: String,
    /// Who signed it; `None` if it is not published.
    pub signer: Option<String>,
    /// The digest of its bytes.
    pub digest: Digest,
    /// The number of its bytes.
    pub bytes: u64,
    /// The version of the contract that it was built for.
    pub contract: String,
    /// The names of its imports.
    pub imports: Vec<String>,
    /// The grants that it needs, each with what it allows.
    pub grants: Vec<(String, String)>,
    /// The version of wasmtime that it was run with.
    pub wasmtime: String,
}

/// A key of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardKey {
    /// The key; one inside another is `outer.inner`.
    pub name: String,
    /// Its possible values, as text.
    pub kind: String,
    /// The range of its values, as text; empty if the schema has no bounds.
    pub range: String,
    /// The value if the key is absent, as JSON; or `required`, or empty.
    pub default: String,
    /// The meaning of the key.
    pub description: String,
    /// The possible values, each with its meaning, if the schema describes them.
    pub choices: Vec<(String, String)>,
}

/// The example that a scorer contains.
#[derive(Clone, Debug)]
pub enum CardExample {
    /// There is no example.
    Missing,
    /// The example was not scored, for this reason.
    NotScored(String),
    /// The example was scored.
    Scored(Box<CardAnswers>),
}

/// An example with its answers.
#[derive(Clone, Debug)]
pub struct CardAnswers {
    /// The case, as JSON.
    pub case: String,
    /// The configuration, as JSON.
    pub config: String,
    /// The expected score; `None` if the scorer should not apply.
    pub promised: Option<f64>,
    /// The scorer's answer.
    pub answer: Answer,
    /// Whether the score is the expected one.
    pub is_as_promised: bool,
    /// Whether a second score was the same in everything that the scorer decides, and in fuel.
    pub is_twice_the_same: bool,
}

/// Scores of given data.
#[derive(Clone, Copy, Debug)]
pub struct CardScored<'a> {
    /// The database that contains the scores.
    pub store: &'a Store,
    /// The run, which has one scorer.
    pub run: &'a str,
    /// Whether others can get this run.
    pub is_kept: bool,
    /// The files that contain the cases.
    pub files: &'a [CardFile],
    /// The labels that the scores are compared with, and where they are in a case.
    pub labels: Option<(&'a str, AgreementOptions<'a>)>,
}

/// A file with cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardFile {
    /// Its name, without a folder.
    pub name: String,
    /// The number of its bytes.
    pub bytes: u64,
    /// The digest of its bytes.
    pub digest: Digest,
}

/// A command that others can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardCommand {
    /// What the command does.
    pub what: String,
    /// The command line.
    pub line: String,
}

/// What is known after a page was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardWritten {
    /// One digest of the reproducible parts of all scores.
    pub scores: Digest,
    /// How many scores are errors.
    pub errors: u64,
}

impl Card<'_> {
    /// Writes the page. Its size is bounded, whatever the scorer and the cases contain: long texts are cut, and only a
    /// few of the scores are shown. The same scorer and scores produce the same bytes if the page has no
    /// [machine](Card::machine).
    ///
    /// # Errors
    /// Errors of reading and writing; labels that scores cannot be compared with. The part that was written by then is
    /// not a complete page.
    pub fn write(&self, out: &mut dyn io::Write) -> Result<Option<CardWritten>, CardError> {
        let scores = self.scored.map(|scored| Scores::read(&scored)).transpose()?;
        let page = self.page(scores.as_ref()).into_string();
        out.write_all(markup_without_commands(&page).as_bytes())?;
        Ok(scores.map(|it| CardWritten { scores: it.digest, errors: it.figures.errors }))
    }

    fn page(&self, scores: Option<&Scores>) -> Markup {
        let Card { info, component, .. } = self;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(frame::sheet_policy());
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    meta name="generator" content={ "scorebox " (env!("CARGO_PKG_VERSION")) };
                    title { (plain(&info.name, 80)) " – scorebox card" }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#content" { "To the content" }
                    main id="content" {
                        (about::heading(info))
                        (about::component(info, component))
                        (about::configuration(self.keys))
                        (example::example(self.example))
                        @if let (Some(scored), Some(scores)) = (&self.scored, scores) {
                            (scored::scores(scored, scores))
                            (scored::agreement(scored, scores))
                        }
                        (checking::machine(self, scores))
                        (checking::checking(self, scores))
                    }
                    footer.end {
                        "Written by scorebox " (env!("CARGO_PKG_VERSION")) ", wasmtime " (Said::line(&component.wasmtime, 40))
                        ". This file loads nothing else."
                    }
                }
            }
        }
    }
}
