//! All of the telemetry of a program in one value: begun once, given to runs as a sink, and ended within a bounded time.

use std::{
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use opentelemetry::{
    InstrumentationScope, KeyValue,
    logs::{Logger as _, LoggerProvider as _},
    metrics::{Meter, MeterProvider as _},
};
use opentelemetry_sdk::{
    Resource,
    logs::{BatchConfigBuilder, BatchLogProcessor, SdkLogger, SdkLoggerProvider},
    metrics::{PeriodicReader, SdkMeterProvider},
};
use scorebox::run::{ENGINE_VERSION, Event, Refused, Sink};
use tokio::runtime::Runtime;

use crate::{
    delivery::{Delivered, Delivery},
    error::TelemetryError,
    evaluation,
    exporting::Counted,
    instruments::Instruments,
    settings::Settings,
    transport,
};

/// How long the end takes at most.
const END: Duration = Duration::from_secs(5);
/// The same if the collector did not answer the latest export.
const END_OUT_OF_REACH: Duration = Duration::from_secs(1);
/// The name of a program that gives itself none.
const SERVICE: &str = "scorebox";

/// Telemetry that is being set up. By default it exports where the variables of OpenTelemetry say, or to a collector on this
/// machine, and never has a run wait.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct TelemetryBuilder {
    endpoint: Option<String>,
    waits: bool,
    follows_variables: bool,
}

impl TelemetryBuilder {
    /// The collector's address, instead of that of the variables: `http://localhost:4318`. Over HTTP the paths `/v1/logs`
    /// and `/v1/metrics` are added.
    pub fn endpoint(self, url: impl Into<String>) -> TelemetryBuilder {
        TelemetryBuilder { endpoint: Some(url.into()), ..self }
    }

    /// Exports only what the variables of OpenTelemetry ask for: see [`is_asked_for`](crate::is_asked_for).
    pub fn only_if_asked_for(self) -> TelemetryBuilder {
        TelemetryBuilder { follows_variables: true, ..self }
    }

    /// Has a run wait for a collector that answers, so that no score event is lost. By default events for which there is no
    /// room are lost and counted, so that a slow collector does not slow live scoring. A collector that does not answer
    /// is never waited for longer than a second.
    pub fn waiting_for_the_collector(self) -> TelemetryBuilder {
        TelemetryBuilder { waits: true, ..self }
    }

    /// Begins. Connects to nothing before there is something to send.
    ///
    /// # Errors
    /// If an address or a file of certificates cannot be used.
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
    let resource = resource();
    let scope = InstrumentationScope::builder("scorebox").with_version(ENGINE_VERSION).build();
    let entered = handle.enter();
    let log_delivery = Arc::new(Delivery::new(settings.room));
    let logs = match &settings.logs {
        None => None,
        Some(route) => {
            let exporter = Counted {
                exporter: transport::logs(route, &log_delivery)?,
                runtime: handle.clone(),
                timeout: route.timeout,
                delivery: Arc::clone(&log_delivery),
            };
            // What there is room for is counted here, so that nothing is lost there.
            let queue = usize::try_from(settings.room).unwrap_or(usize::MAX);
            let config = BatchConfigBuilder::default().with_max_queue_size(queue).build();
            let processor = BatchLogProcessor::builder(exporter).with_batch_config(config).build();
            let provider = SdkLoggerProvider::builder()
                .with_resource(resource.clone())
                .with_log_processor(processor)
                .build();
            Some((provider.logger_with_scope(scope.clone()), provider))
        }
    };
    let metric_delivery = Arc::new(Delivery::new(u64::MAX));
    let metrics = match &settings.metrics {
        None => None,
        Some(route) => {
            let exporter = Counted {
                exporter: transport::metrics(route, &metric_delivery)?,
                runtime: handle.clone(),
                timeout: route.timeout,
                delivery: Arc::clone(&metric_delivery),
            };
            let reader = PeriodicReader::builder(exporter).with_interval(settings.interval);
            let reader = reader.build();
            let provider =
                SdkMeterProvider::builder().with_resource(resource).with_reader(reader).build();
            Some((provider.meter_with_scope(scope), provider))
        }
    };
    drop(entered);
    Ok(Telemetry {
        waits,
        warnings: settings.warnings,
        going: Some(Going { logs, log_delivery, metrics, metric_delivery, runtime }),
    })
}

/// What is exported is from this program, unless the variables call it something else.
fn resource() -> Resource {
    let found = Resource::builder().build();
    let service = found.get(&"service.name".into()).map(|name| name.to_string());
    let is_unknown = service.is_none_or(|name| name.starts_with("unknown_service"));
    let has_version = found.get(&"service.version".into()).is_some();
    let mut builder = Resource::builder();
    if is_unknown {
        builder = builder.with_service_name(SERVICE);
    }
    if is_unknown && !has_version {
        builder = builder.with_attribute(KeyValue::new("service.version", ENGINE_VERSION));
    }
    builder.build()
}

/// Telemetry that is under way.
///
/// [`end`](Telemetry::end) sends what is left and says how it went. If it is dropped without, the same happens in the
/// background, and no one learns of it.
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
}

/// A runtime that ends in the background: it may be dropped anywhere, also by asynchronous code.
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
    /// Telemetry that is being set up.
    pub fn builder() -> TelemetryBuilder {
        TelemetryBuilder::default()
    }

    /// What of the variables was not understood: a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What a run's events are passed to. Each run of a program gets its own; their metrics are added up.
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

    /// Reports the length of a queue as `scorebox.queue.length`: what it answers whenever metrics are exported.
    pub fn watch_queue(&self, waiting: impl Fn() -> u64 + Send + Sync + 'static) {
        let metrics = self.going.as_ref().and_then(|going| going.metrics.as_ref());
        if let Some((meter, _)) = metrics {
            // The meter keeps it.
            let _gauge = meter
                .u64_observable_gauge("scorebox.queue.length")
                .with_unit("{case}")
                .with_description("Cases that wait for their scores")
                .with_callback(move |observer| observer.observe(waiting(), &[]))
                .build();
        }
    }

    /// Sends what is left, for five seconds at most, and says how it went. Blocks its thread.
    pub fn end(mut self) -> Delivered {
        self.going.take().map_or_else(Delivered::default, Going::end)
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(going) = self.going.take() {
            thread::spawn(|| going.end());
        }
    }
}

impl Going {
    fn end(self) -> Delivered {
        let Going { logs, log_delivery, metrics, metric_delivery, runtime } = self;
        let is_out_of_reach = log_delivery.is_out_of_reach() || metric_delivery.is_out_of_reach();
        let patience = if is_out_of_reach { END_OUT_OF_REACH } else { END };
        let deadline = Instant::now() + patience;
        // The crates of OpenTelemetry do not keep to a time-out that is given to them here.
        let logs = logs.map(|(_, provider)| ending(move || provider.shutdown().is_ok()));
        let metrics = metrics.map(|(_, provider)| ending(move || provider.shutdown().is_ok()));
        let wait = |end: &mpsc::Receiver<bool>| {
            end.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        };
        // Whether scores arrived is counted by their exporter.
        let _ = logs.as_ref().map(wait);
        let has_failed = metrics.as_ref().is_some_and(|end| wait(end) != Ok(true));
        let metrics_lost = has_failed || metric_delivery.is_partial();
        // Exports that are under way use the runtime until then.
        log_delivery.close();
        metric_delivery.close();
        drop(runtime);
        let (events, events_sent) = log_delivery.counts();
        let mut delivered = Delivered { events, events_sent, metrics_lost, reason: None };
        if !delivered.is_complete() {
            let reasons = [log_delivery.reason(), metric_delivery.reason()];
            // An export that is still under way has not failed yet.
            let no_answer = || Some(format!("no answer within {} s", patience.as_secs()));
            delivered.reason = reasons.into_iter().flatten().next().or_else(no_answer);
        }
        delivered
    }
}

/// Does it on a thread, whose answer may be waited for.
fn ending(end: impl FnOnce() -> bool + Send + 'static) -> mpsc::Receiver<bool> {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || done.send(end()));
    is_done
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::{SocketAddr, TcpListener, TcpStream},
        panic,
        sync::{
            Weak,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use super::*;
    use crate::settings::{Route, Signal, Speaks};

    /// Has each connection to a new address treated by a thread of its own.
    fn server(treat: fn(TcpStream)) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for connection in listener.incoming() {
                thread::spawn(move || treat(connection.unwrap()));
            }
        });
        address
    }

    /// Reads all there is, and never answers.
    fn listen(mut connection: TcpStream) {
        while connection.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
    }

    /// Says that it took the request but for one item.
    fn reject_one(mut connection: TcpStream) {
        let mut request = Vec::new();
        while !is_whole(&request) {
            let mut part = [0; 4096];
            let read = connection.read(&mut part).unwrap();
            assert!(read > 0, "the request is cut");
            request.extend_from_slice(&part[..read]);
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\n\
                       \x0a\x08\x08\x01\x12\x04s3kt";
        connection.write_all(answer).unwrap();
    }

    fn is_whole(request: &[u8]) -> bool {
        let text = String::from_utf8_lossy(request).to_lowercase();
        let Some(head) = text.split("\r\n\r\n").next().filter(|head| head.len() < text.len())
        else {
            return false;
        };
        let length = head.split("content-length: ").nth(1).and_then(|it| it.lines().next());
        request.len() >= head.len() + 4 + length.unwrap().parse::<usize>().unwrap()
    }

    /// Telemetry over a protocol, with two score events and a metric.
    fn with_two_scores(address: SocketAddr, speaks: Speaks) -> Telemetry {
        let route = |signal| Route {
            signal,
            speaks,
            given: Some(format!("http://{address}")),
            is_encrypted: false,
            is_of_web: true,
            timeout: Duration::from_secs(600),
            certificate: None,
        };
        let settings = Settings {
            logs: Some(route(Signal::Logs)),
            metrics: Some(route(Signal::Metrics)),
            interval: Duration::from_secs(600),
            room: 1000,
            warnings: Vec::new(),
        };
        let telemetry = begin(settings, false).unwrap();
        let going = telemetry.going.as_ref().unwrap();
        let (logger, _) = going.logs.as_ref().unwrap();
        for _ in 0..2 {
            assert!(going.log_delivery.offer(false));
            logger.emit(logger.create_log_record());
        }
        going.metrics.as_ref().unwrap().0.u64_counter("c").build().add(1, &[]);
        telemetry
    }

    fn deliveries(telemetry: &Telemetry) -> [Weak<Delivery>; 2] {
        let going = telemetry.going.as_ref().unwrap();
        [&going.log_delivery, &going.metric_delivery].map(Arc::downgrade)
    }

    #[test]
    fn no_thread_panics_after_the_end_of_one_that_never_answers() {
        static PANICS: AtomicUsize = AtomicUsize::new(0);
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            if thread::current().name().is_some_and(|name| name.starts_with("OpenTelemetry")) {
                PANICS.fetch_add(1, Ordering::SeqCst);
            }
            usual(panicked);
        }));
        let address = server(listen);
        for speaks in [Speaks::Http, Speaks::Grpc] {
            let telemetry = with_two_scores(address, speaks);
            let deliveries = deliveries(&telemetry);
            let delivered = telemetry.end();
            assert_eq!((delivered.events, delivered.events_sent), (2, 0));
            assert!(delivered.metrics_lost);
            assert_eq!(delivered.reason.as_deref(), Some("no answer within 5 s"), "{speaks:?}");
            // The threads of the exporters have the last references.
            while deliveries.iter().any(|it| it.strong_count() > 0) {
                thread::sleep(Duration::from_millis(10));
            }
        }
        assert_eq!(PANICS.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn what_is_rejected_in_an_answer_of_success_is_counted() {
        let delivered = with_two_scores(server(reject_one), Speaks::Http).end();
        assert_eq!((delivered.events, delivered.events_sent), (2, 1));
        assert!(delivered.metrics_lost);
        assert_eq!(delivered.reason.as_deref(), Some("it rejected a part"));
    }

    #[test]
    fn only_addresses_of_the_web_are_taken() {
        let error = Telemetry::builder().endpoint("ftp://x").start().unwrap_err();
        let said = "the address of the OpenTelemetry collector for logs is not a valid HTTP URL";
        assert_eq!(error.to_string(), said);
    }
}
