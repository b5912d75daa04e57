//! Python scripts that ask a judge, as a user runs them, with a real server of OpenAI's protocol on the loopback
//! interface. They need the component of `scorebox toolchain add python`, and report that they were skipped without it.

use insta::assert_snapshot;
use serde_json::json;

use crate::{
    command_python::with_python,
    command_script_judges::reads_answers,
    fixture::Folder,
    judge_fixture::{RUN, rows, sh, suite},
    model_server::ModelServer,
};

const POLITE: &str = r#"
from lib.questions import question
from scorebox.judge import ask


def score(case, config):
    answer = ask(**question(case))
    return {"score": answer.json()["score"], "reason": answer.text, "meta": vars(answer)}


info = {"reads": ["input"]}
"#;
const QUESTIONS: &str = r#"
def question(case):
    return {
        "prompt": f"Question: {case['input']}\nAnswer: {case['output']}",
        "system": "You judge whether an answer is polite.",
        "schema": {"type": "object", "properties": {"score": {"type": "number"}}},
        "temperature": 0,
        "max_output_tokens": 50,
    }
"#;

/// The folder with a suite of one script, and a case for each output.
fn filled(folder: Folder, server: &ModelServer, name: &str, script: &str) -> Folder {
    folder.write(name, script);
    let cases = ["gladly", "rude"]
        .map(|output| format!("{}\n", json!({"id": output, "input": "Why?", "output": output})));
    folder.write("cases.jsonl", cases.concat());
    suite(&folder, &server.base_url(), &entry(name));
    folder
}

fn entry(file: &str) -> String {
    format!("[scorers.one]\nuse = \"./{file}\"\ngrants = [\"judge\"]\n")
}

#[test]
fn a_script_asks_a_judge_and_its_run_verifies_without_the_script_and_the_server() {
    let Some(folder) = with_python() else { return };
    let server = ModelServer::saying(|asked| match asked.text().contains("rude") {
        true => "{\"score\": 0}".into(),
        false => "{\"score\": 0.75}".into(),
    });
    let folder = filled(folder, &server, "polite.py", POLITE);
    std::fs::create_dir(folder.path("lib")).unwrap();
    folder.write("lib/questions.py", QUESTIONS);
    sh(&folder, RUN).exits_with(3);
    assert_eq!(rows(&folder), ["one gladly scored 0.75 -", "one rude scored 0 -"]);
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    let body = &asked.iter().find(|asked| asked.text().contains("gladly")).unwrap().body;
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "You judge whether an answer is polite."},
            {"role": "user", "content": "Question: Why?\nAnswer: gladly"},
        ])
    );
    assert_eq!((&body["temperature"], &body["max_tokens"]), (&json!(0.0), &json!(50)));
    let metas = folder.rows("SELECT meta_json FROM scores ORDER BY case_id");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&metas[0]).unwrap(),
        json!({
            "text": "{\"score\": 0.75}", "truncated": false, "model": "tiny-2026",
            "usage": {"inputTokens": 12, "outputTokens": 2, "costUsd": 0.000016},
        })
    );
    folder.sh("scorebox build polite.py").exits_with(0);
    let inspected = folder.sh("scorebox inspect ./polite.wasm --grant judge --format json");
    assert_eq!(inspected.exits_with(0).json()["grants"], json!(["judge"]));

    std::fs::remove_file(folder.path("polite.py")).unwrap();
    drop(server);
    let verified = folder.sh("scorebox verify").exits_with(0);
    assert!(verified.stderr.contains("2 verified, 0 different"), "{verified}");
}

#[test]
fn several_questions_are_asked_together_and_texts_have_vectors() {
    let Some(folder) = with_python() else { return };
    let server = ModelServer::saying(|asked| asked.text().len().to_string());
    let script = r#"
from scorebox.judge import ask_all, embed


def score(case, config):
    messages = [{"role": "user", "text": "b"}, {"role": "assistant", "text": "c"}, {"role": "user", "text": "dd"}]
    answers = ask_all(["a", {"messages": messages}, {"prompt": "a", "sample": 1}])
    vectors = embed(["one", "three"])
    same = len(vectors[0]) == len(vectors[1]) and all(type(number) is float for number in vectors[0])
    return {"score": same, "meta": [[answer.text for answer in answers], len(vectors), ask_all([]), embed([])]}
"#;
    let folder = filled(folder, &server, "several.py", script);
    sh(&folder, RUN).exits_with(0);
    assert_eq!(
        folder.rows("SELECT DISTINCT score, meta_json FROM scores"),
        [r#"1 | [["1","2","1"],2,[],[]]"#]
    );
}

#[test]
fn the_json_of_an_answer_is_the_one_that_other_scripts_read() {
    let Some(folder) = with_python() else { return };
    let script = "from scorebox.judge import ask\n\n\n\
                  def score(case, config):\n    return {\"score\": 1, \"meta\": ask(case[\"output\"]).json()}\n";
    reads_answers(&folder, "reads.py", script);
}

#[test]
fn only_a_script_that_imports_the_module_needs_the_grant() {
    let Some(folder) = with_python() else { return };
    folder.write("asks.py", "from scorebox import judge\ndef score(case, config): return 1\n");
    let missing = folder.sh("scorebox score asks.py --output 1").exits_with(2);
    assert!(missing.stderr.contains("missing-grant: it asks a judge"), "{missing}");
    folder.write(
        "computed.py",
        "import importlib\ndef score(case, config): return importlib.import_module('scorebox' + '.judge')\n",
    );
    let computed = folder.sh("scorebox score computed.py --output 1").exits_with(1);
    assert_eq!(
        computed.json()["error"]["message"],
        "computed.py:2:33: ModuleNotFoundError: there is no module `scorebox`; a script that asks a judge has \
         `from scorebox.judge import ask` written out"
    );
    std::fs::create_dir(folder.path("scorebox")).unwrap();
    folder.write("scorebox/judge.py", "def ask(question): return 1\n");
    folder.write(
        "own.py",
        "from scorebox.judge import ask\ndef score(case, config): return ask(1)\n",
    );
    folder.sh("scorebox score own.py --output 1").exits_with(0);
}

#[test]
fn an_invalid_question_is_an_exception_and_a_missing_answer_ends_the_score() {
    let Some(folder) = with_python() else { return };
    let server = ModelServer::saying(|_| "1".into());
    let functions = [
        ("nothing", "judge.ask()"),
        ("number", "judge.ask(7)"),
        ("both", "judge.ask('x', messages=[])"),
        ("unknown", "judge.ask('x', content='y')"),
        ("role", "judge.ask(messages=[{'role': 'system', 'text': 'x'}])"),
        ("tokens", "judge.ask('x', max_output_tokens=1.5)"),
        ("half", "judge.ask('\\ud800')"),
        ("second", "judge.ask_all(['x', None])"),
        ("texts", "judge.embed('x')"),
        ("noone", "never(lambda: judge.ask(messages=[]))"),
        ("model", "never(lambda: judge.ask('x', model='the-most-expensive'))"),
        ("unreadable", "never(lambda: judge.unreadable('it says nothing'))"),
        ("why", "never(lambda: judge.unreadable(5))"),
        ("prose", "judge.Answer('I would rather not.', False, 'x', {}).json()"),
        ("cut", "judge.Answer('1', True, 'x', {}).json()"),
        ("endless", "[judge.ask(f'x {n}') for n in range(10**9)]"),
        ("pollution", "polluted()"),
    ];
    let mut script = String::from(
        "from scorebox import judge\nimport json\n\n\
         def never(ask):\n    try:\n        ask()\n    except BaseException:\n        pass\n    return 1\n\n\
         def polluted():\n    judge.request = judge.json = None\n    json.dumps = json.JSONEncoder.encode = lambda *_: 'another'\n    \
         return judge.ask('x', schema={'type': 'object'}).json() == 1\n\nall = {\n",
    );
    for (name, expression) in functions {
        script.push_str(&format!("    {name:?}: lambda: {expression},\n"));
    }
    script.push_str("}\n\ndef score(case, config):\n    return all[case['output']]()\n");
    let folder = filled(folder, &server, "hostile.py", &script);
    let end = |(name, _): (&str, &str)| {
        // Long enough that all questions of `endless` are asked, even on a busy machine.
        let line = "scorebox score hostile.py --grant judge --judges suite.toml --timeout 2min --output-text";
        let answer = sh(&folder, &format!("{line} {name}")).json();
        let error = &answer["error"];
        match (error["kind"].as_str(), error["message"].as_str()) {
            (Some(kind), message) => format!("{name}: {kind}: {}", message.unwrap_or_default()),
            _ => format!("{name}: {}", answer["score"]),
        }
    };
    let endings: Vec<String> = functions.into_iter().map(end).collect();
    assert_snapshot!(endings.join("\n"), @r#"
    nothing: failed: hostile.py:17:24: TypeError: the question has neither `prompt` nor `messages`
    number: failed: hostile.py:18:23: TypeError: `prompt` is an int, not a str
    both: failed: hostile.py:19:21: TypeError: the question has both `prompt` and `messages`
    unknown: failed: hostile.py:20:24: TypeError: the question has the unknown key `content`; the keys are `prompt`, `system`, `messages`, `schema`, `model`, `temperature`, `max_output_tokens`, `sample`
    role: failed: hostile.py:21:21: TypeError: `messages[0]['role']` is 'system'; it must be 'user' or 'assistant'
    tokens: failed: hostile.py:22:23: TypeError: `max_output_tokens` is 1.5; it must be a whole number from 0
    half: failed: hostile.py:23:21: ValueError: `prompt` has half of a surrogate pair
    second: failed: hostile.py:24:23: TypeError: `questions[1]` is None, not a str or a dict
    texts: failed: hostile.py:25:22: TypeError: `texts` is a str, not a list
    noone: failed: what the scorer asks the judge is not valid: 0 messages; allowed: 1 to 1000
    model: judge-refused: the scorer asks the model `the-most-expensive`, and its entry allows it to name none: see `models` of its `judge`
    unreadable: judge-unreadable: it says nothing
    why: judge-unreadable: `why` is an int, not a str
    prose: judge-unreadable: JSON was expected, but the answer has none; it begins with 'I would rather not.'
    cut: judge-unreadable: JSON was expected, but the answer has none; it begins with '1'
    endless: failed: the scorer asks a judge more than 256 questions for one case
    pollution: 1.0
    "#);
    assert!(server.asked().iter().all(|asked| !asked.body.to_string().contains("another")));
}

#[test]
fn no_judge_is_asked_while_a_script_is_executed_or_sums_up() {
    let Some(folder) = with_python() else { return };
    let server = ModelServer::saying(|_| "1".into());
    let early = "from scorebox.judge import ask\nanswer = ask(\"Now?\")\ndef score(case, config): return 1\n";
    let folder = filled(folder, &server, "early.py", early);
    assert_snapshot!(sh(&folder, RUN), @r#"
    [stderr]
    error: suite.toml:8:10: scorer `one` (./early.py): invalid-script: early.py:2:10: RuntimeError: `ask` is called where no case is scored; a judge is asked in the function that scores one
        answer = ask("Now?")
                 ^
    [exit code 2]
    "#);
    let late = "from scorebox.judge import ask\ndef score(case, config): return 1\ndef summarize(scores): return ask('Still?').text\n";
    folder.write("late.py", late);
    suite(&folder, &server.base_url(), &entry("late.py"));
    let late = sh(&folder, RUN);
    assert!(
        late.stdout.contains("RuntimeError: `ask` is called where no case is scored"),
        "{late}"
    );
    assert_eq!(server.asked().len(), 0);
}
