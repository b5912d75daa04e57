//! Compares calls without the component to calls of it, on all built-in scorers, and tests answers that break the
//! contract. End-to-end tests of hand-written guests are in `split_and_whole`.

#![cfg(feature = "builtins")]

use proptest::prelude::*;
use wasmtime::component::ComponentType;

use super::*;
use crate::{
    case::Case,
    contract::{Assertion, Example, Fields, ScorerInput, Severity},
    registry::Registry,
    sandbox::{
        Anatomy, Compiler, Grants, Limits, LoadedScorer, Outcome, Sandbox, SandboxOptions,
        ScorerConfig,
    },
};

/// Its clock does not tick: on a busy machine, a score may take longer than two ticks, and would be a miss.
fn sandbox() -> Sandbox {
    let options = SandboxOptions::default().with_compiler(Compiler::InProcess);
    Sandbox::without_ticks(&options).unwrap()
}

/// A built-in scorer with the configuration and the case of its example; `None` if it has no example.
async fn example_of(
    sandbox: &Sandbox,
    name: &str,
    limits: &Limits,
) -> Option<(LoadedScorer, Case)> {
    let component = Registry::with_builtins().get(name).unwrap().component;
    let example = Anatomy::read(component.bytes().unwrap()).unwrap().example?;
    let example = Example::parse(&example).unwrap();
    let config = ScorerConfig::new(&example.config);
    let scorer = sandbox.load(&component, &config, limits, Grants::NONE).await.unwrap();
    Some((scorer, Case::from_json(example.case.get()).unwrap()))
}

/// The outcome of a score that did not miss.
async fn without_component(scorer: &LoadedScorer, input: ScorerInput<'_>) -> Outcome {
    let outcome = scorer.score(input).await;
    assert_eq!(scorer.trust.owed(), 0, "{}", scorer.info.id);
    outcome
}

/// All of an outcome except its duration.
fn but_time(outcome: Outcome) -> impl PartialEq + std::fmt::Debug {
    let Outcome { result, fuel, memory_bytes, log, files, calls, .. } = outcome;
    (result, fuel, memory_bytes, log, files, calls.len())
}

#[tokio::test]
async fn a_built_in_scorer_says_the_same_without_its_component() {
    let sandbox = sandbox();
    let names: Vec<String> = Registry::with_builtins().list().map(str::to_owned).collect();
    let mut without = 0;
    for name in names {
        let Some((scorer, case)) = example_of(&sandbox, &name, &Limits::default()).await else {
            continue;
        };
        if scorer.image.core().is_none() {
            continue;
        }
        let input = case.scorer_input(scorer.info.reads);
        let first = without_component(&scorer, input).await;
        assert!(first.result.is_ok(), "{name}");
        let (first, made) = (but_time(first), scorer.image.core().unwrap());
        // The second score makes the instance that is kept, all others reuse it, and its memory is watched from the
        // fifth on.
        for turn in 2..9 {
            assert_eq!(first, but_time(without_component(&scorer, input).await), "{name}");
            let waiting = made.kept.as_ref().unwrap().waiting();
            let room = sandbox.shared().room.as_ref();
            assert_eq!(waiting.len(), usize::from(room.is_some()), "{name}");
            let is_watched = waiting.iter().any(|kept| kept.watch.is_some());
            assert_eq!(is_watched, turn >= 5 && room.is_some_and(Room::can_watch), "{name}");
        }
        while scorer.trust.is_there() {
            scorer.trust.missed();
        }
        assert_eq!(first, but_time(scorer.score(input).await), "{name}");
        without += 1;
    }
    assert!(without >= 50, "{without}");
}

#[tokio::test]
async fn a_score_that_ends_early_is_asked_of_the_component() {
    let sandbox = sandbox();
    let limits = Limits::default().with_fuel(100);
    let (scorer, case) = example_of(&sandbox, "contains", &limits).await.unwrap();
    let outcome = scorer.score(case.scorer_input(Fields::ALL)).await;
    assert!(outcome.result.unwrap_err().message.contains("fuel"));
    assert!(scorer.trust.owed() > 0);
    for _ in 0..100 {
        scorer.score(case.scorer_input(Fields::ALL)).await.result.unwrap_err();
    }
    assert!(!scorer.trust.is_there());
}

#[tokio::test]
async fn a_time_out_that_a_call_without_the_component_could_miss_is_the_components() {
    let sandbox = sandbox();
    let limits = Limits::default().with_timeout(crate::sandbox::guest_call::BRIEF_TIME);
    let (scorer, case) = example_of(&sandbox, "contains", &limits).await.unwrap();
    assert!(!scorer.goes_without_component());
    scorer.score(case.scorer_input(Fields::ALL)).await.result.unwrap();
}

#[test]
fn records_are_as_large_as_those_of_wasmtime() {
    type Case = wire::ScorerInput<'static>;
    type Answer = Result<wire::ScoreResult, wire::ScorerError>;
    assert_eq!((lower::CASE_BYTES, lower::CASE_ALIGN), (Case::SIZE32, Case::ALIGN32));
    assert_eq!(lift::ANSWER_BYTES, Answer::SIZE32);
    assert_eq!(lift::ALIGN, usize::try_from(Answer::ALIGN32).unwrap());
    assert_eq!(lift::ASSERTION_BYTES, crate::contract::bindings::wire_types::Assertion::SIZE32);
}

/// A memory with an answer that has all fields at 64, two assertions at 256, and texts from 512 on.
fn answer() -> Vec<u8> {
    let mut memory = vec![0; 1024];
    let mut put = |at: usize, bytes: &[u8]| memory[at..at + bytes.len()].copy_from_slice(bytes);
    let text = |at: u32, length: u32| [at.to_le_bytes(), length.to_le_bytes()].concat();
    put(64 + 8, &[1]);
    put(64 + 16, &0.25_f64.to_le_bytes());
    for (field, word) in [(24, 512), (36, 516), (48, 520)] {
        put(64 + field, &[1]);
        put(64 + field + 4, &text(word, 4));
    }
    put(64 + 60, &text(256, 2));
    for at in [256, 256 + 56] {
        put(at, &text(524, 5));
        put(at + 8, &1.0_f64.to_le_bytes());
        put(at + 16, &[1, 1]);
        put(at + 24, &[1]);
        put(at + 32, &0.5_f64.to_le_bytes());
    }
    put(256 + 40, &[1]);
    put(256 + 44, &text(530, 3));
    put(512, "goodwhy!truecheck is".as_bytes());
    memory
}

fn read(memory: &[u8]) -> Result<Result<ScoreResult, ScorerError>, Missed> {
    lift::answer(memory, 64, 1 << 20)
}

#[test]
fn an_answer_is_read_field_by_field() {
    let check = Assertion {
        name: "check".into(),
        score: 1.0,
        severity: Some(Severity::Soft),
        threshold: Some(0.5),
        reason: None,
    };
    let expected = ScoreResult {
        score: Some(0.25),
        label: Some("good".into()),
        reason: Some("why!".into()),
        meta: Some("true".into()),
        assertions: vec![Assertion { reason: Some("s\0\0".into()), ..check.clone() }, check],
    };
    let memory = answer();
    let ScoreResult { assertions, .. } = read(&memory).unwrap().unwrap();
    assert_eq!(assertions[1], expected.assertions[1]);
    let mut memory = memory;
    memory[530..533].copy_from_slice(b"s\0\0");
    assert_eq!(read(&memory), Ok(Ok(expected)));
}

#[test]
fn an_answer_that_breaks_the_contract_is_not_taken() {
    let must_be_missed = |what: &str, at: usize, bytes: &[u8]| {
        let mut memory = answer();
        memory[at..at + bytes.len()].copy_from_slice(bytes);
        assert_eq!(read(&memory), Err(Missed), "{what}");
    };
    must_be_missed("neither an answer nor an error", 64, &[2]);
    must_be_missed("neither a score nor none", 64 + 8, &[2]);
    must_be_missed("a label beyond the memory", 64 + 28, &1022_u32.to_le_bytes());
    must_be_missed("a label without end", 64 + 32, &u32::MAX.to_le_bytes());
    must_be_missed("a label that is no text", 512, &[0xff]);
    must_be_missed("assertions that are not aligned", 64 + 60, &252_u32.to_le_bytes());
    must_be_missed("assertions without end", 64 + 64, &u32::MAX.to_le_bytes());
    must_be_missed("a severity that does not exist", 256 + 17, &[2]);
    assert_eq!(lift::answer(&answer(), 68, 1 << 20), Err(Missed), "not aligned");
    assert_eq!(lift::answer(&answer(), 960, 1 << 20), Err(Missed), "cut off");
    assert_eq!(lift::answer(&answer(), u32::MAX - 7, 1 << 20), Err(Missed), "beyond the memory");
    let texts = 4 + 4 + 4 + 5 + 5 + 3;
    let all = texts + 2 * size_of::<crate::contract::bindings::wire_types::Assertion>();
    assert!(lift::answer(&answer(), 64, all).is_ok());
    assert_eq!(lift::answer(&answer(), 64, all - 1), Err(Missed), "too many bytes");
}

#[test]
fn an_error_is_of_one_of_its_two_kinds() {
    let error = |kind: u8| {
        let mut memory = answer();
        memory[64] = 1;
        memory[64 + 8] = kind;
        memory[64 + 12..64 + 20].copy_from_slice(&[0, 2, 0, 0, 4, 0, 0, 0]);
        read(&memory)
    };
    assert_eq!(error(0), Ok(Err(ScorerError::InvalidInput("good".into()))));
    assert_eq!(error(1), Ok(Err(ScorerError::Failed("good".into()))));
    assert_eq!(error(2), Err(Missed));
}

proptest! {
    #[test]
    fn whatever_bytes_a_guest_leaves_are_read_or_refused(
        changes in prop::collection::vec((64_usize..370, any::<u8>()), 0..12),
        at in any::<u32>(),
    ) {
        let mut memory = answer();
        for (at, byte) in changes {
            memory[at] = byte;
        }
        if let Ok(Ok(answer)) = read(&memory) {
            prop_assert!(answer.assertions.len() <= memory.len() / lift::ASSERTION_BYTES);
        }
        let _ = lift::answer(&memory, at, 1 << 20);
    }
}
