//! An assertion of promptfoo as a scorer with its configuration, or why there is none. docs/coming-from.md says how far they are equal.

use serde_json::{Map, Value, json};

/// A scorer that is equal to an assertion.
#[derive(Clone, Debug)]
pub(super) struct Equal {
    /// What the assertion is called.
    pub name: String,
    pub uses: &'static str,
    pub config: Map<String, Value>,
    pub threshold: Option<f64>,
    pub weight: Option<f64>,
    pub judged: bool,
    /// Whether `value` may be left out, so that the case's ground truth is taken.
    pub takes_ground_truth: bool,
}

impl Equal {
    /// The expected value.
    pub(super) fn expected(&self) -> Option<&Value> {
        self.config.get("value")
    }

    /// The same for the ground truth of each case.
    pub(super) fn without_expected(mut self) -> Equal {
        self.config.remove("value");
        self
    }
}

/// Keys of an assertion that change what is judged.
const CHANGES: [(&str, &str); 2] = [
    ("transform", "its `transform` is code that changes the output before it is judged"),
    ("contextTransform", "its `contextTransform` is code that makes the context"),
];

/// A scorer in the making.
struct Making<'a> {
    assertion: &'a Map<String, Value>,
    config: Map<String, Value>,
    negated: bool,
}

type Made = Result<(&'static str, Option<f64>), String>;

/// The scorer that an assertion is, or why there is none.
pub(super) fn translated(assertion: &Map<String, Value>) -> Result<Equal, String> {
    let written = assertion.get("type").and_then(Value::as_str).ok_or("it has no `type`")?;
    for (key, why) in CHANGES {
        if assertion.contains_key(key) {
            return Err(why.to_owned());
        }
    }
    let (negated, kind) = match written.strip_prefix("not-") {
        Some(kind) => (true, kind),
        None => (false, written),
    };
    let mut making = Making { assertion, config: Map::new(), negated };
    let (uses, threshold) = making.make(kind)?;
    let judged = JUDGED.contains(&uses);
    if negated && WITHOUT_NEGATE.contains(&uses) {
        return Err(format!("`{uses}` cannot be inverted"));
    }
    if negated {
        making.set("negate", true);
    }
    // Inverted, a score is 1 less the other.
    let threshold = threshold.map(|it| if negated { 1.0 - it } else { it });
    if has_null(&Value::Object(making.config.clone())) {
        return Err("a suite in TOML has no `null`".to_owned());
    }
    let metric = assertion.get("metric").and_then(Value::as_str).filter(|it| !it.contains("{{"));
    Ok(Equal {
        name: metric.unwrap_or(written).to_owned(),
        uses,
        config: making.config,
        threshold,
        weight: assertion.get("weight").and_then(Value::as_f64).filter(|weight| *weight >= 0.0),
        judged,
        takes_ground_truth: TAKES_GROUND_TRUTH.contains(&uses),
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
/// Scorers that take the case's ground truth where no value is configured.
const TAKES_GROUND_TRUTH: [&str; 8] = [
    "bleu",
    "contains",
    "embedding-similarity",
    "equals",
    "factuality",
    "gleu",
    "levenshtein",
    "rouge",
];

impl Making<'_> {
    /// The scorer and the score that passes, where it is not the scorer's own.
    fn make(&mut self, kind: &str) -> Made {
        match kind {
            "equals" => self.expecting("equals", None),
            "contains" | "icontains" => {
                self.ignores_case(kind);
                self.expecting("contains", None)
            }
            "contains-any" | "icontains-any" | "contains-all" | "icontains-all" => {
                self.ignores_case(kind);
                self.set("mode", if kind.ends_with("-all") { "all" } else { "any" });
                let values = self.value()?;
                self.set("values", values);
                Ok(("contains", None))
            }
            "starts-with" | "ends-with" => {
                self.set("at", if kind == "ends-with" { "end" } else { "start" });
                self.expecting("contains", None)
            }
            "regex" => {
                let pattern = self.text()?;
                self.set("pattern", pattern);
                self.set("compare", false);
                Ok(("regex", None))
            }
            "is-json" => {
                self.set("scalars", true);
                self.schema()?;
                Ok(("json-valid", None))
            }
            "contains-json" => {
                self.schema()?;
                Ok(("contains-json", None))
            }
            "is-xml" | "contains-xml" => {
                self.set("at", if kind == "is-xml" { "whole" } else { "anywhere" });
                self.required_elements()?;
                Ok(("xml-valid", None))
            }
            "is-sql" | "contains-sql" => {
                if self.assertion.contains_key("value") {
                    return Err(
                        "its list of tables and columns, or its database, has no equal".to_owned()
                    );
                }
                self.set("at", if kind == "is-sql" { "whole" } else { "fenced" });
                Ok(("sql-valid", None))
            }
            "is-refusal" => Ok(("is-refusal", None)),
            "levenshtein" => {
                const USUAL: f64 = 5.0;
                let most = self.threshold().unwrap_or(USUAL);
                self.set("maxDistance", most.max(0.0).floor() as u64);
                self.expecting("levenshtein", None)
            }
            "gleu" => {
                self.set("ignoreCase", true);
                self.set("ignoreFullStops", true);
                let threshold = self.threshold().unwrap_or(0.5);
                self.expecting("gleu", Some(threshold))
            }
            "bleu" => {
                let threshold = self.threshold().unwrap_or(0.5);
                self.expecting("bleu", Some(threshold))
            }
            "rouge-n" => {
                self.set("variant", "1");
                let threshold = self.threshold().unwrap_or(0.75);
                self.expecting("rouge", Some(threshold))
            }
            "word-count" => self.length("words"),
            "character-count" => self.length("characters"),
            "latency" => {
                let most = self.threshold().ok_or("it has no `threshold`")?;
                self.set("targetMs", most);
                self.set("maxMs", most);
                Ok(("latency", None))
            }
            "cost" => {
                let most = self.threshold().ok_or("it has no `threshold`")?;
                self.set("maxCost", most);
                Ok(("cost-budget", None))
            }
            "trajectory:tool-used" => self.tools("called-tool"),
            "trajectory:tool-sequence" => self.tools("tool-order"),
            "tool-call-f1" => {
                let threshold = self.threshold().unwrap_or(1.0);
                let value = self.value()?;
                self.set("value", value);
                self.set("arguments", "ignore");
                Ok(("tool-call-f1", Some(threshold)))
            }
            "skill-used" => {
                let name = self.text()?;
                self.set("name", name);
                Ok(("loaded-skill", None))
            }
            "llm-rubric" | "g-eval" => {
                let instructions = self.text()?;
                self.set("instructions", instructions);
                // Without a threshold, promptfoo's judge says itself whether it passes.
                let usual = if kind == "g-eval" { 0.7 } else { 0.5 };
                Ok(("rubric", Some(self.threshold().unwrap_or(usual))))
            }
            "factuality" | "model-graded-factuality" => {
                let threshold = self.threshold().unwrap_or(0.5);
                self.expecting("factuality", Some(threshold))
            }
            "model-graded-closedqa" | "closed-qa" => {
                let criteria = self.text()?;
                self.set("criteria", criteria);
                Ok(("closed-qa", Some(self.threshold().unwrap_or(0.5))))
            }
            "similar" => {
                let threshold = self.threshold().unwrap_or(0.75);
                self.expecting("embedding-similarity", Some(threshold))
            }
            "answer-relevance" => Ok(("answer-relevancy", self.threshold())),
            "context-recall" => Ok(("context-recall", self.threshold())),
            "context-relevance" => Ok(("context-relevancy", self.threshold())),
            "context-faithfulness" => Ok(("faithfulness", self.threshold())),
            other => Err(without_equal(other).to_owned()),
        }
    }

    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.config.insert(key.to_owned(), value.into());
    }

    fn threshold(&self) -> Option<f64> {
        self.assertion.get("threshold").and_then(Value::as_f64).filter(|it| it.is_finite())
    }

    /// The assertion's value, which must be in the configuration itself.
    fn value(&self) -> Result<Value, String> {
        match self.assertion.get("value") {
            None | Some(Value::Null) => Err("it has no `value`".to_owned()),
            Some(Value::String(text)) if text.starts_with("file://") => {
                Err(format!("its value is in `{text}`: put it into the configuration"))
            }
            Some(value) => Ok(value.clone()),
        }
    }

    fn text(&self) -> Result<String, String> {
        match self.value()? {
            Value::String(text) if !text.trim().is_empty() => Ok(text),
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                Ok(texts.join("\n"))
            }
            _ => Err("its value is no text".to_owned()),
        }
    }

    fn expecting(&mut self, uses: &'static str, threshold: Option<f64>) -> Made {
        let value = self.value()?;
        self.set("value", value);
        Ok((uses, threshold))
    }

    fn ignores_case(&mut self, kind: &str) {
        if kind.starts_with('i') {
            self.set("ignoreCase", true);
        }
    }

    /// The JSON Schema, if there is one. promptfoo's is of draft 7 unless it says another.
    fn schema(&mut self) -> Result<(), String> {
        self.set("formats", true);
        let mut schema = match self.assertion.get("value") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::String(text)) if text.starts_with("file://") => {
                return Err(format!("its schema is in `{text}`: put it into the configuration"));
            }
            Some(Value::String(text)) => serde_saphyr::from_str::<Value>(text)
                .map_err(|error| format!("its schema cannot be read: {error}"))?,
            Some(value) => value.clone(),
        };
        if let Value::Object(members) = &mut schema {
            let draft = json!("http://json-schema.org/draft-07/schema#");
            members.entry("$schema").or_insert(draft);
        }
        self.set("schema", schema);
        Ok(())
    }

    fn required_elements(&mut self) -> Result<(), String> {
        let elements = match self.assertion.get("value") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::String(text)) => text.split(',').map(|it| it.trim().to_owned()).collect(),
            Some(Value::Object(members)) => match members.get("requiredElements") {
                Some(Value::Array(items)) => {
                    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => return Ok(()),
            },
            Some(Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(_) => return Err("its value is no list of elements".to_owned()),
        };
        let elements: Vec<String> = elements;
        self.set("requiredElements", elements);
        Ok(())
    }

    fn length(&mut self, unit: &str) -> Made {
        self.set("unit", unit);
        self.set("outside", "zero");
        let bounds = match self.value()? {
            Value::Object(bounds) => (bounds.get("min").cloned(), bounds.get("max").cloned()),
            exact => (Some(exact.clone()), Some(exact)),
        };
        let bound = |bound: Option<Value>| match bound {
            None => Ok(None),
            Some(Value::String(text)) => text
                .trim()
                .parse::<u64>()
                .map(Some)
                .map_err(|_| "its value is no number".to_owned()),
            Some(other) => {
                other.as_u64().map(Some).ok_or_else(|| "its value is no whole number".to_owned())
            }
        };
        for (key, value) in [("min", bound(bounds.0)?), ("max", bound(bounds.1)?)] {
            if let Some(value) = value {
                self.set(key, value);
            }
        }
        match self.config.contains_key("min") || self.config.contains_key("max") {
            true => Ok(("length", None)),
            false => Err("it has neither `min` nor `max`".to_owned()),
        }
    }

    /// Tools by their names: a name, a list of names, or an object with one of these.
    fn tools(&mut self, uses: &'static str) -> Made {
        let names = match self.value()? {
            Value::String(name) => vec![name],
            Value::Array(names) => texts(&names)?,
            Value::Object(members) => {
                if let Some(mode) = members.get("mode").and_then(Value::as_str) {
                    match (uses, mode) {
                        ("tool-order", "exact") => self.set("mode", "exact"),
                        ("tool-order", "in_order" | "in-order" | "subsequence") => {}
                        _ => return Err(format!("its mode `{mode}` is not known")),
                    }
                }
                for (theirs, ours) in [("min", "min"), ("max", "max")] {
                    if let Some(count) = members.get(theirs).and_then(Value::as_u64) {
                        self.set(ours, count);
                    }
                }
                let found = ["steps", "tools", "names", "name", "tool"]
                    .iter()
                    .find_map(|key| members.get(*key));
                match found {
                    Some(Value::String(name)) => vec![name.clone()],
                    Some(Value::Array(names)) => texts(names)?,
                    _ => return Err("its tools are not listed by name".to_owned()),
                }
            }
            _ => return Err("its tools are not listed by name".to_owned()),
        };
        // A name with stars is a pattern of promptfoo's.
        if self.negated && names.len() > 1 {
            return Err("none of several tools: write an assertion for each".to_owned());
        }
        let names: Vec<Value> = names.iter().map(|name| pattern(name)).collect();
        self.set("names", names);
        Ok((uses, None))
    }
}

fn texts(items: &[Value]) -> Result<Vec<String>, String> {
    let text =
        |item: &Value| item.as_str().or_else(|| item.get("name")?.as_str()).map(str::to_owned);
    let all: Option<Vec<String>> = items.iter().map(text).collect();
    all.ok_or_else(|| "its tools are not listed by name".to_owned())
}

/// A name, or the pattern that one with `*` is.
fn pattern(name: &str) -> Value {
    match name.contains('*') {
        false => name.into(),
        true => {
            let escaped: Vec<String> = name.split('*').map(escaped).collect();
            json!({"regex": format!("^{}$", escaped.join(".*"))})
        }
    }
}

fn escaped(text: &str) -> String {
    let escape = |it: char| {
        if it.is_alphanumeric() || it == '_' { it.to_string() } else { format!("\\{it}") }
    };
    text.chars().map(escape).collect()
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

/// Why an assertion of this type has no equal.
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
            "it asks a service of its own; `rubric` asks a language model"
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
        "trajectory:tool-args-match" => "arguments of calls: see `called-tool` with `arguments`",
        _ => "no scorer of the same kind is known",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(assertion: Value) -> Result<Equal, String> {
        let Value::Object(assertion) = assertion else { panic!() };
        translated(&assertion)
    }

    #[test]
    fn an_assertion_becomes_a_scorer_with_its_configuration() {
        for (assertion, uses, config, threshold) in [
            (
                json!({"type": "icontains-any", "value": ["a"]}),
                "contains",
                json!({"ignoreCase": true, "mode": "any", "values": ["a"]}),
                None,
            ),
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
                json!({"targetMs": 500.0, "maxMs": 500.0}),
                None,
            ),
            (
                json!({"type": "trajectory:tool-used", "value": "search_*"}),
                "called-tool",
                json!({"names": [{"regex": "^search_.*$"}]}),
                None,
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
    fn what_has_no_equal_says_why() {
        for (assertion, why) in [
            (json!({"type": "python", "value": "x"}), "it is code"),
            (json!({"type": "not-similar", "value": "x"}), "cannot be inverted"),
            (json!({"type": "contains", "value": "x", "transform": "y"}), "`transform`"),
            (json!({"type": "equals", "value": {"a": null}}), "no `null`"),
            (json!({"type": "is-json", "value": "file://schema.json"}), "file://schema.json"),
            (json!({"type": "latency"}), "no `threshold`"),
            (json!({"type": "new-kind"}), "is known"),
            (json!({}), "no `type`"),
        ] {
            let said = of(assertion.clone()).unwrap_err();
            assert!(said.contains(why), "{assertion}: {said}");
        }
    }
}
