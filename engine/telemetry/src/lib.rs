//! Metrics and evaluation events of runs through OpenTelemetry, sent to a collector over OTLP, HTTP or gRPC: a
//! [`Sink`](scorebox::run::Sink) of run events for any program that embeds scorebox. Prints nothing, and decides
//! nothing about a run.
//!
//! - `settings`: what the standard variables request.
//! - `address`: whether a collector's address is one that can be sent to.
//! - `attributes`: what the variables define about the program that exports.
//! - `transport`: the OTLP exporters, by protocol, with their certificates and time-outs.
//! - `rejected`: which items a collector rejects although it answers with success.
//! - `delivery`: counts what was handed over, sent and lost; limits what may wait.
//! - `exporting`: the exporters, counted, on their own runtime.
//! - `instruments`: the metrics, and which parts of an event they count.
//! - `evaluation`: a score as an event of the conventions for generative AI.
//! - `telemetry`: all of these in one value, from start to end.
//! - `error`: why telemetry cannot start.
//!
//! The variables of OpenTelemetry (`OTEL_…`) define where to export and how; `docs/telemetry.md` lists them. The crates
//! of OpenTelemetry read most of them themselves.
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
//! - **Invariant:** a collector that does not answer makes no run fail, and delays one at most for the time-out of an
//!   export, and only if the program allows it.
//! - **Invariant:** no message contains a header or an address: both may contain secrets.

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
