//! The costs of asking judges, and the budgets of calls, tokens and US dollars that limit them: which suites may have
//! one, and what makes it impossible to keep. Uses a real server of OpenAI's protocol on the loopback interface.

use std::{
    fs,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use serde_json::{Value, json};

use crate::{
    fixture::Folder,
    judge_fixture::{ONE, RUN, entry, folder, rows, sh},
    model_server::{CHARGED_ELSEWHERE, FAILS, ModelServer, REFUSES, REFUSES_UNCOUNTED, UNCOUNTED},
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
fn a_first_question_without_an_answer_ends_a_budget_in_dollars_because_its_cost_is_unknown() {
    let (says, hears) = std::sync::mpsc::channel::<()>();
    let hears = std::sync::Mutex::new(hears);
    let server = ModelServer::saying(move |_| {
        // The server waits until the test is over.
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
    assert!(run.stderr.contains("scorer `one`: its budget of 1 call is used up"), "{run}");
}

#[test]
fn a_cheap_question_first_and_dear_ones_after_it_at_once_keep_a_budget_in_dollars() {
    // A long question costs 0.01 dollars, and stays under way until all calls that may begin with it have begun.
    let program = "if [ $(wc -c) -gt 5000 ]; then sleep 0.2; cost=0.01; else cost=0.0001; fi; \
                   echo $cost >>asked; echo \"{\\\"text\\\": \\\"1\\\", \\\"costUsd\\\": $cost}\"";
    let folder = folder("", &[], "");
    let command = json!(["sh", "-c", program]);
    let judge = format!(
        "[judges.default]\nprovider = \"command\"\ncommand = {command}\nconcurrency = 100\n"
    );
    folder.write("suite.toml", format!("{judge}{ONE}"));
    let long = "x".repeat(10_000);
    let cases = (0..100).map(|at| {
        let output = if at == 0 { "a".to_owned() } else { format!("{at} {long}") };
        json!({"id": format!("c{at}"), "output": output}).to_string() + "\n"
    });
    folder.write("cases.jsonl", cases.collect::<String>());
    let run = folder.sh(&format!("{RUN} -j 1 --judge-budget usd=0.035")).exits_with(1);
    let asked = fs::read_to_string(folder.path("asked")).unwrap();
    let costs: Vec<f64> = asked.lines().map(|cost| cost.parse().unwrap()).collect();
    assert!((4..=7).contains(&costs.len()), "{asked}: {run}");
    // Without the calls that were under way when the first one found the budget spent, it would be less.
    let spent =
        format!("{:.6} US dollars are spent, of a budget of 0.035", costs.iter().sum::<f64>());
    assert!(run.stderr.contains(&spent), "{spent}: {run}");
}

#[test]
fn live_says_how_many_lines_a_spent_budget_leaves_and_how_to_score_them() {
    let server = ModelServer::saying(|_| "1".into());
    let folder = folder(&server.base_url(), &["a", "b", "c"], ONE);
    let live = "scorebox live suite.toml --run-id r -j 1 -q --judge-budget calls=1";
    let stopped = sh(&folder, &format!("cat cases.jsonl | {live}")).exits_with(1);
    let hint = "hint: if it may cost more, raise that budget: `budget` of the judge or of the scorer in the suite, or --judge-budget\n";
    assert!(stopped.stderr.contains(hint), "{stopped}");
    let again = "came through it, resume with:\n  scorebox run suite.toml LINES --resume r\n";
    assert!(stopped.stderr.contains(again), "{stopped}");
    assert!(stopped.stderr.contains(" read and not scored, and what the pipe held"), "{stopped}");
    sh(&folder, "scorebox run suite.toml cases.jsonl --resume r").exits_with(0);
    assert_eq!(rows(&folder).len(), 3);
}

#[test]
fn a_followed_run_has_one_budget_however_often_it_is_started() {
    let server = ModelServer::saying(|_| "1".into());
    let folder = folder(&server.base_url(), &["a", "b", "c", "d"], ONE);
    let follow = "scorebox live suite.toml --follow cases.jsonl -q --judge-budget calls=";
    for _ in 0..3 {
        let stopped = sh(&folder, &format!("{follow}2")).exits_with(1);
        assert!(stopped.stderr.contains("its budget of 2 calls is used up"), "{stopped}");
        let again = "read and not scored: with a larger budget, the same command scores them";
        assert!(stopped.stderr.contains(again), "{stopped}");
    }
    assert_eq!(server.asked().len(), 2);
    sh(&folder, &format!("{follow}3")).exits_with(1);
    assert_eq!((server.asked().len(), rows(&folder).len()), (3, 3));
}

#[test]
fn an_unknown_cost_is_not_shown_as_zero() {
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
fn without_network_only_recordings_answer_and_no_judge_is_asked_again() {
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

#[test]
fn a_spent_budget_stops_the_run_and_a_larger_one_completes_it_without_asking_again() {
    let server = ModelServer::saying(|_| "1".into());
    let outputs: Vec<String> = (0..20).map(|number| format!("case {number}")).collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let folder = folder(&server.base_url(), &outputs, ONE);
    let stopped = sh(&folder, &format!("{RUN} --run-id r --judge-budget calls=7"));
    assert_eq!(stopped.code, Some(1), "{stopped}");
    assert!(stopped.stderr.contains("its budget of 7 calls is used up"), "{stopped}");
    assert!(stopped.stderr.contains("--resume r"), "{stopped}");
    assert_eq!(server.asked().len(), 7);
    assert_eq!(folder.rows("SELECT state FROM runs"), ["stopped"]);
    let errors = "SELECT count(*) FROM scores WHERE status = 'error'";
    assert_eq!(folder.rows(errors), ["0"]);

    let resumed = sh(&folder, "scorebox run suite.toml cases.jsonl -q --resume r");
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert_eq!(server.asked().len(), 20);
    assert_eq!(folder.rows("SELECT count(*), sum(score) FROM scores"), ["20 | 20"]);
}

#[test]
fn a_spent_budget_ends_live_scoring_with_the_exit_code_and_the_advice_of_a_run() {
    let server = ModelServer::saying(|_| "1".into());
    let folder = folder(&server.base_url(), &["a", "b", "c"], ONE);
    let options = "-q --judge-cache off --judge-budget calls=1";
    let run = sh(&folder, &format!("scorebox run suite.toml cases.jsonl {options}"));
    let live = sh(&folder, &format!("scorebox live suite.toml {options} <cases.jsonl"));
    assert_eq!((run.code, live.code), (Some(1), Some(1)), "{live}");
    let hint = |said: &str| {
        said.lines().find(|line| line.starts_with("hint: if it may")).map(str::to_owned)
    };
    assert!(hint(&run.stderr).is_some(), "{run}");
    assert_eq!(hint(&live.stderr), hint(&run.stderr), "{live}");
    assert!(
        live.stderr.contains("No more questions were asked. Scores so far are kept.\n"),
        "{live}"
    );
}

#[test]
fn money_is_counted_by_the_price_and_ends_a_budget() {
    let server = ModelServer::saying(|_| "1".into());
    // An answer costs 12 and 2 tokens: 16 millionths of a dollar.
    let entries = format!("{ONE}judge = {{ budget = {{ cost_usd = 0.00004 }} }}\n");
    let outputs: Vec<String> = (0..200).map(|number| format!("case {number}")).collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let folder = folder(&server.base_url(), &outputs, &entries);
    let run = sh(&folder, RUN);
    assert_eq!(run.code, Some(1), "{run}");
    let spent = "0.000048 US dollars are spent, of a budget of 0.00004";
    assert!(run.stderr.contains(spent), "{run}");
    // Two calls leave some of the budget, and the third spends the rest: no call is sent while another might spend it.
    assert_eq!(server.asked().len(), 3, "{run}");
    assert!(folder.rows("SELECT DISTINCT cost_usd FROM calls") == ["0.000016"], "{run}");
}

#[test]
fn a_price_counts_before_what_a_gateway_says_and_without_one_the_gateway_is_believed() {
    let server = ModelServer::saying(|_| CHARGED_ELSEWHERE.into());
    let entries = format!("{ONE}judge = {{ budget = {{ cost_usd = 0.00004 }} }}\n");
    let outputs: Vec<String> = (0..20).map(|number| format!("case {number}")).collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let folder = folder(&server.base_url(), &outputs, &entries);
    let run = sh(&folder, RUN);
    assert_eq!((run.code, server.asked().len()), (Some(1), 3), "{run}");
    let price = "price = { input = 1.0, output = 2.0 }\n";
    let unpriced = fs::read_to_string(folder.path("suite.toml")).unwrap().replace(price, "");
    let unpriced = unpriced.split("judge = {").next().unwrap();
    folder.write("suite.toml", unpriced);
    sh(&folder, &format!("{RUN} --judge-cache refresh --judge-budget calls=30")).exits_with(0);
    assert_eq!(folder.rows("SELECT DISTINCT cost_usd FROM calls ORDER BY 1"), ["0", "0.000016"]);
}

#[test]
fn a_budget_of_money_stops_a_run_whose_server_counts_no_tokens() {
    let server = ModelServer::saying(|_| UNCOUNTED.into());
    let folder = folder(&server.base_url(), &["a", "b", "c"], ONE);
    let run = sh(&folder, &format!("{RUN} --judge-budget usd=1"));
    assert_eq!(run.code, Some(1), "{run}");
    let unknown = "the run: what a question cost is not known, because its tokens are not counted or have no price: a budget of 1 US dollars cannot be kept";
    assert!(run.stderr.contains(unknown), "{run}");
    assert_eq!(server.asked().len(), 1, "{run}");
    let without = sh(&folder, RUN);
    assert_eq!(without.code, Some(0), "{without}");
}

#[test]
fn a_budget_of_money_stops_a_run_whose_server_refuses_and_counts_no_tokens() {
    let server = ModelServer::saying(|_| REFUSES_UNCOUNTED.into());
    let folder = folder(&server.base_url(), &["a", "b", "c"], ONE);
    let run = sh(&folder, &format!("{RUN} --judge-budget usd=1"));
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("a budget of 1 US dollars cannot be kept"), "{run}");
    assert!(run.stderr.contains("hint: bound the calls in its place"), "{run}");
    assert_eq!(server.asked().len(), 1, "{run}");
}

/// A server that fails this many times for whichever output is the second that it is asked about, without counting
/// tokens for the failures; with the folder of a suite that tries once more.
fn failing(times: usize) -> (ModelServer, Folder) {
    let first = OnceLock::new();
    let second = OnceLock::new();
    let failed = AtomicUsize::new(0);
    let server = ModelServer::saying(move |asked| {
        let text = asked.text();
        if first.get_or_init(|| text.to_owned()) == text
            || second.get_or_init(|| text.to_owned()) != text
        {
            return "1".into();
        }
        if failed.fetch_add(1, SeqCst) < times { FAILS.into() } else { "1".into() }
    });
    let folder = folder(&server.base_url(), &["a", "b", "c"], ONE);
    let suite = fs::read_to_string(folder.path("suite.toml")).unwrap();
    folder.write("suite.toml", suite.replace("retries = 0", "retries = 1\nconcurrency = 1"));
    (server, folder)
}

#[test]
fn an_attempt_that_fails_and_counts_no_tokens_costs_as_much_as_the_dearest_question_and_ends_no_budget()
 {
    // The question is answered when it is tried again, or not even then.
    for (times, scored, code) in [(1, "3", 0), (2, "2", 1)] {
        let (server, folder) = failing(times);
        let run = sh(&folder, &format!("{RUN} -j 1 --judge-budget usd=1"));
        assert_eq!((run.code, server.asked().len()), (Some(code), 4), "{run}");
        let count = "SELECT count(*) FROM scores WHERE status = 'scored'";
        assert_eq!(folder.rows(count), [scored], "{run}");
        // Its cost, including its attempts, is unknown.
        let unknown = "SELECT count(*) FROM calls WHERE cost_usd IS NULL";
        assert_eq!(folder.rows(unknown), [(2 - times).to_string()], "{run}");
    }
    // Each answer costs 16 millionths of a dollar: two of them and a failure take 48.
    let (server, folder) = failing(1);
    let run = sh(&folder, &format!("{RUN} -j 1 --judge-budget usd=0.000048")).exits_with(1);
    let spent = "0.000048 US dollars are spent, of a budget of 0.000048; 0.000016 of them are what failed attempts may have cost, for each question as much as the dearest one";
    assert!(run.stderr.contains(spent), "{run}");
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn vectors_are_priced_by_the_tokens_of_their_texts() {
    let server = ModelServer::saying(|_| "1".into());
    let entries = entry("vectors", "{ how = \"embed\", times = 2 }");
    let folder = folder(&server.base_url(), &["a", "b", "c"], &entries);
    let run = sh(&folder, &format!("{RUN} --judge-budget usd=1"));
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(folder.rows("SELECT DISTINCT cost_usd FROM calls"), ["0.000003"]);
}

#[test]
fn a_budget_of_money_needs_the_price_of_every_judge_that_is_asked() {
    let entries = format!(
        "{ONE}judge = {{ budget = {{ cost_usd = 1.0 }} }}\njury = {{ judges = [\"default\", \"free\"] }}\n\
         [judges.free]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"tiny\"\n"
    );
    let folder = folder("http://127.0.0.1:9/v1", &["a"], &entries);
    let run = sh(&folder, RUN);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("a budget in US dollars needs the `price` of the judge `free`"),
        "{run}"
    );
    assert!(run.stderr.contains("suite.toml:"), "{run}");
}

#[test]
fn what_a_refusal_consumes_counts_in_the_budget_and_is_said() {
    let server = ModelServer::saying(|_| REFUSES.into());
    // A refusal costs as much as an answer.
    let entries = format!("{ONE}judge = {{ budget = {{ cost_usd = 0.00004 }} }}\n");
    let outputs: Vec<String> = (0..20).map(|number| format!("case {number}")).collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let folder = folder(&server.base_url(), &outputs, &entries);
    let run = sh(&folder, RUN);
    assert_eq!(server.asked().len(), 3, "{run}");
    let said = "3 questions have no answer, after 3 attempts that took 36 tokens of questions and 6 of answers, $0.000048";
    assert!(run.stderr.contains(said), "{run}");
}

/// The server accepts response formats and ignores them, so the first question is asked with a schema and in words,
/// with two requests for a greeting in between.
#[test]
fn what_finding_out_a_servers_forms_consumes_is_counted() {
    let server = ModelServer::saying(|asked| match asked.body["messages"][0]["content"].as_str() {
        Some(system) if system.contains("JSON Schema") => {
            r#"{"answer": "yes", "reason": "", "score": 1}"#.into()
        }
        _ => "Well, hello!".into(),
    });
    let entries = "[scorers.relevancy]\ngrants = [\"judge\"]\n";
    let folder = folder(&server.base_url(), &[], entries);
    let cases = ["a", "b"].map(|output| json!({"id": output, "input": "a?", "output": output}));
    folder.write("cases.jsonl", cases.map(|case| format!("{case}\n")).concat());
    let run = sh(&folder, &format!("{RUN} -j 1 --format json"));
    assert_eq!(run.code, Some(0), "{run}");
    let asked = server.asked().len();
    assert!(asked > 3);
    // An answer costs 12 and 2 tokens.
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    let figures = ["calls", "inputTokens", "outputTokens"].map(|it| &summary["judges"][0][it]);
    assert_eq!(json!(figures), json!([2, 12 * asked, 2 * asked]));

    let checked = sh(&folder, "scorebox judges check suite.toml --format json").json();
    let figures = ["attempts", "structured", "inputTokens", "outputTokens", "costUsd"];
    let figures = figures.map(|figure| &checked[0][figure]);
    assert_eq!(json!(figures), json!([4, true, 48, 8, 0.000_064]));
}
