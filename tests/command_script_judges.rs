//! Scripts that ask a judge, as a user runs them, with a real server of OpenAI's protocol on the loopback interface.
//! `command_script` tests other properties of scripts, `command_judges` those of judges.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    fixture::Folder,
    judge_fixture::{RUN, rows, sh, suite},
    model_server::ModelServer,
};

const POLITE_JS: &str = r#"
import { ask } from "scorebox:judge";
export const info = { reads: ["input"] };
export default async function score(input) {
  const answer = await ask({
    system: "You judge whether an answer is polite.",
    prompt: `Question: ${input.input}\nAnswer: ${input.output}`,
    schema: { type: "object", properties: { score: { type: "number" } } },
    temperature: 0,
    maxOutputTokens: 50,
  });
  return { score: answer.json().score, reason: answer.text, meta: answer };
}
"#;
const POLITE_TS: &str = r#"
import type { Case, Result } from "./scorebox";
import { ask, type Answer } from "scorebox:judge";
import { questions } from "./questions";
export default (input: Case): Result => {
  const [first, second]: Answer[] = questions(input.output as string).map(ask);
  return Number(first.text) * Number(second.text);
};
"#;
const QUESTIONS_TS: &str =
    "export const questions = (text: string): string[] => [`first ${text}`, `second ${text}`];\n";

/// A folder with a suite of one script, and a case for each output.
fn folder(server: &ModelServer, name: &str, script: &str, outputs: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.write(name, script);
    let cases = outputs.iter().enumerate().map(|(at, output)| {
        format!("{}\n", json!({"id": format!("c{at}"), "input": "Why?", "output": output}))
    });
    folder.write("cases.jsonl", cases.collect::<String>());
    suite(&folder, &server.base_url(), &entry(name));
    folder
}

fn entry(file: &str) -> String {
    format!("[scorers.one]\nuse = \"./{file}\"\ngrants = [\"judge\"]\n")
}

/// Answers of judges, and the JSON that scripts read from each, or why they read none; and what the SDK for Rust reads
/// if that differs, which its own test checks.
const ANSWERS: &str = include_str!("../sdk/rust/judges/src/tests/answers.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    answer: String,
    json: Option<Value>,
    why: Option<String>,
    #[serde(rename = "rust")]
    _rust: Option<Value>,
}

/// Checks what `script`, which puts the JSON of the answer into `meta`, reads in [`ANSWERS`].
pub(crate) fn reads_answers(folder: &Folder, name: &str, script: &str) {
    let server = ModelServer::saying(|asked| asked.text().to_owned());
    folder.write(name, script);
    let expected: Vec<Expected> = serde_json::from_str(ANSWERS).unwrap();
    let cases = expected.iter().enumerate();
    let cases = cases.map(|(at, Expected { answer, .. })| {
        format!("{}\n", json!({"id": format!("c{at:02}"), "output": answer}))
    });
    folder.write("cases.jsonl", cases.collect::<String>());
    suite(folder, &server.base_url(), &entry(name));
    sh(folder, RUN);
    let read =
        folder.rows("SELECT coalesce(meta_json, error_message) FROM scores ORDER BY case_id");
    assert_eq!(read.len(), expected.len());
    for (Expected { answer, json, why, .. }, read) in expected.iter().zip(read) {
        match read.strip_prefix("JSON was expected, but ") {
            Some(read) => assert_eq!(read.split("; it begins").next(), why.as_deref(), "{answer}"),
            None => {
                assert_eq!(*why, None, "{answer}: {read}");
                assert_eq!(serde_json::from_str(&read).ok(), *json, "{answer}");
            }
        }
    }
}

/// How a script ends whose case names one of these functions in its output, and the questions that the server received.
fn endings(functions: &[(&str, &str)], options: &str) -> (Vec<String>, Vec<Value>) {
    let server = ModelServer::saying(|_| "1".into());
    let mut script = String::from("import * as judge from 'scorebox:judge';\nconst all = {\n");
    for (name, function) in functions {
        script.push_str(&format!("{name}: {function},\n"));
    }
    script.push_str("};\nexport default (input) => all[input.output](judge);\n");
    let folder = folder(&server, "hostile.js", &script, &[]);
    let end = |(name, _): &(&str, &str)| {
        let line = format!(
            "scorebox score hostile.js --grant judge --judges suite.toml --output-text {name} {options}"
        );
        let output = sh(&folder, &line);
        let answer = output.json();
        let error = &answer["error"];
        match (error["kind"].as_str(), error["message"].as_str()) {
            (Some(kind), message) => format!("{name}: {kind}: {}", message.unwrap_or_default()),
            _ => format!("{name}: {} {}", answer["score"], answer["meta"]),
        }
    };
    let endings = functions.iter().map(end).collect();
    (endings, server.asked().into_iter().map(|asked| asked.body).collect())
}

#[test]
fn a_script_asks_a_judge_and_its_run_verifies_without_the_script_and_the_server() {
    let server = ModelServer::saying(|asked| match asked.text().contains("rude") {
        true => "{\"score\": 0}".into(),
        false => "{\"score\": 0.75}".into(),
    });
    let folder = folder(&server, "polite.js", POLITE_JS, &["gladly", "rude"]);
    sh(&folder, RUN).exits_with(3);
    assert_eq!(rows(&folder), ["one c0 scored 0.75 -", "one c1 scored 0 -"]);
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
    assert_eq!((&body["model"], &body["temperature"]), (&json!("tiny"), &json!(0.0)));
    assert_eq!(body["max_tokens"], 50);
    assert_eq!(body["response_format"]["type"], "json_schema");
    let metas = folder.rows("SELECT meta_json FROM scores ORDER BY case_id");
    let meta: Value = serde_json::from_str(&metas[0]).unwrap();
    assert_eq!(
        meta,
        json!({
            "text": "{\"score\": 0.75}", "truncated": false, "model": "tiny-2026",
            "usage": {"inputTokens": 12, "outputTokens": 2, "costUsd": 0.000016},
        })
    );

    std::fs::remove_file(folder.path("polite.js")).unwrap();
    drop(server);
    let verified = folder.sh("scorebox verify").exits_with(0);
    assert!(verified.stderr.contains("2 verified, 0 different"), "{verified}");
    let calls = folder.sh("scorebox calls --format jsonl --limit 0").exits_with(0);
    assert_eq!(calls.stdout.lines().count(), 2, "{calls}");
}

#[test]
fn recorded_answers_are_taken_when_the_script_runs_again() {
    let server = ModelServer::saying(|_| "{\"score\": 1}".into());
    let folder = folder(&server, "polite.js", POLITE_JS, &["a", "b"]);
    sh(&folder, RUN).exits_with(0);
    sh(&folder, RUN).exits_with(0);
    assert_eq!(server.asked().len(), 2);
    drop(server);
    sh(&folder, &format!("{RUN} --judge-cache only")).exits_with(0);
    assert_eq!(rows(&folder), ["one c0 scored 1 -", "one c1 scored 1 -"]);
}

#[test]
fn a_typed_script_asks_through_its_imports_and_is_built_to_a_component_that_asks() {
    let server = ModelServer::saying(|_| "0.5".into());
    let folder = folder(&server, "polite.ts", POLITE_TS, &["a"]);
    folder.write("questions.ts", QUESTIONS_TS);
    sh(&folder, RUN).exits_with(3);
    assert_eq!(rows(&folder), ["one c0 scored 0.25 -"]);
    let asked: Vec<String> = server.asked().iter().map(|asked| asked.text().to_owned()).collect();
    assert_eq!(asked, ["first a", "second a"]);

    let built = folder.sh("scorebox build polite.ts").exits_with(0);
    assert!(built.stderr.contains("scorebox:scorer/judge@0.1.0"), "{built}");
    let inspected = |file: &str| {
        let line = format!("scorebox inspect {file} --grant judge --format json");
        folder.sh(&line).exits_with(0).json()
    };
    let (script, component) = (inspected("./polite.ts"), inspected("./polite.wasm"));
    assert_eq!(component["grants"], json!(["judge"]));
    assert_eq!(script["digest"], component["digest"]);
    suite(&folder, &server.base_url(), &entry("polite.wasm"));
    sh(&folder, &format!("{RUN} --judge-cache off")).exits_with(3);
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn several_questions_are_asked_together_and_texts_have_vectors() {
    let server = ModelServer::saying(|asked| asked.text().len().to_string());
    let script = r#"
import { askAll, embed } from "scorebox:judge";
export default (input) => {
  const answers = askAll([
    "a",
    { messages: [{ role: "user", text: "b" }, { role: "assistant", text: "c" }, { role: "user", text: "dd" }] },
    { prompt: "a", sample: 1 },
  ]);
  const vectors = embed(["one", "three"]);
  const none = [askAll([]), embed([])];
  const same = vectors.every((vector) => vector instanceof Float32Array && vector.length === vectors[0].length);
  return { score: same, meta: [answers.map((answer) => answer.text), vectors.length, none] };
};
"#;
    let folder = folder(&server, "several.js", script, &["x"]);
    sh(&folder, RUN).exits_with(0);
    assert_eq!(
        folder.rows("SELECT score, meta_json FROM scores"),
        [r#"1 | [["1","2","1"],2,[[],[]]]"#]
    );
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn the_json_of_an_answer_is_the_only_one_in_it_outside_of_drafts_and_sentences() {
    let script = "import { ask } from 'scorebox:judge';\n\
                  export default (input) => ({ score: 1, meta: ask(input.output).json() });\n";
    reads_answers(&Folder::new(), "reads.js", script);
}

#[test]
fn only_a_script_that_imports_the_module_needs_the_grant() {
    let server = ModelServer::saying(|_| "1".into());
    let folder = folder(&server, "polite.js", POLITE_JS, &["a"]);
    let missing = folder.sh("scorebox score polite.js --output 1").exits_with(2);
    assert!(
        missing.stderr.contains("missing-grant: it asks a judge, which was not granted"),
        "{missing}"
    );
    suite(&folder, &server.base_url(), "[scorers.one]\nuse = \"./polite.js\"\n");
    let missing = sh(&folder, RUN).exits_with(2);
    assert!(missing.stderr.contains("grants = [\"judge\"]"), "{missing}");

    folder.write(
        "types.ts",
        "import type { Answer } from \"scorebox:judge\";\nexport default (): number => 1;\n",
    );
    folder.sh("scorebox score types.ts --output 1").exits_with(0);
    folder.write(
        "computed.js",
        "const name = \"scorebox:\" + \"judge\";\nexport default async () => (await import(name)).ask(\"x\");\n",
    );
    let computed = folder.sh("scorebox score computed.js --output 1").exits_with(1);
    let message = computed.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains("its name is computed; write `import { ask } from \"scorebox:judge\"`"),
        "{message}"
    );
    folder.write("wrong.js", "import { ask } from \"scorebox:judges\";\nexport default () => 1;\n");
    let wrong = folder.sh("scorebox score wrong.js --output 1").exits_with(2);
    assert!(
        wrong.stderr.contains(
            "wrong.js:1:21: there is no module `scorebox:judges`; there is `scorebox:judge`"
        ),
        "{wrong}"
    );
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn an_invalid_question_is_an_exception_with_its_location() {
    let functions = [
        ("nothing", "(judge) => judge.ask()"),
        ("number", "(judge) => judge.ask(7)"),
        ("list", "(judge) => judge.ask(['x'])"),
        ("empty", "(judge) => judge.ask({})"),
        ("both", "(judge) => judge.ask({ prompt: 'x', messages: [] })"),
        ("unknown", "(judge) => judge.ask({ prompt: 'x', content: 'y' })"),
        ("role", "(judge) => judge.ask({ messages: [{ role: 'system', text: 'x' }] })"),
        ("tokens", "(judge) => judge.ask({ prompt: 'x', maxOutputTokens: 1.5 })"),
        ("heat", "(judge) => judge.ask({ prompt: 'x', temperature: '1' })"),
        ("half", "(judge) => judge.ask('\\ud800')"),
        (
            "cycle",
            "(judge) => { const s = {}; s.s = s; return judge.ask({ prompt: 'x', schema: s }); }",
        ),
        ("throws", "(judge) => judge.ask({ get prompt() { throw new Error('no'); } })"),
        ("second", "(judge) => judge.askAll(['x', null])"),
        ("texts", "(judge) => judge.embed('x')"),
        (
            "caught",
            "(judge) => { try { judge.ask(7); } catch (error) { return error instanceof TypeError; } }",
        ),
    ];
    let (endings, asked) = endings(&functions, "");
    insta::assert_snapshot!(endings.join("\n"), @r#"
    nothing: failed: hostile.js:3:27: TypeError: `question` is undefined, not a string or an object
    number: failed: hostile.js:4:26: TypeError: `question` is a number, not a string or an object
    list: failed: hostile.js:5:24: TypeError: `question` is an array, not a string or an object
    empty: failed: hostile.js:6:25: TypeError: `question` has neither `prompt` nor `messages`
    both: failed: hostile.js:7:24: TypeError: `question` has both `prompt` and `messages`
    unknown: failed: hostile.js:8:27: TypeError: `question` has the unknown key `content`; the keys are `prompt`, `system`, `messages`, `schema`, `model`, `temperature`, `maxOutputTokens`, `sample`
    role: failed: hostile.js:9:24: TypeError: `question.messages[0].role` is "system"; it must be "user" or "assistant"
    tokens: failed: hostile.js:10:26: TypeError: `question.maxOutputTokens` is 1.5; it must be a whole number from 0
    heat: failed: hostile.js:11:24: TypeError: `question.temperature` is a string, not a number
    half: failed: hostile.js:12:24: TypeError: `question` has half of a surrogate pair
    cycle: failed: hostile.js:13:84: TypeError: circular reference
    throws: failed: hostile.js:14:57: no
    second: failed: hostile.js:15:26: TypeError: `questions[1]` is null, not a string or an object
    texts: failed: hostile.js:16:25: TypeError: `texts` is a string, not an array
    caught: 1.0 null
    "#);
    assert_eq!(asked.len(), 0);
}

#[test]
fn what_the_contract_does_not_take_and_what_cannot_be_read_ends_the_score_and_no_script_can_catch_it()
 {
    let functions = [
        ("noone", "({ ask }) => { try { ask({ messages: [] }); } catch { } return 1; }"),
        (
            "last",
            "({ ask }) => ask({ messages: [{ role: 'user', text: 'a' }, { role: 'assistant', text: 'b' }] })",
        ),
        (
            "hot",
            "({ ask }) => { try { ask({ prompt: 'x', temperature: 7 }); } finally { return 1; } }",
        ),
        ("model", "({ ask }) => ask({ prompt: 'x', model: 'the-most-expensive' })"),
        (
            "unreadable",
            "({ ask, unreadable }) => { try { unreadable(`it says ${ask('x').text}`); } catch { } return 1; }",
        ),
        ("silent", "({ unreadable }) => unreadable()"),
        ("why", "({ unreadable }) => { try { unreadable(5); } catch { } return 1; }"),
        (
            "half",
            "({ unreadable }) => { try { unreadable('it says \\ud800'); } catch { } return 1; }",
        ),
        (
            "prose",
            "({ ask }) => { const answer = ask('x'); answer.text = 'I would rather not.'; return answer.json(); }",
        ),
        (
            "cut",
            "({ ask }) => { const answer = ask('x'); answer.truncated = true; return answer.json(); }",
        ),
    ];
    let (endings, _) = endings(&functions, "");
    insta::assert_snapshot!(endings.join("\n"), @r#"
    noone: failed: what the scorer asks the judge is not valid: 0 messages; allowed: 1 to 1000
    last: failed: what the scorer asks the judge is not valid: the last message must be the user's
    hot: failed: what the scorer asks the judge is not valid: the temperature is 7; allowed: 0 to 2
    model: judge-refused: the scorer asks the model `the-most-expensive`, and its entry allows it to name none: see `models` of its `judge`
    unreadable: judge-unreadable: it says 1
    silent: judge-unreadable: the answer is not in the form that was asked for
    why: judge-unreadable: `why` is a number, not a string
    half: judge-unreadable: it says �
    prose: judge-unreadable: JSON was expected, but the answer has none; it begins with "I would rather not."
    cut: judge-unreadable: JSON was expected, but the answer has none; it begins with "1"
    "#);
}

#[test]
fn a_question_has_only_what_its_script_wrote_whatever_is_on_prototypes() {
    let functions = [
        (
            "pollution",
            "({ ask }) => {
              Object.assign(Object.prototype, { model: 'the-most-expensive', system: 'Say 1.', temperature: 2, sample: 9, messages: [] });
              return Number(ask({ prompt: 'polluted' }).text);
            }",
        ),
        (
            "arrays",
            "({ askAll }) => {
              Array.prototype[Symbol.iterator] = function* () { yield 'another'; };
              Array.prototype.map = Array.prototype.at = () => 'another';
              return askAll(['monkey'])[0].text === '1';
            }",
        ),
        (
            "strings",
            "({ ask }) => {
              String.prototype.toString = String.prototype.valueOf = () => 'another';
              JSON.stringify = JSON.parse = () => 'another';
              return ask({ prompt: 'text', schema: { type: 'object' } }).json();
            }",
        ),
        (
            "pollutedjson",
            "({ ask }) => { const answer = ask('plain'); answer.text = '{\"__proto__\": {\"score\": 1}}'; return { score: Object.getPrototypeOf(answer.json()) === Object.prototype }; }",
        ),
    ];
    let (endings, asked) = endings(&functions, "");
    assert_eq!(
        endings,
        ["pollution: 1.0 null", "arrays: 1.0 null", "strings: 1.0 null", "pollutedjson: 1.0 null"]
    );
    let polluted = &asked[0];
    assert_eq!(polluted["messages"], json!([{"role": "user", "content": "polluted"}]));
    assert_eq!((&polluted["model"], polluted.get("temperature")), (&json!("tiny"), None));
    let texts: Vec<&str> = asked
        .iter()
        .map(|body| {
            body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
        })
        .collect();
    assert!(texts.iter().all(|text| !text.contains("another")), "{texts:?}");
}

#[test]
fn a_script_that_asks_without_end_is_ended() {
    let functions = [
        ("endless", "({ ask }) => { for (let n = 0; ; n++) ask(`x ${n}`); }"),
        (
            "many",
            "({ askAll }) => askAll(Array.from({ length: 100000 }, (_, n) => `y ${n}`)).length",
        ),
        ("large", "({ ask }) => ask('x'.repeat(5 << 20))"),
    ];
    let (endings, asked) = endings(&functions, "");
    insta::assert_snapshot!(endings.join("\n"), @r#"
    endless: failed: the scorer asks a judge more than 256 questions for one case
    many: output-too-large: the scorer handed over more than 5603328 bytes, the most of one result with its log
    large: failed: what the scorer asks the judge is not valid: the messages have 5242880 bytes; the limit is 4194304
    "#);
    assert!(asked.len() <= 256, "{}", asked.len());
}

#[test]
fn no_judge_is_asked_while_a_script_is_evaluated_or_sums_up() {
    let server = ModelServer::saying(|_| "1".into());
    let folder = folder(
        &server,
        "early.js",
        "import { ask } from \"scorebox:judge\";\nconst answer = ask(\"Now?\");\nexport default () => 1;\n",
        &["a"],
    );
    insta::assert_snapshot!(sh(&folder, RUN), @r#"
    [stderr]
    error: suite.toml:8:10: scorer `one` (./early.js): invalid-script: early.js:2:16: `ask` is called where no case is scored; a judge is asked in the function that scores one
        const answer = ask("Now?");
                       ^
    [exit code 2]
    "#);
    folder.write(
        "late.js",
        "import { ask } from \"scorebox:judge\";\nexport default () => 1;\nexport function summarize() { return ask(\"Still?\").text; }\n",
    );
    suite(&folder, &server.base_url(), &entry("late.js"));
    let late = sh(&folder, RUN);
    assert!(
        late.stdout.contains("late.js:3:38: `ask` is called where no case is scored"),
        "{late}"
    );
    assert_eq!(server.asked().len(), 0);
}
