//! Scorers that ask judges, in `run`, `verify`, `calls` and `judges check`: what is asked, what is stored, and how
//! failures affect a score. Uses a real server of OpenAI's protocol on the loopback interface.

use std::{collections::HashMap, fs, io, net::TcpListener, thread};

use serde_json::{Value, json};

use crate::{
    fixture::Folder,
    judge_fixture::{KEY, ONE, RUN, entry, folder, rows, sh, suite},
    model_server::{Asked, ModelServer},
};

#[test]
fn a_judged_run_replays_without_a_key_and_verifies_and_the_key_is_nowhere() {
    let server = ModelServer::saying(|asked| format!("0.{}", asked.text().len() % 10));
    let entries = [
        ONE.to_owned(),
        entry("samples", "{ how = \"together\", times = 3 }"),
        entry("chain", "{ times = 2 }"),
        entry("vectors", "{ how = \"embed\", times = 2 }"),
    ];
    let folder = folder(&server.base_url(), &["a", "abc"], &entries.concat());
    let run = sh(&folder, &format!("{RUN} --events events.jsonl"));
    assert_eq!(run.code, Some(0), "{run}");
    let (_, judges) = run.stdout.split_once("\n\n").unwrap();
    let answers: Vec<_> = judges.lines().map(|line| line.split_whitespace().nth(1)).collect();
    // In the heading, `judge of` is two words.
    assert_eq!(answers, [Some("of"), Some("2"), Some("6"), Some("4"), Some("2")], "{run}");
    let first = rows(&folder);
    assert_eq!(first[2..4], ["one c0 scored 0.1 -", "one c1 scored 0.3 -"], "{first:?}");
    // `one`, the first of the samples and the first of the chain ask the same question.
    let asked = server.asked();
    assert_eq!(asked.len(), 2 * (3 + 1 + 1));
    assert!(asked.iter().all(|asked| asked.authorization() == Some(&format!("Bearer {KEY}"))));
    assert!(asked.iter().all(|asked| asked.body["model"] == "tiny"));

    drop(server);
    let replayed = folder.sh(&format!("{RUN} --judge-cache only"));
    assert_eq!(replayed.code, Some(0), "{replayed}");
    assert_eq!(rows(&folder), first);
    let verified = folder.sh("scorebox verify");
    assert_eq!(verified.code, Some(0), "{verified}");
    assert!(verified.stderr.contains("8 verified") || verified.stdout.contains("8"), "{verified}");

    let written = ["scorebox.db", "scorebox.db-wal", "events.jsonl"];
    let stored = written.iter().filter_map(|name| fs::read(folder.path(name)).ok()).flatten();
    let stored: Vec<u8> = stored.collect();
    let key = KEY.as_bytes();
    assert!(!stored.windows(key.len()).any(|bytes| bytes == key));
    for output in [run, replayed, verified] {
        assert!(!format!("{}{}", output.stdout, output.stderr).contains(KEY));
    }
}

#[test]
fn an_answer_that_is_not_recorded_is_named_and_no_connection_is_opened() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let folder = folder(&format!("http://{}/v1", server.local_addr().unwrap()), &["a"], ONE);
    let run = folder.sh(&format!("{RUN} --judge-cache only"));
    assert_eq!(run.code, Some(1), "{run}");
    assert_eq!(rows(&folder), ["one c0 error - judge-not-recorded"]);
    assert!(run.stderr.contains("the answer of `tiny` to call"), "{run}");
    let connected = server.accept();
    assert_eq!(connected.unwrap_err().kind(), io::ErrorKind::WouldBlock);

    // Without the option the run connects, which the listener notices.
    server.set_nonblocking(false).unwrap();
    let connection = thread::spawn(move || drop(server.accept().unwrap()));
    sh(&folder, RUN).exits_with(1);
    connection.join().unwrap();
}

#[test]
fn trouble_of_a_judge_is_never_a_number() {
    let server = ModelServer::answering(|asked| match asked.text() {
        "busy" => (503, "come back later".into()),
        "content" => (400, "this is not answered".into()),
        _ => (200, "1".into()),
    });
    // The scorer gives 1 whatever the answer is.
    let entries = entry("deaf", "{ how = \"deaf\" }");
    let folder = folder(&server.base_url(), &["busy", "content", "good"], &entries);
    let run = sh(&folder, RUN);
    assert_eq!(run.code, Some(1), "{run}");
    let expected = [
        "deaf c0 error - judge-unavailable",
        "deaf c1 error - judge-refused",
        "deaf c2 scored 1 -",
    ];
    assert_eq!(rows(&folder), expected, "{run}");
    assert!(run.stderr.contains("come back later"), "{run}");
    let (_, judges) = run.stdout.split_once("\n\n").unwrap();
    insta::assert_snapshot!(judges, @r"
    judge of  answers  tokens in  tokens out       cost  unanswered
    deaf            1         12           2  $0.000016           2
    ");
}

/// The judge prefers the first response, whatever it contains.
#[test]
fn ties_disagreements_and_unreadable_answers_are_counted_by_scorer() {
    let server = ModelServer::saying(|asked| match asked.body["messages"].to_string() {
        text if text.contains("UNCLEAR") => "I would rather not say.".into(),
        text if text.contains("EQUAL") => r#"{"reason": "", "choice": "tie"}"#.into(),
        _ => r#"{"reason": "", "choice": "first"}"#.into(),
    });
    let of = |name: &str, config: &str| {
        format!("[scorers.{name}]\nuse = \"pairwise\"\ngrants = [\"judge\"]\nconfig = {config}\n")
    };
    let entries = of("strict", "{}") + &of("zero", "{ unreadable = \"zero\" }");
    let folder = folder(&server.base_url(), &[], &entries);
    let cases = ["EQUAL", "UNCLEAR", "better"].map(|output| {
        json!({"id": output, "input": "Say something.", "output": output, "baseline": "other"})
    });
    folder.write("cases.jsonl", cases.map(|case| format!("{case}\n")).concat());
    let run = sh(&folder, &format!("{RUN} --format json"));
    assert_eq!(run.code, Some(1), "{run}");
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    let figures = ["calls", "unreadable", "unanswered", "ties", "disagreements"];
    let judges = summary["judges"].as_array().unwrap();
    let judges: Vec<_> = judges.iter().map(|judge| figures.map(|figure| &judge[figure])).collect();
    // Both orders of three cases, and a repair question after each unreadable answer.
    assert_eq!(json!(judges), json!([[8, 1, 0, 1, 1], [8, 1, 0, 1, 1]]));
}

#[test]
fn a_scorer_names_only_the_models_that_its_entry_allows() {
    let server = ModelServer::saying(|_| "1".into());
    let config = "{ model = \"huge\" }";
    let allowed = format!("{}judge = {{ models = [\"huge\"] }}\n", entry("allowed", config));
    let folder = folder(&server.base_url(), &["a"], &allowed);
    let run = sh(&folder, RUN);
    assert_eq!(rows(&folder), ["allowed c0 scored 1 -"], "{run}");
    let models: Vec<Value> =
        server.asked().iter().map(|asked| asked.body["model"].clone()).collect();
    assert_eq!(models, ["huge"]);
    let verified = folder.sh("scorebox verify");
    let based = "allowed is based on answers of judge `default`: `huge` (openai at http://";
    assert!(verified.stderr.contains(based), "{verified}");
}

#[test]
fn a_model_that_a_configuration_may_not_name_is_found_before_anything_is_asked() {
    let server = ModelServer::saying(|_| "1".into());
    let greedy = entry("greedy", "{ model = \"huge\" }");
    let other =
        format!("{}judge = {{ models = [\"large\"] }}\n", entry("other", "{ model = \"huge\" }"));
    let vectors = "[scorers.vectors]\nuse = \"answer-relevancy\"\ngrants = [\"judge\"]\nconfig.embeddingModel = \"wide\"\n";
    let folder = folder(&server.base_url(), &["a"], &format!("{greedy}{other}{vectors}"));
    let checked = sh(&folder, "scorebox suite check suite.toml");
    assert_eq!(checked.code, Some(2), "{checked}");
    for said in [
        "suite.toml:11:12: scorer `greedy`",
        "`model`: the scorer asks the model `huge`, and its entry allows it to name none",
        "judge = { models = [\"huge\"] }",
        "suite.toml:15:12: scorer `other`",
        "its entry allows: large",
        "judge = { models = [\"large\", \"huge\"] }",
        "`embeddingModel`: the scorer asks the model `wide`",
    ] {
        assert!(checked.stderr.contains(said), "{said}: {checked}");
    }
    let run = sh(&folder, RUN);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(server.asked().is_empty());
}

#[test]
fn a_model_that_is_asked_anyway_needs_no_leave() {
    let server = ModelServer::saying(|_| "1".into());
    let entries = [
        entry("same", "{ model = \"tiny\" }"),
        format!("{}judge = {{ model = \"huge\" }}\n", entry("named", "{ model = \"huge\" }")),
        format!("{}jury = {{ models = [\"x\", \"y\"] }}\n", entry("jury", "{ model = \"huge\" }")),
    ];
    let folder = folder(&server.base_url(), &["a"], &entries.concat());
    let checked = sh(&folder, "scorebox suite check suite.toml");
    assert_eq!(checked.code, Some(0), "{checked}");
}

#[test]
fn the_command_line_names_the_model_of_all_judges() {
    let server = ModelServer::saying(|_| "1".into());
    let entries = format!("{ONE}judge = {{ model = \"other\" }}\n");
    let folder = folder(&server.base_url(), &["a"], &entries);
    sh(&folder, RUN);
    sh(&folder, &format!("{RUN} --judge-model third"));
    let models: Vec<Value> =
        server.asked().iter().map(|asked| asked.body["model"].clone()).collect();
    assert_eq!(models, ["other", "third"]);
}

#[test]
fn attempts_at_a_case_have_answers_of_their_own() {
    let server = ModelServer::saying(|_| "1".into());
    let folder = folder(&server.base_url(), &[], ONE);
    let cases =
        [json!({"id": "c", "output": "a"}), json!({"id": "c", "output": "a", "attempt": 1})];
    folder.write("cases.jsonl", cases.map(|case| format!("{case}\n")).concat());
    let run = sh(&folder, RUN);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn what_is_asked_again_leaves_the_scores_that_stand_on_the_first_answer_verifiable() {
    let count = std::sync::atomic::AtomicU32::new(0);
    let server = ModelServer::saying(move |_| {
        let before = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        format!("0.{}", before + 1)
    });
    let folder = folder(&server.base_url(), &["a"], ONE);
    for options in ["--run-id first", "--run-id again --judge-cache refresh", "--run-id later"] {
        let run = sh(&folder, &format!("{RUN} {options}"));
        assert_eq!(run.code, Some(0), "{run}");
    }
    let scores = "SELECT run_id, score FROM scores ORDER BY 1";
    assert_eq!(folder.rows(scores), ["again | 0.2", "first | 0.1", "later | 0.2"]);
    assert_eq!(server.asked().len(), 2);
    for run in ["first", "again", "later"] {
        let verified = folder.sh(&format!("scorebox verify {run}"));
        assert_eq!(verified.code, Some(0), "{verified}");
    }
    // An answer that is changed in the file differs from the one on which the score is based.
    folder
        .database("scorebox.db")
        .execute("UPDATE calls SET reply_json = replace(reply_json, '0.1', '0.9')", [])
        .unwrap();
    let verified = folder.sh("scorebox verify first").exits_with(1);
    let digest = folder.rows("SELECT DISTINCT lower(hex(digest)) FROM score_calls").remove(0);
    let what = format!("answer to call {digest}");
    assert!(verified.stdout.contains(&what), "{verified}");
}

#[test]
fn what_is_reused_is_replayed_from_recordings_and_another_model_is_asked() {
    let server = ModelServer::saying(|asked| format!("0.{}", asked.text().len()));
    let folder = folder(&server.base_url(), &["a", "abc"], ONE);
    sh(&folder, &format!("{RUN} --run-id first")).exits_with(0);
    let first = rows(&folder);
    let reused = sh(&folder, &format!("{RUN} --run-id second --reuse"));
    assert_eq!(reused.code, Some(0), "{reused}");
    assert_eq!((rows(&folder), server.asked().len()), (first.clone(), 2));
    let same = "SELECT count(*) FROM score_calls a JOIN score_calls b USING (digest, reply_digest)
        WHERE a.case_key < b.case_key AND b.is_recorded";
    assert_eq!(folder.rows(same), ["2"]);
    sh(&folder, "scorebox verify second").exits_with(0);
    sh(&folder, &format!("{RUN} --run-id third --reuse --judge-model other")).exits_with(0);
    assert_eq!((rows(&folder), server.asked().len()), (first, 4));
}

#[test]
fn recordings_go_from_one_database_to_another_and_stand_for_a_judge() {
    let server = ModelServer::saying(|asked| format!("0.{}", asked.text().len()));
    let folder = folder(&server.base_url(), &["a", "abc"], ONE);
    sh(&folder, RUN);
    let exported = folder.sh("scorebox calls --format jsonl --limit 0 > calls.jsonl");
    assert_eq!(exported.code, Some(0), "{exported}");
    let first = rows(&folder);
    drop(server);

    let imported = folder.sh("scorebox calls --import calls.jsonl --db other.db");
    assert!(imported.stderr.contains("2 recordings imported"), "{imported}");
    let replayed = folder.sh(&format!("{RUN} --judge-cache only --db other.db"));
    assert_eq!(replayed.code, Some(0), "{replayed}");

    let again = folder.sh("scorebox calls --import calls.jsonl --db other.db").exits_with(0);
    assert_eq!(
        again.stderr,
        "2 recordings imported into other.db, 2 of which were already there\n"
    );

    let judge =
        "[judges.default]\nprovider = \"recorded\"\nfile = \"calls.jsonl\"\nmodel = \"tiny\"\n";
    folder.write("suite.toml", format!("{judge}{ONE}"));
    let recorded = folder.sh(RUN);
    assert_eq!(recorded.code, Some(0), "{recorded}");
    assert_eq!(rows(&folder), first);
}

#[test]
fn an_import_says_what_differs_and_takes_no_other_call() {
    let server = ModelServer::saying(|_| "0.5".into());
    let folder = folder(&server.base_url(), &["a"], ONE);
    sh(&folder, RUN);
    let lines = folder.sh("scorebox calls --format jsonl --limit 0").exits_with(0).stdout;
    folder.write("answer.jsonl", lines.replace("0.5", "0.7"));
    let differs = folder.sh("scorebox calls --import answer.jsonl").exits_with(0);
    assert_eq!(
        differs.stderr,
        "1 recording imported into scorebox.db\n\
         warning: 1 call has another answer in the database: the one that was given last is used\n"
    );
    folder.write("question.jsonl", lines.replace("\"tiny\"", "\"huge\""));
    let refused = folder.sh("scorebox calls --import question.jsonl").exits_with(2).stderr;
    assert!(
        refused.starts_with("error: question.jsonl:1: the call was changed: its digest is "),
        "{refused}"
    );
    // A file is imported completely or not at all.
    folder.write("half.jsonl", format!("{lines}\n{{\"half\": "));
    let half = folder.sh("scorebox calls --import half.jsonl --db half.db").exits_with(2).stderr;
    assert!(half.starts_with("error: half.jsonl:3: this is not a recording: EOF"), "{half}");
    assert!(half.contains("; nothing of the file is imported\n"), "{half}");
    let after = folder.sh("scorebox calls --import answer.jsonl --db half.db").exits_with(0);
    assert_eq!(after.stderr, "1 recording imported into half.db\n");
    // Other processes can write while an import waits for its input. A recording that the file has twice is imported
    // once.
    let line = "mkfifo slow.jsonl && { scorebox calls --import slow.jsonl --db slow.db & } && exec 3> slow.jsonl && \
                cat answer.jsonl answer.jsonl >&3 && scorebox calls --import answer.jsonl --db slow.db && exec 3>&- && wait";
    let slow = folder.sh(line).exits_with(0).stderr;
    let said = "1 recording imported into slow.db\n\
                1 recording imported into slow.db, 1 of which were already there\n";
    assert_eq!(slow, said);
    folder.write("cost.jsonl", lines.replace("\"costUsd\":", "\"costUsd\":-"));
    let refused = folder.sh("scorebox calls --import cost.jsonl").exits_with(2).stderr;
    assert!(
        refused.starts_with("error: cost.jsonl:1: `costUsd` must be 0 or more; found -"),
        "{refused}"
    );
}

#[test]
fn a_scorer_that_asked_no_judge_is_told_from_one_that_the_run_lacks() {
    let folder = Folder::new();
    folder.sh("scorebox run answers.jsonl -s numeric-answer -q --run-id r").exits_with(0);
    for format in ["table", "json"] {
        let line = format!("scorebox calls --scorer numeric-answers --format {format}");
        let unknown = folder.sh(&line).exits_with(2);
        let said = "error: the run `r` has no scorer `numeric-answers`\n\
                    hint: its scorers: numeric-answer\n";
        assert_eq!((unknown.stdout.as_str(), unknown.stderr.as_str()), ("", said));
    }
    let silent = folder.sh("scorebox calls --scorer numeric-answer --format json").exits_with(0);
    assert_eq!((silent.stdout.as_str(), silent.json()), ("[]\n", json!([])));
    assert_eq!(silent.stderr, "no answer of a judge is stored for `numeric-answer`\n");
    let all = folder.sh("scorebox calls").exits_with(0).stderr;
    assert_eq!(all, "no answer of a judge is stored\n");
}

#[test]
fn the_conversation_behind_a_score_is_shown() {
    let server = ModelServer::saying(|_| "0.5".into());
    let folder = folder(&server.base_url(), &["Is it?\u{1b}[31m"], ONE);
    sh(&folder, &format!("{RUN} --run-id r"));
    let shown = folder.sh("scorebox calls --score r:one:0:0:c0");
    assert!(shown.stdout.contains("user\n  Is it?"), "{shown}");
    assert!(shown.stdout.contains("answer of tiny-2026\n  0.5\n"), "{shown}");
    assert!(!shown.stdout.contains('\u{1b}'), "{shown}");
    let unknown = folder.sh("scorebox calls --score r:one:0:0:c9");
    assert_eq!(unknown.code, Some(2), "{unknown}");
    let listed = folder.sh("scorebox calls --format json").json();
    assert_eq!((&listed[0]["caseId"], &listed[0]["scorerId"]), (&json!("c0"), &json!("one")));
    assert_eq!(listed[0]["question"]["messages"][0]["role"], "user");
}

#[test]
fn each_judge_of_a_suite_is_asked_once_to_check_it() {
    let server = ModelServer::saying(|_| r#"{"answer": "yes"}"#.into());
    let other = "[judges.away]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nretries = 0\n";
    let folder = folder(&server.base_url(), &[], &format!("{other}{ONE}"));
    let checked = sh(&folder, "scorebox judges check suite.toml --format json");
    assert_eq!(checked.code, Some(1), "{checked}");
    let judges = checked.json();
    assert_eq!(judges[0]["judge"], "away");
    assert!(judges[0]["error"].is_string(), "{checked}");
    assert_eq!((&judges[1]["judge"], &judges[1]["structured"]), (&json!("default"), &json!(true)));
    assert_eq!(judges[1]["costUsd"], 0.000_016);
    assert!(!fs::exists(folder.path("scorebox.db")).unwrap());
}

#[test]
fn a_judge_that_answers_without_a_text_does_not_pass_its_check() {
    let server = ModelServer::saying(|_| " \n".into());
    let folder = folder(&server.base_url(), &[], ONE);
    let checked = sh(&folder, "scorebox judges check suite.toml --format json").exits_with(1);
    let judge = &checked.json()[0];
    assert_eq!(judge["error"], "it answered without a text", "{checked}");
    assert!(judge["structured"].is_null() && judge["inputTokens"].is_number(), "{checked}");
}

#[test]
fn a_model_for_vectors_is_asked_to_check_it() {
    let server = ModelServer::saying(|_| r#"{"answer": "yes"}"#.into());
    let other = "embedding_model = \"vectors\"\n";
    let folder = folder(&server.base_url(), &[], &format!("{other}{ONE}"));
    let checked = sh(&folder, "scorebox judges check suite.toml --format json").exits_with(0);
    let of = |line: &Value| {
        let figures = ["judge", "model", "structured", "inputTokens", "costUsd"];
        json!(figures.map(|figure| &line[figure]))
    };
    let lines: Vec<Value> = checked.json().as_array().unwrap().iter().map(of).collect();
    assert_eq!(
        json!(lines),
        json!([
            ["default", "tiny-2026", true, 12, 0.000_016],
            ["default", "vectors-2026", null, 3, 0.000_003]
        ])
    );
}

/// The suite is for including or for naming a judge from it; it has nothing to run.
#[test]
fn a_file_of_judges_alone_names_them_to_a_scorer_and_is_no_suite_to_run() {
    let folder = Folder::new();
    let answer = r#"{"reason": "so", "score": 1}"#;
    let command = json!(["sh", "-c", format!("cat > /dev/null; echo '{answer}'")]);
    let judge = format!("[judges.default]\nprovider = \"command\"\ncommand = {command}\n");
    folder.write("judges.toml", &judge);
    let score =
        "scorebox score relevancy --grant judge --input '\"Where?\"' --output-text There --judges";
    let scored = folder.sh(&format!("{score} judges.toml")).exits_with(0);
    assert_eq!(scored.json()["status"], "scored", "{scored}");
    folder.sh("scorebox judges check judges.toml").exits_with(0);
    folder.write("all.toml", "include = [\"judges.toml\"]\n");
    folder.sh("scorebox judges check all.toml").exits_with(0);

    let refused = folder.sh("scorebox suite show judges.toml").exits_with(2);
    assert_eq!(
        refused.stderr,
        "error: `judges.toml` names no scorer\n\
         hint: a suite has one: `[scorers.NAME]`; what takes a file of judges alone is `score --judges FILE` and `judges check FILE`\n"
    );
    folder.write("wrong.toml", judge.replace("command =", "comand ="));
    for command in [&format!("{score} wrong.toml"), "scorebox judges check wrong.toml"] {
        let refused = folder.sh(command).exits_with(2);
        assert!(
            refused.stderr.contains("wrong.toml:3:1") && refused.stderr.contains("`comand`"),
            "{refused}"
        );
    }
    folder.write("none.toml", "name = \"none\"\n");
    let refused = folder.sh("scorebox judges check none.toml").exits_with(2);
    assert!(refused.stderr.starts_with("error: none.toml describes no judge\n"), "{refused}");
}

#[test]
fn what_a_scorer_asks_is_bounded_and_valid() {
    let server = ModelServer::saying(|_| "1".into());
    let entries = [
        entry("endless", "{ how = \"together\", times = 257 }"),
        entry("silent", "{ how = \"empty\" }"),
    ];
    let folder = folder(&server.base_url(), &["a"], &entries.concat());
    let run = sh(&folder, RUN);
    assert_eq!(rows(&folder), ["endless c0 error - failed", "silent c0 error - failed"], "{run}");
    assert!(run.stderr.contains("more than 256 questions for one case"), "{run}");
    assert!(
        run.stderr.contains("what the scorer asks the judge is not valid: 0 messages"),
        "{run}"
    );
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn a_scorer_that_computes_without_end_after_an_answer_is_stopped() {
    let server = ModelServer::saying(|_| "1".into());
    let entries =
        format!("{}limits = {{ fuel = 100_000_000 }}\n", entry("spins", "{ how = \"spin\" }"));
    let folder = folder(&server.base_url(), &["a"], &entries);
    sh(&folder, RUN);
    assert_eq!(rows(&folder), ["spins c0 error - out-of-fuel"]);
}

#[test]
fn what_is_missing_is_said_before_the_first_score() {
    let server = ModelServer::saying(|_| "1".into());
    let url = server.base_url();
    let folder = folder(&url, &["a"], "[scorers.one]\nuse = \"./asker.wasm\"\n");
    let refused = |entries: &str, line: &str| {
        suite(&folder, &url, entries);
        let run = folder.sh(line);
        assert_eq!(run.code, Some(2), "{run}");
        run.stderr
    };
    let not_granted = refused("[scorers.one]\nuse = \"./asker.wasm\"\n", RUN);
    assert!(not_granted.contains("grants = [\"judge\"]"), "{not_granted}");
    let no_key = refused(ONE, RUN);
    assert!(no_key.contains("the environment variable `THE_KEY` has no value"), "{no_key}");
    let unknown = refused(&format!("{ONE}judge = \"defualt\"\n"), RUN);
    assert!(unknown.contains("no judge is called `defualt`"), "{unknown}");
    assert!(unknown.contains("did you mean `default`?"), "{unknown}");
    let while_configured = entry("early", "{ while_configured = true }");
    let early = refused(&while_configured, &format!("THE_KEY=k {RUN}"));
    assert!(early.contains("there is none that it may ask"), "{early}");
    folder.write("suite.toml", ONE);
    let none = folder.sh(RUN);
    assert!(none.stderr.contains("the judge `default`, which is not configured"), "{none}");
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn a_run_that_is_killed_asks_again_at_most_what_was_under_way() {
    const CASES: usize = 400;
    // Scores that ask at the same time: twice as many as calls.
    const UNDER_WAY: usize = 32;
    let server = ModelServer::saying(|_| "1".into());
    let outputs: Vec<String> = (0..CASES).map(|number| format!("case {number}")).collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let folder = folder(&server.base_url(), &outputs, ONE);
    let times_asked = || {
        let mut times: HashMap<String, usize> = HashMap::new();
        server.asked().iter().for_each(|it| *times.entry(it.text().to_owned()).or_default() += 1);
        times
    };
    let mut answered: HashMap<String, usize> = HashMap::new();
    let kills = [CASES / 4, CASES / 2, CASES * 3 / 4];
    for (kill, most_asked) in kills.into_iter().enumerate() {
        let run = if kill == 0 { "--run-id r" } else { "--resume r" };
        let line = format!("exec scorebox run suite.toml cases.jsonl -q {run}");
        let mut run = folder.shell(&line).env("THE_KEY", KEY).spawn().unwrap();
        while server.asked().len() < most_asked {
            std::thread::yield_now();
        }
        run.kill().unwrap();
        run.wait().unwrap();
        let times = times_asked();
        for question in folder.rows("SELECT call_json -> '$.question.messages[0].text' FROM calls")
        {
            let question: String = serde_json::from_str(&question).unwrap();
            let times = times[&question];
            answered.entry(question).or_insert(times);
        }
    }
    let resumed = sh(&folder, "scorebox run suite.toml cases.jsonl -q --resume r");
    assert_eq!(resumed.code, Some(0), "{resumed}");
    let counted = "SELECT count(*), count(DISTINCT case_id) FROM scores WHERE score = 1";
    assert_eq!(folder.rows(counted), [format!("{CASES} | {CASES}")]);
    assert_eq!(folder.rows("SELECT count(*) FROM calls"), [CASES.to_string()]);
    // The questions that were answered before the kill were then asked as often as in the end.
    let in_the_end = times_asked();
    assert!(answered.len() >= kills[2] - kills.len() * UNDER_WAY, "{}", answered.len());
    for (question, times) in &answered {
        assert_eq!(in_the_end[question], *times, "{question}");
    }
    let again = in_the_end.values().sum::<usize>() - CASES;
    assert!(again <= kills.len() * UNDER_WAY, "{again}");
}

/// The server repeats the key in its answers and errors.
#[test]
fn a_key_that_a_server_repeats_is_in_nothing_that_is_written_or_shown() {
    let repeated = |asked: &Asked| asked.authorization().unwrap_or_default().to_owned();
    let server = ModelServer::answering(move |asked| match asked.text() {
        "refuse" => (401, format!("not with {}", repeated(asked))),
        "fail" => (500, repeated(asked)),
        _ => (200, repeated(asked)),
    });
    let readable = "[scorers.relevancy]\ngrants = [\"judge\"]\n";
    let folder =
        folder(&server.base_url(), &["refuse", "fail", "say"], &format!("{ONE}{readable}"));
    let reports = ["jsonl", "csv", "junit", "markdown"];
    let reports = reports.map(|format| format!(" --report {format}={format}.txt"));
    let run = format!("{RUN} --run-id r --events events.jsonl{}", reports.concat());
    let lines = [
        &*run,
        "scorebox run suite.toml cases.jsonl --run-id again",
        "scorebox scores r --limit 0 --format jsonl",
        "scorebox cases r --format json",
        "scorebox show c2 --run r",
        "scorebox calls r --limit 0 --format jsonl",
        "scorebox calls --score r:one:0:0:c2",
        "scorebox verify r",
        "scorebox suite show suite.toml --format json",
        "scorebox judges check suite.toml",
        "scorebox score ./asker.wasm --grant judge --judges suite.toml --output-text say --format json",
        "scorebox live suite.toml < cases.jsonl",
    ];
    let key = KEY.as_bytes();
    let mut shown = 0;
    for line in lines {
        let output = sh(&folder, line);
        shown += output.stdout.len();
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(!all.contains("unexpected argument"), "{line}: {output}");
        assert!(!all.contains(KEY), "{line}: {output}");
    }
    assert!(shown > 1000);
    let sent = server.asked();
    assert!(
        !sent.is_empty()
            && sent.iter().all(|it| it.authorization() == Some(&format!("Bearer {KEY}")))
    );
    let files: Vec<_> =
        fs::read_dir(folder.path("")).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(files.iter().any(|file| file.ends_with("events.jsonl")), "{files:?}");
    for file in files.iter().filter(|file| file.is_file()) {
        let bytes = fs::read(file).unwrap();
        assert!(!bytes.windows(key.len()).any(|part| part == key), "{}", file.display());
    }
    let concealed = "SELECT count(*) > 0 FROM calls WHERE reply_json LIKE '%[key]%'";
    assert_eq!(folder.rows(concealed), ["1"]);
}
