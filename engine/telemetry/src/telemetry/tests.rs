//! Tests the end of an export to servers on the loopback interface that answer, reject or never answer.

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
use crate::{address::Speaks, settings::Signal};

/// Handles each connection to a new address on its own thread.
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

/// Reads everything, and never answers.
fn listen(mut connection: TcpStream) {
    while connection.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
}

/// The answer that accepts a request except for one item.
const REJECT_ONE: [u8; 10] = *b"\x0a\x08\x08\x01\x12\x04s3kt";

/// Reads a request, and sends this answer.
fn answer(mut connection: TcpStream, body: &[u8]) {
    let mut request = Vec::new();
    while !is_whole(&request) {
        let mut part = [0; 4096];
        let read = connection.read(&mut part).unwrap();
        assert!(read > 0, "the request is cut");
        request.extend_from_slice(&part[..read]);
    }
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    connection.write_all(&[head.as_bytes(), body].concat()).unwrap();
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some(head) = text.split("\r\n\r\n").next().filter(|head| head.len() < text.len()) else {
        return false;
    };
    let length = head.split("content-length: ").nth(1).and_then(|it| it.lines().next());
    request.len() >= head.len() + 4 + length.unwrap().parse::<usize>().unwrap()
}

/// Telemetry over a protocol, with a metric and two score events; `room` limits how many may wait.
fn with_two_scores(address: SocketAddr, speaks: Speaks, room: u64) -> Telemetry {
    let route = |signal| Route {
        signal,
        speaks,
        given: Some(format!("http://{address}")),
        is_encrypted: false,
        flaw: None,
        timeout: Duration::from_secs(600),
        certificate: None,
    };
    let settings = Settings {
        logs: Some(route(Signal::Logs)),
        metrics: Some(route(Signal::Metrics)),
        interval: Duration::from_secs(600),
        room,
        batch: 512,
        delay: Duration::from_secs(600),
        attributes: Vec::new(),
        warnings: Vec::new(),
    };
    let telemetry = begin(settings, false).unwrap();
    let going = telemetry.going.as_ref().unwrap();
    let (logger, _) = going.logs.as_ref().unwrap();
    for _ in 0..2 {
        if going.log_delivery.offer(false) {
            logger.emit(logger.create_log_record());
        }
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
        let telemetry = with_two_scores(address, speaks, 2);
        let deliveries = deliveries(&telemetry);
        let delivered = telemetry.end();
        assert_eq!((delivered.events, delivered.events_sent), (2, 0));
        assert!(delivered.metrics_lost);
        assert_eq!(delivered.reason.as_deref(), Some("no answer within 5 s"), "{speaks:?}");
        // The exporters' threads hold the last references.
        while deliveries.iter().any(|it| it.strong_count() > 0) {
            thread::sleep(Duration::from_millis(10));
        }
    }
    assert_eq!(PANICS.load(Ordering::SeqCst), 0);
}

#[test]
fn what_is_rejected_in_an_answer_of_success_is_counted() {
    let delivered = with_two_scores(server(|it| answer(it, &REJECT_ONE)), Speaks::Http, 2).end();
    assert_eq!((delivered.events, delivered.events_sent), (2, 1));
    assert!(delivered.metrics_lost);
    assert_eq!(delivered.reason.as_deref(), Some("it rejected a part"));
}

#[test]
fn what_finds_no_room_is_the_reason_if_the_collector_answers() {
    let delivered = with_two_scores(server(|it| answer(it, b"")), Speaks::Http, 1).end();
    assert_eq!((delivered.events, delivered.events_sent), (2, 1));
    assert!(!delivered.metrics_lost);
    assert_eq!(delivered.reason.as_deref(), Some("at most 1 may wait to be sent"));
}

#[test]
fn one_that_answered_is_not_said_to_be_silent() {
    let deliveries = [1, 2].map(|room| Delivery::new(room, END));
    let said = || why(deliveries.each_ref(), Some(END), 1, true).unwrap();
    assert_eq!(said(), "no answer within 5 s");
    deliveries[1].settle(1, Ok(()));
    assert_eq!(said(), "not sent within 5 s");
    deliveries[0].note_cause("it answered with status 429");
    assert_eq!(said(), "it answered with status 429");
}

#[test]
fn only_addresses_of_the_web_are_taken() {
    let error = Telemetry::builder().endpoint("ftp://x").start().unwrap_err();
    let said = "the address of the OpenTelemetry collector for logs is not a valid HTTP URL";
    assert_eq!(error.to_string(), said);
    for (address, what) in [
        ("http://user:k3y@x", "has a user name or a password in it, which cannot be sent"),
        ("http://x/?key=k3y", "has a query or a fragment, and a path must be added to it"),
    ] {
        let error = Telemetry::builder().endpoint(address).start().unwrap_err();
        let said = format!("the address of the OpenTelemetry collector for logs {what}");
        assert_eq!(error.to_string(), said);
    }
}
