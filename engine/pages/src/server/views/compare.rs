//! Two runs side by side: whether the second is better, the figures of each scorer, and the cases that came out differently.

use maud::{Markup, html};
use scorebox::store::{CaseKey, CaseName, CaseQuery, FoundCase, Place, RunRecord};

use super::{Frame, figures};
use crate::{
    case, comparison, figure,
    figures::{Figures, ScorerFigures},
    plot,
    said::Said,
    server::{address, comparing::Known, reading::Reader, trouble::Trouble},
    summary, word,
};

/// Cases of one page.
const PAGE: usize = 50;
/// Cases that are looked through for one page.
const MOST_LOOKED: usize = 2000;

/// A case of the first run, and the same of the second.
struct Pair {
    name: CaseName,
    one: FoundCase,
    other: FoundCase,
}

pub(in crate::server) fn page(
    reader: &Reader,
    database: &str,
    runs: [&str; 2],
    known: &Known,
    after: &str,
    is_all: bool,
) -> Result<Markup, Trouble> {
    let [one, other] = [reader.store.run(runs[0])?, reader.store.run(runs[1])?];
    let of = [figures(reader, &one)?, figures(reader, &other)?];
    let (pairs, looked, next) = pairs(reader, [&one, &other], after, is_all)?;
    let title = format!("{} and {}", one.spec.id, other.spec.id);
    let here = |is_all: bool, after: Option<u64>| {
        let all = if is_all { "&all=yes" } else { "" };
        let after = after.map_or_else(String::new, |after| format!("&after={after}"));
        format!(
            "{}{all}{after}#cases",
            address::compare(one.spec.id.as_str(), other.spec.id.as_str())
        )
    };
    let content = html! {
        h1 { "Two runs" }
        div.two {
            @for ((name, run), figures) in [("A", &one), ("B", &other)].into_iter().zip(&of) {
                div data-live=(name) {
                    h2 { (name) ": " a href=(address::run(run)) { (run.spec.id.as_str()) } " " (word::state(run.state)) }
                    p.small.aside { (Said::line(summary::suite(run), 100)) ", " (word::moment(run.spec.created_at_ms)) }
                    @match figures { Some(figures) => (summary::went(figures)), None => p.aside { "Its cases are not read yet." } }
                }
            }
        }
        section {
            h2 { "Is B better than A?" }
            div data-live="comparison" { (compared(known, &one, &here(is_all, None))) }
        }
        @if let [Some(one), Some(other)] = &of { section { h2 { "Scorers" } (scorers(one, other)) } }
        section id="cases" {
            div.heading {
                h2 { @if is_all { "Cases of both" } @else { "Cases that came out differently" } }
                a.far href=(here(!is_all, None)) { @if is_all { "only those that differ" } @else { "all cases of both" } }
            }
            @if pairs.is_empty() {
                p.aside { "None among the " (figure::counted(looked as u64, "case", "cases")) " that were looked through." }
            } @else {
                (cases(&one, &other, &pairs))
            }
            nav.pages aria-label="Pages of cases" {
                span { (figure::counted(looked as u64, "case", "cases")) " looked through" }
                @if !after.is_empty() { a rel="prev" href=(here(is_all, None)) { "First page" } }
                @if let Some(next) = next { a rel="next" href=(here(is_all, Some(next))) { "Look further" } }
            }
        }
    };
    let above = [("All runs", "/".to_owned())];
    Ok(Frame { database, title: &title, above: &above }.around(&content))
}

/// What is known about the two runs, or that it is not known yet.
fn compared(known: &Known, one: &RunRecord, here: &str) -> Markup {
    let link = |case_id: &str| Some(address::case_of(one.spec.id.as_str(), case_id, 0, 0));
    match known {
        Known::Found(found) => comparison::comparison(found, link),
        Known::None(why) => comparison::none(why),
        Known::NotYet => html! {
            p.note { "The cases are being compared. The page follows by itself, or " a href=(here) { "look again" } "." }
        },
    }
}

/// The cases that both runs have, from `after` on; how many were looked through, and where to look further.
fn pairs(
    reader: &Reader,
    [one, other]: [&RunRecord; 2],
    after: &str,
    is_all: bool,
) -> Result<(Vec<Pair>, usize, Option<u64>), Trouble> {
    let query = CaseQuery::of_run(one.key);
    let after = after.parse().ok().and_then(|ordinal| CaseKey::at(one.key, ordinal));
    let after = after.map(|case| Place::new(case, None));
    let found = reader.index.cases(&query, after, MOST_LOOKED)?;
    let is_end = found.len() < MOST_LOOKED;
    let (mut pairs, mut looked) = (Vec::new(), 0_usize);
    for case in &found {
        if pairs.len() == PAGE {
            break;
        }
        looked += 1;
        let Some(name) = reader.store.case_name(case.key)? else { continue };
        let there =
            reader.store.case_key(other.key, &name.case_id, name.iteration, name.attempt)?;
        let Some(there) = there else { continue };
        let Some(there) = reader.index.case(other.key, there)? else { continue };
        let is_same = there.verdict == case.verdict
            && there.is_regressed == case.is_regressed
            && there.score == case.score;
        if is_all || !is_same {
            pairs.push(Pair { name, one: *case, other: there });
        }
    }
    let last = looked.checked_sub(1).and_then(|place| found.get(place));
    let next = last.filter(|_| !is_end || looked < found.len()).map(|last| last.key.ordinal());
    Ok((pairs, looked, next))
}

fn cases(one: &RunRecord, other: &RunRecord, pairs: &[Pair]) -> Markup {
    let score = |found: &FoundCase| match found.score {
        Some(score) => html! { (figure::score(score)) },
        None => html! { span.none { "–" } },
    };
    html! {
        div.scrolls tabindex="0" role="region" aria-label="Cases" {
            table {
                thead { tr {
                    th scope="col" { "case" }
                    @for run in [one, other] { th scope="col" { (run.spec.id.as_str()) } th.number scope="col" { "score" } }
                    th.number scope="col" { "change" }
                } }
                tbody {
                    @for Pair { name, one: first, other: second } in pairs {
                        @let called = case::name(&name.case_id, name.iteration, name.attempt);
                        tr.link data-row {
                            th.name scope="row" { a href=(address::case(one, name)) { (Said::line(&called, 200)) } }
                            td { (super::run::verdict(first)) }
                            td.number { (score(first)) }
                            td { a href=(address::case(other, name)) { (super::run::verdict(second)) span.unseen { " in " (other.spec.id.as_str()) } } }
                            td.number { (score(second)) }
                            td.number { (change(first.score, second.score)) }
                        }
                    }
                }
            }
        }
    }
}

/// The scorers of both runs, those of the first one first.
fn scorers(one: &Figures, other: &Figures) -> Markup {
    let of = |figures: &Figures, id: &str| figures.scorers.iter().find(|it| it.id == id).cloned();
    let mut ids: Vec<&String> = one.scorers.iter().map(|it| &it.id).collect();
    let others = other.scorers.iter().map(|it| &it.id);
    ids.extend(others.filter(|id| !one.scorers.iter().any(|it| it.id == **id)));
    let cells = |figures: Option<&ScorerFigures>| match figures {
        Some(figures) => html! {
            td { (plot::spark(&figures.bars())) }
            td.number { (summary::mean(figures)) }
            td.number { (figure::count(figures.count)) }
        },
        None => html! { td colspan="3" { span.none { "not in this run" } } },
    };
    html! {
        div.scrolls tabindex="0" role="region" aria-label="Scorers" {
            table {
                thead {
                    tr {
                        th rowspan="2" scope="col" { "scorer" }
                        th colspan="3" scope="colgroup" { "A, all its cases" }
                        th colspan="3" scope="colgroup" { "B, all its cases" }
                    }
                    tr {
                        @for _ in 0..2 { th scope="col" { "distribution" } th.number scope="col" { "mean, 95 % interval" } th.number scope="col" { "scored" } }
                    }
                }
                tbody {
                    @for id in ids {
                        @let (first, second) = (of(one, id), of(other, id));
                        tr {
                            th.name scope="row" { a href=(address::scorer(id)) { (Said::line(id, 200)) } }
                            (cells(first.as_ref())) (cells(second.as_ref()))
                        }
                    }
                }
            }
        }
    }
}

fn change(one: Option<f64>, other: Option<f64>) -> Markup {
    match one.zip(other) {
        Some((one, other)) if other > one => html! { "+" (figure::score(other - one)) },
        Some((one, other)) if other < one => html! { "−" (figure::score(one - other)) },
        Some(_) => html! { "0" },
        None => html! { span.none { "–" } },
    }
}
