//! Two judges that are asked the same question at the same time: they share an answer, but a failure belongs only to
//! the judge that had it. Uses a real server of OpenAI's protocol on the loopback interface.

use std::{thread, time::Duration};

use crate::{
    judge_fixture::{RUN, entry, folder, rows, sh},
    model_server::ModelServer,
};

/// Two judges at this server, only one of which has a key, and a scorer for each.
fn entries(server: &ModelServer) -> String {
    let judge = format!(
        "[judges.keyless]\nprovider = \"openai\"\nbase_url = \"{}\"\nmodel = \"tiny\"\nretries = 0\n",
        server.base_url()
    );
    let of = |name: &str, judge: &str| format!("{}judge = \"{judge}\"\n", entry(name, "{}"));
    judge + &of("a", "keyless") + &of("b", "default")
}

#[test]
fn the_refusal_of_a_judge_without_a_key_is_not_that_of_the_one_with_it() {
    let server = ModelServer::answering(|asked| {
        // Long enough that the other judge is asked meanwhile.
        thread::sleep(Duration::from_millis(200));
        match asked.authorization() {
            Some(_) => (200, "1".into()),
            None => (401, "no key".into()),
        }
    });
    // The first judge to be asked asks for both. With this many cases, it is sometimes the one without a key.
    let outputs = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    let folder = folder(&server.base_url(), &outputs, &entries(&server));
    sh(&folder, RUN);
    let rows = rows(&folder);
    let with_key = rows.iter().filter(|row| row.starts_with("b ") && row.ends_with(" scored 1 -"));
    assert_eq!(with_key.count(), outputs.len(), "{rows:?}");
}

#[test]
fn an_answer_serves_both() {
    let server = ModelServer::saying(|_| {
        thread::sleep(Duration::from_millis(200));
        "1".into()
    });
    let folder = folder(&server.base_url(), &["x"], &entries(&server));
    sh(&folder, RUN).exits_with(0);
    assert_eq!((server.asked().len(), rows(&folder).len()), (1, 2));
}
