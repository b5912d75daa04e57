//! What `meta` and a target make of the scorers of a suite, and what is not allowed.

use crate::{
    contract::Severity,
    registry::Reference,
    suite::{ScorerId, Suite, SuiteError, SuiteScorer},
};

fn suite(text: &str) -> Suite {
    Suite::parse(text).unwrap()
}

/// Each scorer with its subject, and its weight if it has one.
fn laid(suite: &Suite) -> Vec<String> {
    let of = |scorer: &SuiteScorer| {
        let subject = scorer.subject.as_ref().map_or("cases", ScorerId::as_str);
        let weight = scorer.policy.weight.map_or_else(|| "-".to_owned(), |it| it.to_string());
        format!("{} of {subject}, weight {weight}", scorer.id)
    };
    suite.scorers.iter().map(of).collect()
}

fn mistakes(text: &str) -> String {
    Suite::parse(text).unwrap_err().to_string()
}

#[test]
fn a_scorer_that_another_names_scores_its_results_and_nothing_else() {
    let suite = suite(
        "[scorers.a]\nmeta = ['judge', 'second']\n[scorers.judge]\nuse = 'contains'\n\
         [scorers.second]\nmeta = ['judge']\n[scorers.b]\nmeta = ['judge']\n",
    );
    assert_eq!(
        laid(&suite),
        [
            "a of cases, weight -",
            "a.judge of a, weight 0",
            "a.second of a, weight 0",
            "a.second.judge of a.second, weight 0",
            "b of cases, weight -",
            "b.judge of b, weight 0",
        ]
    );
}

#[test]
fn a_scorer_may_score_its_own_results_once() {
    let suite = suite("[scorers.a]\nmeta = ['a', 'b']\n[scorers.b]\nmeta = ['b']\nweight = 2\n");
    assert_eq!(
        laid(&suite),
        [
            "a of cases, weight -",
            "a.a of a, weight 0",
            "a.b of a, weight 2",
            "a.b.b of a.b, weight 2"
        ]
    );
}

#[test]
fn a_circle_of_scorers_is_refused_once_with_its_location() {
    insta::assert_snapshot!(
        mistakes("[scorers.a]\nmeta = ['b']\n[scorers.b]\nmeta = ['c']\n[scorers.c]\nmeta = ['a', 'c']\n"),
        @"suite:2:9: `meta` leads in a circle: `a` scored by `b` scored by `c` scored by `a`"
    );
}

#[test]
fn what_meta_names_must_be_there_once() {
    insta::assert_snapshot!(
        mistakes("[scorers.judge]\n[scorers.a]\nmeta = ['jugde', 'judge', 'judge', 7]\n[scorers.b]\nmeta = 'judge'\n"),
        @"
    suite:3:9: `meta`: there is no scorer `jugde`
    suite:3:27: `meta` names `judge` twice
    suite:3:36: `meta` must be a text; found a number
    suite:5:8: `meta` must be a list; found a text
    "
    );
}

#[test]
fn names_that_multiply_are_refused_before_they_fill_the_memory() {
    let mut text = String::new();
    for level in 0..20 {
        for name in ["x", "y"] {
            text += &format!("[scorers.{name}{level}]\nmeta = ['x{0}', 'y{0}']\n", level + 1);
        }
    }
    text += "[scorers.x20]\n[scorers.y20]\n";
    let mistakes = mistakes(&text);
    assert!(mistakes.contains("`meta` makes more than 1000 scorers of this suite"), "{mistakes}");
    assert!(mistakes.contains("is longer than the 64 characters of a scorer's name"), "{mistakes}");
}

#[test]
fn a_suite_has_so_many_scorers_and_no_more() {
    let entries = |number: usize| (0..number).map(|it| format!("[scorers.s{it}]\n")).collect();
    let text: String = entries(1000);
    assert_eq!(suite(&text).scorers.len(), 1000);
    let text: String = entries(1001);
    assert_eq!(mistakes(&text), "suite:1001:10: a suite has at most 1000 scorers");
}

#[test]
fn a_name_that_meta_makes_is_that_of_no_other_scorer() {
    let said = "two scorers are called `a.m`: one of them scores the results of `a`, which names it in `meta`";
    let (made, other) = ("[scorers.a]\nmeta = ['m']\n[scorers.m]\n", "[scorers.'a.m']\n");
    assert_eq!(mistakes(&format!("{made}{other}")), format!("suite:4:10: {said}"));
    assert_eq!(mistakes(&format!("{other}{made}")), format!("suite:4:10: {said}"));
}

#[test]
fn with_a_target_all_scorers_score_its_results() {
    let suite = suite(
        "[target]\nuse = 'bleu'\n[scorers.a]\nmeta = ['b']\n[scorers.b]\n[scorers.c]\nweight = 3\n",
    );
    assert_eq!(
        laid(&suite),
        [
            "target of cases, weight 0",
            "target.a of target, weight -",
            "target.a.b of target.a, weight 0",
            "target.c of target, weight 3",
        ]
    );
    let json: serde_json::Value = serde_json::from_str(&suite.to_json()).unwrap();
    assert_eq!(json["scorers"][0]["severity"], "soft", "its score passes and fails nothing");
    assert_eq!(json["scorers"][2]["of"], "target.a");
}

#[test]
fn defaults_give_no_weight_to_scorers_of_results_and_make_no_target_a_gate() {
    let defaults = "[defaults]\nseverity = 'gate'\nweight = 3\n";
    let made = suite(&format!("{defaults}[scorers.a]\nmeta = ['b']\n[scorers.b]\n"));
    assert_eq!(laid(&made), ["a of cases, weight 3", "a.b of a, weight 0"]);
    let severity = |suite: &Suite| suite.scorers[0].policy.severity;
    assert_eq!(severity(&made), Some(Severity::Gate));
    // A target of the suite, and a scorer of it that becomes a target.
    let id = &made.scorers[0].id;
    let scorers = "[scorers.a]\n[scorers.b]\n";
    let written = suite(&format!("{defaults}[target]\nuse = 'bleu'\n[scorers.b]\n"));
    let named = suite(&format!("{defaults}{scorers}")).with_scorer_as_target(id).unwrap();
    for suite in [written, named] {
        assert_eq!(
            (severity(&suite), suite.scorers[0].policy.weight),
            (Some(Severity::Soft), Some(0.0))
        );
        assert_eq!(suite.scorers[1].policy.weight, Some(3.0), "{suite:?}");
    }
    let said = suite(&format!(
        "{defaults}[target]\nuse = 'bleu'\nseverity = 'gate'\nweight = 2\n[scorers.b]\n"
    ));
    assert_eq!((severity(&said), said.scorers[0].policy.weight), (Some(Severity::Gate), Some(2.0)));
}

#[test]
fn a_scorer_of_the_suite_can_be_the_target_with_what_scores_its_results() {
    let suite = suite("[scorers.a]\n[scorers.b]\nmeta = ['c', 'b']\n[scorers.c]\n");
    let id = suite.scorers[1].id.clone();
    let suite = suite.with_scorer_as_target(&id).unwrap();
    assert_eq!(
        laid(&suite),
        ["b of cases, weight 0", "b.c of b, weight 0", "b.b of b, weight 0", "b.a of b, weight -"]
    );
    let unknown = ScorerId::new("z").unwrap();
    let error = suite.with_scorer_as_target(&unknown).unwrap_err();
    assert!(matches!(error, SuiteError::NoSuchScorer { .. }), "{error}");
}

#[test]
fn a_target_is_never_replaced_by_a_scorer_of_its_name() {
    let said = "two scorers are called `target`: this one and that of `[target]` (suite:1:2); give this one another \
                name, or leave out `[target]`";
    let target = "[target]\nuse = './there-is-none.js'\n";
    let text = format!("{target}[scorers.a]\nuse = 'bleu'\n[scorers.target]\nuse = 'bleu'\n");
    assert_eq!(mistakes(&text), format!("suite:5:10: {said}"));
    let suite = suite("[scorers.a]\nuse = 'bleu'\n[scorers.b]\n");
    let other = SuiteScorer::new(suite.scorers[0].id.clone(), Reference::Name("rouge".into()));
    let error = suite.with_target(other).unwrap_err();
    assert_eq!(error.to_string(), "two scorers are called `a`");
}

#[test]
fn what_is_wrong_with_a_target_has_its_location() {
    insta::assert_snapshot!(mistakes("[target]\nmeta = ['a']\n[scorers.a]\n"), @"
    suite:1:2: `target` needs `use`: the scorer whose results are scored
    suite:2:1: unknown key `meta`; the keys of `target` are `use`, `name`, `config`, `on`, `limits`, `grants`, `severity`, `threshold`, `weight`, `required`, `sampling`, `nodes`, `when`, `judge`, `jury`
    ");
    insta::assert_snapshot!(mistakes("target = 'bleu'\n[scorers.a]\n"), @"suite:1:10: `target` must be a table; found a text");
}

#[test]
fn a_condition_is_an_expression() {
    let suite = suite("[scorers.a]\nwhen = '.metadata.lang == \"en\"'\n");
    let json: serde_json::Value = serde_json::from_str(&suite.to_json()).unwrap();
    assert_eq!(json["scorers"][0]["when"], ".metadata.lang == \"en\"");
    insta::assert_snapshot!(mistakes("[scorers.a]\nwhen = ' '\n[scorers.b]\nwhen = true\n"), @r#"
    suite:2:8: `when` is empty; it is a jq expression, such as `.metadata.lang == "en"`
    suite:4:8: `when` must be a text; found a boolean
    "#);
}

#[test]
fn a_scorer_of_results_comes_after_its_subject() {
    let suite = suite("[scorers.a]\nmeta = ['b']\n[scorers.b]\n");
    let backwards = suite.scorers.into_iter().rev().collect();
    let error = Suite::new("s".into(), backwards).unwrap_err();
    insta::assert_snapshot!(error.to_string(), @"`a.b` scores the results of `a`, which is not a scorer before it");
}

#[test]
fn a_scorer_of_results_may_be_named_without_its_subject_if_one_is_meant() {
    let mut suite = suite(
        "[scorers.a]\nmeta = ['c', 'd']\n[scorers.b]\nmeta = ['d']\n[scorers.c]\n[scorers.d]\n",
    );
    assert_eq!(suite.scorer_mut("c").unwrap().id.as_str(), "a.c");
    assert_eq!(suite.scorer_mut("b.d").unwrap().id.as_str(), "b.d");
    let error = suite.scorer_mut("d").unwrap_err();
    assert!(
        matches!(&error, SuiteError::NoSuchScorer { nearest, .. } if *nearest == ["a.d", "b.d"])
    );
    assert!(suite.scorer_mut("e").is_err());
}

#[test]
fn a_suite_with_a_target_or_another_scorer_keeps_all_that_its_file_says() {
    let text = "seed = 's'\n[judges.strict]\nprovider = 'recorded'\nmodel = 'm'\nfile = 'a'\n[policy]\nmax-size = 1\n\
                [scorers.a]\njudge = 'strict'\n";
    let other = SuiteScorer::new(ScorerId::new("b").unwrap(), Reference::Name("bleu".into()));
    let whole = suite(text);
    let targeted = suite(&format!("target = {{ use = 'bleu' }}\n{text}"));
    for suite in [whole.clone().with_scorer(other).unwrap(), targeted] {
        assert!(suite.judges.keys().eq(["strict"]));
        assert_eq!((suite.seed.as_deref(), suite.policies.len()), (Some("s"), 1));
        assert_eq!(suite.scorers.len(), 2);
    }
}
