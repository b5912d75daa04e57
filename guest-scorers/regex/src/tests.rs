//! regex, as a specification.

use serde_json::Value;

use super::*;

fn scorer(config: Value) -> Regex {
    scorebox_sdk::configure(config).unwrap()
}

fn finds(config: Value, output: &str) -> bool {
    scorer(config).score(&Case::new(json!(output))).unwrap().score == Some(1.0)
}

fn catches(config: Value, output: &str, truth: Value) -> bool {
    let case = Case::new(json!(output)).with_ground_truth(truth);
    scorer(config).score(&case).unwrap().score == Some(1.0)
}

#[test]
fn without_an_expected_text_a_match_is_enough() {
    let number = json!({"pattern": r"\d{3}-\d{2}-\d{4}"});
    assert!(finds(number.clone(), "This output contains 123-45-6789"));
    assert!(!finds(number.clone(), "This output does not contain the pattern"));
    let mut none = number;
    none["negate"] = json!(true);
    assert!(!finds(none, "123-45-6789"));
}

#[test]
fn the_whole_output_must_match_if_configured() {
    let full = |pattern: &str, output| finds(json!({"pattern": pattern, "mode": "full"}), output);
    assert!(full("a+", "aaa"));
    assert!(!full("a+", "aaab"));
    // The second alternative is the one that reaches the end.
    assert!(full("a|ab", "ab"));
    assert!(!full("a|b", "ab"));
    assert!(full("(?x) a+ # letters", "aaa"));
}

#[test]
fn flags_change_what_letters_lines_and_dots_are() {
    let with = |flag: &str, pattern, output| {
        let without = finds(json!({"pattern": pattern}), output);
        let mut config = json!({"pattern": pattern});
        config[flag] = json!(true);
        !without && finds(config, output)
    };
    assert!(with("ignoreCase", "straße", "STRAßE"));
    assert!(with("multiLine", "^b$", "a\nb\nc"));
    assert!(with("dotAll", "a.b", "a\nb"));
    // On purpose unlike Python, and so unlike the peer.
    assert!(!finds(json!({"pattern": "a$"}), "a\n"));
    assert!(finds(json!({"pattern": r"a\n?$"}), "a\n"));
}

#[test]
fn letters_and_digits_are_those_of_unicode() {
    assert!(finds(json!({"pattern": r"^\w+$"}), "größe"));
    assert!(finds(json!({"pattern": r"^\p{Greek}+\d$"}), "αβγ٣"));
    assert!(finds(json!({"pattern": r"^.$"}), "👍"));
    assert!(!finds(json!({"pattern": r"(?-u:\d)"}), "٣"));
}

// The results from here on are those of `pattern` in Inspect 0.3.285.

#[test]
fn one_group_that_is_expected_will_do() {
    let config = json!({"pattern": "(foo) (bar)"});
    assert!(catches(config.clone(), "a foo bar", json!("foo")));
    assert!(catches(config.clone(), "a foo bar", json!("bar")));
    assert!(catches(config.clone(), "a foo bar", json!(["x", "bar"])));
    assert!(!catches(config.clone(), "a foo bar", json!("foo bar")));
    assert!(!catches(config, "foo bzr", json!("bar")));
    // Only the first match counts.
    assert!(!catches(json!({"pattern": r"(\d)"}), "1 2", json!("2")));
}

#[test]
fn without_groups_the_whole_match_is_compared() {
    assert!(catches(json!({"pattern": "[A-D]"}), "It is B", json!("B")));
    assert!(!catches(json!({"pattern": "[A-D]"}), "It is B", json!("It is B")));
}

#[test]
fn all_groups_may_have_to_be_expected() {
    let all = |pattern: &str, output, truth: &str| {
        catches(json!({"pattern": pattern, "matchAll": true}), output, json!(truth))
    };
    assert!(all("(foo) (foo)", "foo foo", "foo"));
    assert!(!all("(foo|bar) (foo|bar)", "foo bar", "bar"));
    // A group that does not take part is ignored, unless no group takes part.
    assert!(all("(foo)|(bar)", "bar", "bar"));
    assert!(!all(r"ANSWER:\s*(\d+)?", "ANSWER: ", "42"));
}

#[test]
fn case_counts_in_both_unless_configured() {
    assert!(!catches(json!({"pattern": "(FOO)"}), "foo", json!("foo")));
    assert!(!catches(json!({"pattern": "(foo)"}), "foo", json!("FOO")));
    assert!(catches(json!({"pattern": "(FOO)", "ignoreCase": true}), "foo", json!("Foo")));
}

#[test]
fn an_empty_capture_is_not_an_answer() {
    assert!(!catches(json!({"pattern": r"A: (\d*)"}), "A: ", json!("")));
}

#[test]
fn a_group_may_be_named_or_numbered() {
    let by = |group: Value, truth: &str| {
        let config = json!({"pattern": r"(?<name>\w+) is (?P<age>\d+)", "group": group});
        catches(config, "Ann is 7", json!(truth))
    };
    assert!(by(json!("age"), "7") && !by(json!("age"), "Ann"));
    assert!(by(json!(1), "Ann") && !by(json!(1), "7"));
    assert!(by(json!(0), "Ann is 7"));
}

#[test]
fn comparing_is_settled_by_the_configuration_where_it_says_so() {
    let case = Case::new(json!("7 of 9")).with_ground_truth(json!("8"));
    let compares = |config| scorer(config).score(&case).unwrap().score == Some(0.0);
    assert!(compares(json!({"pattern": r"\d"})));
    assert!(!compares(json!({"pattern": r"\d", "compare": false})));
    assert!(!compares(json!({"pattern": r"\d", "value": "7"})));
    // Then a case without an expected text is an error.
    let case = Case::new(json!("7 of 9"));
    for config in [json!({"compare": true}), json!({"group": 0}), json!({"matchAll": true})] {
        let mut config = config;
        config["pattern"] = json!("x");
        assert!(scorer(config).score(&case).unwrap_err().message().contains("`groundTruth`"));
    }
}

#[test]
fn reasons_and_meta_say_what_was_caught() {
    let score = |config, truth: Value| {
        let case = Case::new(json!("foo bar")).with_ground_truth(truth);
        scorer(config).score(&case).unwrap()
    };
    let wrong = score(json!({"pattern": "(f.o) (b.r)|(x)"}), json!(["a", "b"]));
    assert_eq!(wrong.reason.as_deref(), Some("caught \"foo\", \"bar\", expected \"a\", \"b\""));
    let meta = json!({"match": "foo bar", "groups": ["foo", "bar", null]});
    assert_eq!(wrong.meta_value(), Some(meta));
    let right = score(json!({"pattern": "(f.o) (b.r)"}), json!("bar"));
    assert_eq!(right.reason.as_deref(), Some("caught \"bar\", as expected"));
    let all = |truth| score(json!({"pattern": "(foo) (b.r)", "matchAll": true}), truth).reason;
    let reason = "all groups are right: caught \"foo\", \"bar\", expected \"bar\", \"foo\", \"x\"";
    assert_eq!(all(json!(["bar", "foo", "x"])).as_deref(), Some(reason));
    let reason = "not all groups are right: caught \"foo\", \"bar\", expected \"bar\"";
    assert_eq!(all(json!("bar")).as_deref(), Some(reason));
    let none = score(json!({"pattern": "x"}), json!("bar"));
    assert_eq!(none.reason.as_deref(), Some("the pattern does not match"));
    let found = score(json!({"pattern": "o+", "compare": false}), json!("bar"));
    assert_eq!(found.reason.as_deref(), Some("the pattern matches \"oo\""));
}

#[test]
fn patterns_that_cannot_be_used_are_refused() {
    let refusal = |config| scorebox_sdk::configure::<Regex>(config).err().unwrap().to_string();
    assert_eq!(
        refusal(json!({"pattern": "a(b"})),
        "`pattern` is not a valid regular expression: unclosed group, at character 2"
    );
    assert_eq!(
        refusal(json!({"pattern": "a(?=b)"})),
        "`pattern` is not a valid regular expression: look-around, including look-ahead and look-behind, is \
         not supported, at character 2"
    );
    assert!(refusal(json!({"pattern": r"(a)\1"})).contains("backreferences are not supported"));
    assert_eq!(
        refusal(json!({"pattern": r"\Aa\Z"})),
        "`pattern` is not a valid regular expression: unrecognized escape sequence, at character 4; the end \
         of the output is `\\z` here"
    );
    assert!(!refusal(json!({"pattern": r"\y"})).contains("`\\z`"));
    assert!(refusal(json!({"pattern": r"\w{1000}{1000}"})).contains("is too large"));
    assert!(refusal(json!({"pattern": "a".repeat(10_001)})).contains("at most 10000 bytes"));
    assert!(refusal(json!({"pattern": "(".repeat(60) + &")".repeat(60)})).contains("nest"));
    assert_eq!(
        refusal(json!({"pattern": "(?<a>.)", "group": "b"})),
        "`group`: should be a group of the pattern, which has 1 groups and the names `a`"
    );
    assert!(refusal(json!({"pattern": ".", "group": 1})).contains("has 0 groups and no names"));
    assert!(refusal(json!({"pattern": ".", "group": 0, "matchAll": true})).contains("matchAll"));
    assert!(refusal(json!({"pattern": ".", "value": "a", "compare": false})).contains("compare"));
}

#[test]
fn a_pattern_that_would_take_for_ever_elsewhere_takes_linear_time() {
    assert!(!finds(json!({"pattern": "^(a+)+$"}), &("a".repeat(100_000) + "!")));
    assert!(!finds(json!({"pattern": "(.*)*x"}), &"a".repeat(20_000)));
}
