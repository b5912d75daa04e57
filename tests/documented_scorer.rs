//! Checks that the scorer in docs/sdk.md does what the page says. It is compiled natively: the SDK's own tests cover
//! components.

// begin
use std::collections::HashSet;

use scorebox_sdk::{
    Assertion, Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scored, Scorer,
    Severity, Summarizer, log, schemars, serde_json,
};
use serde_json::{Value, json};

/// The share of the required terms that the answer has.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Config {
    /// Terms that every answer must have.
    terms: Vec<String>,
    /// Terms whose absence is only reported.
    #[serde(default)]
    welcome: Vec<String>,
}

struct Terms {
    required: Vec<String>,
    welcome: Vec<String>,
}

impl Scorer for Terms {
    type Config = Config;
    const INFO: Info = Info::new("terms", "Terms", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH))
        .severity(Severity::Soft)
        .threshold(0.8);

    // Once, before the first score: what all scores need is prepared here.
    fn new(config: Config) -> Result<Self, ConfigError> {
        if config.terms.is_empty() {
            return Err(ConfigError::new("terms", "should have at least one term"));
        }
        let lower = |terms: Vec<String>| terms.iter().map(|term| term.to_lowercase()).collect();
        Ok(Terms { required: lower(config.terms), welcome: lower(config.welcome) })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let answer = case.output().text()?.to_lowercase();
        if answer.trim().is_empty() {
            return Ok(Score::not_applicable("there is no answer"));
        }
        let words: HashSet<&str> = answer.split_whitespace().collect();
        log::debug(format_args!("{} different words", words.len()));
        let has = |term: &String| words.contains(term.as_str());
        let found = self.required.iter().filter(|term| has(term)).count();
        let share = found as f64 / self.required.len() as f64;
        let required = self.required.iter().map(|term| Assertion::pass(term.clone(), has(term)));
        let welcome = self.welcome.iter().map(|term| {
            Assertion::pass(term.clone(), has(term))
                .severity(Severity::Soft)
                .reason("it is welcome")
        });
        Ok(Score::new(share)
            .label(if found == self.required.len() { "complete" } else { "incomplete" })
            .reason(format!("{found} of {} terms", self.required.len()))
            .meta(json!({ "found": found }))
            .assertions(required.chain(welcome)))
    }
}

impl Summarizer for Terms {
    fn summarize(&self, scores: &[Scored]) -> Result<Value, ScoreError> {
        let complete = scores.iter().filter(|scored| scored.label.as_deref() == Some("complete"));
        Ok(json!({ "complete": complete.count(), "of": scores.len() }))
    }
}

scorebox_sdk::export!(Terms, summary);
// end

#[test]
fn the_page_shows_this_scorer() {
    let (page, source) = (include_str!("../docs/sdk.md"), include_str!("documented_scorer.rs"));
    let (_, shown) = source.split_once("// begin\n").unwrap();
    let (shown, _) = shown.split_once("// end\n").unwrap();
    assert!(page.contains(&format!("```rust\n{shown}```")), "docs/sdk.md has another scorer");
}

#[test]
fn the_scorer_of_the_page_does_what_the_page_says() {
    let scorer = |config: Value| scorebox_sdk::configure::<Terms>(config);
    let terms = scorer(json!({ "terms": ["Rust", "Wasm"], "welcome": ["sandbox"] })).unwrap();
    let score = |output: &str| terms.score(&Case::new(json!(output))).unwrap();
    let half = score("rust it is");
    assert_eq!((half.score, half.label.as_deref()), (Some(0.5), Some("incomplete")));
    assert_eq!(half.reason.as_deref(), Some("1 of 2 terms"));
    assert_eq!(half.meta_value(), Some(json!({ "found": 1 })));
    let welcome = Assertion::pass("sandbox", false).severity(Severity::Soft);
    assert_eq!(
        half.assertions,
        [
            Assertion::pass("rust", true),
            Assertion::pass("wasm", false),
            welcome.reason("it is welcome")
        ]
    );
    assert_eq!(score(" ").score, None);
    let refused = scorer(json!({ "terms": [] })).err().unwrap();
    assert_eq!(refused.to_string(), "`terms`: should have at least one term");
    let scores = [Scored::new("a", half), Scored::new("b", score("wasm rust"))];
    assert_eq!(terms.summarize(&scores).unwrap(), json!({ "complete": 1, "of": 2 }));
}
