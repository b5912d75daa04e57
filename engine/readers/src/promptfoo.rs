//! Turns results of promptfoo into cases: the file of `--output results.json`, or of `results.jsonl`.
//!
//! The shapes are those of `OutputFile` and `EvaluateResult` in promptfoo's `src/types/index.ts` (0.121; older files
//! have `results.results` too).

use serde::{Deserialize, de::Deserializer};
use serde_json::{Map, Value};

use crate::{
    detect::first_keys,
    emit::Emit,
    format::Format,
    left_out::LeftOut,
    lenient_json::LenientJson,
    problem::Problem,
    promptfoo_expected::{expected_output, put_rendered_variables},
    promptfoo_repeats::Repeats,
    record::{Origin, Part, Record, because, usage},
    source_file::SourceFile,
    text::{Allowance, text},
    walk::{EACH, Path, Take, refuse, walk},
};

/// One answer of one provider to one prompt of one test.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvaluateResult {
    #[serde(default)]
    prompt_idx: u64,
    #[serde(default)]
    test_idx: Option<u64>,
    #[serde(default)]
    test_case: TestCase,
    #[serde(default)]
    prompt: Option<Prompt>,
    #[serde(default)]
    provider: Value,
    #[serde(default)]
    vars: Map<String, Value>,
    #[serde(default)]
    response: Option<Response>,
    #[serde(default)]
    grading_result: Option<GradingResult>,
    #[serde(default)]
    error: Option<String>,
    /// Why the result did not succeed: [`ERROR`], an assertion, or nothing.
    #[serde(default)]
    failure_reason: Option<u64>,
    #[serde(default)]
    success: Option<bool>,
    #[serde(default)]
    score: Option<f64>,
    #[serde(default)]
    named_scores: Map<String, Value>,
    #[serde(default)]
    latency_ms: Option<f64>,
    #[serde(default)]
    cost: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TestCase {
    description: Option<String>,
    assert: Option<Vec<Value>>,
    metadata: Option<Map<String, Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GradingResult {
    /// The outcomes of the assertions.
    component_results: Option<Vec<Value>>,
}

#[derive(Debug, Deserialize)]
struct Prompt {
    #[serde(default)]
    raw: Value,
    #[serde(default)]
    label: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Response {
    output: Value,
    error: Option<String>,
    token_usage: Option<TokenUsage>,
    cost: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TokenUsage {
    prompt: Option<u64>,
    completion: Option<u64>,
    total: Option<u64>,
}

/// `ResultFailureReason.ERROR`: promptfoo counts the result as an error, not as a failed one.
const ERROR: u64 = 2;

/// The paths in a line of `results.jsonl`, or in the whole `results.json`.
const PATHS: &[Path] = &[&["evalId"], RESULTS[0], RESULTS[1], RESULTS[2]];
/// The paths of results in such a document, or in a list of them that was extracted from it.
const RESULTS: &[Path] = &[&["results", "results", EACH], &["results", EACH], &[EACH]];

pub(crate) fn read(source: &SourceFile, emit: &mut Emit) -> Result<(), Problem> {
    let allowance = Allowance::new();
    let is_lines = is_lines(source)?;
    let repeats = repeats(source, is_lines)?;
    for _ in 0..repeats.missing_tests() {
        emit.leave_out(MISSING_TESTS);
    }
    let text = LenientJson::new(text(&source.path)?, emit.left_out());
    if is_lines {
        return read_lines(source, emit, allowance.on(text), &allowance, &repeats);
    }
    let mut results = Results {
        eval: None,
        record: 0,
        source,
        repeats,
        allowance: allowance.clone(),
        emit,
        problem: None,
    };
    walk(allowance.on(text), PATHS, &mut results, "the file of results").map(drop)
}

/// Why a suite that was made from the configuration may not fit.
const MISSING_TESTS: &str = "tests of the configuration without a result: after a filter, `test-N` is not the N-th of the configuration, and a migrated suite does not fit";

/// Which results belong to the same test. This reads the file once more.
fn repeats(source: &SourceFile, is_lines: bool) -> Result<Repeats, Problem> {
    let allowance = Allowance::new();
    // The second reading counts what is not valid JSON.
    let text = LenientJson::new(text(&source.path)?, LeftOut::default());
    Ok(match is_lines {
        true => Repeats::of_lines(text, &allowance),
        false => Repeats::of_document(text, RESULTS, &allowance),
    })
}

/// Whether each line is a result, instead of the whole file being one document.
fn is_lines(source: &SourceFile) -> Result<bool, Problem> {
    let is_list = text(&source.path)?.fill_buf()?.trim_ascii_start().starts_with(b"[");
    Ok(!is_list && first_keys(&source.path)?.contains("promptIdx"))
}

fn read_lines(
    source: &SourceFile,
    emit: &mut Emit,
    text: impl std::io::Read,
    allowance: &Allowance,
    repeats: &Repeats,
) -> Result<(), Problem> {
    let results = serde_json::Deserializer::from_reader(text).into_iter::<EvaluateResult>();
    for (index, result) in results.enumerate() {
        let result = result.map_err(|error| Problem::json("a result", &error))?;
        emit.case(&result.case(None, index as u64 + 1, source, repeats))?;
        allowance.renew();
    }
    Ok(())
}

struct Results<'a> {
    eval: Option<String>,
    record: u64,
    source: &'a SourceFile,
    repeats: Repeats,
    allowance: Allowance,
    emit: &'a mut Emit,
    problem: Option<Problem>,
}

impl Take for Results<'_> {
    fn take<'de, D: Deserializer<'de>>(&mut self, path: usize, element: D) -> Result<(), D::Error> {
        match path {
            0 => self.eval = Option::deserialize(element)?,
            _ => {
                let result = EvaluateResult::deserialize(element)?;
                self.record += 1;
                let case = result.case(self.eval.clone(), self.record, self.source, &self.repeats);
                refuse(&mut self.problem, self.emit.case(&case))?;
            }
        }
        self.allowance.renew();
        Ok(())
    }

    fn problem(&mut self) -> Option<Problem> {
        self.problem.take()
    }
}

impl EvaluateResult {
    fn case(
        self,
        eval: Option<String>,
        record: u64,
        source: &SourceFile,
        repeats: &Repeats,
    ) -> Record {
        let provider = match &self.provider {
            Value::Object(members) => members.get("id").cloned().unwrap_or_default(),
            other => other.clone(),
        };
        let (raw, label) = self.prompt.map(|it| (it.raw, it.label)).unwrap_or_default();
        let origin = Origin::new(Format::Promptfoo, &source.file, record)
            .with("evalId", eval)
            .with("provider", provider)
            .with("prompt", label.filter(|label| raw.as_str() != Some(label)))
            .with("description", self.test_case.description)
            .with("success", self.success)
            .with("score", self.score)
            .with("namedScores", self.named_scores);
        let repeat = repeats.of(record, self.test_idx.unwrap_or(record - 1));
        let test = format!("test-{}", repeat.test);
        let mut case = Record::new(format!("{test}-prompt-{}", self.prompt_idx), origin);
        case.node_id = Some(test);
        case.attempt = repeat.attempt;
        case.input = (!raw.is_null()).then(|| raw.into());
        let response = self.response.unwrap_or_default();
        // promptfoo does not count a blank error as one.
        let said = |error: Option<String>| error.filter(|error| !error.trim().is_empty());
        let (of_provider, of_result) = (said(response.error), said(self.error));
        // An error in addition to an output may be the error of an assertion.
        let is_failed = self.failure_reason == Some(ERROR) || of_provider.is_some();
        // If having no answer is a success, such as a refusal in a red team's test, promptfoo reports success.
        let is_failed = is_failed || response.output.is_null() && self.success == Some(false);
        if is_failed || response.output.is_null() {
            case.error = why_no_answer(of_provider.as_deref(), of_result.as_deref(), is_failed);
        }
        let tokens = response.token_usage.unwrap_or_default();
        // promptfoo reports zero for providers that count nothing; a cost of 0 that the provider itself reported is
        // kept.
        let cost = self.cost.filter(|cost| *cost > 0.0).or(response.cost);
        let counted = |count: Option<u64>| count.filter(|count| *count > 0);
        case.usage =
            usage(counted(tokens.prompt), counted(tokens.completion), counted(tokens.total), cost);
        case.output = (!response.output.is_null()).then(|| response.output.into());
        case.latency_ms = self.latency_ms;
        let assertions = self.test_case.assert.unwrap_or_default();
        let checked = self.grading_result.unwrap_or_default().component_results.unwrap_or_default();
        let mut vars = self.vars;
        put_rendered_variables(&mut vars, &checked);
        case.ground_truth = expected_output(&assertions, &checked, &vars).map(Part::from);
        let mut metadata = self.test_case.metadata.unwrap_or_default();
        metadata.insert("vars".to_owned(), Value::Object(vars));
        case.with_metadata(metadata)
    }
}

/// Why there is no answer: the provider reported an error, or there is only an error of the result, which may be that
/// of an assertion: promptfoo keeps no answer if an assertion fails to run.
fn why_no_answer(
    of_provider: Option<&str>,
    of_result: Option<&str>,
    is_failed: bool,
) -> Option<String> {
    match (of_provider, of_result) {
        (Some(error), _) => Some(because("the provider gave no answer", error)),
        (None, Some(error)) => Some(because("promptfoo gave no answer", error)),
        (None, None) => is_failed.then(|| "promptfoo gave no answer".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use scorebox::case::Mapping;
    use serde_json::json;

    use super::*;

    fn case(result: Value) -> Value {
        let source = SourceFile::of(std::path::Path::new("r.json"), Mapping::NONE);
        let result: EvaluateResult = serde_json::from_value(result).unwrap();
        serde_json::to_value(result.case(None, 1, &source, &Repeats::default())).unwrap()
    }

    #[test]
    fn the_expected_output_is_what_promptfoo_compared_with() {
        let assertion = json!({"type": "equals", "value": "{{city | upper}}"});
        let rendered = json!({"renderedAssertionValue": "LIMA"});
        let mut result = json!({
            "testCase": {"assert": [assertion]},
            "vars": {"city": "Lima"},
            "gradingResult": {"componentResults": [{"assertion": assertion, "metadata": rendered}]},
        });
        assert_eq!(case(result.clone())["groundTruth"], "LIMA");
        result["gradingResult"] = Value::Null;
        assert_eq!(case(result)["groundTruth"], Value::Null);
    }

    #[test]
    fn who_gave_no_answer_is_said_as_far_as_it_is_known() {
        let error = |result: Value| case(result)["error"].clone();
        assert_eq!(
            error(json!({"error": "429", "response": {"error": "429"}})),
            "the provider gave no answer: 429"
        );
        assert_eq!(
            error(json!({"error": "Error: Unknown assertion type: ends-with", "response": null})),
            "promptfoo gave no answer: Error: Unknown assertion type: ends-with"
        );
        assert_eq!(
            error(json!({"error": "too short", "failureReason": 1, "response": {"output": "x"}})),
            Value::Null,
            "an answer is there"
        );
        assert_eq!(
            error(json!({"error": "cut off", "failureReason": 2, "response": {"output": "x"}})),
            "promptfoo gave no answer: cut off"
        );
        assert_eq!(error(json!({"failureReason": 2})), "promptfoo gave no answer");
        assert_eq!(error(json!({"success": false, "response": {}})), "promptfoo gave no answer");
        assert_eq!(error(json!({"success": true, "response": {}})), Value::Null);
    }

    #[test]
    fn a_cost_of_zero_is_one_if_the_provider_gave_it() {
        let usage = |result: Value| case(result)["usage"].clone();
        assert_eq!(usage(json!({"cost": 0, "response": {"cost": 0}})), json!({"costUsd": 0.0}));
        assert_eq!(usage(json!({"cost": 2, "response": {}})), json!({"costUsd": 2.0}));
        assert_eq!(usage(json!({"cost": 0, "response": {}})), Value::Null);
    }

    #[test]
    fn a_result_without_the_number_of_its_test_has_its_own() {
        let source = SourceFile::of(std::path::Path::new("r.json"), Mapping::NONE);
        let result: EvaluateResult = serde_json::from_value(json!({"promptIdx": 1})).unwrap();
        let case = result.case(None, 3, &source, &Repeats::default());
        assert_eq!(case.id, "test-2-prompt-1");
    }

    #[test]
    fn a_blank_error_is_none() {
        for blank in ["", " \n"] {
            let response = json!({"output": "x", "error": blank});
            let read = case(json!({"error": blank, "failureReason": 0, "response": response}));
            assert_eq!((&read["output"], &read["error"]), (&"x".into(), &Value::Null));
            let nothing = case(json!({"error": blank, "response": {"error": blank}}));
            assert_eq!(nothing["error"], Value::Null);
        }
    }
}
