//! tool-arguments-valid, as a specification. The tool is one of tau-bench's (MIT).

use super::*;

fn parameters() -> Value {
    json!({"type": "object", "properties": {
        "reservation_id": {"type": "string"}, "cabin": {"enum": ["economy", "business"]},
        "date": {"type": "string", "format": "date"}},
        "required": ["reservation_id"]})
}

fn openai() -> Value {
    json!([{"type": "function", "function": {"name": "book", "description": "Books.", "parameters": parameters()}}])
}

fn calls(arguments: &[&str]) -> Value {
    (arguments.iter())
        .map(|arguments| {
            json!({"role": "assistant", "tool_calls": [{"id": "1", "type": "function",
            "function": {"name": "book", "arguments": arguments}}]})
        })
        .collect()
}

fn score_with(config: Value, trace: Value) -> Score {
    let scorer: ToolArgumentsValid = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!("done")).with_trace(trace)).unwrap()
}

fn score(arguments: &[&str]) -> Score {
    score_with(json!({"tools": openai()}), calls(arguments))
}

const GOOD: &str = r#"{"reservation_id": "OBUT9V", "cabin": "business"}"#;

#[test]
fn the_fraction_of_valid_calls() {
    let all = score(&[GOOD, GOOD]);
    assert_eq!(all.score, Some(1.0));
    assert_eq!(all.reason.as_deref(), Some("the arguments of all 2 calls are valid"));
    let half = score(&[GOOD, r#"{"reservation_id": 7, "cabin": "business"}"#]);
    assert_eq!(half.score, Some(0.5));
    assert_eq!(
        half.reason.as_deref(),
        Some(
            "1 of 2 calls are valid; first invalid: `book` (2): reservation_id: want string, but got number"
        )
    );
    assert_eq!(half.meta_value(), Some(json!({"valid": 1, "calls": 2})));
    let reasons = ["valid", "reservation_id: want string, but got number"];
    let expected = [0, 1].map(|index| {
        let assertion = Assertion::pass(format!("`book` ({})", index + 1), index == 0);
        assertion.reason(reasons[index])
    });
    assert_eq!(half.assertions, expected);
}

#[test]
fn missing_unknown_values_and_cut_text_are_not_valid() {
    assert_eq!(score(&["{}"]).score, Some(0.0));
    assert_eq!(score(&[r#"{"reservation_id": "x", "cabin": "first"}"#]).score, Some(0.0));
    let cut = score(&[r#"{"reservation_id": "x""#]);
    assert_eq!(cut.score, Some(0.0));
    assert!(
        cut.reason.unwrap().ends_with("the arguments are not JSON: EOF while parsing an object")
    );
    // Properties that the schema does not name are allowed, and formats are not checked.
    assert_eq!(score(&[r#"{"reservation_id": "x", "more": 1, "date": "soon"}"#]).score, Some(1.0));
}

#[test]
fn every_provider_declares_tools_in_its_own_way() {
    let schema = parameters();
    let declarations = [
        openai(),
        json!([{"type": "function", "name": "book", "parameters": schema}]),
        json!([{"name": "book", "input_schema": schema}]),
        json!([{"functionDeclarations": [{"name": "book", "parameters": schema}]}]),
        json!([{"toolSpec": {"name": "book", "inputSchema": {"json": schema}}}]),
        json!([{"cachePoint": {"type": "default"}}, {"systemTool": {"name": "nova_grounding"}},
            {"toolSpec": {"name": "book", "inputSchema": {"json": schema}}}]),
        json!([{"name": "book", "inputSchema": schema}, {"type": "web_search"}]),
        json!({"book": schema}),
        json!({"book": {"description": "Books.", "parameters": schema}}),
    ];
    for tools in declarations {
        let config = json!({ "tools": tools });
        assert_eq!(score_with(config.clone(), calls(&[GOOD])).score, Some(1.0), "{tools}");
        assert_eq!(score_with(config, calls(&["{}"])).score, Some(0.0), "{tools}");
    }
}

#[test]
fn the_responses_api_declares_tools_in_namespaces_and_items() {
    let function = json!({"type": "function", "name": "book", "parameters": parameters()});
    let space = json!([{"type": "namespace", "name": "crm", "tools": [function]}]);
    assert_eq!(score_with(json!({"tools": space}), calls(&[GOOD, "{}"])).score, Some(0.5));
    let custom = json!([{"type": "custom", "custom": {"name": "book"}}]);
    assert_eq!(score_with(json!({"tools": custom}), calls(&[GOOD])).score, Some(1.0));
    let listed = json!({"type": "mcp_list_tools", "tools": [{"name": "book", "input_schema": parameters()}]});
    let called = |arguments: &str| json!({"type": "mcp_call", "id": "m", "name": "book", "arguments": arguments, "output": "x"});
    let tools = json!([{"type": "mcp", "server_label": "s"}]);
    let trace = json!({"object": "response", "tools": tools, "output": [listed, called(GOOD), called("{}")]});
    assert_eq!(score_with(json!({}), trace).score, Some(0.5));
}

#[test]
fn geminis_types_are_in_capitals_and_may_be_null() {
    let flight = json!({"type": "OBJECT", "properties": {"number": {"type": "STRING"}}, "required": ["number"]});
    let parameters = json!({"type": "OBJECT", "properties": {
        "flights": {"type": "ARRAY", "items": flight, "maxItems": "2"},
        "cabin": {"type": "STRING", "enum": ["economy"], "nullable": true},
        "seat": {"anyOf": [{"type": "INTEGER"}, {"type": "BOOLEAN"}], "nullable": true},
        "nullable": {"type": "NUMBER", "nullable": false},
    }});
    let function = json!({"name": "book", "parameters": parameters});
    let rows = [
        (r#"{"flights": [{"number": "LH 1"}], "cabin": null, "seat": null, "nullable": 1.5}"#, 1.0),
        (r#"{"cabin": "economy", "seat": 7}"#, 1.0),
        (r#"{"flights": [{"number": 1}]}"#, 0.0),
        (r#"{"flights": null}"#, 0.0),
        (r#"{"flights": [{"number": ""}, {"number": ""}, {"number": ""}]}"#, 0.0),
        (r#"{"cabin": "first"}"#, 0.0),
        (r#"{"seat": "7A"}"#, 0.0),
        (r#"{"nullable": null}"#, 0.0),
    ];
    for tools in [
        json!({"functionDeclarations": [function]}),
        json!([{"function_declarations": [function]}]),
        json!([function]),
    ] {
        for (arguments, expected) in rows {
            let score = score_with(json!({ "tools": tools }), calls(&[arguments]));
            assert_eq!(score.score, Some(expected), "{tools} {arguments}");
        }
    }
}

#[test]
fn the_case_may_declare_the_tools() {
    let scorer: ToolArgumentsValid = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("x")).with_trace(calls(&["{}"]));
    let declared = case.clone().with_metadata(json!({"tools": openai()}));
    assert_eq!(scorer.score(&declared).unwrap().score, Some(0.0));
    let beside =
        Case::new(json!("x")).with_trace(json!({"tools": openai(), "messages": calls(&[GOOD])}));
    assert_eq!(scorer.score(&beside).unwrap().score, Some(1.0));
    assert_eq!(
        scorer.score(&case).unwrap_err().message(),
        "no tools are declared: set `tools`, or give the case `metadata.tools`"
    );
}

#[test]
fn tools_that_are_null_are_none() {
    let scorer: ToolArgumentsValid = scorebox_sdk::configure(json!({"tools": null})).unwrap();
    let of = |trace: Value| {
        let case = Case::new(json!("x")).with_trace(trace).with_metadata(json!({"tools": null}));
        scorer.score(&case)
    };
    let beside = of(json!({"tools": openai(), "messages": calls(&[GOOD])}));
    assert_eq!(beside.unwrap().score, Some(1.0));
    assert!(of(calls(&[GOOD])).unwrap_err().message().starts_with("no tools are declared"));
}

#[test]
fn an_undeclared_tool_fails_unless_configured() {
    let trace = json!([{"tool": "fly", "args": {}}]);
    let fails = score_with(json!({"tools": openai()}), trace.clone());
    assert_eq!(fails.score, Some(0.0));
    assert!(fails.reason.unwrap().ends_with("`fly` (1): no such tool is declared"));
    let ignored = score_with(json!({"tools": openai(), "undeclared": "ignore"}), trace);
    assert_eq!(ignored.score, None);
}

#[test]
fn without_calls_it_does_not_apply() {
    for config in [json!({"tools": openai()}), json!({})] {
        let none = score_with(config, json!([{"role": "user", "content": "Hi"}]));
        assert_eq!(
            (none.score, none.reason.as_deref()),
            (None, Some("no call of a declared tool"))
        );
    }
}

#[test]
fn impossible_declarations_are_refused() {
    let refusal = |tools: Value| {
        let error = scorebox_sdk::configure::<ToolArgumentsValid>(json!({ "tools": tools })).err();
        error.expect("a refusal").to_string()
    };
    assert_eq!(
        refusal(json!([])),
        "`tools`: declares no tool; leave it out, and the tools of the case count"
    );
    assert_eq!(refusal(json!(["book"])), "`tools`: tool 0 is not an object");
    assert!(
        refusal(json!([{"parameters": {}}])).starts_with("`tools`: tool 0 has no `name`; found")
    );
    let wrong = refusal(json!({"book": {"type": "strange"}}));
    assert!(
        wrong.starts_with("`tools`: the schema of `book` is not a usable JSON Schema: "),
        "{wrong}"
    );
    let remote = refusal(json!({"book": {"$ref": "https://example.com/x"}}));
    assert!(remote.contains("remote schemas are not fetched"), "{remote}");
}
