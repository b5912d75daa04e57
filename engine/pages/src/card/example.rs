//! Shows the example that a scorer contains, with its current score. Scores nothing.

use maud::{Markup, html};

use super::{CardAnswers, CardExample};
use crate::{
    figure,
    said::{Said, readable},
};

/// The most bytes of each text.
const MAX_TEXT: usize = 16 << 10;
/// The most bytes of a label or the kind of an error.
const MAX_WORD: usize = 400;

/// The example.
pub(super) fn example(example: &CardExample) -> Markup {
    html! {
        section id="example" {
            h2 { "Example" }
            @match example {
                CardExample::Missing => p.note { "It carries none. What it scores is shown only by its scores of other data." },
                CardExample::NotScored(why) => p.note { "Not scored: " (Said::line(why, 2000)) "." },
                CardExample::Scored(answers) => (scored(answers)),
            }
        }
    }
}

fn scored(answers: &CardAnswers) -> Markup {
    let CardAnswers { answer, .. } = answers;
    html! {
        @if !answers.is_as_promised {
            p.note.strong { "The score is not the one that the scorer promises for its own example." }
        }
        @if !answers.is_twice_the_same {
            p.note.strong { "It was scored twice, with two answers: what this scorer says cannot be repeated." }
        }
        div.beside {
            (document("case", &answers.case))
            (document("configuration", &answers.config))
        }
        dl.list {
            dt { "score" } dd {
                b { @match answer.score { Some(score) => (figure::score(score)), None => (answer.status.as_str()) } }
                @if answers.is_as_promised {
                    ", as the scorer promises"
                } @else {
                    "; the scorer promises "
                    @match answers.promised { Some(score) => (figure::score(score)), None => "not to apply" }
                }
                @if answers.is_twice_the_same { "; scored twice, with the same answer and fuel" }
            }
            @if let Some(label) = &answer.label { dt { "label" } dd { (Said::line(label, MAX_WORD)) } }
            @if let Some(fuel) = answer.fuel { dt { "fuel" } dd { (figure::count(fuel)) } }
            @if let Some(error) = &answer.error {
                dt { "error" } dd { (Said::line(&error.kind, MAX_WORD)) ": " (Said::most(&error.message, MAX_TEXT)) }
            }
        }
        @if let Some(reason) = &answer.reason { (text("reason", reason)) }
        @for (name, json) in [("assertions", &answer.assertions), ("meta", &answer.meta)] {
            @if let Some(json) = json { (document(name, json.get())) }
        }
    }
}

fn document(name: &str, json: &str) -> Markup {
    text(name, &readable(json).0)
}

fn text(name: &str, text: &str) -> Markup {
    html! {
        div.part {
            h3 { (name) }
            pre.block tabindex="0" aria-label=(name) { (Said::most(text, MAX_TEXT)) }
        }
    }
}
