//! Prompts: the placeholders of a template, and the documents of a context.

use scorebox_sdk::Case;
use serde_json::json;

use crate::{Template, documents, joined_documents};

fn message(template: &str, case: &Case) -> Result<String, String> {
    let template =
        Template::parse("promptTemplate", template).map_err(|error| error.to_string())?;
    let prompt = template.fill(case).map_err(|error| error.to_string())?;
    let question = prompt.question("", "").map_err(|error| error.to_string())?;
    let text = question.messages[0].text.trim().to_owned();
    // The nonce differs from case to case.
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
fn a_latency_and_a_schema_have_places_too() {
    let schema = json!({"required": ["a"]});
    let case = Case::new(json!("x")).with_latency_ms(1250.0).with_output_schema(schema);
    let filled = |place: &str| message(place, &case).unwrap();
    for place in ["{{latencyMs}}", "{{latency_ms}}"] {
        assert_eq!(filled(place), "<latency-ms-N>\n1250\n</latency-ms-N>");
    }
    let schema = "<output-schema-N>\n{\"required\":[\"a\"]}\n</output-schema-N>";
    assert_eq!(filled("{{outputSchema}}"), schema);
    let required = "<output-schema-N>\n[\"a\"]\n</output-schema-N>";
    assert_eq!(filled("{{output_schema/required}}"), required);
    let bare = Case::new(json!("x"));
    assert!(message("{{latencyMs}}", &bare).unwrap_err().contains("no `latencyMs`"));
    assert!(message("{{outputSchema}}", &bare).unwrap_err().contains("no `outputSchema`"));
    let error = message("{{latencyMs/s}}", &case).unwrap_err();
    assert_eq!(error, "`latencyMs` has nothing at `/s`");
}

#[test]
fn a_placeholder_is_found_in_a_text_that_is_not_a_template() {
    for (text, place) in [
        ("Judge {{ output }}.", Some("output")),
        ("{{x}} and {{{groundTruth/a}}}", Some("groundTruth/a")),
        ("{{ {{input}}", Some("input")),
        ("Templates such as {{name}} stay.", None),
        ("{{output", None),
        ("{output}", None),
        ("}}{{", None),
    ] {
        assert_eq!(Template::place_in(text), place, "{text}");
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
        "`promptTemplate`: `{{question}}` is not a place that a template can have; there are `{{input}}`, `{{output}}`, \
         `{{groundTruth}}`, `{{context}}`, `{{metadata}}`, `{{baseline}}`, `{{outputSchema}}`, `{{latencyMs}}`, each \
         also with a JSON Pointer: `{{output/answer}}`"
    );
    for part_of_a_case in ["{{trace}}", "{{usage/totalTokens}}"] {
        let error = message(part_of_a_case, &case).unwrap_err();
        assert!(error.contains("is not a place that a template can have"), "{error}");
    }
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
    for nothing in [
        json!([]),
        json!([" ", {"text": ""}]),
        json!("\n"),
        json!({"content": " "}),
        json!({}),
        json!({"documents": [], "error": null}),
        json!([{}, [""]]),
    ] {
        assert!(of(nothing.clone()).unwrap().is_empty(), "{nothing}");
    }
    assert_eq!(
        of(json!({"documents": [], "count": 0})).unwrap(),
        [r#"{"count":0,"documents":[]}"#]
    );
    assert_eq!(of(json!(["", "b"])).unwrap(), ["", "b"]);
    assert!(of(json!(vec!["x"; 129])).unwrap_err().contains("129 documents"));
    assert_eq!(of(json!(vec!["x"; 128])).unwrap().len(), 128);
    // A question about all of them is a single question.
    let many = Case::new(json!("")).with_context(json!(vec!["x"; 1000]));
    assert_eq!(joined_documents(&many.context().unwrap()).unwrap().lines().count(), 1000);
}
