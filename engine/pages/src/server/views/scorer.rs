//! A scorer over runs in time: its mean in each run, the oldest first.

use maud::{Markup, html};
use scorebox::{
    aggregate::ScorerChange,
    store::{RunRecord, ScorerSpec},
};

use super::{Frame, figures};
use crate::{
    figure,
    figures::ScorerFigures,
    plot::{self, Point},
    said::Said,
    server::{address, reading::Reader, trouble::Trouble},
    summary, word,
};

/// Runs that are looked through: the newest.
const MOST_RUNS: usize = 500;
/// Runs that are shown.
const MOST_SHOWN: usize = 60;

pub(in crate::server) fn page(
    reader: &Reader,
    database: &str,
    id: &str,
) -> Result<Markup, Trouble> {
    let mut of_runs: Vec<OfRun> = Vec::new();
    for run in reader.store.runs(MOST_RUNS)? {
        let Some(figures) = figures(reader, &run)? else { continue };
        let scorers = reader.store.scorers(run.key)?;
        let scorer = scorers.into_iter().map(|it| it.spec).find(|it| it.scorer_id == id);
        let figures = figures.scorers.into_iter().find(|it| it.id == id);
        if let (Some(figures), Some(scorer)) = (figures, scorer) {
            if let Some(next) = of_runs.last_mut() {
                next.changes = ScorerChange::between(&scorer, &next.scorer);
            }
            of_runs.push(OfRun { run, figures, scorer, changes: Vec::new() });
        }
        if of_runs.len() == MOST_SHOWN {
            break;
        }
    }
    if of_runs.is_empty() {
        return Err(Trouble::Missing("No run that is read has a scorer of this name.".to_owned()));
    }
    let newest = &of_runs[0];
    let is_drawn = |of: &&OfRun| {
        let range = |scorer: &ScorerSpec| (scorer.scale, scorer.direction);
        range(&of.scorer) == range(&newest.scorer)
    };
    let drawn = of_runs.iter().filter(is_drawn);
    let left_out = of_runs.len() - drawn.clone().count();
    let points: Vec<Point> = drawn.rev().filter_map(OfRun::point).collect();
    let content = html! {
        h1 { (Said::line(id, 200)) }
        p.aside { "The mean in each run with its 95 % interval, the oldest first." }
        section {
            @if points.is_empty() { p.aside { "No run has a score of it." } } @else {
                figure.plot.wide { (plot::trend(&points, newest.figures.threshold)) }
            }
            @if left_out > 0 {
                p.small.aside { (figure::counted(left_out as u64, "run", "runs")) " not drawn: the scorer has another scale or direction there." }
            }
        }
        section {
            h2 { "Runs" }
            div.scrolls tabindex="0" role="region" aria-label="Runs" {
                table {
                    thead { tr {
                        th scope="col" { "run" } th scope="col" { "started" } th scope="col" { "distribution" }
                        @for title in ["mean, 95 % interval", "p50", "stddev", "scored", "errors", "failed"] { th.number scope="col" { (title) } }
                    } }
                    tbody {
                        @for OfRun { run, figures, changes, .. } in &of_runs {
                            tr.link data-row {
                                th.name scope="row" { a href=(address::run(run)) { (run.spec.id.as_str()) } br; span.small.aside { (Said::line(summary::suite(run), 80)) } (another(changes)) }
                                td.keep { (word::moment(run.spec.created_at_ms)) }
                                td { (plot::spark(&figures.bars())) }
                                td.number { (summary::mean(figures)) }
                                @for value in [figures.p50, figures.stddev] {
                                    td.number { @match value { Some(value) => (figure::score(value)), None => span.none { "–" } } }
                                }
                                @for count in [figures.count, figures.errors, figures.failed] { td.number { (figure::count(count)) } }
                            }
                        }
                    }
                }
            }
        }
    };
    let above = [("All runs", "/".to_owned())];
    Ok(Frame { database, title: id, above: &above }.around(&content))
}

/// The scorer in one run.
struct OfRun {
    run: RunRecord,
    figures: ScorerFigures,
    scorer: ScorerSpec,
    /// What it has other than in the run before.
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

/// That the scorer is another one than in the run before.
fn another(changes: &[ScorerChange]) -> Markup {
    let words: Vec<&str> = changes.iter().map(|it| it.as_str()).collect();
    html! {
        @if !words.is_empty() {
            br; span.small.aside { "another " (words.join(", ")) " than in the run before" }
        }
    }
}
