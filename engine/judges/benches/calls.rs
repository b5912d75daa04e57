//! Measures calls of one provider to a server on the loopback interface that takes 200 ms for each: how close they come
//! to the ideal time, and how much memory they take. Checks nothing.
//!
//!     cargo bench --bench calls -- [CALLS [CONCURRENCY]]

// A bench prints its figures on standard output.
#![allow(clippy::print_stdout)]

use std::{
    env, fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use scorebox::judge::{Generation, JudgeSettings, Message, ProviderSettings, Question, Role};

/// How long the server takes for an answer.
const THINKING: Duration = Duration::from_millis(200);

/// The characters of a question.
const LENGTH: usize = 4000;

const ANSWER: &str = r#"{"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1}}"#;

#[tokio::main]
async fn main() {
    let numbers: Vec<usize> = env::args().filter_map(|it| it.parse().ok()).collect();
    let calls = numbers.first().copied().unwrap_or(1000);
    let concurrency = numbers.get(1).copied().unwrap_or(100);
    let address = serve();
    let base_url = format!("http://{address}/v1");
    let mut settings = JudgeSettings::new(ProviderSettings::OpenAi { base_url, key_env: None });
    settings.concurrency = concurrency;
    let judge = scorebox_judges::connect(&settings, None).unwrap();
    let before = memory();
    let (began, retried) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
    let next = Arc::new(AtomicUsize::new(0));
    // There are more callers than slots, and enough of them that memory shows what each call takes.
    let callers = (0..3 * concurrency).map(|_| {
        let (judge, retried, next) = (judge.clone(), retried.clone(), next.clone());
        tokio::spawn(async move {
            loop {
                let number = next.fetch_add(1, Relaxed);
                if number >= calls {
                    break;
                }
                let answer = judge.ask(&question(number), Duration::from_secs(60)).await.unwrap();
                retried.fetch_add(answer.attempts as usize - 1, Relaxed);
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    let took = began.elapsed().as_secs_f64();
    let ideal = (calls as f64 / concurrency as f64).ceil() * THINKING.as_secs_f64();
    let rate = calls as f64 / took;
    println!(
        "{calls} calls, {concurrency} at once: {took:.3} s, {rate:.0} a second, {:.3} times the ideal time of {ideal:.1} s; \
         {} retried; memory {before} to {} kB with the server",
        took / ideal,
        retried.load(Relaxed),
        memory()
    );
}

fn question(number: usize) -> Question {
    let text = format!("{number} {}", "x".repeat(LENGTH));
    Question::Generate(Generation {
        model: "m".into(),
        messages: vec![Message { role: Role::User, text }],
        max_output_tokens: Some(16),
        ..Generation::default()
    })
}

/// Starts a server on its own thread.
fn serve() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let service = service_fn(|request: hyper::Request<Incoming>| async {
                    request.into_body().collect().await?;
                    tokio::time::sleep(THINKING).await;
                    let body = Full::new(Bytes::from_static(ANSWER.as_bytes()));
                    let json = Response::builder().header("content-type", "application/json");
                    Ok::<_, hyper::Error>(json.body(body).unwrap())
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
    });
    address
}

/// The most memory that this process has used so far, in kilobytes; 0 if the system does not report it.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}
