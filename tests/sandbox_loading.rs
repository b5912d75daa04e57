//! A file that is not a scorer is refused with a description of what it is, and no content of a file can crash the
//! process.

use std::time::Duration;

use scorebox::{
    advice::{Advice, Build},
    component_bytes::ComponentBytes,
    contract::SCORING_INTERFACE,
    sandbox::{Anatomy, ErrorKind, Grant, Grants, Limits, Sandbox, ScoreError},
};
use serde_json::{Value, json};

use crate::sandbox_fixture::{
    builtin, config, guest, load, output, refusal, result, sandbox, try_load, uncached,
};

async fn refused(component: &[u8], grants: Grants) -> ScoreError {
    let (sandbox, component) = (sandbox(1), ComponentBytes::new(component.to_vec()));
    let loaded = sandbox.load(&component, &config(&json!({})), &Limits::default(), grants).await;
    let error = refusal(loaded);
    let described = sandbox.describe(&component, &Limits::default(), grants).await;
    assert_eq!(described.unwrap_err(), error, "`describe` refuses it alike");
    error
}

fn text(wat: &str) -> Vec<u8> {
    wat::parse_str(wat).unwrap()
}

fn exporting(interface: &str) -> Vec<u8> {
    text(&format!(r#"(component (instance $i) (export "{interface}" (instance $i)))"#))
}

fn importing(interface: &str) -> Vec<u8> {
    text(&format!(
        r#"(component (import "{interface}" (instance))
            (instance $i) (export "{SCORING_INTERFACE}" (instance $i)))"#
    ))
}

#[tokio::test]
async fn what_is_not_a_component_is_refused_with_what_it_is() {
    for (bytes, part) in [
        (Vec::new(), "the file is empty"),
        (
            b"#!/bin/sh\nexit 1\n".to_vec(),
            r"not a WebAssembly file: it starts with `#!/bin/sh\nex`",
        ),
        (b"\0as".to_vec(), "not a WebAssembly file"),
        (text("(module)"), "a core WebAssembly module, not a component"),
        (b"\0asm".to_vec(), "cut off"),
        (b"\0asm\xff\xff\xff\xff".to_vec(), ""),
    ] {
        let error = refused(&bytes, Grants::NONE).await;
        assert_eq!(error.kind, ErrorKind::InvalidComponent, "{error}");
        assert!(error.message.contains(part), "no `{part}` in: {error}");
    }
}

#[tokio::test]
async fn a_component_of_another_world_hears_what_it_exports_and_what_is_needed() {
    let error = refused(&exporting("wasi:http/incoming-handler@0.2.0"), Grants::NONE).await;
    assert_eq!(error.kind, ErrorKind::InvalidComponent);
    for part in ["`wasi:http/incoming-handler@0.2.0`", SCORING_INTERFACE] {
        assert!(error.message.contains(part), "no `{part}` in: {error}");
    }
    let error = refused(&text("(component)"), Grants::NONE).await;
    assert!(error.message.contains("exports nothing"), "{error}");
}

#[tokio::test]
async fn a_component_of_another_version_of_the_contract_hears_both_versions() {
    for version in ["0.2.0", "1.1.0"] {
        let component = exporting(&format!("scorebox:scorer/scoring@{version}"));
        let error = refused(&component, Grants::NONE).await;
        assert_eq!(error.kind, ErrorKind::InvalidComponent);
        for part in [version, "0.1.0"] {
            assert!(error.message.contains(part), "no `{part}` in: {error}");
        }
    }
}

#[tokio::test]
async fn an_interface_without_its_functions_does_not_fit_the_contract() {
    let error = refused(&exporting(SCORING_INTERFACE), Grants::NONE).await;
    assert_eq!(error.kind, ErrorKind::InvalidComponent);
    assert!(error.message.contains("does not fit the contract"), "{error}");
    assert_eq!(error.advice, Some(Advice::Build(Build::AgainstContract)));
}

#[tokio::test]
async fn an_import_that_was_not_granted_is_named_with_what_would_grant_it() {
    let error = refused(&importing("wasi:cli/environment@0.2.0"), Grants::NONE).await;
    assert_eq!(error.kind, ErrorKind::MissingGrant);
    assert!(error.message.contains("`wasi:cli/environment@0.2.0`"), "{error}");
    assert_eq!(error.advice, Some(Advice::Grant(Grant::Wasi)));
    // With the grant, the error is about the missing functions.
    let granted = Grants::NONE.with(Grant::Wasi);
    let error = refused(&importing("wasi:cli/environment@0.2.0"), granted).await;
    assert_eq!(error.kind, ErrorKind::InvalidComponent);
}

#[tokio::test]
async fn an_import_that_nothing_grants_is_named() {
    for import in ["scorebox:scorer/judges@0.1.0", "evil:thing/x", "wasi:http/types@0.2.0"] {
        let error = refused(&importing(import), Grants::NONE.with(Grant::Wasi)).await;
        assert_eq!(error.kind, ErrorKind::MissingGrant);
        assert!(error.message.contains(&format!("`{import}`")), "{error}");
        assert!(error.message.contains("cannot grant"), "{error}");
    }
}

#[tokio::test]
async fn a_truncated_component_is_refused_wherever_it_is_cut() {
    let whole = guest("misbehave");
    let anatomy = Anatomy::read(&whole).unwrap();
    let sandbox = sandbox(1);
    // Everything after the last export is for people and tools; without it, the file is still a scorer.
    let first_parts = (0..whole.len().min(200)).chain((200..whole.len()).step_by(1999));
    let last_parts = whole.len().saturating_sub(300)..whole.len();
    let mut refusals = 0;
    for length in first_parts.chain(last_parts) {
        let cut = &whole[..length];
        let error = match Anatomy::read(cut) {
            Ok(read) if read == anatomy => continue,
            _ => refusal(try_load(&sandbox, cut, &json!({}), &Limits::default()).await),
        };
        assert_eq!(error.kind, ErrorKind::InvalidComponent, "{length}: {error}");
        assert!(!error.message.is_empty());
        refusals += 1;
    }
    assert!(refusals >= 350, "{refusals}");
}

/// A repeatable source of numbers (xorshift64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

#[test]
fn whatever_bits_are_flipped_the_outside_of_a_component_is_read_or_refused() {
    let whole = guest("misbehave");
    let mut dice = Dice(0x5c0e_b0c5);
    for _ in 0..500 {
        let mut broken = whole.clone();
        // The description of the component is at its end.
        let place = broken.len() - 1 - dice.below(12_000);
        broken[place] ^= 1 << dice.below(8);
        if let Err(error) = Anatomy::read(&broken) {
            assert_eq!(error.kind, ErrorKind::InvalidComponent, "byte {place}: {error}");
        }
    }
}

#[tokio::test]
async fn a_component_with_flipped_bits_breaks_nothing_but_itself() {
    let whole = guest("sleeper");
    let sandbox = uncached(1);
    let limits = Limits::default().with_fuel(20_000_000).with_timeout(Duration::from_millis(500));
    let name = whole.windows(14).position(|window| window == b"sleeperSleeper").unwrap() + 7;
    let mut dice = Dice(0x0b5e_ed01);
    let (mut refused, mut scored) = (0, 0);
    for round in 0..24 {
        let mut broken = whole.clone();
        let (place, bit) = match round % 3 {
            0 => (broken.len() - 1 - dice.below(12_000), dice.below(8)),
            1 => (dice.below(broken.len()), dice.below(8)),
            // Only its name differs then.
            _ => (name + dice.below(7), 0),
        };
        broken[place] ^= 1 << bit;
        // Every outcome must be reported and limited, without a panic.
        match try_load(&sandbox, &broken, &json!({}), &limits).await {
            Ok(scorer) => {
                let outcome = scorer.score(output("1")).await;
                assert!(outcome.fuel.is_none_or(|fuel| fuel <= limits.fuel), "byte {place}");
                if round % 3 == 2 {
                    assert_ne!(scorer.info().name, "Sleeper", "byte {place}");
                    assert_eq!(result(outcome).score, Some(1.0), "byte {place}");
                }
                scored += 1;
            }
            Err(error) => {
                assert!(!error.message.is_empty(), "byte {place}");
                assert_ne!(round % 3, 2, "byte {place}: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused >= 4 && scored >= 8, "{refused} refused, {scored} scored");
    let scorer = load(&sandbox, &whole, &json!({})).await;
    assert_eq!(result(scorer.score(output("1")).await).score, Some(1.0));
}

async fn config_error(sandbox: &Sandbox, scorer: &str, settings: Value) -> String {
    let loaded = try_load(sandbox, &builtin(scorer), &settings, &Limits::default()).await;
    let error = refusal(loaded);
    assert_eq!(error.kind, ErrorKind::InvalidConfig, "{error}");
    in_the_scorers_words(error)
}

#[tokio::test]
async fn a_wrong_configuration_is_refused_by_the_scorer_with_the_place_in_it() {
    let sandbox = sandbox(1);
    let refusals = [
        ("latency", json!({}), "`targetMs` is required"),
        ("latency", json!({"targetMs": 1}), "`maxMs` is required"),
        (
            "latency",
            json!({"targetMs": 9, "maxMs": 1}),
            "`maxMs`: should be `targetMs` (9) or more",
        ),
        ("latency", json!({"targetMs": "9", "maxMs": 1}), "`targetMs`"),
        ("latency", json!({"targetMs": 1, "maxMS": 2}), "did you mean `maxMs`?"),
        ("contains", json!({"ignorecase": true}), "did you mean `ignoreCase`?"),
        ("contains", json!({"at": "strat"}), "`at`"),
        ("exact-match", json!({"trimm": true}), "did you mean `trim`?"),
        ("exact-match", json!({"value": 1, "values": [1]}), "value"),
        ("levenshtein", json!({"valeu": "x"}), "did you mean `value`?"),
        ("numeric-answer", json!({"pattern": "("}), "`pattern` is not"),
        ("numeric-answer", json!({"tolerance": -1}), "`tolerance`: should be 0 or more, found -1"),
        ("numeric-answer", json!({"values": [1, "many"]}), "`values[1]`"),
        ("schema-adherence", json!({"schema": {"type": "strnig"}}), "`schema`"),
        ("schema-adherence", json!({"shcema": {}}), "did you mean `schema`?"),
    ];
    for (scorer, settings, part) in refusals {
        let message = config_error(&sandbox, scorer, settings).await;
        assert!(message.contains(part), "{scorer}: no `{part}` in: {message}");
    }
}

/// The scorer's own message.
fn in_the_scorers_words(error: ScoreError) -> String {
    match error.advice {
        Some(Advice::DidYouMean(names)) => {
            format!("{}; did you mean `{}`?", error.message, names.join("` or `"))
        }
        _ => error.message,
    }
}
