//! Converts a promptfoo assertion to a scorer with its configuration, or reports why there is no equivalent. Other
//! files convert the individual types; docs/coming-from.md describes how far they are equal.

use serde_json::{Map, Value};

use super::{
    judged_assertions::of_judges,
    making::{ANY_SCORE, Made, Making},
    structured_assertions::of_structures,
    tabled_assertions::of_the_table,
    text_assertions::of_texts,
    trajectory_assertions::of_trajectories,
};

/// A scorer that is equal to an assertion.
#[derive(Debug)]
pub(super) struct Equal {
    /// The name of the assertion.
    pub name: String,
    pub uses: &'static str,
    pub config: Map<String, Value>,
    pub threshold: Option<f64>,
    pub weight: Option<f64>,
    pub judged: bool,
}

impl Equal {
    /// The same scorer with the ground truth of each case, if the scorer can use it in place of the one expected text.
    /// Comma-separated texts in `values` cannot be the ground truth, which is one text or a list.
    pub(super) fn of_ground_truth(mut self) -> Option<Equal> {
        let takes = TAKES_GROUND_TRUTH.contains(&self.uses);
        (takes && self.config.remove("value").is_some()).then_some(self)
    }
}

/// Keys of an assertion that change what is judged.
const CHANGES: [(&str, &str); 2] = [
    ("transform", "its `transform` is code that changes the output before it is judged"),
    ("contextTransform", "its `contextTransform` is code that makes the context"),
];

/// The scorer that scores as an assertion does, or why no scorer does. Variables are replaced in its value; with `None`
/// in place of variables, the value stays as written.
pub(super) fn translated(
    assertion: &Map<String, Value>,
    variables: Option<&Map<String, Value>>,
) -> Result<Equal, String> {
    let written = assertion.get("type").and_then(Value::as_str).ok_or("it has no `type`")?;
    for (key, why) in CHANGES {
        if assertion.contains_key(key) {
            return Err(why.to_owned());
        }
    }
    let weight = assertion.get("weight").and_then(Value::as_f64);
    if weight.is_some_and(|weight| weight < 0.0) {
        return Err("its `weight` is negative".to_owned());
    }
    let (negated, kind) = match written.strip_prefix("not-") {
        Some(kind) => (true, kind),
        None => (false, written),
    };
    let mut making = Making { assertion, variables, config: Map::new(), negated };
    let (uses, threshold) = made(&mut making, kind)?;
    let judged = JUDGED.contains(&uses);
    if negated && WITHOUT_NEGATE.contains(&uses) {
        return Err(format!("`{uses}` cannot be inverted"));
    }
    if negated {
        making.set("negate", true);
    }
    // An inverted score is 1 minus the score.
    let threshold = threshold.map(|it| if negated { 1.0 - it } else { it });
    // An assertion that only measures cannot fail, whatever its threshold or the scorer's.
    let threshold = if weight == Some(0.0) { Some(ANY_SCORE) } else { threshold };
    let config = Value::Object(making.config.clone());
    if has(&config, Value::is_null) {
        return Err("a suite in TOML has no `null`".to_owned());
    }
    if has(&config, is_too_large) {
        return Err("a suite in TOML has no whole number of more than 63 bits".to_owned());
    }
    let metric = assertion.get("metric").and_then(Value::as_str).filter(|it| !it.contains("{{"));
    Ok(Equal {
        name: metric.unwrap_or(written).to_owned(),
        uses,
        config: making.config,
        threshold,
        weight,
        judged,
    })
}

/// Scorers that ask a judge.
const JUDGED: [&str; 8] = [
    "answer-relevancy",
    "closed-qa",
    "context-recall",
    "context-relevancy",
    "embedding-similarity",
    "factuality",
    "faithfulness",
    "rubric",
];
/// Scorers without the key `negate`.
const WITHOUT_NEGATE: [&str; 10] = [
    "answer-relevancy",
    "closed-qa",
    "context-recall",
    "context-relevancy",
    "cost-budget",
    "embedding-similarity",
    "factuality",
    "faithfulness",
    "latency",
    "rubric",
];
/// Scorers that judge a case's context.
pub(super) const READ_CONTEXT: [&str; 3] = ["context-recall", "context-relevancy", "faithfulness"];
/// The scorer whose expected value can only be the case's ground truth.
pub(super) const NEEDS_GROUND_TRUTH: &str = "context-recall";
/// Scorers that use the case's ground truth if no value is configured.
const TAKES_GROUND_TRUTH: [&str; 9] = [
    "bleu",
    "contains",
    "context-recall",
    "embedding-similarity",
    "equals",
    "factuality",
    "gleu",
    "levenshtein",
    "rouge",
];

/// The scorer, and the passing score if it is not the scorer's own.
fn made(making: &mut Making<'_>, kind: &str) -> Made {
    let made = of_the_table(making, kind)
        .or_else(|| of_texts(making, kind))
        .or_else(|| of_structures(making, kind))
        .or_else(|| of_trajectories(making, kind))
        .or_else(|| of_judges(making, kind));
    made.unwrap_or_else(|| Err(without_equal(kind).to_owned()))
}

fn has(value: &Value, is_it: fn(&Value) -> bool) -> bool {
    is_it(value)
        || match value {
            Value::Array(items) => items.iter().any(|item| has(item, is_it)),
            Value::Object(members) => members.values().any(|member| has(member, is_it)),
            _ => false,
        }
}

/// Whether TOML cannot represent it: a whole number above 2^63 - 1.
fn is_too_large(value: &Value) -> bool {
    value.is_u64() && !value.is_i64()
}

/// Why an assertion of this type has no equivalent.
fn without_equal(kind: &str) -> &'static str {
    match kind {
        "javascript" | "python" | "ruby" => {
            "it is code: write it as a script (docs/scripts.md), or as one line of jq for `satisfies`"
        }
        "webhook" => "no scorer has a network: write what it decides as a script (docs/scripts.md)",
        "select-best" | "max-score" => {
            "it compares outputs with one another; here a case is scored alone: see `pairwise`"
        }
        "moderation" | "guardrails" | "pi" | "classifier" => {
            "it asks its own service; `rubric` asks a language model"
        }
        "perplexity" | "perplexity-score" => "results have no likelihoods",
        "meteor" => "no scorer has METEOR",
        "is-html" | "contains-html" => "no scorer reads HTML; `xml-valid` reads XHTML",
        "human" => "people grade",
        "assert-set" => "a set in a set",
        "is-valid-openai-function-call"
        | "is-valid-openai-tools-call"
        | "is-valid-function-call" => {
            "it needs the tools that were offered: see `tool-arguments-valid`"
        }
        "trajectory:goal-success" => {
            "its goal is the ground truth here: see `goal-success`, with --map groundTruth=POINTER"
        }
        "trajectory:tool-args-match" => "arguments of calls: see `called-tool` with `arguments`",
        _ => "no scorer of the same kind is known",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(assertion: Value) -> Result<Equal, String> {
        let Value::Object(assertion) = assertion else { panic!() };
        translated(&assertion, Some(&Map::new()))
    }

    #[test]
    fn an_assertion_becomes_a_scorer_with_its_configuration() {
        for (assertion, uses, config, threshold) in [
            (
                json!({"type": "icontains-any", "value": ["a", 1.0]}),
                "contains",
                json!({"ignoreCase": true, "mode": "any", "values": ["a", "1"]}),
                None,
            ),
            (json!({"type": "contains", "value": 1.0}), "contains", json!({"value": "1"}), None),
            (
                json!({"type": "not-regex", "value": "x+"}),
                "regex",
                json!({"pattern": "x+", "compare": false, "negate": true}),
                None,
            ),
            (
                json!({"type": "rouge-n", "value": "a"}),
                "rouge",
                json!({"variant": "1", "value": "a"}),
                Some(0.75),
            ),
            (
                json!({"type": "not-rouge-n", "value": "a", "threshold": 0.25}),
                "rouge",
                json!({"variant": "1", "value": "a", "negate": true}),
                Some(0.75),
            ),
            (
                json!({"type": "word-count", "value": {"max": 5}}),
                "length",
                json!({"unit": "words", "outside": "zero", "max": 5}),
                None,
            ),
            (
                json!({"type": "latency", "threshold": 500}),
                "latency",
                json!({"targetMs": 500.0, "maxMs": 500.0, "missing": "error"}),
                None,
            ),
            (
                json!({"type": "trajectory:tool-used", "value": "search_*"}),
                "called-tool",
                json!({"names": [{"regex": "^search_.*$"}]}),
                None,
            ),
            (
                json!({"type": "gleu", "value": ["a", "b"]}),
                "gleu",
                json!({"ignoreCase": true, "ignoreFullStops": true, "values": ["a", "b"]}),
                Some(0.5),
            ),
            (
                json!({"type": "bleu", "value": "a"}),
                "bleu",
                json!({"ignoreCase": true, "value": "a"}),
                Some(0.5),
            ),
            (
                json!({"type": "equals", "value": ["a", "b"]}),
                "equals",
                json!({"value": ["a", "b"]}),
                None,
            ),
            (
                json!({"type": "tool-call-f1", "value": " search,book"}),
                "tool-call-f1",
                json!({"value": ["search", "book"], "arguments": "ignore"}),
                Some(1.0),
            ),
            (
                json!({"type": "levenshtein", "value": "a", "threshold": 0}),
                "levenshtein",
                json!({"value": "a", "maxDistance": 0}),
                None,
            ),
            (
                json!({"type": "factuality", "value": "a", "threshold": 0.9}),
                "factuality",
                json!({"value": "a"}),
                Some(0.4),
            ),
            (json!({"type": "context-faithfulness"}), "faithfulness", json!({}), Some(0.0)),
            (
                json!({"type": "context-relevance", "threshold": 0.3}),
                "context-relevancy",
                json!({}),
                Some(0.3),
            ),
            (
                json!({"type": "llm-rubric", "value": "is polite"}),
                "rubric",
                json!({"instructions": "is polite"}),
                Some(0.5),
            ),
        ] {
            let equal = of(assertion.clone()).unwrap();
            assert_eq!(
                (equal.uses, Value::Object(equal.config), equal.threshold),
                (uses, config, threshold),
                "{assertion}"
            );
        }
    }

    #[test]
    fn what_has_no_weight_passes_with_every_score() {
        for kind in ["llm-rubric", "not-rouge-n", "contains", "trajectory:tool-used"] {
            let equal = of(json!({"type": kind, "value": "a", "threshold": 0.9, "weight": 0}));
            let equal = equal.unwrap();
            assert_eq!((equal.threshold, equal.weight), (Some(0.0), Some(0.0)), "{kind}");
        }
    }

    #[test]
    fn what_has_no_equal_says_why() {
        for (assertion, why) in [
            (json!({"type": "python", "value": "x"}), "it is code"),
            (json!({"type": "not-similar", "value": "x"}), "cannot be inverted"),
            (json!({"type": "contains", "value": "x", "transform": "y"}), "`transform`"),
            (json!({"type": "equals", "value": {"a": null}}), "no `null`"),
            (json!({"type": "is-json", "value": "file://schema.json"}), "file://schema.json"),
            (json!({"type": "latency"}), "no `threshold`"),
            (json!({"type": "contains", "value": "x", "weight": -1}), "negative"),
            (json!({"type": "context-recall"}), "no `value`"),
            (json!({"type": "context-recall", "value": "Paris"}), "ground truth"),
            (json!({"type": "rouge-n", "value": ["a"]}), "not text"),
            (json!({"type": "contains", "value": ["a"]}), "not text"),
            (json!({"type": "gleu", "value": ["a", 1]}), "nor a list of texts"),
            (json!({"type": "equals", "value": 18446744073709551615_u64}), "63 bits"),
            (json!({"type": "tool-call-f1", "value": []}), "not listed by name"),
            (json!({"type": "regex", "value": "[^]"}), "any character"),
            (json!({"type": "regex", "value": "x*+"}), "nothing before it to repeat"),
            (json!({"type": "new-kind"}), "is known"),
            (json!({}), "no `type`"),
        ] {
            let said = of(assertion.clone()).unwrap_err();
            assert!(said.contains(why), "{assertion}: {said}");
        }
    }
}
