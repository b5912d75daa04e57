//! Tests what the variables request, as a table of variables and settings.

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
        let said = format!("header 2 of {HEADERS} is not a valid `name=value`, and is not sent");
        assert_eq!(settings(None, true, &[(HEADERS, &headers)]).warnings, [said], "{wrong}");
    }
    let of_logs = [(HEADERS, "k3y"), ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "a=1")];
    assert_eq!(settings(None, true, &of_logs).warnings.len(), 1);
}

#[test]
fn an_address_is_checked_whoever_names_it() {
    let of_logs = "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT";
    let flaw =
        |given, variables: &[(&str, &str)]| settings(given, false, variables).logs.unwrap().flaw;
    for (address, expected) in [
        ("ftp://a", Flaw::Scheme),
        ("http://user:k3y@a", Flaw::Credentials),
        ("http://a/b?c=d", Flaw::Query),
    ] {
        assert_eq!(flaw(Some(address), &[]), Some(expected));
        assert_eq!(flaw(None, &[(ENDPOINT, address)]), Some(expected));
        // This is the full address of a signal, unless the program sets another one.
        let whole = flaw(None, &[(of_logs, address)]);
        assert_eq!(whole, Some(expected).filter(|it| *it != Flaw::Query));
        assert_eq!(flaw(Some(address), &[(of_logs, "http://a")]), Some(expected));
    }
    assert_eq!(settings(None, true, &[]).logs.unwrap().flaw, None);
}

#[test]
fn how_scores_are_sent_has_defaults_in_place_of_what_cannot_be_used() {
    let right = settings(None, true, &[(BATCH, "10"), (DELAY, " 50 ")]);
    assert_eq!((right.batch, right.delay.as_millis()), (10, 50));
    assert_eq!(right.warnings, Vec::<String>::new());
    for (batch, delay, said) in [
        ("abc", "abc", ["is not a number of events", "is not a number of milliseconds"]),
        ("0", "0", ["must be more than 0", "must be more than 0 milliseconds"]),
    ] {
        let wrong = settings(None, true, &[(BATCH, batch), (DELAY, delay)]);
        assert_eq!((wrong.batch, wrong.delay), (DEFAULT_BATCH, DEFAULT_DELAY));
        assert_eq!(
            wrong.warnings,
            [format!("{BATCH} {}", said[0]), format!("{DELAY} {}", said[1])]
        );
    }
}

#[test]
fn a_word_that_is_not_known_is_said() {
    let said = |variables: &[(&str, &str)]| settings(None, true, variables).warnings;
    for known in ["cumulative", "Delta", "LOWMEMORY"] {
        assert_eq!(said(&[(TEMPORALITY, known)]), Vec::<String>::new());
    }
    let expected = "is not `cumulative`, `delta` or `lowmemory`; the first is used";
    assert_eq!(said(&[(TEMPORALITY, "xx")]), [format!("{TEMPORALITY} {expected}")]);
    let expected = "is neither `true` nor `false`; the second is used";
    assert_eq!(said(&[(DISABLED, "1")]), [format!("{DISABLED} {expected}")]);
    assert_eq!(said(&[(DISABLED, "False")]), Vec::<String>::new());
    let insecure = [(INSECURE, "yes"), (PROTOCOL, "grpc")];
    assert_eq!(said(&insecure), [format!("{INSECURE} {expected}")]);
}
