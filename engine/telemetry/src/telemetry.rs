//! Holds all telemetry of a program in one value: started once, passed to runs as a sink, and ended within a bounded
//! time.

use std::{
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use opentelemetry::{
    InstrumentationScope, KeyValue,
    logs::{Logger as _, LoggerProvider as _},
    metrics::{Meter, MeterProvider as _},
};
use opentelemetry_otlp::{LogExporter, MetricExporter};
use opentelemetry_sdk::{
    Resource,
    logs::{BatchConfigBuilder, BatchLogProcessor, SdkLogger, SdkLoggerProvider},
    metrics::{PeriodicReader, SdkMeterProvider},
    resource::TelemetryResourceDetector,
};
use scorebox::run::{ENGINE_VERSION, Event, Refused, Sink};
use tokio::runtime::{Handle, Runtime};

use crate::{
    delivery::{Delivered, Delivery},
    error::TelemetryError,
    evaluation,
    exporting::Counted,
    instruments::Instruments,
    settings::{Route, Settings},
    transport,
};

/// The longest time that the end takes, unless the program waits for the collector and it answers.
const END: Duration = Duration::from_secs(5);
/// The longest time if the collector did not answer the latest export.
const END_OUT_OF_REACH: Duration = Duration::from_secs(1);
/// How often the end checks whether it still has time.
const LOOK: Duration = Duration::from_millis(50);
/// The name of a program that does not name itself.
const SERVICE: &str = "scorebox";

/// Builds telemetry. By default it exports to where the variables of OpenTelemetry define, or to a collector on this
/// machine, and never makes a run wait.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct TelemetryBuilder {
    endpoint: Option<String>,
    waits: bool,
    follows_variables: bool,
}

impl TelemetryBuilder {
    /// The collector's address, instead of the one from the variables: `http://localhost:4318`. Over HTTP the paths
    /// `/v1/logs` and `/v1/metrics` are added.
    pub fn endpoint(self, url: impl Into<String>) -> TelemetryBuilder {
        TelemetryBuilder { endpoint: Some(url.into()), ..self }
    }

    /// Exports only what the variables of OpenTelemetry request: see [`is_asked_for`](crate::is_asked_for).
    pub fn only_if_asked_for(self) -> TelemetryBuilder {
        TelemetryBuilder { follows_variables: true, ..self }
    }

    /// Makes a run wait for a collector that answers, so that no score event is lost. By default, events for which
    /// there is no room are lost and counted, so that a slow collector does not slow down live scoring. The run waits
    /// for a collector that does not answer only once, for the time-out of an export or ten seconds. [`Telemetry::end`]
    /// also waits, as long as the collector answers each export.
    pub fn waiting_for_the_collector(self) -> TelemetryBuilder {
        TelemetryBuilder { waits: true, ..self }
    }

    /// Starts telemetry. Connects to nothing before there is something to send.
    ///
    /// # Errors
    /// If an address or a certificate file cannot be used.
    pub fn start(self) -> Result<Telemetry, TelemetryError> {
        let settings = Settings::of_process(self.endpoint.as_deref(), !self.follows_variables);
        begin(settings, self.waits)
    }
}

fn begin(settings: Settings, waits: bool) -> Result<Telemetry, TelemetryError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("scorebox-telemetry")
        .enable_all()
        .build()
        .map_err(|error| TelemetryError::Prepare(error.to_string()))?;
    let handle = runtime.handle().clone();
    let runtime = Background(Some(runtime));
    let resource = resource(&settings.attributes);
    let entered = handle.enter();
    let log_delivery = delivery(settings.room, settings.logs.as_ref());
    let logs = settings.logs.as_ref().map(|route| {
        let exporter =
            counted(transport::logs(route, &log_delivery)?, route, &handle, &log_delivery);
        Ok(logs(exporter, &settings, resource.clone()))
    });
    let metric_delivery = delivery(u64::MAX, settings.metrics.as_ref());
    let metrics = settings.metrics.as_ref().map(|route| {
        let exporter = transport::metrics(route, &metric_delivery)?;
        let exporter = counted(exporter, route, &handle, &metric_delivery);
        Ok(metrics(exporter, &settings, resource))
    });
    let (logs, metrics) = (logs.transpose()?, metrics.transpose()?);
    drop(entered);
    let room = settings.room;
    Ok(Telemetry {
        waits,
        warnings: settings.warnings,
        going: Some(Going { logs, log_delivery, metrics, metric_delivery, runtime, waits, room }),
    })
}

/// An exporter for this route that uses the runtime, with its items counted.
fn counted<E>(
    exporter: E,
    route: &Route,
    runtime: &Handle,
    delivery: &Arc<Delivery>,
) -> Counted<E> {
    let (runtime, delivery) = (runtime.clone(), Arc::clone(delivery));
    Counted { exporter, runtime, timeout: route.timeout, delivery }
}

/// Turns scores into events, and sends them in batches.
fn logs(
    exporter: Counted<LogExporter>,
    settings: &Settings,
    resource: Resource,
) -> (SdkLogger, SdkLoggerProvider) {
    // The room is limited by our own count, so the queue is large enough to lose nothing.
    let queue = usize::try_from(settings.room).unwrap_or(usize::MAX);
    let batch = usize::try_from(settings.batch).unwrap_or(usize::MAX);
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(queue)
        .with_max_export_batch_size(batch)
        .with_scheduled_delay(settings.delay)
        .build();
    let processor = BatchLogProcessor::builder(exporter).with_batch_config(config).build();
    let provider = SdkLoggerProvider::builder();
    let provider = provider.with_resource(resource).with_log_processor(processor).build();
    (provider.logger_with_scope(scope()), provider)
}

/// Creates the instruments, and sends their values at intervals.
fn metrics(
    exporter: Counted<MetricExporter>,
    settings: &Settings,
    resource: Resource,
) -> (Meter, SdkMeterProvider) {
    let reader = PeriodicReader::builder(exporter).with_interval(settings.interval).build();
    let provider = SdkMeterProvider::builder().with_resource(resource).with_reader(reader).build();
    (provider.meter_with_scope(scope()), provider)
}

fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("scorebox").with_version(ENGINE_VERSION).build()
}

/// The delivery of a signal, if it has a route.
fn delivery(room: u64, route: Option<&Route>) -> Arc<Delivery> {
    Arc::new(Delivery::new(room, route.map(|route| route.timeout).unwrap_or_default()))
}

/// The resource that names this program, unless the attributes give another name.
fn resource(attributes: &[(String, String)]) -> Resource {
    let mut builder = Resource::builder_empty().with_detector(Box::new(TelemetryResourceDetector));
    if !attributes.iter().any(|(name, _)| name == "service.name") {
        builder = builder
            .with_service_name(SERVICE)
            .with_attribute(KeyValue::new("service.version", ENGINE_VERSION));
    }
    let attributes = attributes.iter().cloned().map(|(name, value)| KeyValue::new(name, value));
    builder.with_attributes(attributes).build()
}

/// Running telemetry.
///
/// [`end`](Telemetry::end) sends what is left and returns the outcome. If it is dropped without that, the same happens
/// in the background, but the outcome is not reported.
#[derive(Debug)]
pub struct Telemetry {
    waits: bool,
    warnings: Vec<String>,
    going: Option<Going>,
}

#[derive(Debug)]
struct Going {
    logs: Option<(SdkLogger, SdkLoggerProvider)>,
    log_delivery: Arc<Delivery>,
    metrics: Option<(Meter, SdkMeterProvider)>,
    metric_delivery: Arc<Delivery>,
    runtime: Background,
    waits: bool,
    room: u64,
}

/// A runtime that ends in the background: it may be dropped anywhere, even by asynchronous code.
#[derive(Debug)]
struct Background(Option<Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Telemetry {
    /// Returns a builder of telemetry.
    pub fn builder() -> TelemetryBuilder {
        TelemetryBuilder::default()
    }

    /// A sentence for each variable that is not valid.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The sink for the events of a run. Each run of a program gets its own; their metrics are added up.
    pub fn sink(&self) -> impl Sink + use<> {
        let going = self.going.as_ref();
        let logs = going.and_then(|going| {
            let (logger, _) = going.logs.as_ref()?;
            Some((logger.clone(), Arc::clone(&going.log_delivery)))
        });
        let metrics = going.and_then(|going| going.metrics.as_ref());
        let mut instruments = metrics.map(|(meter, _)| Instruments::new(meter));
        let waits = self.waits;
        move |event: &Event| {
            if let Some(instruments) = &mut instruments {
                instruments.hear(event);
            }
            if let (
                Some((logger, delivery)),
                Event::ScorerFinished(ended) | Event::ScorerFailed(ended),
            ) = (&logs, event)
                && evaluation::has_event(ended)
                && delivery.offer(waits)
            {
                let mut record = logger.create_log_record();
                evaluation::fill(&mut record, ended);
                logger.emit(record);
            }
            Ok::<(), Refused>(())
        }
    }

    /// Reports the length of a queue as `scorebox.queue.length`: `waiting` is called whenever metrics are exported.
    pub fn watch_queue(&self, waiting: impl Fn() -> u64 + Send + Sync + 'static) {
        let metrics = self.going.as_ref().and_then(|going| going.metrics.as_ref());
        if let Some((meter, _)) = metrics {
            // The meter keeps the instrument.
            let _gauge = meter
                .u64_observable_gauge("scorebox.queue.length")
                .with_unit("{case}")
                .with_description("Cases that wait for their scores")
                .with_callback(move |observer| observer.observe(waiting(), &[]))
                .build();
        }
    }

    /// Sends what is left, and returns the outcome. Blocks its thread for at most five seconds; longer if the program
    /// waits for the collector, as long as the collector answers each export within its time-out.
    pub fn end(mut self) -> Delivered {
        self.going.take().map_or_else(Delivered::default, Going::end)
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(going) = self.going.take() {
            // If no thread can be started, the exports under way are dropped, which ends them here, within their own
            // time limits.
            let _ = thread::Builder::new().spawn(|| going.end());
        }
    }
}

impl Going {
    fn end(self) -> Delivered {
        let Going { logs, log_delivery, metrics, metric_delivery, runtime, waits, room } = self;
        let deliveries = [&*log_delivery, &*metric_delivery];
        let is_out_of_reach = deliveries.iter().any(|it| it.is_out_of_reach());
        let patience = if is_out_of_reach { END_OUT_OF_REACH } else { END };
        let begun = Instant::now();
        let has_time = || {
            let is_awaited = waits && deliveries.iter().any(|it| it.is_answering(begun));
            is_awaited || begun.elapsed() < patience
        };
        // The crates of OpenTelemetry ignore a time-out that is set here, or have their own, which is too short.
        let logs = logs.map(|(_, provider)| {
            ending(move || {
                // The exporter of scores counts whether they arrived.
                let _ = provider.shutdown_with_timeout(Duration::MAX);
            })
        });
        let metrics = metrics.map(|(_, provider)| {
            // A dropped provider exports once more, so this one is kept until nothing more is sent.
            ending(move || (provider.force_flush().is_ok(), provider))
        });
        let logs = logs.map(|end| wait(&end, has_time));
        let flushed = metrics.as_ref().map(|end| wait(end, has_time));
        let is_cut = logs == Some(None) || matches!(flushed, Some(None));
        let has_failed = !matches!(flushed, None | Some(Some((true, _))));
        // Until this point, exports under way use the runtime.
        deliveries.iter().for_each(|it| it.close());
        drop((flushed, metrics, runtime));
        let (events, events_sent) = log_delivery.counts();
        let metrics_lost = has_failed || metric_delivery.is_partial();
        let mut delivered = Delivered { events, events_sent, metrics_lost, reason: None };
        if !delivered.is_complete() {
            let cut_after = is_cut.then_some(patience);
            delivered.reason = why(deliveries, cut_after, room, delivered.events_lost() > 0);
        }
        delivered
    }
}

/// Why something did not arrive. `cut_after`: the time after which exports were still under way, so that they have not
/// failed.
fn why(
    deliveries: [&Delivery; 2],
    cut_after: Option<Duration>,
    room: u64,
    are_events_lost: bool,
) -> Option<String> {
    let known = deliveries.iter().find_map(|it| it.reason());
    let has_answered = deliveries.iter().any(|it| it.has_answered());
    known.or_else(|| match cut_after.map(|it| it.as_secs()) {
        Some(seconds) if has_answered => Some(format!("not sent within {seconds} s")),
        Some(seconds) => Some(format!("no answer within {seconds} s")),
        None => are_events_lost.then(|| format!("at most {room} may wait to be sent")),
    })
}

/// The result, unless its time ends first.
fn wait<T>(end: &mpsc::Receiver<T>, has_time: impl Fn() -> bool) -> Option<T> {
    loop {
        match end.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) if has_time() => {}
            ended => return ended.ok(),
        }
    }
}

/// Runs `end` on a thread, and returns a channel for its result. If no thread can be started, there is no result: what
/// `end` owns is dropped, which sends what it can.
fn ending<T: Send + 'static>(end: impl FnOnce() -> T + Send + 'static) -> mpsc::Receiver<T> {
    let (done, is_done) = mpsc::channel();
    let _ = thread::Builder::new().spawn(move || done.send(end()));
    is_done
}

#[cfg(test)]
mod tests;
