//! Turns logs of OpenAI evals into cases: combines the events of each sample.
//!
//! The shapes are what `LocalRecorder` writes (`evals/record.py`, 3.0.1): a line with `spec`, a line for each
//! event, a line with `final_report`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    emit::Emit,
    format::Format,
    problem::Problem,
    record::{NO_ANSWER, Origin, Part, Record, error_of_sample, single},
    source_file::SourceFile,
    text::{next_line, text},
    window::Window,
};

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    spec: Option<Spec>,
    #[serde(default)]
    run_id: Option<String>,
    #[serde(default)]
    sample_id: Option<String>,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    data: Value,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    eval_name: Option<String>,
    completion_fns: Vec<String>,
    run_id: Option<String>,
}

/// The content of a sample's events.
#[derive(Debug, Default)]
struct Sample {
    run_id: Option<String>,
    prompt: Option<Value>,
    /// Whether a model was asked, whatever its answer was.
    is_sampled: bool,
    output: Option<Value>,
    expected: Option<Value>,
    ideal: Option<Value>,
    correct: Option<Value>,
    picked: Option<Value>,
    metrics: Map<String, Value>,
    error: Option<String>,
}

pub(crate) fn read(source: &SourceFile, emit: &mut Emit) -> Result<(), Problem> {
    let (mut text, mut line, mut number) = (text(&source.path)?, Vec::new(), 0);
    let mut spec = Spec::default();
    let mut samples = Window::<Sample>::new();
    let mut record = 0;
    while next_line(&mut text, &mut line, &mut number)? {
        let Some(event) = emit.json_line::<Line>(number, &line)? else { continue };
        if let Some(found) = event.spec {
            spec = found;
            continue;
        }
        let Some(id) = event.sample_id.as_deref() else {
            emit.leave_out("lines of no sample, such as the final report");
            continue;
        };
        match samples.case(id, line.len()) {
            Some(sample) => {
                sample.run_id = sample.run_id.take().or(event.run_id);
                sample.note(&event.kind, event.data);
            }
            None => emit.leave_out("events that came long after the others of their sample"),
        }
        while let Some((id, sample)) = samples.overflow() {
            record += 1;
            put(id, sample, &spec, record, source, emit)?;
        }
    }
    while let Some((id, sample)) = samples.oldest() {
        record += 1;
        put(id, sample, &spec, record, source, emit)?;
    }
    Ok(())
}

impl Sample {
    fn note(&mut self, kind: &str, data: Value) {
        let Value::Object(mut data) = data else { return };
        let mut take = |key: &str| data.remove(key).filter(|value| !value.is_null());
        match kind {
            // The first event is the answer; later ones may be a grader's.
            "sampling" if !self.is_sampled => {
                self.is_sampled = true;
                self.prompt = take("prompt");
                self.output = take("sampled").filter(says_something);
            }
            "function_call" | "sampling" => {}
            "match" => {
                self.expected = self.expected.take().or_else(|| take("expected"));
                self.correct = self.correct.take().or_else(|| take("correct"));
                self.picked = self.picked.take().or_else(|| take("picked"));
            }
            "raw_sample" => {
                self.ideal = take("ideal");
                self.prompt = self.prompt.take().or_else(|| take("input"));
            }
            "pick_option" => {
                self.prompt = self.prompt.take().or_else(|| take("prompt"));
                self.output = self.output.take().or_else(|| take("picked"));
            }
            "metrics" => self.metrics.extend(data),
            "error" => self.error = take("message").and_then(|it| it.as_str().map(str::to_owned)),
            _ => {}
        }
    }
}

/// Whether answers contain more than `null`. An empty text is an answer.
fn says_something(answers: &Value) -> bool {
    match answers {
        Value::Array(answers) => answers.iter().any(|answer| !answer.is_null()),
        answer => !answer.is_null(),
    }
}

fn put(
    id: String,
    sample: Sample,
    spec: &Spec,
    record: u64,
    source: &SourceFile,
    emit: &mut Emit,
) -> Result<(), Problem> {
    let is_judged =
        sample.correct.is_some() || sample.picked.is_some() || !sample.metrics.is_empty();
    // A sample that was judged without a question in the log had an answer that the log does not contain.
    let is_answered = is_judged && !sample.is_sampled;
    let mut scores = sample.metrics;
    scores.extend(sample.correct.map(|correct| ("correct".to_owned(), correct)));
    let origin = Origin::new(Format::OpenAiEvals, &source.file, record)
        .with("task", spec.eval_name.clone())
        .with("model", single(spec.completion_fns.clone().into()))
        .with("runId", sample.run_id.or_else(|| spec.run_id.clone()))
        .with("picked", sample.picked.unwrap_or_default())
        .with("scores", scores);
    let mut case = Record::new(id, origin);
    case.input = sample.prompt.map(Part::from);
    if sample.output.is_none() {
        let said = sample.error.map(|error| error_of_sample(&error));
        case.error = said.or_else(|| (!is_answered).then(|| NO_ANSWER.to_owned()));
    }
    case.output = sample.output.map(|output| single(output).into());
    case.ground_truth = sample.expected.or(sample.ideal).map(|it| single(it).into());
    emit.case(&case)
}
