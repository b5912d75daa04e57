//! The output of a guest: a result, an error or log messages, through a real sandbox.
//!
//! An input is lines, each the name of a part and its content: `score=0.5`, `meta={"a": 1}`,
//! `assert=NAME|SCORE|SEVERITY|THRESHOLD|REASON`, `log=error it broke`, `failed=why`, `invalid=why`; `points` selects
//! that scale. Contents are any bytes. An input that begins with `raw` and a line break is the memory of the guest
//! itself, with all pointers and lengths.

use std::{sync::OnceLock, time::Duration};

use scorebox::{
    component_bytes::ComponentBytes,
    contract::{Scale, ScoreResult, ScorerInput, Severity},
    sandbox::{
        Compiler, ErrorKind, Grants, Limits, LoadedScorer, Outcome, Sandbox, SandboxOptions,
        ScorerConfig, Start,
    },
};
use tokio::runtime::Runtime;

use crate::guest;

/// The address of the image in the guest's memory.
const BASE: u32 = 65536;
/// The most bytes of an image; the guest keeps the case after it.
const MAX_BYTES: usize = 60_000;
/// More assertions, and more log messages, than are allowed.
const MAX_RECORDS: usize = 40;
/// The most bytes of a label.
const LABEL_BYTES: usize = 200;
/// The most bytes of an error message: the 8 KiB of a crash.
const MESSAGE_BYTES: usize = 8 << 10;

/// Lets a guest return what the bytes describe, and checks the outcome of the sandbox.
pub fn guest_result(data: &[u8]) {
    let data = &data[..data.len().min(MAX_BYTES / 8)];
    match data.strip_prefix(b"raw\n") {
        Some(image) => drop(checked(Scale::Unit, image)),
        None => {
            let said = Said::read(data);
            let outcome = checked(said.scale, &said.image());
            said.compare(&outcome);
        }
    }
}

/// The two scorers, and the runtime that runs them.
struct Stage {
    runtime: Runtime,
    unit: LoadedScorer,
    points: LoadedScorer,
}

/// Tight limits, so that small inputs reach them.
fn limits() -> Limits {
    Limits::default()
        .with_fuel(3_000_000)
        .with_memory_bytes(2 << 20)
        // Fuel ends a score long before this.
        .with_timeout(Duration::from_secs(60))
        .with_reason_bytes(300)
        .with_meta_bytes(400)
        .with_assertions(5)
        .with_log_lines(4)
        .with_log_bytes(100)
}

fn stage() -> &'static Stage {
    static STAGE: OnceLock<Stage> = OnceLock::new();
    STAGE.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let sandbox = Sandbox::new(
            &SandboxOptions::default().with_compiler(Compiler::InProcess).with_slots(8),
        )
        .unwrap();
        let load = |scale| {
            let text = include_str!("guest.wat").replace("SCALE", scale);
            let component = ComponentBytes::new(guest::component(&text).unwrap());
            let config = ScorerConfig::default();
            let limits = limits();
            let loaded = sandbox.load(&component, &config, &limits, Grants::NONE);
            let loaded = runtime.block_on(loaded).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(*loaded.start(), Start::Frozen);
            loaded
        };
        let (unit, points) = (load("\\00"), load("\\01"));
        Stage { runtime, unit, points }
    })
}

/// The outcome of the guest with this image, checked against every limit.
fn checked(scale: Scale, image: &[u8]) -> Outcome {
    let letter = |nibble: u8| char::from(b'a' + nibble);
    let spelled: String =
        image.iter().flat_map(|byte| [letter(byte >> 4), letter(byte & 15)]).collect();
    let stage = stage();
    let scorer = if scale == Scale::Unit { &stage.unit } else { &stage.points };
    let input = ScorerInput::of(&spelled);
    let outcome = stage.runtime.block_on(scorer.score(input));
    check(&outcome, scale);
    let again = stage.runtime.block_on(scorer.score(input));
    assert_eq!((&outcome.result, outcome.fuel), (&again.result, again.fuel));
    assert_eq!(outcome.log, again.log);
    outcome
}

fn check(outcome: &Outcome, scale: Scale) {
    let limits = limits();
    assert!(outcome.fuel.is_none_or(|fuel| fuel <= limits.fuel));
    assert!(outcome.memory_bytes <= limits.memory_bytes);
    assert!(outcome.log.len() <= limits.log_lines + 1);
    let kept = outcome.log.iter().take(limits.log_lines).map(|line| line.message.len());
    assert!(kept.sum::<usize>() <= limits.log_bytes + 96);
    match &outcome.result {
        Ok(result) => check_result(result, scale, &limits),
        Err(error) => {
            assert!(error.message.len() <= MESSAGE_BYTES, "{} bytes", error.message.len());
            assert_ne!(error.kind, ErrorKind::TimedOut);
        }
    }
}

fn check_result(result: &ScoreResult, scale: Scale, limits: &Limits) {
    let stored = |score: f64| !score.is_sign_negative() && score.is_finite();
    assert!(result.score.is_none_or(|score| stored(score) && scale.contains(score)));
    assert!(result.label.as_ref().is_none_or(|label| label.len() <= LABEL_BYTES));
    assert!(result.reason.as_ref().is_none_or(|reason| reason.len() <= limits.reason_bytes));
    if let Some(meta) = &result.meta {
        assert!(meta.len() <= limits.meta_bytes);
        // Readers of the row parse it.
        serde_json::from_str::<serde_json::Value>(meta).unwrap();
    }
    assert!(result.assertions.len() <= limits.assertions);
    for assertion in &result.assertions {
        assert!(stored(assertion.score) && assertion.score <= 1.0);
        assert!(assertion.threshold.is_none_or(|least| (0.0..=1.0).contains(&least)));
        assert!(assertion.name.len() <= limits.reason_bytes);
        assert!(assertion.reason.as_ref().is_none_or(|text| text.len() <= limits.reason_bytes));
    }
}

/// What the guest is to return.
struct Said<'a> {
    scale: Scale,
    score: Option<f64>,
    label: Option<&'a [u8]>,
    reason: Option<&'a [u8]>,
    meta: Option<&'a [u8]>,
    assertions: Vec<SaidAssertion<'a>>,
    log: Vec<(u8, &'a [u8])>,
    /// If set, the guest returns this error with its reason instead of a result.
    error: Option<(ErrorKind, &'a [u8])>,
}

struct SaidAssertion<'a> {
    name: &'a [u8],
    score: f64,
    severity: Option<Severity>,
    threshold: Option<f64>,
    reason: Option<&'a [u8]>,
}

impl<'a> Said<'a> {
    fn read(data: &'a [u8]) -> Said<'a> {
        let mut said = Said {
            scale: Scale::Unit,
            score: None,
            label: None,
            reason: None,
            meta: None,
            assertions: Vec::new(),
            log: Vec::new(),
            error: None,
        };
        for line in data.split(|byte| *byte == b'\n') {
            let (part, content) = cut(line, b'=');
            match part {
                b"points" => said.scale = Scale::Points,
                b"score" => said.score = number(content),
                b"label" => said.label = Some(content),
                b"reason" => said.reason = Some(content),
                b"meta" => said.meta = Some(content),
                b"assert" if said.assertions.len() < MAX_RECORDS => {
                    said.assertions.push(SaidAssertion::read(content));
                }
                b"log" if said.log.len() < MAX_RECORDS => said.log.push(log_record(content)),
                b"failed" => said.error = Some((ErrorKind::Failed, content)),
                b"invalid" => said.error = Some((ErrorKind::InvalidInput, content)),
                _ => {}
            }
        }
        said
    }

    /// Compares the outcome with the expected one, by a plain statement of the rules.
    fn compare(&self, outcome: &Outcome) {
        let wrong = self.wrong();
        match &outcome.result {
            Err(error) => assert!(wrong.contains(&error.kind), "{error} and not {wrong:?}"),
            Ok(result) => {
                assert!(wrong.is_empty(), "{wrong:?}");
                let same =
                    |text: Option<&str>, said: Option<&[u8]>| text.map(str::as_bytes) == said;
                assert_eq!(result.score, self.score);
                assert!(same(result.label.as_deref(), self.label));
                assert!(same(result.reason.as_deref(), self.reason));
                assert!(same(result.meta.as_deref(), self.meta));
                assert_eq!(result.assertions.len(), self.assertions.len());
                for (assertion, said) in result.assertions.iter().zip(&self.assertions) {
                    assert!(same(Some(&assertion.name), Some(said.name)));
                    assert!(same(assertion.reason.as_deref(), said.reason));
                    assert_eq!(assertion.score, said.score);
                    assert_eq!(assertion.severity, said.severity);
                    assert_eq!(assertion.threshold, said.threshold);
                }
            }
        }
    }

    /// All reasons why there is no score.
    fn wrong(&self) -> Vec<ErrorKind> {
        let no_text = |text: &[u8]| std::str::from_utf8(text).is_err();
        if self.log.iter().any(|(_, message)| no_text(message)) {
            return vec![ErrorKind::Trap];
        }
        if let Some((kind, message)) = self.error {
            return vec![if no_text(message) { ErrorKind::Trap } else { kind }];
        }
        let limits = limits();
        let mut wrong = Vec::new();
        let mut text = |text: Option<&[u8]>, most: usize| {
            if text.is_some_and(no_text) {
                wrong.push(ErrorKind::Trap);
            }
            if text.is_some_and(|text| text.len() > most) {
                wrong.push(ErrorKind::OutputTooLarge);
            }
        };
        text(self.label, LABEL_BYTES);
        text(self.reason, limits.reason_bytes);
        text(self.meta, limits.meta_bytes);
        for assertion in &self.assertions {
            text(Some(assertion.name), limits.reason_bytes);
            text(assertion.reason, limits.reason_bytes);
        }
        if self.assertions.len() > limits.assertions {
            wrong.push(ErrorKind::OutputTooLarge);
        }
        let unit = |number: f64| (0.0..=1.0).contains(&number);
        let on_scale = |score: f64| {
            unit(score) || self.scale == Scale::Points && score > 0.0 && score.is_finite()
        };
        let not_json = |meta: &[u8]| serde_json::from_slice::<serde_json::Value>(meta).is_err();
        let off = self.score.is_some_and(|score| !on_scale(score))
            || self.meta.is_some_and(not_json)
            || self.assertions.iter().any(|assertion| {
                !unit(assertion.score) || assertion.threshold.is_some_and(|least| !unit(least))
            });
        if off {
            wrong.push(ErrorKind::InvalidScore);
        }
        // Text that is not valid UTF-8 is found before anything else is looked at.
        if wrong.contains(&ErrorKind::Trap) { vec![ErrorKind::Trap] } else { wrong }
    }

    /// The memory of the guest that returns this.
    fn image(&self) -> Vec<u8> {
        let mut image = Image(vec![0; 8]);
        image.word(0, self.log.len());
        let records = image.room(12 * self.log.len());
        for (index, (level, message)) in self.log.iter().enumerate() {
            image.0[records + 12 * index] = *level;
            image.text(records + 12 * index + 4, message);
        }
        let result = image.room(72);
        image.word(4, BASE as usize + result);
        let record = result + 8;
        if let Some((kind, message)) = self.error {
            image.0[result] = 1;
            image.0[record] = u8::from(kind == ErrorKind::Failed);
            image.text(record + 4, message);
            return image.0;
        }
        image.number(record, self.score);
        image.optional_text(record + 16, self.label);
        image.optional_text(record + 28, self.reason);
        image.optional_text(record + 40, self.meta);
        let list = image.room(56 * self.assertions.len());
        image.word(record + 52, BASE as usize + list);
        image.word(record + 56, self.assertions.len());
        for (index, assertion) in self.assertions.iter().enumerate() {
            let record = list + 56 * index;
            image.text(record, assertion.name);
            image.0[record + 8..record + 16].copy_from_slice(&assertion.score.to_le_bytes());
            if let Some(severity) = assertion.severity {
                image.0[record + 16] = 1;
                image.0[record + 17] = u8::from(severity == Severity::Soft);
            }
            image.number(record + 24, assertion.threshold);
            image.optional_text(record + 40, assertion.reason);
        }
        image.0
    }
}

impl<'a> SaidAssertion<'a> {
    fn read(content: &'a [u8]) -> SaidAssertion<'a> {
        let (name, rest) = cut(content, b'|');
        let (score, rest) = cut(rest, b'|');
        let (severity, rest) = cut(rest, b'|');
        let (threshold, reason) = cut(rest, b'|');
        SaidAssertion {
            name,
            score: number(score).unwrap_or(0.0),
            severity: match severity {
                b"gate" => Some(Severity::Gate),
                b"soft" => Some(Severity::Soft),
                _ => None,
            },
            threshold: number(threshold),
            reason: (!reason.is_empty()).then_some(reason),
        }
    }
}

/// The part before the first `mark`, and the part after it.
fn cut(text: &[u8], mark: u8) -> (&[u8], &[u8]) {
    match text.iter().position(|byte| *byte == mark) {
        Some(place) => (&text[..place], &text[place + 1..]),
        None => (text, b""),
    }
}

fn number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The level and the message of a log record.
fn log_record(content: &[u8]) -> (u8, &[u8]) {
    let (level, message) = cut(content, b' ');
    let levels: [&[u8]; 4] = [b"debug", b"info", b"warn", b"error"];
    let level = levels.iter().position(|word| *word == level).unwrap_or(1);
    (level as u8, message)
}

/// Memory in which values are laid out by the canonical ABI; offsets count from its start.
struct Image(Vec<u8>);

impl Image {
    /// The offset of this many new zeros, aligned for numbers.
    fn room(&mut self, bytes: usize) -> usize {
        let place = self.0.len().next_multiple_of(8);
        self.0.resize(place + bytes, 0);
        place
    }

    fn word(&mut self, at: usize, word: usize) {
        self.0[at..at + 4].copy_from_slice(&(word as u32).to_le_bytes());
    }

    fn number(&mut self, at: usize, number: Option<f64>) {
        if let Some(number) = number {
            self.0[at] = 1;
            self.0[at + 8..at + 16].copy_from_slice(&number.to_le_bytes());
        }
    }

    fn text(&mut self, at: usize, text: &[u8]) {
        self.word(at, BASE as usize + self.0.len());
        self.word(at + 4, text.len());
        self.0.extend_from_slice(text);
    }

    fn optional_text(&mut self, at: usize, text: Option<&[u8]>) {
        if let Some(text) = text {
            self.0[at] = 1;
            self.text(at + 4, text);
        }
    }
}
