//! Counts the exports of OTLP exporters, gives each a time-out, and runs them on the runtime of the telemetry,
//! whichever OpenTelemetry thread asks for them.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    logs::{LogBatch, LogExporter},
    metrics::{Temporality, data::ResourceMetrics, exporter::PushMetricExporter},
};
use scorebox_connections::certificate_fault_in_words;
use tokio::runtime::Handle;

use crate::{
    delivery::Delivery,
    transport::{OUT_OF_REACH, WITHOUT_TLS, refused_certificate},
};

/// How much longer than its time-out an exporter may take to report why it failed.
const GRACE: Duration = Duration::from_millis(250);

/// An exporter whose exports are counted.
#[derive(Debug)]
pub(crate) struct Counted<E> {
    pub(crate) exporter: E,
    pub(crate) runtime: Handle,
    pub(crate) timeout: Duration,
    pub(crate) delivery: Arc<Delivery>,
}

impl<E> Counted<E> {
    /// Exports this many items and counts the outcome, unless the delivery is closed first.
    async fn export(
        &self,
        items: u64,
        export: impl Future<Output = OTelSdkResult>,
    ) -> OTelSdkResult {
        // A time-out also needs a runtime when it is created.
        let limited = async { tokio::time::timeout(self.timeout + GRACE, export).await };
        let Some(limited) = self.until_closed(limited).await else {
            return Err(OTelSdkError::AlreadyShutdown);
        };
        let outcome = limited.unwrap_or(Err(OTelSdkError::Timeout(self.timeout)));
        self.delivery.settle(items, outcome.as_ref().copied().map_err(words));
        outcome
    }

    /// Runs a future of the runtime on another thread. It is never polled after the delivery is closed: the runtime may
    /// be gone by then, and its timers would panic.
    async fn until_closed<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|context| {
            let polled = self.delivery.unless_closed(|| {
                let _entered = self.runtime.enter();
                future.as_mut().poll(context)
            });
            polled.map_or(Poll::Ready(None), |it| it.map(Some))
        })
        .await
    }
}

/// The reason for a failure. The exporters' messages contain statuses and codes, but no answer of the collector.
fn words(error: &OTelSdkError) -> String {
    match error {
        OTelSdkError::Timeout(after) => format!("no answer within {} ms", after.as_millis()),
        // The gRPC exporter returns no error type.
        OTelSdkError::InternalFailure(message) => match certificate_fault_in_words(message) {
            Some(fault) => refused_certificate(fault).to_owned(),
            None => of_grpc(message).unwrap_or_else(|| message.clone()),
        },
        OTelSdkError::AlreadyShutdown => "the export had ended".to_owned(),
    }
}

/// Why a gRPC collector accepted nothing, from the exporter's message, which comes from four libraries.
fn of_grpc(message: &str) -> Option<String> {
    let (_, status) = message.split_once(GRPC_CODE)?;
    let (code, said) = status.split_once(':').unwrap_or((status, ""));
    Some(match said {
        _ if said.contains(NO_RECORD) => WITHOUT_TLS.to_owned(),
        _ if NO_CONNECTION.iter().any(|words| said.contains(words)) => OUT_OF_REACH.to_owned(),
        _ if said.contains(TRANSPORT) => NOT_GRPC.to_owned(),
        _ => format!("it answered with the gRPC status {code}"),
    })
}

/// The text before the status: `opentelemetry-otlp`, `exporter/tonic`.
const GRPC_CODE: &str = "gRPC code: ";
/// The text for a status that comes from the connection and not from the collector: tonic, `transport/error.rs`.
const TRANSPORT: &str = "transport error";
/// What hyper-util (`client/legacy/connect`) reports if it cannot connect.
const NO_CONNECTION: [&str; 2] = ["tcp connect error", "dns error"];
/// What rustls (`Debug` of `InvalidMessage`) reports if the first byte does not begin a TLS record.
const NO_RECORD: &str = "InvalidContentType";
const NOT_GRPC: &str = "it does not use gRPC at this address, or closed the connection; if it has TLS, its address begins with https://, and if it speaks HTTP, set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf";

impl LogExporter for Counted<opentelemetry_otlp::LogExporter> {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        let records = batch.iter().count() as u64;
        self.export(records, self.exporter.export(batch)).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl PushMetricExporter for Counted<opentelemetry_otlp::MetricExporter> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        self.export(1, self.exporter.export(metrics)).await
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}
