//! For tests: a scorer that attacks the engine from each of its exports, one way at a time, as ordered. Written against
//! the bare contract, because an SDK would prevent most of this.
//!
//! - `orders`: which attack, in which export.
//! - `assault`: attacks that work in any export: computing, recursing, memory, crashes, logs.
//! - `letters`: texts that are too long, not JSON, or written for a terminal.
//! - `answers`: false answers from each export.
//! - `traces`: what a score could leave for the next one, and whether it finds any.

// Natively there is nothing to attack.
#![cfg(target_arch = "wasm32")]

mod answers;
mod assault;
mod letters;
mod orders;
mod traces;

#[allow(missing_docs, unsafe_code, clippy::all)]
mod contract {
    wit_bindgen::generate!({
        path: "../../../wit/0.1.0",
        world: "summarizing-scorer",
    });
    export!(Attacker with_types_in self);
    use super::Attacker;
}

use contract::{
    exports::scorebox::scorer::{
        scoring::{self, ScoreResult, ScorerError, ScorerInfo, ScorerInput},
        summary::{self, Scored},
    },
    scorebox::scorer::types,
};
use orders::Order;

struct Attacker;

impl scoring::Guest for Attacker {
    fn describe() -> ScorerInfo {
        let order = Order::of_describe();
        assault::carry_out(&order);
        answers::info(&order)
    }

    fn configure(config: String) -> Result<(), String> {
        let order = Order::of_configure(config);
        assault::carry_out(&order);
        answers::configured(&order)
    }

    fn score(_input: ScorerInput) -> Result<ScoreResult, ScorerError> {
        let order = Order::of_score();
        assault::carry_out(&order);
        answers::result(&order)
    }
}

impl summary::Guest for Attacker {
    fn summarize(scores: Vec<Scored>) -> Result<String, String> {
        let order = Order::of_summarize();
        assault::carry_out(&order);
        answers::summary(&order, &scores)
    }
}
