//! Shows all runs, the newest first, and the scorers of the newest ones.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{
    Frame,
    reach::{Reach, figures, trouble},
};
use crate::{
    figure, plot,
    said::Said,
    server::{address, indexing::State, reading::Reader, trouble::Trouble},
    summary, word,
};

/// The most runs of one page.
const PAGE: usize = 50;
/// How many runs can be paged through.
const MOST: usize = 10_000;

pub(in crate::server) fn page(
    reader: &Reader,
    state: &State,
    database: &str,
    skip: usize,
) -> Result<Markup, Trouble> {
    let skip = skip.min(MOST);
    let all = reader.store.runs(skip + PAGE + 1)?;
    let is_more = all.len() > skip + PAGE;
    let runs: Vec<_> = all.into_iter().skip(skip).take(PAGE).collect();
    let mut lines = Vec::new();
    let mut scorers = BTreeSet::new();
    for run in &runs {
        let figures = figures(reader, run)?;
        scorers.extend(figures.iter().flat_map(|it| it.scorers.iter().map(|it| it.id.clone())));
        lines.push(html! {
            tr.link data-row {
                th.name scope="row" {
                    a href=(address::run(run)) { (run.spec.id.as_str()) }
                    br; span.small.aside { (Said::line(summary::suite(run), 80)) }
                }
                td { (word::state(run.state)) (summary::skipped(run)) }
                td.keep { (word::moment(run.spec.created_at_ms)) }
                @match figures {
                    Some(figures) => {
                        td.number { (figure::count(figures.cases())) }
                        @if figures.decides {
                            td.number {
                                (figure::count(figures.passed)) " of " (figure::count(figures.judged()))
                                @if let Some(rate) = figures.pass_rate { br; span.small.aside { (figure::percent(rate.rate)) } }
                            }
                            td.share { (plot::shares(&summary::drawn(&figures), &summary::said(&figures))) }
                        } @else {
                            td.number { span.none { "–" } }
                            td.share { @if figures.regressed > 0 { (figure::count(figures.regressed)) " regressed" } @else { span.none { "–" } } }
                        }
                        td.number { @match figures.mean_score { Some(mean) => (figure::score(mean)), None => span.none { "–" } } }
                    }
                    None => td colspan="4" { span.aside { (Reach::of(reader, state, run)?.words()) } },
                }
            }
        });
    }
    let content = html! {
        h1 { "Runs" }
        div data-live="trouble" { (trouble(state)) }
        section data-live="runs" {
            @if runs.is_empty() && skip > 0 {
                p.aside { "There are no older runs. " a href="/" { "The newest ones" } }
            } @else if runs.is_empty() {
                p.aside { "This database has no runs yet. " code { "scorebox run" } " stores one, and it appears here." }
            } @else {
                div.scrolls tabindex="0" role="region" aria-label="Runs" {
                    table {
                        thead { tr {
                            th scope="col" { "run" } th scope="col" { "state" } th scope="col" { "started" }
                            th.number scope="col" { "cases" } th.number scope="col" { "passed" } th scope="col" { "verdicts" } th.number scope="col" { "mean score" }
                        } }
                        tbody { @for line in &lines { (line) } }
                    }
                }
                nav.pages aria-label="Pages of runs" {
                    @if skip > 0 { a rel="prev" href=(format!("/?skip={}", skip.saturating_sub(PAGE))) { "Newer" } }
                    @if is_more { a rel="next" href=(format!("/?skip={}", skip + PAGE)) { "Older" } }
                }
            }
        }
        @if !scorers.is_empty() {
            section {
                h2 { "Scorers over time" }
                ul.tabs { @for id in scorers.iter().take(200) { li { a href=(address::scorer(id)) { (Said::line(id, 80)) } } } }
            }
        }
    };
    Ok(Frame { database, title: "Runs", above: &[] }.around(&content))
}
