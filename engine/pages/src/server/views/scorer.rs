//! Shows a scorer over time: its mean in each run, the oldest first.

use maud::{Markup, html};
use scorebox::{
    aggregate::ScorerChange,
    store::{RunRecord, ScorerSpec},
};

use super::{
    Frame,
    reach::{figures, trouble},
};
use crate::{
    figure,
    figures::ScorerFigures,
    plot::{self, Point},
    said::Said,
    server::{address, indexing::State, reading::Reader, trouble::Trouble},
    summary, word,
};

/// The most runs that are searched for one page.
const MAX_RUNS: usize = 500;
/// The most runs that are shown on one page.
const MAX_SHOWN: usize = 60;
/// How many runs can be paged through.
const MAX_SKIPPED: usize = 10_000;

pub(in crate::server) fn page(
    reader: &Reader,
    state: &State,
    database: &str,
    id: &str,
    skip: usize,
) -> Result<Markup, Trouble> {
    let skip = skip.min(MAX_SKIPPED);
    let Found { runs: of_runs, unread, older } = found(reader, id, skip)?;
    if of_runs.is_empty() && unread == 0 && skip == 0 && older.is_none() {
        return Err(Trouble::Missing("No run has a scorer of this name.".to_owned()));
    }
    let newest = of_runs.first();
    let is_drawn = |of: &&OfRun| {
        let range = |scorer: &ScorerSpec| (scorer.scale, scorer.direction);
        newest.is_some_and(|newest| range(&of.scorer) == range(&newest.scorer))
    };
    let drawn = of_runs.iter().filter(is_drawn);
    let left_out = of_runs.len() - drawn.clone().count();
    let points: Vec<Point> = drawn.rev().filter_map(OfRun::point).collect();
    let content = html! {
        h1 { (Said::line(id, 200)) }
        p.aside { "The mean in each run with its 95 % interval: in the plot from the oldest run to the newest, in the table from the newest on." }
        div data-live="trouble" { (trouble(state)) }
        section data-live="trend" {
            @if points.is_empty() { p.aside { "No run here has a score of it." } } @else {
                figure.plot.wide { (plot::trend(&points, newest.and_then(|it| it.figures.threshold))) }
            }
            @if skip > 0 || older.is_some() { p.small.aside { "Not all runs are on this page." } }
            @if unread > 0 { p.note { (figure::counted(unread, "run has", "runs have")) " it and " (if unread == 1 { "is" } else { "are" }) " not read to the end yet: " (if unread == 1 { "it is" } else { "they are" }) " not shown here." } }
            @if left_out > 0 {
                p.small.aside { (figure::counted(left_out as u64, "run", "runs")) " not drawn: the scorer has another scale or direction there." }
            }
        }
        section data-live="runs" {
            h2 { "Runs" }
            div.scrolls tabindex="0" role="region" aria-label="Runs" {
                table {
                    thead { tr {
                        th scope="col" { "run" } th scope="col" { "state" } th scope="col" { "started" } th scope="col" { "distribution" }
                        @for title in ["mean, 95 % interval", "p50", "stddev", "scored", "errors", "failed", "regressed"] { th.number scope="col" { (title) } }
                    } }
                    tbody {
                        @for OfRun { run, figures, changes, .. } in &of_runs {
                            tr.link data-row {
                                th.name scope="row" { a href=(address::run(run)) { (run.spec.id.as_str()) } br; span.small.aside { (Said::line(summary::suite(run), 80)) } (another(changes)) }
                                td { (word::state(run.state)) (summary::skipped(run)) }
                                td.keep { (word::moment(run.spec.created_at_ms)) }
                                td { (plot::spark(&figures.bars())) }
                                td.number { (summary::mean(figures)) }
                                @for value in [figures.p50, figures.stddev] {
                                    td.number { @match value { Some(value) => (figure::score(value)), None => span.none { "–" } } }
                                }
                                @for count in [figures.count, figures.errors, figures.failed, figures.regressed] { td.number { (figure::count(count)) } }
                            }
                        }
                    }
                }
            }
            nav.pages aria-label="Pages of runs" {
                @if skip > 0 { a href=(address::scorer(id)) { "Newest" } }
                @if let Some(older) = older { a rel="next" href=(address::older_of_scorer(id, older)) { "Older" } }
            }
        }
    };
    let above = [("All runs", "/".to_owned())];
    Ok(Frame { database, title: id, above: &above }.around(&content))
}

/// The runs of one page that have the scorer, the newest first.
struct Found {
    runs: Vec<OfRun>,
    /// The number of other runs that have the scorer but are not read completely.
    unread: u64,
    /// How many runs the page of older ones must skip, if there may be any.
    older: Option<usize>,
}

/// Searches the runs that remain without the newest `skip`.
fn found(reader: &Reader, id: &str, skip: usize) -> Result<Found, Trouble> {
    let mut found = Found { runs: Vec::new(), unread: 0, older: None };
    let end = skip + MAX_RUNS;
    let runs = reader.store.runs(end + 1)?;
    for (index, run) in runs.into_iter().enumerate().skip(skip) {
        if index == end {
            found.older = Some(index);
            break;
        }
        let scorers = reader.store.scorers(run.key)?;
        let scorer = scorers.into_iter().map(|it| it.spec).find(|it| it.scorer_id == id);
        let Some(scorer) = scorer else { continue };
        if found.runs.len() == MAX_SHOWN {
            found.older = Some(index);
            break;
        }
        let figures = figures(reader, &run)?;
        let figures = figures.and_then(|it| it.scorers.into_iter().find(|it| it.id == id));
        let Some(figures) = figures else {
            found.unread += 1;
            continue;
        };
        if let Some(next) = found.runs.last_mut() {
            next.changes = ScorerChange::between(&scorer, &next.scorer);
        }
        found.runs.push(OfRun { run, figures, scorer, changes: Vec::new() });
    }
    found.older = found.older.filter(|older| *older <= MAX_SKIPPED);
    Ok(found)
}

/// The scorer in one run.
struct OfRun {
    run: RunRecord,
    figures: ScorerFigures,
    scorer: ScorerSpec,
    /// How it differs from the scorer in the run before.
    changes: Vec<ScorerChange>,
}

impl OfRun {
    fn point(&self) -> Option<Point> {
        Some(Point {
            name: self.run.spec.id.to_string(),
            value: self.figures.mean?,
            interval: self.figures.interval.map(|it| (it.low, it.high)),
        })
    }
}

/// Notes that the scorer differs from the one in the run before.
fn another(changes: &[ScorerChange]) -> Markup {
    let words: Vec<&str> = changes.iter().map(|it| it.as_str()).collect();
    html! {
        @if !words.is_empty() {
            br; span.small.aside { "another " (words.join(", ")) " than in the run before" }
        }
    }
}
