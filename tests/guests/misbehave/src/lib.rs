//! For tests: a scorer that does one bad thing, which its configuration names, and otherwise behaves.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, log, schemars,
};
use serde::Deserialize;

/// Does one bad thing, which its configuration names.
#[derive(Deserialize, JsonSchema)]
struct Misbehave {
    /// What to do in `score`.
    #[serde(default)]
    then: Deed,
    /// What to do in `configure`.
    #[serde(default)]
    first: Deed,
    /// How much of it: bytes, lines, levels.
    #[serde(default)]
    amount: usize,
    /// The score to give.
    #[serde(default)]
    score: Number,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Deed {
    #[default]
    Nothing,
    Panic,
    Fail,
    NotApplicable,
    InvalidInput,
    Spin,
    Recurse,
    TakeMemory,
    LongReason,
    LongMeta,
    ManyAssertions,
    Log,
    /// Counts its calls, and gives the count as the score's reason.
    KeepState,
    /// Gives the parts of the case that it sees as the reason.
    Tell,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Number {
    #[default]
    One,
    #[serde(rename = "not-a-number")]
    Nan,
    Infinite,
    MinusZero,
    Two,
    Negative,
}

static CALLS: AtomicU64 = AtomicU64::new(0);

impl Scorer for Misbehave {
    type Config = Self;
    const INFO: Info = Info::new("misbehave", "Misbehave", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::METADATA));

    fn new(config: Self) -> Result<Self, ConfigError> {
        match config.first {
            Deed::Fail => return Err(ConfigError::new("first", "was told to fail")),
            deed => config.act(deed).map_err(|error| ConfigError::whole(error.message()))?,
        };
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        if self.then == Deed::Tell {
            let input = case.input().map(|part| part.json().to_owned());
            let metadata = case.metadata().map(|part| part.json().to_owned());
            return Ok(Score::new(1.0).reason(format!("{input:?} {metadata:?}")));
        }
        self.act(self.then)
    }
}

impl Misbehave {
    fn act(&self, deed: Deed) -> Result<Score, ScoreError> {
        let score = Score::new(self.score.value());
        Ok(match deed {
            Deed::Nothing | Deed::Tell => score,
            Deed::Panic => panic!("was told to panic"),
            Deed::Fail => return Err(ScoreError::failed("was told to fail")),
            Deed::InvalidInput => return Err(ScoreError::invalid_input("was told to refuse")),
            Deed::NotApplicable => Score::not_applicable("was told not to apply"),
            Deed::Spin => loop {
                CALLS.fetch_add(1, Ordering::Relaxed);
            },
            Deed::Recurse => score.reason(recurse(&Cell::new(0), 1).to_string()),
            Deed::TakeMemory => {
                let taken = vec![1_u8; self.amount];
                score.reason(taken.iter().map(|byte| u64::from(*byte)).sum::<u64>().to_string())
            }
            Deed::LongReason => score.reason("r".repeat(self.amount)),
            Deed::LongMeta => score.meta("m".repeat(self.amount)),
            Deed::ManyAssertions => (0..self.amount).fold(score, |score, number| {
                score.assertion(scorebox_sdk::Assertion::pass(number.to_string(), true))
            }),
            Deed::Log => {
                (0..self.amount).for_each(|number| log::info(format!("line {number}")));
                score
            }
            Deed::KeepState => {
                score.reason((CALLS.fetch_add(1, Ordering::Relaxed) + 1).to_string())
            }
        })
    }
}

impl Number {
    fn value(self) -> f64 {
        match self {
            Number::One => 1.0,
            Number::Nan => f64::NAN,
            Number::Infinite => f64::INFINITY,
            Number::MinusZero => -0.0,
            Number::Two => 2.0,
            Number::Negative => -1.0,
        }
    }
}

/// Recurses until the stack ends; the cell keeps the compiler from turning it into a loop.
#[allow(unconditional_recursion)]
fn recurse(seen: &Cell<u64>, level: u64) -> u64 {
    seen.set(seen.get().wrapping_add(level));
    let inner = Cell::new(seen.get());
    recurse(&inner, level + 1).wrapping_add(inner.get())
}

scorebox_sdk::export!(Misbehave);
