//! The advice of a run about questions that were refused and answers that no scorer can read. Uses a real server of
//! OpenAI's protocol on the loopback interface.

use crate::{
    judge_fixture::{ONE, RUN, folder, rows, sh},
    model_server::ModelServer,
};

#[test]
fn a_refusal_says_what_to_look_at_and_nothing_about_models_that_nobody_named() {
    let server = ModelServer::answering(|asked| match asked.text() {
        "secret" => (401, "Incorrect API key".into()),
        "long" => (400, "This model's maximum context length is 10 tokens.".into()),
        _ => (400, "No seed, please.".into()),
    });
    let folder = folder(&server.base_url(), &["secret", "long", "other"], ONE);
    let run = sh(&folder, RUN).exits_with(1);
    for said in [
        "answered with status 401 (check the key: `key_env` names its variable): Incorrect API key",
        "status 400 (the texts of the question are too long for the model): This model's maximum",
        "answered with status 400: No seed, please.",
    ] {
        assert!(run.stderr.contains(said), "{said}: {run}");
    }
    assert!(!run.stderr.contains("models = ["), "{run}");
}

#[test]
fn an_answer_that_cannot_be_read_is_recorded_and_the_hint_says_how_to_ask_again() {
    let server = ModelServer::saying(|_| "I would rather not say.".into());
    let folder =
        folder(&server.base_url(), &[], "[scorers.r]\nuse = \"relevancy\"\ngrants = [\"judge\"]\n");
    folder.write("cases.jsonl", "{\"id\": \"c\", \"input\": \"q\", \"output\": \"a\"}\n");
    let hint = "hint: if the answer is recorded, it is taken again: --judge-cache refresh asks the judge once more\n";
    let asked = || server.asked().len();
    let run = sh(&folder, RUN).exits_with(1);
    assert_eq!(rows(&folder), ["r c error - judge-unreadable"]);
    assert!(run.stderr.contains(hint), "{run}");
    let first = asked();
    let again = sh(&folder, RUN).exits_with(1);
    assert!(again.stderr.contains(hint), "{again}");
    assert_eq!(asked(), first);
    sh(&folder, &format!("{RUN} --judge-cache refresh")).exits_with(1);
    assert_eq!(asked(), 2 * first);
}
