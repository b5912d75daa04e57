//! Compares two runs: whether the second is better, the figures of each scorer, and the cases with different outcomes.

use maud::{Markup, html};
use scorebox::store::{CaseCursor, CaseKey, CaseName, CaseOrder, CaseQuery, FoundCase, RunRecord};

use super::{
    Frame, decides, is_settled,
    reach::{Reach, figures, trouble},
};
use crate::{
    case, comparison, figure,
    figures::{Figures, ScorerFigures},
    plot,
    said::Said,
    server::{address, comparing::Known, indexing::State, reading::Reader, trouble::Trouble},
    summary, word,
};

/// The most cases of one page.
const PAGE: usize = 50;
/// The most cases that are searched for one page.
const MAX_LOOKED: usize = 2000;

/// A case of the first run, and the same case of the second.
struct Pair {
    name: CaseName,
    one: FoundCase,
    other: FoundCase,
}

pub(in crate::server) fn page(
    reader: &Reader,
    state: &State,
    database: &str,
    runs: [&str; 2],
    known: &Known,
    listed: &Listed<'_>,
) -> Result<Markup, Trouble> {
    let [one, other] = [reader.store.run(runs[0])?, reader.store.run(runs[1])?];
    let of = [figures(reader, &one)?, figures(reader, &other)?];
    let reach = [Reach::of(reader, state, &one)?, Reach::of(reader, state, &other)?];
    let is_all = listed.is_all;
    let is_read = reader.believes(one.key) && reader.believes(other.key);
    let after = listed.begin(reader, [&one, &other])?;
    let looking = look(reader, [&one, &other], CaseOrder::AsRead, after, is_all)?;
    let looked = looking.keys.len();
    let next = looking.keys.last().filter(|_| !looking.is_end).map(|last| last.ordinal());
    let before = looking.keys.first().filter(|_| after.is_some()).map(|first| first.ordinal());
    let pairs = looking.pairs;
    let is_settled =
        !matches!(known, Known::NotYet) && is_settled(reader, &one)? && is_settled(reader, &other)?;
    let title = format!("{} and {}", one.spec.id, other.spec.id);
    let here = |is_all: bool, place: Option<(&str, u64)>| {
        let all = if is_all { "&all=yes" } else { "" };
        let place = place.map_or_else(String::new, |(side, case)| format!("&{side}={case}"));
        format!(
            "{}{all}{place}#cases",
            address::compare(one.spec.id.as_str(), other.spec.id.as_str())
        )
    };
    let changed = changed(reader, known, &one)?;
    let content = html! {
        h1 { "Two runs" }
        div data-live="trouble" { (trouble(state)) }
        div.two {
            @for (((name, run), figures), reach) in [("A", &one), ("B", &other)].into_iter().zip(&of).zip(&reach) {
                div data-live=(name) {
                    h2 data-settled[is_settled] { (name) ": " a href=(address::run(run)) { (run.spec.id.as_str()) } " " (word::state(run.state)) }
                    p.small.aside { (Said::line(summary::suite(run), 100)) ", " (word::moment(run.spec.created_at_ms)) (summary::skipped(run)) }
                    @match figures { Some(figures) => (summary::went(figures)), None => p.aside { (reach.words()) } }
                    (reach.damage())
                }
            }
        }
        section {
            h2 { "Is B better than A?" }
            div data-live="comparison" { (compared(known, &changed, &one, &here(is_all, None))) }
        }
        @if let [Some(one), Some(other)] = &of { section { h2 { "Scorers" } (scorers(one, other)) } }
        section id="cases" {
            div.heading {
                h2 { @if is_all { "Cases of both" } @else { "Cases that came out differently" } }
                a.far href=(here(!is_all, None)) { @if is_all { "only those that differ" } @else { "all cases of both" } }
            }
            @for (name, note) in ["A", "B"].into_iter().zip(&reach).filter_map(|(name, it)| Some((name, it.note()?))) {
                p.note { (name) ": " (note) }
            }
            @if !is_read {
                p.aside { "Cases are listed once they are read." }
            } @else if pairs.is_empty() {
                p.aside { "None among the " (figure::counted(looked as u64, "case", "cases")) " that were looked through." }
            } @else {
                (cases(&one, &other, &pairs, [decides(reader, &one)?, decides(reader, &other)?]))
            }
            nav.pages aria-label="Pages of cases" {
                span { (figure::counted(looked as u64, "case", "cases")) " looked through" }
                @if after.is_some() { a rel=[before.is_none().then_some("prev")] href=(here(is_all, None)) { "First page" } }
                @if let Some(before) = before { a rel="prev" href=(here(is_all, Some(("before", before)))) { "Page before" } }
                @if let Some(next) = next { a rel="next" href=(here(is_all, Some(("after", next)))) { "Look further" } }
            }
        }
    };
    let above = [("All runs", "/".to_owned())];
    Ok(Frame { database, title: &title, above: &above }.around(&content))
}

/// The first attempts at the cases that changed, in the first run.
fn changed(reader: &Reader, known: &Known, one: &RunRecord) -> Result<Vec<CaseName>, Trouble> {
    let Known::Found(found) = known else { return Ok(Vec::new()) };
    let mut names: Vec<CaseName> = Vec::new();
    for change in found.figures().flat_map(|scores| &scores.changes) {
        if !names.iter().any(|name| name.case_id == change.case_id) {
            names.extend(reader.store.first_attempt(one.key, &change.case_id)?);
        }
    }
    Ok(names)
}

/// What is known about the two runs, or that it is not known yet.
fn compared(known: &Known, changed: &[CaseName], one: &RunRecord, here: &str) -> Markup {
    let link = |case_id: &str| {
        let name = changed.iter().find(|name| name.case_id == case_id);
        name.map(|name| address::case(one, name))
    };
    match known {
        Known::Found(found) => comparison::comparison(found, link),
        Known::None(why) => comparison::none(why),
        Known::NotYet => html! {
            p.note { "The cases are being compared. The page follows by itself, or " a href=(here) { "look again" } "." }
        },
    }
}

/// Which of the common cases are listed.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Listed<'a> {
    /// Only cases after the one with this number in the first run.
    pub(in crate::server) after: &'a str,
    /// Only cases before the one with this number.
    pub(in crate::server) before: &'a str,
    /// Whether cases with the same outcome are also listed.
    pub(in crate::server) is_all: bool,
}

impl Listed<'_> {
    /// The case after which the list begins; `None` if it begins with the first case.
    fn begin(
        &self,
        reader: &Reader,
        [one, other]: [&RunRecord; 2],
    ) -> Result<Option<CaseKey>, Trouble> {
        let case = |text: &str| CaseKey::at(one.key, text.parse().ok()?);
        let Some(before) = case(self.before) else { return Ok(case(self.after)) };
        let back = look(reader, [one, other], CaseOrder::LastFirst, Some(before), self.is_all)?;
        let first = back.keys.last().filter(|_| !back.is_end);
        Ok(first.and_then(|it| CaseKey::at(one.key, it.ordinal().checked_sub(1)?)))
    }
}

/// The cases of the first run that were searched, and those that both runs have.
struct Looking {
    pairs: Vec<Pair>,
    keys: Vec<CaseKey>,
    /// Whether there are no more cases.
    is_end: bool,
}

/// Searches the cases of the first run, from `after` on in this order, until a page is full.
fn look(
    reader: &Reader,
    [one, other]: [&RunRecord; 2],
    order: CaseOrder,
    after: Option<CaseKey>,
    is_all: bool,
) -> Result<Looking, Trouble> {
    if !reader.believes(one.key) || !reader.believes(other.key) {
        return Ok(Looking { pairs: Vec::new(), keys: Vec::new(), is_end: true });
    }
    let mut query = CaseQuery::of_run(one.key);
    query.order = order;
    let after = after.map(|case| CaseCursor::new(case, None));
    let found = reader.index.cases(&query, after, MAX_LOOKED + 1)?;
    let (mut pairs, mut keys) = (Vec::new(), Vec::new());
    for case in found.iter().take(MAX_LOOKED) {
        if pairs.len() == PAGE {
            break;
        }
        keys.push(case.key);
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
    let is_end = keys.len() == found.len();
    Ok(Looking { pairs, keys, is_end })
}

fn cases(one: &RunRecord, other: &RunRecord, pairs: &[Pair], decides: [bool; 2]) -> Markup {
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
                            td { (super::run::verdict(first, decides[0])) }
                            td.number { (score(first)) }
                            td { a href=(address::case(other, name)) { (super::run::verdict(second, decides[1])) span.unseen { " in " (other.spec.id.as_str()) } } }
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
