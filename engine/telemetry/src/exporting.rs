//! The exporters of OTLP, counted: each export has a time-out, and runs on the runtime of the telemetry, whatever thread
//! of OpenTelemetry asks for it.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    logs::{LogBatch, LogExporter},
    metrics::{Temporality, data::ResourceMetrics, exporter::PushMetricExporter},
};
use scorebox_connections::certificate_fault_in_words;
use tokio::runtime::Handle;

use crate::{delivery::Delivery, transport::refused_certificate};

/// What an exporter has beyond its time-out to say itself why it failed.
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
    /// Exports so many items; the outcome is counted, unless the delivery is closed before there is one.
    async fn export(
        &self,
        items: u64,
        export: impl Future<Output = OTelSdkResult>,
    ) -> OTelSdkResult {
        // A time-out needs a runtime when it is made, too.
        let limited = async { tokio::time::timeout(self.timeout + GRACE, export).await };
        let Some(limited) = self.until_closed(limited).await else {
            return Err(OTelSdkError::AlreadyShutdown);
        };
        let outcome = limited.unwrap_or(Err(OTelSdkError::Timeout(self.timeout)));
        self.delivery.settle(items, outcome.as_ref().copied().map_err(words));
        outcome
    }

    /// Runs a future of the runtime on another thread. It is never polled once the delivery is closed: the runtime may be
    /// gone then, and timers of one that is gone panic.
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

/// What went wrong. The messages of the exporters have statuses and codes, and no answer of the collector.
fn words(error: &OTelSdkError) -> String {
    match error {
        OTelSdkError::Timeout(after) => format!("no answer within {} ms", after.as_millis()),
        // The exporter over gRPC hands on no type.
        OTelSdkError::InternalFailure(message) => match certificate_fault_in_words(message) {
            Some(fault) => refused_certificate(fault).to_owned(),
            None => message.clone(),
        },
        OTelSdkError::AlreadyShutdown => "the export had ended".to_owned(),
    }
}

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
