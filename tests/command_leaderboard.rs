//! `scorebox leaderboard`: ranks the entrants of a challenge by the rules of dify's challenges.

use std::{fs, path::Path};

use insta::assert_snapshot;

use crate::fixture::Folder;

fn example() -> Folder {
    let folder = Folder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/leaderboard");
    for name in ["attempts.jsonl", "suite.toml"] {
        fs::copy(example.join(name), folder.path(name)).unwrap();
    }
    folder.sh("scorebox run suite.toml attempts.jsonl -q --run-id r").exits_with(1);
    folder
}

/// A run of these cases with one scorer of points.
pub(crate) fn run_of(cases: &str) -> Folder {
    let folder = Folder::new();
    folder.write("cases.jsonl", cases);
    folder
        .sh("scorebox run cases.jsonl -q --run-id r -s points=weighted --allow-errors")
        .exits_with(0);
    folder
}

/// Points by hand: 100 + 10 · rating - seconds - tokens / 100. In the challenge `red-1`, ada has 150 and 165, bob has
/// 165 and was earlier, eve and fay have 128 at the same time, dan has a rating that is not a number, and cyd has no
/// success.
#[test]
fn entrants_are_ranked_by_points_and_of_equal_ones_the_earlier_comes_first() {
    let folder = example();
    assert_snapshot!(folder.sh("scorebox leaderboard --challenge red-1"), @"
    rank  tenant  entrant  score  rating  tokens  elapsed  created (UTC)        attempts  succeeded  failed scores
    1     acme    bob      165.0  8.0000 [fuel] [time]  2024-10-27 03:38:20         1          1              0
    2     acme    ada      165.0  8.0000 [fuel] [time]  2024-10-27 03:43:20         2          2              0
    3=    acme    eve      128.0  4.0000 [fuel] [time]  2024-10-27 03:48:20         1          1              0
    3=    acme    fay      128.0  4.0000 [fuel] [time]  2024-10-27 03:48:20         1          1              0
    -     acme    cyd          -       -       -        -  -                           1          0              0
    -     acme    dan          -       -       -        -  -                           1          0              1
    [stderr]
    1 attempt is not ranked: its `rating` cannot be read
    [exit code 0]
    ");
    assert_snapshot!(folder.sh("scorebox leaderboard --limit 1"), @"
    app   challenge  rank  tenant  entrant  score  rating  tokens  elapsed  created (UTC)        attempts  succeeded  failed scores
    chat  blue-1     1     acme    bob      151.0  6.0000       - [time]  2024-10-27 03:55:00         1          1              0
    chat  red-1      1     acme    bob      165.0  8.0000 [fuel] [time]  2024-10-27 03:38:20         1          1              0
    [stderr]
    2 of 8 entrants; all: --limit 0
    1 attempt is not ranked: its `rating` cannot be read
    [exit code 0]
    ");
}

#[test]
fn attempts_that_failed_are_listed_with_a_score_of_null() {
    let folder = example();
    assert_snapshot!(folder.sh("scorebox leaderboard --attempts"), @"
    case                              challenge  tenant  entrant  succeeded     score  rating  tokens  elapsed  created (UTC)
    red-ada                           red-1      acme    ada      yes           150.0  9.0000 [fuel] [time]  2024-10-27 03:33:20
    red-ada (iteration 0, attempt 1)  red-1      acme    ada      yes           165.0  8.0000 [fuel] [time]  2024-10-27 03:43:20
    red-bob                           red-1      acme    bob      yes           165.0  8.0000 [fuel] [time]  2024-10-27 03:38:20
    red-cyd                           red-1      acme    cyd      no          83.0000  9.0000 [fuel] [time]  2024-10-27 03:34:20
    red-dan                           red-1      acme    dan      unreadable    error       - [fuel] [time]  2024-10-27 03:35:20
    red-eve                           red-1      acme    eve      yes           128.0  4.0000 [fuel] [time]  2024-10-27 03:48:20
    red-fay                           red-1      acme    fay      yes           128.0  4.0000 [fuel] [time]  2024-10-27 03:48:20
    blue-ada                          blue-1     acme    ada      yes         77.0000       - [fuel] [time]  2024-10-27 03:53:20
    blue-bob                          blue-1     acme    bob      yes           151.0  6.0000       - [time]  2024-10-27 03:55:00
    [stderr]
    1 attempt is not ranked: its `rating` cannot be read
    [exit code 0]
    ");
    let listed = folder.sh("scorebox leaderboard --attempts --format jsonl").exits_with(0).stdout;
    let dan = listed.lines().find(|line| line.contains("red-dan")).unwrap();
    let dan: serde_json::Value = serde_json::from_str(dan).unwrap();
    assert_eq!((&dan["score"], &dan["status"]), (&serde_json::Value::Null, &"error".into()));
    assert_eq!((&dan["entrant"], &dan["tokensTotal"]), (&"dan".into(), &400.0.into()));
}

/// The entrants of `red-1` in order, each with its rank.
fn order(folder: &Folder, options: &str) -> Vec<String> {
    let line = format!("scorebox leaderboard --challenge red-1 --format json {options}");
    let ranked = folder.sh(&line).exits_with(0).json();
    let ranked = ranked.as_array().unwrap().iter();
    ranked
        .map(|it| {
            let rank = it["rank"].as_u64().map_or("-".to_owned(), |rank| rank.to_string());
            let tied = if it["tied"] == true { "=" } else { "" };
            format!("{rank}{tied} {}", it["entrant"].as_str().unwrap())
        })
        .collect()
}

/// dify orders successful attempts by what the strategy names, with missing values last, and then by time. dan's rating
/// cannot be read, so he is not ranked.
#[test]
fn each_strategy_has_the_order_of_dify() {
    let folder = example();
    for (strategy, expected) in [
        ("first", ["1 ada", "2 bob", "3= eve", "3= fay", "- cyd", "- dan"]),
        ("fastest", ["1= eve", "1= fay", "3 bob", "4 ada", "- cyd", "- dan"]),
        ("fewest-tokens", ["1= eve", "1= fay", "3 bob", "4 ada", "- cyd", "- dan"]),
        ("highest-rating", ["1 ada", "2 bob", "3= eve", "3= fay", "- cyd", "- dan"]),
        ("weighted", ["1 bob", "2 ada", "3= eve", "3= fay", "- cyd", "- dan"]),
    ] {
        assert_eq!(order(&folder, &format!("--strategy {strategy}")), expected, "{strategy}");
    }
    // dify's own names are accepted.
    assert_eq!(order(&folder, "--strategy custom"), order(&folder, ""));
    assert_eq!(order(&folder, "--strategy fewest_tokens")[0], "1= eve");
}

#[test]
fn the_mean_of_several_attempts_may_count_in_place_of_the_best() {
    let folder = example();
    let line = "scorebox leaderboard --challenge red-1 --of mean --format json";
    let ada = &folder.sh(line).exits_with(0).json()[1];
    assert_eq!((&ada["entrant"], &ada["rank"]), (&"ada".into(), &2.into()));
    // (150 + 165) / 2, and so on.
    for (key, mean) in
        [("score", 157.5), ("rating", 8.5), ("tokensTotal", 2000.0), ("elapsedMs", 7500.0)]
    {
        assert_eq!(ada[key], mean, "{key}");
    }
    assert!(ada.get("best").is_none());
    let refused = folder.sh("scorebox leaderboard --strategy first --of mean").exits_with(2);
    assert!(refused.stderr.contains("no time at which it was first"), "{refused}");
}

#[test]
fn of_equal_means_the_earlier_attempt_that_states_the_figure_comes_first() {
    let attempt = |id: u32, entrant: &str, created_at: u32, rating: &str| {
        format!(
            "{{\"id\": {id}, \"output\": 1, \"metadata\": {{\"entrant\": \"{entrant}\", \"succeeded\": true, \
             \"created_at\": {created_at}{rating}}}}}\n"
        )
    };
    let rated = ", \"rating\": 5";
    let cases =
        [attempt(1, "ada", 10, ""), attempt(2, "ada", 30, rated), attempt(3, "bob", 20, rated)];
    let line = "scorebox leaderboard --strategy highest-rating --of mean --format json";
    let ranked = run_of(&cases.concat()).sh(line).exits_with(0).json();
    assert_eq!((&ranked[0]["entrant"], &ranked[0]["tied"]), (&"bob".into(), &false.into()));
    // The time of ada's first attempt is shown as before.
    assert_eq!(ranked[1]["createdAt"], 10.0);
}

/// The ids of dify's scoring context reach a scorer as they are in the metadata. Its time-out is not among them: it
/// applies whether the scorer knows it or not.
#[test]
fn a_scorer_sees_the_ids_of_tenant_app_workflow_challenge_and_user_and_has_five_seconds() {
    let folder = example();
    folder.write(
        "ids.toml",
        "[scorers.ids]\nuse = \"satisfies\"\nconfig = { expression = '''.metadata | \
         [.tenant_id, .app_id, .workflow_id, .challenge_id, .end_user_id, .created_at] == \
         [\"acme\", \"chat\", \"wf-1\", \"red-1\", \"bob\", 1730000300000]''' }\n",
    );
    folder.sh("scorebox run ids.toml attempts.jsonl -q --run-id ids").exits_with(0);
    let rows = folder
        .rows("SELECT case_id FROM scores WHERE run_id = 'ids' AND score = 1 ORDER BY case_id");
    assert_eq!(rows, ["red-bob"]);
    let limits = folder.rows("SELECT json_extract(limits_json, '$.timeoutMs') FROM scorers");
    assert_eq!(limits, ["5000", "5000"]);
}

#[test]
fn the_same_name_in_two_tenants_is_two_entrants() {
    let case = |id, tenant| {
        format!(
            "{{\"id\": {id}, \"output\": 1, \"metadata\": {{\"entrant\": \"x\", \"tenant\": \"{tenant}\", \"succeeded\": true}}}}\n"
        )
    };
    let folder = run_of(&(case(1, "one") + &case(2, "two") + &case(3, "two")));
    let ranked = folder.sh("scorebox leaderboard --format json").exits_with(0).json();
    let said = ranked.as_array().unwrap().iter();
    let said: Vec<_> = said.map(|it| (it["tenant"].as_str(), it["attempts"].as_u64())).collect();
    assert_eq!(said, [(Some("one"), Some(1)), (Some("two"), Some(2))]);
    assert_eq!((&ranked[0]["rank"], &ranked[1]["tied"]), (&1.into(), &true.into()));
}

#[test]
fn lower_scores_win_if_the_scorer_says_that_lower_is_better() {
    let folder = run_of(
        "{\"output\": 1, \"metadata\": {\"entrant\": \"a\", \"succeeded\": true}}\n\
         {\"output\": 1, \"metadata\": {\"entrant\": \"b\", \"succeeded\": true, \"rating\": 1}}\n",
    );
    let order = || {
        let json = folder.sh("scorebox leaderboard --format json").exits_with(0).json();
        let names = json.as_array().unwrap().iter().map(|it| it["entrant"].clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(order(), ["b", "a"]);
    folder
        .database("scorebox.db")
        .execute("UPDATE scorers SET direction = 'lower-is-better'", [])
        .unwrap();
    assert_eq!(order(), ["a", "b"]);
}

#[test]
fn wrong_questions_are_refused_with_what_there_is() {
    let folder = example();
    folder
        .sh("scorebox run attempts.jsonl -q --run-id two -s is-refusal -s json-valid")
        .exits_with(0);
    for (options, words) in [
        ("r --challenge blue", "hint: its challenges: blue-1, red-1"),
        ("r --challenge blue --attempts", "the run `r` has no challenge `blue`"),
        ("r --scorer x", "hint: choose a scorer from `points`"),
        ("r --scorer point", "hint: did you mean `points`?"),
        ("r --strategy slowest", "possible values: first, fastest"),
        ("r --attempts --of best", "cannot be used with"),
        ("r --attempts --strategy first", "cannot be used with"),
        ("two", "hint: choose a scorer from `is-refusal`, `json-valid`"),
        ("none", "none"),
    ] {
        let refused = folder.sh(&format!("scorebox leaderboard {options}")).exits_with(2);
        assert!(refused.stderr.contains(words), "{options}: {refused}");
        assert_eq!(refused.stdout, "");
    }
    // Without a scorer, other figures decide.
    let by_time = folder.sh("scorebox leaderboard two --strategy fastest --format json");
    assert_eq!(by_time.exits_with(0).json()[0]["score"], serde_json::Value::Null);
    let nobody = run_of("{\"output\": 1}\n").sh("scorebox leaderboard").exits_with(2);
    assert_snapshot!(nobody.stderr, @"
    error: no case of the run `r` names an entrant
    hint: a leaderboard ranks the entrants of one run, which each case names as `entrant`, in its metadata or beside it; `scorebox compare A B` and `scorebox trend` compare runs
    ");
}

#[test]
fn metadata_of_strangers_does_no_harm() {
    let long = "n".repeat(513);
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let cases = [
        r#"{"entrant": "\u001b[2Jerror: forged\n\u202e", "succeeded": true, "challenge": "\u0007c"}"#.to_owned(),
        format!(r#"{{"entrant": "{long}"}}"#),
        r#"{"entrant": {"name": "x"}}"#.to_owned(),
        r#"{"entrant": ""}"#.to_owned(),
        r#"{"entrant": "twice", "entrant": "said"}"#.to_owned(),
        r#"["entrant"]"#.to_owned(),
        format!(r#"{{"entrant": "huge", "succeeded": true, "challenge": {deep}, "rating": 1e400, "tokens_total": 1.7e308, "elapsed_ms": -5, "created_at": 1e300}}"#),
        r#"{"entrant": "huge", "succeeded": true, "tokens_total": 1.7e308}"#.to_owned(),
    ];
    let lines = cases.map(|metadata| format!("{{\"output\": 1, \"metadata\": {metadata}}}\n"));
    let folder = run_of(&lines.concat());
    for options in
        ["", "--of mean", "--strategy fewest-tokens --of mean", "--strategy first", "--attempts"]
    {
        let shown = folder.sh(&format!("scorebox leaderboard {options}")).exits_with(0);
        assert!(shown.stdout.contains("\\u{1b}[2Jerror: forged"), "{shown}");
        assert!(shown.stderr.contains("4 cases name no entrant"), "{shown}");
        let json =
            folder.sh(&format!("scorebox leaderboard --format json {options}")).exits_with(0);
        let json_read = json.json();
        assert!(
            json_read.as_array().unwrap().iter().any(|it| it["challenge"] == "\u{7}c"),
            "{json}"
        );
        assert!(!json.stdout.contains('\u{1b}') && !json.stdout.contains('\u{202e}'));
    }
    let line = "scorebox leaderboard --strategy fewest-tokens --of mean --format json";
    let json = folder.sh(line).json();
    let huge = json.as_array().unwrap().iter().find(|it| it["entrant"] == "huge").unwrap();
    assert_eq!((&huge["attempts"], &huge["tokensTotal"]), (&2.into(), &1.7e308.into()));
}

#[test]
fn more_entrants_than_are_held_in_memory_are_refused() {
    let folder = run_of("{\"output\": 1, \"entrant\": \"first\"}\n");
    folder
        .database("scorebox.db")
        .execute_batch(
            "INSERT INTO cases (case_key, run, ordinal, case_id, iteration, attempt, source_name, source_line, digest, output, other_json, metadata)
             WITH RECURSIVE more (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 50000)
             SELECT (run << 40) + n, run, n, 'more-' || n, 0, 0, source_name, n + 1, digest, output, '{\"entrant\": ' || n || '}', '{\"succeeded\": true}'
             FROM cases, more;",
        )
        .unwrap();
    let refused = folder.sh("scorebox leaderboard").exits_with(2);
    assert!(refused.stderr.contains("more than 50000 entrants"), "{refused}");
    let listed = folder.sh("scorebox leaderboard --attempts --limit 1").exits_with(0);
    assert!(listed.stderr.contains("1 of 50,001 attempts"), "{listed}");
}

/// The state after an interrupted run: ada's second attempt was not scored, and its score is unknown.
#[test]
fn an_attempt_that_not_all_scorers_have_scored_is_left_out_unless_it_says_whether_it_succeeded() {
    let folder = run_of(concat!(
        r#"{"id": "one", "output": 1, "entrant": "ada", "metadata": {"rating": 2, "succeeded": true}}"#,
        "\n",
        r#"{"id": "two", "output": 1, "entrant": "ada", "metadata": {"rating": 9}}"#,
        "\n",
        r#"{"id": "three", "output": 1, "entrant": "bob", "metadata": {"rating": 5, "succeeded": true}}"#,
        "\n",
    ));
    let change = |sql: &str| folder.database("scorebox.db").execute_batch(sql).unwrap();
    change("DELETE FROM score_rows WHERE case_key & 0xFFFFFFFFFF > 0");
    assert_snapshot!(folder.sh("scorebox leaderboard --strategy highest-rating"), @"
    rank  entrant  score  rating  tokens  elapsed  attempts  succeeded  failed scores
    1     bob          -  5.0000       -        -         1          1              0
    2     ada      120.0  2.0000       -        -         1          1              0
    [stderr]
    1 incomplete attempt is left out: not all scorers have scored it
    1 attempt has not been scored by `points`
    [exit code 0]
    ");
    let json = folder.sh("scorebox leaderboard --strategy highest-rating --format json").json();
    assert_eq!((&json[0]["unscored"], &json[1]["unscored"]), (&1.into(), &0.into()));
    let listed = folder.sh("scorebox leaderboard --attempts --format jsonl").exits_with(0).stdout;
    assert!(!listed.contains("\"two\"") && listed.lines().count() == 2, "{listed}");
    change("UPDATE cases SET metadata = NULL; DELETE FROM score_rows");
    assert_snapshot!(folder.sh("scorebox leaderboard"), @"
    [stderr]
    error: all attempts of the run `r` that could be ranked are incomplete: not all scorers have scored them
    hint: finish the run: scorebox run … --resume
    [exit code 2]
    ");
}

/// The leader so far may not be first in the end.
#[test]
fn of_a_run_that_has_not_finished_it_is_said() {
    let folder = example();
    for (state, words) in [
        ("interrupted", "warning: run r was interrupted, and only its stored scores count"),
        (
            "running",
            "warning: run r is still running or was killed, and only its stored scores count",
        ),
    ] {
        let ended = if state == "running" { "NULL" } else { "finished_at_ms" };
        let change = format!("UPDATE runs SET state = '{state}', finished_at_ms = {ended}");
        folder.database("scorebox.db").execute_batch(&change).unwrap();
        for options in ["", "--attempts", "--format json"] {
            let shown = folder.sh(&format!("scorebox leaderboard {options}")).exits_with(0);
            assert!(shown.stderr.contains(words), "{shown}");
        }
    }
}

/// A scorer that only summarizes all cases has no score to rank by.
#[test]
fn a_scorer_without_scores_is_not_proposed() {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "{\"output\": \"a\", \"groundTruth\": \"a\", \"metadata\": {\"entrant\": \"ada\"}}\n",
    );
    let scorers = "-s exact-match -s length --config 'length={\"max\": 5}' -s label-distribution";
    folder.sh(&format!("scorebox run cases.jsonl -q {scorers}")).exits_with(0);
    let which = folder.sh("scorebox leaderboard").exits_with(2).stderr;
    assert!(which.contains("exact-match") && !which.contains("label-distribution"), "{which}");
}
