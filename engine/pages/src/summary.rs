//! Shows what a run was, and its outcome: its heading, its verdict, its scorers as a table and as plots, and what
//! exactly ran. For the report and for the server's page. Reads no database.

use maud::{Markup, html};
use scorebox::{
    reports::{skipped_lines, unfinished},
    stats::{Interval, IntervalMethod},
    store::{RunRecord, ScorerRecord, SummaryRecord},
};

use crate::{
    figure,
    figures::{Figures, Repeated, ScorerFigures},
    plot,
    said::{Said, readable},
    word,
};

/// The most bytes of a document (a suite, a configuration) that are shown.
const MAX_DOCUMENT: usize = 32 << 10;
/// The most bytes of the configurations and descriptions of all scorers of a run that are shown.
const MAX_OF_SCORERS: usize = 512 << 10;
/// The most bytes of a description that are shown.
const MAX_DESCRIPTION: usize = 4000;

/// The suite's name, or the run's id if an older scorebox stored no name.
pub(crate) fn suite(run: &RunRecord) -> &str {
    run.spec.suite_name.as_deref().unwrap_or(run.spec.id.as_str())
}

/// When the run took place, with which versions, and how it ended.
pub(crate) fn facts(run: &RunRecord) -> Markup {
    let spec = &run.spec;
    let took = run.finished_at_ms.map(|end| (end.saturating_sub(spec.created_at_ms)).max(0) as f64);
    html! {
        ul.facts {
            li { "run " b { (spec.id.as_str()) } }
            li { (word::moment(spec.created_at_ms)) }
            @if let Some(took) = took { li { "took " b { (figure::duration(took)) } } }
            li { "scorebox " b { (Said::line(&spec.engine_version, 40)) } }
            @if let Some(root) = &run.root { li { "root " code title=(root) { (root.short()) } } }
        }
        @match (unfinished(run), &run.state_reason) {
            (Some(why), _) => p.note.strong { "This is not the whole run: " (Said::line(&why, 600)) },
            (None, Some(why)) => p.note.strong { (Said::line(why, 600)) },
            (None, None) => {}
        }
        @if let Some(skipped) = skipped_lines(run) { p.note.strong { "Not shown here: " (skipped) "." } }
    }
}

/// How many lines of the run's cases were skipped, below its state.
pub(crate) fn skipped(run: &RunRecord) -> Markup {
    html! {
        @if run.cases_bad > 0 {
            br; span.small.aside { (figure::counted(run.cases_bad, "line skipped", "lines skipped")) }
        }
    }
}

/// The parts of a run's cases, each with the class that has its colour; a pass with regressions is drawn as a pass.
pub(crate) fn drawn(figures: &Figures) -> [(&'static str, u64); 5] {
    [
        ("passed", figures.passed),
        ("failed", figures.failed),
        ("errored", figures.errored),
        ("skipped", figures.skipped),
        ("undecided", figures.incomplete),
    ]
}

/// The same with regressions separately, and with their names.
fn parts(figures: &Figures) -> Vec<(&'static str, u64, &'static str)> {
    let parts = [
        ("passed", figures.passed.saturating_sub(figures.regressed), "passed"),
        ("regressed", figures.regressed, "passed with regressions"),
        ("failed", figures.failed, "failed"),
        ("errored", figures.errored, "errored"),
        ("skipped", figures.skipped, "skipped"),
        ("undecided", figures.incomplete, "incomplete"),
    ];
    parts.into_iter().filter(|(_, count, _)| *count > 0).collect()
}

/// `2 passed, 3 failed`.
pub(crate) fn said(figures: &Figures) -> String {
    let parts = parts(figures);
    let said = parts.iter().map(|(_, count, what)| format!("{} {what}", figure::count(*count)));
    said.collect::<Vec<_>>().join(", ")
}

/// The verdict of a run, as text, a bar and a legend.
pub(crate) fn went(figures: &Figures) -> Markup {
    let judged = figures.judged();
    html! {
        div.went {
            @if figures.decides {
                p.says {
                    span.big { (figure::count(figures.passed)) " of " (figure::count(judged)) } " "
                    span { "passed" } " "
                    @if let Some(rate) = figures.pass_rate {
                        span.aside.figure {
                            (figure::percent(rate.rate)) "; 95 % interval " (figure::percent_interval(rate.rate, rate.low, rate.high))
                        }
                    }
                }
                (plot::shares(&drawn(figures), &said(figures)))
                ul.key {
                    @for (class, count, what) in parts(figures) {
                        li { span class={ "word " (class) } { (what) } " " b { (figure::count(count)) } }
                    }
                }
                @for (scorer, why) in figures.scorers.iter().filter_map(|it| Some((it, it.idle.as_ref()?))) {
                    p.note.strong { b { (Said::line(&scorer.id, 80)) } ", which can fail a case: " (why) }
                }
                @if figures.incomplete > 0 { p.small.aside { (incomplete(figures)) } }
            } @else {
                p.says {
                    span.big { (figure::count(figures.cases())) } " "
                    span { @if figures.cases() == 1 { "case" } @else { "cases" } } " "
                    span.aside { "No scorer decides whether they pass." }
                }
                @if figures.regressed > 0 {
                    p.note { (figure::counted(figures.regressed, "case has", "cases have")) " regressions, which count as failures with " code { "--strict" } "." }
                }
            }
            @if let Some(repeated) = &figures.repeated { (attempts(repeated)) }
            @let means = [
                ("mean score", figures.mean_score.map(figure::score)),
                ("mean latency", figures.mean_latency_ms.map(figure::duration)),
                ("mean cost", figures.mean_cost_usd.map(figure::dollars)),
            ];
            @if means.iter().any(|(_, mean)| mean.is_some()) {
                ul.facts {
                    @for (what, mean) in means { @if let Some(mean) = mean { li { (what) " " b { (mean) } } } }
                }
            }
        }
    }
}

/// Notes that cases were tried more than once, with the figures of the attempts.
fn attempts(repeated: &Repeated) -> Markup {
    let chance = |of: &str, k: u64, chance: Option<f64>| {
        chance.map(|chance| {
            format!("{of}{} {}", figure::count(k), figure::score_beside(chance, None))
        })
    };
    let figures = |&(k, one, all): &(u64, Option<f64>, Option<f64>)| {
        [chance("pass@", k, one), chance("pass^", k, all)]
    };
    let figures: Vec<String> = repeated.draws.iter().flat_map(figures).flatten().collect();
    html! {
        p.small.aside {
            (figure::counted(repeated.attempts, "attempt", "attempts")) " at " (figure::counted(repeated.cases, "case", "cases"))
            ": each attempt counts, and intervals are of cases."
        }
        @if !figures.is_empty() { ul.facts { @for figure in figures { li { (figure) } } } }
    }
}

/// How incomplete cases count.
fn incomplete(figures: &Figures) -> String {
    let already = [(figures.failed_already, "failed"), (figures.errored_already, "errored")];
    let already = already.into_iter().filter(|(number, _)| *number > 0);
    let already: Vec<String> =
        already.map(|(number, what)| format!("{} {what} already", figure::count(number))).collect();
    let already = match already.is_empty() {
        true => String::new(),
        false => format!(" Of them {}.", already.join(", ")),
    };
    format!("Incomplete cases, which lack a row of a scorer, do not count in the rate.{already}")
}

/// The mean of a scorer with its interval below it.
pub(crate) fn mean(of: &ScorerFigures) -> Markup {
    html! {
        @match of.mean { Some(mean) => (figure::mean_beside(mean, of.threshold)), None => span.none { "–" } }
        @if let Some(it) = of.interval {
            br; span.small.aside title=(format!("95 % interval: {}", method(it))) { (figure::range(it.low, it.high)) }
        }
    }
}

/// How an interval was computed.
fn method(interval: Interval) -> &'static str {
    match interval.method {
        IntervalMethod::Wilson => "Wilson's, of a rate",
        IntervalMethod::ClusteredWilson => {
            "Wilson's, of a rate, with each case as a cluster of its attempts"
        }
        IntervalMethod::StudentT => "Student's t",
        IntervalMethod::ClusteredT => "Student's t, with each case as a cluster of its attempts",
        IntervalMethod::Bootstrap => "drawn again from fewer than 30 cases",
    }
}

/// The scorers of a run, one on each line. `link` returns where a scorer's name leads.
pub(crate) fn scorers(figures: &[ScorerFigures], link: impl Fn(&str) -> Option<String>) -> Markup {
    let number = |value: Option<f64>| match value {
        Some(value) => html! { td.number { (figure::score(value)) } },
        None => html! { td.number { span.none { "–" } } },
    };
    let end = |scorer: &ScorerFigures, value: Option<f64>| match value {
        Some(value) => html! { td.number { (figure::score_beside(value, scorer.threshold)) } },
        None => number(None),
    };
    let count = |value: u64| match value {
        0 => html! { td.number { span.none { "0" } } },
        value => html! { td.number { (figure::count(value)) } },
    };
    // A count that is zero everywhere needs no column.
    type Count = fn(&ScorerFigures) -> u64;
    let counts: [(&str, Count); 6] = [
        ("scored", |it| it.count),
        ("failed", |it| it.failed),
        ("regressed", |it| it.regressed),
        ("errors", |it| it.errors),
        ("n/a", |it| it.not_applicable),
        ("skipped", |it| it.skipped),
    ];
    let happened = |(index, (_, of)): &(usize, (&str, Count))| {
        *index == 0 || figures.iter().any(|scorer| of(scorer) > 0)
    };
    let counts: Vec<(&str, Count)> =
        counts.into_iter().enumerate().filter(happened).map(|(_, it)| it).collect();
    html! {
        div.scrolls tabindex="0" role="group" aria-label="Scorers" {
            table {
                thead { tr {
                    th scope="col" { "scorer" } th scope="col" { "counts as" } th scope="col" { "distribution" }
                    th.number scope="col" { "mean, 95 % interval" }
                    // Important columns come first, because the last ones may be beyond the edge of a narrow screen.
                    @for (title, _) in &counts { th.number scope="col" { (title) } }
                    @for title in ["p50", "min", "max", "stddev"] { th.number scope="col" { (title) } }
                } }
                tbody {
                    @for scorer in figures {
                        tr {
                            th.name scope="row" {
                                @match link(&scorer.id) {
                                    Some(to) => a href=(to) { (Said::line(&scorer.id, 200)) },
                                    None => (Said::line(&scorer.id, 200)),
                                }
                            }
                            td {
                                (scorer.severity.as_str())
                                @if let Some(threshold) = word::threshold(scorer.threshold, scorer.direction) {
                                    br; span.small.aside.keep { (threshold) }
                                }
                            }
                            td { @if scorer.count > 0 { (plot::spark(&scorer.bars())) } @else { span.none { "–" } } }
                            td.number { (mean(scorer)) }
                            @for (_, of) in &counts { (count(of(scorer))) }
                            (number(scorer.p50)) (end(scorer, scorer.min)) (end(scorer, scorer.max)) (number(scorer.stddev))
                        }
                    }
                }
            }
        }
    }
}

/// The distributions of the scorers that have scores.
pub(crate) fn distributions(figures: &[ScorerFigures]) -> Markup {
    html! {
        div.plots {
            @for scorer in figures.iter().filter(|scorer| scorer.count > 0) {
                figure.plot {
                    figcaption {
                        b { (Said::line(&scorer.id, 120)) }
                        span.small.aside.figure {
                            @if let Some(mean) = scorer.mean { "mean " (figure::mean_beside(mean, scorer.threshold)) }
                            @if let Some(it) = scorer.interval { " (" (figure::range(it.low, it.high)) ")" }
                            @if let Some(stddev) = scorer.stddev { ", stddev " (figure::score(stddev)) }
                        }
                    }
                    (plot::distribution(&scorer.bars()))
                }
            }
        }
    }
}

/// What exactly ran: versions, digests, configurations, and the resolved suite.
pub(crate) fn what_ran(
    run: &RunRecord,
    scorers: &[ScorerRecord],
    figures: &[ScorerFigures],
) -> Markup {
    let spec = &run.spec;
    let share = MAX_OF_SCORERS / scorers.len().max(1);
    html! {
        dl.list {
            dt { "run" } dd { (spec.id.as_str()) " " (word::state(run.state)) }
            @if let Some(root) = &run.root { dt { "root" } dd { code { (root) } } }
            dt { "suite" } dd { (Said::line(suite(run), 200)) ", " code { (spec.suite_digest) } }
            dt { "scorebox" } dd { (Said::line(&spec.engine_version, 40)) ", wasmtime " (Said::line(&spec.wasmtime_version, 40)) ", contract " (Said::line(&spec.contract_version, 40)) }
            @if let Some(seed) = &spec.seed { dt { "seed" } dd { (Said::line(seed, 200)) } }
        }
        div {
            @for scorer in scorers {
                @let spec = &scorer.spec;
                @let figures = figures.iter().find(|it| it.id == spec.scorer_id);
                details.fold {
                    summary {
                        b { (Said::line(&spec.scorer_id, 200)) } " "
                        span.small.aside { (Said::line(&spec.component_id, 100)) " " (Said::line(&spec.component_version, 40)) ", " code { (spec.component_digest.short()) } }
                    }
                    div {
                        @if let Some(about) = description(&spec.info_json) { p { (Said::most(&about, MAX_DESCRIPTION.min(share))) } }
                        dl.list {
                            dt { "component" } dd { code { (spec.component_digest) } " from " (Said::line(&spec.component_origin, 400)) }
                            dt { "configuration" } dd { code { (spec.config_digest) } }
                            dt { "scale" } dd { (spec.scale.as_str()) ", " (spec.direction.as_str()) }
                            dt { "weight" } dd { (figure::tick(spec.weight)) @if spec.required { ", required" } }
                            @if let Some(on) = &spec.output_from { dt { "on" } dd { code { (Said::line(on, 400)) } } }
                            @if let Some(nodes) = &spec.nodes_json { dt { "nodes" } dd { code { (Said::line(nodes, 400)) } } }
                            @if let Some(sampling) = &spec.sampling_json { dt { "sampling" } dd { code { (Said::line(sampling, 400)) } } }
                            @if let Some(judge) = &spec.judge_json { dt { "judge" } dd { code { (Said::line(judge, 1000)) } } }
                            @if let Some(fuel) = figures.and_then(|it| it.mean_fuel) { dt { "fuel" } dd { (figure::fuel(fuel)) " a score" } }
                            @if let Some(took) = figures.and_then(|it| it.mean_duration_ms) { dt { "time" } dd { (figure::duration(took)) " a score" } }
                        }
                        pre.block tabindex="0" aria-label="configuration" { (Said::most(&readable(&spec.config_json).0, MAX_DOCUMENT.min(share))) }
                    }
                }
            }
            details.fold {
                summary { "The suite as it was resolved" }
                div { pre.block tabindex="0" { (Said::most(&readable(&spec.suite_json).0, MAX_DOCUMENT)) } }
            }
        }
    }
}

/// The summaries of scorers over all cases.
pub(crate) fn of_the_run(summaries: &[SummaryRecord]) -> Markup {
    html! {
        @for record in summaries {
            h3 { (Said::line(&record.scorer_id, 200)) }
            @match &record.summary_json {
                Some(json) => pre.block tabindex="0" { (Said::most(&readable(json).0, MAX_DOCUMENT)) },
                None => p.note.strong {
                    (Said::line(record.error_kind.as_deref().unwrap_or_default(), 40)) ": "
                    (Said::most(record.error_message.as_deref().unwrap_or_default(), 4000))
                },
            }
        }
    }
}

/// A scorer's own description of what it does.
fn description(info_json: &str) -> Option<String> {
    let info: serde_json::Value = serde_json::from_str(info_json).ok()?;
    info.get("description")?.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
}
