//! A case in full, with the cases around it and the same case in other runs.

use maud::{Markup, html};
use scorebox::{
    aggregate::verdicts_from,
    contract::Field,
    store::{CaseName, StoredCase},
    verdict::CaseVerdict,
};

use super::Frame;
use crate::{
    case::{self, CaseInFull, Decided, Showing},
    figure, report,
    said::Said,
    server::{address, reading::Reader, trouble::Trouble},
    summary, word,
};

/// Bytes of each text that stand in the page; all of it is behind a link.
const MOST_TEXT: usize = 64 << 10;
/// Other runs that are looked through for the same case.
const MOST_RUNS: usize = 20;

pub(in crate::server) fn page(
    reader: &Reader,
    database: &str,
    run: &str,
    stored: &StoredCase,
) -> Result<Markup, Trouble> {
    let store = &reader.store;
    let run = store.run(run)?;
    let scorers = store.scorers(run.key)?;
    let mut decided: Option<(CaseVerdict, Vec<Decided>)> = None;
    verdicts_from(store, run.spec.id.as_str(), stored.key, |it| {
        if it.case.key == stored.key {
            decided = Some((it.verdict, it.against.iter().map(Decided::of).collect()));
        }
        false
    })?;
    let Some((verdict, against)) = decided else {
        return Err(Trouble::Missing("There is no such case in this run.".to_owned()));
    };
    let case = report::in_full(store, &run, &scorers, stored.key, verdict, against)?;
    let [before, after] = store.cases_around(run.key, stored.key)?;
    let own = store.case_name(stored.key)?;
    let name = case::name(&stored.case_id, stored.iteration, stored.attempt);
    let mut others = Vec::new();
    for other in store.runs(MOST_RUNS)?.iter().filter(|it| it.key != run.key) {
        if let Some(there) =
            store.stored_case(other.key, &stored.case_id, stored.iteration, stored.attempt)?
        {
            let found = reader.index.case(other.key, there.key)?;
            others.push((other.spec.id.to_string(), found));
        }
    }
    let showing = Showing { most: MOST_TEXT, scorers: &scorers };
    let link = |it: &CaseName| address::case(&run, it);
    let content = html! {
        div.title {
            h1 { (Said::line(&name, 300)) }
            (word::verdict(&verdict))
        }
        ul.facts {
            @if let Some(score) = verdict.score { li { "score " b { (figure::score(score)) } } }
            @if let Some(node) = own.as_ref().and_then(|it| it.node_id.as_ref()).filter(|node| **node != stored.case_id) { li { "node " b { (Said::line(node, 200)) } } }
            li { "line " b { (figure::count(stored.source_line)) } " of " b { (Said::line(&stored.source_name, 200)) } }
            li { "digest " code title=(stored.digest) { (stored.digest.short()) } }
        }
        nav.pages aria-label="Cases around" {
            @if let Some(before) = &before { a rel="prev" href=(link(before)) { "Case before" } }
            @if let Some(after) = &after { a rel="next" href=(link(after)) { "Next case" } }
            @if !others.is_empty() {
                span.far { "in other runs: "
                    @for (place, (id, found)) in others.iter().enumerate() {
                        @if place > 0 { ", " }
                        a href=(address::case_of(id, &stored.case_id, stored.iteration, stored.attempt)) { (id) }
                        @if let Some(found) = found { " " (super::run::verdict(found)) }
                    }
                }
            }
        }
        section { (case::case(&case, showing, &whole_parts(&run, own.as_ref(), &case))) }
    };
    let above = [("All runs", "/".to_owned()), (summary::suite(&run), address::run(&run))];
    Ok(Frame { database, title: &name, above: &above }.around(&content))
}

/// Links to the parts that do not stand in the page as a whole.
fn whole_parts(
    run: &scorebox::store::RunRecord,
    name: Option<&CaseName>,
    case: &CaseInFull,
) -> Markup {
    let Some(name) = name else { return html! {} };
    let mut parts = vec![("output", case.content.output.len())];
    parts.extend(case.content.parts.iter().map(|(field, json)| (Field::key(field), json.len())));
    let large: Vec<_> = parts.into_iter().filter(|(_, bytes)| *bytes > MOST_TEXT).collect();
    html! {
        @if !large.is_empty() {
            "All of it: "
            @for (place, (part, bytes)) in large.iter().enumerate() {
                @if place > 0 { ", " }
                a href=(address::part(run, name, part)) { (part) } " (" (figure::counted(*bytes as u64, "byte", "bytes")) ")"
            }
        }
    }
}
