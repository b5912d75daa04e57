//! `scorebox card`: the page of a scorer, that others can reproduce it with the command lines on it, and that texts of
//! strangers cannot do anything in it.

use std::{fs, path::Path};

use scorebox::digest::Digest;
use serde_json::json;

use crate::{
    browser::Browser,
    fixture::Folder,
    judge_fixture::{self, KEY, ONE},
    model_server::ModelServer,
    scorer_desk::{Desk, with_example},
};

/// Replies that people labelled.
pub(crate) fn begin() -> Folder {
    let folder = Folder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/begin/cases.jsonl");
    fs::copy(example, folder.path("cases.jsonl")).unwrap();
    folder
}

pub(crate) fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap()
}

fn url(folder: &Folder, name: &str) -> String {
    format!("file://{}", folder.path(name).display())
}

fn digest_of(folder: &Folder, name: &str) -> String {
    Digest::of(&fs::read(folder.path(name)).unwrap()).to_string()
}

/// The digest of the scores, which the command prints.
fn scores(stderr: &str) -> &str {
    stderr.split("scores sha256:").nth(1).unwrap_or_else(|| panic!("{stderr}")).trim_end()
}

/// The command lines of a page, in order.
fn command_lines(page: &str) -> Vec<String> {
    let (_, from) = page.split_once("Command lines</h3>").unwrap();
    let lines = from.split("<pre ").skip(1).map(|part| {
        let (_, line) = part.split_once('>').unwrap();
        let (line, _) = line.split_once("</pre>").unwrap();
        line.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    });
    lines.collect()
}

#[test]
fn a_page_says_what_a_scorer_is_and_has_its_example_scored_now() {
    let folder = Folder::new();
    folder.sh("scorebox card rouge -o card.html").exits_with(0);
    let inspected = folder.sh("scorebox inspect rouge --format json").exits_with(0).json();
    let page = read(&folder, "card.html");
    assert!(page.contains(&format!("sha256:{}", inspected["digest"].as_str().unwrap())));
    assert!(!page.contains("id=\"scores\""), "nothing was scored but the example");
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "card.html"));
    assert_eq!(browser.title(), "ROUGE – scorebox card");
    assert_eq!(browser.texts("h1"), ["ROUGE"]);
    let what = browser.texts("main > section:nth-of-type(1) dd");
    assert_eq!(what[..3], ["0 to 1, higher-is-better", "soft", "output, groundTruth"]);
    assert_eq!(what[3], "no grant: it sees what it reads of a case, and nothing else");
    assert_eq!(what[4], "scorebox:scorer/log@0.1.0scorebox:scorer/types@0.1.0");
    let keys = browser.texts("[aria-label='Keys of the configuration'] tbody th");
    assert_eq!(keys, ["measure", "negate", "stemmer", "value", "values", "variant"]);
    let row = "[aria-label='Keys of the configuration'] tbody tr:first-child td";
    let row = browser.texts(row);
    assert_eq!(row[..2], ["one of", "\"f1\""]);
    assert!(
        row[2].contains("\"precision\": How much of the output is in the reference."),
        "{row:?}"
    );
    let score = "0.5882, as the scorer promises; scored twice, with the same answer and fuel";
    assert_eq!(browser.texts("#example dd")[0], score);
    assert_eq!(browser.barriers(), [""; 0]);
}

#[test]
fn a_page_has_the_bounds_of_keys() {
    let folder = Folder::new();
    folder.sh("scorebox card length -o card.html").exits_with(0);
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "card.html"));
    let heads = browser.texts("[aria-label='Keys of the configuration'] thead th");
    assert_eq!(heads, ["key", "value", "range", "default", "meaning"]);
    let max = browser.texts("[aria-label='Keys of the configuration'] tbody tr:first-child > *");
    assert_eq!(max[..3], ["max", "whole number", "at least 0"]);
}

#[test]
fn the_figures_of_a_page_are_those_of_a_stored_run() {
    let folder = begin();
    let card = "scorebox card rouge --config '{\"measure\": \"precision\"}' --cases cases.jsonl --with /label";
    let made = folder.sh(&format!("{card} -o card.html --db kept.db --run-id r")).exits_with(0);
    let root =
        folder.sh("scorebox runs --db kept.db --format json").exits_with(0).json()[0]["root"]
            .clone();
    folder.sh("scorebox verify r --db kept.db --sample 20 --trust-cache").exits_with(0);
    let stats = folder.sh("scorebox stats --db kept.db --ci --format json").exits_with(0).json();
    let agreed = folder
        .sh("scorebox agree rouge --db kept.db --with /label --format json")
        .exits_with(0)
        .json();
    let page = read(&folder, "card.html");
    assert!(page.contains(scores(&made.stderr)), "{made}");
    assert!(page.contains(&digest_of(&folder, "cases.jsonl")));
    assert!(page.contains(root.as_str().unwrap()), "{root}");
    let lines = command_lines(&page);
    assert_eq!(lines[3], "scorebox verify r --db kept.db");
    assert_eq!(
        lines[4],
        format!("scorebox verify r --db kept.db --root {}", root.as_str().unwrap())
    );
    for line in &lines[3..] {
        folder.sh(line).exits_with(0);
    }
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "card.html"));
    let row = browser.texts("[aria-label=Scorers] tbody tr:first-child > *");
    let figure = |of: &serde_json::Value| format!("{:.4}", of.as_f64().unwrap());
    let scorer = &stats[0];
    assert!(row[3].starts_with(&figure(&scorer["mean"])), "{row:?}\n{stats}");
    let behind = [figure(&scorer["p50"]), figure(&scorer["min"]), figure(&scorer["max"])];
    assert!(row.windows(3).any(|cells| cells == behind), "{row:?}\n{stats}");
    let kappa = browser.texts("[aria-label='Figures of rouge'] tr:nth-child(7) > *");
    assert_eq!(kappa[1], figure(&agreed["binary"]["kappa"]));
    let files = browser.texts("[aria-label='Files with cases'] tbody td");
    assert_eq!(files[1], digest_of(&folder, "cases.jsonl"));
    let fuel =
        folder
            .database("kept.db")
            .query_row("SELECT sum(fuel) FROM score_rows", [], |row| row.get::<_, i64>(0));
    let shown = browser.texts("#costs dd")[0].replace(',', "");
    assert!(shown.ends_with(&format!("; {} for all scores", fuel.unwrap())), "{shown}");
    assert_eq!(browser.barriers(), [""; 0]);
    for width in [400, 800, 1280] {
        browser.set_width(width);
        assert!(!browser.is_too_wide(), "at {width} pixels");
    }
    browser.prefer_dark();
    assert_eq!(browser.barriers(), [""; 0]);
}

#[test]
fn the_command_lines_of_a_page_give_the_same_page_elsewhere() {
    let folder = begin();
    fs::create_dir(folder.path("deep")).unwrap();
    fs::rename(folder.path("cases.jsonl"), folder.path("deep/cases.jsonl")).unwrap();
    folder.write("deep/grade.js", "export const info = {reads: [\"groundTruth\"]};\nexport default (input, config) => input.output === input.groundTruth ? 1 : config.least;");
    let options = "--config '{\"least\": 0.25}' --limit reason=1KiB --map groundTruth=/groundTruth --with /label --positive 1 -j 1";
    let card = format!("scorebox card deep/grade.js --cases deep/cases.jsonl {options}");
    let first = folder.sh(&format!("{card} --repeatable -o first.html")).exits_with(0);
    let page = read(&folder, "first.html");
    assert!(!page.contains("id=\"machine\""), "nothing of this machine");
    let elsewhere = Folder::new();
    for name in ["cases.jsonl", "grade.js"] {
        fs::copy(folder.path(&format!("deep/{name}")), elsewhere.path(name)).unwrap();
    }
    let lines = command_lines(&page);
    assert_eq!(
        lines,
        [
            "scorebox card ./grade.js --config '{\"least\":0.25}' --limit reason=1024 --cases ./cases.jsonl \
             --map groundTruth=/groundTruth --with /label --positive 1 --repeatable -o again.html",
            "scorebox run ./cases.jsonl -s ./grade.js --config 'grade={\"least\":0.25}' --limit reason=1024 \
             --map groundTruth=/groundTruth --allow-failures --allow-errors --run-id check --db check.db",
            "scorebox verify check --db check.db",
        ]
    );
    for line in &lines {
        elsewhere.sh(line).exits_with(0);
    }
    assert_eq!(read(&elsewhere, "again.html"), page);
    // A page that describes the machine has more on it, and the same digest of the scores.
    let third = folder.sh(&format!("{card} -o third.html")).exits_with(0);
    assert_eq!(scores(&third.stderr), scores(&first.stderr));
    assert!(read(&folder, "third.html").contains("id=\"machine\""));
}

#[test]
fn the_digest_of_scores_names_cases_configuration_and_what_is_said() {
    let folder = Folder::new();
    let case = |id: &str, output: &str| json!({"id": id, "output": output}).to_string() + "\n";
    folder.write("cases.jsonl", [case("a", "one"), case("b", "one two")].concat());
    folder.write("b.jsonl", case("b", "one two"));
    folder.write("other.jsonl", [case("a", "one"), case("b", "one TWO")].concat());
    let card = |options: &str| {
        let made =
            folder.sh(&format!("scorebox card {options} -o page.html --force")).exits_with(0);
        (scores(&made.stderr).to_owned(), read(&folder, "page.html"))
    };
    let all = card("length --config '{\"max\": 9}' --cases cases.jsonl");
    assert_eq!(all.0, card("length --config '{\"max\": 9}' --cases cases.jsonl -j 1").0);
    for other in [
        "length --config '{\"max\": 8}' --cases cases.jsonl",
        "length --config '{\"max\": 9}' --cases other.jsonl",
        "length --config '{\"max\": 9}' --cases b.jsonl",
    ] {
        assert_ne!(all.0, card(other).0, "{other}");
    }
    // Each score has its own digest, so one case is enough to check a score.
    let of_b = |page: &str| {
        let (_, row) = page.split_once("scope=\"row\">b</th>").unwrap();
        let (_, digest) = row.split_once("<code>").unwrap();
        digest[..64].to_owned()
    };
    let alone = card("length --config '{\"max\": 9}' --cases b.jsonl");
    assert_eq!(of_b(&all.1), of_b(&alone.1));
    // As in docs/card.md, with the contents of the database.
    card("length --config '{\"max\": 9}' --cases b.jsonl --db kept.db");
    let row = folder.sh("scorebox scores --db kept.db --format jsonl").exits_with(0).json();
    let digest_in = |key: &str| row[key].as_str().unwrap().to_owned();
    let [component, config, input] = ["scorerDigest", "configDigest", "inputDigest"].map(digest_in);
    let said = json!([
        "score of scorebox 1",
        "b",
        0,
        0,
        component,
        config,
        input,
        [],
        "scored",
        row["score"],
        null,
        row["reason"],
        row["meta"].to_string(),
        null,
        null,
        null
    ]);
    assert_eq!(of_b(&alone.1), Digest::of(said.to_string().as_bytes()).to_string(), "{row}");
    let digests = Digest::of(format!("{}\n", of_b(&alone.1)).as_bytes());
    assert_eq!(alone.0, digests.to_string());
}

#[test]
fn texts_of_strangers_do_nothing_on_a_page() {
    let folder = Folder::new();
    folder.write(
        "evil.js",
        r#"export const info = {
            name: "<img src=x onerror=\"document.title='owned'\">",
            description: "</title></script><script>document.title='owned'</script>\n<svg onload=\"document.title='owned'\">",
            configSchema: {type: "object", properties: {"</th><script>document.title='owned'</script>": {type: "string", default: "</code><i>", description: "<style>body{display:none}</style>"}}},
        };
        export default (input) => ({
            score: input.output.length / 100,
            label: "<i>label</i>",
            reason: "\u202e\u0000</td><a href=\"javascript:document.title='owned'\">" + "<b>x".repeat(1 << 18),
            meta: {"</pre>": "<i>"},
        });"#,
    );
    let id = "</script><script>document.title='owned'</script>\u{202e}txt";
    folder.write(
        "<i>cases.jsonl",
        json!({"id": id, "output": "abc", "metadata": {"label": 1}}).to_string() + "\n",
    );
    let card = "scorebox card evil.js --cases '<i>cases.jsonl' --limit reason=2MiB -o card.html";
    folder.sh(card).exits_with(0);
    let page = read(&folder, "card.html");
    assert!(page.len() < 100_000, "{} bytes", page.len());
    for asks in ["http://", "https://", "<link", "<iframe", "<img", "<script", "url(", "@import"] {
        assert!(!page.contains(asks), "{asks}");
    }
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "card.html"));
    assert!(browser.title().starts_with("<img src=x"), "{}", browser.title());
    let strangers = "return document.querySelectorAll('main script, main img, main style, main i, main td a, main a[href]').length";
    assert_eq!(browser.script(strangers), json!(0));
    let asked = "return performance.getEntriesByType('resource').map((it) => it.name)";
    assert_eq!(browser.script(asked), json!([]));
    let marks = browser.texts("[aria-label='Lowest and highest scores'] .act");
    assert_eq!(marks, ["\\u{202e}", "\\u{202e}", "\\u{0}"], "what cannot be seen is shown");
    // Its content security policy blocks what a mistake in the escaping would let in.
    let injected = "const it = document.createElement('script'); it.textContent = \"document.title = 'owned'\";
                    document.body.append(it); return document.title";
    assert!(browser.script(injected).as_str().unwrap().starts_with("<img"));
    for width in [400, 1280] {
        browser.set_width(width);
        assert!(!browser.is_too_wide(), "at {width} pixels");
    }
    assert_eq!(browser.barriers(), [""; 0]);
}

#[test]
fn a_schema_without_end_and_a_long_one_make_a_page_that_has_an_end() {
    let folder = Folder::new();
    folder.write(
        "endless.js",
        r##"const many = (item) => Array.from({length: 100}, () => item);
        const long = "\"".repeat(300);
        export const info = {configSchema: {type: "object",
            properties: Object.fromEntries(Array.from({length: 150}, (_, n) => [`k${n}`, {$ref: n % 2 ? "#/$defs/A" : "#/$defs/C"}])),
            $defs: {
                A: {anyOf: many({$ref: "#/$defs/A"})},
                C: {oneOf: Array.from({length: 60}, (_, n) => ({const: `${n}${long}`, description: long}))},
            },
        }};
        export default () => 1;"##,
    );
    folder.sh("scorebox card endless.js -o card.html").exits_with(0);
    let page = read(&folder, "card.html");
    assert!(page.len() < 16_000_000, "{} bytes", page.len());
    assert!(page.contains("… 50 more keys") && page.contains("… 20 more values"));
}

#[test]
fn an_example_that_is_not_as_promised_and_scores_that_are_errors_are_on_the_page() {
    let folder = Folder::new();
    let case = json!({"output": "one two", "groundTruth": "one two"});
    folder.write("liar.wasm", with_example(&json!({"case": case, "score": 0.25}).to_string()));
    let made = folder.sh("scorebox card liar.wasm -o liar.html").exits_with(1);
    assert!(made.stderr.contains("does not have the score that it promises"), "{made}");
    assert!(read(&folder, "liar.html").contains("1.0000</b>; the scorer promises 0.2500"));
    folder.sh("scorebox card liar.wasm -o liar.html --force --allow-errors").exits_with(0);

    folder.write("cases.jsonl", "{\"id\": \"x\", \"output\": \"4\"}\n{\"id\": \"y\", \"output\": \"4\", \"groundTruth\": \"4\"}\n");
    let made =
        folder.sh("scorebox card exact-match --cases cases.jsonl -o card.html").exits_with(1);
    assert!(made.stderr.contains("1 score is an error; the page says which"), "{made}");
    let page = read(&folder, "card.html");
    assert!(page.contains("<b>x</b>: the case has no `groundTruth`"));
    folder
        .sh("scorebox card exact-match --cases cases.jsonl -o b.html --allow-errors")
        .exits_with(0);
}

#[test]
fn a_scorer_without_an_example_or_with_one_that_needs_more_has_a_page() {
    let folder = Folder::new();
    folder.sh("scorebox card misbehave.wasm -o card.html").exits_with(0);
    assert!(read(&folder, "card.html").contains("It carries none."));
    let judged = folder.sh("scorebox card closed-qa -o judged.html");
    judged.exits_with(0);
    let page = read(&folder, "judged.html");
    assert!(
        page.contains(
            "the grant <code>judge</code>: questions to the language model that you name"
        )
    );
}

#[test]
fn a_page_goes_to_standard_output_unless_a_file_is_named() {
    let folder = Folder::new();
    let printed = folder.sh("scorebox card exact-match --repeatable").exits_with(0);
    folder.sh("scorebox card exact-match --repeatable -o card.html").exits_with(0);
    assert_eq!(printed.stdout, read(&folder, "card.html"));
    assert!(!folder.path("scorebox.db").exists(), "nothing is stored");
}

#[test]
fn a_page_of_a_judged_scorer_is_checked_with_the_recorded_answers() {
    let server = ModelServer::saying(|_| "0.25".into());
    let folder = judge_fixture::folder(&server.base_url(), &["abc", "de"], ONE);
    let card = "scorebox card ./asker.wasm --grant judge --judges suite.toml --cases cases.jsonl";
    let sh = |line: &str| judge_fixture::sh(&folder, line);
    let refused = sh(&format!("{card} -o card.html")).exits_with(2);
    assert!(refused.stderr.contains("nothing says where its answers are kept"), "{refused}");
    assert!(refused.stderr.contains("--db FILE"), "{refused}");
    let refused = sh("scorebox card ./asker.wasm --cases cases.jsonl --db kept.db -o card.html")
        .exits_with(2);
    assert!(refused.stderr.contains("it asks a judge, which was not granted"), "{refused}");
    assert!(refused.stderr.contains("`scorebox card ./asker.wasm --grant judge"), "{refused}");
    assert_eq!(server.asked().len(), 0, "nobody is asked before that");

    sh(&format!("{card} --db kept.db --repeatable -o card.html")).exits_with(0);
    sh("scorebox calls --db kept.db --format jsonl --limit 0 > calls.jsonl").exits_with(0);
    let page = read(&folder, "card.html");
    assert!(
        page.contains("The scorer asks a judge: the scores repeat with the same recorded answers")
    );
    assert!(!page.contains(KEY));
    let asked = server.asked().len();
    drop(server);
    let elsewhere = Folder::new();
    for name in ["asker.wasm", "cases.jsonl", "suite.toml", "calls.jsonl"] {
        fs::copy(folder.path(name), elsewhere.path(name)).unwrap();
    }
    assert!(asked > 0);
    let lines = command_lines(&page);
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in &lines {
        judge_fixture::sh(&elsewhere, line).exits_with(0);
    }
    assert_eq!(read(&elsewhere, "again.html"), page);
}

#[test]
fn a_published_scorer_that_is_locked_has_a_page() {
    let Some(desk) = Desk::new() else { return };
    let card = "scorebox card oci://HOST/team/word-f1:0.1.0 --cases cases.jsonl -o card.html";
    let refused = desk.sh(card).exits_with(2);
    assert!(refused.stderr.contains("scorebox add"), "{refused}");
    desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(0);
    desk.sh(card).exits_with(0);
    let page = desk.read("card.html");
    assert!(page.contains("<dd>oci://HOST/team/word-f1:0.1.0</dd>"));
    assert!(
        page.contains("<dt>signed by</dt><dd>not signed: nothing proves who published it</dd>")
    );
    let first = "touch suite.toml && scorebox add HOST/team/word-f1:0.1.0";
    assert_eq!(command_lines(&page)[0], first);
    // Typed in a new folder.
    let add = desk.sh(&format!("mkdir new && cd new && {first} --plain-http --yes"));
    add.exits_with(0);
    assert!(
        command_lines(&page)[1].starts_with("scorebox card oci://HOST/team/word-f1:0.1.0 --cases")
    );
    let lock = desk.read("scorebox.lock").replace("contract = \"0.1.0\"", "contract = \"0.1.1\"");
    desk.write("scorebox.lock", &lock);
    for with_cases in ["", " --cases cases.jsonl"] {
        let refused =
            desk.sh(&format!("scorebox card oci://HOST/team/word-f1:0.1.0{with_cases} -o b.html"));
        assert!(refused.exits_with(2).stderr.contains("is not what it is locked as"));
    }
}

#[test]
fn a_page_says_who_signed_a_scorer_by_the_signature_in_the_lock() {
    let Some(desk) = Desk::new() else { return };
    desk.folder.write("team.key", include_str!("signing-keys/team.key"));
    desk.sh(
        "scorebox publish published.wasm HOST/signed/word-f1:0.1.0 --plain-http --sign team.key",
    )
    .exits_with(0);
    desk.add("HOST/signed/word-f1:0.1.0 --as signed --yes").exits_with(0);
    let card = "scorebox card oci://HOST/signed/word-f1:0.1.0 -o card.html --force";
    desk.sh(card).exits_with(0);
    let lock = desk.read("scorebox.lock");
    let (_, key) = lock.split_once("signer = \"").unwrap();
    let (key, _) = key.split_once('"').unwrap();
    let page = desk.read("card.html");
    assert!(page.contains(&format!("<dt>signed by</dt><dd>{key}</dd>")), "{key}");
    // The name of another key over this key's signature.
    let other = key.replacen(&key[10..14], "AAAA", 1);
    desk.write("scorebox.lock", &lock.replace(key, &other));
    let refused = desk.sh(card).exits_with(2);
    assert!(refused.stderr.contains("is not what it is locked as"), "{refused}");
}
