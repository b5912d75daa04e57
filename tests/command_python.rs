//! Python scripts as scorers, as a user runs them. `hostile_python` tests scripts that misbehave. All tests but the
//! first need the component of `scorebox toolchain add python`, and report that they were skipped without it.

use std::fs;

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::Folder;

/// A folder, if Python scripts can run here.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
pub(crate) fn with_python() -> Option<Folder> {
    let folder = Folder::new();
    let listed = folder.sh("scorebox toolchain list").exits_with(0);
    if listed.stdout.contains("not installed") {
        eprintln!("left out: it needs what `scorebox toolchain add python` makes");
        return None;
    }
    Some(folder)
}

const OVERLAP: &str = r#"
from lib.words import words
from collections import Counter

info = {
    "id": "overlap",
    "name": "Overlap",
    "description": "How many words are shared.",
    "version": "1.2.0",
    "configSchema": {
        "type": "object",
        "properties": {"ignoreCase": {"type": "boolean", "default": True}},
        "additionalProperties": False,
    },
    "reads": ["groundTruth"],
    "severity": "soft",
    "threshold": 0.5,
}


def score(case, config):
    if "groundTruth" not in case:
        raise InvalidInput("the case has no groundTruth")
    truth = words(case["groundTruth"], config["ignoreCase"])
    output = words(case["output"], config["ignoreCase"])
    shared = (Counter(truth) & Counter(output)).total()
    return {
        "score": 2 * shared / (len(truth) + len(output)),
        "reason": f"{shared} of {len(truth)} words",
        "meta": {"shared": shared, "config": config, "given": list(case)},
    }


def summarize(scores):
    return {"count": len(scores), "best": max(row["score"] or 0 for row in scores), "first": scores[0]["meta"]["shared"]}
"#;
const WORDS: &str = r#"
import json
import re


def words(value, ignore_case):
    text = value if isinstance(value, str) else json.dumps(value)
    return re.findall("[A-Za-z0-9]+", text.lower() if ignore_case else text)
"#;

fn with_overlap() -> Option<Folder> {
    let folder = with_python()?;
    std::fs::create_dir(folder.path("lib")).unwrap();
    folder.write("overlap.py", OVERLAP);
    folder.write("lib/words.py", WORDS);
    Some(folder)
}

#[test]
fn without_what_runs_python_a_script_says_how_to_have_it() {
    let folder = Folder::new();
    folder.write("grade.py", "def score(case, config):\n    return 1\n");
    assert_snapshot!(folder.sh("SCOREBOX_DATA_DIR=none scorebox score grade.py --output 1"), @r"
    [stderr]
    error: the script `grade.py` cannot be run: there is no interpreter for Python
    hint: make it, once: scorebox toolchain add python
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("SCOREBOX_DATA_DIR=none scorebox toolchain list"), @r"
    javascript  embedded
    typescript  embedded
    python      not installed; install it: scorebox toolchain add python
    [exit code 0]
    ");
    let add = "SCOREBOX_DATA_DIR=data scorebox toolchain add python --python no-such-python";
    assert_snapshot!(folder.sh(add), @r"
    [stderr]
    error: Python cannot be started: `no-such-python`: No such file or directory (os error 2)
    hint: install Python 3.10 or later, or name it: --python PROGRAM
    [exit code 2]
    ");
    assert_eq!(fs::read_dir(folder.path("data")).unwrap().count(), 0, "nothing is left");
}

/// The names in the data folder.
fn data(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path("data")).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_signal_while_what_runs_python_is_made_leaves_nothing() {
    let folder = Folder::new();
    folder.write("slow", "#!/bin/sh\n[ $1 = -c ] && exec echo 3 12\nexec sleep 3\n");
    folder.sh("chmod +x slow").exits_with(0);
    let child =
        folder.spawn("env SCOREBOX_DATA_DIR=data scorebox toolchain add python --python ./slow");
    while data(&folder).is_empty() {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let words = String::from_utf8(ended.stderr).unwrap();
    assert!(words.starts_with("Interrupted: `data/python-"), "{words}");
    assert!(words.ends_with(".wasm` was not written.\n"), "{words}");
    assert_eq!(data(&folder), [""; 0]);
}

#[test]
fn what_a_killed_process_left_beside_the_engines_goes_once_it_is_old() {
    let folder = Folder::new();
    folder
        .sh("mkdir -p data/python.old/environment data/python.new data/another.old
             touch -d '2 hours ago' data/python.old data/another.old")
        .exits_with(0);
    folder
        .sh("SCOREBOX_DATA_DIR=data scorebox toolchain add python --python no-such-python")
        .exits_with(2);
    assert_eq!(data(&folder), ["another.old", "python.new"]);
}

#[test]
fn a_script_scores_a_case_and_says_what_it_is() {
    let Some(folder) = with_overlap() else { return };
    let case = "--output-text 'It is PARIS' --ground-truth '\"Paris\"' --input '\"Where?\"'";
    assert_snapshot!(folder.sh(&format!("scorebox score overlap.py {case} | grep -v memoryBytes")), @r#"
    {
      "scorerId": "overlap.py",
      "status": "scored",
      "score": 0.5,
      "reason": "1 of 1 words",
      "meta": {"shared":1,"config":{"ignoreCase":true},"given":["output","groundTruth"]},
      "fuel": [fuel],
      "durationMs": [time]
    }
    [exit code 0]
    "#);
    let absent = folder.sh("scorebox score overlap.py --output 1").exits_with(1);
    assert_eq!(absent.json()["error"]["kind"], "invalid-input");
    assert_eq!(absent.json()["error"]["message"], "the case has no groundTruth");
    let typo = folder.sh("scorebox score overlap.py --output 1 --config '{\"ignorCase\": true}'");
    assert_snapshot!(typo, @r"
    [stderr]
    error: scorer `overlap.py`: invalid-config: unknown key `ignorCase`
    hint: did you mean `ignoreCase`?
    [exit code 2]
    ");
    let inspected = folder.sh("scorebox inspect overlap.py").exits_with(0);
    for line in [
        "scorer        Overlap (overlap), version 1.2.0",
        "severity      soft, threshold 0.5",
        "reads         output, groundTruth",
        "starts        every score starts from the memory that `configure` left",
    ] {
        assert!(inspected.stdout.contains(line), "{inspected}");
    }
}

#[test]
fn a_run_of_a_script_ends_with_its_summary_and_verifies_without_the_files() {
    let Some(folder) = with_overlap() else { return };
    folder.write("suite.toml", "version = 1\n[scorers.overlap]\nuse = \"./overlap.py\"\n");
    let run = folder.sh("scorebox run suite.toml answers.jsonl --run-id r").exits_with(0);
    assert!(run.stdout.contains("\"count\": 400"), "{run}");
    folder.sh("rm -r overlap.py lib").exits_with(0);
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r"), @r"
    [stderr]
    401 verified, 0 different, 0 not verifiable
    [exit code 0]
    ");
}

#[test]
fn what_a_script_builds_to_is_the_component_that_it_is_anyway() {
    let Some(folder) = with_overlap() else { return };
    folder.sh("scorebox build overlap.py -o built.wasm").exits_with(0);
    folder.write("one.jsonl", "{\"output\": \"a b\", \"groundTruth\": \"a\"}\n");
    folder.sh("scorebox run one.jsonl -s a=overlap.py -s b=./built.wasm -q").exits_with(0);
    assert_eq!(
        folder.rows(
            "SELECT count(*), count(DISTINCT scorer_digest), count(DISTINCT fuel) FROM scores"
        ),
        ["2 | 1 | 1"]
    );
}

#[test]
fn an_error_names_file_line_and_column_of_what_the_author_wrote() {
    let Some(folder) = with_overlap() else { return };
    folder.write("lib/boom.py", "def boom(value):\n    é = None; return é.length\n");
    folder.write(
        "throws.py",
        "from lib import boom\n\n\ndef score(case, config):\n    return boom.boom(1)\n",
    );
    let failed = folder.sh("scorebox score throws.py --output 1").exits_with(1);
    assert_eq!(
        failed.json()["error"]["message"],
        "lib/boom.py:2:22: AttributeError: 'NoneType' object has no attribute 'length'"
    );
    folder.write("typo.py", "def score(case, config):\n\tx = = 1\n");
    assert_snapshot!(folder.sh("scorebox score typo.py --output 1"), @r"
    [stderr]
    error: scorer `typo.py`: invalid-script: typo.py:2:6: SyntaxError: invalid syntax
         x = = 1
             ^
    [exit code 2]
    ");
    folder.write("top.py", "rows = None\nrows['a']\ndef score(case, config): return 1\n");
    assert_snapshot!(folder.sh("scorebox build top.py"), @r"
    [stderr]
    error: script `top.py`: invalid-script: top.py:2:1: TypeError: 'NoneType' object is not subscriptable
        rows['a']
        ^
    [exit code 2]
    ");
    folder.write("missing.py", "import numpy\n");
    assert_snapshot!(folder.sh("scorebox score missing.py --output 1"), @r"
    [stderr]
    error: scorer `missing.py`: invalid-script: missing.py:1:1: ModuleNotFoundError: No module named 'numpy'
        import numpy
        ^
    [exit code 2]
    ");
}

#[test]
fn the_log_of_a_score_has_what_a_script_prints() {
    let Some(folder) = with_python() else { return };
    folder.write(
        "talks.py",
        "import sys\nasync def score(case, config):\n    print('got', case['output'])\n    print('hm', file=sys.stderr)\n    print('end', end='')\n    return True\n",
    );
    let output = folder.sh("scorebox score talks.py --output '\"x\"'").exits_with(0);
    assert_eq!(
        output.json()["log"],
        serde_json::json!([
            { "level": "info", "message": "got x" },
            { "level": "warn", "message": "hm" },
            { "level": "info", "message": "end" },
        ])
    );
}

#[test]
fn messages_of_logging_are_in_the_log() {
    let Some(folder) = with_python() else { return };
    let script =
        "import logging\n\ndef score(case, config):\n    logging.warning('low')\n    return 1\n";
    folder.write("logs.py", script);
    let answer: serde_json::Value = folder.sh("scorebox score logs.py --output-text a").json();
    assert_eq!(answer["score"], 1.0, "{answer}");
    assert!(answer["log"].to_string().contains("low"), "{answer}");
}

#[test]
fn the_clock_stands_still_and_random_numbers_repeat() {
    let Some(folder) = with_python() else { return };
    folder.write(
        "chance.py",
        "import datetime, os, random, secrets, time, uuid\n\
         def score(case, config):\n\
         \x20   return {'score': time.time(), 'meta': [random.random(), random.random(), random.Random().random(), \
         secrets.token_hex(4), str(uuid.uuid4()), os.urandom(3).hex(), str(datetime.datetime.now()), \
         str(datetime.date.today()), time.strftime('%Y'), time.localtime().tm_year]}\n",
    );
    folder.write("three.jsonl", "{\"output\": 1}\n{\"output\": 2}\n{\"output\": 3}\n");
    folder.sh("scorebox run three.jsonl -s chance.py --run-id r -q");
    assert_eq!(
        folder.rows(
            "SELECT count(*), count(DISTINCT meta_json), min(meta_json ->> 0) <> min(meta_json ->> 1), max(score),
             max(meta_json ->> 6), max(meta_json ->> 7), max(meta_json ->> 8), max(meta_json ->> 9) FROM scores"
        ),
        ["3 | 1 | 1 | 0 | 1970-01-01 00:00:00 | 1970-01-01 | 1970 | 1970"]
    );
    folder.sh("scorebox verify --trust-cache r").exits_with(0);
}

#[test]
fn what_a_file_does_where_it_is_run_itself_is_not_done() {
    let Some(folder) = with_python() else { return };
    let script = "import sys\nfrom dataclasses import dataclass\n@dataclass\nclass Answer:\n    text: 'str'\n\
                  def score(case, config):\n    return {'score': 1, 'label': __name__, 'reason': repr(Answer('a'))}\n\
                  if __name__ == '__main__':\n    import argparse\n    sys.exit(2)\n";
    // The second one has the name of a module of Python's standard library.
    for (file, name) in [("grade.py", "grade"), ("json.py", "json.py")] {
        folder.write(file, script);
        let answer = folder.sh(&format!("scorebox score {file} --output 1")).exits_with(0).json();
        assert_eq!(answer["label"], name);
        assert_eq!(answer["reason"], "Answer(text='a')");
    }
}
