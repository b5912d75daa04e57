//! Metrics and evaluation events of runs through OpenTelemetry, sent to a collector over OTLP, HTTP or gRPC: a
//! [`Sink`](scorebox::run::Sink) of run events for any program that embeds scorebox. Prints nothing, and decides
//! nothing about a run.
//!
//! - `settings`: what the standard variables ask for.
//! - `address`: whether a collector's address is one that can be sent to.
//! - `attributes`: what the variables say about the program that exports.
//! - `transport`: the exporters of OTLP, by protocol, with their certificates and time-outs.
//! - `rejected`: what a collector rejects although it answers with success.
//! - `delivery`: what was handed over, sent and lost; room for what waits.
//! - `exporting`: the exporters, counted, on a runtime of their own.
//! - `instruments`: the metrics, and what of an event counts in which.
//! - `evaluation`: a score as an event of the conventions for generative AI.
//! - `telemetry`: all of it in one value, from the start to the end.
//! - `error`: why there is no telemetry.
//!
//! The variables of OpenTelemetry (`OTEL_…`) say where to and how; `docs/telemetry.md` lists them. Most of them are
//! read by the crates of OpenTelemetry themselves.
//!
//! ```no_run
//! use scorebox::{engine::{Cases, Engine}, suite::Suite};
//! use scorebox_telemetry::Telemetry;
//!
//! # async fn program() -> Result<(), Box<dyn std::error::Error>> {
//! # let engine = Engine::builder().build()?;
//! let telemetry = Telemetry::builder().endpoint("http://localhost:4318").start()?;
//! let suite: Suite = "[scorers.exact-match]".parse()?;
//! let run = engine.run(suite, Cases::file("cases.jsonl")?).sink(telemetry.sink()).start().await?;
//! run.end().await?;
//! let delivered = tokio::task::spawn_blocking(|| telemetry.end()).await?;
//! println!("{} of {} scores arrived", delivered.events_sent, delivered.events);
//! # Ok(())
//! # }
//! ```
//!
//! - **Invariant:** a collector that does not answer fails no run, and holds one up for the time-out of an export at
//!   most, and only if the program lets it.
//! - **Invariant:** no message has a header or an address in it: both may hold secrets.

#![warn(missing_debug_implementations)]

mod address;
mod attributes;
mod delivery;
mod error;
mod evaluation;
mod exporting;
mod instruments;
mod rejected;
mod settings;
mod telemetry;
mod transport;

pub use delivery::Delivered;
pub use error::TelemetryError;
pub use settings::is_asked_for;
pub use telemetry::{Telemetry, TelemetryBuilder};
