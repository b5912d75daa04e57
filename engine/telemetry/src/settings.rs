//! What the standard variables of OpenTelemetry ask for, as far as the crates of OpenTelemetry do not read them: whether
//! anything is exported, by which protocol, with which time-out and certificates. Opens no file.

use std::{env, time::Duration};

/// The time-out of an export, unless a variable says another.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

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
    pub(crate) timeout: Duration,
    /// The file with the certificates that the collector's is checked against, and the variable that names it.
    pub(crate) certificate: Option<(String, &'static str)>,
}

/// What is exported, and what could not be understood: a sentence each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) logs: Option<Route>,
    pub(crate) metrics: Option<Route>,
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
            let is_encrypted = endpoint.is_some_and(|it| {
                it.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
            });
            let certificate = [signal.certificate_variable(), CERTIFICATE];
            let route = Route {
                signal,
                speaks: settings.protocol(signal, variable),
                given: given.map(str::to_owned),
                is_encrypted,
                timeout: settings.timeout(signal, variable),
                certificate: certificate.into_iter().find_map(|name| Some((variable(name)?, name))),
            };
            match signal {
                Signal::Logs => settings.logs = Some(route),
                Signal::Metrics => settings.metrics = Some(route),
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
        for name in [signal.timeout_variable(), TIMEOUT] {
            let Some(written) = variable(name) else { continue };
            match written.trim().parse() {
                Ok(milliseconds) if milliseconds > 0 => return Duration::from_millis(milliseconds),
                _ => self.warn(format!("{name} is not a number of milliseconds")),
            }
        }
        DEFAULT_TIMEOUT
    }

    /// Both signals may find the same.
    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
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
        let Settings { logs, metrics, warnings } = settings(None, false, &variables);
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
}
