//! Shows what a scorer reports about itself, and the properties of its component. Checks neither.

use maud::{Markup, html};
use scorebox::contract::{Field, Fields, Scale, ScorerInfo};

use super::{CardComponent, CardKey};
use crate::{
    figure,
    said::{Said, plain},
    word,
};

/// The most bytes of a description.
const MAX_DESCRIPTION: usize = 8 << 10;
/// The most bytes of the meaning of a key.
const MAX_MEANING: usize = 2 << 10;
/// The most bytes of a name, a default or a possible value of a key.
const MAX_VALUE: usize = 400;
/// The most keys that are shown.
const MAX_KEYS: usize = 100;
/// The most values of one key that are shown with their meanings.
const MAX_CHOICES: usize = 40;
/// The most names of imports that are shown.
const MAX_IMPORTS: usize = 100;

/// The scorer's name, and what it scores.
pub(super) fn heading(info: &ScorerInfo) -> Markup {
    html! {
        div.title {
            h1 { (Said::line(&info.name, 200)) }
            span.aside { (Said::line(&info.id, 100)) " " (Said::line(&info.version, 100)) }
        }
        p.about { (Said::most(&info.description, MAX_DESCRIPTION)) }
    }
}

/// What the scorer reads and needs, and its component.
pub(super) fn component(info: &ScorerInfo, component: &CardComponent) -> Markup {
    html! {
        section {
            h2 { "What it is" }
            dl.list {
                dt { "scores" } dd { (scale(info.scale)) ", " (info.direction.as_str()) }
                dt { "counts as" } dd {
                    (info.severity.as_str())
                    @if let Some(threshold) = word::threshold(info.threshold, info.direction) { ", passes from its threshold: " (threshold) }
                }
                dt { "reads" } dd { (reads(info.reads)) }
                dt { "needs" } dd {
                    @if component.grants.is_empty() { "no grant: it sees what it reads of a case, and nothing else" }
                    @for (index, (grant, gives)) in component.grants.iter().enumerate() {
                        @if index > 0 { br; }
                        "the grant " code { (grant) } ": " (gives)
                    }
                }
                dt { "imports" } dd {
                    @if component.imports.is_empty() { "nothing" }
                    @for (index, import) in component.imports.iter().take(MAX_IMPORTS).enumerate() {
                        @if index > 0 { br; }
                        code { (Said::line(import, MAX_VALUE)) }
                    }
                    @if component.imports.len() > MAX_IMPORTS { br; "… " (component.imports.len() - MAX_IMPORTS) " more" }
                }
                dt { "from" } dd { (Said::line(&component.origin, MAX_VALUE)) }
                @if let Some(signer) = &component.signer { dt { "signed by" } dd { (Said::line(signer, MAX_VALUE)) } }
                dt { "component" } dd { code { "sha256:" (component.digest) } }
                dt { "size" } dd { (figure::counted(component.bytes, "byte", "bytes")) }
                dt { "contract" } dd { (Said::line(&component.contract, 40)) }
            }
        }
    }
}

/// The keys of the scorer's configuration.
pub(super) fn configuration(keys: &[CardKey]) -> Markup {
    let has_ranges = keys.iter().any(|key| !key.range.is_empty());
    html! {
        section {
            h2 { "Configuration" }
            @if keys.is_empty() {
                p.aside { "It has no keys to set." }
            } @else {
                div.scrolls tabindex="0" role="region" aria-label="Keys of the configuration" {
                    table {
                        thead { tr {
                            th scope="col" { "key" } th scope="col" { "value" }
                            @if has_ranges { th scope="col" { "range" } }
                            th scope="col" { "default" } th scope="col" { "meaning" }
                        } }
                        tbody { @for key in keys.iter().take(MAX_KEYS) { (row(key, has_ranges)) } }
                    }
                }
                @if keys.len() > MAX_KEYS { p.small.aside { "… " (keys.len() - MAX_KEYS) " more keys" } }
            }
        }
    }
}

fn row(key: &CardKey, has_ranges: bool) -> Markup {
    html! {
        tr {
            th.name scope="row" title=(plain(&key.name, 200)) { (Said::line(&key.name, 200)) }
            td.name { (Said::line(&key.kind, MAX_VALUE)) }
            @if has_ranges { td { (Said::line(&key.range, MAX_VALUE)) } }
            td.name {
                @match key.default.as_str() {
                    "" => span.none { "–" },
                    "required" => b { "required" },
                    default => code { (Said::line(default, MAX_VALUE)) },
                }
            }
            td.words {
                (Said::most(&key.description, MAX_MEANING))
                @for (value, meaning) in key.choices.iter().take(MAX_CHOICES) {
                    br; code { (Said::line(value, MAX_VALUE)) } ": " (Said::line(meaning, MAX_VALUE))
                }
                @if key.choices.len() > MAX_CHOICES { br; "… " (key.choices.len() - MAX_CHOICES) " more values" }
            }
        }
    }
}

fn scale(scale: Scale) -> &'static str {
    match scale {
        Scale::Unit => "0 to 1",
        Scale::Points => "points from 0 up",
    }
}

/// `output, groundTruth`: the keys of a case that the scorer can read.
fn reads(fields: Fields) -> String {
    if fields == Fields::ALL {
        return "the whole case".to_owned();
    }
    let keys: Vec<&str> = std::iter::once("output").chain(fields.iter().map(Field::key)).collect();
    keys.join(", ")
}
