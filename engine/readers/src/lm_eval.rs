//! Turns samples of lm-evaluation-harness into cases: the files `samples_TASK_DATE.jsonl` of `--log_samples`.
//!
//! The shape is what `EvaluationTracker.save_results_samples` and `evaluate` write (`lm_eval/evaluator.py`, 0.4.13;
//! older versions have `arguments` as lists).

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    emit::Emit,
    format::Format,
    problem::Problem,
    record::{NO_ANSWER, Origin, Part, Record},
    source_file::SourceFile,
    text::{next_line, text},
};

/// One document, with the answers after one filter.
#[derive(Debug, Deserialize)]
struct Sample {
    doc_id: Value,
    #[serde(default)]
    doc: Value,
    #[serde(default)]
    target: Value,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    resps: Value,
    #[serde(default)]
    filtered_resps: Value,
    #[serde(default)]
    filter: Option<String>,
    #[serde(default)]
    metrics: Vec<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

pub(crate) fn read(source: &SourceFile, emit: &mut Emit) -> Result<(), Problem> {
    let (mut text, mut line, mut number) = (text(&source.path)?, Vec::new(), 0);
    let task = task(source.stem());
    let mut record = 0;
    while next_line(&mut text, &mut line, &mut number)? {
        let Some(sample) = emit.json_line::<Sample>(number, &line)? else { continue };
        record += 1;
        for case in sample.cases(task, record, source) {
            emit.case(&case)?;
        }
    }
    Ok(())
}

/// The task of the file `samples_TASK_2026-11-24T22-03-14.123456`.
fn task(stem: &str) -> Option<&str> {
    let (task, date) = stem.strip_prefix("samples_")?.rsplit_once('_')?;
    let is_date = date.len() >= 10 && date.as_bytes()[..4].iter().all(u8::is_ascii_digit);
    (is_date && !task.is_empty()).then_some(task)
}

impl Sample {
    /// A case for each answer to the document: one, unless the task repeats.
    fn cases(self, task: Option<&str>, record: u64, source: &SourceFile) -> Vec<Record> {
        let requests = requests(&self.arguments);
        let filter = self.filter.filter(|filter| filter != "none");
        let mut id = match (task, &self.doc_id) {
            (Some(task), doc) => format!("{task}:{}", plain(doc)),
            (None, doc) => plain(doc),
        };
        if let Some(filter) = &filter {
            id = format!("{id}:{filter}");
        }
        let metrics = self.metrics.into_iter().filter_map(|name| {
            let value = self.others.get(&name)?.clone();
            Some((name, value))
        });
        let origin = Origin::new(Format::LmEval, &source.file, record)
            .with("task", task)
            .with("filter", filter)
            .with("scores", Value::Object(metrics.collect()));
        // If a filter finds nothing in an answer, there is no answer to score, but the model has given one.
        let is_answered = says_something(&self.resps) || says_something(&self.filtered_resps);
        let answers = match (&self.filtered_resps, &self.resps) {
            (Value::Array(answers), _) if !answers.is_empty() => answers.as_slice(),
            (_, Value::Array(answers)) => answers,
            _ => &[],
        };
        let likelihoods: Option<Vec<f64>> = answers.iter().map(likelihood).collect();
        let (outputs, target) = match likelihoods {
            Some(likelihoods) if likelihoods.len() > 1 => {
                let choices: Vec<Value> = requests.iter().map(|it| it.continuation()).collect();
                let best = best(&likelihoods).and_then(|index| choices.get(index));
                let target = match plain(&self.target).parse::<usize>().ok() {
                    Some(index) => choices.get(index).cloned().unwrap_or(self.target),
                    None => self.target,
                };
                (vec![best.cloned().unwrap_or_default()], target)
            }
            // A repeated request has a list of answers.
            _ => {
                let first = answers.first().filter(|it| says_something(it));
                let first = first.cloned().unwrap_or_default();
                match first {
                    Value::Array(repeats) if repeats.iter().all(Value::is_string) => {
                        (repeats, self.target)
                    }
                    first => (vec![first], self.target),
                }
            }
        };
        let cases = outputs.into_iter().enumerate().map(|(attempt, output)| {
            let mut case = Record::new(id.clone(), origin.clone());
            case.attempt = attempt as u64;
            case.input = requests.first().map(|it| it.prompt.clone().into());
            case.error = (!is_answered).then(|| NO_ANSWER.to_owned());
            case.output = (!output.is_null()).then(|| Part::from(output));
            case.ground_truth = (!target.is_null()).then(|| target.clone().into());
            let doc = Map::from_iter([("doc".to_owned(), self.doc.clone())]);
            case.with_metadata(doc)
        });
        cases.collect()
    }
}

/// Whether answers contain more than `null` and lists of it. An empty text is an answer.
fn says_something(answers: &Value) -> bool {
    match answers {
        Value::Null => false,
        Value::Array(items) => items.iter().any(says_something),
        _ => true,
    }
}

/// What a model was asked.
#[derive(Debug)]
struct Request {
    prompt: Value,
    rest: Value,
}

impl Request {
    /// The text whose likelihood was requested, without the blank that joins it to the prompt.
    fn continuation(&self) -> Value {
        match &self.rest {
            Value::String(text) => text.trim().into(),
            other => other.clone(),
        }
    }
}

/// `{"gen_args_0": {"arg_0": PROMPT, "arg_1": …}, …}`, or `[[PROMPT, …], …]`.
fn requests(arguments: &Value) -> Vec<Request> {
    match arguments {
        Value::Object(members) => {
            let numbered = (0..members.len()).map_while(|n| members.get(&format!("gen_args_{n}")));
            let argument = |of: &Value, name: &str| of.get(name).cloned().unwrap_or_default();
            numbered
                .map(|it| Request { prompt: argument(it, "arg_0"), rest: argument(it, "arg_1") })
                .collect()
        }
        Value::Array(items) => {
            let argument = |of: &Value, index: usize| of.get(index).cloned().unwrap_or_default();
            items
                .iter()
                .map(|it| Request { prompt: argument(it, 0), rest: argument(it, 1) })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The log-likelihood of `[-1.5, false]`; numbers may be text.
fn likelihood(answer: &Value) -> Option<f64> {
    let pair = answer.as_array().filter(|pair| pair.len() == 2)?;
    let is_greedy =
        matches!(&pair[1], Value::Bool(_)) || matches!(pair[1].as_str(), Some("True" | "False"));
    let number = pair[0].as_f64().or_else(|| pair[0].as_str()?.parse().ok());
    // Minus infinity has already become `null`.
    let number = number.or_else(|| pair[0].is_null().then_some(f64::NEG_INFINITY));
    number.filter(|_| is_greedy)
}

/// The index of the highest value; the first of several.
fn best(likelihoods: &[f64]) -> Option<usize> {
    let indices = likelihoods.iter().enumerate().rev();
    indices.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(index, _)| index)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_in_the_name_of_its_file() {
        assert_eq!(task("samples_gsm8k_cot_2026-11-24T22-03-14.123456"), Some("gsm8k_cot"));
        assert_eq!(task("samples_gsm8k"), None);
        assert_eq!(task("answers"), None);
    }

    #[test]
    fn the_most_likely_choice_is_the_answer_and_the_first_of_equals() {
        assert_eq!(best(&[-3.0, -1.0, -1.0]), Some(1));
        assert_eq!(best(&[f64::NEG_INFINITY, -9.0]), Some(1));
        assert_eq!(best(&[]), None);
    }
}
