//! `scorebox serve`: what a real browser shows of a database, who has access, and that texts of strangers cannot do
//! anything.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    browser::Browser,
    fixture::Folder,
    sums_fixture::{cases, folder},
};

/// A server, until it is dropped.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    /// A server of the folder's database with its own index, once it listens.
    pub(crate) fn start(folder: &Folder, options: &str) -> Server {
        let line = format!("exec scorebox serve --listen 0 --cache-dir index {options}");
        let mut shell = folder.shell(&line);
        let mut process = shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().strip_prefix("http://").and_then(|it| it.strip_suffix('/'));
        Server { address: address.unwrap_or_else(|| panic!("no URL: {url}")).to_owned(), process }
    }

    /// The same, once the server has read all runs.
    pub(crate) fn ready(folder: &Folder, options: &str) -> Server {
        let server = Server::start(folder, options);
        server.until("/", |page| !page.contains("not read yet") && !page.contains("reading cases"));
        server
    }

    /// Requests a page repeatedly until it is as expected.
    pub(crate) fn until(&self, path: &str, is_so: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let page = self.get(path, &[]).text;
            if is_so(&page) {
                return page;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{page}");
            std::thread::yield_now();
        }
    }

    /// The response to `GET`, with these headers instead of or in addition to the usual ones.
    pub(crate) fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = headers.iter().find(|(name, _)| *name == "Host");
        let host = host.map_or(self.address.as_str(), |(_, host)| host);
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n").unwrap();
        for (name, value) in headers.iter().filter(|(name, _)| *name != "Host") {
            write!(stream, "{name}: {value}\r\n").unwrap();
        }
        write!(stream, "\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, text) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_ascii_lowercase(), text: text.to_owned() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

/// The cases that the page lists.
fn listed(browser: &Browser) -> Vec<String> {
    browser.texts("#cases tbody th a")
}

#[test]
fn a_run_is_shown_with_its_figures_and_its_cases_are_filtered() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    browser.goto(&server.url("/"));
    assert_eq!(browser.title(), "Runs – scorebox");
    assert_eq!(browser.texts("tbody th a"), ["r"]);
    assert_eq!(browser.barriers(), [""; 0]);

    browser.script("document.querySelector('tbody th a').click()");
    assert_eq!(browser.texts("h1"), ["sums <i>and</i> more"]);
    assert_eq!(browser.texts(".went .says"), ["2 of 6 passed 33.3 %; 95 % interval 9.7 to 70.0 %"]);
    assert_eq!(listed(&browser).len(), 7);
    assert_eq!(browser.barriers(), [""; 0]);

    for (query, expected) in [
        (
            "verdict=failed&scorer=right&most=0",
            vec!["wrong", "</title><script>document.title='owned'</script>\\u{202e}txt", "agent"],
        ),
        ("verdict=errored", vec!["broken"]),
        ("verdict=regressed", vec!["slow (iteration 0, attempt 2)"]),
        ("verdict=skipped", vec!["left"]),
        ("status=error", vec!["broken"]),
        ("scorer=fast&most=0.5", vec!["slow (iteration 0, attempt 2)"]),
        ("q=lyon", vec!["wrong"]),
        ("q=%22too+late%22", vec!["agent"]),
        ("q=groundTruth", vec!["broken"]),
        ("q=nowhere", vec![]),
        ("scorer=fast&order=lowest&verdict=passed", vec!["slow (iteration 0, attempt 2)", "good"]),
    ] {
        browser.goto(&server.url(&format!("/runs/r?{query}")));
        assert_eq!(listed(&browser), expected, "{query}");
    }
    // Through the form, as a user does; the URL contains the filter and can be shared.
    browser.goto(&server.url("/runs/r"));
    browser.script("document.querySelector('input[name=q]').value = 'south'; document.querySelector('form[role=search] button').click()");
    assert_eq!(listed(&browser), ["wrong"]);
    assert_eq!(
        browser.script("return new URL(location.href).searchParams.get('q')"),
        json!("south")
    );
}

#[test]
fn a_case_is_shown_in_full_with_its_neighbours() {
    let folder = folder();
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id s").exits_with(3);
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    browser.goto(&server.url("/runs/r/case?id=wrong"));
    assert_eq!(browser.texts("h1"), ["wrong"]);
    assert_eq!(browser.texts(".diff del b"), ["Paris"]);
    assert_eq!(browser.texts(".diff ins b"), ["Lyon"]);
    assert_eq!(browser.texts(".score h4"), ["right", "fast"]);
    assert_eq!(browser.texts(".pages .far a"), ["s"], "the same case in the other run");
    assert_eq!(browser.barriers(), [""; 0]);
    browser.press("n");
    assert_eq!(browser.texts("h1"), ["slow (iteration 0, attempt 2)"]);
    browser.press("p");
    browser.press("u");
    assert_eq!(browser.texts("h1"), ["sums <i>and</i> more"]);
    browser.goto(&server.url("/runs/r/case?id=agent"));
    assert_eq!(browser.texts(".timeline .who b"), ["user", "cancel", "assistant"]);
    assert_eq!(browser.barriers(), [""; 0]);
}

#[test]
fn two_runs_stand_side_by_side_and_a_scorer_over_time() {
    let folder = folder();
    folder.write("better.jsonl", cases().replace("It is Lyon", "It is Paris"));
    folder.sh("scorebox run suite.toml better.jsonl -q --run-id s").exits_with(3);
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    server.until("/compare?a=r&b=s", |page| !page.contains("being compared"));
    browser.goto(&server.url("/compare?a=r&b=s"));
    assert_eq!(browser.texts("#cases tbody th"), ["wrong"]);
    assert_eq!(browser.texts("#cases tbody td .word"), ["failed", "passed"]);
    let right = browser.texts("[aria-label=Differences] tbody tr:nth-child(2) > *");
    assert_eq!(right[..4], ["right", "not shown to differ", "0.4000", "0.6000"]);
    browser.script("document.querySelector(\"[aria-label='Changed most'] a\").click()");
    assert_eq!(browser.texts("h1"), ["wrong"]);
    browser.goto(&server.url("/compare?a=r&b=s"));
    assert_eq!(browser.barriers(), [""; 0]);
    browser.goto(&server.url("/compare?a=r&b=s&all=yes"));
    assert_eq!(browser.texts("#cases tbody th").len(), 7);
    browser.goto(&server.url("/scorer?id=right"));
    assert_eq!(browser.texts("tbody th a"), ["s", "r"]);
    assert_eq!(browser.script("return document.querySelectorAll('circle.dot').length"), json!(2));
    assert_eq!(browser.barriers(), [""; 0]);
}

#[test]
fn a_scorer_in_more_runs_than_one_page_has_leads_to_the_older_ones() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.s]\nuse = \"satisfies\"\nseverity = \"soft\"\nthreshold = 1.0\nconfig = { expression = \"false\" }\n");
    folder.write("cases.jsonl", "{\"id\": \"c\", \"output\": 1}\n");
    let all =
        "for n in $(seq 101); do scorebox run suite.toml cases.jsonl -q --run-id r$n || exit; done";
    folder.sh(all).exits_with(0);
    let server = Server::ready(&folder, "");
    let runs = |page: &str| page.matches("data-row").count();
    // The runs of the second page may still be loading.
    let newest = server.until("/scorer?id=s", |page| runs(page) == 60);
    assert!(newest.contains("Not all runs are on this page."), "{newest}");
    assert!(newest.contains("href=\"/scorer?id=s&amp;skip=60\""), "{newest}");
    let older = server.until("/scorer?id=s&skip=60", |page| runs(page) == 41);
    assert!(older.contains(">Newest</a>") && !older.contains(">Older</a>"), "{older}");
    // The soft requirement that is not met is counted.
    assert!(newest.contains("regressed</th>"), "{newest}");
    assert!(server.get("/runs/r1", &[]).text.contains("these are of the newest 100 runs"));
    assert!(server.get("/?skip=500", &[]).text.contains("There are no older runs."));
    assert_eq!(server.get("/scorer?id=none", &[]).status, 404);
}

#[test]
fn runs_that_cannot_be_compared_say_why_and_runs_that_are_over_are_compared_once() {
    let folder = folder();
    folder.write("elsewhere.jsonl", r#"{"id": "elsewhere", "output": "4", "groundTruth": "4"}"#);
    folder.sh("scorebox run suite.toml elsewhere.jsonl -q --run-id t").exits_with(0);
    let server = Server::ready(&folder, "");
    let apart = server.until("/compare?a=r&b=t", |page| !page.contains("being compared"));
    assert!(apart.contains("the runs share no id of a case"), "{apart}");
    let itself = server.until("/compare?a=r&b=r", |page| !page.contains("being compared"));
    assert!(itself.contains("run `r` is compared with itself"), "{itself}");
    assert_eq!(server.get("/compare?a=r&b=none", &[]).status, 404);
    // A run with the name of a removed run is another run.
    folder.sh("scorebox rm t --yes").exits_with(0);
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id t").exits_with(3);
    server.until("/compare?a=r&b=t", |page| page.contains("aria-label=\"Differences\""));
}

#[test]
fn texts_of_strangers_do_nothing() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    let case = "/runs/r/case?id=%3C%2Ftitle%3E%3Cscript%3Edocument.title%3D%27owned%27%3C%2Fscript%3E%E2%80%AEtxt";
    let injected = "/runs/r?q=%22%3E%3Cscript%3Edocument.title%3D'owned'%3C/script%3E&scorer=%3Cimg%20src=x%20onerror=document.title='owned'%3E";
    for path in [
        case,
        injected,
        "/runs/r",
        "/",
        "/scorer?id=%3Cscript%3Edocument.title='owned'%3C/script%3E",
        "/runs/%3Cscript%3E",
    ] {
        browser.goto(&server.url(path));
        let strangers = "return document.querySelectorAll('main script, main img, main style, main i, a[href^=\"javascript\"]').length";
        assert_eq!(browser.script(strangers), json!(0), "{path}");
        assert_ne!(browser.title(), "owned", "{path}");
    }
    browser.goto(&server.url(case));
    assert_eq!(browser.texts("h1 .act"), ["\\u{202e}"]);
    // The browser decides whether it requests the icon again.
    let asked = "return performance.getEntriesByType('resource').map((it) => it.name.replace(location.origin, ''))
                 .filter((it) => it !== '/icon.svg').sort()";
    assert_eq!(browser.script(asked), json!(["/page.css", "/page.js"]));
    // The content security policy blocks what a mistake in the escaping would let in.
    let script = "const it = document.createElement('script'); it.textContent = \"document.title = 'owned'\";
                  document.body.append(it); return document.title";
    assert_ne!(browser.script(script), json!("owned"));
    assert_eq!(browser.script("document.body.setAttribute('onclick', \"document.title = 'owned'\"); document.body.click(); return document.title === 'owned'"), json!(false));
}

#[test]
fn a_page_names_the_assertion_that_decides_and_shows_what_cannot_be_seen() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"id\": \"a\u{200b}\u{2764}\u{fe0f}\", \"output\": \"x\"}\n");
    folder.write(
        "as.js",
        r#"export default () => ({ score: 1, assertions: [
            { name: "no PII", score: 0, severity: "gate", reason: "has an e-mail address" },
        ] });"#,
    );
    // Other failures of the case do not hide it.
    folder.write(
        "soft.js",
        "export const info = { severity: 'soft', threshold: 0.5 };\nexport default () => 0.2;\n",
    );
    folder.sh("scorebox run cases.jsonl -s ./as.js -s ./soft.js --run-id r -q").exits_with(3);
    let server = Server::ready(&folder, "");
    for path in ["/runs/r", "/runs/r/case?id=a%E2%80%8B%E2%9D%A4%EF%B8%8F"] {
        let page = server.get(path, &[]).text;
        assert!(page.contains("no PII"), "{path}: {page}");
        assert!(page.contains("has an e-mail address"), "{path}: {page}");
        let id = "a<span class=\"act\">\\u{200b}</span>\u{2764}\u{fe0f}";
        assert!(page.contains(id), "{path}: {page}");
    }
}

#[test]
fn pages_fit_a_telephone_and_a_dark_room() {
    let folder = folder();
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id s").exits_with(3);
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    for path in [
        "/",
        "/runs/r",
        "/runs/r/case?id=agent",
        "/compare?a=r&b=s&all=yes",
        "/scorer?id=right",
        "/nowhere",
    ] {
        browser.goto(&server.url(path));
        for width in [400, 800, 1280] {
            browser.set_width(width);
            assert!(!browser.is_too_wide(), "{path} at {width} pixels");
        }
        browser.prefer_dark();
        assert_eq!(browser.barriers(), [""; 0], "{path}");
    }
}

/// Text without a position to break a line: ids, filters and numbers of any length.
#[test]
fn pages_fit_a_telephone_whatever_they_are_asked_and_hold() {
    let folder = Folder::new();
    let long = "w".repeat(64);
    folder.write(
        "suite.toml",
        format!("[scorers.exact-match]\n[scorers.{long}]\nuse = \"./l.js\"\n"),
    );
    folder.write("l.js", "export default () => ({ score: 1, label: 'l'.repeat(199) });");
    folder.write(
        "cases.jsonl",
        r#"{"id": "a", "output": "x", "groundTruth": "x", "latencyMs": 1e308}"#,
    );
    for run in [long.as_str(), "r"] {
        folder.sh(&format!("scorebox run suite.toml cases.jsonl -q --run-id {run}")).exits_with(0);
    }
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    for path in ["/", &format!("/runs/r?verdict={}", "w".repeat(300)), "/runs/r/case?id=a"] {
        browser.goto(&server.url(path));
        for width in [320, 1280] {
            browser.set_width(width);
            assert!(!browser.is_too_wide(), "{path} at {width} pixels");
        }
    }
}

/// Data that someone else wrote into the index would be shown as if it were of the runs.
#[test]
fn a_folder_for_the_index_that_others_can_write_to_is_refused() {
    let folder = folder();
    folder.sh("mkdir -p index/pages && chmod 777 index/pages").exits_with(0);
    let refused = folder.sh("scorebox serve --listen 0 --cache-dir index").exits_with(2);
    assert!(refused.stderr.contains("can be written to by others"), "{refused}");
}

#[test]
fn every_answer_has_a_strict_policy_and_no_cookie() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    for (path, status) in [
        ("/", 200),
        ("/runs/r", 200),
        ("/runs/r/case?id=good", 200),
        ("/runs/none", 404),
        ("/nowhere", 404),
        ("/runs/r/case?id=none", 404),
        ("/compare", 400),
        ("/runs/r/case?id=x&iteration=y", 400),
        ("/page.js", 200),
    ] {
        let answer = server.get(path, &[]);
        assert_eq!(answer.status, status, "{path}");
        assert!(
            answer.head.contains(
                "content-security-policy: default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';"
            ),
            "{}",
            answer.head
        );
        assert!(
            answer.head.contains("x-content-type-options: nosniff")
                && !answer.head.contains("set-cookie"),
            "{}",
            answer.head
        );
        for inline in ["<style", "style=\"", "onclick", "<script>"] {
            assert!(!answer.text.contains(inline), "{path}: {inline}");
        }
    }
    let part = server.get("/runs/r/case/part?id=wrong&part=output", &[]);
    assert!(
        part.head.contains("content-type: text/plain; charset=utf-8")
            && part.head.contains("sandbox"),
        "{}",
        part.head
    );
    assert_eq!(part.text, r#""It is Lyon,\nin the south.""#);
}

#[test]
fn a_filter_that_means_nothing_is_named() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let page = server.get("/runs/r?verdict=nope&least=abc", &[]).text;
    for (filter, says) in [("verdict", "nope"), ("least", "abc")] {
        let note = format!(
            "The filter <code>{filter}</code> has no <code>{says}</code>: it is left aside."
        );
        assert!(page.contains(&note), "{page}");
    }
    let page = server.get("/runs/r?verdict=failed&least=0.5&order=lowest", &[]).text;
    assert!(!page.contains("it is left aside"), "{page}");
}

#[test]
fn what_a_url_says_is_not_shown_where_it_cannot_be_seen() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let page = server.get("/runs/r?least=%E2%80%AE%00&most=%00x&q=ly%E2%80%AEon%00", &[]).text;
    assert!(page.contains("<html") && !page.contains(['\u{202e}', '\0']), "{page}");
    assert!(page.contains("\\u{202e}"), "{page}");
    let page = server.get("/runs/r?least=0.5&most=1", &[]).text;
    assert!(page.contains("name=\"least\" value=\"0.5\""), "{page}");
}

#[test]
fn an_address_that_cannot_be_read_has_a_page_that_says_so() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let no_text = server.get("/runs/%ff", &[]);
    assert!(no_text.head.starts_with("http/1.1 400"), "{}", no_text.head);
    let words = "This address cannot be read: its path is not UTF-8.";
    assert!(no_text.text.contains("<html") && no_text.text.contains(words), "{}", no_text.text);
    let page = server.get("/runs/r/case?id=x&attempt=first", &[]);
    assert!(page.head.starts_with("http/1.1 400"), "{}", page.head);
    let words = "This address cannot be read: attempt: invalid digit found in string.";
    assert!(page.text.contains("<html") && page.text.contains(words), "{}", page.text);
}

#[test]
fn another_site_reads_nothing() {
    let folder = folder();
    let server = Server::ready(&folder, "--name scores.example");
    for (headers, status) in [
        (vec![("Host", "evil.example")], 421),
        (vec![("Host", "localhost")], 200),
        (vec![("Host", "scores.example")], 200),
        (vec![("Origin", "http://evil.example")], 403),
        (vec![("Origin", "null")], 403),
        (vec![("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "image")], 403),
    ] {
        let answer = server.get("/runs/r", &headers);
        assert_eq!(answer.status, status, "{headers:?}");
        assert_eq!(answer.text.contains("sums"), status == 200, "{headers:?}");
    }
}

#[test]
fn beyond_this_machine_a_token_is_wanted() {
    let folder = folder();
    let refused = folder.sh("scorebox serve --listen 0.0.0.0:0").exits_with(2);
    assert!(refused.stderr.contains("no token is set"), "{refused}");
    let refused = folder.sh("scorebox serve --listen 0 --token short").exits_with(2);
    assert!(refused.stderr.contains("fewer than 16 characters"), "{refused}");
    let server = Server::start(&folder, "--token 0123456789abcdef");
    assert_eq!(server.get("/", &[]).status, 401);
    assert!(server.get("/", &[]).head.contains("www-authenticate: basic"));
    assert_eq!(server.get("/", &[("Authorization", "Bearer 0123456789abcdeX")]).status, 401);
    assert_eq!(server.get("/", &[("Authorization", "Bearer 0123456789abcdef")]).status, 200);
    let (_, port) = server.address.split_once(':').unwrap();
    let Some(browser) = Browser::start() else { return };
    browser.goto(&format!("http://any:0123456789abcdef@127.0.0.1:{port}/"));
    assert_eq!(browser.texts("h1"), ["Runs"]);
}

#[test]
fn what_is_wrong_is_said_before_anything_is_served() {
    let folder = folder();
    folder.write("notes.db", "not a database ".repeat(40));
    folder.write("file", "");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    for (options, said, hint) in [
        ("--db none.db".to_owned(), "there is no database", ""),
        ("--db notes.db".to_owned(), "is not an SQLite database", ""),
        (format!("--listen {port}"), "cannot listen on 127.0.0.1", "--listen 0"),
        ("--listen here".to_owned(), "name a port, or an address and a port", ""),
        ("--listen 0 --cache-dir file".to_owned(), "cannot write the index", "--cache-dir"),
    ] {
        let refused = folder.sh(&format!("scorebox serve {options}")).exits_with(2);
        assert!(refused.stderr.contains(said) && refused.stderr.contains(hint), "{refused}");
        assert_eq!(refused.stdout, "");
    }
}

#[test]
fn the_database_is_not_changed_and_runs_that_come_and_go_are_followed() {
    let folder = folder();
    let before = std::fs::read(folder.path("scorebox.db")).unwrap();
    let server = Server::ready(&folder, "");
    server.get("/runs/r?q=lyon", &[]);
    assert_eq!(std::fs::read(folder.path("scorebox.db")).unwrap(), before);
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id s").exits_with(3);
    server.until("/runs/s?q=lyon", |page| page.contains("1 case<"));
    folder.sh("scorebox rm s --yes").exits_with(0);
    server.until("/", |page| !page.contains("/runs/s\""));
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id t").exits_with(3);
    server.until("/runs/t?verdict=failed", |page| page.contains("3 cases"));
}

#[test]
fn large_texts_are_cut_and_whole_behind_a_link() {
    let folder = folder();
    let large = "lorem ".repeat(1 << 20);
    folder.write(
        "large.jsonl",
        format!("{}\n", json!({"id": "large", "output": large, "groundTruth": large})),
    );
    folder.sh("scorebox run suite.toml large.jsonl -q --run-id big --allow-errors").exits_with(0);
    let server = Server::ready(&folder, "");
    let page = server.get("/runs/big/case?id=large", &[]).text;
    assert!(page.len() < 400_000, "{} bytes", page.len());
    assert!(
        page.contains("more bytes") && page.contains("part=output"),
        "{}",
        &page[page.len() - 2000..]
    );
    let whole = server.get("/runs/big/case/part?id=large&part=output", &[]).text;
    assert_eq!(whole.len(), large.len() + 2);
}

#[test]
fn a_list_leads_to_the_page_before_and_says_what_its_order_leaves_out() {
    let folder = folder();
    let line = |number: u32| {
        format!(r#"{{"id": "n-{number}", "output": "{number}", "groundTruth": "4"}}"#)
    };
    let lines: Vec<String> = (0..120).map(line).collect();
    folder.write("many.jsonl", lines.join("\n"));
    folder.sh("scorebox run suite.toml many.jsonl -q --run-id many").exits_with(3);
    let server = Server::ready(&folder, "");
    let before = |page: &str| {
        let link = page.split("rel=\"prev\" href=\"").nth(1);
        link.map(|it| it.split('"').next().unwrap().replace("#cases", "").replace("&amp;", "&"))
    };
    assert_eq!(before(&server.get("/runs/many", &[]).text), None);
    let third = server.get("/runs/many?after=99", &[]).text;
    assert!(before(&third).unwrap().starts_with("/runs/many?after=49%3A"), "{third}");
    assert!(third.contains("id=n-100&amp;") && third.contains("First page"), "{third}");
    assert_eq!(before(&server.get("/runs/many?after=49", &[]).text).unwrap(), "/runs/many");
    let beyond = server.get("/runs/many?after=999999", &[]).text;
    assert!(beyond.contains("There are no more cases.") && before(&beyond).is_some(), "{beyond}");
    let ordered = server.get("/runs/r?scorer=right&order=lowest", &[]).text;
    assert!(ordered.contains("2 cases without a score are not shown."), "{ordered}");
    assert!(!server.get("/runs/r?scorer=right", &[]).text.contains("are not shown."));
    assert!(server.get("/runs/many?q=n-77", &[]).text.contains("1 case<"), "ids are words, too");
}

#[test]
fn a_case_of_a_filtered_list_leads_through_that_list() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let failed = server.get("/runs/r?verdict=failed", &[]).text;
    assert!(failed.contains("/runs/r/case?id=wrong&amp;verdict=failed\""), "{failed}");
    let case = server.get("/runs/r/case?id=agent&verdict=failed", &[]).text;
    assert!(!case.contains("rel=\"next\"") && case.contains("rel=\"prev\""), "{case}");
    assert!(case.contains("href=\"/runs/r?verdict=failed#cases\" rel=\"up\""), "{case}");
    let wrong = server.get("/runs/r/case?id=wrong&verdict=failed", &[]).text;
    assert!(wrong.contains("&amp;verdict=failed\">Next case"), "{wrong}");
    assert!(!wrong.contains("rel=\"prev\""), "{wrong}");
}

#[test]
fn a_gate_that_failed_a_case_comes_before_what_only_fell_short_and_the_rest_is_counted() {
    let folder = Folder::new();
    let soft = |n: usize| {
        format!(
            "[scorers.s{n}]\nuse = \"satisfies\"\nseverity = \"soft\"\nthreshold = 1.0\nconfig = {{ expression = \"false\" }}\n"
        )
    };
    let gate = "[scorers.zgate]\nuse = \"satisfies\"\nseverity = \"gate\"\nconfig = { expression = \"false\" }\n";
    folder.write("suite.toml", (0..5).map(soft).chain([gate.to_owned()]).collect::<String>());
    folder.write("cases.jsonl", "{\"id\": \"c\", \"output\": 1}\n");
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(3);
    let server = Server::ready(&folder, "");
    let page = server.get("/runs/r", &[]).text;
    let (_, row) = page.split_once("data-row").unwrap();
    let (row, _) = row.split_once("</tr>").unwrap();
    let place = |what: &str| row.find(what).unwrap_or_else(|| panic!("no {what}: {row}"));
    assert!(place("<b>zgate</b>") < place("<b>s0</b>"), "{row}");
    assert!(!row.contains("<b>s3</b>") && row.contains("and 2 more"), "{row}");
}

#[test]
fn a_case_that_changed_leads_to_its_first_attempt() {
    let folder = folder();
    let write = |name: &str, outputs: [u8; 2]| {
        let line = |(attempt, output)| {
            format!(
                r#"{{"id": "tried", "attempt": {attempt}, "output": "{output}", "groundTruth": "4"}}"#
            )
        };
        folder.write(name, [(1, outputs[0]), (2, outputs[1])].map(line).join("\n"));
    };
    write("a.jsonl", [4, 5]);
    write("b.jsonl", [4, 4]);
    folder.sh("scorebox run suite.toml a.jsonl -q --run-id a --allow-failures").exits_with(0);
    folder.sh("scorebox run suite.toml b.jsonl -q --run-id b --allow-failures").exits_with(0);
    let server = Server::ready(&folder, "");
    let page = server.until("/compare?a=a&b=b", |page| !page.contains("being compared"));
    let link = page.split("Changed most").nth(2).and_then(|it| it.split("href=\"").nth(1)).unwrap();
    let link = link.split('"').next().unwrap().replace("&amp;", "&");
    assert_eq!(link, "/runs/a/case?id=tried&attempt=1");
    assert_eq!(server.get(&link, &[]).status, 200);
}
