//! Reads what the standard variables of OpenTelemetry request, as far as the crates of OpenTelemetry do not read them:
//! whether anything is exported, with which protocol, time-out and certificates. Also checks variables that those
//! crates ignore if they are not valid. Leaves addresses to `address`. Opens no file.

use std::{env, time::Duration};

use reqwest::header::{HeaderName, HeaderValue};

use crate::{
    address::{self, Flaw, Speaks},
    attributes,
};

/// The time-out of an export, unless a variable sets another one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time between exports of metrics, unless a variable sets another one.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(60);

/// How many score events may wait, unless a variable sets another number. A run hands over all events of a commit at
/// once, and a record takes about a kilobyte.
const DEFAULT_ROOM: u64 = 16_384;
/// The most events that may wait, whatever a variable sets: their room is allocated at the beginning.
const MAX_ROOM: u64 = 1_000_000;
/// How many score events one export sends, unless a variable sets another number.
const DEFAULT_BATCH: u64 = 512;
/// The time between exports of scores, unless a variable sets another one.
const DEFAULT_DELAY: Duration = Duration::from_secs(1);

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Scores, which are log records with an event name.
    Logs,
    /// Counters, the histogram, the gauge.
    Metrics,
}

impl Signal {
    const ALL: [Signal; 2] = [Signal::Logs, Signal::Metrics];

    /// Its name in messages and in the HTTP path.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Signal::Logs => "logs",
            Signal::Metrics => "metrics",
        }
    }

    const fn endpoint_variable(self) -> &'static str {
        match self {
            Signal::Logs => "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
            Signal::Metrics => "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        }
    }

    const fn protocol_variable(self) -> &'static str {
        match self {
            Signal::Logs => "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL",
            Signal::Metrics => "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
        }
    }

    const fn timeout_variable(self) -> &'static str {
        match self {
            Signal::Logs => "OTEL_EXPORTER_OTLP_LOGS_TIMEOUT",
            Signal::Metrics => "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
        }
    }

    const fn certificate_variable(self) -> &'static str {
        match self {
            Signal::Logs => "OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE",
            Signal::Metrics => "OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE",
        }
    }

    const fn compression_variable(self) -> &'static str {
        match self {
            Signal::Logs => "OTEL_EXPORTER_OTLP_LOGS_COMPRESSION",
            Signal::Metrics => "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION",
        }
    }

    const fn headers_variable(self) -> &'static str {
        match self {
            Signal::Logs => "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
            Signal::Metrics => "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
        }
    }

    const fn insecure_variable(self) -> &'static str {
        match self {
            Signal::Logs => "OTEL_EXPORTER_OTLP_LOGS_INSECURE",
            Signal::Metrics => "OTEL_EXPORTER_OTLP_METRICS_INSECURE",
        }
    }

    const fn exporter_variable(self) -> &'static str {
        match self {
            Signal::Logs => "OTEL_LOGS_EXPORTER",
            Signal::Metrics => "OTEL_METRICS_EXPORTER",
        }
    }
}

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";
const CERTIFICATE: &str = "OTEL_EXPORTER_OTLP_CERTIFICATE";
const COMPRESSION: &str = "OTEL_EXPORTER_OTLP_COMPRESSION";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const INTERVAL: &str = "OTEL_METRIC_EXPORT_INTERVAL";
const ROOM: &str = "OTEL_BLRP_MAX_QUEUE_SIZE";
const BATCH: &str = "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE";
const DELAY: &str = "OTEL_BLRP_SCHEDULE_DELAY";
const TEMPORALITY: &str = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
const INSECURE: &str = "OTEL_EXPORTER_OTLP_INSECURE";
const DISABLED: &str = "OTEL_SDK_DISABLED";

/// How one signal is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) signal: Signal,
    pub(crate) speaks: Speaks,
    /// The address that the program set; `None` for the address of the variables, or the standard one.
    pub(crate) given: Option<String>,
    pub(crate) is_encrypted: bool,
    /// Why nothing can be sent to the address, as far as that is known.
    pub(crate) flaw: Option<Flaw>,
    pub(crate) timeout: Duration,
    /// The certificate file that the collector's certificate is checked against, and the variable that names it.
    pub(crate) certificate: Option<(String, &'static str)>,
}

/// What is exported, and a warning for each variable that is not valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) logs: Option<Route>,
    pub(crate) metrics: Option<Route>,
    /// The time between exports of metrics, if there are any.
    pub(crate) interval: Duration,
    /// How many score events may wait, if they are exported.
    pub(crate) room: u64,
    /// How many score events one export sends.
    pub(crate) batch: u64,
    /// The time between exports of score events.
    pub(crate) delay: Duration,
    /// What the variables define about the program; of two attributes with the same name, the latter.
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) warnings: Vec<String>,
}

/// Whether the variables request an export: one of them names a collector, and none of them disables the export.
pub fn is_asked_for() -> bool {
    let settings = Settings::of(None, false, &read);
    settings.logs.is_some() || settings.metrics.is_some()
}

impl Settings {
    /// What the process's variables request. With an address, or if the program requests it, everything is exported
    /// that is not disabled.
    pub(crate) fn of_process(given: Option<&str>, is_asked_for: bool) -> Settings {
        Settings::of(given, is_asked_for, &read)
    }

    fn of(
        given: Option<&str>,
        is_asked_for: bool,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Settings {
        let mut settings = Settings::default();
        if settings.is_true(DISABLED, variable) {
            return settings;
        }
        settings.attributes = attributes::named(variable, &mut settings.warnings);
        for signal in Signal::ALL {
            let whole = variable(signal.endpoint_variable()).filter(|_| given.is_none());
            let is_whole = whole.is_some();
            let endpoint = given.map(str::to_owned).or(whole).or_else(|| variable(ENDPOINT));
            let is_wanted = endpoint.is_some() || is_asked_for;
            if !is_wanted || !settings.is_exported(signal, variable) {
                continue;
            }
            let speaks = settings.protocol(signal, variable);
            let endpoint = endpoint.as_deref().unwrap_or("http://localhost");
            let scheme = address::scheme(endpoint);
            if speaks == Speaks::Grpc {
                // The exporter reads these.
                for name in [signal.insecure_variable(), INSECURE] {
                    settings.is_true(name, variable);
                }
            }
            settings.check_compression(signal, variable);
            settings.check_headers(signal, variable);
            let certificate = [signal.certificate_variable(), CERTIFICATE];
            let route = Route {
                signal,
                speaks,
                given: given.map(str::to_owned),
                is_encrypted: scheme.is_some_and(|it| it.eq_ignore_ascii_case("https")),
                flaw: address::flaw(endpoint, speaks, is_whole),
                timeout: settings.timeout(signal, variable),
                certificate: certificate.into_iter().find_map(|name| Some((variable(name)?, name))),
            };
            match signal {
                Signal::Logs => {
                    settings.logs = Some(route);
                    settings.room = settings.number(ROOM, DEFAULT_ROOM, variable);
                    settings.batch = settings.number(BATCH, DEFAULT_BATCH, variable);
                    let delay = settings.milliseconds(DELAY, variable);
                    settings.delay = delay.unwrap_or(DEFAULT_DELAY);
                }
                Signal::Metrics => {
                    settings.metrics = Some(route);
                    let interval = settings.milliseconds(INTERVAL, variable);
                    settings.interval = interval.unwrap_or(DEFAULT_INTERVAL);
                    settings.check_temporality(variable);
                }
            }
        }
        settings
    }

    /// Whether the variable for exporters names this one.
    fn is_exported(&mut self, signal: Signal, variable: &dyn Fn(&str) -> Option<String>) -> bool {
        let name = signal.exporter_variable();
        let Some(exporters) = variable(name) else { return true };
        let mut exporters = exporters.split(',').map(str::trim);
        if exporters.clone().any(|exporter| exporter.eq_ignore_ascii_case("otlp")) {
            return true;
        }
        if exporters.any(|exporter| !exporter.eq_ignore_ascii_case("none")) {
            self.warnings.push(format!(
                "{name} names an exporter that is not supported; only `otlp` and `none` are"
            ));
        }
        false
    }

    fn protocol(&mut self, signal: Signal, variable: &dyn Fn(&str) -> Option<String>) -> Speaks {
        for name in [signal.protocol_variable(), PROTOCOL] {
            match variable(name).as_deref() {
                None => {}
                Some("grpc") => return Speaks::Grpc,
                Some("http/protobuf") => return Speaks::Http,
                Some(_) => {
                    self.warn(format!(
                        "{name} is neither `grpc` nor `http/protobuf`; the second is used"
                    ));
                    return Speaks::Http;
                }
            }
        }
        Speaks::Http
    }

    fn timeout(&mut self, signal: Signal, variable: &dyn Fn(&str) -> Option<String>) -> Duration {
        let names = [signal.timeout_variable(), TIMEOUT];
        let given = names.into_iter().find_map(|name| self.milliseconds(name, variable));
        given.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The time that a variable sets, if it is valid.
    fn milliseconds(
        &mut self,
        name: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Duration> {
        match variable(name)?.trim().parse() {
            Ok(0) => self.warn(format!("{name} must be more than 0 milliseconds")),
            Ok(milliseconds) => return Some(Duration::from_millis(milliseconds)),
            Err(_) => self.warn(format!("{name} is not a number of milliseconds")),
        }
        None
    }

    /// The number of score events that a variable sets, if it is valid.
    fn number(
        &mut self,
        name: &str,
        default: u64,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> u64 {
        let Some(written) = variable(name) else { return default };
        let written = written.trim();
        let is_whole = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
        match written.parse() {
            Ok(number @ 1..=MAX_ROOM) => number,
            Ok(0) => {
                self.warn(format!("{name} must be more than 0"));
                default
            }
            // A number that is too large for the type also consists of digits.
            _ if is_whole => {
                self.warn(format!("{name} is more than {MAX_ROOM}, which is used in its place"));
                MAX_ROOM
            }
            _ => {
                self.warn(format!("{name} is not a number of events"));
                default
            }
        }
    }

    /// Whether a variable is `true`; any other value counts as `false`.
    fn is_true(&mut self, name: &str, variable: &dyn Fn(&str) -> Option<String>) -> bool {
        let Some(written) = variable(name) else { return false };
        let is_true = written.eq_ignore_ascii_case("true");
        if !is_true && !written.eq_ignore_ascii_case("false") {
            self.warn(format!("{name} is neither `true` nor `false`; the second is used"));
        }
        is_true
    }

    /// The exporter replaces an unknown value by its default.
    fn check_temporality(&mut self, variable: &dyn Fn(&str) -> Option<String>) {
        let Some(written) = variable(TEMPORALITY) else { return };
        let known = ["cumulative", "delta", "lowmemory"];
        if !known.iter().any(|known| written.eq_ignore_ascii_case(known)) {
            self.warn(format!(
                "{TEMPORALITY} is not `cumulative`, `delta` or `lowmemory`; the first is used"
            ));
        }
    }

    /// The exporters use the first of the variables that is valid.
    fn check_compression(&mut self, signal: Signal, variable: &dyn Fn(&str) -> Option<String>) {
        for name in [signal.compression_variable(), COMPRESSION] {
            let Some(written) = variable(name) else { continue };
            if ["gzip", "none"].iter().any(|known| written.eq_ignore_ascii_case(known)) {
                return;
            }
            self.warn(format!("{name} is neither `gzip` nor `none`, and is ignored"));
        }
    }

    /// The exporters leave out headers that are not valid. A warning names a header by its position: its value may be a
    /// key, and so may its name if the `=` is missing or at the wrong position.
    fn check_headers(&mut self, signal: Signal, variable: &dyn Fn(&str) -> Option<String>) {
        let names = [signal.headers_variable(), HEADERS];
        let found = names.into_iter().find_map(|name| Some((name, variable(name)?)));
        let Some((name, headers)) = found else { return };
        for (index, header) in headers.split_terminator(',').enumerate() {
            if !header.trim().is_empty() && !is_header(header) {
                let place = index + 1;
                self.warn(format!(
                    "header {place} of {name} is not a valid `name=value`, and is not sent"
                ));
            }
        }
    }

    /// Adds a warning once, because both signals may cause the same one.
    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// Whether the exporters send a header that is written like this. Its value may be percent-encoded.
fn is_header(written: &str) -> bool {
    let Some((name, value)) = written.split_once('=') else { return false };
    name.trim().parse::<HeaderName>().is_ok()
        && !value.trim().is_empty()
        && value.trim().parse::<HeaderValue>().is_ok()
        && value.split('%').skip(1).all(is_visible)
}

/// Whether the two digits after a `%` encode a byte that is allowed in a header. If they are not digits, they are kept.
fn is_visible(escape: &str) -> bool {
    let byte = escape.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    byte.is_none_or(|byte| byte == b'\t' || !byte.is_ascii_control())
}

/// A variable of the process; an empty one counts as not set.
fn read(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
