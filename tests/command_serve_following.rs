//! `scorebox serve` over time: changes under an open page or under the server, the number of tabs that follow it, and
//! how it ends.

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use rusqlite::Connection;
use serde_json::json;

use crate::{browser::Browser, command_serve::Server, fixture::Folder, sums_fixture::folder};

/// A run in progress, whose cases arrive when the test sends them.
struct Going {
    process: Child,
    lines: File,
}

impl Going {
    /// Starts the run `going` of the folder's suite.
    fn start(folder: &Folder) -> Going {
        folder.sh("mkfifo arriving").exits_with(0);
        let process = folder
            .shell("exec scorebox live suite.toml -q --run-id going < arriving")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = OpenOptions::new().write(true).open(folder.path("arriving")).unwrap();
        Going { process, lines }
    }

    /// Sends a case.
    fn arrives(&mut self, id: &str, output: &str) {
        let case = json!({"id": id, "output": output, "groundTruth": "4", "latencyMs": 1});
        writeln!(self.lines, "{case}").unwrap();
    }

    fn ends(mut self) {
        drop(self.lines);
        self.process.wait().unwrap();
    }
}

/// Waits until an expression holds in the page.
fn shows(browser: &Browser, what: &str) {
    let script = format!(
        "const done = arguments[arguments.length - 1];
         const look = () => {{ if ({what}) {{ done(true); }} else {{ setTimeout(look, 50); }} }}; look();"
    );
    browser.script_that_waits(&script);
}

const LISTED: &str = "document.querySelectorAll('#cases tbody th').length";

#[test]
fn a_run_in_progress_updates_by_itself() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    let mut going = Going::start(&folder);
    browser.goto(&server.url("/"));
    going.arrives("first", "4");
    shows(
        &browser,
        "document.querySelector('.word.running') && [...document.querySelectorAll('tbody th a')].some((it) => it.textContent === 'going')",
    );
    browser.goto(&server.url("/runs/going"));
    shows(&browser, &format!("{LISTED} === 1"));
    going.arrives("second", "5");
    shows(&browser, &format!("{LISTED} === 2"));
    shows(&browser, "document.querySelector('.went .says').textContent.includes('1 of 2')");
    going.ends();
    shows(&browser, "document.querySelector('.title .word.finished')");
    // Nothing changes any more, and the page closes its connection.
    shows(&browser, "changes === null");
}

#[test]
fn what_someone_does_on_a_page_outlives_its_updates() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    let mut going = Going::start(&folder);
    going.arrives("first", "4");
    server.until("/runs/going", |page| page.contains(">first<"));
    browser.set_width(360);
    browser.goto(&server.url("/runs/going"));
    let region = "document.querySelector('#cases .scrolls')";
    browser.script(&format!("{region}.scrollLeft = 30; {region}.focus()"));
    going.arrives("second", "5");
    shows(&browser, &format!("{LISTED} === 2"));
    assert_eq!(browser.script(&format!("return {region}.scrollLeft")), json!(30));
    assert_eq!(browser.script(&format!("return document.activeElement === {region}")), json!(true));
    // The link with the focus keeps it.
    browser.press("j");
    browser.press("j");
    going.arrives("third", "4");
    shows(&browser, &format!("{LISTED} === 3"));
    assert_eq!(browser.script("return document.activeElement.textContent"), json!("second"));
    // Selected text stays selected, and changes that arrived meanwhile are shown afterwards.
    browser.script(&format!("getSelection().selectAllChildren({region}.querySelector('th a'))"));
    going.arrives("fourth", "4");
    shows(&browser, "isStale");
    assert_eq!(browser.script("return getSelection().toString()"), json!("first"));
    assert_eq!(browser.script(&format!("return {LISTED}")), json!(3));
    browser.script("getSelection().removeAllRanges()");
    shows(&browser, &format!("{LISTED} === 4"));
    going.ends();
}

/// A browser opens at most six connections to a server, and a tab that follows changes keeps one open.
#[test]
fn many_tabs_are_open_at_once() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    let open = |path: &str| {
        let tab = browser.command("window/new", &json!({"type": "tab"}));
        browser.command("window", &json!({"handle": tab["handle"]}));
        browser.goto(&server.url(path));
        tab["handle"].clone()
    };
    for _ in 0..8 {
        open("/runs/r");
        assert_eq!(browser.script("return changes"), json!(null));
    }
    // A headless browser shows all its tabs: this one is told that it is hidden.
    let hide = |is_hidden: bool| {
        browser.script(&format!(
            "Object.defineProperty(document, 'hidden', {{ value: {is_hidden}, configurable: true }});
             document.dispatchEvent(new Event('visibilitychange'))"
        ));
    };
    let mut tabs = Vec::new();
    for _ in 0..8 {
        tabs.push(open("/"));
        assert_eq!(browser.script("return changes !== null"), json!(true));
        hide(true);
        assert_eq!(browser.script("return changes"), json!(null));
    }
    // A tab that becomes visible again shows what it missed.
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id s").exits_with(3);
    server.until("/", |page| page.contains("/runs/s\""));
    browser.command("window", &json!({"handle": tabs[0]}));
    assert_eq!(browser.texts("tbody th a"), ["r"]);
    hide(false);
    shows(&browser, "document.querySelectorAll('tbody th a').length === 2");
}

/// The selects are usable from a keyboard, whose arrow keys change them one step at a time.
#[test]
fn a_filter_is_chosen_and_then_shown() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    browser.goto(&server.url("/runs/r"));
    browser.script(
        "const it = document.querySelector('select[name=verdict]');
         it.value = 'failed';
         it.dispatchEvent(new Event('change', { bubbles: true }));
         it.focus()",
    );
    assert_eq!(browser.script("return location.search"), json!(""));
    assert_eq!(browser.script("return document.activeElement.name"), json!("verdict"));
    browser.script("document.querySelector('form[role=search] button').click()");
    assert_eq!(browser.texts("#cases tbody th a").len(), 3);
}

#[test]
fn keys_go_from_row_to_row_and_what_is_folded_is_printed() {
    let folder = folder();
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id s").exits_with(3);
    let server = Server::ready(&folder, "");
    let Some(browser) = Browser::start() else { return };
    browser.goto(&server.url("/compare?a=r&b=s&all=yes"));
    for row in 0..3 {
        browser.press("j");
        let of = format!("document.querySelectorAll('[data-row]')[{row}]");
        assert_eq!(
            browser.script(&format!("return document.activeElement === {of}.querySelector('a')")),
            json!(true),
            "{row}"
        );
    }
    browser.press("k");
    let script = "return document.activeElement.closest('tr').rowIndex";
    assert_eq!(browser.script(script), json!(2));
    browser.goto(&server.url("/runs/r"));
    let folded = "return document.querySelectorAll('main details:not([open])').length";
    let before = browser.script(folded);
    assert_ne!(before, json!(0));
    browser.script("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.script(folded), json!(0));
    browser.script("dispatchEvent(new Event('afterprint'))");
    assert_eq!(browser.script(folded), before);
}

/// An open file outlives its name: its contents are not those of the file at the path.
#[test]
fn a_database_that_is_removed_or_replaced_is_not_shown_any_more() {
    let folder = folder();
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id s --db other.db").exits_with(3);
    let server = Server::ready(&folder, "");
    let remove = || {
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path(&format!("scorebox.db{ending}")));
        }
    };
    remove();
    let page = server.get("/runs/r", &[]);
    assert_eq!(page.status, 500, "{}", page.text);
    assert!(page.text.contains("scorebox.db"), "{}", page.text);
    std::fs::rename(folder.path("other.db"), folder.path("scorebox.db")).unwrap();
    server.until("/runs/s?verdict=failed", |page| page.contains("3 cases"));
    assert_eq!(server.get("/runs/r", &[]).status, 404);
}

/// `cp` writes into the existing file.
#[test]
fn a_database_that_is_overwritten_is_not_shown_any_more() {
    let folder = folder();
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id s --db other.db").exits_with(3);
    let server = Server::ready(&folder, "");
    assert_eq!(server.get("/runs/r", &[]).status, 200);
    fs::copy(folder.path("other.db"), folder.path("scorebox.db")).unwrap();
    server.until("/runs/s?verdict=failed", |page| page.contains("3 cases"));
    assert_eq!(server.get("/runs/r", &[]).status, 404);
}

/// Makes every case of the folder's run pass, although no scorer decided that.
fn forge(folder: &Folder, database: &str) {
    let database = Connection::open(folder.path(database)).unwrap();
    let forged = "UPDATE score_rows SET score = 1.0, reason = 'forged' WHERE status = 'scored'";
    assert_ne!(database.execute(forged, []).unwrap(), 0);
}

/// What a page shows about the verdicts of the run `r`, once it shows something.
fn went(server: &Server) -> String {
    const BIG: &str = "<span class=\"big\">";
    let page = server.until("/runs/r", |page| page.contains(BIG));
    let says = page.split_once(BIG).unwrap().1;
    says.split_once('<').unwrap().0.to_owned()
}

/// Neither the path nor the inode number of a file identifies its contents, and the root of a run is only another value
/// in it.
#[test]
fn what_was_read_of_one_database_is_not_shown_of_another_in_its_place() {
    let folder = folder();
    let place = folder.path("scorebox.db");
    fs::copy(&place, folder.path("honest.db")).unwrap();
    forge(&folder, "scorebox.db");
    let honest = fs::read(folder.path("honest.db")).unwrap();
    let forged = went(&Server::ready(&folder, ""));
    // Into the same file, and as a new file that replaces it.
    for is_removed in [false, true] {
        if is_removed {
            forge(&folder, "scorebox.db");
            assert_eq!(went(&Server::ready(&folder, "")), forged);
            fs::remove_file(&place).unwrap();
        }
        fs::write(&place, &honest).unwrap();
        let server = Server::start(&folder, "");
        assert_eq!(went(&server), "2 of 6", "{is_removed}");
        assert_ne!(forged, "2 of 6");
        let failed = server.get("/runs/r?verdict=failed", &[]).text;
        assert!(failed.contains("3 cases"), "{is_removed}: {failed}");
        let words = server.get("/runs/r?q=forged", &[]).text;
        assert!(words.contains("No case is like that."), "{is_removed}: {words}");
    }
}

#[test]
fn what_another_program_changes_in_a_database_that_is_served_is_shown() {
    let folder = folder();
    folder.write("elsewhere.jsonl", r#"{"id": "good", "output": "5", "groundTruth": "4"}"#);
    folder.sh("scorebox run suite.toml elsewhere.jsonl -q --run-id s").exits_with(3);
    let server = Server::ready(&folder, "");
    let compared =
        || server.until("/compare?a=r&b=s", |page| page.contains("aria-label=\"Differences\""));
    let before = compared();
    assert_eq!(went(&server), "2 of 6");
    forge(&folder, "scorebox.db");
    server.until("/runs/r?q=forged", |page| page.contains("6 cases"));
    server.until("/runs/r", |page| page.contains(" of 6<") && !page.contains(">2 of 6<"));
    server.until("/runs/r?verdict=failed", |page| page.contains("No case is like that."));
    server.until("/compare?a=r&b=s", |page| {
        page.contains("aria-label=\"Differences\"") && *page != before
    });
    // Together with a run that arrives, which explains a changed file.
    let database = Connection::open(folder.path("scorebox.db")).unwrap();
    database.execute("DELETE FROM score_rows WHERE reason = 'forged'", []).unwrap();
    drop(database);
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id t").exits_with(3);
    server.until("/runs/r?q=forged", |page| page.contains("No case is like that."));
}

/// The index of the pages.
fn index(folder: &Folder) -> Option<std::path::PathBuf> {
    let files = fs::read_dir(folder.path("index/pages")).unwrap();
    files.map(|it| it.unwrap().path()).find(|it| it.extension().is_some_and(|it| it == "index"))
}

/// Figures that were computed in the middle of a run are not its outcome.
#[test]
fn a_run_that_is_over_has_no_figures_until_all_of_it_is_read() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    let mut going = Going::start(&folder);
    going.arrives("first", "4");
    going.arrives("second", "4");
    server.until("/runs/going", |page| page.contains(">2 of 2<"));
    // Nothing more is written into the index for now.
    let index = Connection::open(index(&folder).unwrap()).unwrap();
    index.execute_batch("BEGIN IMMEDIATE").unwrap();
    for id in ["third", "fourth", "fifth"] {
        going.arrives(id, "5");
    }
    going.ends();
    let page = server.get("/runs/going", &[]).text;
    assert!(page.contains("reading cases: 2 of 5") && !page.contains(">2 of 2<"), "{page}");
    assert!(page.contains("Found are cases that are read: 2 of 5."), "{page}");
    let failed = server.get("/runs/going?verdict=failed", &[]).text;
    assert!(failed.contains("None of the cases that are read is like that."), "{failed}");
    let runs = server.get("/", &[]).text;
    assert!(runs.contains("reading cases: 2 of 5"), "{runs}");
    let scorer = server.get("/scorer?id=right", &[]).text;
    assert!(scorer.contains("1 run has it and is not read to the end yet"), "{scorer}");
    let compared = server.get("/compare?a=r&b=going", &[]).text;
    assert!(compared.contains("reading cases: 2 of 5"), "{compared}");
    assert!(compared.contains("B: Found are cases that are read: 2 of 5."), "{compared}");
    index.execute_batch("ROLLBACK").unwrap();
    server.until("/runs/going", |page| page.contains(">2 of 5<"));
    let failed = server.get("/runs/going?verdict=failed", &[]).text;
    assert!(failed.contains("3 cases"), "{failed}");
}

#[test]
fn a_run_that_is_damaged_says_so_and_holds_up_no_other() {
    let folder = folder();
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id s").exits_with(3);
    let database = Connection::open(folder.path("scorebox.db")).unwrap();
    let change = |reason: &str| {
        let sql = format!(
            "UPDATE score_rows SET reason = {reason} WHERE case_key = (SELECT max(case_key) FROM cases)"
        );
        database.execute(&sql, []).unwrap();
    };
    change("CAST(x'ff' AS TEXT)");
    let server = Server::ready(&folder, "");
    assert_eq!(went(&server), "2 of 6");
    let runs = server.get("/", &[]).text;
    assert!(runs.contains("this run cannot be read to its end"), "{runs}");
    let damaged = server.get("/runs/s?q=good", &[]).text;
    assert!(damaged.contains("This run cannot be read to its end"), "{damaged}");
    assert!(damaged.contains("scorebox.db is damaged: "), "{damaged}");
    assert!(!damaged.contains("Nothing new is read"), "{damaged}");
    // A user who repairs it sees it.
    change("NULL");
    server.until("/runs/s", |page| page.contains(">2 of 6<"));
}

#[test]
fn an_index_that_is_removed_is_made_again() {
    let folder = folder();
    let server = Server::ready(&folder, "");
    for _ in 0..2 {
        fs::remove_file(index(&folder).unwrap()).unwrap();
        server.until("/runs/r?q=lyon", |page| page.contains("1 case<") && index(&folder).is_some());
    }
}

/// An unfinished request does not delay the end, and the second signal does not wait at all.
#[test]
fn the_server_ends_whatever_is_connected() {
    let folder = folder();
    for (signals, code) in [(&["-INT"][..], 0), (&["-INT", "-TERM"], 143)] {
        let mut server = Server::ready(&folder, "");
        let mut half = TcpStream::connect(&server.address).unwrap();
        half.write_all(b"GET / HTTP/1.1\r\nX-Half: ").unwrap();
        assert_eq!(server.get("/", &[]).status, 200);
        for signal in signals {
            let process = server.process.id().to_string();
            let sent = Command::new("kill").args([*signal, &process]).status().unwrap();
            assert!(sent.success(), "{signal}");
            // The first signal has arrived once no connection is accepted any more.
            while TcpStream::connect(&server.address).is_ok() {
                std::thread::yield_now();
            }
        }
        assert_eq!(server.process.wait().unwrap().code(), Some(code));
    }
}
