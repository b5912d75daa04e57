//! loop-detection, as a specification. The values are from deepeval 4.3.1 (Apache-2.0) from PyPI and from Python's
//! difflib.

use super::*;
use crate::similarity::ratio_of;

const FLOOD: &str = "I will search the archive of the city library for documents on the flood of nineteen fifty three because several witnesses mention photographs taken during the evacuation of the harbour district and nobody catalogued them";
const FLOOD_AGAIN: &str = "Let me search the archive of the city library for documents on the flood of nineteen fifty three since several witnesses mention photographs taken during the evacuation of the harbour district and nobody ever catalogued those";
const FLOOD_TURNED: &str = "several witnesses mention photographs taken during the evacuation of the harbour district and nobody catalogued them so I will search the archive of the city library for documents on the flood of nineteen fifty three because";
const WIND: &str = "The weather service publishes hourly measurements of wind pressure and temperature for every station along the coast, which lets us compare the forecast against reality over the whole winter season without gaps";

fn score_with(config: Value, steps: Value) -> Score {
    let scorer: LoopDetection = scorebox_sdk::configure(config).unwrap();
    let run = json!({"type": "agent", "name": "root", "input": "go", "children": steps});
    scorer.score(&Case::new(json!("done")).with_trace(run)).unwrap()
}

fn score(steps: Value) -> f64 {
    score_with(json!({}), steps).score.unwrap()
}

fn search(query: i32) -> Value {
    json!({"type": "tool", "name": "search", "input": {"q": query}, "output": "x"})
}

fn says(text: &str) -> Value {
    json!({"type": "llm", "name": "m", "output": text})
}

#[test]
fn equal_calls_repeat() {
    assert_eq!(score(json!([search(1), search(1)])), 1.0);
    assert_eq!(score(json!([search(1), search(2), search(3)])), 1.0);
    let three = score_with(json!({}), json!([search(1), search(1), search(1)]));
    assert_eq!(three.score, Some(0.8));
    assert_eq!(three.reason.as_deref(), Some("`search` was called 3 times with {\"q\":1}"));
    assert_eq!(score(Value::Array(vec![search(1); 6])), 0.6);
    assert_eq!(score_with(json!({"repetitionThreshold": 1}), json!([search(1)])).score, Some(0.8));
}

#[test]
fn answers_stand_still() {
    let of = |first: &str, second: &str| score_with(json!({}), json!([says(first), says(second)]));
    assert_eq!(of(FLOOD, FLOOD).score, Some(0.65));
    assert_eq!(of(FLOOD, FLOOD_AGAIN).score, Some(0.65));
    assert_eq!(of(FLOOD, WIND).score, Some(1.0));
    assert_eq!(of("ok", "ok").score, Some(1.0));
    let turned = of(FLOOD, FLOOD_TURNED);
    assert_eq!(turned.score, Some(0.825));
    assert_eq!(
        turned.reason.as_deref(),
        Some("answers 1 and 2 are very similar (similarity 0.91)")
    );
    let meta = json!({"toolRepetition": 1.0, "reasoningStagnation": 0.5, "callGraphCycles": 1.0});
    assert_eq!(turned.meta_value(), Some(meta));
    assert_eq!(turned.assertions.len(), 3);
}

#[test]
fn agents_call_themselves() {
    let agent =
        |input: &str| json!({"type": "agent", "name": "root", "input": input, "children": []});
    let again = score_with(json!({}), json!([search(1), agent("go")]));
    assert_eq!(again.score, Some(0.75));
    assert_eq!(again.reason.as_deref(), Some("agent `root` calls itself"));
    assert_eq!(score(json!([agent("other")])), 1.0);
}

#[test]
fn only_what_is_checked_weighs() {
    let config = json!({"checkReasoningStagnation": false, "checkCallGraphCycles": false});
    assert_eq!(score_with(config, Value::Array(vec![search(1); 3])).score, Some(0.5));
}

#[test]
fn messages_are_answers_too() {
    let scorer: LoopDetection = scorebox_sdk::configure(json!({})).unwrap();
    let trace = json!([
        {"role": "assistant", "content": FLOOD, "tool_calls": [{"id": "1", "function": {"name": "s", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "nothing"},
        {"role": "assistant", "content": FLOOD},
    ]);
    let case = Case::new(json!("done")).with_trace(trace);
    assert_eq!(scorer.score(&case).unwrap().score, Some(0.65));
}

#[test]
fn the_ratio_is_difflibs() {
    let close = |left: f64, right: f64| (left - right).abs() < 1e-15;
    assert!(close(ratio_of("abcd", "bcde"), 0.75));
    assert!(close(ratio_of("", ""), 1.0));
    assert!(close(ratio_of("abc", ""), 0.0));
    let volatile = "private volatile Thread currentThread;";
    assert!(close(ratio_of("private Thread currentThread;", volatile), 0.8656716417910447));
    assert!(close(ratio_of(&"äöü".repeat(30), &"öäü".repeat(30)), 0.5));
    // From 200 characters on, frequent ones start no block.
    assert!(close(ratio_of(FLOOD, FLOOD_AGAIN), 0.03139013452914798));
    assert!(close(ratio_of(FLOOD, WIND), 0.060324825986078884));
    assert!(close(ratio_of(FLOOD, FLOOD_TURNED), 0.46741573033707867));
    assert!(close(ratio_of(&FLOOD.repeat(3), &FLOOD_TURNED.repeat(3)), 0.8149812734082397));
    assert!(close(ratio_of(&"ab".repeat(150), &"ba".repeat(150)), 0.0));
}

#[test]
fn long_and_many_answers_cost_a_bounded_amount() {
    // Words of rare letters, in two orders.
    let letters: Vec<char> =
        ('a'..='z').chain('α'..='ω').chain('а'..='я').chain('一'..='乇').collect();
    let word = |index: usize| -> String {
        (0..4).map(|offset| letters[(index * 7 + offset * 13) % letters.len()]).collect()
    };
    let text: Vec<String> = (0..1900).map(word).collect();
    let turned: Vec<String> = text.iter().rev().cloned().collect();
    let (text, turned) = (text.join(" "), turned.join(" "));
    let steps: Vec<_> =
        (0..60).map(|index| says(if index % 2 == 0 { &text } else { &turned })).collect();
    let score = score_with(json!({}), Value::Array(steps));
    assert!(score.score.is_some());
    let longer = says(&text.repeat(50));
    assert_eq!(score_with(json!({}), json!([longer, longer])).score, Some(0.65));
}

#[test]
fn impossible_thresholds_are_refused() {
    let refusal = |config: Value| {
        scorebox_sdk::configure::<LoopDetection>(config).err().expect("a refusal").to_string()
    };
    assert_eq!(
        refusal(json!({"repetitionThreshold": 0})),
        "`repetitionThreshold`: should be 1 or more, found 0"
    );
    assert_eq!(
        refusal(json!({"similarityThreshold": 2})),
        "`similarityThreshold`: should be 0 to 1, found 2"
    );
    let off = json!({"checkToolRepetition": false, "checkReasoningStagnation": false, "checkCallGraphCycles": false});
    assert_eq!(refusal(off), "nothing is checked: leave one of the checks on");
}

#[test]
fn what_an_agent_hands_over_stands_between_no_two_answers() {
    let helper = json!({"type": "agent", "name": "helper", "input": "x", "output": WIND,
        "children": [says(FLOOD)]});
    assert!(score(json!([helper, says(FLOOD)])) < 1.0);
}
