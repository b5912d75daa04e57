//! Whether metrics and scores go to an OpenTelemetry collector, and the messages about it. The crate
//! `scorebox-telemetry` does the export itself.

use std::{path::Path, sync::Arc};

use scorebox::run::{Control, Sink};
use scorebox_telemetry::{Telemetry, TelemetryError};

use crate::{failure::Failure, report, waiting::Waiting, words};

/// Export to a collector.
#[derive(Debug, clap::Args)]
pub(crate) struct TelemetryArguments {
    /// Send metrics and scores to an OpenTelemetry collector [default: if OTEL_EXPORTER_OTLP_ENDPOINT is set, to that
    /// one; without URL: to http://localhost:4318]
    #[arg(
        long,
        value_name = "URL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = "Output"
    )]
    otlp: Option<String>,
}

impl TelemetryArguments {
    /// Refuses a file whose name is an address: the user meant it for an `--otlp` without a value.
    pub(crate) fn must_have_its_address(&self, files: &[&Path]) -> Result<(), Failure> {
        let is_address = |file: &&&Path| {
            ["http://", "https://"]
                .iter()
                .any(|scheme| file.to_str().is_some_and(|file| file.starts_with(scheme)))
        };
        let address = files.iter().find(is_address).filter(|_| self.otlp.as_deref() == Some(""));
        address.map_or(Ok(()), |_| {
            Err(Failure::new("the address after `--otlp` is taken for a file of cases")
                .hint("write it with an equals sign and no space: --otlp=URL"))
        })
    }

    /// Begins the export, if the user or the environment requests it. `waits`: whether a run may wait for the
    /// collector; `is_offline`: whether nothing may be sent.
    pub(crate) fn start(&self, waits: bool, is_offline: bool) -> Result<Exporting, Failure> {
        if is_offline && self.otlp.is_some() {
            return Err(Failure::new("--otlp sends to a collector, and --offline uses no network")
                .hint("leave out one of them"));
        }
        if is_offline {
            return Ok(Exporting(None));
        }
        if self.otlp.is_none() && !scorebox_telemetry::is_asked_for() {
            return Ok(Exporting(None));
        }
        let mut builder = Telemetry::builder();
        match self.otlp.as_deref() {
            None => builder = builder.only_if_asked_for(),
            Some("") => {}
            Some(url) => builder = builder.endpoint(url),
        }
        if waits {
            builder = builder.waiting_for_the_collector();
        }
        match builder.start() {
            Ok(telemetry) => {
                telemetry.warnings().iter().for_each(|warning| words::warn(warning));
                Ok(Exporting(Some(telemetry)))
            }
            Err(error) if self.otlp.is_some() => {
                let failure = Failure::new(error.to_string());
                Err(match what_to_do(&error) {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                })
            }
            // The environment may be meant for other programs.
            Err(error) => {
                words::warn(&format!("nothing is sent to OpenTelemetry: {error}"));
                what_to_do(&error).into_iter().for_each(words::hint);
                Ok(Exporting(None))
            }
        }
    }
}

/// How to set what an address cannot contain.
fn what_to_do(error: &TelemetryError) -> Option<&'static str> {
    match error {
        TelemetryError::Credentials { .. } => {
            Some("send it as a header: OTEL_EXPORTER_OTLP_HEADERS=authorization=Basic%20…")
        }
        TelemetryError::Query { .. } => Some(
            "name the whole address of each signal: OTEL_EXPORTER_OTLP_LOGS_ENDPOINT and \
             OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, without --otlp=URL",
        ),
        TelemetryError::Endpoint { .. } | TelemetryError::Host { .. } => {
            Some("write the whole address, with http:// or https://, as in http://localhost:4318")
        }
        _ => None,
    }
}

/// A running export, if there is one.
#[derive(Debug)]
pub(crate) struct Exporting(Option<Telemetry>);

impl Exporting {
    /// The sink for the run's events; it also reports the cases that wait.
    pub(crate) fn sink(&self, control: &Arc<Control>) -> Option<impl Sink + use<>> {
        let telemetry = self.0.as_ref()?;
        let control = Arc::clone(control);
        telemetry.watch_queue(move || {
            let progress = control.progress();
            progress.cases_read.saturating_sub(progress.cases_done + progress.cases_finished_before)
        });
        Some(telemetry.sink())
    }

    /// Sends the remaining data, within its time limit, and warns if some did not arrive.
    pub(crate) fn end(self) {
        let Some(telemetry) = self.0 else { return };
        let waiting = Waiting::on("sending the last scores to the OpenTelemetry collector");
        let delivered = telemetry.end();
        drop(waiting);
        if delivered.is_complete() {
            return;
        }
        let mut lost = Vec::new();
        if delivered.events_lost() > 0 {
            let of = report::counted(delivered.events, "score event", "score events");
            lost.push(format!("{} of {of}", report::count(delivered.events_lost())));
        }
        if delivered.metrics_lost {
            lost.push("the metrics".to_owned());
        }
        let why = delivered.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        words::warn(&format!(
            "{} did not reach the OpenTelemetry collector{why}",
            lost.join(" and ")
        ));
    }
}
