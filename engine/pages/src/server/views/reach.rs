//! Shows how far a run is read. A run that is not read completely has no figures, unless it is still being written.

use maud::{Markup, html};
use scorebox::store::{RunRecord, RunState, StoreError};

use crate::{
    figure,
    figures::Figures,
    said::Said,
    server::{indexing::State, reading::Reader},
};

/// How far a run is read.
#[derive(Debug)]
pub(super) enum Reach {
    /// Everything that is stored of the run.
    All,
    /// This many of its cases.
    Part { read: u64, all: u64 },
    /// None of its cases.
    Nothing,
    /// The run cannot be read completely, for this reason.
    Damaged(String),
}

impl Reach {
    pub(super) fn of(reader: &Reader, state: &State, run: &RunRecord) -> Result<Reach, StoreError> {
        if let Some(why) = state.damage(run.key) {
            return Ok(Reach::Damaged(why));
        }
        if reader.indexed(run)?.is_complete {
            return Ok(Reach::All);
        }
        let is_believed = reader.believes(run.key);
        let follows = run.state == RunState::Running && is_believed;
        let read = match is_believed {
            true => reader.index.case_count(run.key)?,
            false => state.progress(run.key).unwrap_or(0),
        };
        if read == 0 {
            // Cases are counted only if their number is shown: a page of runs may contain many that are not read.
            let is_empty = reader.store.next_ordinal(run.key)? == 0;
            return Ok(if follows && is_empty { Reach::All } else { Reach::Nothing });
        }
        let all = reader.store.case_count(run.key)?;
        Ok(if follows && read >= all {
            Reach::All
        } else {
            Reach::Part { read: read.min(all), all }
        })
    }

    pub(super) fn is_all(&self) -> bool {
        matches!(self, Reach::All)
    }

    /// The text in place of figures.
    pub(super) fn words(&self) -> String {
        match self {
            Reach::Part { read, all } => {
                let count = format!("{} of {}", figure::count(*read), figure::count(*all));
                let then = if read == all { ", then its figures are computed" } else { "" };
                format!("reading cases: {count}{then}")
            }
            Reach::All | Reach::Nothing => "not read yet".to_owned(),
            Reach::Damaged(_) => "this run cannot be read to its end".to_owned(),
        }
    }

    /// The note above a list of cases, if it does not include everything that is stored.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Reach::Part { read, all } if read < all => Some(format!(
                "Found are cases that are read: {} of {}.",
                figure::count(*read),
                figure::count(*all)
            )),
            Reach::Damaged(_) => Some("Found are cases that could be read.".to_owned()),
            _ => None,
        }
    }

    /// Why the run cannot be read completely, if that is so.
    pub(super) fn damage(&self) -> Markup {
        html! {
            @if let Reach::Damaged(why) = self {
                p.note.strong { "This run cannot be read to its end, so it has no figures here: " (Said::line(why, 400)) "." }
            }
        }
    }
}

/// Why no run is being read, if that is so.
pub(super) fn trouble(state: &State) -> Markup {
    html! {
        @if let Some(trouble) = state.trouble() {
            p.note.strong { "Nothing new is read: " (Said::line(&trouble, 400)) "." }
        }
    }
}

/// The figures of a run: of everything that is stored, or, while it is being written, of what was stored a moment ago.
pub(super) fn figures(reader: &Reader, run: &RunRecord) -> Result<Option<Figures>, StoreError> {
    let indexed = reader.indexed(run)?;
    // For a run that has ended since, they cover only a part.
    let kept = indexed.figures.filter(|_| indexed.is_complete || run.state == RunState::Running);
    // Figures that another version stored are computed again.
    Ok(kept.and_then(|json| serde_json::from_str(&json).ok()))
}
