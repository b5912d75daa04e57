//! Juries: several judges or models, or several answers of one judge, combined into one score. Uses a real server on
//! the loopback interface.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    fixture::Folder,
    judge_fixture::{RUN, folder, rows, sh, suite},
    model_server::{Asked, ModelServer},
};

/// A scorer entry whose judge has this jury.
fn jury(name: &str, jury: &str) -> String {
    format!(
        "[scorers.{name}]\nuse = \"./asker.wasm\"\ngrants = [\"judge\"]\njudge = {{ jury = {jury} }}\n"
    )
}

/// A judge of OpenAI's protocol at this server.
fn judge(name: &str, server: &ModelServer, keys: &str) -> String {
    let url = server.base_url();
    format!("[judges.{name}]\nprovider = \"openai\"\nbase_url = \"{url}\"\n{keys}")
}

fn model(asked: &Asked) -> String {
    asked.body["model"].as_str().unwrap_or_default().to_owned()
}

/// A server whose models answer with the number in their names.
fn by_model() -> ModelServer {
    ModelServer::saying(|asked| model(asked).trim_start_matches("of-").to_owned())
}

/// The first row of a scorer.
fn row(folder: &Folder, scorer: &str) -> Value {
    let scores = sh(folder, "scorebox scores --format jsonl --limit 0").stdout;
    let mut lines = scores.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find(|row| row["scorerId"] == scorer).unwrap()
}

#[test]
fn a_jury_of_models_gives_one_score_and_says_who_gave_which() {
    let server = by_model();
    let models = r#"models = ["of-1", "of-0.25", "of-0"]"#;
    let entries = [
        jury("mean", &format!("{{ {models} }}")),
        jury("median", &format!("{{ {models}, combine = \"median\" }}")),
    ];
    let folder = folder(&server.base_url(), &["a"], &entries.concat());
    let run = sh(&folder, RUN);
    assert_eq!(run.code, Some(0), "{run}");
    let mean = row(&folder, "mean");
    assert_eq!(mean["score"], json!(1.25 / 3.0));
    assert_eq!(mean["reason"], "0.25", "that of the juror who is closest");
    assert_eq!(
        mean["meta"],
        json!({"jury": {
            "combine": "mean", "quorum": 2, "scored": 3, "spread": 1.0, "agreement": 1.0 / 3.0,
            "votes": [
                {"judge": "default", "model": "of-1", "sample": 0, "score": 1.0, "reason": "1"},
                {"judge": "default", "model": "of-0.25", "sample": 0, "score": 0.25, "reason": "0.25"},
                {"judge": "default", "model": "of-0", "sample": 0, "score": 0.0, "reason": "0"},
            ],
        }})
    );
    assert_eq!(row(&folder, "median")["score"], 0.25);
    // The second scorer asks the same questions as the first.
    assert_eq!(server.asked().len(), 3);
    let (_, judges) = run.stdout.split_once("\n\n").unwrap();
    let of_mean: Vec<_> = judges.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(of_mean[..2], ["mean", "3"], "{run}");
    assert_eq!(folder.sh("scorebox verify").code, Some(0));
}

#[test]
fn a_mean_that_is_the_threshold_passes() {
    let server = by_model();
    let entry = jury("mean", r#"{ models = ["of-0.7", "of-0.8", "of-0.9"] }"#);
    let entry = format!("{entry}threshold = 0.8\nseverity = \"gate\"\n");
    let folder = folder(&server.base_url(), &["a"], &entry);
    sh(&folder, RUN).exits_with(0);
    assert_eq!(row(&folder, "mean")["score"], 0.8);
}

#[test]
fn samples_are_independent_questions_of_which_the_first_is_that_of_a_scorer_without_a_jury() {
    let server = ModelServer::saying(|_| "1".into());
    let alone = "[scorers.alone]\nuse = \"./asker.wasm\"\ngrants = [\"judge\"]\n";
    let folder = folder(&server.base_url(), &["a"], alone);
    sh(&folder, RUN);
    assert_eq!(server.asked().len(), 1);
    suite(&folder, &server.base_url(), &jury("often", "{ samples = 5, combine = \"majority\" }"));
    let run = sh(&folder, RUN);
    assert_eq!((run.code, server.asked().len()), (Some(0), 5), "{run}");
    let votes = row(&folder, "often")["meta"]["jury"]["votes"].clone();
    let samples: Vec<&Value> = votes.as_array().unwrap().iter().map(|it| &it["sample"]).collect();
    assert_eq!(samples, [0, 1, 2, 3, 4]);
}

#[test]
fn jurors_can_be_judges_of_different_servers() {
    let (one, other) = (by_model(), by_model());
    let entries = [
        judge("first", &one, "key_env = \"THE_KEY\"\nmodel = \"of-1\"\n"),
        judge("second", &other, "model = \"of-0\"\n"),
        jury("both", "{ judges = [\"first\", \"second\"], samples = 2 }"),
    ];
    let folder = folder(&one.base_url(), &["a"], &entries.concat());
    let run = sh(&folder, RUN);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!((one.asked().len(), other.asked().len()), (2, 2));
    let votes = row(&folder, "both")["meta"]["jury"]["votes"].clone();
    let who: Vec<&Value> = votes.as_array().unwrap().iter().map(|it| &it["judge"]).collect();
    assert_eq!(who, ["first", "second", "first", "second"]);
    // The key of the first juror is sent to no other server.
    assert!(other.asked().iter().all(|asked| asked.authorization().is_none()));
    assert_eq!(folder.sh("scorebox verify").code, Some(0));
}

#[test]
fn a_jury_with_its_quorum_has_a_score_that_replays_to_the_byte() {
    let server = ModelServer::answering(|asked| match model(asked).as_str() {
        "down" => (503, "come back later".into()),
        model => (200, model.trim_start_matches("of-").to_owned()),
    });
    let entries = jury("most", r#"{ models = ["of-1", "down", "of-0.5"] }"#);
    let folder = folder(&server.base_url(), &["a"], &entries);
    assert_eq!(sh(&folder, RUN).code, Some(0));
    let first = row(&folder, "most");
    assert_eq!(first["score"], 0.75);
    let down = json!({"judge": "default", "model": "down", "sample": 0, "error": "no-answer"});
    assert_eq!(first["meta"]["jury"]["votes"][1], down);
    drop(server);
    let verified = folder.sh("scorebox verify").exits_with(0);
    let jury = "most is based on answers of a jury: judge `default`: `of-1` (openai at http://";
    assert!(verified.stderr.contains(jury), "{verified}");
    assert_eq!(folder.sh(&format!("{RUN} --judge-cache only")).code, Some(0));
    let replayed = row(&folder, "most");
    assert_eq!((&replayed["score"], &replayed["meta"]), (&first["score"], &first["meta"]));
}

#[test]
fn a_juror_that_never_votes_is_named() {
    let server = ModelServer::answering(|asked| match model(asked).as_str() {
        "lost" => (404, "no such model".into()),
        model => (200, model.trim_start_matches("of-").to_owned()),
    });
    let entries = jury("few", r#"{ models = ["of-0", "of-1", "lost"] }"#);
    let folder = folder(&server.base_url(), &["a", "b"], &entries);
    let run = sh(&folder, RUN);
    assert_eq!(run.code, Some(0), "{run}");
    let warning = "warning: juror `lost` of `few` has no vote in 2 of 2 scores";
    assert!(run.stderr.contains(warning), "{run}");
    assert!(!run.stderr.contains("juror `of-1`"), "{run}");
}

/// A juror whose zeros are not verdicts spoils the score of a jury, like a juror without a vote.
#[test]
fn a_juror_whose_answers_cannot_be_read_is_counted_and_named() {
    let server = ModelServer::saying(|asked| match model(asked).as_str() {
        "mumbles" => "I would rather not say.".into(),
        _ => r#"{"reason": "", "choice": "first"}"#.into(),
    });
    let entries = "[scorers.better]\nuse = \"pairwise\"\ngrants = [\"judge\"]\nconfig = { unreadable = \"zero\" }\n\
                   jury = { models = [\"clear\", \"mumbles\", \"plain\"] }\n";
    let folder = folder(&server.base_url(), &[], entries);
    let case = |id| json!({"id": id, "input": "Say something.", "output": id, "baseline": "other"});
    folder.write("cases.jsonl", format!("{}\n{}\n", case("a"), case("b")));
    let run = sh(&folder, &format!("{RUN} --format json"));
    assert_eq!(run.code, Some(0), "{run}");
    let judged = run.json()["judges"][0].clone();
    assert_eq!(judged["unreadable"], 2, "{run}");
    let silent = json!([{
        "judge": "default", "model": "mumbles", "scores": 2, "withoutVote": 0, "unreadable": 2,
    }]);
    assert_eq!(judged["silentJurors"], silent, "{run}");
    let warning = "warning: juror `mumbles` of `better` gives 0 because its answer cannot be read in 2 of 2 scores";
    assert!(run.stderr.contains(warning), "{run}");
}

#[test]
fn a_juror_whose_model_another_judge_has_too_is_named_with_its_judge() {
    let well = ModelServer::saying(|_| "1".into());
    let ill = ModelServer::answering(|_| (404, "no such model".into()));
    let of = |name: &str, server: &ModelServer, warmth: &str| {
        judge(name, server, &format!("model = \"same\"\ntemperature = {warmth}\n"))
    };
    let entries = jury("both", "{ judges = [\"one\", \"two\", \"three\"] }");
    let judges = [of("one", &well, "0"), of("two", &ill, "0"), of("three", &well, "1")].concat();
    let folder = folder(&well.base_url(), &["a"], &entries);
    folder.write("suite.toml", format!("{judges}{entries}"));
    let run = sh(&folder, RUN).exits_with(0);
    let warning = "warning: juror `same` (judge `two`) of `both` has no vote in 1 of 1 score";
    assert!(run.stderr.contains(warning), "{run}");
}

#[test]
fn two_names_of_one_model_are_one_juror() {
    let server = by_model();
    let of = |name: &str, keys: &str| judge(name, &server, keys);
    let both = jury("both", "{ judges = [\"one\", \"two\"] }");
    let folder = folder(&server.base_url(), &["a"], "");
    let entries = of("one", "model = \"of-1\"\n") + &of("two", "model = \"of-1\"\nretries = 1\n");
    suite(&folder, &server.base_url(), &(entries + &both));
    let refused = sh(&folder, RUN).exits_with(2);
    let same = "the judges `one` and `two` are one model under two names, and would say the same; `samples` asks it more often";
    assert!(refused.stderr.contains(same), "{refused}");
    assert!(refused.stderr.contains("suite.toml:"), "{refused}");
    // Another temperature makes another question.
    let entries =
        of("one", "model = \"of-1\"\n") + &of("two", "model = \"of-1\"\ntemperature = 1\n");
    suite(&folder, &server.base_url(), &(entries + &both));
    sh(&folder, RUN).exits_with(0);
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_model_of_the_command_line_replaces_no_jury_of_several() {
    let server = by_model();
    let several = jury("few", r#"{ models = ["of-0", "of-1"] }"#);
    let folder = folder(&server.base_url(), &["a"], &several);
    let refused = sh(&folder, &format!("{RUN} --judge-model of-1")).exits_with(2);
    let why = "--judge-model: the scorer `few` has a jury of several models, which one model cannot replace";
    assert!(refused.stderr.contains(why), "{refused}");
    assert!(refused.stderr.contains("hint: change the models of its `jury`"), "{refused}");
    suite(&folder, &server.base_url(), &jury("often", "{ samples = 3 }"));
    sh(&folder, &format!("{RUN} --judge-model of-1")).exits_with(0);
    let asked: Vec<String> = server.asked().iter().map(model).collect();
    assert_eq!(asked, ["of-1"; 3]);
}

#[test]
fn a_jury_without_its_quorum_has_no_score() {
    let server = ModelServer::answering(|asked| match model(asked).as_str() {
        "down" | "lost" => (503, "come back later".into()),
        _ => (200, "1".into()),
    });
    let entries = [
        jury("few", r#"{ models = ["of-1", "down", "lost"] }"#),
        jury("strict", r#"{ models = ["of-1", "down"], quorum = 2 }"#),
        jury("lenient", r#"{ models = ["of-1", "down", "lost"], quorum = 1 }"#),
    ];
    let folder = folder(&server.base_url(), &["a"], &entries.concat());
    let run = sh(&folder, RUN);
    assert_eq!(run.code, Some(1));
    let expected = [
        "few c0 error - judge-unavailable",
        "lenient c0 scored 1 -",
        "strict c0 error - judge-unavailable",
    ];
    assert_eq!(rows(&folder), expected);
    let message = row(&folder, "few")["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        message.starts_with("1 of 3 jurors have a score; the quorum is 2; judge-unavailable: ")
    );
}

#[test]
fn a_budget_that_is_spent_within_a_jury_stops_the_run() {
    let server = by_model();
    let entries = jury("all", r#"{ models = ["of-1", "of-0.5", "of-0"] }"#);
    let folder = folder(&server.base_url(), &["a"], &entries);
    let run = sh(&folder, &format!("{RUN} --run-id r --judge-budget calls=2"));
    assert_eq!((run.code, server.asked().len()), (Some(1), 2), "{run}");
    assert_eq!(rows(&folder), Vec::<String>::new());
    let resumed = sh(&folder, &format!("{RUN} --resume r --judge-budget calls=1"));
    assert_eq!((resumed.code, server.asked().len()), (Some(0), 3), "{resumed}");
    assert_eq!(rows(&folder), ["all c0 scored 0.5 -"]);
}

#[test]
fn a_score_waits_for_its_answers_no_longer_than_its_entry_allows() {
    let (says, hears) = std::sync::mpsc::channel::<()>();
    let hears = std::sync::Mutex::new(hears);
    let server = ModelServer::saying(move |_| {
        // The server waits until the test is over.
        let _ = hears.lock().unwrap().recv();
        "1".into()
    });
    let entry = "[scorers.slow]\nuse = \"./asker.wasm\"\ngrants = [\"judge\"]\n\
                 judge = { timeout = \"100ms\" }\n";
    let folder = folder(&server.base_url(), &["a"], entry);
    let run = sh(&folder, RUN);
    assert_eq!(run.code, Some(1), "{run}");
    assert_eq!(rows(&folder), ["slow c0 error - judge-timed-out"]);
    assert!(run.stderr.contains("no answer in 1 attempt within 0.1 s"), "{run}");
    assert!(run.stderr.contains("raise `timeout`"), "{run}");
    drop(says);
}

#[test]
fn a_jury_that_is_not_valid_is_refused_with_its_place() {
    let folder = folder("http://127.0.0.1:9/v1", &["a"], "");
    let wrong = [
        r#"{ models = ["a", "a"] }"#,
        r#"{ models = ["a"], judges = ["default"] }"#,
        r#"{ samples = 0 }"#,
        r#"{ models = ["a", "b"], samples = 33 }"#,
        r#"{ models = ["a", "b"], quorum = 3 }"#,
        r#"{ combine = "avg" }"#,
        r#"{ judges = ["defualt"] }"#,
        r#"{ model = "a" }"#,
        r#"["a", "b"]"#,
    ];
    let said: String = wrong
        .iter()
        .map(|wrong| {
            suite(&folder, "http://127.0.0.1:9/v1", &jury("it", wrong));
            let checked = sh(&folder, "scorebox suite check suite.toml");
            assert_eq!(checked.code, Some(2), "{wrong}: {checked}");
            format!("{wrong}\n{}\n", checked.stderr)
        })
        .collect();
    assert_snapshot!(said, @r#"
    { models = ["a", "a"] }
    error: suite.toml:11:18: `a` is on the jury twice, and would say the same; `samples` asks it more often

    { models = ["a"], judges = ["default"] }
    error: suite.toml:11:18: a jury has `judges` or `models`, not both: a judge of the file has its model

    { samples = 0 }
    error: suite.toml:11:30: `samples` must be from 1 to 64; found 0

    { models = ["a", "b"], samples = 33 }
    error: suite.toml:11:18: the jury has 66 jurors; the limit is 64

    { models = ["a", "b"], quorum = 3 }
    error: suite.toml:11:50: `quorum` must be from 1 to 2, the number of jurors

    { combine = "avg" }
    error: suite.toml:11:30: `avg` is not a way to combine scores; use `mean`, `median` or `majority`

    { judges = ["defualt"] }
    error: suite.toml:11:9: no judge is called `defualt`
    hint: did you mean `default`?

    { model = "a" }
    error: suite.toml:11:20: unknown key `model`; the keys of `jury` are `judges`, `models`, `samples`, `combine`, `quorum`
    hint: did you mean `models`?

    ["a", "b"]
    error: suite.toml:11:18: `jury` must be a table; found a list
    "#);
}
