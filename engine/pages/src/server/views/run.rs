//! Shows a run: its outcome, its scorers, and its cases with filters, a page at a time.

use maud::{Markup, html};
use scorebox::{
    aggregate::verdicts_from,
    contract::{Assertion, Severity},
    row::Status,
    store::{
        CaseCursor, CaseKey, CaseOrder, CaseQuery, Finding, FoundCase, RunRecord, RunState, Saying,
        ScorerRecord,
    },
    verdict::{CaseVerdict, Standing, Verdict},
};

use super::{
    Frame, decides, is_settled,
    reach::{Reach, figures, trouble},
};
use crate::{
    case::{self, Decided},
    figure,
    figures::Figures,
    said::Said,
    server::{
        address::{self, Asked},
        indexing::State,
        reading::Reader,
        trouble::Trouble,
    },
    summary, word,
};

/// The most cases of one page.
const PAGE: usize = 50;
/// The most cases that are counted; the page then shows only that there are more.
const MAX_COUNTED: u64 = 10_000;
/// The most characters of a reason in a line.
const MAX_REASON: u32 = 240;
/// The most scorers whose reasons against a case are shown.
const MAX_REASONS: usize = 4;
/// The most scores that are listed for a case that nothing decided against.
const MAX_SCORES: usize = 6;
/// The most runs that can be chosen for a comparison.
const MAX_CHOICES: usize = 100;

pub(in crate::server) fn page(
    reader: &Reader,
    state: &State,
    database: &str,
    run: &str,
    asked: &Asked,
) -> Result<Markup, Trouble> {
    let run = reader.store.run(run)?;
    let scorers = reader.store.scorers(run.key)?;
    let figures = figures(reader, &run)?;
    let summaries = reader.store.summaries(run.key)?;
    let others = reader.store.runs(MAX_CHOICES + 1)?;
    let title = format!("{}, {}", summary::suite(&run), run.spec.id);
    let reach = Reach::of(reader, state, &run)?;
    let cases = cases(reader, &run, &scorers, asked, &reach)?;
    let content = html! {
        div.title data-live="title" { h1 data-settled[is_settled(reader, &run)?] { (Said::line(summary::suite(&run), 200)) } (word::state(run.state)) }
        div data-live="facts" { (summary::facts(&run)) (trouble(state)) (reach.damage()) }
        div data-live="went" {
            @match &figures {
                Some(figures) => {
                    (summary::went(figures))
                    @if run.state == RunState::Running { (following(figures, &reach)) }
                }
                None => div.went { p.says { span.aside { (reach.words()) } } },
            }
        }
        @if others.len() > 1 { (comparing(&run, &others)) }
        section {
            h2 { "Scorers" }
            div data-live="scorers" {
                @match &figures {
                    Some(figures) => (summary::scorers(&figures.scorers, |id| Some(address::scorer(id)))),
                    None if matches!(reach, Reach::Damaged(_)) => p.aside { "There are no figures of a run that cannot be read to its end." },
                    None => p.aside { "The figures come when the cases are read." },
                }
            }
        }
        section id="cases" {
            h2 { "Cases" }
            (filters(&run, &scorers, asked))
            @for (filter, says) in asked.not_known() {
                p.note.strong { "The filter " code { (filter) } " has no " code { (Said::line(says, 60)) } ": it is left aside." }
            }
            div data-live="cases" {
                @if let (Some(note), true) = (reach.note(), reader.believes(run.key)) { p.note { (note) } }
                (cases)
            }
        }
        @if let Some(figures) = &figures {
            section { h2 { "Distributions" } div data-live="plots" { (summary::distributions(&figures.scorers)) } }
        }
        @if !summaries.is_empty() {
            section { h2 { "All cases together" } div data-live="summaries" { (summary::of_the_run(&summaries)) } }
        }
        section {
            h2 { "What ran" }
            (summary::what_ran(&run, &scorers, figures.as_ref().map_or(&[][..], |it| &it.scorers[..])))
        }
    };
    let above = [("All runs", "/".to_owned())];
    Ok(Frame { database, title: &title, above: &above }.around(&content))
}

/// Notes that the page follows a run in progress, and how far its figures are behind.
fn following(figures: &Figures, reach: &Reach) -> Markup {
    html! {
        p.small.aside {
            "As long as the run is being written, this page follows it"
            @match reach {
                Reach::Part { all, .. } if figures.cases() < *all => {
                    ": these figures are of " (figure::count(figures.cases())) " of the " (figure::counted(*all, "case", "cases")) " so far."
                }
                _ => ".",
            }
        }
    }
}

/// A choice of another run to compare with this one.
fn comparing(run: &RunRecord, others: &[RunRecord]) -> Markup {
    html! {
        form.filters.later action="/compare" method="get" autocomplete="off" {
            input type="hidden" name="a" value=(run.spec.id);
            label { "Compare with"
                select name="b" required {
                    option value="" { "another run" }
                    @for other in others.iter().take(MAX_CHOICES).filter(|other| other.key != run.key) {
                        option value=(other.spec.id) { (other.spec.id.as_str()) }
                    }
                    @if others.len() > MAX_CHOICES { option value="" disabled { "these are of the newest " (MAX_CHOICES) " runs" } }
                }
            }
            button { "Compare" }
        }
    }
}

fn filters(run: &RunRecord, scorers: &[ScorerRecord], asked: &Asked) -> Markup {
    let choice = |value: &str, words: &str, chosen: &str| {
        html! { option value=(value) selected[value == chosen] { (words) } }
    };
    html! {
        form.filters action={ "/runs/" (run.spec.id) "#cases" } method="get" role="search" aria-label="Cases" autocomplete="off" {
            label.wide { "Words in id, output and reasons"
                input type="search" name="q" value=(asked.words()) maxlength="1000";
            }
            label { "Verdict"
                select name="verdict" {
                    (choice("", "any", &asked.verdict))
                    @for word in ["failed", "errored", "regressed", "passed", "skipped", "undecided"] { (choice(word, word, &asked.verdict)) }
                }
            }
            label { "Scorer"
                select name="scorer" {
                    (choice("", "any", &asked.scorer))
                    @for scorer in scorers {
                        @let id = &scorer.spec.scorer_id;
                        option value=(id) selected[*id == asked.scorer] { (Said::line(id, 60)) }
                    }
                }
            }
            label { "Status"
                select name="status" {
                    (choice("", "any", &asked.status))
                    @for status in [Status::Scored, Status::NotApplicable, Status::Skipped, Status::Error] { (choice(status.as_str(), status.as_str(), &asked.status)) }
                }
            }
            label { "Score from" input type="number" name="least" value=[Asked::number(&asked.least)] step="any" min="0"; }
            label { "to" input type="number" name="most" value=[Asked::number(&asked.most)] step="any" min="0"; }
            label { "Order"
                select name="order" {
                    (choice("", "as read", &asked.order))
                    (choice("lowest", "lowest score", &asked.order))
                    (choice("highest", "highest score", &asked.order))
                }
            }
            button.main { "Show" }
            @if asked.is_filtered() || !asked.order.is_empty() { a href={ (address::run(run)) "#cases" } { "Reset" } }
        }
    }
}

/// The query of the index for what is requested; or what is wrong with the request.
pub(super) fn query(
    run: &RunRecord,
    scorers: &[ScorerRecord],
    asked: &Asked,
) -> Result<CaseQuery, String> {
    let mut query = CaseQuery::of_run(run.key);
    (query.verdict, query.regressed) = asked.verdict();
    query.status = asked.status();
    query.order = asked.order();
    query.least = Asked::bound(&asked.least);
    query.most = Asked::bound(&asked.most);
    if !asked.scorer.is_empty() {
        let scorer = scorers.iter().find(|it| it.spec.scorer_id == asked.scorer);
        query.scorer = Some(scorer.ok_or("This run has no such scorer.")?.key);
    }
    match asked.q.trim() {
        "" => Ok(query),
        search => query.with_search(search).map_err(|error| format!("{error}.")),
    }
}

fn cases(
    reader: &Reader,
    run: &RunRecord,
    scorers: &[ScorerRecord],
    asked: &Asked,
    reach: &Reach,
) -> Result<Markup, Trouble> {
    let query = match query(run, scorers, asked) {
        Ok(query) => query,
        Err(words) => return Ok(html! { p.note.strong { (Said::line(&words, 400)) } }),
    };
    if !reader.believes(run.key) {
        return Ok(html! {
            p.aside { @if let Reach::Damaged(_) = reach { "No case of this run is found." } @else { "Cases are found once they are read." } }
        });
    }
    let after = asked
        .after()
        .and_then(|(ordinal, score)| Some(CaseCursor::new(CaseKey::at(run.key, ordinal)?, score)));
    let finding = reader.index.finding(&query)?;
    let mut found = finding.cases(after, PAGE + 1)?;
    let is_more = found.len() > PAGE;
    found.truncate(PAGE);
    let all = finding.count(MAX_COUNTED + 1)?;
    let hidden = without_score(reader, &query, all)?;
    let before = match (after, found.first()) {
        (Some(_), Some(first)) => page_before(finding, first, asked)?,
        (Some(_), None) => Some(asked.first_page()),
        (None, _) => None,
    };
    let decides = decides(reader, run)?;
    let mut lines = Vec::new();
    for found in &found {
        lines.push(line(reader, run, scorers, &query, found, decides, asked)?);
    }
    let next = found
        .last()
        .filter(|_| is_more)
        .map(|last| asked.behind(last.cursor(), last.key.ordinal()).url(run));
    Ok(html! {
        @if let Some(hidden) = &hidden { p.note { (hidden) } }
        @if lines.is_empty() {
            p.aside {
                @match (after, asked.is_filtered()) {
                    (Some(_), _) if !reach.is_all() => "There are no more cases among those that are read.",
                    (Some(_), _) => "There are no more cases.",
                    (None, true) if !reach.is_all() => "None of the cases that are read is like that.",
                    (None, true) => "No case is like that.",
                    (None, false) if hidden.is_some() && reach.is_all() => "No case has a score.",
                    (None, false) if hidden.is_some() => "None of the cases that are read has a score.",
                    (None, false) if !reach.is_all() => "No case is read yet.",
                    (None, false) if run.state == RunState::Running => "The run has no cases yet.",
                    (None, false) => "The run has no cases.",
                }
            }
        } @else {
            div.scrolls tabindex="0" role="region" aria-label="Cases" {
                table {
                    thead { tr {
                        th scope="col" { "verdict" } th scope="col" { "case" } th scope="col" { "why" }
                        th.number scope="col" { @if query.scorer.is_some() { (Said::line(&asked.scorer, 40)) } @else { "score" } }
                    } }
                    tbody { @for line in &lines { (line) } }
                }
            }
        }
        @if !lines.is_empty() || before.is_some() {
            nav.pages aria-label="Pages of cases" {
                span {
                    @if all > MAX_COUNTED { "more than " (figure::count(MAX_COUNTED)) " cases" } @else { (figure::counted(all, "case", "cases")) }
                }
                @if let Some(before) = &before {
                    @if !before.after.is_empty() { a href=(asked.first_page().url(run)) { "First page" } }
                    a rel="prev" href=(before.url(run)) { @if before.after.is_empty() { "First page" } @else { "Page before" } }
                }
                @if let Some(next) = next { a rel="next" href=(next) { "Next page" } }
            }
        }
    })
}

/// The page before the one that begins with this case.
fn page_before(
    finding: Finding<'_>,
    first: &FoundCase,
    asked: &Asked,
) -> Result<Option<Asked>, Trouble> {
    let before = finding.reversed().cases(Some(first.cursor()), PAGE + 1)?;
    // It begins after the case that is one too many for the page.
    let begins = before.get(PAGE).map(|it| asked.behind(it.cursor(), it.key.ordinal()));
    Ok(begins.or((!before.is_empty()).then(|| asked.first_page())))
}

/// A text about what the order by scores leaves out.
fn without_score(
    reader: &Reader,
    query: &CaseQuery,
    shown: u64,
) -> Result<Option<String>, Trouble> {
    // A user who limits scores does not look for cases without a score.
    if !query.order.is_by_score() || query.least.is_some() || query.most.is_some() {
        return Ok(None);
    }
    let mut any = query.clone();
    any.order = CaseOrder::AsRead;
    let all = reader.index.finding(&any)?.count(MAX_COUNTED + 1)?;
    Ok(match all.saturating_sub(shown) {
        _ if all > MAX_COUNTED => Some("Cases without a score are not shown.".to_owned()),
        0 => None,
        1 => Some("1 case without a score is not shown.".to_owned()),
        hidden => Some(format!("{} cases without a score are not shown.", figure::count(hidden))),
    })
}

fn line(
    reader: &Reader,
    run: &RunRecord,
    scorers: &[ScorerRecord],
    query: &CaseQuery,
    found: &FoundCase,
    decides: bool,
    asked: &Asked,
) -> Result<Markup, Trouble> {
    let Some(name) = reader.store.case_name(found.key)? else {
        return Ok(html! { tr { td colspan="4" { span.aside { "a case that was removed" } } } });
    };
    let says = reader.store.case_says(found.key, MAX_REASON)?;
    let by_assertions = by_assertions(reader, run, found)?;
    Ok(html! {
        tr.link data-row {
            td { (verdict(found, decides)) }
            th.name scope="row" {
                a href=(asked.case(run, &name)) { (Said::line(&case::name(&name.case_id, name.iteration, name.attempt), 200)) }
                @if let Some(node) = name.node_id.as_ref().filter(|node| **node != name.case_id) { br; span.small.aside { (Said::line(node, 80)) } }
            }
            td.words.small { (why(scorers, query, &says, &by_assertions)) }
            td.number { @match found.score { Some(score) => (figure::score(score)), None => span.none { "–" } } }
        }
    })
}

/// The verdict of a case that was found.
pub(super) fn verdict(found: &FoundCase, decides: bool) -> Markup {
    let regressions = u32::from(found.is_regressed);
    let verdict = CaseVerdict::of(found.verdict, regressions, found.score);
    word::verdict(&verdict, decides)
}

/// Whether a scorer's result counts against the case, whatever its assertions are.
fn is_against(scorers: &[ScorerRecord], saying: &Saying) -> bool {
    const NONE: &[Assertion] = &[];
    let Some(scorer) = scorer(scorers, saying) else { return false };
    match (saying.status, saying.score) {
        (Status::Error, _) => true,
        (_, Some(score)) => scorer.spec.policy().standing(score, NONE) != Standing::Holds,
        _ => false,
    }
}

/// What decided against a case, with the assertions that did.
fn by_assertions(
    reader: &Reader,
    run: &RunRecord,
    found: &FoundCase,
) -> Result<Vec<Decided>, Trouble> {
    let is_bad = found.is_regressed || found.verdict == Verdict::Failed;
    let mut decided = Vec::new();
    if is_bad {
        verdicts_from(&reader.store, run.spec.id.as_str(), found.key, |it| {
            if it.case.key == found.key {
                decided = it.against.iter().map(Decided::of).collect();
            }
            false
        })?;
    }
    Ok(decided)
}

fn scorer<'s>(scorers: &'s [ScorerRecord], saying: &Saying) -> Option<&'s ScorerRecord> {
    scorers.iter().find(|it| it.key == saying.scorer)
}

/// The result of the requested scorer, or of those that decided against the case, or of all.
fn why(
    scorers: &[ScorerRecord],
    query: &CaseQuery,
    says: &[Saying],
    by_assertions: &[Decided],
) -> Markup {
    let id = |saying: &Saying| scorer(scorers, saying).map_or("", |it| &it.spec.scorer_id);
    let of = |saying: &Saying| by_assertions.iter().find(|it| it.scorer_id == id(saying));
    let asked: Vec<&Saying> = says.iter().filter(|it| Some(it.scorer) == query.scorer).collect();
    let against: Vec<&Saying> =
        says.iter().filter(|it| is_against(scorers, it) || of(it).is_some()).collect();
    let mut shown = if !asked.is_empty() { asked } else { against };
    // Scorers that can fail a case come before those that only report a regression.
    shown.sort_by_key(|saying| !can_fail(scorers, saying));
    let scored: Vec<&Saying> = says.iter().filter(|it| it.score.is_some()).collect();
    html! {
        @if shown.is_empty() {
            span.aside {
                @for (index, saying) in scored.iter().take(MAX_SCORES).enumerate() {
                    @if index > 0 { ", " }
                    (Said::line(id(saying), 60)) " "
                    (said_score(scorers, saying))
                }
                (left_out(scored.len(), MAX_SCORES))
            }
        }
        @for (index, saying) in shown.iter().take(MAX_REASONS).enumerate() {
            @if index > 0 { br; }
            b { (Said::line(id(saying), 60)) } " "
            (said_score(scorers, saying))
            @if let Some(said) = &saying.said { span.aside { ": " (Said::line(said, 240)) } }
            @if let Some(decided) = of(saying) { (decided.assertions()) }
        }
        @if shown.len() > MAX_REASONS { br; span.aside { (left_out(shown.len(), MAX_REASONS)) } }
    }
}

/// Whether the result can fail its case: the scorer is a gate, or it failed to score.
fn can_fail(scorers: &[ScorerRecord], saying: &Saying) -> bool {
    let is_gate = scorer(scorers, saying).is_some_and(|it| it.spec.severity == Severity::Gate);
    is_gate || saying.status == Status::Error
}

/// The score, or why there is none.
fn said_score(scorers: &[ScorerRecord], saying: &Saying) -> String {
    let threshold = scorer(scorers, saying).and_then(|it| it.spec.policy().threshold());
    match saying.score {
        Some(score) => figure::score_beside(score, threshold),
        None => saying.status.as_str().to_owned(),
    }
}

/// How many of this many are not shown.
fn left_out(all: usize, shown: usize) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}
