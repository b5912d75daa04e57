//! satisfies, as a specification. Results that are not obvious were checked against jq 1.7.

use scorebox_sdk::Usage;
use serde_json::Value;

use super::*;

mod language;

fn scorer(expression: &str) -> Satisfies {
    scorebox_sdk::configure(json!({ "expression": expression })).unwrap()
}

fn score_of(expression: &str, case: &Case) -> Option<f64> {
    scorer(expression).score(case).unwrap().score
}

fn gives(expression: &str, output: Value) -> Option<f64> {
    score_of(expression, &Case::new(output))
}

fn failure(expression: &str, output: Value) -> String {
    scorer(expression).score(&Case::new(output)).unwrap_err().to_string()
}

fn refusal(expression: &str) -> String {
    let error = scorebox_sdk::configure::<Satisfies>(json!({ "expression": expression })).err();
    error.expect("a refusal").to_string()
}

#[test]
fn true_is_1_false_is_0_and_a_number_is_itself() {
    assert_eq!(gives(".output | length < 10", json!("short")), Some(1.0));
    assert_eq!(gives(".output.total > 0", json!({"total": -1})), Some(0.0));
    assert_eq!(gives("[.output[] | select(. > 2)] | length / 4", json!([1, 2, 3, 4])), Some(0.5));
}

#[test]
fn a_number_that_a_fast_reader_takes_for_its_neighbour_stays_itself() {
    let number = 0.9452706955539223;
    assert_eq!(gives(".output", json!(number)), Some(number));
    assert_eq!(gives(".output >= 0.9452706955539223", json!(number)), Some(1.0));
}

#[test]
fn null_and_nothing_mean_that_the_rule_does_not_apply() {
    let score = scorer(".output.total").score(&Case::new(json!({}))).unwrap();
    assert_eq!(score.score, None);
    assert_eq!(score.reason.as_deref(), Some(".output.total: yields null"));
    assert_eq!(gives(".output | select(type == \"object\") | true", json!(1)), None);
}

#[test]
fn null_is_less_than_any_number_and_values_drops_it() {
    assert_eq!(gives(".usage.outputTokens <= 10000", json!(1)), Some(1.0));
    let few = ".usage.outputTokens | values | . <= 10000";
    assert_eq!(gives(few, json!(1)), None);
    let of = |tokens| Usage { output_tokens: Some(tokens), ..Usage::default() };
    assert_eq!(score_of(few, &Case::new(json!(1)).with_usage(of(10_000))), Some(1.0));
    assert_eq!(score_of(few, &Case::new(json!(1)).with_usage(of(10_001))), Some(0.0));
    // Without the tokens of the prompt, the total is unknown.
    let all = ".usage.totalTokens | values | . <= 10000";
    assert_eq!(score_of(all, &Case::new(json!(1)).with_usage(of(1))), None);
}

#[test]
fn the_whole_case_is_there() {
    let usage = Usage { input_tokens: Some(3), output_tokens: Some(4), ..Usage::default() };
    let case = Case::new(json!({"b": 1}))
        .with_input(json!("i"))
        .with_ground_truth(json!([1]))
        .with_context(json!(["c"]))
        .with_latency_ms(12.5)
        .with_output_schema(json!(true))
        .with_trace(json!([{"role": "user"}]))
        .with_usage(usage)
        .with_metadata(json!({"m": null}))
        .with_baseline(json!(0));
    let keys = "[\"baseline\",\"context\",\"groundTruth\",\"input\",\"latencyMs\",\"metadata\",\
                \"output\",\"outputSchema\",\"trace\",\"usage\"]";
    assert_eq!(score_of(&format!("keys == {keys}"), &case), Some(1.0));
    assert_eq!(score_of(".usage.totalTokens == 7 and .latencyMs == 12.5", &case), Some(1.0));
    assert_eq!(score_of("all(.trace[]; .role == \"user\")", &case), Some(1.0));
    assert_eq!(score_of(".usage | has(\"costUsd\")", &case), Some(0.0));
    assert_eq!(gives(".usage == null", json!(1)), Some(1.0));
}

#[test]
fn the_reason_has_the_label_or_the_expression() {
    let config = json!({"expression": ".output > 0", "label": "total is positive"});
    let labelled: Satisfies = scorebox_sdk::configure(config).unwrap();
    let score = labelled.score(&Case::new(json!(1))).unwrap();
    assert_eq!(score.reason.as_deref(), Some("total is positive: true"));
}

#[test]
fn regular_expressions_are_those_of_jq() {
    let is = |expression: &str| assert_eq!(gives(expression, json!("ab Ab ñx")), Some(1.0));
    is(".output | test(\"^AB\"; \"i\")");
    is(
        ".output | [match(\"(?<l>[a-z])x\"; \"g\") | .offset, .captures[0].name] == [6, \"l\"] | not",
    );
    is("[.output | match(\"(?<l>b)\"; \"g\") | .offset] == [1, 4]");
    is(".output | match(\"x\").offset == 7");
    is(
        ".output | capture(\"(?<first>\\\\w+) (?<second>\\\\w+)\") == {first: \"ab\", second: \"Ab\"}",
    );
    is("[.output | scan(\"[aA]b\")] == [\"ab\", \"Ab\"]");
    is(".output | gsub(\"b\"; \"c\") == \"ac Ac ñx\"");
    is(".output | sub(\"(?<x>a)\"; \"\\(.x)!\") == \"a!b Ab ñx\"");
    is("[.output | splits(\" +\")] == [\"ab\", \"Ab\", \"ñx\"]");
    assert!(failure(".output | test(\"(\")", json!("x")).contains("invalid regex"));
    assert!(failure(".output | test(\"x\"; \"q\")", json!("x")).contains("invalid regex flag: q"));
}

#[test]
fn json_in_a_text_is_read() {
    let is = |expression: &str, output: &str| {
        assert_eq!(gives(expression, json!(output)), Some(1.0), "{expression} of {output}");
    };
    is(".output | fromjson | .a == [1, null]", r#" {"a": [1, null]} "#);
    is("[.output | fromjson] == [1, [2], \"a\"]", "1 [2] # comment [\n \"a\"");
    is("[.output | fromjson] == []", "");
    is("[.output | fromjson?] == [1]", "1 ] [");
    is(".output | tonumber == 7", "7");
    let wrong = failure(".output | fromjson", json!("x"));
    assert!(wrong.ends_with("as JSON: byte offset 0: value expected"), "{wrong}");
    assert!(failure(".output | fromjson", json!(1)).contains("cannot use 1 as string"));
}

#[test]
fn json_in_a_text_that_nests_too_deep_is_an_error_that_can_be_caught() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    // With as much stack as a component has.
    let gives = |expression: &'static str, output: String| {
        let run = move || gives(expression, json!(output));
        let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap();
        thread.join().unwrap()
    };
    assert_eq!(gives(".output | fromjson | true", nested(127)), Some(1.0));
    assert_eq!(gives(".output | fromjson? | true", nested(128)), None);
    assert_eq!(gives(".output | fromjson? | true", "[".repeat(20_000)), None);
    assert_eq!(gives(".output | fromjson? | true", "{\"a\":".repeat(20_000)), None);
    assert_eq!(gives("try (.output | fromjson) catch false", "[".repeat(20_000)), Some(0.0));
    assert_eq!(gives(".output | tonumber? | true", "[".repeat(20_000)), None);
    // Brackets in a string do not count as nesting; outside of strings, none may be overlooked.
    let string = |text: &str| format!("\"{text}\"");
    assert_eq!(gives(".output | fromjson | true", string(&"[".repeat(20_000))), Some(1.0));
    assert_eq!(gives(".output | fromjson? | true", format!("\"\\q{}", "[".repeat(20_000))), None);
    let quote = string(&format!("\\\"{}", "[".repeat(20_000)));
    assert_eq!(gives(".output | fromjson | true", quote), Some(1.0));
    let error = failure(".output | fromjson", json!("[".repeat(20_000)));
    assert!(error.ends_with("as JSON: it nests more than 127 deep"), "{error}");
}

#[test]
fn formulas_have_functions() {
    let is = |expression: &str| assert_eq!(gives(expression, json!(8)), Some(1.0), "{expression}");
    is(".output | log2 == 3");
    is("pow(.output; 2) == 64");
    is("(.output * 2 | sqrt) == 4");
    is("((1 | exp | log) - 1 | abs) < 1e-9");
    is("(100 | log10) == 2 and (2.5 | floor) == 2");
}

#[test]
fn an_invalid_expression_is_refused_with_its_place() {
    assert_eq!(
        refusal(".output |"),
        "`expression` is not a valid jq expression: expected term at its end"
    );
    assert_eq!(
        refusal("(.output"),
        "`expression` is not a valid jq expression: expected closing parenthesis at its end"
    );
    assert_eq!(
        refusal(".output ) . x"),
        "`expression` is not a valid jq expression: expected token at character 9, before `) . x`"
    );
    assert_eq!(
        refusal(".output | lenght"),
        "`expression`: no filter `lenght` is known; did you mean `length`?"
    );
    assert_eq!(refusal(".output | split"), "`expression`: `split` takes 1 or 2 arguments, not 0");
}

#[test]
fn a_key_that_no_case_has_is_refused_with_the_one_that_is_meant() {
    let refused = |expression: &str, path: &str, hint: &str| {
        let wanted = format!("`expression`: a scorer sees no `{path}`; {hint}");
        assert_eq!(refusal(expression), wanted, "{expression}");
    };
    let latency = "did you mean `.latencyMs`?";
    for expression in [
        ".latency_ms < 1000",
        ".latency_ms? // 0 | . < 1000",
        ".\"latency_ms\" < 1",
        ".[\"latency_ms\"] < 1",
        ".[\"latency\\u005fms\"] < 1",
        ". | .latency_ms < 1",
        "(.output, .latency_ms) | . == 1",
        "if .latency_ms > 1 then 0 else 1 end",
        "[.latency_ms] | length",
        "{latency_ms} | length",
        "{a: .latency_ms} | .a",
        "\"\\(.latency_ms)\" == \"\"",
        ".output[.latency_ms]",
        "try .latency_ms catch 0",
        "-.latency_ms < 1",
        "select(.latency_ms < 1) | true",
        "has(\"latency_ms\") | not",
        ". as $case | .output | . < $case.latency_ms",
        ". as {latency_ms: $time} | $time < 1",
        ". as {$latency_ms} | $latency_ms < 1",
        "reduce .trace[] as $step (.latency_ms; . + 1)",
        "any(.; .latency_ms > 1)",
        "select(.output != null).latency_ms < 1",
        "getpath([\"latency_ms\"]) < 1",
        "getpath([\"output\", .latency_ms]) < 1",
        "def lat: .latency_ms; lat < 5000",
        "def lat($of): $of.latency_ms; lat(.) < 5000",
        "def lat(of): of.latency_ms; lat(.) < 5000",
        "def a: .latency_ms; def b: a; b < 5000",
        ". as $case | def lat: $case.latency_ms; .output | lat < 5000",
        "[.] | all(.latency_ms < 5000)",
        "[.] | .[] | .latency_ms < 5000",
        "[.][0].latency_ms < 5000",
        "[.] | first | .latency_ms < 5000",
        "[.] | map(.latency_ms) | add < 5000",
        "[.] as [$case] | $case.latency_ms < 5000",
        "first(.) | .latency_ms < 5000",
        "(. // {}) | .latency_ms < 5000",
        "if .metadata.c == 3 then . else null end | .latency_ms < 5000",
        "if .metadata.c == 3 then . else empty end | .latency_ms < 5000",
        "try . catch null | .latency_ms < 5000",
        "contains(.latency_ms)",
    ] {
        refused(expression, ".latency_ms", latency);
    }
    refused(".ground_truth == .output", ".ground_truth", "did you mean `.groundTruth`?");
    refused(".expected == .output", ".expected", "did you mean `.groundTruth`?");
    refused(".messages | length", ".messages", "did you mean `.trace`?");
    refused(".meta.x", ".meta", "did you mean `.metadata`?");
    refused(".ouput", ".ouput", "did you mean `.output`?");
    let own = "put it into `metadata`: `.metadata.toxicity`";
    refused(".toxicity < 0.5", ".toxicity", own);
    refused("(.toxicity // []) | index(\"x\") | not", ".toxicity", own);
    for key in ["id", "nodeId", "iteration", "attempt", "skip", "error", "workspace"] {
        let own = format!("put it into `metadata`: `.metadata.{key}`");
        refused(&format!(".{key} == 1"), &format!(".{key}"), &own);
    }
}

#[test]
fn so_is_a_key_that_no_usage_has() {
    let refused = |expression: &str, path: &str, hint: &str| {
        let wanted = format!("`expression`: a scorer sees no `{path}`; {hint}");
        assert_eq!(refusal(expression), wanted, "{expression}");
    };
    refused(".usage.cost_usd < 1", ".usage.cost_usd", "did you mean `.usage.costUsd`?");
    refused(".usage | .costUSD < 1", ".usage.costUSD", "did you mean `.usage.costUsd`?");
    refused(".usage?.prompt_tokens", ".usage.prompt_tokens", "did you mean `.usage.inputTokens`?");
    refused(
        ".usage.cacheReadTokens < 10000",
        ".usage.cacheReadTokens",
        "put it into `metadata`: `.metadata.cacheReadTokens`",
    );
    for expression in [
        "getpath([\"usage\", \"cacheReadTokens\"]) < 5",
        ".usage | getpath([\"cacheReadTokens\"]) < 5",
        "(.usage // {}).cacheReadTokens < 5",
        "[.usage] | all(.cacheReadTokens < 5)",
        "def f: .usage; f | .cacheReadTokens < 5",
        "getpath([\"usage\"]).cacheReadTokens < 5",
    ] {
        let own = "put it into `metadata`: `.metadata.cacheReadTokens`";
        refused(expression, ".usage.cacheReadTokens", own);
    }
    refused(
        ". as {usage: {$reasoningTokens}} | $reasoningTokens < 1",
        ".usage.reasoningTokens",
        "put it into `metadata`: `.metadata.reasoningTokens`",
    );
}

#[test]
fn what_need_not_be_the_case_may_have_any_key() {
    for expression in [
        ".output | .toxicity",
        ".output.toxicity",
        ".metadata | has(\"toxicity\")",
        "{toxicity: 1} | .toxicity",
        "(. + {toxicity: 1}) | .toxicity",
        ".toxicity = 1 | .toxicity < 2",
        ".toxicity |= 1 | .toxicity",
        ".toxicity //= 1 | .toxicity",
        ".. | .toxicity?",
        ".[] | .toxicity?",
        ".[\"out\", \"in\"] | .x?",
        ".[.metadata.part]",
        "[.trace[] | .toxicity] | length",
        "all(.trace[]; .toxicity < 1)",
        "map_values(.toxicity?)",
        "del(.toxicity) | length",
        "to_entries | length",
        "getpath([\"metadata\", \"toxicity\"]) == null",
        "getpath([.metadata.key]) == null",
        ".trace | getpath([0, \"toxicity\"]) == null",
        "keys | index(\"toxicity\")",
        "def f: .toxicity; .output | f",
        "def has(x): true; has(\"toxicity\")",
        "def select(x): .output; select(1).toxicity",
        "reduce .trace[] as $step ({}; .toxicity + 1)",
        ".output as $case | $case.toxicity",
        ". as $case | .output as $case | $case.toxicity",
        "if .output then .output else .input end | .toxicity",
        "(.output // .) | .toxicity",
        "try error({toxicity: 1}) catch .toxicity",
        "(.usage + {requests: 1}) | .requests",
        ".usage[.metadata.key]",
        "\"toxicity\" as $key | .[$key]",
        "def f(g): g | .toxicity; f(.output)",
        "def f(g): .output | g; f(.toxicity)",
        "def f: def f: .output; f | .toxicity; f",
        "def f: .toxicity; 1",
        "def f: if .toxicity then f else 1 end; .output | f",
        "(.usage // {requests: 1}) | .requests",
        "[., .output] | all(.toxicity)",
        "[.output] | map(.toxicity)",
        "{} | .toxicity",
        "null | .toxicity",
    ] {
        scorer(expression);
    }
}

#[test]
fn nothing_reaches_out_of_the_sandbox() {
    for name in ["now", "env", "input", "halt", "localtime", "input_filename"] {
        assert_eq!(refusal(name), format!("`expression`: no filter `{name}` is known"));
    }
    // The output is discarded.
    assert_eq!(gives("(.output | debug | debug(\"x\") | stderr) == 3", json!(3)), Some(1.0));
    assert!(refusal("$ENV").contains("no variable `$ENV` is known"));
    assert!(refusal("include \"x\"; .").contains("modules cannot be loaded"));
}

#[test]
fn an_error_is_not_a_score() {
    let error = failure(".output.total > 0", json!("text"));
    assert!(error.starts_with("`expression`: cannot index \"text\""), "{error}");
    assert!(failure("error(\"no\")", json!(1)).contains("no"));
    assert_eq!(
        failure(".output", json!("yes")),
        "`expression` should yield true, false, null or a number from 0 to 1; found \"yes\""
    );
    assert!(failure(".output", json!(7)).ends_with("found 7"));
    assert!(failure("nan", json!(7)).contains("found"));
}

#[test]
fn one_result_is_wanted() {
    assert!(failure(".output[] > 1", json!([1, 2])).contains("more than one result"));
    // An endless stream is not read to its end.
    assert!(failure("repeat(true)", json!(1)).contains("more than one result"));
}

#[test]
fn a_deep_case_is_walked() {
    let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(gives("[.. | numbers] == [1]", deep), Some(1.0));
}
