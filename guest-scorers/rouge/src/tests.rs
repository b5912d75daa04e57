//! rouge, as a specification. Figures marked accordingly are from rouge-score 0.1.2; the others were computed by hand.

use super::*;

const TARGET: &str = "The quick brown fox jumps over the lazy dog";
const OUTPUT: &str = "The quick brown dog jumps on the log.";

fn score(config: Value, output: &str, truth: Value) -> Score {
    let scorer: Rouge = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output)).with_ground_truth(truth)).unwrap()
}

fn value(config: Value, output: &str, truth: &str) -> f64 {
    score(config, output, json!(truth)).score.unwrap()
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-12, "{left} {right}");
}

#[test]
fn each_variant_shares_something_else() {
    // rouge-score 0.1.2, the example of its README.
    close(value(json!({"variant": "1"}), OUTPUT, TARGET), 0.705_882_352_941_176_4);
    close(value(json!({"variant": "2"}), OUTPUT, TARGET), 0.266_666_666_666_666_66);
    close(value(json!({"variant": "L"}), OUTPUT, TARGET), 0.588_235_294_117_647_1);
    // The longest common subsequence is the default.
    close(value(json!({}), OUTPUT, TARGET), 0.588_235_294_117_647_1);
}

#[test]
fn the_names_of_rouge_score_are_understood() {
    let same = |one: Value, other: Value| {
        close(value(one, OUTPUT, TARGET), value(other, OUTPUT, TARGET));
    };
    same(json!({"variant": 1}), json!({"variant": "1"}));
    same(json!({"variant": "rouge1"}), json!({"variant": "1"}));
    same(json!({"variant": 2}), json!({"variant": "2"}));
    same(json!({"variant": "rouge2"}), json!({"variant": "2"}));
    same(json!({"variant": "rougeL"}), json!({"variant": "L"}));
    same(json!({"variant": 2, "measure": "fmeasure"}), json!({"variant": "2", "measure": "f1"}));
    let stemmed = |stemmer: Value| {
        value(json!({"variant": 1, "stemmer": stemmer}), "running dogs", "runs dog")
    };
    close(stemmed(json!(true)), 1.0);
    close(stemmed(json!(false)), 0.0);
}

#[test]
fn the_schema_lists_the_values_with_their_meanings() {
    let schema = schemars::schema_for!(Config).to_value();
    let variant = &schema["properties"]["variant"];
    assert_eq!(variant["default"], json!("L"));
    let names: Vec<_> = (schema["$defs"]["Variant"]["oneOf"].as_array().unwrap().iter())
        .map(|one| (one["const"].as_str().unwrap(), one["description"].as_str().unwrap()))
        .collect();
    assert_eq!(names[0], ("1", "Words."));
    assert_eq!(names.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["1", "2", "L"]);
    assert_eq!(schema["properties"]["stemmer"]["default"], json!("none"));
}

#[test]
fn other_names_are_refused_with_those_that_there_are() {
    let refusal = |config| scorebox_sdk::configure::<Rouge>(config).err().unwrap().to_string();
    assert!(refusal(json!({"variant": 3})).starts_with("`variant`: unknown variant `3`, expected"));
    assert!(refusal(json!({"variant": ["1"]})).starts_with("`variant`: "));
    assert!(refusal(json!({"stemmer": "snowball"})).starts_with("`stemmer`: unknown variant"));
}

#[test]
fn the_measure_is_f1_or_one_side_of_it() {
    let config = |measure| json!({"variant": "1", "measure": measure});
    close(value(config("precision"), OUTPUT, TARGET), 6.0 / 8.0);
    close(value(config("recall"), OUTPUT, TARGET), 6.0 / 9.0);
    let whole = score(config("recall"), OUTPUT, json!(TARGET));
    assert_eq!(whole.reason.as_deref(), Some("words in common: 6 (output 8, reference 9)"));
    assert_eq!(whole.meta_value().unwrap()["precision"], json!(0.75));
}

#[test]
fn words_are_ascii_letters_and_digits_without_case() {
    close(value(json!({"variant": "1"}), "Don't STOP", "don t stop!"), 1.0);
    close(value(json!({"variant": "1"}), "naïve", "na ve"), 1.0);
    close(value(json!({"variant": "1"}), "Привет", "Привет"), 0.0);
}

#[test]
fn a_word_counts_as_often_as_both_have_it() {
    close(value(json!({"variant": "1"}), "no no no", "no no"), 0.8);
}

#[test]
fn the_stemmer_makes_forms_equal() {
    close(value(json!({"variant": "1"}), "running dogs", "run dog"), 0.0);
    let stemmed = json!({"variant": "1", "stemmer": "porter"});
    close(value(stemmed.clone(), "running dogs", "runs dog"), 1.0);
    // Words of up to three characters stay as they are.
    close(value(stemmed, "ads", "ad"), 0.0);
}

#[test]
fn of_several_references_the_one_with_the_best_f1_counts() {
    // Recall is better against the first one, f1 against the second.
    let config = json!({"variant": "1", "measure": "recall"});
    let best = score(config, "a b c d", json!(["a", "a b c d e"]));
    close(best.score.unwrap(), 0.8);
}

#[test]
fn texts_without_words_share_nothing() {
    close(value(json!({}), "", ""), 0.0);
    close(value(json!({"variant": "2"}), "one", "one"), 0.0);
}

#[test]
fn configuration_comes_first_and_negate_last() {
    close(value(json!({"value": "b"}), "b", "a"), 1.0);
    close(value(json!({"negate": true, "variant": "1"}), "a b", "a c"), 0.5);
}

#[test]
fn long_texts_are_compared_in_bounded_work() {
    let (left, right) = ("a b ".repeat(10_000), "b a c ".repeat(7_000));
    assert!(value(json!({}), &left, &right) > 0.5);
}
