//! Answers that are texts, in cases without a trace.

use serde_json::json;

use super::*;

fn of_text(text: &str) -> Vec<String> {
    lines(&Trace::of(&scorebox_sdk::Case::new(json!(text))).unwrap())
}

#[test]
fn a_text_may_be_json_of_calls() {
    let call = r#"{"type":"function","function":{"name":"w","arguments":"{\"c\":1}"}}"#;
    let told = ["call w {\"c\":1} -> nothing (unknown)"];
    assert_eq!(of_text(&format!("[{call}]")), told);
    assert_eq!(of_text(&format!("\n{call} ")), told);
    let message = r#"{"role": "assistant", "content": "None needed."}"#;
    assert_eq!(of_text(message), ["assistant: None needed."]);
}

#[test]
fn lines_of_a_text_may_be_content_blocks() {
    let text = "I look it up.\n\n{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"w\",\"input\":{}}\n\nSoon.";
    let told = ["assistant: I look it up.", "call w {} -> nothing (unknown)", "assistant: Soon."];
    assert_eq!(of_text(text), told);
}

#[test]
fn a_text_may_begin_with_a_byte_order_mark() {
    let call = r#"{"type":"tool_use","id":"1","name":"w","input":{}}"#;
    let called = "call w {} -> nothing (unknown)";
    assert_eq!(of_text(&format!("\u{feff}[{call}]")), [called]);
    assert_eq!(of_text(&format!("\u{feff}{call}\nSoon.")), [called, "assistant: Soon."]);
    let case = scorebox_sdk::Case::new(json!("done"));
    let lines_of = case.with_trace(json!(format!("\u{feff}{call}\n{call}\n")));
    assert_eq!(lines(&Trace::of(&lines_of).unwrap()), [called, called]);
}

#[test]
fn other_texts_are_no_trace() {
    for text in
        ["No tools needed.", "{\"answer\": 5}", "[1]", "5", "a {\"type\": \"tool_use\"} b", "{"]
    {
        let error = Trace::of(&scorebox_sdk::Case::new(json!(text))).unwrap_err();
        assert!(error.message().ends_with("(a string) is not a trace either"), "{text}");
    }
}

#[test]
fn googles_live_answers_list_their_calls() {
    let live = json!({"text": "", "toolCall": {"functionCalls": [
        {"name": "a", "args": {"x": 1}, "id": "1"}, {"name": "b", "id": "2"}
    ]}});
    let told_live = told(live);
    assert_eq!(told_live[0], "call a {\"x\":1} -> nothing (unknown)");
    assert_eq!(told_live.len(), 2);
}

#[test]
fn a_list_may_mix_spellings_of_calls() {
    let mixed = json!([{"function": {"name": "a", "arguments": "{}"}}, {"name": "b"}]);
    assert_eq!(told(mixed).len(), 2);
}
