//! Shows how others can check a page: what must be the same, which commands produce it, and what differs between
//! machines.

use maud::{Markup, html};

use super::{Card, CardCommand, CardExample, reading::Scores};
use crate::{
    figure,
    said::{Said, plain},
    word,
};

/// The most bytes of a command line.
const MAX_LINE: usize = 8 << 10;
/// The most bytes of a configuration that is shown.
const MAX_CONFIG: usize = 32 << 10;

/// The figures of this machine; empty on a page without them.
pub(super) fn machine(card: &Card<'_>, scores: Option<&Scores>) -> Markup {
    let Some(machine) = card.machine else { return html! {} };
    let example = match card.example {
        CardExample::Scored(answers) => answers.answer.duration_ms,
        _ => None,
    };
    let mean = scores.and_then(|it| it.figures.mean_duration_ms);
    html! {
        section id="machine" {
            h2 { "On this machine" }
            p.aside { "These figures differ on another machine and from one time to the next. All others on this page repeat." }
            dl.list {
                dt { "machine" } dd { (Said::line(machine, 200)) }
                @if let Some(took) = example { dt { "example" } dd { (figure::duration(took)) } }
                @if let (Some(mean), Some(scores)) = (mean, scores) {
                    dt { "a score" } dd { (figure::duration(mean)) " on average, at most " (figure::duration(scores.costs.most_ms)) }
                }
                @if let Some(scores) = scores { (run(card, scores)) }
            }
        }
    }
}

/// When the run took place, and its root if others can get the run.
fn run(card: &Card<'_>, scores: &Scores) -> Markup {
    let created = scores.run.spec.created_at_ms;
    let took = scores.run.finished_at_ms.map(|end| end.saturating_sub(created).max(0) as f64);
    let is_kept = card.scored.is_some_and(|scored| scored.is_kept);
    html! {
        dt { "scored" } dd { (word::moment(created)) @if let Some(took) = took { ", in " (figure::duration(took)) } }
        @if is_kept {
            dt { "run" } dd { (scores.run.spec.id.as_str()) }
            @if let Some(root) = &scores.run.root { dt { "root" } dd { code { (root) } } }
        }
    }
}

/// What must be the same, and the command lines.
pub(super) fn checking(card: &Card<'_>, scores: Option<&Scores>) -> Markup {
    html! {
        section id="check" {
            h2 { "Check this page" }
            p {
                "The component, what it reads and needs, its example, its scores and their figures are the same wherever they are computed. \
                 With other bytes of component, configuration or cases they are another scorer's, or of other data."
            }
            dl.list.later {
                dt { "component" } dd { code { "sha256:" (card.component.digest) } }
                @if let (Some(scores), Some(scored)) = (scores, card.scored) {
                    dt { "configuration" } dd { code { "sha256:" (scores.scorer.spec.config_digest) } }
                    @for file in scored.files { dt { "cases" } dd { code { "sha256:" (file.digest) } } }
                    dt { "scores" } dd { code { "sha256:" (scores.digest) } }
                }
                dt { "with" } dd {
                    "scorebox " (env!("CARGO_PKG_VERSION")) ", wasmtime " (Said::line(&card.component.wasmtime, 40))
                    "; fuel and memory are those of this version of wasmtime"
                }
            }
            @if let Some(scores) = scores { (of_scores(scores)) }
            h3.later { "Command lines" }
            @for command in card.commands { (line(command)) }
        }
    }
}

/// The digest of the scores, what prevents it from being reproduced, and the configuration.
fn of_scores(scores: &Scores) -> Markup {
    const TIMED_OUT: &str = "timed-out";
    let config = &scores.scorer.spec.config_json;
    html! {
        p.small.aside {
            "The digest of the scores is of each case's id and input, of status, score, label, reason, meta, assertions, log and kind of error, \
             of component and configuration, and of the answers of judges; not of times and fuel."
        }
        @if scores.errors.iter().any(|errors| errors.kind == TIMED_OUT) {
            p.note.strong { "Some scores ended by the time-out. On a faster or slower machine others may." }
        }
        @if scores.costs.calls > 0 {
            p.note { "The scorer asks a judge: the scores repeat with the same recorded answers, and not if a model is asked again." }
        }
        div.part {
            h3 { "The configuration" }
            pre.block tabindex="0" aria-label="The configuration" { (Said::most(config, MAX_CONFIG)) }
        }
    }
}

fn line(command: &CardCommand) -> Markup {
    html! {
        div.part {
            h3 { (Said::line(&command.what, 400)) }
            pre.block tabindex="0" aria-label=(plain(&command.what, 200)) { (Said::most(&command.line, MAX_LINE)) }
        }
    }
}
