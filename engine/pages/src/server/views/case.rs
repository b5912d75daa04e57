//! Shows a case in full, with the cases around it and the same case in other runs.

use maud::{Markup, html};
use scorebox::{
    aggregate::verdicts_from,
    contract::Field,
    store::{
        CaseCursor, CaseKey, CaseName, CaseOrder, FoundCase, RunRecord, ScorerRecord, StoredCase,
    },
    verdict::CaseVerdict,
};

use super::{Frame, decides};
use crate::{
    case::{self, CaseInFull, Decided, Showing},
    figure,
    said::Said,
    server::{
        address::{self, Asked},
        reading::Reader,
        trouble::Trouble,
    },
    stored_case, summary, word,
};

/// The most bytes of each text in the page; a link leads to the whole text.
const MAX_TEXT: usize = 64 << 10;
/// The most other runs that are searched for the same case.
const MAX_RUNS: usize = 20;

pub(in crate::server) fn page(
    reader: &Reader,
    database: &str,
    run: &str,
    stored: &StoredCase,
    asked: &Asked,
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
    let case = stored_case::in_full(store, &run, &scorers, stored.key, verdict, against)?;
    let is_among = asked.is_filtered() || asked.order() != CaseOrder::AsRead;
    let [before, after] = around(reader, &run, &scorers, (stored.key, &case), asked)?;
    let own = store.case_name(stored.key)?;
    let name = case::name(&stored.case_id, stored.iteration, stored.attempt);
    let mut others = Vec::new();
    for other in store.runs(MAX_RUNS)?.iter().filter(|it| it.key != run.key) {
        if let Some(there) =
            store.stored_case(other.key, &stored.case_id, stored.iteration, stored.attempt)?
        {
            let found = match reader.believes(other.key) {
                true => reader.index.case(other.key, there.key)?,
                false => None,
            };
            let decides = decides(reader, other)?;
            let found = found.map(|found| super::run::verdict(&found, decides));
            others.push((other.spec.id.to_string(), found));
        }
    }
    let showing = Showing::full(MAX_TEXT, &scorers);
    let link = |it: &CaseName| asked.case(&run, it);
    let content = html! {
        div.title {
            h1 { (Said::line(&name, 300)) }
            (word::verdict(&verdict, decides(reader, &run)?))
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
            @if is_among { span { "in the " a href=(asked.url(&run)) { "filtered list" } } }
            @if !others.is_empty() {
                span.far { "in other runs: "
                    @for (index, (id, found)) in others.iter().enumerate() {
                        @if index > 0 { ", " }
                        a href=(address::case_of(id, &stored.case_id, stored.iteration, stored.attempt)) { (id) }
                        @if let Some(found) = found { " " (found) }
                    }
                }
            }
        }
        section {
            h2.unseen { "The case" }
            (case::case(&case, showing, &whole_parts(&run, own.as_ref(), &case)))
        }
    };
    let list = if *asked == Asked::default() { address::run(&run) } else { asked.url(&run) };
    let above = [("All runs", "/".to_owned()), (summary::suite(&run), list)];
    Ok(Frame { database, title: &name, above: &above }.around(&content))
}

/// The cases before and after this one: in the order of the run, or among the requested ones.
fn around(
    reader: &Reader,
    run: &RunRecord,
    scorers: &[ScorerRecord],
    (key, case): (CaseKey, &CaseInFull),
    asked: &Asked,
) -> Result<[Option<CaseName>; 2], Trouble> {
    let query = match super::run::query(run, scorers, asked) {
        Ok(query) if asked.is_filtered() || query.order != CaseOrder::AsRead => query,
        _ => return Ok(reader.store.cases_around(run.key, key)?),
    };
    let score = match scorers.iter().find(|it| Some(it.key) == query.scorer) {
        Some(scorer) => {
            let record = case.scores.iter().find(|it| it.row.scorer_id == scorer.spec.scorer_id);
            record.and_then(|it| it.row.answer.score)
        }
        None => case.verdict.score,
    };
    if (query.order.is_by_score() && score.is_none()) || !reader.believes(run.key) {
        // The case has no position among them, or none that is known yet.
        return Ok([None, None]);
    }
    let cursor = Some(CaseCursor::new(key, score));
    let name = |found: Vec<FoundCase>| match found.first() {
        Some(found) => reader.store.case_name(found.key),
        None => Ok(None),
    };
    let finding = reader.index.finding(&query)?;
    let after = name(finding.cases(cursor, 1)?)?;
    let before = name(finding.reversed().cases(cursor, 1)?)?;
    Ok([before, after])
}

/// Links to the parts that the page does not contain completely.
fn whole_parts(run: &RunRecord, name: Option<&CaseName>, case: &CaseInFull) -> Markup {
    let Some(name) = name else { return html! {} };
    let mut parts = vec![("output", case.content.output.len())];
    parts.extend(case.content.parts.iter().map(|(field, json)| (Field::key(field), json.len())));
    let large: Vec<_> = parts.into_iter().filter(|(_, bytes)| *bytes > MAX_TEXT).collect();
    html! {
        @if !large.is_empty() {
            "All of it: "
            @for (index, (part, bytes)) in large.iter().enumerate() {
                @if index > 0 { ", " }
                a href=(address::part(run, name, part)) { (part) } " (" (figure::counted(*bytes as u64, "byte", "bytes")) ")"
            }
        }
    }
}
