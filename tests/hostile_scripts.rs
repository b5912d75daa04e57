//! Scripts that return nonsense, never end, break the language for themselves, or are not valid scripts.
//! `command_script` tests scripts that behave.

use std::fmt::Write as _;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::Folder;

/// Enough fuel for every script that ends.
const LITTLE_FUEL: &str = "--fuel 30000000";

/// The outcome of each of these functions, in a script that calls the function that the case names.
fn endings(functions: &[(&str, &str)], options: &str) -> String {
    let folder = Folder::new();
    let mut script = String::from("const all = {\n");
    for (name, function) in functions {
        writeln!(script, "  {name}: {function},").unwrap();
    }
    script.push_str("};\nexport default (input, config) => all[input.output](input, config);\n");
    folder.write("hostile.js", script);
    let mut endings = String::new();
    for (name, _) in functions {
        let line = format!("scorebox score hostile.js --output-text {name} {options}");
        let output = folder.sh(&line);
        let answer: Value = output.json();
        let error = &answer["error"];
        let message = error["message"].as_str().unwrap_or_default();
        // The first line of a crash is followed by wasmtime's message and the frames.
        let message = message.lines().next().unwrap_or_default().replace('\x1b', "\\x1b");
        match error["kind"].as_str() {
            Some(kind) => writeln!(endings, "{name}: {kind}: {message}").unwrap(),
            None => writeln!(endings, "{name}: {} {}", answer["status"], answer["score"]).unwrap(),
        }
    }
    endings
}

#[test]
fn an_invalid_result_is_an_error_and_never_a_score() {
    let functions = [
        ("nan", "() => NaN"),
        ("infinite", "() => ({ score: -Infinity })"),
        ("above", "() => 2"),
        ("string", "() => 'good'"),
        ("bigint", "() => 1n"),
        ("symbol", "() => Symbol('x')"),
        ("nothing", "() => {}"),
        ("array", "() => [1]"),
        ("fn", "() => () => 1"),
        ("boxed", "() => new Number(1)"),
        ("empty", "() => ({})"),
        ("text", "() => ({ score: '1' })"),
        ("inside", "() => ({ score: { score: 1 } })"),
        ("typo", "() => ({ score: 1, reasons: 'x' })"),
        ("reason", "() => ({ score: 1, reason: 7 })"),
        ("cycle", "() => { const a = {}; a.a = a; return { score: 1, meta: a }; }"),
        ("bigmeta", "() => ({ score: 1, meta: [1n] })"),
        ("fnmeta", "() => ({ score: 1, meta: () => 1 })"),
        ("lone", "() => ({ score: 1, reason: '\\ud800' })"),
        ("assertions", "() => ({ score: 1, assertions: { name: 'a' } })"),
        ("unnamed", "() => ({ score: 1, assertions: [{ score: 1 }] })"),
        ("off", "() => ({ score: 1, assertions: [{ name: 'a', score: 2 }] })"),
        (
            "severity",
            "() => ({ score: 1, assertions: [{ name: 'a', score: 1, severity: 'hard' }] })",
        ),
        ("getter", "() => ({ get score() { throw new Error('from a getter'); } })"),
        ("proxy", "() => new Proxy({}, { ownKeys() { throw new Error('from a proxy'); } })"),
        ("never", "() => new Promise(() => {})"),
        ("rejected", "async () => { throw new TypeError('later'); }"),
        ("nested", "async () => Promise.resolve(Promise.resolve('x'))"),
        ("inapplicable", "() => null"),
        ("aside", "() => ({ score: null, reason: 'n/a' })"),
    ];
    assert_snapshot!(endings(&functions, ""), @r#"
    nan: invalid-score: the score is NaN; it must be 0 to 1
    infinite: invalid-score: the score is -inf; it must be 0 to 1
    above: invalid-score: the score is 2; it must be 0 to 1
    string: failed: hostile.js: the script returned a string; a score is a number, true or false, null if the scorer does not apply, or an object with `score`
    bigint: failed: hostile.js: the script returned a BigInt; a score is a number, true or false, null if the scorer does not apply, or an object with `score`
    symbol: failed: hostile.js: the script returned a symbol; a score is a number, true or false, null if the scorer does not apply, or an object with `score`
    nothing: failed: hostile.js: the script returned undefined; a score is a number, true or false, null if the scorer does not apply, or an object with `score`
    array: failed: hostile.js: the script returned an array; a score is a number, true or false, null if the scorer does not apply, or an object with `score`
    fn: failed: hostile.js: the script returned a function; a score is a number, true or false, null if the scorer does not apply, or an object with `score`
    boxed: failed: hostile.js: the script returned an object without `score`; a score is a number, true or false, null if the scorer does not apply, or an object with `score`
    empty: failed: hostile.js: the script returned an object without `score`; a score is a number, true or false, null if the scorer does not apply, or an object with `score`
    text: failed: hostile.js: `score` is a string; it must be a number, true or false, or null if the scorer does not apply
    inside: failed: hostile.js: `score` is an object; it must be a number, true or false, or null if the scorer does not apply
    typo: failed: hostile.js: the result has the unknown key `reasons`; the keys are `score`, `reason`, `label`, `meta`, `assertions`
    reason: failed: hostile.js: `reason` is a number, not a string
    cycle: failed: hostile.js: `meta` cannot be written as JSON: TypeError: circular reference
    bigmeta: failed: hostile.js: `meta` cannot be written as JSON: TypeError: BigInt are forbidden in JSON.stringify
    fnmeta: failed: hostile.js: `meta` cannot be written as JSON: it is a function or a symbol
    lone: "scored" 1.0
    assertions: failed: hostile.js: `assertions` is an object, not an array
    unnamed: failed: hostile.js: `assertions[0]` has no `name`
    off: invalid-score: the score of an assertion is 2; it must be 0 to 1
    severity: failed: hostile.js: `assertions[0].severity` is "hard"; it must be "gate" or "soft"
    getter: failed: hostile.js: from a getter
    proxy: failed: hostile.js: the script returned an object without `score`; a score is a number, true or false, null if the scorer does not apply, or an object with `score`
    never: failed: the script waits for a promise that nothing settles; there are no timers
    rejected: failed: hostile.js:28:37: TypeError: later
    nested: failed: hostile.js: the script returned a string; a score is a number, true or false, null if the scorer does not apply, or an object with `score`
    inapplicable: "not-applicable" null
    aside: "not-applicable" null
    "#);
}

#[test]
fn whatever_is_thrown_is_an_error_of_the_score() {
    let functions = [
        ("text", "() => { throw 'text'; }"),
        ("number", "() => { throw 7; }"),
        ("nothing", "() => { throw undefined; }"),
        ("object", "() => { throw { message: 'not an Error' }; }"),
        ("throws", "() => { throw { get message() { throw 1; }, get name() { throw 2; } }; }"),
        (
            "frozen",
            "() => { const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw 3; } }); throw e; }",
        ),
        ("nameless", "() => { const e = new Error('x'); e.name = Symbol(); throw e; }"),
        ("terminal", "() => { throw new Error('\\x1b[2J'); }"),
        ("long", "() => { throw new Error('x'.repeat(1e6)).message; }"),
        ("fake", "() => { throw Object.assign(new Error('x'), { name: 'InvalidInput' }); }"),
        (
            "internal",
            "() => { throw Object.assign(new Error('out of memory'), { name: 'InternalError' }); }",
        ),
    ];
    let endings = endings(&functions, "");
    let short: Vec<String> = endings.lines().map(|line| line.chars().take(120).collect()).collect();
    assert_snapshot!(short.join("\n"), @r#"
    text: failed: hostile.js:2:23: the script threw the string "text"
    number: failed: hostile.js:3:25: the script threw a number, not an Error
    nothing: failed: hostile.js:4:26: the script threw undefined, not an Error
    object: failed: hostile.js:5:25: the script threw an object, not an Error
    throws: failed: hostile.js:6:25: the script threw an object, not an Error
    frozen: failed: x
    nameless: failed: hostile.js:8:35: x
    terminal: failed: hostile.js:9:31: \x1b[2J
    long: failed: the script threw the string "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    fake: invalid-input: x
    internal: failed: hostile.js:12:45: InternalError: out of memory
    "#);
}

#[test]
fn a_thrown_value_that_is_not_an_error_has_the_location_of_its_throw_or_none() {
    let functions = [
        ("inner", "() => { const f = () => { throw 'inner'; }; return f(); }"),
        ("callback", "() => [1].map((value) => { throw value; })"),
        ("rethrown", "() => { try { throw 'a'; } catch (error) { throw error; } }"),
        ("waits", "async () => { await 0; throw 'waits'; }"),
        ("awaited", "async () => { await (async () => { throw 'awaited'; })(); }"),
        ("deferred", "async () => { await (async () => { await 0; throw 'deferred'; })(); }"),
        ("rejected", "() => Promise.reject('rejected')"),
        (
            "made",
            "() => { const error = new Error('made'); return Promise.reject(error.message); }",
        ),
        (
            "handled",
            "async () => { await (async () => { await 0; throw 'x'; })().catch(() => {}); throw 'handled'; }",
        ),
        ("evaluated", "() => eval('throw 1')"),
    ];
    assert_snapshot!(endings(&functions, ""), @r#"
    inner: failed: hostile.js:2:42: the script threw the string "inner"
    callback: failed: hostile.js:3:46: the script threw a number, not an Error
    rethrown: failed: hostile.js:4:62: the script threw the string "a"
    waits: failed: hostile.js:5:39: the script threw the string "waits"
    awaited: failed: hostile.js:6:53: the script threw the string "awaited"
    deferred: failed: hostile.js:7:63: the script threw the string "deferred"
    rejected: failed: the script threw the string "rejected"
    made: failed: the script threw the string "made"
    handled: failed: the script threw the string "handled"
    evaluated: failed: the script threw a number, not an Error
    "#);
}

#[test]
fn what_has_no_end_is_ended_by_a_limit() {
    let functions = [
        ("spin", "() => { for (;;); }"),
        ("regex", "() => /^(a+)+$/.test('a'.repeat(50) + 'b')"),
        ("promises", "async () => { for (;;) await 0; }"),
        ("thenable", "() => { const t = { then(f) { f(t); } }; return Promise.resolve(t); }"),
        ("log", "() => { for (;;) console.log('x'); }"),
        ("arrays", "() => { const all = []; for (;;) all.push(new Array(1000).fill(0)); }"),
        ("strings", "() => { let text = 'x'; for (;;) text += text; }"),
    ];
    assert_snapshot!(endings(&functions, LITTLE_FUEL), @r#"
    spin: out-of-fuel: the scorer used up its 30000000 fuel
    regex: out-of-fuel: the scorer used up its 30000000 fuel
    promises: out-of-fuel: the scorer used up its 30000000 fuel
    thenable: out-of-fuel: the scorer used up its 30000000 fuel
    log: out-of-fuel: the scorer used up its 30000000 fuel
    arrays: out-of-fuel: the scorer used up its 30000000 fuel
    strings: failed: hostile.js:8:53: InternalError: string too long
    "#);
}

#[test]
fn memory_that_runs_out_is_named_whatever_the_interpreter_throws() {
    let functions = [
        ("objects", "() => { let all = null; for (;;) all = { all }; }"),
        ("lists", "() => { let all = null; for (;;) all = [all]; }"),
        ("closures", "() => { let all = null; for (;;) { const rest = all; all = () => rest; } }"),
        ("promises", "() => { const all = []; for (;;) all.push(Promise.resolve(1)); }"),
        ("texts", "() => { const all = []; for (let i = 0; ; i++) all.push('x' + i); }"),
        ("waits", "async () => { let all = null; for (;;) { await 0; all = { all }; } }"),
        ("large", "() => { const all = []; for (;;) all.push(new Uint8Array(1e6)); }"),
        ("buffer", "() => new ArrayBuffer(2 ** 31 - 1).byteLength"),
        ("caught", "() => { let all = null; try { for (;;) all = { all }; } catch { return 1; } }"),
    ];
    let endings = endings(&functions, "--memory 8MiB");
    let kinds: Vec<_> =
        endings.lines().map(|line| line.split(": the scorer needs").next().unwrap()).collect();
    assert_snapshot!(kinds.join("\n"), @r#"
    objects: out-of-memory
    lists: out-of-memory
    closures: out-of-memory
    promises: out-of-memory
    texts: out-of-memory
    waits: out-of-memory
    large: out-of-memory
    buffer: out-of-memory
    caught: "scored" 1.0
    "#);
    let folder = Folder::new();
    folder.write("grows.js", "let all = null;\nfor (;;) all = { all };\nexport default () => 1;\n");
    let grows = folder.sh("scorebox score grows.js --output 1").exits_with(2);
    let (first, hint) = (grows.stderr.lines().next(), grows.stderr.lines().last());
    assert!(first.unwrap().starts_with("error: scorer `grows.js`: out-of-memory:"), "{grows}");
    assert!(hint.unwrap().ends_with("or --memory"), "{grows}");
}

#[test]
fn cycles_that_nothing_refers_to_are_freed() {
    let functions = [
        (
            "small",
            "() => { for (let i = 0; i < 1e6; i++) { const a = {}; a.self = a; } return 1; }",
        ),
        (
            "large",
            "() => { for (let i = 0; i < 1e4; i++) { const a = Array(1e3).fill(0); a[0] = a; } return 1; }",
        ),
    ];
    assert_snapshot!(endings(&functions, ""), @r#"
    small: "scored" 1.0
    large: "scored" 1.0
    "#);
}

#[test]
fn a_rejection_that_nothing_handles_is_an_error_and_never_a_score() {
    let functions = [
        ("throws", "async () => { throw new Error('wrong answer'); }"),
        ("forgotten", "async () => { all.throws(); return true; }"),
        ("synchronous", "() => { all.throws(); return true; }"),
        ("chained", "async () => { all.throws().then(() => 1); return 1; }"),
        ("later", "() => { (async () => { await 0; await 0; throw 'later'; })(); return 1; }"),
        ("job", "() => { queueMicrotask(() => { throw new RangeError('job'); }); return 1; }"),
        ("stuck", "async () => { all.throws(); await new Promise(() => {}); }"),
        ("another", "async () => { all.throws(); throw new Error('another'); }"),
        ("case", "() => { (async () => { throw new InvalidInput('no truth'); })(); return 1; }"),
        ("caught", "async () => { all.throws().catch(() => {}); return 1; }"),
        (
            "awaited",
            "async () => { const p = all.throws(); await 0; await p.catch(() => {}); return 1; }",
        ),
        (
            "settled",
            "async () => (await Promise.allSettled([all.throws(), all.throws()])).length / 2",
        ),
        ("raced", "async () => Promise.any([all.throws(), 1])"),
    ];
    assert_snapshot!(endings(&functions, ""), @r#"
    throws: failed: hostile.js:2:35: wrong answer
    forgotten: failed: hostile.js:2:35: wrong answer
    synchronous: failed: hostile.js:2:35: wrong answer
    chained: failed: hostile.js:2:35: wrong answer
    later: failed: hostile.js:6:57: the script threw the string "later"
    job: failed: hostile.js:7:49: RangeError: job
    stuck: failed: hostile.js:2:35: wrong answer
    another: failed: hostile.js:9:50: another
    case: invalid-input: no truth
    caught: "scored" 1.0
    awaited: "scored" 1.0
    settled: "scored" 1.0
    raced: "scored" 1.0
    "#);
    let folder = Folder::new();
    folder.write(
        "top.js",
        "const check = async () => {\n  throw new Error('no data');\n};\ncheck();\nexport default () => 1;\n",
    );
    assert_snapshot!(folder.sh("scorebox score top.js --output 1"), @r#"
    [stderr]
    error: scorer `top.js`: invalid-script: top.js:2:13: no data
          throw new Error('no data');
                    ^
    [exit code 2]
    "#);
}

#[test]
fn half_of_a_surrogate_pair_in_an_answer_is_a_replacement_character() {
    let folder = Folder::new();
    folder.write(
        "cuts.js",
        "export default (input) => {\n  const head = input.output.slice(0, 5);\n  console.log(head);\n\
         return { score: 1, label: head, reason: input.output.slice(5), meta: { [head]: [input.output, head, '\\\\ud83d'] } };\n};\n",
    );
    let answer =
        folder.sh("scorebox score cuts.js --output-text 'abcd😀 hello'").exits_with(0).json();
    assert_eq!(answer["label"], "abcd\u{fffd}");
    assert_eq!(answer["reason"], "\u{fffd} hello");
    assert_eq!(
        answer["meta"],
        json!({"abcd\u{fffd}": ["abcd😀 hello", "abcd\u{fffd}", "\\ud83d"]})
    );
    assert_eq!(answer["log"][0]["message"], "abcd\u{fffd}");
}

#[test]
fn a_recursion_without_end_is_an_error_with_its_line() {
    let functions = [
        ("plain", "() => { const f = (n) => f(n + 1) + 1; return f(0); }"),
        ("callback", "() => { const f = (n) => [n].map(f).length; return f(0); }"),
        ("sort", "() => { const f = () => [2, 1].sort(() => f()).length; return f(); }"),
        ("getter", "() => { const o = { get x() { return this.x; } }; return o.x; }"),
        (
            "proxy",
            "() => { const p = new Proxy({}, { get(t, k, r) { return r[k]; } }); return p.x; }",
        ),
        ("json", "() => JSON.stringify({ toJSON() { return JSON.stringify(this); } })"),
        ("construct", "() => { class A { constructor() { new A(); } } return new A(); }"),
        ("asynchronous", "async () => { const f = async () => await f(); return f(); }"),
        ("evaluated", "() => { globalThis.f = () => eval('f()'); return f(); }"),
    ];
    let endings = endings(&functions, "");
    for line in endings.lines() {
        assert!(line.contains("failed: hostile.js:"), "{line}");
        assert!(line.contains("RangeError: Maximum call stack size exceeded"), "{line}");
    }
    let deep = "() => { const f = (n) => n === 0 ? 0 : f(n - 1) + 1; return f(300) / 300; }";
    assert_snapshot!(self::endings(&[("deep", deep)], ""), @r#"deep: "scored" 1.0"#);
}

#[test]
fn nothing_that_a_score_changes_is_there_in_the_next() {
    let folder = Folder::new();
    folder.write(
        "pollutes.js",
        "let count = 0;\nconst cache = new Map();\nexport default (input, config) => {\n\
         const seen = [count, cache.size, config.left, ({}).polluted, globalThis.left, [].at === Object, String(JSON.parse === eval)];\n\
         count += 1; cache.set(input.output, 1); config.left = 1; Object.prototype.polluted = 1; globalThis.left = 1;\n\
         Array.prototype.at = Object; JSON.parse = eval; Math.random = () => 1;\n\
         return { score: 1, meta: seen.map(String) };\n};\n",
    );
    let cases: String = (0..20).fold(String::new(), |mut cases, number| {
        writeln!(cases, "{{\"output\": {number}}}").unwrap();
        cases
    });
    folder.write("cases.jsonl", cases);
    folder.sh("scorebox run cases.jsonl -s pollutes.js -q -j 2").exits_with(0);
    assert_eq!(
        folder.rows("SELECT count(*), meta_json FROM scores GROUP BY meta_json"),
        [r#"20 | ["0","0","undefined","undefined","undefined","false","false"]"#]
    );
}

#[test]
fn a_language_that_a_script_broke_is_broken_for_that_script_alone() {
    let folder = Folder::new();
    folder.write(
        "breaks.js",
        "JSON.stringify = JSON.parse = Object.keys = Promise.prototype.then = () => { throw new Error('broken'); };\n\
         Object.defineProperty(Object.prototype, 'score', { get: () => 0.25 });\n\
         globalThis.InvalidInput = 1; delete globalThis.console;\n\
         export default (input) => ({ meta: [1], reason: typeof console + input.output });\n",
    );
    let output = folder.sh("scorebox score breaks.js --output-text x").exits_with(0);
    let answer = output.json();
    assert_eq!((&answer["score"], &answer["reason"]), (&0.25.into(), &"undefinedx".into()));
}

#[test]
fn a_file_that_is_not_a_script_is_reported_before_the_run() {
    let folder = Folder::new();
    let scripts = [
        ("empty", ""),
        ("binary", "\0asm\x01\0\0\0"),
        ("commonjs", "module.exports = () => 1;"),
        ("named", "export const score = () => 1;"),
        ("number", "export default 1;"),
        ("syntax", "export default () => {\n  const x = };\n};"),
        ("unclosed", "export default () => `"),
        ("throws", "const data = null;\nexport default () => 1;\ndata.rows;"),
        ("throwstext", "throw 'no';"),
        ("waits", "await new Promise(() => {});\nexport default () => 1;"),
        ("info", "export const info = [];\nexport default () => 1;"),
        ("infokey", "export const info = { Name: 'x' };\nexport default () => 1;"),
        ("infoid", "export const info = { id: 'My Scorer' };\nexport default () => 1;"),
        ("infoscale", "export const info = { scale: 'percent' };\nexport default () => 1;"),
        ("inforeads", "export const info = { reads: ['expected'] };\nexport default () => 1;"),
        (
            "infocycle",
            "const s = {}; s.s = s;\nexport const info = { configSchema: s };\nexport default () => 1;",
        ),
        ("summary", "export const summarize = 1;\nexport default () => 1;"),
    ];
    let mut words = String::new();
    for (name, text) in scripts {
        folder.write(&format!("{name}.js"), text);
        let output = folder.sh(&format!("scorebox score {name}.js --output 1")).exits_with(2);
        writeln!(words, "{}", output.stderr.trim_end()).unwrap();
    }
    assert_snapshot!(words, @r#"
    error: scorer `empty.js`: invalid-script: empty.js: the script has no default export; write `export default (input, config) => …`
    error: scorer `binary.js`: invalid-script: binary.js:1: the file has a NUL character; it is not a script
    error: scorer `commonjs.js`: invalid-script: commonjs.js:1:1: ReferenceError: module is not defined; a script is an ES module, with `import` and `export default`
        module.exports = () => 1;
        ^
    error: scorer `named.js`: invalid-script: named.js: the script has no default export; write `export default (input, config) => …`
    error: scorer `number.js`: invalid-script: number.js: the default export is a number, not a function
    error: scorer `syntax.js`: invalid-script: syntax.js:2:13: SyntaxError: unexpected token in expression: '}'
          const x = };
                    ^
    error: scorer `unclosed.js`: invalid-script: unclosed.js:1:22: SyntaxError: unexpected end of string
        export default () => `
                             ^
    error: scorer `throws.js`: invalid-script: throws.js:3:1: TypeError: cannot read property 'rows' of null
        data.rows;
        ^
    error: scorer `throwstext.js`: invalid-script: throwstext.js:1:7: the script threw the string "no"
        throw 'no';
              ^
    error: scorer `waits.js`: invalid-script: waits.js: the script waits for a promise that nothing settles; there are no timers
    error: scorer `info.js`: invalid-script: info.js: `info` is an array, not an object
    error: scorer `infokey.js`: invalid-script: infokey.js: `info` has the unknown key `Name`; the keys are `id`, `name`, `description`, `version`, `configSchema`, `reads`, `scale`, `direction`, `severity`, `threshold`
    error: scorer `infoid.js`: invalid-script: infoid.js: `info.id` is "My Scorer"; it must be 1 to 64 of a-z, 0-9 and -
    error: scorer `infoscale.js`: invalid-script: infoscale.js: `info.scale` is "percent"; it must be "unit" or "points"
    error: scorer `inforeads.js`: invalid-script: inforeads.js: `info.reads` has "expected"; the parts of a case are `output`, `input`, `groundTruth`, `context`, `latencyMs`, `outputSchema`, `trace`, `usage`, `metadata`, `baseline`
    error: scorer `infocycle.js`: invalid-script: infocycle.js: `info.configSchema` cannot be written as JSON: TypeError: circular reference
    error: scorer `summary.js`: invalid-script: summary.js: `summarize` is a number, not a function
    "#);
}

#[test]
fn a_top_level_without_end_is_ended_before_the_run() {
    let folder = Folder::new();
    folder.write("spins.js", "for (;;);\nexport default () => 1;\n");
    folder.write(
        "grows.js",
        "const all = []; for (;;) all.push(new Array(1000).fill(0));\nexport default () => 1;\n",
    );
    folder.write("case.jsonl", "{\"output\": 1}\n");
    let spins = folder.sh("scorebox run case.jsonl -s spins.js").exits_with(2);
    assert!(spins.stderr.starts_with("error: scorer `spins` (spins.js): out-of-fuel:"), "{spins}");
    let grows = folder.sh("scorebox run case.jsonl -s grows.js").exits_with(2);
    assert!(
        grows.stderr.starts_with("error: scorer `grows` (grows.js): out-of-memory:"),
        "{grows}"
    );
}

#[test]
fn files_that_are_too_large_or_no_text_are_not_read_as_scripts() {
    let folder = Folder::new();
    folder.write("large.js", format!("export default () => 1;{}", " ".repeat(5 << 20)));
    assert_snapshot!(folder.sh("scorebox score large.js --output 1"), @r#"
    [stderr]
    error: the script `large.js` has more than 1048576 bytes, with what it imports
    hint: check that it is the file that was meant
    [exit code 2]
    "#);
    folder.write("latin.js", b"// caf\xe9\nexport default () => 1;\n");
    assert_snapshot!(folder.sh("scorebox score latin.js --output 1"), @r#"
    [stderr]
    error: cannot read the scorer `latin.js`: it is not UTF-8 text: see line 1
    hint: `iconv -f latin1 -t utf-8 FILE` converts a file, if it is Latin-1
    [exit code 2]
    "#);
    folder.write("wide.js", b"\xff\xfe1\0;\0");
    assert_snapshot!(folder.sh("scorebox score wide.js --output 1"), @r#"
    [stderr]
    error: cannot read the scorer `wide.js`: it is UTF-16 text, not UTF-8
    hint: `iconv -f utf-16 -t utf-8 FILE` converts a file
    [exit code 2]
    "#);
    assert_snapshot!(folder.sh("scorebox score absent.js --output 1"), @r#"
    [stderr]
    error: cannot read the scorer `absent.js`: no such file
    hint: a relative path starts at the folder where the command was started
    [exit code 2]
    "#);
    std::fs::create_dir_all(folder.path("folder.ts")).unwrap();
    assert_snapshot!(folder.sh("scorebox score folder.ts --output 1"), @r#"
    [stderr]
    error: the scorer `folder.ts` is a folder
    hint: name the .wasm file; `scorebox build` makes one from the folder of a crate
    [exit code 2]
    "#);
    folder.write(
        "1000.js",
        (0..1000).fold(String::new(), |mut text, number| {
            folder.write(&format!("m{number}.js"), "");
            writeln!(text, "import './m{number}.js';").unwrap();
            text
        }),
    );
    assert_snapshot!(folder.sh("scorebox score 1000.js --output 1"), @r#"
    [stderr]
    error: the script `1000.js` imports more than 500 files
    [exit code 2]
    "#);
}
