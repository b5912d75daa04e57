//! Shows the scores of a run, and how they agree with labels. Reads nothing.

use maud::{Markup, html};

use super::{
    CardScored,
    reading::{Scores, Shown},
};
use crate::{agreement, figure, said::Said, summary};

/// The most bytes of a name or a text.
const MAX_TEXT: usize = 400;

/// The data, the figures, and some of the scores.
pub(super) fn scores(scored: &CardScored<'_>, scores: &Scores) -> Markup {
    let figures = std::slice::from_ref(&scores.figures);
    html! {
        section id="scores" {
            h2 { "Scores" }
            p.aside { (figure::counted(scores.cases, "score", "scores")) ", of the cases in these files:" }
            (files(scored))
            div.later { (summary::scorers(figures, |_| None)) }
            @if scores.figures.count > 0 { div.later { (summary::distributions(figures)) } }
            @if !scores.errors.is_empty() { (errors(scores)) }
            @if !scores.lowest.is_empty() {
                h3.later { "Lowest and highest" }
                p.small.aside { "The reason is the scorer's, and may have parts of the case in it." }
                (some(scores))
            }
        }
        section id="costs" {
            h2 { "What a score costs" }
            dl.list {
                @if let Some(mean) = scores.costs.fuel.checked_div(scores.costs.fuelled) {
                    dt { "fuel" } dd {
                        (figure::count(mean)) " on average, at most " (figure::count(scores.costs.most_fuel))
                        "; " (figure::count(scores.costs.fuel)) " for all scores"
                    }
                }
                dt { "memory" } dd { "at most " (figure::counted(scores.costs.most_memory, "byte", "bytes")) }
                @if scores.costs.calls > 0 {
                    dt { "questions" } dd { (figure::count(scores.costs.calls)) " to a judge" }
                }
                @if let Some(judge) = &scores.scorer.spec.judge_json { dt { "judge" } dd { code { (Said::line(judge, 1000)) } } }
            }
        }
    }
}

/// How the scores agree with labels.
pub(super) fn agreement(scored: &CardScored<'_>, scores: &Scores) -> Markup {
    let (Some((with, _)), Some(found)) = (&scored.labels, &scores.agreement) else {
        return html! {};
    };
    agreement::agreements(with, &[(scores.figures.id.clone(), Ok(found.clone()))])
}

fn files(scored: &CardScored<'_>) -> Markup {
    html! {
        div.scrolls tabindex="0" role="region" aria-label="Files with cases" {
            table {
                thead { tr { th scope="col" { "file" } th.number scope="col" { "bytes" } th scope="col" { "SHA-256" } } }
                tbody {
                    @for file in scored.files {
                        tr {
                            th.name scope="row" { (Said::line(&file.name, MAX_TEXT)) }
                            td.number { (figure::count(file.bytes)) }
                            td.words { code { (file.digest) } }
                        }
                    }
                }
            }
        }
    }
}

fn errors(scores: &Scores) -> Markup {
    html! {
        h3.later { "Errors" }
        div.scrolls tabindex="0" role="region" aria-label="Errors" {
            table {
                thead { tr { th scope="col" { "kind" } th.number scope="col" { "scores" } th scope="col" { "the first" } } }
                tbody {
                    @for errors in &scores.errors {
                        tr {
                            th scope="row" { (Said::line(&errors.kind, MAX_TEXT)) }
                            td.number { (figure::count(errors.count)) }
                            td.words { b { (Said::line(&errors.case, MAX_TEXT)) } ": " (Said::line(&errors.message, MAX_TEXT)) }
                        }
                    }
                }
            }
        }
    }
}

/// Some scores, so that a page can be checked without scoring everything.
fn some(scores: &Scores) -> Markup {
    html! {
        div.scrolls tabindex="0" role="region" aria-label="Lowest and highest scores" {
            table {
                thead { tr {
                    th scope="col" { "case" } th.number scope="col" { "score" } th.number scope="col" { "fuel" }
                    th scope="col" { "says" } th scope="col" { "digest of what repeats" }
                } }
                tbody { @for shown in scores.lowest.iter().chain(scores.highest.iter().rev()) { (row(shown)) } }
            }
        }
    }
}

fn row(shown: &Shown) -> Markup {
    html! {
        tr {
            th.name scope="row" { (Said::line(&shown.case, MAX_TEXT)) }
            td.number { (figure::score(shown.score)) }
            td.number { @match shown.fuel { Some(fuel) => (figure::count(fuel)), None => span.none { "–" } } }
            td.words { (Said::line(&shown.says, MAX_TEXT)) }
            td.words { code { (shown.digest) } }
        }
    }
}
