//! Prompts: the places of a template, and the documents of a context.

use scorebox_sdk::Case;
use serde_json::json;

use crate::{Template, documents, joined_documents};

fn message(template: &str, case: &Case) -> Result<String, String> {
    let template =
        Template::parse("promptTemplate", template).map_err(|error| error.to_string())?;
    let prompt = template.fill(case).map_err(|error| error.to_string())?;
    let question = prompt.question("", "").map_err(|error| error.to_string())?;
    let text = question.messages[0].text.trim().to_owned();
    // The nonce is another one for each case.
    match text.split_once('-').and_then(|(_, rest)| rest.split_once('>')) {
        Some((nonce, _)) => Ok(text.replace(nonce.rsplit('-').next().unwrap(), "N")),
        None => Ok(text),
    }
}

#[test]
fn places_are_filled_with_parts_behind_fences() {
    let case = Case::new(json!({"answer": "4", "steps": [1, 2]})).with_input(json!("2+2?"));
    let filled = message("Q: {{input}}\nA: {{ output/answer }} of {{/output/steps}}!", &case);
    let expected = "Q: <input-N>\n2+2?\n</input-N>\n\n\nA: <output-N>\n4\n</output-N>\n\n of \
                    <output-N>\n[1,2]\n</output-N>\n\n!";
    assert_eq!(filled.unwrap(), expected);
    let case = case.with_ground_truth(json!("4"));
    for place in ["{{groundTruth}}", "{{ground_truth}}", "{{expected}}"] {
        assert_eq!(message(place, &case).unwrap(), "<ground-truth-N>\n4\n</ground-truth-N>");
    }
}

#[test]
fn what_a_case_writes_is_not_read_as_a_template() {
    let case = Case::new(json!("{{input}}")).with_input(json!("secret"));
    assert_eq!(message("{{output}}", &case).unwrap(), "<output-N>\n{{input}}\n</output-N>");
}

#[test]
fn unknown_places_are_an_error_that_names_what_there_is() {
    let case = Case::new(json!({"a": 1}));
    let error = message("{{question}}", &case).unwrap_err();
    assert_eq!(
        error,
        "`promptTemplate`: `{{question}}` is not a part of a case; there are `{{input}}`, `{{output}}`, \
         `{{groundTruth}}`, `{{context}}`, `{{metadata}}`, `{{baseline}}`, each also with a JSON Pointer: \
         `{{output/answer}}`"
    );
    assert!(message("{{output", &case).unwrap_err().contains("not closed"));
    assert!(message("{{input}}", &case).unwrap_err().contains("no `input`"));
    assert_eq!(message("{{output/b}}", &case).unwrap_err(), "`output` has nothing at `/b`");
}

#[test]
fn documents_are_texts_objects_with_a_text_or_one_value() {
    let of = |context| {
        let case = Case::new(json!("")).with_context(context);
        documents(&case.context().unwrap()).map_err(|error| error.to_string())
    };
    let list = json!(["a", {"text": "b"}, {"pageContent": "c", "id": 1}, {"id": 2}]);
    assert_eq!(of(list).unwrap(), ["a", "b", "c", "{\"id\":2}"]);
    assert_eq!(of(json!("whole")).unwrap(), ["whole"]);
    for nothing in [json!([]), json!([" ", {"text": ""}]), json!("\n"), json!({"content": " "})] {
        assert!(of(nothing).unwrap().is_empty());
    }
    assert_eq!(of(json!(["", "b"])).unwrap(), ["", "b"]);
    assert!(of(json!(vec!["x"; 129])).unwrap_err().contains("129 documents"));
    assert_eq!(of(json!(vec!["x"; 128])).unwrap().len(), 128);
    // One question about all of them is one question.
    let many = Case::new(json!("")).with_context(json!(vec!["x"; 1000]));
    assert_eq!(joined_documents(&many.context().unwrap()).unwrap().lines().count(), 1000);
}
