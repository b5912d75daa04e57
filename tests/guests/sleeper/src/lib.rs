//! For tests: a scorer that waits inside a host call, where neither fuel nor the epoch ends it. It imports WASI's
//! clocks and random numbers and reports what it gets; so it also shows what happens to a component that cannot be
//! frozen.

use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
use serde::Deserialize;

#[allow(missing_docs, unsafe_code, clippy::all)]
mod wasi {
    wit_bindgen::generate!({
        inline: "
            package test:sleeper;
            world sleeper {
                import wasi:clocks/monotonic-clock@0.2.0;
                import wasi:clocks/wall-clock@0.2.0;
                import wasi:random/random@0.2.0;
                import wasi:random/insecure-seed@0.2.0;
            }
            package wasi:io@0.2.0 {
                interface poll { resource pollable { block: func(); } }
            }
            package wasi:clocks@0.2.0 {
                interface monotonic-clock {
                    use wasi:io/poll@0.2.0.{pollable};
                    now: func() -> u64;
                    subscribe-duration: func(when: u64) -> pollable;
                }
                interface wall-clock {
                    record datetime { seconds: u64, nanoseconds: u32 }
                    now: func() -> datetime;
                }
            }
            package wasi:random@0.2.0 {
                interface random { get-random-u64: func() -> u64; }
                interface insecure-seed { insecure-seed: func() -> tuple<u64, u64>; }
            }
        ",
        generate_all,
    });
}

/// Waits inside a host call, then scores 1 and reports the time and what is random.
#[derive(Deserialize, JsonSchema)]
struct Sleeper {
    /// How long to wait, in milliseconds; for ever if the number of nanoseconds overflows.
    #[serde(default)]
    ms: u64,
}

impl Scorer for Sleeper {
    type Config = Self;
    const INFO: Info = Info::new("sleeper", "Sleeper", env!("CARGO_PKG_VERSION"));

    fn new(config: Self) -> Result<Self, ConfigError> {
        Ok(config)
    }

    fn score(&self, _case: &Case) -> Result<Score, ScoreError> {
        use wasi::wasi::{
            clocks::{monotonic_clock, wall_clock},
            random::{insecure_seed, random},
        };
        if self.ms > 0 {
            monotonic_clock::subscribe_duration(self.ms.saturating_mul(1_000_000)).block();
        }
        let (clock, seed) = (wall_clock::now(), insecure_seed::insecure_seed());
        Ok(Score::new(1.0).reason(format!(
            "it is {}.{:09} s, and {} then {} ns on; random numbers are {}, {} and {:?}",
            clock.seconds,
            clock.nanoseconds,
            monotonic_clock::now(),
            monotonic_clock::now(),
            random::get_random_u64(),
            random::get_random_u64(),
            seed,
        )))
    }
}

scorebox_sdk::export!(Sleeper);
