//! Budgets of judges in US dollars: who may have one, and what makes it impossible to keep. With a real server of OpenAI's protocol on
//! the loopback interface.

use serde_json::json;

use crate::{
    fixture::Folder,
    judge_fixture::{ONE, RUN, folder, sh},
    model_server::{ModelServer, UNCOUNTED},
};

/// A folder whose only judge is at this server and has these keys.
fn with_judge(server: &ModelServer, keys: &str) -> Folder {
    let folder = folder(&server.base_url(), &["a", "b"], "");
    let judge = format!(
        "[judges.default]\nprovider = \"openai\"\nbase_url = \"{}\"\nmodel = \"tiny\"\n{keys}",
        server.base_url()
    );
    folder.write("suite.toml", format!("{judge}{ONE}"));
    folder
}

#[test]
fn a_runs_budget_in_dollars_needs_the_price_of_every_judge_that_is_asked() {
    let server = ModelServer::saying(|_| "1".into());
    let unpriced = with_judge(&server, "");
    let refused = unpriced.sh(&format!("{RUN} --judge-budget usd=1")).exits_with(2);
    let why = "--judge-budget: a budget in US dollars needs the `price` of the judge `default`";
    assert!(refused.stderr.contains(why), "{refused}");
    assert!(refused.stderr.contains("or bound the calls: --judge-budget calls=1000"), "{refused}");
    let score = "scorebox score ./asker.wasm --grant judge --output-text abc --judge-model m";
    let server_alone = format!("{score} --judge-url {} --judge-budget usd=1", server.base_url());
    assert!(unpriced.sh(&server_alone).exits_with(2).stderr.contains(why));
    assert_eq!(server.asked().len(), 0);

    unpriced.sh(&format!("{RUN} --judge-budget calls=9")).exits_with(0);
    // Recorded answers cost nothing.
    unpriced.sh(&format!("{RUN} --judge-budget usd=1 --judge-cache only")).exits_with(0);
    let free = with_judge(&server, "price = { input = 0, output = 0 }\n");
    free.sh(&format!("{RUN} --judge-budget usd=1")).exits_with(0);
    let unasked = with_judge(
        &server,
        "price = { input = 1, output = 2 }\n[judges.other]\nprovider = \"command\"\ncommand = [\"no\"]\n",
    );
    unasked.sh(&format!("{RUN} --judge-budget usd=1")).exits_with(0);
}

#[test]
fn a_first_question_without_an_answer_ends_a_budget_in_dollars_because_nobody_knows_what_it_cost() {
    let (says, hears) = std::sync::mpsc::channel::<()>();
    let hears = std::sync::Mutex::new(hears);
    let server = ModelServer::saying(move |_| {
        // Until the test is over.
        let _ = hears.lock().unwrap().recv();
        "1".into()
    });
    let folder = with_judge(
        &server,
        "timeout = \"100ms\"\nretries = 0\nconcurrency = 1\nprice = { input = 1, output = 2 }\n",
    );
    let run = folder.sh(&format!("{RUN} -j 1 --judge-budget usd=1")).exits_with(1);
    assert!(run.stderr.contains("a budget of 1 US dollars cannot be kept"), "{run}");
    drop(says);
}

#[test]
fn a_spent_budget_of_a_scorer_names_it() {
    let server = ModelServer::saying(|_| "1".into());
    let folder = folder(
        &server.base_url(),
        &["a", "b"],
        &format!("{ONE}judge = {{ budget = {{ calls = 1 }} }}\n"),
    );
    let run = sh(&folder, RUN).exits_with(1);
    assert!(run.stderr.contains("scorer `one`: all 1 calls of its budget are used"), "{run}");
}

#[test]
fn a_cost_that_nobody_knows_is_not_shown_as_nothing() {
    let server = ModelServer::saying(|asked| match asked.text() {
        "b" => UNCOUNTED.into(),
        _ => "1".into(),
    });
    let partly = with_judge(&server, "price = { input = 1, output = 2 }\n");
    let run = partly.sh(RUN).exits_with(0);
    assert!(run.stdout.contains("≥$0.000016"), "{run}");
    let unknown = with_judge(&server, "");
    let judged = unknown.sh(&format!("{RUN} --format json")).exits_with(0).json();
    let judged = &judged["judges"][0];
    let figures = ["costUsd", "costUnknown", "tokensUnknown"].map(|figure| &judged[figure]);
    assert_eq!(json!(figures), json!([null, 2, 1]));
}

#[test]
fn what_answers_that_are_not_recorded_consumed_is_said_below_the_table() {
    let server = ModelServer::saying(|_| "1".into());
    let folder = with_judge(&server, "price = { input = 1, output = 2 }\n");
    let run = folder.sh(&format!("{RUN} --judge-cache off")).exits_with(0);
    assert!(
        run.stdout.ends_with(
            "judge of  answers  tokens in  tokens out  cost\none             2          -           -     -\n"
        ),
        "{run}"
    );
    let line =
        "2 answers are not recorded: they took 24 tokens of questions and 4 of answers, $0.000032";
    assert!(run.stderr.contains(line), "{run}");
    let recorded = folder.sh(RUN).exits_with(0);
    assert!(!recorded.stderr.contains("not recorded"), "{recorded}");
}

#[test]
fn without_network_only_recordings_answer_and_nobody_is_to_be_asked_again() {
    let server = ModelServer::saying(|_| "1".into());
    let folder = with_judge(&server, "");
    folder.sh(RUN).exits_with(0);
    for options in ["--offline", "--offline --judge-cache only"] {
        folder.sh(&format!("{RUN} {options}")).exits_with(0);
    }
    for cache in ["off", "refresh"] {
        let refused = folder.sh(&format!("{RUN} --offline --judge-cache {cache}")).exits_with(2);
        let why = format!(
            "error: --judge-cache {cache} asks every question, and --offline uses no network"
        );
        assert!(refused.stderr.contains(&why), "{refused}");
    }
    assert_eq!(server.asked().len(), 2);
}
