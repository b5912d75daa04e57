//! A case as a scorer sees it. It holds JSON texts, and parses one only when a scorer reads it.

use serde_json::Value;

use crate::bindings::scorebox::scorer::log::Level;
use crate::{Fields, Part, ScoreError, log};

/// What the task consumed, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Tokens of the prompt, including those written to a cache, and those read from one as far as the model counts
    /// them as input.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
    /// All tokens, if they were counted together; see [`Usage::total`].
    pub total_tokens: Option<u64>,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Tokens of the prompt that came from a cache, if a trace states them. Some models count them in `input_tokens`
    /// (OpenAI's), others separately (Anthropic's), so no sum includes them.
    pub cache_read_tokens: Option<u64>,
    /// The part of `cache_read_tokens` that is included in `input_tokens`.
    pub cached_input_tokens: Option<u64>,
    /// The part of `input_tokens` that was written to a cache, if a trace states it.
    pub cache_write_tokens: Option<u64>,
}

impl Usage {
    /// All tokens: the stated total, or else the sum of input and output. `None` if either of the two is unknown.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.total_tokens.or_else(|| both(self.input_tokens, self.output_tokens))
    }

    /// The sum of two usages. What one of them does not state is unknown in the sum too, except for tokens of a cache,
    /// which formats leave out if there are none.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        let add = |sum: Option<u64>, more: Option<u64>| both(sum, more).or(sum).or(more);
        let counted = self.total_tokens.or(more.total_tokens);
        Self {
            input_tokens: both(self.input_tokens, more.input_tokens),
            output_tokens: both(self.output_tokens, more.output_tokens),
            total_tokens: counted.and_then(|_| both(self.total(), more.total())),
            cost_usd: self.cost_usd.zip(more.cost_usd).map(|(sum, more)| sum + more),
            cache_read_tokens: add(self.cache_read_tokens, more.cache_read_tokens),
            cached_input_tokens: add(self.cached_input_tokens, more.cached_input_tokens),
            cache_write_tokens: add(self.cache_write_tokens, more.cache_write_tokens),
        }
    }

    /// This usage, or the tokens and the cost of the other one if this one states none. Counts of tokens are not mixed.
    #[must_use]
    pub fn or(self, other: Option<Self>) -> Self {
        let other = other.unwrap_or_default();
        let counted = self.total_tokens.or(self.input_tokens).or(self.output_tokens);
        let tokens = if counted.is_some() { self } else { other };
        Self { cost_usd: self.cost_usd.or(other.cost_usd), ..tokens }
    }
}

/// The sum of two counts, if both are known.
fn both(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    Some(sum?.saturating_add(more?))
}

/// One case to judge, with the parts that the scorer's `Info` names under `reads`.
///
/// `part()` is `None` if the case lacks that part; `require_part()` then returns an error that names it.
#[derive(Debug, Clone, Default)]
pub struct Case {
    pub(crate) output: String,
    pub(crate) input: Option<String>,
    pub(crate) ground_truth: Option<String>,
    pub(crate) context: Option<String>,
    pub(crate) output_schema: Option<String>,
    pub(crate) trace: Option<String>,
    pub(crate) metadata: Option<String>,
    pub(crate) baseline: Option<String>,
    pub(crate) latency_ms: Option<f64>,
    pub(crate) usage: Option<Usage>,
    /// The files that a native test provides in place of a grant.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) granted: Vec<(String, Vec<u8>)>,
    /// The parts that the scorer declares it reads; `None` in a case that a test built.
    pub(crate) reads: Option<Fields>,
}

macro_rules! part {
    ($(#[$doc:meta])* $part:ident, $require:ident, $with:ident, $key:literal, $flag:ident) => {
        $(#[$doc])*
        #[must_use]
        pub fn $part(&self) -> Option<Part<'_>> {
            self.warn_unless_declared(Fields::$flag, $key);
            self.$part.as_deref().map(|json| Part::new($key, json))
        }

        #[doc = concat!("[`Case::", stringify!($part), "`], where a score needs it.")]
        ///
        /// # Errors
        #[doc = concat!("[`ScoreError::InvalidInput`] where the case has no `", $key, "`.")]
        pub fn $require(&self) -> Result<Part<'_>, ScoreError> {
            let part = self.$part.as_deref().map(|json| Part::new($key, json));
            part.ok_or_else(|| self.missing(Fields::$flag, $key))
        }

        #[doc = concat!("For tests: this case with `", $key, "` set. JSON `null` counts as absent.")]
        #[must_use]
        pub fn $with(mut self, value: Value) -> Self {
            self.$part = (!value.is_null()).then(|| value.to_string());
            self
        }
    };
}

impl Case {
    /// For tests: a case with only an output.
    #[must_use]
    pub fn new(output: Value) -> Self {
        Self { output: output.to_string(), ..Self::default() }
    }

    /// What the task produced: the thing being judged. Always present, and may be `null`.
    #[must_use]
    pub fn output(&self) -> Part<'_> {
        Part::new("output", self.output.as_str())
    }

    part!(
        /// The task's input or prompt.
        input, require_input, with_input, "input", INPUT
    );
    part!(
        /// The expected output. See [`Accepted`](crate::Accepted) if it may be a list of accepted answers.
        ground_truth, require_ground_truth, with_ground_truth, "groundTruth", GROUND_TRUTH
    );
    part!(
        /// What the task was given in addition to its input, such as retrieved documents.
        context, require_context, with_context, "context", CONTEXT
    );
    part!(
        /// A JSON Schema that the output should match.
        output_schema, require_output_schema, with_output_schema, "outputSchema", OUTPUT_SCHEMA
    );
    part!(
        /// What the agent did: messages, tool calls, events.
        trace, require_trace, with_trace, "trace", TRACE
    );
    part!(
        /// Everything else that the case states about itself.
        metadata, require_metadata, with_metadata, "metadata", METADATA
    );
    part!(
        /// Another output for the same input, if two are compared.
        baseline, require_baseline, with_baseline, "baseline", BASELINE
    );

    /// How long the task took, in milliseconds; finite, 0 or more.
    #[must_use]
    pub fn latency_ms(&self) -> Option<f64> {
        self.warn_unless_declared(Fields::LATENCY, "latencyMs");
        self.latency_ms
    }

    /// [`Case::latency_ms`], for a scorer that cannot do without it.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case has no `latencyMs`.
    pub fn require_latency_ms(&self) -> Result<f64, ScoreError> {
        self.latency_ms.ok_or_else(|| self.missing(Fields::LATENCY, "latencyMs"))
    }

    /// For tests: this case with a latency, in milliseconds.
    #[must_use]
    pub fn with_latency_ms(mut self, latency_ms: f64) -> Self {
        self.latency_ms = Some(latency_ms);
        self
    }

    /// What the task consumed.
    #[must_use]
    pub fn usage(&self) -> Option<&Usage> {
        self.warn_unless_declared(Fields::USAGE, "usage");
        self.usage.as_ref()
    }

    /// [`Case::usage`], for a scorer that cannot do without it.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case has no `usage`.
    pub fn require_usage(&self) -> Result<&Usage, ScoreError> {
        let usage = self.usage.as_ref();
        usage.ok_or_else(|| self.missing(Fields::USAGE, "usage"))
    }

    /// For tests: this case with a usage.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// For tests: this case with a file in its workspace, as if the user had granted it; see
    /// `Files::granted` of `scorebox-sdk-workspace`.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn with_file(mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.granted.push((path.into(), content.into()));
        self
    }

    /// The files that [`Case::with_file`] added, in that order.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn granted_files(&self) -> &[(String, Vec<u8>)] {
        &self.granted
    }

    /// For tests: this case as a scorer sees it whose `Info` names `fields` under `reads`.
    #[must_use]
    pub fn read_by(mut self, fields: Fields) -> Self {
        self.reads = Some(fields);
        self
    }

    /// Whether the scorer's `Info` names the field under `reads`. A case that a test built has all fields.
    #[must_use]
    pub fn declares(&self, field: Fields) -> bool {
        self.reads.is_none_or(|reads| reads.contains(field))
    }

    /// The engine never passes a part that `Info` does not name, so a forgotten declaration would look like a case
    /// without that part. The warning makes it visible.
    fn warn_unless_declared(&self, field: Fields, key: &str) {
        if !self.declares(field) {
            log::spell(Level::Warn, format_args!("{}", undeclared(key)));
        }
    }

    fn missing(&self, field: Fields, key: &str) -> ScoreError {
        if self.declares(field) {
            ScoreError::InvalidInput(format!("the case has no `{key}`, which this scorer needs"))
        } else {
            ScoreError::Failed(undeclared(key))
        }
    }
}

fn undeclared(key: &str) -> String {
    format!("the scorer asks for `{key}`, but its Info does not name it under `reads`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_part_is_named_by_its_key() {
        let error = Case::new(json!("x")).require_ground_truth().unwrap_err();
        assert_eq!(
            error,
            ScoreError::invalid_input("the case has no `groundTruth`, which this scorer needs")
        );
        assert!(Case::new(json!("x")).ground_truth().is_none());
        let null = Case::new(json!("x")).with_ground_truth(json!(null));
        assert!(null.ground_truth().is_none());
    }

    #[test]
    fn a_part_of_the_wrong_kind_says_what_was_found() {
        let case = Case::new(json!("x")).with_ground_truth(json!(["a"]));
        let error = case.ground_truth().unwrap().string().unwrap_err();
        assert_eq!(error.message(), "`groundTruth` should be a string, found an array");
    }

    #[test]
    fn a_part_read_as_a_type_names_the_path_inside_it() {
        let case = Case::new(json!({"items": [{"price": "cheap"}]}));
        #[derive(Debug, serde::Deserialize)]
        struct Order {
            #[allow(dead_code)]
            items: Vec<Item>,
        }
        #[derive(Debug, serde::Deserialize)]
        struct Item {
            #[allow(dead_code)]
            price: f64,
        }
        let error = case.output().read::<Order>().unwrap_err();
        assert_eq!(
            error.message(),
            "`output.items[0].price` cannot be read: invalid type: string \"cheap\", expected a number"
        );
    }

    #[test]
    fn text_is_a_strings_content_or_else_compact_json() {
        assert_eq!(Case::new(json!("a\n\"b\"")).output().text().unwrap(), "a\n\"b\"");
        let case = Case { output: " {\"b\": 1.0,  \"a\":1e3}\n".to_owned(), ..Case::default() };
        assert_eq!(case.output().text().unwrap(), "{\"b\":1,\"a\":1000}");
        assert_eq!(Case::new(json!(null)).output().text().unwrap(), "null");
    }

    #[test]
    fn a_part_that_info_does_not_name_is_the_scorers_fault() {
        let case = Case { reads: Some(Fields::INPUT), ..Case::new(json!("x")) };
        assert!(matches!(case.require_trace(), Err(ScoreError::Failed(_))));
        assert!(matches!(case.require_input(), Err(ScoreError::InvalidInput(_))));
    }

    fn usage(input: Option<u64>, output: Option<u64>, total: Option<u64>) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            total_tokens: total,
            ..Usage::default()
        }
    }

    #[test]
    fn total_usage_is_the_count_or_else_the_sum_of_both_parts() {
        assert_eq!(usage(Some(3), Some(4), None).total(), Some(7));
        assert_eq!(usage(Some(3), None, Some(9)).total(), Some(9));
        assert_eq!(usage(Some(3), None, None).total(), None, "the output is not free");
        assert_eq!(usage(None, Some(4), None).total(), None);
        assert_eq!(Usage::default().total(), None);
    }

    #[test]
    fn a_sum_knows_what_both_usages_state() {
        let counted = usage(Some(1), Some(2), Some(3));
        assert_eq!(
            counted.plus(usage(Some(10), Some(20), None)),
            usage(Some(11), Some(22), Some(33))
        );
        assert_eq!(
            usage(Some(10), Some(20), None).plus(counted),
            usage(Some(11), Some(22), Some(33))
        );
        assert_eq!(counted.plus(usage(None, None, Some(30))), usage(None, None, Some(33)));
        assert_eq!(counted.plus(usage(Some(10), None, None)), usage(Some(11), None, None));
        let uncounted = usage(Some(1), Some(2), None);
        assert_eq!(uncounted.plus(uncounted), usage(Some(2), Some(4), None));
        let paid = Usage { cost_usd: Some(0.25), cache_read_tokens: Some(5), ..counted };
        assert_eq!(paid.plus(paid).cost_usd, Some(0.5));
        let sum = paid.plus(counted);
        assert_eq!((sum.cost_usd, sum.cache_read_tokens), (None, Some(5)));
    }

    #[test]
    fn a_usage_that_states_some_tokens_takes_none_from_another() {
        let half = usage(Some(3), None, None);
        assert_eq!(half.or(Some(usage(Some(1), Some(2), None))), half);
        let paid = Usage { cost_usd: Some(0.25), ..Usage::default() };
        assert_eq!(paid.or(Some(half)), Usage { cost_usd: Some(0.25), ..half });
    }
}
