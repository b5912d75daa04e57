//! `scorebox run` with collectors that are slow, misbehave or cannot be reached: no score is lost without need, the run
//! is the same, and a warning reports why something did not arrive.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    thread,
};

use serde_json::json;

use crate::{
    collector::{Answers, Collector, SELF_SIGNED, SIGNED},
    command_telemetry::{RUN, folder, has_the_run, sh},
    fixture::Folder,
};

/// A folder with this many cases.
fn folder_with(cases: u32) -> Folder {
    let folder = folder();
    let lines = (0..cases)
        .map(|number| format!("{}\n", json!({"output": number, "groundTruth": number})))
        .collect::<String>();
    folder.write("cases.jsonl", lines);
    folder
}

/// More events at once than may wait.
#[test]
fn a_run_waits_for_a_collector_that_answers() {
    let folder = folder_with(2000);
    let collector = Collector::http(Answers::Well);
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url()), ("OTEL_BLRP_MAX_QUEUE_SIZE", "10")];
    let run = sh(&folder, &variables, RUN).exits_with(0);
    assert!(!run.stderr.contains("OpenTelemetry"), "{run}");
    assert_eq!(collector.records().len(), 2000);
}

/// The queue is full for longer than a second, and sending the rest at the end takes more than five seconds.
#[test]
fn a_run_waits_for_a_collector_that_answers_slowly() {
    let folder = folder_with(70);
    let delay = std::time::Duration::from_millis(1200);
    let collector = Collector::http(Answers::Slowly(delay));
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url()),
        ("OTEL_BLRP_MAX_QUEUE_SIZE", "50"),
        ("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "10"),
    ];
    let run = sh(&folder, &variables, RUN).exits_with(0);
    assert!(!run.stderr.contains("OpenTelemetry"), "{run}");
    assert_eq!((collector.records().len(), collector.sum("scorebox.cases.finished")), (70, 70));
}

#[test]
fn an_encrypted_collector_is_checked_against_the_certificates_that_are_named() {
    let folder = folder();
    folder.write("authority.pem", include_str!("certificates/authority.pem"));
    folder.write("other.pem", include_str!("certificates/other-authority.pem"));
    for (protocol, collector) in
        [("http/protobuf", Collector::https(SIGNED)), ("grpc", Collector::grpc(Some(SIGNED)))]
    {
        let url = format!("https://localhost:{}", collector.address.port());
        let run = |file: &str| {
            let variables = [
                ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
                ("OTEL_EXPORTER_OTLP_CERTIFICATE", file),
            ];
            let database = format!("{}-{file}.db", &protocol[..4]);
            sh(&folder, &variables, &format!("{RUN} --run-id r --db {database}")).exits_with(0)
        };
        let refused = run("other.pem");
        let warning =
            "2 of 2 score events and the metrics did not reach the OpenTelemetry collector";
        assert!(refused.stderr.contains(warning), "{refused}");
        assert!(refused.stderr.contains("its certificate is not trusted"), "{refused}");
        let sent = |it: &crate::collector::Received| it.logs.len() + it.metrics.len();
        assert_eq!(collector.received(sent), 0);
        let taken = run("authority.pem");
        assert!(!taken.stderr.contains("OpenTelemetry"), "{taken}");
        has_the_run(&collector);
        // Not waited for, because nothing is ever written to it.
        folder.sh("mkfifo pipe.pem").exits_with(0);
        let pipe = run("pipe.pem");
        assert!(pipe.stderr.contains("names: this is a pipe, not a file"), "{pipe}");
        folder.sh("rm pipe.pem").exits_with(0);
        let missing = run("missing.pem");
        assert!(
            missing.stderr.contains(
                "nothing is sent to OpenTelemetry: cannot use the certificates in `missing.pem`, \
                 which OTEL_EXPORTER_OTLP_CERTIFICATE names"
            ),
            "{missing}"
        );
    }
}

/// The default output of `openssl req -x509`.
#[test]
fn a_collector_with_the_certificate_of_an_authority_is_refused_in_words() {
    let folder = folder();
    folder.write("self-signed.pem", SELF_SIGNED[0]);
    for (protocol, collector) in [
        ("http/protobuf", Collector::https(SELF_SIGNED)),
        ("grpc", Collector::grpc(Some(SELF_SIGNED))),
    ] {
        let variables = [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "self-signed.pem"),
        ];
        let line = format!("{RUN} --otlp=https://localhost:{}", collector.address.port());
        let run = sh(&folder, &variables, &line).exits_with(0);
        let why =
            "OpenTelemetry collector: it uses the certificate of an authority (CA) as its own\n";
        assert!(run.stderr.contains(why), "{protocol}: {run}");
    }
}

/// The run is the same, and ends; the warning contains neither an address nor a header.
#[test]
fn a_collector_that_misbehaves_changes_nothing_of_a_run() {
    let folder = folder();
    let expected = sh(&folder, &[], &format!("{RUN} --db expected.db")).exits_with(0).stdout;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let elsewhere = Collector::http(Answers::Well);
    for (name, url, why) in [
        ("refuses", Collector::http(Answers::Status(401)), "it answered with status 401"),
        ("is-busy", Collector::http(Answers::Status(503)), "it answered with status 503"),
        ("is-silent", Collector::http(Answers::Never), "no answer within the time-out"),
        ("is-endless", Collector::http(Answers::Endlessly), "4 MiB limit"),
        (
            "redirects",
            Collector::http(Answers::Elsewhere(elsewhere.url())),
            "it answered with status 307",
        ),
    ]
    .map(|(name, collector, why)| (name, Ok(collector), why))
    .into_iter()
    .chain([("is-not-there", Err(nobody), "cannot connect to it")])
    {
        let (address, collector) = match url {
            Ok(collector) => (collector.address, Some(collector)),
            Err(address) => (address, None),
        };
        let url = format!("http://{address}");
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret,x-key=s3cret"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "500"),
        ];
        let run = sh(&folder, &variables, &format!("{RUN} --db {name}.db")).exits_with(0);
        assert_eq!(run.stdout.lines().count(), expected.lines().count(), "{name}: {run}");
        let warnings: Vec<&str> =
            run.stderr.lines().filter(|line| line.contains("OpenTelemetry")).collect();
        let [warning] = warnings[..] else { panic!("{name}: {run}") };
        assert!(
            warning.contains(
                "2 of 2 score events and the metrics did not reach the OpenTelemetry collector: "
            ),
            "{name}: {warning}"
        );
        assert!(warning.contains(why), "{name}: {warning}");
        for secret in ["s3cret", "127.0.0.1"] {
            assert!(!run.stderr.contains(secret), "{name}: {run}");
        }
        if let Some(collector) = collector {
            // A small part of the gigabyte is in the buffers of the connection.
            collector.received(|it| assert!(it.answered < 64 << 20, "{}", it.answered));
        }
    }
    elsewhere.received(|it| assert_eq!(it.headers.len(), 0));
}

/// The end comes before the time-out of an export, which is ten seconds by default.
#[test]
fn a_collector_that_never_answers_is_the_reason_of_the_warning() {
    let folder = folder();
    let silent = Collector::http(Answers::Never);
    let url = format!("http://{}", silent.address);
    let run = sh(&folder, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &*url)], RUN).exits_with(0);
    let said = "warning: 2 of 2 score events and the metrics did not reach the OpenTelemetry collector: no answer within 5 s\n";
    assert!(run.stderr.contains(said), "{run}");
}

#[test]
fn a_collector_over_grpc_that_is_not_there_changes_nothing_of_a_run() {
    let folder = folder();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = Collector::http(Answers::Never);
    for address in [nobody, silent.address] {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{address}")),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "500"),
        ];
        let run = sh(&folder, &variables, RUN).exits_with(0);
        let warning =
            "2 of 2 score events and the metrics did not reach the OpenTelemetry collector: ";
        assert!(run.stderr.contains(warning), "{run}");
        assert!(!run.stderr.contains("s3cret"), "{run}");
    }
}

/// A server that answers this to the first bytes that it reads.
fn answering(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer);
            });
        }
    });
    address
}

#[test]
fn a_collector_that_speaks_otherwise_is_reported_with_what_to_look_at() {
    let folder = folder();
    // No test can listen there by chance, because the port is privileged.
    let nobody = "127.0.0.1:1";
    let plain = answering(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    // An alert, which a TLS server sends to a client that does not use TLS.
    let with_tls = answering(b"\x15\x03\x01\x00\x02\x02\x46");
    for (protocol, url, why) in [
        ("grpc", format!("http://{nobody}"), "cannot connect to it"),
        ("grpc", format!("http://{plain}"), "it does not use gRPC at this address"),
        ("grpc", format!("https://{plain}"), "it answers without TLS"),
        ("grpc", format!("http://{with_tls}"), "its address begins with https://"),
        ("http/protobuf", format!("https://{plain}"), "it answers without TLS"),
        ("http/protobuf", format!("http://{with_tls}"), "its address begins with https://"),
    ] {
        let variables =
            [("OTEL_EXPORTER_OTLP_PROTOCOL", protocol), ("OTEL_EXPORTER_OTLP_TIMEOUT", "2000")];
        let run = sh(&folder, &variables, &format!("{RUN} --otlp={url}")).exits_with(0);
        let warning = run.stderr.lines().find(|line| line.contains("OpenTelemetry"));
        let warning = warning.unwrap_or_else(|| panic!("{protocol} {url}: {run}"));
        assert!(warning.contains(why), "{protocol} {url}: {warning}");
        for word in ["Tonic", "http2", "transport", "network error", "corrupt"] {
            assert!(!warning.contains(word), "{protocol} {url}: {warning}");
        }
    }
}

#[test]
fn an_address_that_cannot_be_one_is_an_error_if_the_user_gave_it() {
    let folder = folder();
    let given = sh(&folder, &[], &format!("{RUN} --otlp='http://pa55word:x y'")).exits_with(2);
    let message = "the address of the OpenTelemetry collector for logs is not a valid HTTP URL";
    assert!(given.stderr.contains(&format!("error: {message}")), "{given}");
    assert!(!folder.path("scorebox.db").exists());
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://pa55word:x y")];
    let inherited = sh(&folder, &variables, RUN).exits_with(0);
    let warning = format!("warning: nothing is sent to OpenTelemetry: {message}");
    assert!(inherited.stderr.contains(&warning), "{inherited}");
    for run in [given, inherited] {
        assert!(!run.stderr.contains("pa55word"), "{run}");
    }
    let variables = [("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")];
    let url = Collector::http(Answers::Well);
    let run = sh(&folder, &variables, &format!("{RUN} --otlp={}", url.url())).exits_with(0);
    let warning =
        "OTEL_EXPORTER_OTLP_PROTOCOL is neither `grpc` nor `http/protobuf`; the second is used";
    assert!(run.stderr.contains(warning), "{run}");
}

/// A client would take the added path for the host, and send scores to the owner of that name.
#[test]
fn an_address_without_a_host_or_with_a_port_that_is_none_is_refused_before_the_first_score() {
    let folder = folder();
    let of_logs = "the address of the OpenTelemetry collector for logs";
    for (address, why) in [
        ("http://", "names no host"),
        ("http://:4318", "names no host"),
        ("http://127.0.0.1:99999", "is not a valid HTTP URL"),
    ] {
        let given = sh(&folder, &[], &format!("{RUN} --otlp={address}")).exits_with(2);
        assert!(given.stderr.contains(&format!("error: {of_logs} {why}\nhint: ")), "{given}");
        assert!(!folder.path("scorebox.db").exists());
    }
    let inherited = sh(&folder, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://")], RUN).exits_with(0);
    let warning = format!("warning: nothing is sent to OpenTelemetry: {of_logs} names no host\n");
    assert!(inherited.stderr.contains(&warning), "{inherited}");
}

#[test]
fn an_address_in_another_form_than_it_must_have_is_refused_and_the_form_said() {
    let folder = folder();
    for address in ["127.0.0.1:4318", "localhost:4318"] {
        let given = sh(&folder, &[], &format!("{RUN} --otlp={address}")).exits_with(2);
        let hint =
            "hint: write the whole address, with http:// or https://, as in http://localhost:4318";
        assert!(given.stderr.contains(hint), "{given}");
    }
    let given = sh(&folder, &[], &format!("{RUN} --otlp http://127.0.0.1:9")).exits_with(2);
    assert_eq!(
        given.stderr,
        "error: the address after `--otlp` is taken for a file of cases\n\
         hint: write it with an equals sign and no space: --otlp=URL\n",
        "{given}"
    );
    assert!(!folder.path("scorebox.db").exists());
}

/// The user name or the query would be left out.
#[test]
fn an_address_with_a_user_name_or_a_query_is_refused_and_the_way_said() {
    let folder = folder();
    for (address, message, hint) in [
        (
            "http://user:pa55word@127.0.0.1:9",
            "has a user name or a password in it, which cannot be sent",
            "send it as a header: OTEL_EXPORTER_OTLP_HEADERS=authorization=Basic%20…",
        ),
        (
            "http://127.0.0.1:9/v1?key=pa55word",
            "has a query or a fragment, and a path must be added to it",
            "name the whole address of each signal: OTEL_EXPORTER_OTLP_LOGS_ENDPOINT and \
             OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, without --otlp=URL",
        ),
    ] {
        let message = format!("the address of the OpenTelemetry collector for logs {message}");
        let given = sh(&folder, &[], &format!("{RUN} --otlp='{address}'")).exits_with(2);
        assert!(given.stderr.contains(&format!("error: {message}\n")), "{given}");
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", address)];
        let inherited = sh(&folder, &variables, RUN).exits_with(0);
        let warning = format!("warning: nothing is sent to OpenTelemetry: {message}\n");
        assert!(inherited.stderr.contains(&warning), "{inherited}");
        for run in [given, inherited] {
            assert!(run.stderr.contains(&format!("hint: {hint}\n")), "{run}");
            assert!(!run.stderr.contains("pa55word"), "{run}");
        }
    }
    // A complete URL keeps its query.
    let collector = Collector::http(Answers::Well);
    let url = format!("{}/v1/logs?tenant=a", collector.url());
    let variables = [("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", &*url)];
    sh(&folder, &variables, RUN).exits_with(0);
    assert_eq!(collector.records().len(), 2);
}
