//! False answers from each export; unless ordered otherwise, an answer is honest.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    contract::exports::scorebox::scorer::scoring::{ScoreResult, ScorerError, ScorerInfo},
    letters::{self, FOR_A_TERMINAL, FORGED},
    orders::Order,
    summary::Scored,
    traces,
    types::{Assertion, Direction, Fields, Scale, Severity},
};

static CALLS: AtomicU64 = AtomicU64::new(0);

/// The answer of `describe`.
pub fn info(order: &Order) -> ScorerInfo {
    let mut info = ScorerInfo {
        id: "attacker".into(),
        name: "Attacker".into(),
        description: "Attacks the engine.".into(),
        version: "0.1.0".into(),
        config_schema: None,
        scale: Scale::Unit,
        direction: Direction::HigherIsBetter,
        reads: Fields::empty(),
        severity: Severity::Soft,
        threshold: None,
    };
    match order.word.as_str() {
        "points" => info.scale = Scale::Points,
        "no-id" => info.id.clear(),
        "long-id" => info.id = letters::long(order.amount),
        "id-for-a-terminal" => info.id = FOR_A_TERMINAL.into(),
        "name-for-a-terminal" => info.name = FOR_A_TERMINAL.into(),
        "name-from-right-to-left" => info.name = "\u{202e}rekcattA\u{2067}".into(),
        "long-name" => info.name = letters::long(order.amount),
        "version-for-a-terminal" => info.version = FOR_A_TERMINAL.into(),
        "description-for-a-terminal" => info.description = FOR_A_TERMINAL.into(),
        "long-description" => info.description = letters::long(order.amount),
        "schema-that-is-no-json" => info.config_schema = Some("{".into()),
        "long-schema" => info.config_schema = Some(format!("\"{}\"", letters::long(order.amount))),
        "deep-schema" => info.config_schema = Some(letters::deep(order.amount)),
        "threshold-that-is-no-number" => info.threshold = Some(f64::NAN),
        "infinite-threshold" => info.threshold = Some(f64::INFINITY),
        "negative-threshold" => info.threshold = Some(-1.0),
        "another-self-every-time" => {
            let call = CALLS.fetch_add(1, Ordering::Relaxed);
            info.id = format!("attacker-{call}");
            info.name = format!("Attacker {call}");
            info.scale = if call == 0 { Scale::Unit } else { Scale::Points };
        }
        _ => {}
    }
    info
}

/// The answer of `configure`.
pub fn configured(order: &Order) -> Result<(), String> {
    match order.word.as_str() {
        "refuse" => Err("was told to refuse".into()),
        "refuse-at-length" => Err(letters::long(order.amount)),
        "refuse-for-a-terminal" => Err(FOR_A_TERMINAL.into()),
        "refuse-in-the-engines-words" => Err(FORGED.into()),
        "leave-traces" => {
            traces::leave();
            Ok(())
        }
        "fill-memory-with-stripes" => {
            // Every second byte is zero, so that an image of it consists of many short segments.
            let stripes: Vec<u8> = (0..order.amount).map(|byte| u8::from(byte % 2 == 0)).collect();
            std::hint::black_box(stripes.leak());
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The answer of `score`.
pub fn result(order: &Order) -> Result<ScoreResult, ScorerError> {
    let mut result = ScoreResult {
        score: Some(1.0),
        label: None,
        reason: None,
        meta: None,
        assertions: Vec::new(),
    };
    let assertion = |name: &str| Assertion {
        name: name.into(),
        score: 1.0,
        severity: None,
        threshold: None,
        reason: None,
    };
    let long = || letters::long(order.amount);
    match order.word.as_str() {
        "nan" => result.score = Some(f64::NAN),
        "infinity" => result.score = Some(f64::INFINITY),
        "minus-infinity" => result.score = Some(f64::NEG_INFINITY),
        "minus-zero" => result.score = Some(-0.0),
        "1e308" => result.score = Some(1e308),
        "minus-one" => result.score = Some(-1.0),
        "next-after-one" => result.score = Some(1.0 + f64::EPSILON),
        "long-label" => result.label = Some(long()),
        "label-for-a-terminal" => result.label = Some(FOR_A_TERMINAL.into()),
        "long-reason" => result.reason = Some(long()),
        "reason-for-a-terminal" => result.reason = Some(FOR_A_TERMINAL.into()),
        "reason-in-the-engines-words" => result.reason = Some(FORGED.into()),
        "long-meta" => result.meta = Some(format!("\"{}\"", long())),
        "deep-meta" => result.meta = Some(letters::deep(order.amount)),
        "empty-meta" => result.meta = Some(String::new()),
        "meta-that-is-no-json" => result.meta = Some("{\"a\": nan}".into()),
        "meta-of-two-documents" => result.meta = Some("{} {}".into()),
        "meta-for-a-terminal" => result.meta = Some(format!("\"{FOR_A_TERMINAL}\"")),
        // JSON may contain control characters above ASCII unescaped.
        "meta-with-raw-escapes" => result.meta = Some("\"\u{9b}31m\u{202e}\u{7f}\"".into()),
        "meta-with-a-huge-number" => result.meta = Some("1e999999999".into()),
        "meta-with-half-a-character" => result.meta = Some("\"\\ud800\\u0000\"".into()),
        "many-assertions" => result.assertions = vec![assertion("one of many"); order.amount],
        "assertion-with-a-long-name" => result.assertions = vec![assertion(&long())],
        "assertion-for-a-terminal" => result.assertions = vec![assertion(FOR_A_TERMINAL)],
        "assertion-that-scores-nan" => {
            result.assertions = vec![Assertion { score: f64::NAN, ..assertion("a") }];
        }
        "assertion-with-an-infinite-threshold" => {
            let threshold = Some(f64::INFINITY);
            result.assertions = vec![Assertion { threshold, ..assertion("a") }];
        }
        "fail-at-length" => return Err(ScorerError::Failed(long())),
        "fail-for-a-terminal" => return Err(ScorerError::Failed(FOR_A_TERMINAL.into())),
        "fail-in-the-engines-words" => return Err(ScorerError::Failed(FORGED.into())),
        "refuse-the-case-at-length" => return Err(ScorerError::InvalidInput(long())),
        "leave-traces" => {
            result.reason = Some(traces::found());
            traces::leave();
        }
        _ => {}
    }
    Ok(result)
}

/// The answer of `summarize`.
pub fn summary(order: &Order, scores: &[Scored]) -> Result<String, String> {
    match order.word.as_str() {
        "no-json" => Ok("{".into()),
        "nothing" => Ok(String::new()),
        "deep" => Ok(letters::deep(order.amount)),
        "long" => Ok(format!("\"{}\"", letters::long(order.amount))),
        "for-a-terminal" => Ok("\"\u{9b}31m\u{202e}\u{7f}\"".into()),
        "fail" => Err("was told to fail".into()),
        "fail-at-length" => Err(letters::long(order.amount)),
        "fail-for-a-terminal" => Err(FOR_A_TERMINAL.into()),
        "leave-traces" => Ok(format!("\"{}\"", traces::found())),
        _ => Ok(format!("{{\"rows\":{}}}", scores.len())),
    }
}
