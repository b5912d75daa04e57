//! keyword-coverage, as a specification.

use super::keywords::words;
use super::*;
use serde_json::Value;

fn scored(config: Value, case: &Case) -> Score {
    let scorer: KeywordCoverage = scorebox_sdk::configure(config).unwrap();
    scorer.score(case).unwrap()
}

fn coverage(input: &str, output: &str) -> f64 {
    let case = Case::new(json!(output)).with_input(json!(input));
    scored(json!({"from": "input"}), &case).score.unwrap()
}

fn listed(keywords: Value, output: &str) -> f64 {
    let case = Case::new(json!(output)).with_ground_truth(keywords);
    scored(json!({}), &case).score.unwrap()
}

// The pairs are from Mastra's tests of `keyword-coverage`, the numbers from keyword-extractor 0.0.28.
#[test]
fn the_keywords_of_the_input_are_looked_for() {
    let fox = "The quick brown fox jumps over the lazy dog";
    assert_eq!(coverage(fox, fox), 1.0);
    assert_eq!(coverage(fox, "A quick brown fox runs past a sleeping cat"), 0.5);
    assert_eq!(coverage(fox, "Lorem ipsum dolor sit amet"), 0.0);
    assert_eq!(coverage("The Quick Brown Fox", "a quick, brown fox!"), 1.0);
    assert_eq!(coverage("The quick brown fox", ""), 0.0);
    assert_eq!(coverage("The 123 quick 456 brown fox", "The quick brown fox"), 1.0);
    assert_eq!(coverage("The quick-brown fox!", "The quick brown fox"), 0.5);
}

#[test]
fn words_are_cut_as_the_peer_cuts_them() {
    let none = BTreeSet::new();
    let keywords = |text| extract(without_numbers(words(text)), &none);
    assert_eq!(keywords("Ann's 'dog' 'til U.S.A. (x)"), ["ann's", "dog", "til", "usa", "x"]);
    assert_eq!(keywords("a <b class=\"x\">big</b> 5 < 6 apples"), ["a", "big", "<", "apples"]);
    assert_eq!(keywords("<> a>b"), ["<>", "a>b"]);
    assert_eq!(
        keywords("see https://A.org/x?y=1, Twice twice"),
        ["see", "https://A.org/x?y=1,", "twice"]
    );
    assert_eq!(keywords("# R&D & 4x4 @ 42 - _"), ["r&d", "4x4"]);
}

#[test]
fn an_input_without_keywords_is_covered_as_in_the_peer() {
    let case = Case::new(json!("anything")).with_input(json!("The 7 of us"));
    let score = scored(json!({}), &case);
    assert_eq!(score.score, Some(1.0));
    assert_eq!(score.meta_value(), Some(json!({"skipped": true})));
}

#[test]
fn a_ground_truth_without_keywords_has_no_score() {
    let case = Case::new(json!("to be or not to be")).with_input(json!("fox"));
    for nothing in [
        json!([]),
        json!([""]),
        json!([[]]),
        json!({}),
        json!(""),
        json!("to be or not to be"),
        json!("!"),
        json!({"score": 0.95}),
    ] {
        for negate in [false, true] {
            let case = case.clone().with_ground_truth(nothing.clone());
            let scored = scored(json!({"negate": negate}), &case);
            assert_eq!(scored.score, None, "{nothing}");
            assert_eq!(scored.reason.as_deref(), Some("there are no keywords to cover"));
        }
    }
}

// The expected shares are counted by hand.
#[test]
fn numbers_of_a_ground_truth_are_keywords_as_they_are_written() {
    for (truth, output, expected) in [
        (json!("1969"), "the year 1970", 0.0),
        (json!("1969"), "It was in 1969.", 1.0),
        (json!(1969), "the year 1970", 0.0),
        (json!(1969), "(1969)", 1.0),
        (json!("$1,969"), "It costs $1,969.", 1.0),
        (json!("$1,969"), "It costs 1969 dollars.", 0.0),
        (json!(0.95), "p = 0.95, as before", 1.0),
        (json!("0.95"), "95", 0.0),
        (json!(-3), "at -3 degrees", 1.0),
        (json!("-3"), "at 3 degrees", 0.0),
        (json!("50%"), "50%!", 1.0),
        (json!("50%"), "50", 0.0),
        // The keywords are landed, moon and 1969.
        (json!("They landed on the moon in 1969"), "The moon was reached in 1970.", 1.0 / 3.0),
        // `Seven` is a stop word; `7` is not.
        (json!("Seven of 7"), "7", 1.0),
    ] {
        let case = Case::new(json!(output)).with_ground_truth(truth.clone());
        let score = scored(json!({}), &case).score;
        assert_eq!(score, Some(expected), "{truth} in {output}");
    }
    assert_eq!(coverage("It was 1969", "It was 1970"), 1.0);
}

#[test]
fn the_texts_inside_a_ground_truth_that_is_not_a_text_are_read() {
    let coverage = |truth: Value, output: &str| {
        let case = Case::new(json!(output)).with_input(json!("q")).with_ground_truth(truth);
        scored(json!({}), &case)
    };
    let score = |truth: Value, output: &str| coverage(truth, output).score.unwrap();
    assert_eq!(score(json!({"answer": "Paris"}), "Paris"), 1.0);
    assert_eq!(score(json!({"answer": "Paris", "country": "France"}), "in Paris"), 0.5);
    let item = json!({"score": 0.95, "label": "relevant", "grading_notes": "Answers directly"});
    let missing = json!({"found": ["answers"], "missing": ["directly", "relevant"], "total": 3});
    assert_eq!(coverage(item, "Who answers?").meta_value(), Some(missing));
    let messages = json!([{"role": "assistant", "content": "Paris, France"}]);
    assert_eq!(score(messages, "assistant in Paris"), 0.5);
    assert_eq!(score(json!([{"answer": "red fox"}, "blue"]), "fox red"), 2.0 / 3.0);
    assert_eq!(score(json!([["red", "fox"], ["blue"]]), "blue fox"), 2.0 / 3.0);
}

#[test]
fn chat_messages_are_read_as_one_text() {
    let input =
        json!([{"role": "user", "content": "red fox"}, {"role": "user", "content": "lake"}]);
    let case = Case::new(json!("A fox at the lake")).with_input(input);
    assert_eq!(scored(json!({}), &case).score, Some(2.0 / 3.0));
}

#[test]
fn of_an_object_the_texts_inside_are_read() {
    let score = |input: Value, output: Value| {
        scored(json!({"from": "input"}), &Case::new(output).with_input(input)).score
    };
    let asked = json!({"question": "What is the capital of France?", "turn": 1});
    assert_eq!(score(asked, json!("The capital of France is Paris.")), Some(1.0));
    let messages = json!({"inputMessages": [{"role": "user", "content": "capital France"}]});
    assert_eq!(score(messages.clone(), json!({"response": "The capital of France"})), Some(1.0));
    let parts = json!([{"role": "assistant", "content": [{"type": "text", "text": "France"}]}]);
    assert_eq!(score(messages, parts), Some(0.5));
    let with_image = json!([{"role": "user", "content": [
        {"type": "text", "text": "Which capital?"},
        {"type": "image_url", "image_url": {"url": "http://a.b/c.png"}}
    ]}]);
    assert_eq!(score(with_image, json!("a capital")), Some(1.0));
    let titled = json!({"content": "summary", "title": "capital", "url": "http://a.b/c"});
    assert_eq!(score(titled, json!("capital http://a.b/c")), Some(2.0 / 3.0));
}

#[test]
fn a_list_of_keywords_is_taken_as_it_is() {
    assert_eq!(listed(json!(["the", "42", "fox"]), "The fox is 42."), 1.0);
    assert_eq!(listed(json!(["red fox", "fox red"]), "A (red) Fox!"), 0.5);
    assert_eq!(listed(json!(["red fox"]), "red foxes"), 0.0);
    assert_eq!(listed(json!([42, "?"]), "42"), 0.5);
    let configured = json!({"values": ["a", "b", "c", "d"]});
    assert_eq!(scored(configured, &Case::new(json!("a d"))).score, Some(0.5));
}

#[test]
fn the_ground_truth_comes_before_the_input() {
    let case = Case::new(json!("a red fox"));
    let case = case.with_ground_truth(json!("The red dog")).with_input(json!("fox"));
    assert_eq!(scored(json!({}), &case).score, Some(0.5));
    assert_eq!(scored(json!({"from": "ground-truth"}), &case).score, Some(0.5));
    assert_eq!(scored(json!({"from": "input"}), &case).score, Some(1.0));
}

#[test]
fn stop_words_may_be_of_another_language() {
    let case = Case::new(json!("Fuchs")).with_input(json!("der Fuchs und DIE Ente"));
    let config = json!({"stopWords": ["der", "die", "und"]});
    assert_eq!(scored(config, &case).score, Some(0.5));
}

#[test]
fn negate_turns_the_score_around_and_the_reason_names_what_is_missing() {
    let case = Case::new(json!("a c")).with_ground_truth(json!(["a", "b", "c", "d"]));
    let score = scored(json!({"negate": true}), &case);
    assert_eq!(score.score, Some(0.5));
    assert_eq!(score.reason.as_deref(), Some("2 of 4 keywords found; missing b, d"));
    let meta = json!({"found": ["a", "c"], "missing": ["b", "d"], "total": 4});
    assert_eq!(score.meta_value(), Some(meta));
}

#[test]
fn without_keywords_from_anywhere_there_is_no_score() {
    let error = |config, case: &Case| {
        let scorer: KeywordCoverage = scorebox_sdk::configure(config).unwrap();
        scorer.score(case).unwrap_err().message().to_owned()
    };
    let case = Case::new(json!("a"));
    assert_eq!(
        error(json!({}), &case),
        "the case has neither `groundTruth` nor `input`, of which this scorer needs one, and the \
         configuration has no `value` in their place"
    );
    assert!(error(json!({"from": "input"}), &case).contains("`input`"));
    let both = json!({"from": "input", "value": "a"});
    assert!(scorebox_sdk::configure::<KeywordCoverage>(both).is_err());
}

#[test]
fn long_texts_cost_no_more_than_their_length() {
    for piece in ["<", "<a", "<a b", "a ", "' ", "fox ", "东", "3% "] {
        let text = piece.repeat(100_000) + ">";
        assert!(coverage(&text, &text) > 0.0);
        assert!(listed(json!([text, "a a a b"]), &text) <= 1.0);
    }
}

#[test]
fn around_a_given_keyword_punctuation_is_ignored() {
    for text in [
        "**foo**",
        "`foo`",
        "[foo]",
        "{foo}",
        "«foo»",
        "foo…",
        "foo/",
        "foo—bar",
        "_foo_.",
        "„foo“",
        "<b>foo</b>",
    ] {
        assert_eq!(listed(json!(["foo"]), text), 1.0, "{text}");
        let case = Case::new(json!(text)).with_ground_truth(json!("the foo"));
        assert_eq!(scored(json!({}), &case).score, Some(1.0), "{text}");
    }
    assert_eq!(listed(json!(["**foo** bar"]), "Foo bar!"), 1.0);
}

#[test]
fn inside_a_given_keyword_punctuation_counts() {
    assert_eq!(listed(json!(["3.5"]), "it is 35"), 0.0);
    assert_eq!(listed(json!(["3.5"]), "it is 3.5."), 1.0);
    assert_eq!(listed(json!(["-5"]), "5"), 0.0);
    assert_eq!(listed(json!(["C#", "C"]), "in C#"), 0.5);
}

#[test]
fn a_comparison_is_not_a_tag() {
    let text = "We need x < 10 because of gravity, and y > 3.";
    assert_eq!(listed(json!(["gravity"]), text), 1.0);
    assert_eq!(listed(json!(["href"]), "<a href=\"x\">here</a>"), 0.0);
}

#[test]
fn keywords_in_scripts_without_spaces_are_found_inside_of_others() {
    for (keyword, text) in [
        ("东京", "我在东京工作"),
        ("日本語", "これは日本語の文です。"),
        ("カメラ", "新しいカメラを買った"),
        ("กรุงเทพ", "ฉันอยู่ที่กรุงเทพมหานคร"),
        ("东京 工作", "我在东京 工作了"),
        ("iPhone手机", "新IPHONE手机壳"),
    ] {
        assert_eq!(listed(json!([keyword]), text), 1.0, "{keyword} in {text}");
        assert_eq!(listed(json!([keyword]), "cat"), 0.0, "{keyword}");
    }
    // Sentence marks separate words; within a sentence nothing does.
    let case = Case::new(json!("我在巴黎。")).with_ground_truth(json!("巴黎，东京"));
    assert_eq!(scored(json!({}), &case).score, Some(0.5));
    // Korean uses spaces, as European scripts do.
    assert_eq!(listed(json!(["서울"]), "서울시"), 0.0);
    assert_eq!(listed(json!(["cat"]), "concatenate"), 0.0);
}

#[test]
fn case_and_the_kind_of_apostrophe_do_not_count() {
    for (keyword, text) in [
        ("don't", "They don’t know"),
        ("don’t", "They DON'T know"),
        ("STRASSE", "in der Straße"),
        ("straße", "IN DER STRASSE"),
        ("ÄRGER", "ärger"),
        ("ΟΔΟΣ", "οδος"),
    ] {
        assert_eq!(listed(json!([keyword]), text), 1.0, "{keyword} in {text}");
        let case = Case::new(json!(text)).with_ground_truth(json!(keyword));
        let config = json!({"stopWords": []});
        assert_eq!(scored(config, &case).score, Some(1.0), "{keyword} in {text}");
    }
}

#[test]
fn a_number_is_found_beside_its_sign_but_not_the_sign_without_it() {
    for text in ["it is 3.5%.", "it is $3.5", "€3.5!"] {
        assert_eq!(listed(json!(["3.5"]), text), 1.0, "{text}");
        let case = Case::new(json!(text)).with_ground_truth(json!("3.5"));
        assert_eq!(scored(json!({}), &case).score, Some(1.0), "{text}");
    }
    assert_eq!(listed(json!(["3.5%", "$3.5"]), "3.5"), 0.0);
    assert_eq!(listed(json!(["C", "R"]), "C# and R&D"), 0.0);
}

#[test]
fn what_compares_letters_is_not_a_tag() {
    let text = "It holds where x<y and y>z, <b>always</b><br/><img src='a'> </i>";
    assert_eq!(listed(json!(["x<y", "y>z", "always", "and"]), text), 1.0);
    assert_eq!(listed(json!(["b", "br", "img", "src"]), text), 0.0);
    assert_eq!(listed(json!(["x<y"]), "if x<y, stop"), 1.0);
}
