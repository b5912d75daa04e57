//! `scorebox run` and `live` with an OpenTelemetry collector: what the collector receives. Also the same sink in a
//! program. `command_telemetry_failures` tests collectors that are slow or misbehave.

use std::{collections::BTreeMap, io::Write as _, process::Stdio};

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use scorebox::{
    case::Case,
    engine::Engine,
    sandbox::{CompileLimits, Compiler},
    suite::Suite,
};
use scorebox_telemetry::{Telemetry, TelemetryError};
use serde_json::json;

use crate::{
    collector::{Answers, Collector, attributes, text},
    fixture::{Folder, Output},
    sandbox_fixture::shared_cache,
};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";
pub(crate) const RUN: &str = "scorebox run suite.toml cases.jsonl --allow-errors -q";

/// A score, an error, a skipped case, and a scorer that does not apply.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    let cases = [
        json!({"id": "good", "nodeId": "sums", "output": "4", "groundTruth": "4", "attempt": 2,
            "metadata": {"label": "a", "traceId": TRACE, "spanId": SPAN}}),
        json!({"id": "broken", "output": "5"}),
        json!({"id": "left", "output": "4", "groundTruth": "4", "skip": "flaky"}),
    ];
    let lines = cases.map(|case| format!("{case}\n"));
    folder.write("cases.jsonl", lines.concat());
    let suite = "[scorers.right]\nuse = \"exact-match\"\nname = \"Is it right?\"\n\
                 [scorers.labels]\nuse = \"label-distribution\"\n";
    folder.write("suite.toml", suite);
    folder
}

/// Runs a line of shell with these environment variables.
pub(crate) fn sh(folder: &Folder, variables: &[(&str, &str)], line: &str) -> Output {
    let output = folder.shell(line).envs(variables.iter().copied()).output().unwrap();
    Output {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

/// Checks what a collector has received after a run of the folder, over either protocol.
#[track_caller]
pub(crate) fn has_the_run(collector: &Collector) {
    let mut records = collector.records();
    records.sort_by_key(|(_, attributes)| attributes["scorebox.case.id"].clone());
    let [(broken, of_broken), (good, of_good)] = &records[..] else { panic!("{records:?}") };
    for record in [broken, good] {
        assert_eq!(record.event_name, "gen_ai.evaluation.result");
        assert!(record.time_unix_nano > 1_700_000_000_000_000_000);
    }
    let expected = [
        ("gen_ai.evaluation.name", "right"),
        ("gen_ai.evaluation.score.value", "1"),
        ("scorebox.attempt", "2"),
        ("scorebox.case.id", "good"),
        ("scorebox.iteration", "0"),
        ("scorebox.node.id", "sums"),
        ("scorebox.reused", "false"),
        ("scorebox.run.id", "r"),
        ("scorebox.scorer.name", "Is it right?"),
    ];
    let mut found = of_good.clone();
    assert!(found.remove("gen_ai.evaluation.explanation").is_some_and(|it| !it.is_empty()));
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    assert_eq!(found, expected.map(owned).into_iter().collect());
    assert_eq!((hex(&good.trace_id), hex(&good.span_id)), (TRACE.to_owned(), SPAN.to_owned()));
    assert_eq!(good.severity_text, "INFO");

    assert_eq!(of_broken["error.type"], "invalid-input");
    assert!(!of_broken.contains_key("gen_ai.evaluation.score.value"));
    assert!(text(broken.body.as_ref()).contains("groundTruth"), "{broken:?}");
    assert_eq!((broken.trace_id.len(), broken.severity_text.as_str()), (0, "WARN"));

    // `right` and `labels` on two cases each.
    for (name, sum) in [
        ("smithers.scorers.started", 4),
        ("smithers.scorers.finished", 3),
        ("smithers.scorers.failed", 1),
        ("scorebox.cases.finished", 3),
        ("scorebox.scores.reused", 0),
        ("scorebox.queue.length", 0),
    ] {
        assert_eq!(collector.sum(name), sum, "{name}");
    }
    assert!(collector.sum("scorebox.scorer.fuel") > 1000);
    assert_eq!(collector.sum("scorebox.cache.hits") + collector.sum("scorebox.cache.misses"), 2);
    let failed = collector.metric("smithers.scorers.failed").unwrap();
    let Some(Data::Sum(failed)) = failed.data else { panic!("{failed:?}") };
    assert!(failed.is_monotonic);
    let expected = [
        ("error.type", "invalid-input"),
        ("scorebox.scorer.id", "right"),
        ("scorebox.scorer.name", "Is it right?"),
    ];
    assert_eq!(
        attributes(&failed.data_points[0].attributes),
        expected.map(owned).into_iter().collect()
    );
    let durations = collector.metric("smithers.scorer.duration_ms").unwrap();
    assert_eq!(durations.unit, "ms");
    let Some(Data::Histogram(durations)) = durations.data else { panic!("{durations:?}") };
    assert_eq!(durations.data_points.iter().map(|point| point.count).sum::<u64>(), 4);
    for point in &durations.data_points {
        let bounds: Vec<f64> = (0..14).map(|power| 10.0 * f64::from(1 << power)).collect();
        assert_eq!(point.explicit_bounds, bounds);
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count);
        assert!(point.sum.unwrap() > 0.0);
    }
    // Both name the program.
    collector.received(|received| {
        let logs = received.logs.iter().flat_map(|it| &it.resource_logs).map(|it| &it.resource);
        let metrics = received.metrics.iter().flat_map(|it| &it.resource_metrics);
        for resource in logs.chain(metrics.map(|it| &it.resource)) {
            let attributes = attributes(&resource.as_ref().unwrap().attributes);
            assert_eq!(attributes["service.name"], "scorebox");
            assert_eq!(attributes["service.version"], env!("CARGO_PKG_VERSION"));
        }
    });
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_collector_that_the_environment_names_gets_metrics_and_scores() {
    let folder = folder();
    let collector = Collector::http(Answers::Well);
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url())];
    let run = sh(&folder, &variables, &format!("{RUN} --run-id r")).exits_with(0);
    assert!(!run.stderr.contains("OpenTelemetry"), "{run}");
    has_the_run(&collector);
}

#[test]
fn grpc_and_compression_send_the_same() {
    let folder = folder();
    for compression in ["none", "gzip"] {
        let grpc = Collector::grpc(None);
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*grpc.url()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", compression),
        ];
        let line = format!("{RUN} --run-id r --db grpc-{compression}.db");
        sh(&folder, &variables, &line).exits_with(0);
        has_the_run(&grpc);
    }
    let http = Collector::http(Answers::Well);
    let variables = [("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")];
    sh(&folder, &variables, &format!("{RUN} --run-id r --otlp={}/", http.url())).exits_with(0);
    http.received(|it| assert!(it.headers.iter().all(|it| it["content-encoding"] == "gzip")));
    has_the_run(&http);
}

#[test]
fn headers_and_the_names_of_the_service_are_those_of_the_environment() {
    let folder = folder();
    let (logs, metrics) = (Collector::http(Answers::Well), Collector::http(Answers::Well));
    let variables = [
        ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", &*format!("{}/v1/logs", logs.url())),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", &*format!("{}/v1/metrics", metrics.url())),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=all,x-team=evals%20team"),
        ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "x-key=metrics"),
        ("OTEL_SERVICE_NAME", "nightly"),
        (
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=ci%20at%2Cnight,service.version=7",
        ),
    ];
    sh(&folder, &variables, RUN).exits_with(0);
    for (collector, key) in [(&logs, "all"), (&metrics, "metrics")] {
        collector.received(|it| {
            assert!(!it.headers.is_empty());
            assert!(it.headers.iter().all(|headers| headers["x-key"] == key));
        });
    }
    logs.received(|it| {
        assert_eq!((it.headers[0]["x-team"].as_str(), it.metrics.len()), ("evals team", 0));
        let resource = it.logs[0].resource_logs[0].resource.as_ref().unwrap();
        let attributes = attributes(&resource.attributes);
        let found = ["service.name", "service.version", "deployment.environment.name"]
            .map(|key| attributes[key].as_str());
        assert_eq!(found, ["nightly", "7", "ci at,night"]);
    });
    metrics.received(|it| assert_eq!((it.logs.len(), it.metrics.len()), (0, 1)));
}

#[test]
fn nothing_is_sent_unless_it_is_asked_for() {
    let folder = folder();
    let collector = Collector::http(Answers::Well);
    let url = collector.url();
    for off in [
        &[("OTEL_SDK_DISABLED", "true"), ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url)][..],
        &[
            ("OTEL_LOGS_EXPORTER", "none"),
            ("OTEL_METRICS_EXPORTER", "none"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url),
        ],
        &[("OTEL_EXPORTER_OTLP_HEADERS", "x-key=s3cret")],
    ] {
        let run = sh(&folder, off, RUN).exits_with(0);
        assert!(!run.stderr.contains("OpenTelemetry"), "{run}");
    }
    sh(&folder, &[("OTEL_SDK_DISABLED", "true")], &format!("{RUN} --otlp={url}")).exits_with(0);
    collector.received(|it| assert_eq!(it.headers.len(), 0));
}

#[test]
fn a_score_that_is_copied_did_not_run_again_and_is_an_event_again() {
    let folder = folder();
    let collector = Collector::http(Answers::Well);
    sh(&folder, &[], RUN).exits_with(0);
    let url = collector.url();
    sh(&folder, &[], &format!("{RUN} --reuse --otlp={url}")).exits_with(0);
    // The text of the error is not copied.
    assert_eq!(collector.sum("scorebox.scores.reused"), 3);
    assert_eq!(collector.sum("smithers.scorers.started"), 1);
    assert_eq!(collector.sum("smithers.scorers.failed"), 1);
    assert_eq!(collector.sum("scorebox.cache.hits"), 2);
    let reused: BTreeMap<String, String> = collector
        .records()
        .into_iter()
        .map(|(_, mut it)| {
            (it.remove("scorebox.case.id").unwrap(), it.remove("scorebox.reused").unwrap())
        })
        .collect();
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    assert_eq!(reused, [("broken", "false"), ("good", "true")].map(owned).into_iter().collect());
}

/// While the input is still open.
#[test]
fn live_scores_are_sent_as_they_come() {
    let folder = folder();
    let collector = Collector::http(Answers::Well);
    let mut shell = folder.shell("exec scorebox live suite.toml -q --allow-errors");
    shell
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url())
        .env("OTEL_METRIC_EXPORT_INTERVAL", "50")
        .env("OTEL_BLRP_SCHEDULE_DELAY", "50");
    let mut live =
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = live.stdin.take().unwrap();
    for number in 1..4 {
        writeln!(input, "{}", json!({"output": number, "groundTruth": number})).unwrap();
        collector.until(|it| it.logs.len() >= number);
    }
    let finished = |collector: &Collector| collector.sum("smithers.scorers.finished");
    let before = collector.received(|it| it.metrics.len());
    collector.until(|it| it.metrics.len() > before + 1);
    assert_eq!(finished(&collector), 6);
    drop(input);
    assert!(live.wait().unwrap().success());
    assert_eq!((finished(&collector), collector.records().len()), (6, 3));
}

/// The sink in a program: the counts of two runs add up, and the queue of live scoring and the outcome are reported.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_passes_its_runs_to_a_sink() {
    let missing = Telemetry::builder().endpoint("http://").start();
    assert!(matches!(missing, Err(TelemetryError::Host { .. })), "{missing:?}");

    let http = Collector::http(Answers::Well);
    let telemetry = Telemetry::builder().endpoint(http.url()).start().unwrap();
    let patient = CompileLimits::default().with_timeout(std::time::Duration::from_secs(600));
    let engine = Engine::builder()
        .jobs(2)
        .cache(shared_cache())
        .compiler(Compiler::InProcess)
        .compile_limits(patient)
        .build()
        .unwrap();
    let suite: Suite = "[scorers.exact-match]".parse().unwrap();
    let suite = engine.load(suite).await.unwrap();
    let case = |output: u32| {
        let case = json!({"output": output, "groundTruth": 1, "traceId": TRACE}).to_string();
        case.parse::<Case>().unwrap()
    };
    for _ in 0..2 {
        let live = suite.live().sink(telemetry.sink()).start().await.unwrap();
        let counting = live.counting();
        telemetry.watch_queue(move || counting().waiting);
        assert!(live.score_live(case(1)) && live.score_live(case(2)));
        live.shutdown().await.unwrap();
    }
    let delivered = tokio::task::spawn_blocking(|| telemetry.end()).await.unwrap();
    assert_eq!((delivered.events, delivered.events_sent), (4, 4));
    assert!(delivered.is_complete() && delivered.reason.is_none(), "{delivered:?}");
    assert_eq!(http.sum("smithers.scorers.finished"), 4);
    assert!(http.metric("scorebox.queue.length").is_some());
    for (record, attributes) in http.records() {
        assert_eq!(hex(&record.trace_id), TRACE);
        assert!(record.span_id.iter().all(|byte| *byte == 0), "{:?}", record.span_id);
        assert_eq!(attributes["gen_ai.evaluation.name"], "exact-match");
    }
}
