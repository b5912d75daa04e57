//! Results of promptfoo as cases: the file of `--output results.json`, or of `results.jsonl`.
//!
//! The shapes are those of `OutputFile` and `EvaluateResult` in promptfoo's `src/types/index.ts` (0.121; older files
//! have `results.results` too).

use serde::{Deserialize, de::Deserializer};
use serde_json::{Map, Value};

use crate::{
    detect::first_keys,
    emit::Emit,
    format::Format,
    json_numbers::JsonNumbers,
    place::Place,
    problem::Problem,
    record::{Origin, Record, because, usage},
    text::{Allowance, text},
    walk::{EACH, Path, Take, refuse, walk},
};

/// Types of assertions whose value is the expected output.
const EXPECTS_OUTPUT: [&str; 8] =
    ["equals", "similar", "levenshtein", "rouge-n", "bleu", "gleu", "meteor", "factuality"];

/// One answer of one provider to one prompt of one test.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvaluateResult {
    #[serde(default)]
    prompt_idx: u64,
    #[serde(default)]
    test_idx: u64,
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
    error: Option<String>,
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

/// A line of `results.jsonl`, or the whole of `results.json`.
const PATHS: &[Path] = &[&["evalId"], &["results", "results", EACH], &["results", EACH]];

pub(crate) fn read(place: &Place, emit: &mut Emit) -> Result<(), Problem> {
    let allowance = Allowance::new();
    let numbers = JsonNumbers::new(text(&place.path)?);
    if is_lines(place)? {
        return read_lines(place, emit, allowance.on(numbers), &allowance);
    }
    let mut results =
        Results { eval: None, record: 0, place, allowance: allowance.clone(), emit, problem: None };
    walk(allowance.on(numbers), PATHS, &mut results, "the file of results").map(drop)
}

/// Whether each line is a result, and not the whole file one document.
fn is_lines(place: &Place) -> Result<bool, Problem> {
    Ok(first_keys(&place.path)?.contains("promptIdx"))
}

fn read_lines(
    place: &Place,
    emit: &mut Emit,
    text: impl std::io::Read,
    allowance: &Allowance,
) -> Result<(), Problem> {
    let results = serde_json::Deserializer::from_reader(text).into_iter::<EvaluateResult>();
    for (index, result) in results.enumerate() {
        let result = result.map_err(|error| Problem::json("a result", &error))?;
        emit.case(&result.case(None, index as u64 + 1, place))?;
        allowance.renew();
    }
    Ok(())
}

struct Results<'a> {
    eval: Option<String>,
    record: u64,
    place: &'a Place,
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
                let case = result.case(self.eval.clone(), self.record, self.place);
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
    fn case(self, eval: Option<String>, record: u64, place: &Place) -> Record {
        let provider = match &self.provider {
            Value::Object(members) => members.get("id").cloned().unwrap_or_default(),
            other => other.clone(),
        };
        let (raw, label) = self.prompt.map(|it| (it.raw, it.label)).unwrap_or_default();
        let origin = Origin::new(Format::Promptfoo, &place.file, record)
            .with("evalId", eval)
            .with("provider", provider)
            .with("prompt", label.filter(|label| raw.as_str() != Some(label)))
            .with("description", self.test_case.description)
            .with("success", self.success)
            .with("score", self.score)
            .with("namedScores", self.named_scores);
        let test = format!("test-{}", self.test_idx);
        let mut case = Record::new(format!("{test}-prompt-{}", self.prompt_idx), origin);
        case.node_id = Some(test);
        case.input = (!raw.is_null()).then(|| raw.into());
        let response = self.response.unwrap_or_default();
        // An error beside an output is that of an assertion.
        if response.output.is_null()
            && let Some(error) = response.error.or(self.error)
        {
            case.skip = Some(because("the provider gave no answer", &error));
        }
        let tokens = response.token_usage.unwrap_or_default();
        let cost = self.cost.or(response.cost);
        // Zeros are what providers that count nothing say.
        let counted = |count: Option<u64>| count.filter(|count| *count > 0);
        case.usage = usage(
            counted(tokens.prompt),
            counted(tokens.completion),
            counted(tokens.total),
            cost.filter(|cost| *cost > 0.0),
        );
        case.output = (!response.output.is_null()).then(|| response.output.into());
        case.latency_ms = self.latency_ms;
        let assertions = self.test_case.assert.unwrap_or_default();
        case.ground_truth = assertions.iter().find_map(expected_output).map(|it| it.clone().into());
        let mut metadata = self.test_case.metadata.unwrap_or_default();
        metadata.insert("vars".to_owned(), Value::Object(self.vars));
        case.with_metadata(metadata)
    }
}

/// The output that an assertion expects, if it compares with one.
fn expected_output(assertion: &Value) -> Option<&Value> {
    let kind = assertion.get("type")?.as_str()?;
    EXPECTS_OUTPUT.contains(&kind).then(|| assertion.get("value")).flatten()
}
