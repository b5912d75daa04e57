//! For tests: a scorer that waits inside a host call, where neither fuel nor the epoch ends it. It
//! imports WASI's clock, so it also shows what becomes of a component that cannot be frozen.

use scorebox_sdk::{Case, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
use serde::Deserialize;

#[allow(missing_docs, unsafe_code, clippy::all)]
mod wasi {
    wit_bindgen::generate!({
        inline: "
            package test:sleeper;
            world sleeper { import wasi:clocks/monotonic-clock@0.2.0; }
            package wasi:io@0.2.0 {
                interface poll { resource pollable { block: func(); } }
            }
            package wasi:clocks@0.2.0 {
                interface monotonic-clock {
                    use wasi:io/poll@0.2.0.{pollable};
                    now: func() -> u64;
                    subscribe-duration: func(when: u64) -> pollable;
                }
            }
        ",
        generate_all,
    });
}

/// Waits inside a host call, then scores 1 and tells the time.
#[derive(Deserialize, JsonSchema)]
struct Sleeper {
    /// How long to wait, in milliseconds.
    #[serde(default)]
    ms: u64,
}

impl Scorer for Sleeper {
    const INFO: Info = Info::new("sleeper", "Sleeper", env!("CARGO_PKG_VERSION"));

    fn score(&self, _case: &Case) -> Result<Score, ScoreError> {
        use wasi::wasi::clocks::monotonic_clock;
        if self.ms > 0 {
            monotonic_clock::subscribe_duration(self.ms * 1_000_000).block();
        }
        Ok(Score::new(1.0).reason(format!("it is {}", monotonic_clock::now())))
    }
}

scorebox_sdk::export!(Sleeper);
