//! The page of a scorer, for people: what it scores and how, what it needs, an example scored now, how it scores data
//! that is named, and how others get the same figures. Scores nothing.
//!
//! - `about`: what the scorer says about itself, and what its component is.
//! - `example`: the example that it carries, and its score.
//! - `reading`: what stored scores say, read in one pass.
//! - `scored`: the scores of a run, and how they agree with labels.
//! - `checking`: how others check the page, and what differs from machine to machine.
//! - here: what a page is made of, and the page.

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

/// Why a page was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CardError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is written to does not take it.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The run has no scorer, because the database was tampered with.
    #[error("the run `{0}` has no scorer")]
    NoScorer(String),
    /// The scores cannot be compared with the labels that were asked for.
    #[error(transparent)]
    Agreement(AgreementError),
}

/// What the page of a scorer is made of.
#[derive(Clone, Copy, Debug)]
pub struct Card<'a> {
    /// What the scorer says about itself.
    pub info: &'a ScorerInfo,
    /// What its component is.
    pub component: &'a CardComponent,
    /// The keys of its configuration, each followed by those inside it.
    pub keys: &'a [CardKey],
    /// The example that it carries.
    pub example: &'a CardExample,
    /// Its scores of data that is named, if it was given any.
    pub scored: Option<CardScored<'a>>,
    /// The commands that others get the same figures with.
    pub commands: &'a [CardCommand],
    /// The machine, in a few words; `None` for a page with nothing on it that differs from one machine or one time to
    /// the next.
    pub machine: Option<&'a str>,
}

/// What a component is.
#[derive(Clone, Debug)]
pub struct CardComponent {
    /// Where it is from, without a folder.
    pub origin: String,
    /// Who signed it; `None` of one that is not published.
    pub signer: Option<String>,
    /// The digest of its bytes.
    pub digest: Digest,
    /// How many these are.
    pub bytes: u64,
    /// The version of the contract that it is written against.
    pub contract: String,
    /// The names of what it imports.
    pub imports: Vec<String>,
    /// What it needs to be granted, each with what that gives it.
    pub grants: Vec<(String, String)>,
    /// The version of wasmtime that it ran in.
    pub wasmtime: String,
}

/// A key of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardKey {
    /// The key; one inside another is `outer.inner`.
    pub name: String,
    /// What may stand there, in words.
    pub kind: String,
    /// Between which values, in words; empty if the schema has no bounds.
    pub range: String,
    /// The value if it is absent, as JSON; `required`, or empty.
    pub default: String,
    /// What it means.
    pub description: String,
    /// The values that may stand there, each with its meaning, where the schema says what they mean.
    pub choices: Vec<(String, String)>,
}

/// The example that a scorer carries.
#[derive(Clone, Debug)]
pub enum CardExample {
    /// It carries none.
    Missing,
    /// It was not scored, and why.
    NotScored(String),
    /// It was scored.
    Scored(Box<CardAnswers>),
}

/// An example with its answers.
#[derive(Clone, Debug)]
pub struct CardAnswers {
    /// The case, as JSON.
    pub case: String,
    /// The configuration, as JSON.
    pub config: String,
    /// The score that it is to have; `None` if the scorer is not to apply.
    pub promised: Option<f64>,
    /// What the scorer said.
    pub answer: Answer,
    /// Whether that is the score that it is to have.
    pub is_as_promised: bool,
    /// Whether a second score was the same in all that the scorer decides, and in fuel.
    pub is_twice_the_same: bool,
}

/// Scores of data that is named.
#[derive(Clone, Copy, Debug)]
pub struct CardScored<'a> {
    /// The database that the scores are in.
    pub store: &'a Store,
    /// The run; it has one scorer.
    pub run: &'a str,
    /// Whether others can have this run.
    pub is_kept: bool,
    /// The files that the cases are from.
    pub files: &'a [CardFile],
    /// Labels that the scores are compared with, and where these are in a case.
    pub labels: Option<(&'a str, AgreementOptions<'a>)>,
}

/// A file with cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardFile {
    /// Its name, without a folder.
    pub name: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// The digest of these.
    pub digest: Digest,
}

/// A command that others can type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardCommand {
    /// What it does.
    pub what: String,
    /// The line.
    pub line: String,
}

/// What is known once a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardWritten {
    /// One digest of what repeats of all scores.
    pub scores: Digest,
    /// Scores that are errors.
    pub errors: u64,
}

impl Card<'_> {
    /// Writes the page. Its size has a bound, whatever the scorer and the cases say: long texts are cut, and of the
    /// scores a few are shown. The same scorer and scores give the same bytes if it is not of a
    /// [machine](Card::machine).
    ///
    /// # Errors
    /// Troubles of reading and writing; labels that scores cannot be compared with. What was written by then is not a
    /// whole page.
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
