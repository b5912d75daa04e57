//! Python scripts that return nonsense, never end, reach outside of the sandbox, or break the language for themselves.
//! `command_python` tests scripts that behave.

use std::fmt::Write as _;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{command_python::with_python, fixture::Folder};

/// The outcome of each of these functions, in a script that calls the function that the case names.
fn endings(folder: &Folder, functions: &[(&str, &str)], options: &str) -> String {
    let mut script = String::from("import json, os, re, sys\n");
    for (name, body) in functions {
        writeln!(script, "def {name}(case):\n    {body}").unwrap();
    }
    script.push_str("def score(case, config):\n    return globals()[case['output']](case)\n");
    folder.write("hostile.py", script);
    let mut endings = String::new();
    for (name, _) in functions {
        let line =
            format!("scorebox score hostile.py --output-text {name} --timeout 60s {options}");
        let answer: Value = folder.sh(&line).json();
        let error = &answer["error"];
        let message = error["message"].as_str().unwrap_or_default();
        // The first line of a crash is followed by wasmtime's message and the frames.
        let message = message.lines().next().unwrap_or_default();
        match error["kind"].as_str() {
            Some(kind) => writeln!(endings, "{name}: {kind}: {message}").unwrap(),
            None => writeln!(endings, "{name}: {} {}", answer["status"], answer["score"]).unwrap(),
        }
    }
    endings
}

#[test]
fn an_invalid_result_is_an_error_and_never_a_score() {
    let Some(folder) = with_python() else { return };
    let functions = [
        ("nan", "return float('nan')"),
        ("infinite", "return {'score': float('-inf')}"),
        ("above", "return 2"),
        ("huge", "return 10 ** 400"),
        ("string", "return 'good'"),
        ("array", "return [1]"),
        ("generator", "return (i for i in range(3))"),
        ("empty", "return {}"),
        ("text", "return {'score': '1'}"),
        ("inside", "return {'score': {'score': 1}}"),
        ("typo", "return {'score': 1, 'reasons': 'x'}"),
        ("reason", "return {'score': 1, 'reason': 7}"),
        ("cycle", "a = {}; a['a'] = a; return {'score': 1, 'meta': a}"),
        ("setmeta", "return {'score': 1, 'meta': {1, 2}}"),
        ("nanmeta", "return {'score': 1, 'meta': float('nan')}"),
        ("assertions", "return {'score': 1, 'assertions': {'name': 'a'}}"),
        ("unnamed", "return {'score': 1, 'assertions': [{'score': 1}]}"),
        (
            "severity",
            "return {'score': 1, 'assertions': [{'name': 'a', 'score': 1, 'severity': 'hard'}]}",
        ),
        ("inapplicable", "return None"),
        ("true", "return True"),
    ];
    assert_snapshot!(endings(&folder, &functions, ""), @r#"
    nan: invalid-score: the score is NaN; it must be 0 to 1
    infinite: invalid-score: the score is -inf; it must be 0 to 1
    above: invalid-score: the score is 2; it must be 0 to 1
    huge: failed: hostile.py: the score is too large for a number
    string: failed: hostile.py: the script returned a str; a score is a number, True or False, None if the scorer does not apply, or a dict with `score`
    array: failed: hostile.py: the script returned a list; a score is a number, True or False, None if the scorer does not apply, or a dict with `score`
    generator: failed: hostile.py: the script returned a generator; a score is a number, True or False, None if the scorer does not apply, or a dict with `score`
    empty: failed: hostile.py: the script returned a dict without `score`; a score is a number, True or False, None if the scorer does not apply, or a dict with `score`
    text: failed: hostile.py: `score` is a str; it must be a number, True or False, or None if the scorer does not apply
    inside: failed: hostile.py: `score` is a dict; it must be a number, True or False, or None if the scorer does not apply
    typo: failed: hostile.py: the result has the unknown key `reasons`; the keys are `score`, `reason`, `label`, `meta`, `assertions`
    reason: failed: hostile.py: `reason` is an int, not a string
    cycle: failed: hostile.py: `meta` cannot be written as JSON: ValueError: Circular reference detected
    setmeta: failed: hostile.py: `meta` cannot be written as JSON: TypeError: Object of type set is not JSON serializable
    nanmeta: failed: hostile.py: `meta` cannot be written as JSON: ValueError: Out of range float values are not JSON compliant: nan
    assertions: failed: hostile.py: `assertions` is a dict, not a list
    unnamed: failed: hostile.py: `assertions[0]` has no `name`
    severity: failed: hostile.py: `assertions[0].severity` is 'hard'; it must be 'gate' or 'soft'
    inapplicable: "not-applicable" null
    true: "scored" 1.0
    "#);
}

#[test]
fn half_of_a_surrogate_pair_in_an_answer_is_a_replacement_character() {
    let Some(folder) = with_python() else { return };
    folder.write(
        "cuts.py",
        "def score(case, config):\n    head = case['output'][:5]\n    print(head)\n    \
         return {'score': 1, 'label': head, 'reason': '\\ude00 hello', 'meta': {head: ['😀', '\\ud83d', '\\ud83d' + '\\ude00']}}\n",
    );
    let answer =
        folder.sh(r#"scorebox score cuts.py --output '"abcd\ud83d hello"'"#).exits_with(0).json();
    assert_eq!(answer["label"], "abcd\u{fffd}");
    assert_eq!(answer["reason"], "\u{fffd} hello");
    assert_eq!(answer["meta"], json!({"abcd\u{fffd}": ["😀", "\u{fffd}", "😀"]}));
    assert_eq!(answer["log"][0]["message"], "abcd\u{fffd}");
}

#[test]
fn whatever_is_raised_is_an_error_of_the_score() {
    let Some(folder) = with_python() else { return };
    let functions = [
        ("exits", "sys.exit(3)"),
        ("interrupt", "raise KeyboardInterrupt"),
        ("unprintable", "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})()"),
        ("evaluated", "return eval('1 / 0')"),
        ("about_the_case", "raise InvalidInput('no truth')"),
        ("a_dict", "return type('D', (dict,), {'__contains__': lambda self, key: 1 / 0})(score=1)"),
        ("recursion", "f = lambda n: f(n + 1) + 1; return f(0)"),
        ("long", "raise ValueError('x' * 10_000_000)"),
    ];
    let long = format!("long: failed: hostile.py:17:5: ValueError: {}…\n", "x".repeat(3988));
    let (endings, of_long) = {
        let all = endings(&folder, &functions, "");
        let at = all.find("long: ").unwrap();
        (all[..at].to_owned(), all[at..].to_owned())
    };
    assert_eq!(of_long, long);
    assert_snapshot!(endings, @r#"
    exits: failed: hostile.py:3:5: SystemExit: 3
    interrupt: failed: hostile.py:5:5: KeyboardInterrupt
    unprintable: failed: hostile.py:7:5: E
    evaluated: failed: hostile.py:9:12: ZeroDivisionError: division by zero
    about_the_case: invalid-input: no truth
    a_dict: failed: hostile.py:13:66: ZeroDivisionError: division by zero
    recursion: failed: hostile.py:15:19: RecursionError: maximum recursion depth exceeded
    "#);
}

#[test]
fn a_coroutine_that_is_not_awaited_is_an_error_and_not_a_score() {
    let Some(folder) = with_python() else { return };
    let check = "async def check():\n    return False\n\n";
    for (body, line) in [
        ("async def score(case, config):\n    check()\n    return 1\n", 5),
        ("def score(case, config):\n    return 1 if check() else 0\n", 5),
        ("def score(case, config):\n    verdict = check()\n    return bool(verdict)\n", 5),
    ] {
        folder.write("forgets.py", format!("{check}{body}"));
        let answer: Value = folder.sh("scorebox score forgets.py --output-text a").json();
        let message = answer["error"]["message"].as_str().unwrap();
        let expected = format!(
            "forgets.py: the coroutine of `check` in line {line} of forgets.py was never awaited; write `await check(…)`"
        );
        assert!(message.ends_with(&expected), "{message}");
    }
    folder.write("early.py", format!("{check}check()\ndef score(case, config):\n    return 1\n"));
    let refused = folder.sh("scorebox score early.py --output-text a").exits_with(2);
    assert!(
        refused.stderr.contains("`check` in line 4 of early.py was never awaited"),
        "{refused}"
    );
    folder.write(
        "waits.py",
        format!("{check}async def score(case, config):\n    return await check()\n"),
    );
    let answer: Value = folder.sh("scorebox score waits.py --output-text a").json();
    assert_eq!(answer["score"], 0.0);
}

#[test]
fn what_is_wrong_with_every_score_is_found_before_the_first() {
    let Some(folder) = with_python() else { return };
    folder.write("statistics.py", "def mean(values):\n    return 0\n");
    for (script, why) in [
        (
            "def score(case):\n    return 1\n",
            "`score` cannot be called with a case and a configuration",
        ),
        ("def score(*, case, config):\n    return 1\n", "`score` cannot be called with a case and"),
        (
            "from statistics import mean\ndef score(case, config):\n    return mean([1])\n",
            "`statistics.py` has the name of a module that Python brings",
        ),
        (
            "def score(case, config):\n    return 1\ndef summarise(rows):\n    return 1\n",
            "the name is `summarize`",
        ),
        (
            "info = {'reads': [['output']]}\ndef score(case, config):\n    return 1\n",
            "`info['reads']` has ['output']",
        ),
    ] {
        folder.write("wrong.py", script);
        let inspected = folder.sh("scorebox inspect wrong.py").exits_with(2);
        assert!(inspected.stderr.contains(why), "{inspected}");
    }
}

#[test]
fn what_has_no_end_is_ended_by_a_limit() {
    let Some(folder) = with_python() else { return };
    let functions = [
        ("spin", "while True: pass"),
        ("regex", "return bool(re.match(r'(a+)+$', 'a' * 50 + 'b'))"),
        ("power", "return 9 ** 9 ** 9"),
        ("log", "while True: print('x')"),
        ("limitless", "sys.setrecursionlimit(10 ** 9); f = lambda n: f(n + 1); return f(0)"),
    ];
    assert_snapshot!(endings(&folder, &functions, "--fuel 50000000"), @r#"
    spin: out-of-fuel: the scorer used up its 50000000 fuel
    regex: out-of-fuel: the scorer used up its 50000000 fuel
    power: out-of-fuel: the scorer used up its 50000000 fuel
    log: out-of-fuel: the scorer used up its 50000000 fuel
    limitless: out-of-fuel: the scorer used up its 50000000 fuel
    "#);
    let memory = [
        ("bomb", "a = []\n    while True: a.append(bytes(1 << 20))"),
        ("large", "return len(bytes(1 << 30))"),
        ("impossible", "return len([0] * 10**9)"),
    ];
    assert_snapshot!(endings(&folder, &memory, ""), @r#"
    bomb: out-of-memory: the scorer needs 67286256 bytes of memory, more than its limit of 67108864
    large: out-of-memory: the scorer needs 1090630896 bytes of memory, more than its limit of 67108864
    impossible: trap: hostile.py:8:16: out of memory; an object can have 2 GiB at most, and all together what the scorer's memory limit allows
    "#);
    let deep = [
        ("nested", "a = []\n    for _ in range(100000): a = [a]\n    return len(repr(a))"),
        ("compiled", "return eval('(' * 1000 + ')' * 1000)"),
        ("compared", "A = type('A', (), {'__eq__': lambda a, b: a == b}); return A() == A()"),
    ];
    assert_snapshot!(endings(&folder, &deep, ""), @r#"
    nested: trap: wasm trap: call stack exhausted
    compiled: trap: wasm trap: call stack exhausted
    compared: trap: wasm trap: call stack exhausted
    "#);
}

#[test]
fn nothing_of_the_outside_is_there() {
    let Some(folder) = with_python() else { return };
    let functions = [
        ("opens", "return open('/etc/passwd').read()"),
        ("opens_below", "import io; return io.FileIO('/etc/passwd').read()"),
        ("lists", "return os.listdir('/')"),
        ("asks", "return os.stat('/')"),
        ("process", "import subprocess"),
        ("socket", "import socket"),
        ("foreign", "import ctypes"),
        ("thread", "import threading; threading.Thread(target=print).start()"),
        ("environment", "return len(os.environ)"),
        ("types", "return input()"),
    ];
    assert_snapshot!(endings(&folder, &functions, ""), @r#"
    opens: failed: hostile.py:3:12: OSError: [Errno 52] a script has neither files nor processes
    opens_below: failed: hostile.py:5:23: OSError: [Errno 52] a script has neither files nor processes
    lists: failed: hostile.py:7:12: OSError: [Errno 52] a script has neither files nor processes
    asks: failed: hostile.py:9:12: OSError: [Errno 52] a script has neither files nor processes
    process: failed: hostile.py:11:5: ModuleNotFoundError: No module named 'subprocess'
    socket: failed: hostile.py:13:5: ModuleNotFoundError: No module named 'socket'
    foreign: failed: hostile.py:15:5: ModuleNotFoundError: No module named 'ctypes'
    thread: failed: hostile.py:17:23: RuntimeError: can't start new thread
    environment: "scored" 0.0
    types: failed: hostile.py:21:12: OSError: [Errno 52] a script has neither files nor processes
    "#);
}

#[test]
fn nothing_that_a_score_changes_is_there_in_the_next() {
    let Some(folder) = with_python() else { return };
    folder.write(
        "pollutes.py",
        "import builtins, json, math, sys\ncount = 0\ncache = {}\n\
         def score(case, config):\n\
         \x20   global count\n\
         \x20   seen = [count, len(cache), config.get('left'), hasattr(builtins, 'left'), math.sqrt(4), 'left' in sys.modules]\n\
         \x20   count += 1; cache[case['output']] = 1; config['left'] = 1; builtins.left = 1; sys.modules['left'] = sys\n\
         \x20   math.sqrt = lambda _: 3; json.loads = eval\n\
         \x20   return {'score': 1, 'meta': seen}\n",
    );
    let cases: String = (0..20).fold(String::new(), |mut cases, number| {
        writeln!(cases, "{{\"output\": {number}}}").unwrap();
        cases
    });
    folder.write("cases.jsonl", cases);
    folder.sh("scorebox run cases.jsonl -s pollutes.py -q -j 2").exits_with(0);
    assert_eq!(
        folder.rows("SELECT count(*), meta_json FROM scores GROUP BY meta_json"),
        ["20 | [0,0,null,false,2.0,false]"]
    );
}

#[test]
fn a_language_that_a_script_broke_is_broken_for_that_script_alone() {
    let Some(folder) = with_python() else { return };
    folder.write(
        "breaks.py",
        "import builtins, json, sys\n\
         def broken(*_, **__): raise RuntimeError('broken')\n\
         json.dumps = json.loads = json.JSONEncoder.encode = json.JSONDecoder.decode = broken\n\
         builtins.InvalidInput = 1\nsys.stdout = None\nsys.path.append('/')\n\
         def score(case, config): return {'score': 0.25, 'meta': [case['output']]}\n",
    );
    let output = folder.sh("scorebox score breaks.py --output-text x").exits_with(0);
    assert_eq!((&output.json()["score"], &output.json()["meta"][0]), (&0.25.into(), &"x".into()));
}

#[test]
fn a_file_that_is_not_a_script_is_reported_before_the_run() {
    let Some(folder) = with_python() else { return };
    let scripts = [
        ("empty", ""),
        ("binary", "\0asm\x01\0\0\0"),
        ("number", "score = 1"),
        ("syntax", "def score(case, config):\n    x = = 1"),
        ("unclosed", "def score(case, config): return ("),
        ("indented", "def score(case, config):\nreturn 1"),
        ("raises", "data = None\ndef score(case, config): return 1\ndata.rows"),
        ("info", "info = []\ndef score(case, config): return 1"),
        ("infokey", "info = {'Name': 'x'}\ndef score(case, config): return 1"),
        ("infoid", "info = {'id': 'My Scorer'}\ndef score(case, config): return 1"),
        ("infoscale", "info = {'scale': 'percent'}\ndef score(case, config): return 1"),
        ("inforeads", "info = {'reads': ['expected']}\ndef score(case, config): return 1"),
        ("summary", "summarize = 1\ndef score(case, config): return 1"),
    ];
    let mut words = String::new();
    for (name, text) in scripts {
        folder.write(&format!("{name}.py"), text);
        let output = folder.sh(&format!("scorebox score {name}.py --output 1")).exits_with(2);
        writeln!(words, "{}", output.stderr.trim_end()).unwrap();
    }
    assert_snapshot!(words, @r#"
    error: scorer `empty.py`: invalid-script: empty.py: the script has no function `score`; write `def score(case, config): …`
    error: scorer `binary.py`: invalid-script: binary.py: SyntaxError: source code string cannot contain null bytes
    error: scorer `number.py`: invalid-script: number.py: the script has a `score` that is an int, not a function; write `def score(case, config): …`
    error: scorer `syntax.py`: invalid-script: syntax.py:2:9: SyntaxError: invalid syntax
            x = = 1
                ^
    error: scorer `unclosed.py`: invalid-script: unclosed.py:1:33: SyntaxError: '(' was never closed
        def score(case, config): return (
                                        ^
    error: scorer `indented.py`: invalid-script: indented.py:2:1: IndentationError: expected an indented block after function definition on line 1
        return 1
        ^
    error: scorer `raises.py`: invalid-script: raises.py:3:1: AttributeError: 'NoneType' object has no attribute 'rows'
        data.rows
        ^
    error: scorer `info.py`: invalid-script: info.py: `info` is a list, not a dict
    error: scorer `infokey.py`: invalid-script: infokey.py: `info` has the unknown key `Name`; the keys are `id`, `name`, `description`, `version`, `configSchema`, `reads`, `scale`, `direction`, `severity`, `threshold`
    error: scorer `infoid.py`: invalid-script: infoid.py: `info['id']` is 'My Scorer'; it must be 1 to 64 of a-z, 0-9 and -
    error: scorer `infoscale.py`: invalid-script: infoscale.py: `info['scale']` is 'percent'; it must be 'unit' or 'points'
    error: scorer `inforeads.py`: invalid-script: inforeads.py: `info['reads']` has 'expected'; the parts of a case are `output`, `input`, `groundTruth`, `context`, `latencyMs`, `outputSchema`, `trace`, `usage`, `metadata`, `baseline`
    error: scorer `summary.py`: invalid-script: summary.py: `summarize` is an int, not a function
    "#);
    folder.write("spins.py", "while True: pass\n");
    let spins = folder.sh("scorebox score spins.py --output 1 --timeout 600s").exits_with(2);
    assert!(spins.stderr.starts_with("error: scorer `spins.py`: out-of-fuel:"), "{spins}");
    folder.write("large.py", "#".repeat(5 << 20));
    assert_snapshot!(folder.sh("scorebox score large.py --output 1"), @r#"
    [stderr]
    error: the script `large.py` has more than 1048576 bytes, with what it imports
    hint: check that it is the file that was meant
    [exit code 2]
    "#);
}
