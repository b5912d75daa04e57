//! `scorebox build --watch`: each save builds again and scores the sample cases; a mistake in a save does not end it,
//! and Ctrl-C does.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, ChildStdout, Stdio},
    thread,
    time::Duration,
};

use insta::assert_snapshot;

use crate::fixture::Folder;

/// A watching build, and its output.
struct Watching {
    child: Child,
    words: BufReader<ChildStdout>,
}

impl Watching {
    fn begin(folder: &Folder, command: &str) -> Watching {
        // A background job of a shell would ignore Ctrl-C.
        let mut shell = folder.shell(&format!("exec {command} 2>&1"));
        let mut child = shell.stdout(Stdio::piped()).spawn().unwrap();
        let words = BufReader::new(child.stdout.take().unwrap());
        Watching { child, words }
    }

    /// Its output until it waits for a save, without the component's size and digest.
    fn said(&mut self) -> String {
        let mut said = String::new();
        loop {
            let mut line = String::new();
            assert!(self.words.read_line(&mut line).unwrap() > 0, "it ended: {said}");
            if line.contains("sha-256") {
                line.replace_range(..line.find("-> ").unwrap(), "built ");
            }
            said.push_str(&line);
            if line.starts_with("watching ") {
                return said;
            }
        }
    }

    fn interrupt(mut self) -> Option<i32> {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

/// Ends the process, even if the test fails.
impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_save_builds_again_and_scores_the_sample_cases_until_it_is_interrupted() {
    let folder = Folder::new();
    folder.sh("scorebox new brief --lang js").exits_with(0);
    let script = fs::read_to_string(folder.path("brief/brief.js")).unwrap();
    let mut watching = Watching::begin(&folder, "scorebox build brief/brief.js --watch");
    assert_snapshot!(watching.said(), @r#"
    built -> brief/brief.wasm
    case         score  verdict  reason
    has it      1.0000  passed   the output has "paris"
    has it not  0.0000  passed   the output does not have "paris"
    2 of 2 cases passed
    watching `brief`; Ctrl-C ends it
    "#);
    folder.write("brief/brief.js", "export default (input) => ;\n");
    assert_snapshot!(watching.said(), @"
    error: script `brief/brief.js`: invalid-script: brief.js:1:27: SyntaxError: unexpected token in expression: ';'
        export default (input) => ;
                                  ^
    watching `brief`; Ctrl-C ends it
    ");
    folder.write("brief/brief.js", script.replace("score: found", "score: !found"));
    let wrong = watching.said();
    assert!(wrong.contains("0 of 2 cases passed"), "{wrong}");
    folder.write("brief/brief.js", "export default () => { throw new Error('no'); };\n");
    let failed = watching.said();
    assert!(failed.contains("error  errored  failed: brief.js:1:34: no"), "{failed}");
    folder.write("brief/test.jsonl", "{\"id\": \"no\"");
    let case = watching.said();
    assert!(case.contains("error: brief/test.jsonl:1:11: not valid JSON"), "{case}");
    fs::remove_file(folder.path("brief/brief.js")).unwrap();
    let gone = watching.said();
    assert!(
        gone.starts_with("error: cannot read the scorer `brief/brief.js`: no such file\n"),
        "{gone}"
    );
    assert_eq!(watching.interrupt(), Some(130));
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn other_sample_cases_can_be_named_and_none_need_be_there() {
    let folder = Folder::new();
    folder.write("long.js", "export default (input) => String(input.output).length / 1000;\n");
    let mut watching = Watching::begin(&folder, "scorebox build long.js --watch");
    assert_snapshot!(watching.said(), @"
    built -> ./long.wasm
    there is no test.jsonl with sample cases; --cases FILE names others
    watching `.`; Ctrl-C ends it
    ");
    assert_eq!(watching.interrupt(), Some(130));
    let cases = "scorebox build long.js --watch --cases answers.jsonl";
    let mut watching = Watching::begin(&folder, cases);
    let said = watching.said();
    assert!(said.contains(" of 400 cases passed; the first 50 are shown\n"), "{said}");
    assert_eq!(said.lines().count(), 54, "{said}");
    assert_eq!(watching.interrupt(), Some(130));
}

#[test]
fn a_folder_that_is_no_scorers_is_refused_and_not_watched() {
    let folder = Folder::new();
    folder.write("half.js", "export default () => 0.5;\n");
    let refused = folder.sh("timeout 60 scorebox build . --watch").exits_with(2);
    let message = "error: `.` is not a scorer in a language that is known here\nhint: ";
    assert!(refused.stderr.starts_with(message), "{refused}");
}

/// The folder contains files that change but that are not built from, including the log of the build itself.
#[test]
fn what_no_scorer_is_made_of_builds_nothing() {
    let folder = Folder::new();
    folder.write("half.js", "export default () => 0.5;\n");
    let mut shell = folder.shell("exec scorebox build half.js --watch > log.json 2>&1");
    let mut child = shell.spawn().unwrap();
    let said = || fs::read_to_string(folder.path("log.json")).unwrap_or_default();
    let builds_are = |number: usize| {
        for _ in 0..600 {
            if said().matches("watching ").count() == number {
                // Enough time to check the files a few more times.
                thread::sleep(Duration::from_millis(1200));
                return said().matches("watching ").count() == number;
            }
            thread::sleep(Duration::from_millis(50));
        }
        false
    };
    let mut built = vec![builds_are(1)];
    folder.write("notes.txt", "hi");
    built.push(builds_are(1));
    folder.write("data.json", "{}");
    built.push(builds_are(2));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(built, [true; 3], "{}", said());
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox build nowhere.js --watch"), @"
    [stderr]
    error: `nowhere.js` does not exist
    hint: name a folder with Cargo.toml, go.mod, build.zig, asconfig.json, or sources in C, C++ or Zig, or a file: .js, .ts, .py, .c, .cpp, .zig, or .wasm of a core module; `scorebox new` makes a scorer
    [exit code 2]
    ");
    let all = folder.sh("scorebox build --all . --watch").exits_with(2);
    assert!(all.stderr.contains("cannot be used with"), "{all}");
    let cases = folder.sh("scorebox build . --cases answers.jsonl").exits_with(2);
    assert!(cases.stderr.contains("--watch"), "{cases}");
}
