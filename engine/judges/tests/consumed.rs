//! Tests what is counted for unreadable answers and for attempts without one: budgets must know whether the count is
//! complete.

use std::time::Duration;

use scorebox::judge::{AskErrorKind, Price, TokenUsage};
use serde_json::{Value, json};

use crate::{
    asking::{LONG, judge, judge_with, question, refuses, says, texts},
    server::{Answer, Server},
};

const COUNTED: TokenUsage = TokenUsage { input_tokens: Some(7), output_tokens: Some(2) };

/// What an error answer consumed, and whether more may have been consumed.
async fn consumed(answer: Answer) -> (TokenUsage, bool) {
    let server = Server::start(move |_| Some(answer.clone())).await;
    let error = judge(&server).ask(&question("Is it?"), LONG).await.unwrap_err();
    (error.usage, error.is_uncounted)
}

fn with_usage(mut answer: Value) -> Answer {
    answer["usage"] = json!({"prompt_tokens": 7, "completion_tokens": 2});
    Answer::json(&answer)
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_consumes_what_it_says() {
    for misshapen in [
        json!({"choices": "none"}),
        json!({"choices": [{"message": {"content": 7}}]}),
        json!({"choices": [], "model": {}}),
        json!({"choices": []}),
    ] {
        let words = misshapen.to_string();
        assert_eq!(consumed(with_usage(misshapen)).await, (COUNTED, false), "{words}");
    }
    let server = Server::start(|_| Some(with_usage(json!({"data": {}})))).await;
    let error = judge(&server).ask(&texts(&["one"]), LONG).await.unwrap_err();
    assert_eq!((error.usage.input_tokens, error.is_uncounted), (Some(7), false));
}

#[tokio::test]
async fn an_answer_that_says_nothing_of_its_tokens_is_uncounted() {
    let nothing = TokenUsage::default();
    for answer in [
        Answer::json(&json!({"choices": "none"})),
        Answer::json(&json!({"choices": [], "usage": "much"})),
        Answer::status(200, "{\"choices\": [").with("content-type", "application/json"),
        Answer::status(200, "Yes.").with("content-type", "text/html"),
    ] {
        let words = format!("{answer:?}");
        assert_eq!(consumed(answer).await, (nothing, true), "{words}");
    }
    let server = Server::start(|_| Some(says("Yes."))).await;
    let answer = judge(&server).ask(&question("Is it?"), LONG).await.unwrap();
    assert!(answer.is_uncounted);
    for free in [refuses(400, "no"), refuses(500, "no"), Answer::status(307, "")] {
        let words = format!("{free:?}");
        assert_eq!(consumed(free).await, (nothing, false), "{words}");
    }
}

#[tokio::test]
async fn an_attempt_that_is_not_waited_for_is_uncounted_even_if_the_next_one_is_answered() {
    let server = Server::start(|asked| match asked.number {
        0 => Some(says("Yes.").with("content-length", "1000").unended()),
        _ => Some(with_usage(json!({"choices": [{"message": {"content": "Yes."}}]}))),
    })
    .await;
    let judge = judge_with(&server, |settings| {
        settings.retries = 1;
        settings.timeout = Duration::from_millis(300);
    });
    let answer = judge.ask(&question("Is it?"), LONG).await.unwrap();
    assert_eq!((answer.attempts, answer.usage, answer.is_uncounted), (2, COUNTED, true));

    let server =
        Server::start(|_| Some(says("Yes.").with("content-length", "1000").unended())).await;
    let asked = question("Is it?");
    let late =
        crate::asking::judge(&server).ask(&asked, Duration::from_millis(50)).await.unwrap_err();
    assert_eq!((late.kind, late.is_uncounted), (AskErrorKind::TimedOut, true));
    let unsent = crate::asking::judge(&server).ask(&asked, Duration::ZERO).await.unwrap_err();
    assert_eq!((unsent.kind, unsent.is_uncounted), (AskErrorKind::TimedOut, false));
}

/// The tokens and the cost of an answer that follows a failed attempt with this usage, and whether both may have cost
/// more.
async fn of_two(
    price: Option<Price>,
    failed: Value,
    answered: Value,
) -> (TokenUsage, Option<f64>, bool) {
    let server = Server::start(move |asked| {
        let (usage, reason) = match asked.number {
            0 => (&failed, "error"),
            _ => (&answered, "stop"),
        };
        let choice = json!({"message": {"content": "Yes."}, "finish_reason": reason});
        Some(Answer::json(&json!({"choices": [choice], "usage": usage})))
    })
    .await;
    let judge = judge_with(&server, |settings| (settings.retries, settings.price) = (1, price));
    let answer = judge.ask(&question("Is it?"), LONG).await.unwrap();
    (answer.usage, answer.cost_usd, answer.is_uncounted)
}

#[tokio::test]
async fn each_attempt_is_priced_by_itself_and_what_one_does_not_say_makes_the_cost_a_part_of_all() {
    let tokens = || json!({"prompt_tokens": 7, "completion_tokens": 2});
    let both = TokenUsage { input_tokens: Some(14), output_tokens: Some(4) };
    let price = Some(Price::new(1e6, 1e6));
    assert_eq!(of_two(price, tokens(), tokens()).await, (both, Some(18.0), false));
    let of_one = (TokenUsage::default(), Some(14.0), false);
    assert_eq!(of_two(price, json!({"cost": 5.0}), tokens()).await, of_one);
    let part = TokenUsage { output_tokens: None, ..both };
    let partly = of_two(price, json!({"prompt_tokens": 7}), tokens()).await;
    assert_eq!(partly, (part, Some(9.0), true));
    // A failed attempt reports nothing, as with OpenRouter.
    let silent = of_two(price, Value::Null, tokens()).await;
    assert_eq!(silent, (TokenUsage::default(), Some(9.0), true));
    let stated = (TokenUsage::default(), Some(0.25), true);
    assert_eq!(of_two(None, tokens(), json!({"cost": 0.25})).await, stated);
    let stated = (TokenUsage::default(), Some(0.5), false);
    assert_eq!(of_two(None, json!({"cost": 0.25}), json!({"cost": 0.25})).await, stated);
}
