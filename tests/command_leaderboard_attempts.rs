//! `scorebox leaderboard`: what an attempt reports about itself, where it does so, and what happens if it does not.

use insta::assert_snapshot;

use crate::{command_leaderboard::run_of, fixture::Folder};

#[test]
fn success_is_what_the_case_says_or_else_its_verdict() {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "{\"id\": \"a\", \"output\": 1, \"groundTruth\": 1, \"entrant\": \"own\"}\n\
         {\"id\": \"b\", \"output\": 2, \"groundTruth\": 1, \"metadata\": {\"entrant\": 7}}\n\
         {\"id\": \"c\", \"output\": 2, \"groundTruth\": 1, \"metadata\": {\"entrant\": \"says\", \"succeeded\": 1.0}}\n\
         {\"id\": \"d\", \"output\": 1, \"groundTruth\": 1, \"metadata\": {\"entrant\": \"left\"}, \"skip\": true}\n\
         {\"id\": \"e\", \"output\": 1, \"groundTruth\": 1}\n\
         {\"id\": \"f\", \"error\": \"TimeoutError\", \"entrant\": \"crashed\", \"metadata\": {\"succeeded\": true}}\n",
    );
    folder.write("suite.toml", "[scorers.right]\nuse = \"equals\"\nseverity = \"gate\"\n");
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(3);
    assert_snapshot!(folder.sh("scorebox leaderboard"), @"
    rank  entrant   score  rating  tokens  elapsed  attempts  succeeded  failed scores
    1     own      1.0000       -       -        -         1          1              0
    2     says     0.0000       -       -        -         1          1              0
    -     7             -       -       -        -         1          0              0
    -     crashed       -       -       -        -         1          0              1
    [stderr]
    1 case names no entrant
    [exit code 0]
    ");
}

/// Every case passes then, even a task that crashed at once, so the verdict tells nothing about success.
#[test]
fn where_no_scorer_can_fail_a_case_an_attempt_that_does_not_say_it_has_no_known_success() {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        concat!(
            r#"{"id": "a", "output": "x", "latencyMs": 9000, "entrant": "ada"}"#,
            "\n",
            r#"{"id": "b", "error": "TimeoutError", "latencyMs": 1, "entrant": "bob"}"#,
            "\n",
            r#"{"id": "c", "output": "y", "latencyMs": 5000, "entrant": "cyd", "metadata": {"succeeded": true}}"#,
            "\n",
        ),
    );
    let run = "scorebox run cases.jsonl -s json-valid -q --run-id r --allow-errors";
    folder.sh(run).exits_with(0);
    assert_snapshot!(folder.sh("scorebox leaderboard --strategy fastest"), @"
    rank  entrant   score  rating  tokens  elapsed  attempts  succeeded  failed scores
    1     cyd      0.0000       -       - [time]         1          1              0
    -     ada           -       -       -        -         1          0              0
    -     bob           -       -       -        -         1          0              1
    [stderr]
    1 attempt is not ranked: it has no `succeeded`, and no scorer of the run can fail a case
    [exit code 0]
    ");
    let ranked = folder.sh("scorebox leaderboard --strategy fastest --format json").json();
    let unknown: Vec<_> =
        ranked.as_array().unwrap().iter().map(|it| it["successUnknown"].as_u64()).collect();
    assert_eq!(unknown, [Some(0), Some(1), Some(0)]);
    let listed = folder.sh("scorebox leaderboard --attempts --format json").json();
    let succeeded: Vec<_> =
        listed.as_array().unwrap().iter().map(|it| it["succeeded"].as_bool()).collect();
    assert_eq!(succeeded, [None, Some(false), Some(true)]);
    let listed = folder.sh("scorebox leaderboard --attempts").exits_with(0);
    assert!(listed.stdout.lines().nth(1).unwrap().contains("unknown"), "{listed}");
}

/// The keys of a case are read from its metadata, or else from next to it; only `entrant` is first looked for next to
/// it.
#[test]
fn what_stands_beside_the_metadata_is_read_too() {
    let folder = run_of(concat!(
        r#"{"output": 1, "entrant": "ada", "challenge": "c", "succeeded": true, "rating": 8, "tokens_total": 10, "elapsed_ms": 20, "created_at": 30}"#,
        "\n",
        r#"{"output": 1, "entrant": "bob", "challenge": "c", "succeeded": true, "rating": 9, "metadata": {"entrant": "eve", "rating": 7}}"#,
        "\n",
        r#"{"output": 1, "entrant": "cyd", "challenge": "c", "succeeded": false, "rating": 10}"#,
        "\n",
    ));
    let line = "scorebox leaderboard --challenge c --strategy highest-rating --format json";
    let ranked = folder.sh(line).exits_with(0).json();
    let of =
        |key: &str| ranked.as_array().unwrap().iter().map(|it| it[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("entrant"), ["ada", "bob", "cyd"]);
    assert_eq!(of("rating"), [8.0.into(), 7.0.into(), serde_json::Value::Null]);
    assert_eq!(of("rank"), [1.into(), 2.into(), serde_json::Value::Null]);
    let figures = ["rating", "tokensTotal", "elapsedMs", "createdAt"].map(|key| &ranked[0][key]);
    assert_eq!(figures.map(serde_json::Value::as_f64), [8.0, 10.0, 20.0, 30.0].map(Some));
}

/// A line may use keys with these names for another purpose. Metadata describes the attempt.
#[test]
fn what_cannot_be_read_beside_the_metadata_counts_as_absent_except_succeeded() {
    let line = |own: &str, metadata: &str| {
        format!("{{\"output\": 1, {own}, \"metadata\": {{{metadata}}}}}\n")
    };
    let succeeded = r#""succeeded": true"#;
    let ada = r#""entrant": "ada", "app": {"name": "chat"}, "tenant": ["t"], "challenge": 1.5, "rating": "n/a", "created_at": "today", "tokens_total": "?", "tokensTotal": 7, "elapsed_ms": {}, "latencyMs": 40"#;
    let bob = r#""entrant": "bob", "app_id": "chat", "rating": 9, "created_at": 5"#;
    let cases = [
        line(ada, succeeded),
        // A key in the metadata counts, readable or not, and the same key next to it is not looked at.
        line(bob, &format!(r#"{succeeded}, "app": {{}}, "rating": "high", "created_at": 6"#)),
        line(r#""entrant": "cyd", "succeeded": "maybe""#, ""),
        line(r#""entrant": "dan", "succeeded": "maybe""#, succeeded),
    ];
    let folder = Folder::new();
    folder.write("cases.jsonl", cases.concat());
    folder.sh("scorebox run cases.jsonl -s json-valid -q --run-id r").exits_with(0);
    let listed = folder.sh("scorebox leaderboard --attempts --format json").exits_with(0).json();
    let unreadable: Vec<_> =
        listed.as_array().unwrap().iter().map(|it| it["unreadable"].clone()).collect();
    let none = serde_json::Value::Null;
    let (of_bob, of_cyd) = (serde_json::json!(["rating", "app"]), serde_json::json!(["succeeded"]));
    assert_eq!(unreadable, [none.clone(), of_bob, of_cyd, none.clone()]);
    let ada = ["app", "tenant", "challenge", "rating", "createdAt"].map(|key| &listed[0][key]);
    assert_eq!(ada, [&none; 5]);
    let figures = ["tokensTotal", "elapsedMs"].map(|key| listed[0][key].as_f64());
    assert_eq!(figures, [Some(7.0), Some(40.0)]);
    assert_eq!((&listed[1]["app"], listed[1]["createdAt"].as_f64()), (&none, Some(6.0)));
}

const TABLE: &str = "\
id,output,entrant,succeeded,rating,tokens_total,elapsed_ms
1,a,ada,true,8,1000,5000
2,b,bob,False,10,10,100
3,c,cyd,1.0,7,,4000
4,d,dan,maybe,9,10,100
";

/// All cells of a CSV file are texts.
#[test]
fn the_columns_of_a_table_are_read_as_what_their_texts_say() {
    let folder = Folder::new();
    folder.write("attempts.csv", TABLE);
    folder.sh("scorebox run attempts.csv -s json-valid -q --run-id r").exits_with(0);
    assert_snapshot!(folder.sh("scorebox leaderboard --strategy highest-rating"), @"
    rank  entrant   score  rating  tokens  elapsed  attempts  succeeded  failed scores
    1     ada      0.0000  8.0000 [fuel] [time]         1          1              0
    2     cyd      0.0000  7.0000       - [time]         1          1              0
    -     bob           -       -       -        -         1          0              0
    -     dan           -       -       -        -         1          0              0
    [stderr]
    1 attempt is not ranked: its `succeeded` cannot be read
    [exit code 0]
    ");
}

/// With the whole row as metadata, the attempts have points: ada has 100 + 80 - 5 - 10, and cyd has 100 + 70 - 4.
#[test]
fn a_table_has_points_if_its_rows_are_the_metadata() {
    let folder = Folder::new();
    folder.write("attempts.csv", TABLE);
    folder
        .sh("scorebox run attempts.csv -s points=weighted --map metadata= -q --run-id r --allow-errors")
        .exits_with(0);
    let ranked = folder.sh("scorebox leaderboard --format json").exits_with(0).json();
    let scores: Vec<_> = ranked.as_array().unwrap().iter().map(|it| it["score"].as_f64()).collect();
    assert_eq!(scores, [Some(166.0), Some(165.0), None, None]);
    assert_eq!((&ranked[0]["entrant"], &ranked[1]["entrant"]), (&"cyd".into(), &"ada".into()));
    // It knows nothing of a table whose columns it does not see.
    folder.sh("scorebox run attempts.csv -s points=weighted -q --run-id unmapped").exits_with(1);
}

/// dify has milliseconds; tables and people have dates.
#[test]
fn a_time_that_is_written_as_a_date_is_a_time() {
    let folder = Folder::new();
    folder.write(
        "attempts.csv",
        "output,entrant,succeeded,created_at\n\
         a,ada,true,2026-11-01T10:00:00Z\n\
         b,bob,true,2026-11-01T11:30:00+02:00\n\
         c,cyd,true,2026-11-01\n\
         d,dan,true,1793491200001\n",
    );
    folder.sh("scorebox run attempts.csv -s json-valid -q --map metadata=").exits_with(0);
    let ranked = folder.sh("scorebox leaderboard --strategy first --format json").json();
    let of = |key: &str| -> Vec<_> {
        ranked.as_array().unwrap().iter().map(|it| it[key].clone()).collect()
    };
    assert_eq!(of("entrant"), ["cyd", "dan", "bob", "ada"]);
    let times =
        [1_793_491_200_000.0, 1_793_491_200_001.0, 1_793_525_400_000.0, 1_793_527_200_000.0];
    assert_eq!(of("createdAt"), times);
    let shown = folder.sh("scorebox leaderboard --strategy first").exits_with(0);
    assert!(shown.stdout.contains("2026-11-01 09:30:00"), "{shown}");
}

/// An attempt with `"maybe"` does not report whether it succeeded, and its verdict must not replace the report.
#[test]
fn an_attempt_of_which_something_cannot_be_read_is_not_ranked_and_counted() {
    let attempt = |entrant: &str, more: &str| {
        format!(
            "{{\"id\": \"{entrant}\", \"output\": 1, \"metadata\": {{\"entrant\": \"{entrant}\", {more}}}}}\n"
        )
    };
    let cases = [
        attempt("ada", r#""succeeded": "maybe", "rating": 10"#),
        attempt("bob", r#""succeeded": true, "rating": 9"#),
        attempt("cyd", r#""succeeded": true, "rating": "high""#),
        attempt("dan", r#""succeeded": true, "rating": 8, "created_at": "2026-01-32""#),
        attempt("eve", r#""succeeded": 2, "rating": 7"#),
        attempt("fay", r#""succeeded": null, "rating": 6, "challenge": """#),
        attempt("gil", r#""succeeded": "false", "rating": "5""#),
    ];
    let folder = Folder::new();
    folder.write("cases.jsonl", cases.concat());
    folder.write(
        "suite.toml",
        "[scorers.length]\nconfig = { max = 5 }\nseverity = \"gate\"\nthreshold = 1\n",
    );
    folder.sh("scorebox run suite.toml cases.jsonl -q").exits_with(0);
    assert_snapshot!(folder.sh("scorebox leaderboard --strategy highest-rating"), @"
    rank  entrant   score  rating  tokens  elapsed  attempts  succeeded  failed scores
    1     bob      1.0000  9.0000       -        -         1          1              0
    2     fay      1.0000  6.0000       -        -         1          1              0
    -     ada           -       -       -        -         1          0              0
    -     cyd           -       -       -        -         1          0              0
    -     dan           -       -       -        -         1          0              0
    -     eve           -       -       -        -         1          0              0
    -     gil           -       -       -        -         1          0              0
    [stderr]
    4 attempts are not ranked: `created_at`, `rating`, `succeeded` of them cannot be read
    [exit code 0]
    ");
    let json = folder.sh("scorebox leaderboard --strategy highest-rating --format json").json();
    let unreadable: Vec<u64> =
        json.as_array().unwrap().iter().map(|it| it["unreadable"].as_u64().unwrap()).collect();
    assert_eq!(unreadable, [0, 0, 1, 1, 1, 1, 0]);
    let listed = folder.sh("scorebox leaderboard --attempts --format json").json();
    assert_eq!(listed[2]["unreadable"], serde_json::json!(["rating"]));
    assert_eq!(listed[1].get("unreadable"), None);
}

#[test]
fn figures_are_read_in_both_spellings_and_half_a_usage_is_not_a_total() {
    let folder = run_of(concat!(
        r#"{"output": 1, "metadata": {"endUserId": "ada", "succeeded": true, "tokensTotal": 10, "elapsedMs": 2000}}"#,
        "\n",
        r#"{"output": 1, "usage": {"inputTokens": 10}, "metadata": {"entrant": "bob", "succeeded": true}}"#,
        "\n",
        r#"{"output": 1, "usage": {"inputTokens": 10, "outputTokens": 5}, "metadata": {"entrant": "cyd", "succeeded": true}}"#,
        "\n",
    ));
    let json = folder.sh("scorebox leaderboard --strategy fewest-tokens --format json").json();
    let figures = |place: usize| {
        let entrant = &json[place];
        (
            entrant["entrant"].as_str(),
            entrant["tokensTotal"].as_f64(),
            entrant["elapsedMs"].as_f64(),
        )
    };
    assert_eq!(figures(0), (Some("ada"), Some(10.0), Some(2000.0)));
    assert_eq!(figures(1), (Some("cyd"), Some(15.0), None));
    assert_eq!(figures(2), (Some("bob"), None, None));
}

/// Records that a layer enriched, repeating dify's keys in the spelling of JSON.
#[test]
fn a_key_in_both_spellings_is_read_once_and_the_one_of_dify_counts() {
    let folder = run_of(concat!(
        r#"{"output": 1, "metadata": {"end_user_id": "ada", "endUserId": "x", "app_id": "chat", "appId": "y", "succeeded": true, "tokens_total": 10, "tokensTotal": 99}}"#,
        "\n",
        r#"{"output": 1, "metadata": {"end_user_id": null, "endUserId": "bob", "app_id": "chat", "succeeded": true, "tokens_total": null, "tokensTotal": 20}}"#,
        "\n",
    ));
    let ranked = folder.sh("scorebox leaderboard --strategy fewest-tokens --format json").json();
    let said = |place: usize| {
        let entrant = &ranked[place];
        (entrant["app"].as_str(), entrant["entrant"].as_str(), entrant["tokensTotal"].as_f64())
    };
    assert_eq!(said(0), (Some("chat"), Some("ada"), Some(10.0)));
    assert_eq!(said(1), (Some("chat"), Some("bob"), Some(20.0)));
}

/// Which of the two counts is unknown, and the verdict must not replace them. The other keys are used.
#[test]
fn an_attempt_whose_metadata_says_a_key_twice_is_not_ranked() {
    let folder = run_of(concat!(
        r#"{"output": 1, "entrant": "ada", "metadata": {"succeeded": true, "succeeded": false}}"#,
        "\n",
        r#"{"output": 1, "entrant": "bob", "metadata": {"succeeded": true}}"#,
        "\n",
        r#"{"output": 1, "metadata": {"entrant": "cyd", "succeeded": true, "rating": 5, "rating": 9}}"#,
        "\n",
        r#"{"output": 1, "metadata": {"entrant": "dan", "entrant": "eve", "succeeded": true}}"#,
        "\n",
    ));
    let shown = folder.sh("scorebox leaderboard").exits_with(0);
    let words =
        "3 attempts are not ranked: `entrant`, `rating`, `succeeded` of them cannot be read\n";
    assert_eq!(shown.stderr, words, "{shown}");
    let json = folder.sh("scorebox leaderboard --format json").json();
    let said = json.as_array().unwrap().iter();
    let said: Vec<_> = said.map(|it| (it["entrant"].as_str(), it["unreadable"].as_u64())).collect();
    let expected = [("bob", 0), ("ada", 1), ("cyd", 1), ("dan", 1)];
    assert_eq!(said, expected.map(|(entrant, unreadable)| (Some(entrant), Some(unreadable))));
    assert_eq!(json[1]["rank"], serde_json::Value::Null);
    let listed = folder.sh("scorebox leaderboard --attempts --format json").json();
    assert_eq!(listed[2]["unreadable"], serde_json::json!(["rating"]));
}
