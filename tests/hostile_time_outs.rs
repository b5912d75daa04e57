//! A time-out ends the work and never leaves it running. The tests measure the CPU time that the process uses
//! afterwards, so each of them runs in a separate process.

use std::{env, fs, process::Command, thread, time::Duration};

use scorebox::sandbox::{CompileLimits, ErrorKind, Limits, Sandbox};
use serde_json::json;

use crate::{
    hostile_compiling::a_million_instructions,
    hostile_files::with_module,
    hostile_fixture::{
        attacker, attacker_in_describe, children, compiling_as_the_command_line_does,
    },
    sandbox_fixture::{guest, kind, output, refusal, try_load, uncached},
};

/// How long a process is watched after a time-out.
const WATCHED: Duration = Duration::from_millis(500);
/// The CPU time that an idle process may use meanwhile: for clock ticks, and for freeing memory.
const IDLE: Duration = Duration::from_millis(100);

/// Set in the separate process.
const ALONE: &str = "SCOREBOX_TEST_ALONE";

/// Runs this test again in a process that has nothing else to do; returns true in that process.
fn alone(test: &str) -> bool {
    if env::var_os(ALONE).is_some() {
        return true;
    }
    let mut itself = Command::new(env::current_exe().unwrap());
    itself.args(["--exact", &format!("hostile_time_outs::{test}"), "--nocapture"]);
    let ended = itself.env(ALONE, "").output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(
        ended.status.success() && ended.stdout.windows(8).any(|it| it == b"1 passed"),
        "{words}"
    );
    false
}

/// The CPU time that all threads of this process have used.
fn cpu_time() -> Duration {
    /// The kernel's unit, which is the same on all machines that run Linux.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    // User and system time are the 14th and 15th fields; the name is the second.
    let ticks = after_name.split_whitespace().skip(11).take(2).map(|it| it.parse::<u32>().unwrap());
    TICK * ticks.sum::<u32>()
}

#[track_caller]
fn nothing_continues() {
    let before = cpu_time();
    // Nothing must happen during this time.
    thread::sleep(WATCHED);
    let used = cpu_time() - before;
    assert!(used < IDLE, "{used:?} of CPU time in the {WATCHED:?} after the time-out");
}

fn short() -> Limits {
    let time = Duration::from_millis(200);
    Limits::default().with_fuel(u64::MAX).with_timeout(time).with_loading_timeout(time)
}

/// Scores once, which the clock must end.
#[tokio::main(flavor = "current_thread")]
async fn time_out(sandbox: &Sandbox, component: &[u8], settings: serde_json::Value) {
    let scorer = try_load(sandbox, component, &settings, &short()).await.unwrap();
    assert_eq!(kind(&scorer.score(output("1")).await), Some(ErrorKind::TimedOut));
}

#[test]
fn a_guest_that_computes_is_stopped_and_not_left() {
    if alone("a_guest_that_computes_is_stopped_and_not_left") {
        let sandbox = uncached(1);
        time_out(&sandbox, &attacker("attacker"), json!({"score": "spin"}));
        nothing_continues();
    }
}

#[test]
fn a_guest_that_logs_without_end_is_stopped_and_not_left() {
    if alone("a_guest_that_logs_without_end_is_stopped_and_not_left") {
        let sandbox = uncached(1);
        time_out(&sandbox, &attacker("attacker"), json!({"score": "log-without-end"}));
        nothing_continues();
    }
}

#[test]
fn a_guest_that_waits_in_a_host_call_is_stopped_and_not_left() {
    if alone("a_guest_that_waits_in_a_host_call_is_stopped_and_not_left") {
        let sandbox = uncached(1);
        time_out(&sandbox, &guest("sleeper"), json!({"ms": u64::MAX}));
        nothing_continues();
    }
}

/// Loads a scorer, which the clock must end.
#[tokio::main]
async fn time_out_of_loading(sandbox: &Sandbox, component: &[u8], settings: serde_json::Value) {
    let loaded = try_load(sandbox, component, &settings, &short()).await;
    assert_eq!(refusal(loaded).kind, ErrorKind::TimedOut);
}

#[test]
fn a_guest_that_computes_in_describe_is_stopped_and_not_left() {
    if alone("a_guest_that_computes_in_describe_is_stopped_and_not_left") {
        let sandbox = uncached(1);
        time_out_of_loading(&sandbox, &attacker_in_describe("spin"), json!({}));
        nothing_continues();
    }
}

#[test]
fn a_guest_that_computes_in_configure_is_stopped_and_not_left() {
    if alone("a_guest_that_computes_in_configure_is_stopped_and_not_left") {
        let sandbox = uncached(1);
        time_out_of_loading(&sandbox, &attacker("attacker"), json!({"configure": "spin"}));
        nothing_continues();
    }
}

#[test]
fn many_guests_that_compute_at_once_are_all_stopped() {
    if alone("many_guests_that_compute_at_once_are_all_stopped") {
        let sandbox = uncached(8);
        time_out_of_many(&sandbox);
        nothing_continues();
    }
}

#[tokio::main]
async fn time_out_of_many(sandbox: &Sandbox) {
    let settings = json!({"score": "spin"});
    let scorer = try_load(sandbox, &attacker("attacker"), &settings, &short()).await.unwrap();
    let scorer = std::sync::Arc::new(scorer);
    let mut scores = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let scorer = std::sync::Arc::clone(&scorer);
        scores.spawn(async move { kind(&scorer.score(output("1")).await) });
    }
    assert_eq!(scores.join_all().await, vec![Some(ErrorKind::TimedOut); 8]);
}

#[test]
fn a_compiler_that_takes_too_long_is_ended_and_not_left() {
    if alone("a_compiler_that_takes_too_long_is_ended_and_not_left") {
        let timeout = Duration::from_millis(300);
        let limits = CompileLimits::default().with_timeout(timeout);
        let sandbox = compiling_as_the_command_line_does(&limits);
        too_long_to_compile(&sandbox);
        nothing_continues();
        let busy = children(std::process::id()).into_iter().filter(|process| is_alive(*process));
        assert_eq!(busy.count(), 0);
    }
}

#[tokio::main]
async fn too_long_to_compile(sandbox: &Sandbox) {
    let bomb = with_module(&attacker("attacker"), &a_million_instructions());
    let loaded = try_load(sandbox, &bomb, &json!({}), &Limits::default()).await;
    assert_eq!(refusal(loaded).kind, ErrorKind::InvalidComponent);
}

/// Whether a process can still run, and is not a zombie.
fn is_alive(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}
