//! A scorer over runs in time: its mean in each run, the oldest first.

use maud::{Markup, html};

use super::{Frame, figures};
use crate::{
    figure,
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
    let mut of_runs = Vec::new();
    for run in reader.store.runs(MOST_RUNS)? {
        let Some(figures) = figures(reader, &run)? else { continue };
        if let Some(figures) = figures.scorers.into_iter().find(|it| it.id == id) {
            of_runs.push((run, figures));
        }
        if of_runs.len() == MOST_SHOWN {
            break;
        }
    }
    if of_runs.is_empty() {
        return Err(Trouble::Missing("No run that is read has a scorer of this name.".to_owned()));
    }
    let points: Vec<Point> = of_runs
        .iter()
        .rev()
        .filter_map(|(run, figures)| {
            Some(Point {
                name: run.spec.id.to_string(),
                value: figures.mean?,
                interval: figures.interval.map(|it| (it.low, it.high)),
            })
        })
        .collect();
    let newest = &of_runs[0].1;
    let content = html! {
        h1 { (Said::line(id, 200)) }
        p.aside { "The mean in each run with its 95 % interval, the oldest first." }
        section {
            @if points.is_empty() { p.aside { "No run has a score of it." } } @else {
                figure.plot.wide { (plot::trend(&points, newest.threshold)) }
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
                        @for (run, figures) in &of_runs {
                            tr.link data-row {
                                th.name scope="row" { a href=(address::run(run)) { (run.spec.id.as_str()) } br; span.small.aside { (Said::line(summary::suite(run), 80)) } }
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
