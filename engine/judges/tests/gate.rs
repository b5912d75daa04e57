//! Tests how many calls run at once and begin in a minute, which calls wait, and what a dropped call leaves behind.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use scorebox::judge::{AskErrorKind, Halt, Load};
use tokio::sync::Semaphore;

use crate::{
    asking::{LONG, asked, ends_at_once, judge_with, question, refuses, says, until},
    server::Server,
};

#[tokio::test]
async fn no_more_calls_run_at_once_than_the_suite_says() {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let server = Server::start(move |_| Some(says("Yes.").after(&held))).await;
    let judge = judge_with(&server, |settings| settings.concurrency = 3);
    let most = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let judge = Arc::clone(&judge);
            tokio::spawn(async move { asked(&*judge, &question("Is it?")).await })
        })
        .collect();
    for answered in 0..10 {
        let expected =
            Load::new(7_usize.saturating_sub(answered) as u64, (10 - answered).min(3) as u64, 0);
        until(|| server.count() == (answered + 3).min(10) && judge.load() == expected).await;
        most.fetch_max(server.count() - answered, SeqCst);
        gate.add_permits(1);
    }
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), "Yes.");
    }
    assert_eq!((most.load(SeqCst), judge.load()), (3, Load::default()));
}

#[tokio::test]
async fn a_dropped_call_gives_its_place_to_the_next() {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let server = Server::start(move |asked| {
        let answer = says("Yes.");
        Some(if asked.number == 0 { answer.after(&held) } else { answer })
    })
    .await;
    let judge = judge_with(&server, |settings| settings.concurrency = 1);
    let question = question("Is it?");
    let mut first = judge.ask(&question, LONG);
    let mut second = judge.ask(&question, LONG);
    let mut third = judge.ask(&question, LONG);
    for call in [&mut first, &mut second, &mut third] {
        assert!(!ends_at_once(call).await);
    }
    tokio::select! {
        _ = &mut first => panic!("the server waits"),
        () = until(|| server.count() == 1) => {}
    }
    assert_eq!(judge.load(), Load::new(2, 1, 0));
    drop(second);
    assert_eq!(judge.load(), Load::new(1, 1, 0));
    drop(first);
    assert_eq!(judge.load(), Load::new(1, 0, 0));
    assert_eq!(third.await.unwrap().attempts, 1);
    assert_eq!(judge.load(), Load::default());
}

#[tokio::test]
async fn no_more_calls_begin_in_a_minute_than_the_suite_says() {
    let server = Server::start(|_| Some(says("Yes."))).await;
    let judge = judge_with(&server, |settings| settings.requests_per_minute = Some(180));
    // As many at once as a second has.
    for _ in 0..3 {
        asked(&*judge, &question("Is it?")).await.unwrap();
    }
    let judge = judge_with(&server, |settings| settings.requests_per_minute = Some(1));
    asked(&*judge, &question("Is it?")).await.unwrap();
    let question = question("Is it?");
    let mut second = judge.ask(&question, LONG);
    assert!(!ends_at_once(&mut second).await);
    assert_eq!((judge.load(), server.count()), (Load::new(1, 0, 0), 4));
}

#[tokio::test]
async fn a_server_that_asks_to_wait_is_not_asked_by_others_either() {
    let server = Server::start(|asked| {
        Some(match asked.number {
            0 => refuses(429, "later").with("retry-after", "60"),
            _ => says("Yes."),
        })
    })
    .await;
    let judge = judge_with(&server, |_| {});
    let error = asked(&*judge, &question("Is it?")).await.unwrap_err();
    assert_eq!(error.kind, AskErrorKind::Unavailable);
    let question = question("Is it?");
    let mut second = judge.ask(&question, LONG);
    assert!(!ends_at_once(&mut second).await);
    assert_eq!(judge.load(), Load::new(1, 0, 0));
    // Calls to another server are not delayed.
    let other = Server::start(|_| Some(says("Yes."))).await;
    assert_eq!(asked(&*judge_with(&other, |_| {}), &question).await.unwrap(), "Yes.");
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_call_that_waits_for_another_attempt_keeps_its_place_and_counts_as_waiting() {
    let server = Server::start(|_| Some(refuses(503, "later").with("retry-after", "60"))).await;
    let judge = judge_with(&server, |settings| {
        settings.retries = 1;
        settings.concurrency = 1;
    });
    let question = question("Is it?");
    let mut call = judge.ask(&question, LONG);
    tokio::select! {
        _ = &mut call => panic!("it waits for a minute"),
        () = until(|| server.count() == 1 && judge.load() == Load::new(1, 0, 0)) => {}
    }
    drop(call);
    assert_eq!(judge.load(), Load::default());
}

#[tokio::test]
async fn all_attempts_together_end_when_the_time_of_the_score_is_over() {
    let held = Arc::new(Semaphore::new(0));
    let silent = Server::start(move |_| Some(says("Yes.").after(&held))).await;
    let judge = judge_with(&silent, |settings| settings.retries = 4);
    let error = judge.ask(&question("Is it?"), Duration::from_millis(20)).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::TimedOut, 1));
    let expected = "no answer in 1 attempt within 0.02 s, the time that is left for the score";
    assert_eq!(error.message, expected);
}

#[tokio::test]
async fn no_attempt_is_waited_for_that_would_come_too_late() {
    let server = Server::start(|_| Some(refuses(503, "down"))).await;
    let judge = judge_with(&server, |settings| settings.retries = 1000);
    // Waits between attempts would grow to many times this.
    let error = judge.ask(&question("Is it?"), Duration::from_millis(300)).await.unwrap_err();
    assert_eq!(error.kind, AskErrorKind::Unavailable);
    assert!(error.attempts < 100, "{}", error.attempts);
}

#[tokio::test]
async fn a_wait_that_the_server_asks_for_takes_nothing_from_the_time() {
    let server = Server::start(|asked| {
        Some(match asked.number {
            0 => refuses(429, "slow down").with("retry-after", "1"),
            _ => says("Yes."),
        })
    })
    .await;
    let judge = judge_with(&server, |settings| settings.retries = 1);
    let answer = judge.ask(&question("Is it?"), Duration::from_millis(900)).await.unwrap();
    assert_eq!(answer.attempts, 2);
}

/// A server that answers 429 for this long from its first question on, and then answers normally.
async fn limited_for(limit: Duration) -> Server {
    let first = OnceLock::new();
    Server::start(move |_| {
        let is_over = first.get_or_init(Instant::now).elapsed() >= limit;
        Some(if is_over { says("Yes.") } else { refuses(429, "too many") })
    })
    .await
}

#[tokio::test]
async fn a_limit_that_lasts_longer_than_the_retries_costs_no_question_its_answer() {
    // Long enough for two waits and part of a third one.
    let server = limited_for(Duration::from_millis(1_200)).await;
    let judge = judge_with(&server, |settings| {
        settings.retries = 1;
        settings.concurrency = 8;
    });
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let judge = Arc::clone(&judge);
            let question = question(&format!("Is it {number}?"));
            tokio::spawn(async move { judge.ask(&question, LONG).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert!(server.count() > 40);
}

#[tokio::test]
async fn a_limit_is_not_a_failed_attempt() {
    let server = Server::start(|asked| {
        Some(match asked.number {
            0 => refuses(429, "too many"),
            1 => refuses(500, "down"),
            _ => says("Yes."),
        })
    })
    .await;
    let judge = judge_with(&server, |settings| settings.retries = 1);
    assert_eq!(judge.ask(&question("Is it?"), LONG).await.unwrap().attempts, 3);
}

#[tokio::test]
async fn without_retries_a_limit_is_not_waited_for_either() {
    let server = limited_for(LONG).await;
    let judge = judge_with(&server, |settings| settings.retries = 0);
    let error = asked(&*judge, &question("Is it?")).await.unwrap_err();
    assert_eq!((error.kind, server.count()), (AskErrorKind::Unavailable, 1));
}

#[tokio::test]
async fn each_pause_counts_as_an_attempt_of_all_who_wait_if_the_server_answers_no_call() {
    let server =
        Server::start(|_| Some(refuses(429, "the day is over").with("retry-after-ms", "300")))
            .await;
    let judge = judge_with(&server, |settings| {
        settings.retries = 1;
        settings.endurance = Duration::ZERO;
    });
    let question = question("Is it?");
    let mut first = judge.ask(&question, LONG);
    tokio::select! {
        _ = &mut first => panic!("it is tried again"),
        () = until(|| server.count() == 1 && judge.load() == Load::new(1, 0, 0)) => {}
    }
    let (first, second) = tokio::join!(first, judge.ask(&question, LONG));
    let (first, second) = (first.unwrap_err(), second.unwrap_err());
    for error in [&first, &second] {
        assert_eq!(error.kind, AskErrorKind::Limited);
        let words = "answered with status 429: the day is over (2 times in a row within ";
        assert!(error.message.contains(words), "{error}");
    }
    // Alone, each call would be sent twice.
    assert!(server.count() < 4, "{} and {}", first.attempts, second.attempts);
    assert_eq!(server.count(), (first.attempts + second.attempts) as usize);
}

#[tokio::test]
async fn a_halt_ends_the_calls_that_wait_and_not_the_one_that_was_sent() {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let server = Server::start(move |_| Some(says("Yes.").after(&held))).await;
    let judge = judge_with(&server, |settings| settings.concurrency = 1);
    let (question, halt) = (question("Is it?"), Halt::default());
    let mut sent = judge.ask_until(&question, LONG, halt.clone());
    let mut waits = judge.ask_until(&question, LONG, halt.clone());
    tokio::select! {
        _ = &mut sent => panic!("the server waits"),
        () = until(|| server.count() == 1) => {}
    }
    assert!(!ends_at_once(&mut waits).await);
    halt.order();
    let error = waits.await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Stopped, 0));
    gate.add_permits(1);
    assert_eq!(sent.await.unwrap().attempts, 1);
    assert_eq!((server.count(), judge.load()), (1, Load::default()));
}

#[tokio::test]
async fn a_halt_ends_the_wait_for_another_attempt_and_for_the_rate() {
    let server = Server::start(|_| Some(refuses(503, "later").with("retry-after", "60"))).await;
    let judge = judge_with(&server, |settings| settings.retries = 1);
    let (question, halt) = (question("Is it?"), Halt::default());
    let mut call = judge.ask_until(&question, LONG, halt.clone());
    tokio::select! {
        _ = &mut call => panic!("it waits for a minute"),
        () = until(|| server.count() == 1 && judge.load() == Load::new(1, 0, 0)) => {}
    }
    halt.order();
    let error = call.await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Stopped, 1));

    let server = Server::start(|_| Some(says("Yes."))).await;
    let judge = judge_with(&server, |settings| settings.requests_per_minute = Some(1));
    asked(&*judge, &question).await.unwrap();
    let error = judge.ask_until(&question, LONG, halt).await.unwrap_err();
    assert_eq!((error.kind, error.attempts, server.count()), (AskErrorKind::Stopped, 0, 1));
}
