//! A real Chromium that tests drive through its driver (W3C WebDriver, JSON over HTTP on the loopback interface), and
//! axe-core, which finds accessibility problems. Knows nothing of scorebox. Without an installed browser, tests report
//! that they were skipped.
//!
//! This file contains its own client: existing ones turn on features of shared crates, which would make the sandbox
//! compile a second time for the tests.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

/// axe-core 4.14.1 (Deque Systems), under the Mozilla Public License 2.0: see `browser/LICENSE-axe`.
const AXE: &str = include_str!("browser/axe.min.js");

/// A browser with an empty profile, until it is dropped.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser; both may have ended by themselves.
        let _ = request(self.port, "DELETE", &format!("/session/{}", self.session), &json!({}));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// A driver of browsers, and its port. It binds the port for IPv4 and IPv6, and ends if another process has taken one
/// of the two meanwhile.
fn driver(temporary: &Path) -> std::io::Result<(Child, u16)> {
    for _ in 0..5 {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("TMPDIR", temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        // `ChromeDriver was started successfully on port 40211.`
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        if let Some(port) = port {
            return Ok((driver, port));
        }
        driver.wait()?;
    }
    panic!("chromedriver says its port");
}

impl Browser {
    /// A browser that can only reach this machine. `None`, with a message, if no browser is installed.
    pub(crate) fn start() -> Option<Browser> {
        let profile = tempfile::tempdir().unwrap();
        let Ok((driver, port)) = driver(profile.path()) else {
            // Bypasses the test harness, which captures the output of a test that passes.
            let name = std::thread::current().name().unwrap_or("a test").to_owned();
            let words = "no chromium with its chromedriver is installed";
            let _ = writeln!(std::io::stderr(), "{name} LEFT OUT: {words}");
            return None;
        };
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
            "--window-size=1280,900",
            &format!("--user-data-dir={}", profile.path().join("profile").display()),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments},
            "timeouts": {"script": 120_000, "pageLoad": 120_000},
        }}});
        let session = request(port, "POST", "/session", &wanted);
        let session = session["sessionId"].as_str().unwrap_or_else(|| panic!("{session}"));
        Some(Browser { driver, port, session: session.to_owned(), _profile: profile })
    }

    /// The driver's answer to a command of the session.
    pub(crate) fn command(&self, name: &str, body: &Value) -> Value {
        let answer = request(self.port, "POST", &format!("/session/{}/{name}", self.session), body);
        assert!(answer.get("error").is_none(), "{name}: {answer}");
        answer
    }

    pub(crate) fn goto(&self, url: &str) {
        self.command("url", &json!({ "url": url }));
    }

    /// The return value of a script.
    pub(crate) fn script(&self, script: &str) -> Value {
        self.command("execute/sync", &json!({"script": script, "args": []}))
    }

    /// The value that a script passes to the function that is its last argument.
    pub(crate) fn script_that_waits(&self, script: &str) -> Value {
        self.command("execute/async", &json!({"script": script, "args": []}))
    }

    pub(crate) fn title(&self) -> String {
        self.script("return document.title").as_str().unwrap().to_owned()
    }

    /// The texts of all elements that match a selector, shown or not, with each run of white space as one space.
    pub(crate) fn texts(&self, selector: &str) -> Vec<String> {
        let script = format!(
            "return [...document.querySelectorAll({})].map((it) => it.textContent.replace(/\\s+/g, ' ').trim())",
            json!(selector)
        );
        serde_json::from_value(self.script(&script)).unwrap()
    }

    /// Presses a key where the focus is.
    pub(crate) fn press(&self, key: &str) {
        let press = json!({"actions": [{"type": "key", "id": "keyboard", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key},
        ]}]});
        self.command("actions", &press);
    }

    /// The accessibility rules that the shown page breaks, with the elements; only rules that axe-core calls serious or
    /// critical.
    pub(crate) fn barriers(&self) -> Vec<String> {
        self.script(AXE);
        let found = self.script_that_waits(
            "const done = arguments[arguments.length - 1];
             axe.run(document, {resultTypes: ['violations']}).then((it) => done(it.violations
                 .filter((it) => ['serious', 'critical'].includes(it.impact))
                 .map((it) => `${it.id}: ${it.nodes.map((it) => it.html).slice(0, 3).join(' ')}`)))
                 .catch((it) => done([`axe failed: ${it}`]))",
        );
        serde_json::from_value(found).unwrap()
    }

    /// Sets the width of the window in pixels, which may be less than a desktop window can have.
    pub(crate) fn set_width(&self, width: u32) {
        let metrics =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        let command = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics});
        self.command("goog/cdp/execute", &command);
    }

    /// Shows the page as for a user who prefers a dark colour scheme.
    pub(crate) fn prefer_dark(&self) {
        let features = json!([{"name": "prefers-color-scheme", "value": "dark"}]);
        let command =
            json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}});
        self.command("goog/cdp/execute", &command);
    }

    /// Lays the page out for paper of this width, in pixels.
    pub(crate) fn print_on(&self, width: u32) {
        self.set_width(width);
        let command = json!({"cmd": "Emulation.setEmulatedMedia", "params": {"media": "print"}});
        self.command("goog/cdp/execute", &command);
    }

    /// The elements that match a selector and reach beyond the right edge of the window, even if they are cut off
    /// there.
    pub(crate) fn beyond_the_edge(&self, selector: &str) -> Vec<String> {
        let script = format!(
            "const edge = document.documentElement.clientWidth;
             return [...document.querySelectorAll({})].filter((it) => it.getBoundingClientRect().right > edge)
                 .map((it) => it.outerHTML.slice(0, 80))",
            json!(selector)
        );
        serde_json::from_value(self.script(&script)).unwrap()
    }

    /// Whether the page is wider than its window.
    pub(crate) fn is_too_wide(&self) -> bool {
        let wider =
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth";
        self.script(wider) == json!(true)
    }
}

/// The `value` of the driver's answer.
fn request(port: u16, method: &str, path: &str, body: &Value) -> Value {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let body = body.to_string();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let mut answer = vec![0; length];
    reader.read_exact(&mut answer).unwrap();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    answer["value"].clone()
}
