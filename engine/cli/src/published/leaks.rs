//! Checks whether a scorer's answer contains parts of a case that it does not declare to read: it scores a case whose
//! parts are marked.

use scorebox::{
    case::Case,
    contract::{Example, Field},
    digest::Digest,
    sandbox::{Anatomy, LoadedScorer, Outcome},
};
use serde_json::{Map, Value, json};

/// The marks that were found in the scorer's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leaks {
    /// Parts that it does not declare to read.
    pub undeclared: Vec<&'static str>,
    /// Parts that it declares to read, and repeats.
    pub repeated: Vec<&'static str>,
    /// Why the case has no score. Then the scorer may have failed before it made its usual answer.
    pub unscored: Option<String>,
}

impl Leaks {
    /// Makes the scorer score its example, or a small case if it has none, with a mark in every part that can have one.
    ///
    /// # Errors
    /// If there is no such case.
    pub(crate) async fn of(anatomy: &Anatomy, scorer: &LoadedScorer) -> Result<Leaks, String> {
        let example = anatomy.example.as_deref().map(Example::parse).transpose()?;
        let written = example.as_ref().map_or(r#"{"output": "an answer"}"#, |it| it.case.get());
        let mut parts: Map<String, Value> =
            serde_json::from_str(written).map_err(|error| error.to_string())?;
        let reads = scorer.info().reads;
        let declared: Vec<Field> = reads.iter().collect();
        let mut marked = Vec::new();
        for field in Field::ALL {
            // The parts that it reads stay as in its example, so that the case gets its usual score.
            let is_declared = declared.contains(&field);
            if !(is_declared && example.is_some()) && mark(&mut parts, field) {
                marked.push(field);
            }
        }
        let case = Case::from_json(Value::Object(parts).to_string());
        let case = case.map_err(|error| error.to_string())?;
        let outcome = scorer.score(case.scorer_input(reads)).await;
        let said = said(&outcome);
        let found = marked.into_iter().filter(|field| said.contains(&mark_of(*field)));
        let (repeated, undeclared): (Vec<Field>, Vec<Field>) =
            found.partition(|field| declared.contains(field));
        let keys = |fields: Vec<Field>| fields.into_iter().map(Field::key).collect();
        let unscored = outcome.result.as_ref().err().map(|error| error.message.clone());
        Ok(Leaks { undeclared: keys(undeclared), repeated: keys(repeated), unscored })
    }
}

/// Puts a mark into a part, in the first shape that a case may have there. Returns whether there is such a shape.
fn mark(parts: &mut Map<String, Value>, field: Field) -> bool {
    let mark = mark_of(field);
    let shapes = [json!(mark), json!({ "mark": mark }), json!([mark]), json!([{ "mark": mark }])];
    for shape in shapes {
        let mut tried = parts.clone();
        tried.insert(field.key().to_owned(), shape);
        if Case::from_json(Value::Object(tried.clone()).to_string()).is_ok() {
            *parts = tried;
            return true;
        }
    }
    false
}

/// A text that occurs in no case.
fn mark_of(field: Field) -> String {
    let digest = Digest::of(format!("a mark in {}", field.key()).as_bytes()).to_string();
    format!("mark-{}", &digest[..24])
}

/// Everything that a scorer returns with a score, as text.
fn said(outcome: &Outcome) -> String {
    let mut said = match &outcome.result {
        Ok(result) => format!("{result:?}"),
        Err(error) => error.message.clone(),
    };
    outcome.log.iter().for_each(|line| said += &line.message);
    said
}
