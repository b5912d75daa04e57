//! What the standard variables of OpenTelemetry ask for, as far as the crates of OpenTelemetry do not read them: whether
//! anything is exported, by which protocol, with which time-out and certificates. Those that they ignore if they cannot be used
//! are checked. Opens no file.

use std::{env, time::Duration};

use reqwest::header::{HeaderName, HeaderValue};

/// The time-out of an export, unless a variable says another.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time between exports of metrics, unless a variable says another.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(60);

/// Score events that wait, unless a variable says another number. A run hands over those of a commit at once, and a record is
/// about a kilobyte.
const DEFAULT_ROOM: u64 = 16_384;
/// The most that wait, whatever a variable says: room for them is made at the beginning.
const MOST_ROOM: u64 = 1_000_000;

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Scores, which are log records with an event's name.
    Logs,
    /// Counters, the histogram, the gauge.
    Metrics,
}

impl Signal {
    const ALL: [Signal; 2] = [Signal::Logs, Signal::Metrics];

    /// Its name in messages and in the path of HTTP.
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

/// How OTLP is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// HTTP with protobuf.
    Http,
    /// gRPC.
    Grpc,
}

impl Speaks {
    /// Its name in messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Speaks::Http => "HTTP",
            Speaks::Grpc => "gRPC",
        }
    }
}

/// How one signal is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) signal: Signal,
    pub(crate) speaks: Speaks,
    /// An address that the program gave; `None` for that of the variables, or the standard's.
    pub(crate) given: Option<String>,
    pub(crate) is_encrypted: bool,
    /// The address is of `http` or `https`, or has no scheme and is one of gRPC, which adds it.
    pub(crate) is_of_web: bool,
    pub(crate) timeout: Duration,
    /// The file with the certificates that the collector's is checked against, and the variable that names it.
    pub(crate) certificate: Option<(String, &'static str)>,
}

/// What is exported, and what could not be understood: a sentence each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) logs: Option<Route>,
    pub(crate) metrics: Option<Route>,
    /// The time between exports of metrics, if there are any.
    pub(crate) interval: Duration,
    /// How many score events may wait, if there are any.
    pub(crate) room: u64,
    pub(crate) warnings: Vec<String>,
}

/// Whether the variables ask for an export: one of them names a collector, and none of them switches it off.
pub fn is_asked_for() -> bool {
    let settings = Settings::of(None, false, &read);
    settings.logs.is_some() || settings.metrics.is_some()
}

impl Settings {
    /// What the process's variables ask for. With an address, or if the program asks for it, everything is exported that
    /// is not switched off.
    pub(crate) fn of_process(given: Option<&str>, is_asked_for: bool) -> Settings {
        Settings::of(given, is_asked_for, &read)
    }

    fn of(
        given: Option<&str>,
        is_asked_for: bool,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Settings {
        let mut settings = Settings::default();
        let is_off =
            variable("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
        if is_off {
            return settings;
        }
        for signal in Signal::ALL {
            let endpoint = given
                .map(str::to_owned)
                .or_else(|| variable(signal.endpoint_variable()))
                .or_else(|| variable(ENDPOINT));
            let is_wanted = endpoint.is_some() || is_asked_for;
            if !is_wanted || !settings.is_exported(signal, variable) {
                continue;
            }
            let speaks = settings.protocol(signal, variable);
            let scheme = endpoint.as_deref().map_or(Some("http"), scheme);
            settings.check_compression(signal, variable);
            settings.check_headers(signal, variable);
            let certificate = [signal.certificate_variable(), CERTIFICATE];
            let route = Route {
                signal,
                speaks,
                given: given.map(str::to_owned),
                is_encrypted: scheme.is_some_and(|it| it.eq_ignore_ascii_case("https")),
                is_of_web: scheme.map_or(speaks == Speaks::Grpc, is_of_web),
                timeout: settings.timeout(signal, variable),
                certificate: certificate.into_iter().find_map(|name| Some((variable(name)?, name))),
            };
            match signal {
                Signal::Logs => {
                    settings.logs = Some(route);
                    settings.room = settings.room(variable);
                }
                Signal::Metrics => {
                    settings.metrics = Some(route);
                    let interval = settings.milliseconds(INTERVAL, variable);
                    settings.interval = interval.unwrap_or(DEFAULT_INTERVAL);
                }
            }
        }
        settings
    }

    /// Whether the variable that names exporters names this one.
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

    /// The time that a variable says, if it says one that can be used.
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

    /// How many score events may wait.
    fn room(&mut self, variable: &dyn Fn(&str) -> Option<String>) -> u64 {
        let Some(written) = variable(ROOM) else { return DEFAULT_ROOM };
        let written = written.trim();
        let is_whole = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
        match written.parse() {
            Ok(room @ 1..=MOST_ROOM) => room,
            Ok(0) => {
                self.warn(format!("{ROOM} must be more than 0"));
                DEFAULT_ROOM
            }
            // A number that is larger than any here has only digits, too.
            _ if is_whole => {
                self.warn(format!("{ROOM} is more than {MOST_ROOM}, which is used in its place"));
                MOST_ROOM
            }
            _ => {
                self.warn(format!("{ROOM} is not a number of events"));
                DEFAULT_ROOM
            }
        }
    }

    /// The exporters take the first of the variables that they can use.
    fn check_compression(&mut self, signal: Signal, variable: &dyn Fn(&str) -> Option<String>) {
        for name in [signal.compression_variable(), COMPRESSION] {
            let Some(written) = variable(name) else { continue };
            if ["gzip", "none"].iter().any(|known| written.eq_ignore_ascii_case(known)) {
                return;
            }
            self.warn(format!("{name} is neither `gzip` nor `none`, and is ignored"));
        }
    }

    /// The exporters leave out headers that are not valid. A warning names a header by its place: its value may be a key, and so may
    /// its name if the `=` is missing or at the wrong place.
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

    /// Both signals may find the same.
    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// What an address has before `://`.
fn scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once("://")?;
    // A path or a query may have the same signs.
    (!scheme.contains(['/', '?', '#'])).then_some(scheme)
}

fn is_of_web(scheme: &str) -> bool {
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Whether the exporters send a header that is written like this. Its value may be in percent-encoding.
fn is_header(written: &str) -> bool {
    let Some((name, value)) = written.split_once('=') else { return false };
    name.trim().parse::<HeaderName>().is_ok()
        && !value.trim().is_empty()
        && value.trim().parse::<HeaderValue>().is_ok()
        && value.split('%').skip(1).all(is_visible)
}

/// Whether the two digits that follow a `%` are those of a byte that a header may have. If they are not digits, they stand
/// for themselves.
fn is_visible(escape: &str) -> bool {
    let byte = escape.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    byte.is_none_or(|byte| byte == b'\t' || !byte.is_ascii_control())
}

/// A variable of the process; an empty one counts as none.
fn read(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(given: Option<&str>, is_asked_for: bool, variables: &[(&str, &str)]) -> Settings {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Settings::of(given, is_asked_for, &variable)
    }

    #[test]
    fn nothing_is_exported_unless_something_asks_for_it() {
        assert_eq!(settings(None, false, &[]), Settings::default());
        assert_eq!(settings(None, false, &[(PROTOCOL, "grpc")]), Settings::default());
        let asked = settings(None, true, &[]);
        assert!(asked.logs.is_some() && asked.metrics.is_some());
        assert!(settings(Some("http://a"), false, &[]).logs.is_some());
        let one = settings(None, false, &[("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://a")]);
        assert!(one.logs.is_some() && one.metrics.is_none());
    }

    #[test]
    fn what_is_switched_off_stays_off_whatever_asks_for_it() {
        for off in ["true", "TRUE"] {
            let off = [("OTEL_SDK_DISABLED", off), (ENDPOINT, "http://a")];
            assert_eq!(settings(Some("http://a"), true, &off), Settings::default());
        }
        let half = settings(None, true, &[("OTEL_METRICS_EXPORTER", "none")]);
        assert!(half.logs.is_some() && half.metrics.is_none() && half.warnings.is_empty());
        let other = settings(None, true, &[("OTEL_LOGS_EXPORTER", "console")]);
        assert!(other.logs.is_none() && other.warnings.len() == 1);
        let both = settings(None, true, &[("OTEL_LOGS_EXPORTER", "console, otlp")]);
        assert!(both.logs.is_some() && both.warnings.is_empty());
    }

    #[test]
    fn the_variable_of_a_signal_beats_that_of_all() {
        let variables = [
            (ENDPOINT, "HTTPS://a"),
            (PROTOCOL, "grpc"),
            (TIMEOUT, "2000"),
            (CERTIFICATE, "all.pem"),
            ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://b"),
            ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "500"),
            ("OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE", "logs.pem"),
        ];
        let Settings { logs, metrics, warnings, .. } = settings(None, false, &variables);
        let (logs, metrics) = (logs.unwrap(), metrics.unwrap());
        assert_eq!((logs.speaks, metrics.speaks), (Speaks::Http, Speaks::Grpc));
        assert_eq!((logs.is_encrypted, metrics.is_encrypted), (false, true));
        assert_eq!((logs.timeout.as_millis(), metrics.timeout.as_millis()), (500, 2000));
        assert_eq!(logs.certificate.unwrap().0, "logs.pem");
        assert_eq!(metrics.certificate.unwrap(), ("all.pem".to_owned(), CERTIFICATE));
        assert_eq!(warnings, Vec::<String>::new());
    }

    #[test]
    fn a_value_that_is_not_understood_is_said_once_and_the_default_is_used() {
        let wrong = settings(None, true, &[(PROTOCOL, "http/json"), (TIMEOUT, "soon")]);
        assert_eq!(wrong.warnings.len(), 2, "{:?}", wrong.warnings);
        let logs = wrong.logs.unwrap();
        assert_eq!((logs.speaks, logs.timeout), (Speaks::Http, DEFAULT_TIMEOUT));
    }

    #[test]
    fn a_time_must_be_more_than_0() {
        let zero = settings(None, true, &[(TIMEOUT, "0"), (INTERVAL, "0")]);
        let said = |name| format!("{name} must be more than 0 milliseconds");
        assert_eq!(zero.warnings, [said(TIMEOUT), said(INTERVAL)]);
        assert_eq!(zero.logs.unwrap().timeout, DEFAULT_TIMEOUT);
        assert_eq!(zero.interval, DEFAULT_INTERVAL);
        let wrong = settings(None, true, &[(INTERVAL, "-1")]);
        assert_eq!(wrong.warnings, [format!("{INTERVAL} is not a number of milliseconds")]);
        let right = settings(None, true, &[(INTERVAL, "200")]);
        assert_eq!((right.interval.as_millis(), right.warnings.len()), (200, 0));
    }

    #[test]
    fn the_events_that_wait_have_a_bound_whatever_the_variable_says() {
        let more = format!("{ROOM} is more than 1000000, which is used in its place");
        let no_number = format!("{ROOM} is not a number of events");
        for (written, room, said) in [
            ("100", 100, None),
            (" 1000000 ", 1_000_000, None),
            ("99999999999999", 1_000_000, Some(&more)),
            ("99999999999999999999999999", 1_000_000, Some(&more)),
            ("0", DEFAULT_ROOM, Some(&format!("{ROOM} must be more than 0"))),
            ("-5", DEFAULT_ROOM, Some(&no_number)),
            ("many", DEFAULT_ROOM, Some(&no_number)),
        ] {
            let settings = settings(None, true, &[(ROOM, written)]);
            let warnings: Vec<&String> = settings.warnings.iter().collect();
            assert_eq!((settings.room, warnings), (room, said.into_iter().collect()), "{written}");
        }
        assert_eq!(settings(None, true, &[]).room, DEFAULT_ROOM);
    }

    #[test]
    fn a_compression_that_is_not_known_is_said() {
        let said = |name| format!("{name} is neither `gzip` nor `none`, and is ignored");
        assert_eq!(settings(None, true, &[(COMPRESSION, "zstd")]).warnings, [said(COMPRESSION)]);
        let of_logs = "OTEL_EXPORTER_OTLP_LOGS_COMPRESSION";
        let both = settings(None, true, &[(COMPRESSION, "GZIP"), (of_logs, "br")]);
        assert_eq!(both.warnings, [said(of_logs)]);
        let hidden = settings(None, true, &[(COMPRESSION, "none"), (of_logs, "gzip")]);
        assert_eq!(hidden.warnings, Vec::<String>::new());
    }

    #[test]
    fn a_header_that_is_not_valid_is_said_by_its_place() {
        let right = "authorization=Bearer%20k3y==, x-key = 100%,x=%C3%A9,";
        assert_eq!(settings(None, true, &[(HEADERS, right)]).warnings, Vec::<String>::new());
        for wrong in ["no name=k3y", "k3y", "=k3y", "x-k3y=", "x=k3y%0a", "x=k3y%7F"] {
            let headers = format!("a=1,{wrong}");
            let said =
                format!("header 2 of {HEADERS} is not a valid `name=value`, and is not sent");
            assert_eq!(settings(None, true, &[(HEADERS, &headers)]).warnings, [said], "{wrong}");
        }
        let of_logs = [(HEADERS, "k3y"), ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "a=1")];
        assert_eq!(settings(None, true, &of_logs).warnings.len(), 1);
    }

    #[test]
    fn an_address_is_one_of_the_web() {
        let is_of_web = |address, protocol| {
            let given = settings(Some(address), false, &[(PROTOCOL, protocol)]);
            let named = settings(None, false, &[(ENDPOINT, address), (PROTOCOL, protocol)]);
            let [given, named] = [given, named].map(|it| it.metrics.unwrap().is_of_web);
            assert_eq!(given, named, "{address}");
            given
        };
        for protocol in ["grpc", "http/protobuf"] {
            assert!(["http://a", "HTTPS://a:1/b"].iter().all(|it| is_of_web(it, protocol)));
            assert!(!["ftp://a", "unix:///a", "://a"].iter().any(|it| is_of_web(it, protocol)));
        }
        // It is given the scheme that OTEL_EXPORTER_OTLP_INSECURE says.
        assert!(is_of_web("a:4317", "grpc"));
        assert!(!is_of_web("a:4318", "http/protobuf"));
    }
}
