//! The values that are not passed on as JSON: ids, counts, latency, usage.

use super::*;
use crate::contract::Usage;

/// A case with the member `member`.
fn with(member: &str) -> String {
    format!("{{\"output\":0,{member}}}")
}

/// The message about the only bad member `member`, without its position.
fn complaint(member: &str) -> String {
    bad(&with(member)).reason.to_string()
}

#[test]
fn an_id_is_a_string_or_an_integer() {
    let id = |raw: &str| case(&with(&format!("\"id\":{raw}"))).id().to_owned();
    assert_eq!(id("\"a b\""), "a b");
    assert_eq!(id(r#""\u0041\"é""#), "A\"é");
    assert_eq!(id("7"), "7");
    assert_eq!(id("-7"), "-7");
    assert_eq!(id("18446744073709551615"), "18446744073709551615");
    assert_eq!(
        id("170141183460469231731687303715884105728"),
        "170141183460469231731687303715884105728"
    );
    assert_eq!(id(&format!("\"{}\"", "x".repeat(512))).len(), 512);
}

#[test]
fn an_id_can_name_a_case_in_a_table() {
    let long = format!("\"{}\"", "é".repeat(257));
    let bad_ids =
        ["1.0", "1e2", "true", "[]", "{}", "\"\"", r#""\n""#, r#""\u009b""#, r#""\ud800""#, &long];
    for raw in bad_ids {
        for key in ["id", "nodeId"] {
            let message = complaint(&format!("\"{key}\":{raw}"));
            assert!(message.starts_with(&format!("`{key}` must be a string")), "{message}");
        }
    }
    assert_eq!(
        complaint("\"id\":1.5"),
        "`id` must be a string or an integer of 1 to 512 bytes, without control characters; \
         found the number 1.5"
    );
    assert!(complaint("\"nodeId\":7").starts_with("`nodeId` must be a string of 1"));
}

#[test]
fn a_case_without_an_id_is_named_after_its_place_and_its_task_after_it() {
    let unnamed =
        Case::parse("{\"output\":0}", 41, &Mapping::NONE, Location::new("f", 99)).unwrap();
    assert_eq!((unnamed.id(), unnamed.node_id()), ("case-42", "case-42"));
    let named = case(&with("\"id\":\"i\",\"node_id\":\"n\""));
    assert_eq!((named.id(), named.node_id()), ("i", "n"));
}

/// What programs and tables write for nothing, or for no.
const TEXTS_OF_NO: [&str; 15] = [
    "", "no", "N", " False", "None", "NULL", "nil", "nan", "NA", "n/a", "N/A", "-", "0", "0.0",
    "-0",
];

#[test]
fn a_skip_that_says_nothing_or_no_skips_nothing() {
    let skip = |raw: &str| case(&with(&format!("\"skip\":{raw}"))).skip().map(str::to_owned);
    for no in ["false", "null"] {
        assert_eq!(skip(no), None, "{no}");
    }
    for no in TEXTS_OF_NO {
        assert_eq!(skip(&format!("\"{no}\"")), None, "{no}");
    }
    assert_eq!(skip("true").as_deref(), Some(""));
    assert_eq!(skip("\"1\"").as_deref(), Some("1"));
    assert_eq!(skip("\"ok\"").as_deref(), Some("ok"));
    assert_eq!(skip("\"not yet\"").as_deref(), Some("not yet"));
    assert_eq!(skip("\"yes\"").as_deref(), Some("yes"));
    for bad in ["0", "1", "{}", "\"a\\nb\""] {
        assert!(complaint(&format!("\"skip\":{bad}")).starts_with("`skip` must be true, false"));
    }
}

#[test]
fn iteration_and_attempt_are_counts() {
    let bare = case("{\"output\":0}");
    assert_eq!((bare.iteration(), bare.attempt()), (0, 0));
    let full = case(&with("\"iteration\":2147483648,\"attempt\":1"));
    assert_eq!((full.iteration(), full.attempt()), (1 << 31, 1));
    for raw in ["2147483649", "-1", "1.0", "1e1", "\"1\"", "99999999999999999999999", "true"] {
        for key in ["iteration", "attempt"] {
            let message = complaint(&format!("\"{key}\":{raw}"));
            let start = format!("`{key}` must be an integer from 0 to 2147483648; found");
            assert!(message.starts_with(&start), "{message}");
        }
    }
}

#[test]
fn latency_is_a_finite_number_of_milliseconds() {
    let latency = |raw: &str| case(&with(&format!("\"latencyMs\":{raw}"))).latency_ms();
    assert_eq!(latency("1.0e2"), Some(100.0));
    assert_eq!(latency("0.1"), Some(0.1));
    assert_eq!(latency("2.2250738585072011e-308"), Some(2.225_073_858_507_201_e-308));
    assert!(latency("-0").unwrap().is_sign_positive());
    assert_eq!(latency("18446744073709551615"), Some(18_446_744_073_709_551_615.0));
    assert_eq!(case("{\"output\":0}").latency_ms(), None);
    for raw in ["-1", "1e999", "\"1\"", "\"inf\"", "[1]", "false"] {
        let message = complaint(&format!("\"latency_ms\":{raw}"));
        assert!(
            message.starts_with("`latencyMs` must be a finite number of 0 or more"),
            "{message}"
        );
    }
}

#[test]
fn every_spelling_of_usage_is_read_and_the_first_one_wins() {
    let usage = |object: &str| *case(&with(&format!("\"usage\":{object}"))).usage().unwrap();
    for key in ["inputTokens", "input_tokens", "prompt_tokens", "promptTokens"] {
        let expected = Usage { input_tokens: Some(5), ..Usage::default() };
        assert_eq!(usage(&format!("{{\"{key}\":5}}")), expected, "{key}");
    }
    for key in ["outputTokens", "output_tokens", "completion_tokens", "completionTokens"] {
        let expected = Usage { output_tokens: Some(5), ..Usage::default() };
        assert_eq!(usage(&format!("{{\"{key}\":5}}")), expected, "{key}");
    }
    for key in ["totalTokens", "total_tokens"] {
        let expected = Usage { total_tokens: Some(u64::MAX), ..Usage::default() };
        assert_eq!(usage(&format!("{{\"{key}\":18446744073709551615}}")), expected, "{key}");
    }
    for key in ["costUsd", "cost_usd", "costUSD"] {
        let expected = Usage { cost_usd: Some(0.25), ..Usage::default() };
        assert_eq!(usage(&format!("{{\"{key}\":25e-2}}")), expected, "{key}");
    }
    let both = usage(r#"{"promptTokens":1,"prompt_tokens":2,"input_tokens":3,"inputTokens":null}"#);
    assert_eq!(both.input_tokens, Some(3));
    let foreign = usage(r#"{"prompt_tokens_details":{"cached":1},"costUsd":null}"#);
    assert_eq!(foreign, Usage::default());
}

#[test]
fn usage_has_the_right_types() {
    for object in ["[]", "7", "\"x\""] {
        let message = complaint(&format!("\"usage\":{object}"));
        assert!(message.starts_with("`usage` must be an object; found"), "{message}");
    }
    for raw in ["-1", "1.0", "18446744073709551616", "\"5\"", "[]"] {
        let message = complaint(&format!("\"usage\":{{\"prompt_tokens\":{raw}}}"));
        assert!(message.starts_with("`usage.inputTokens` must be an integer from 0"), "{message}");
    }
    let message = complaint("\"usage\":{\"costUsd\":-0.1}");
    assert!(message.starts_with("`usage.costUsd` must be a finite number"), "{message}");
    let twice = complaint("\"usage\":{\"inputTokens\":1,\"inputTokens\":1}");
    assert_eq!(twice, "the key `inputTokens` appears twice");
    let no_unicode = complaint(r#""usage":{"\ud800":1}"#);
    assert!(no_unicode.starts_with("not valid JSON: ") && !no_unicode[1..].contains("not"));
}

#[test]
fn an_error_says_why_the_task_failed() {
    let error = |raw: &str| case(&with(&format!("\"error\":{raw}"))).error().map(str::to_owned);
    for none in
        ["null", "false", "\" \\n\"", "0", "0.0", "-0", "[]", "{}", "[ ]", "{ \t}", "\"OK\""]
    {
        assert_eq!(error(none), None, "{none}");
    }
    for none in TEXTS_OF_NO {
        assert_eq!(error(&format!("\"{none}\"")), None, "{none}");
    }
    for (raw, why) in [
        ("\" Timeout: é\\nat 1\\n\"", "Timeout: é\nat 1"),
        (r#"{"code":429,"message":"too many"}"#, "too many"),
        (r#"{"code":429,"message":" "}"#, r#"{"code":429,"message":" "}"#),
        (r#"{"message":"none"}"#, r#"{"message":"none"}"#),
        (r#"{"message":["a"]}"#, r#"{"message":["a"]}"#),
        ("true", "true"),
        ("[1,  2]", "[1,  2]"),
        ("429", "429"),
        ("0.5", "0.5"),
        ("\"1\"", "1"),
        ("\"not ok\"", "not ok"),
        ("[0]", "[0]"),
        (r#""\ud800""#, r#""\ud800""#),
    ] {
        assert_eq!(error(raw).as_deref(), Some(why), "{raw}");
    }
}

#[test]
fn what_is_kept_of_a_long_error_is_kept_when_it_is_read_again() {
    for text in ["x".repeat(MAX_ERROR_BYTES + 1), "🦀".repeat(MAX_ERROR_BYTES)] {
        let long = Case::builder().text(Key::Error, &text).build().unwrap();
        let kept = long.error().unwrap();
        assert!(kept.len() <= MAX_ERROR_BYTES && kept.ends_with("… (cut)"));
        let again = Case::builder().text(Key::Error, kept).build().unwrap();
        assert_eq!(again.error(), Some(kept));
    }
}

#[test]
fn only_a_task_that_failed_may_lack_an_output() {
    let failed = case(r#"{"error":"Timeout"}"#);
    assert_eq!((failed.output(), failed.raw(Key::Output)), ("null", None));
    assert_eq!(failed.digest(), case(r#"{"error":"Timeout","output":null}"#).digest());
    for line in [r#"{"error":""}"#, r#"{"error":null}"#, r#"{"error":0,"input":1}"#] {
        assert!(bad(line).to_string().contains("no `output`"), "{line}");
    }
}
