//! Scripts as scorers, as a user runs them: scored, run, imported, built and verified. `hostile_scripts` tests scripts
//! that misbehave.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::Folder;

/// The share of words that output and ground truth have in common, in JavaScript.
const OVERLAP_JS: &str = r#"
import { words } from "./lib/words.js";
export const info = {
  id: "overlap",
  name: "Overlap",
  description: "How many words are shared.",
  version: "1.2.0",
  configSchema: {
    type: "object",
    properties: { ignoreCase: { type: "boolean", default: true } },
    additionalProperties: false,
  },
  reads: ["groundTruth"],
  severity: "soft",
  threshold: 0.5,
};
export default function score(input, config) {
  if (input.groundTruth === undefined) throw new InvalidInput("the case has no groundTruth");
  const truth = words(input.groundTruth, config.ignoreCase);
  const output = words(input.output, config.ignoreCase);
  const shared = truth.filter((word) => output.includes(word)).length;
  return {
    score: (2 * shared) / (truth.length + output.length),
    reason: `${shared} of ${truth.length} words`,
    meta: { shared, config, given: Object.keys(input) },
  };
}
export function summarize(scores) {
  return { count: scores.length, best: Math.max(...scores.map((it) => it.score ?? 0)), first: scores[0].meta.shared };
}
"#;
const WORDS_JS: &str = r#"
export function words(value, ignoreCase) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return (ignoreCase ? text.toLowerCase() : text).match(/[A-Za-z0-9]+/g) ?? [];
}
"#;

/// The same in TypeScript, with everything that is stripped from it.
const OVERLAP_TS: &str = r#"
import { words, type Words } from "./lib/words";
import type { Case, Result } from "./scorebox";
interface Config { ignoreCase: boolean }
enum Twice { Times = 2 }
class Overlap<T extends string> {
  constructor(private readonly truth: Words, readonly output: T[]) {}
  get shared(): number { return this.truth!.filter((word: string): boolean => this.output.includes(word as T)).length; }
}
export const info = {
  id: "overlap", name: "Overlap", description: "How many words are shared.", version: "1.2.0",
  configSchema: { type: "object", properties: { ignoreCase: { type: "boolean", default: true } }, additionalProperties: false },
  reads: ["groundTruth"], severity: "soft", threshold: 0.5,
} as const;
export default function score(input: Case, config: Config): Result {
  if (input.groundTruth === undefined) throw new InvalidInput("the case has no groundTruth");
  const truth: Words = words(input.groundTruth, config.ignoreCase), output = words(input.output, config.ignoreCase);
  const { shared } = new Overlap<string>(truth, output);
  return {
    score: (Twice.Times * shared) / (truth.length + output.length),
    reason: `${shared as number} of ${truth.length} words`,
    meta: { shared, config, given: Object.keys(input) } satisfies object,
  };
}
"#;
const WORDS_TS: &str = r#"
export type Words = string[];
export function words(value: unknown, ignoreCase?: boolean): Words {
  const text: string = typeof value === "string" ? value : JSON.stringify(value);
  return (ignoreCase ? text.toLowerCase() : text).match(/[A-Za-z0-9]+/g) ?? <Words>[];
}
"#;

pub(crate) fn with_scripts() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("js/lib")).unwrap();
    std::fs::create_dir_all(folder.path("ts/lib")).unwrap();
    folder.write("js/overlap.js", OVERLAP_JS);
    folder.write("js/lib/words.js", WORDS_JS);
    folder.write("ts/overlap.ts", OVERLAP_TS);
    folder.write("ts/lib/words.ts", WORDS_TS);
    folder
}

#[test]
fn a_script_scores_a_case_without_a_build() {
    let folder = with_scripts();
    let case = "--output-text 'It is PARIS' --ground-truth '\"Paris\"' --input '\"Where?\"'";
    assert_snapshot!(folder.sh(&format!("scorebox score js/overlap.js {case}")), @r#"
    {
      "scorerId": "js/overlap.js",
      "status": "scored",
      "score": 0.5,
      "reason": "1 of 1 words",
      "meta": {"shared":1,"config":{"ignoreCase":true},"given":["output","groundTruth"]},
      "fuel": [fuel],
      "memoryBytes": [memory],
      "durationMs": [time]
    }
    [exit code 0]
    "#);
    assert_snapshot!(folder.sh("scorebox score js/overlap.js --output 1"), @r#"
    {
      "scorerId": "js/overlap.js",
      "status": "error",
      "score": null,
      "fuel": [fuel],
      "memoryBytes": [memory],
      "durationMs": [time],
      "error": {
        "kind": "invalid-input",
        "message": "the case has no groundTruth"
      }
    }
    [stderr]
    error: invalid-input: the case has no groundTruth
    [exit code 1]
    "#);
    assert_snapshot!(folder.sh("scorebox score js/overlap.js --output 1 --config '{\"ignorCase\": true}'"), @r#"
    [stderr]
    error: scorer `js/overlap.js`: invalid-config: unknown key `ignorCase`
    hint: did you mean `ignoreCase`?
    [exit code 2]
    "#);
    assert_snapshot!(folder.sh("scorebox score js/overlap.js --output 1 --config '{\"ignoreCase\": 1}'"), @r#"
    [stderr]
    error: scorer `js/overlap.js`: invalid-config: `ignoreCase`: invalid type: integer `1`, expected a boolean
    [exit code 2]
    "#);
}

#[test]
fn a_script_says_what_it_is() {
    let folder = with_scripts();
    assert_snapshot!(folder.sh("scorebox inspect js/overlap.js | grep -v ^loaded"), @r#"
    component     js/overlap.js
    size          1.5 MiB
    sha-256       [digest]
    imports       scorebox:scorer/log@0.1.0
                  scorebox:scorer/types@0.1.0
    exports       scorebox:scorer/summary@0.1.0
                  scorebox:scorer/scoring@0.1.0
    WASI          uses none
    scorer        Overlap (overlap), version 1.2.0
                  How many words are shared.
    scale         0 to 1, higher-is-better
    severity      soft, threshold 0.5
    reads         output, groundTruth
    configuration {
                    "type": "object",
                    "properties": {
                      "ignoreCase": {
                        "type": "boolean",
                        "default": true
                      }
                    },
                    "additionalProperties": false
                  }
    starts        every score starts from the memory that `configure` left
    [exit code 0]
    "#);
}

#[test]
fn javascript_and_typescript_give_the_same_rows_which_verify_without_the_files() {
    let folder = with_scripts();
    let run = "scorebox run answers.jsonl -s js=js/overlap.js -s ts=ts/overlap.ts --run-id r -q";
    folder.sh(run).exits_with(0);
    assert_eq!(
        folder.rows(
            "SELECT count(*), count(DISTINCT js.score) > 20 FROM scores js JOIN scores ts USING (case_id)
             WHERE js.scorer_id = 'js' AND ts.scorer_id = 'ts' AND js.status = 'scored' AND js.score = ts.score
             AND js.reason = ts.reason AND js.meta_json = ts.meta_json"
        ),
        ["400 | 1"]
    );
    folder.sh("rm -r js ts answers.jsonl").exits_with(0);
    assert_snapshot!(folder.sh("scorebox verify --trust-cache r"), @r#"
    [stderr]
    801 verified, 0 different, 0 not verifiable
    [exit code 0]
    "#);
}

#[test]
fn a_component_takes_no_other_files_place() {
    let folder = with_scripts();
    folder.write("notes.md", "# Notes\n");
    for there in ["js/overlap.js", "notes.md"] {
        let before = fs::read(folder.path(there)).unwrap();
        let refused = folder.sh(&format!("scorebox build js/overlap.js -o {there}")).exits_with(2);
        let message = format!(
            "error: `{there}` already exists and is not a WebAssembly file\n\
             hint: name another file to write: --output FILE\n"
        );
        assert_eq!(refused.stderr, message);
        assert_eq!(fs::read(folder.path(there)).unwrap(), before);
    }
    // The remains of an interrupted build are replaced, and so is another component.
    folder.write("built.wasm", "");
    let build = "scorebox build js/overlap.js -o built.wasm";
    folder.sh(&format!("{build} && {build}")).exits_with(0);
}

#[test]
fn values_of_a_configuration_are_of_the_types_that_the_script_says() {
    let folder = Folder::new();
    folder.write(
        "most.js",
        "export const info = { configSchema: { type: 'object', required: ['most'], additionalProperties: false,\n\
         properties: { most: { type: 'integer' }, strict: { type: 'boolean', default: true } } } };\n\
         export default ({ output }, { most, strict }) => (\n\
         { score: output.length <= most ? 1 : 0, reason: typeof most + ' ' + typeof strict });\n",
    );
    let score = |config: &str| {
        folder.sh(&format!("scorebox score most.js --output-text abc --config '{config}'"))
    };
    let good = score("{\"most\": 3}").exits_with(0).json();
    assert_eq!(
        (&good["score"], &good["reason"]),
        (&Value::from(1.0), &Value::from("number boolean"))
    );
    // The value comes from an environment variable.
    let text = score("{\"most\": \"2\", \"strict\": \"false\"}").exits_with(0).json();
    assert_eq!(
        (&text["score"], &text["reason"]),
        (&Value::from(0.0), &Value::from("number boolean"))
    );
    for (config, message) in [
        ("{}", "`most` is required"),
        ("{\"most\": 1.5}", "`most`: invalid type: number `1.5`, expected a whole number"),
        ("{\"most\": null}", "`most`: invalid type: null, expected a whole number"),
        ("{\"most\": \"many\"}", "`most`: invalid type: string \"many\", expected a whole number"),
    ] {
        let refused = score(config).exits_with(2);
        let expected = format!("error: scorer `most.js`: invalid-config: {message}\n");
        assert_eq!(refused.stderr, expected);
    }
}

#[test]
fn values_of_a_configuration_are_within_the_bounds_that_the_script_says() {
    let folder = Folder::new();
    folder.write(
        "bounds.js",
        "export const info = { configSchema: { type: 'object', additionalProperties: false, properties: {\n\
         wanted: { type: 'integer', minimum: 1, maximum: 9, default: 2 },\n\
         mode: { type: 'string', enum: ['strict', 'loose'], default: 'strict' },\n\
         words: { type: 'array', maxItems: 2, items: { type: 'string', minLength: 1 } },\n\
         rule: { type: 'object', additionalProperties: false, properties: { maxWords: { type: 'number', default: 3 } } } } } };\n\
         export default (input, config) => ({ score: 1, meta: config });\n",
    );
    let score = |config: &str| {
        folder.sh(&format!("scorebox score bounds.js --output 1 --config '{config}'"))
    };
    let good = score("{\"rule\": {}, \"words\": [\"a\"]}").exits_with(0).json();
    let filled = serde_json::json!({
        "wanted": 2, "mode": "strict", "words": ["a"], "rule": {"maxWords": 3},
    });
    assert_eq!(good["meta"], filled);
    let spelt = score("{\"rule\": {\"max_words\": 1}}").exits_with(0).json();
    assert_eq!(spelt["meta"]["rule"], serde_json::json!({"maxWords": 1}));
    let mut words = String::new();
    for config in [
        "{\"wanted\": 0}",
        "{\"wanted\": \"50\"}",
        "{\"mode\": \"strikt\"}",
        "{\"words\": [\"a\", \"\"]}",
        "{\"words\": [\"a\", \"b\", \"c\"]}",
        "{\"rule\": {\"most\": 1}}",
    ] {
        words += &score(config).exits_with(2).stderr;
    }
    assert_snapshot!(words, @r#"
    error: scorer `bounds.js`: invalid-config: `wanted`: invalid value: integer `0`, expected at least 1
    error: scorer `bounds.js`: invalid-config: `wanted`: invalid value: integer `50`, expected at most 9
    error: scorer `bounds.js`: invalid-config: `mode`: invalid value: string "strikt", expected one of "strict", "loose"
    hint: did you mean `strict`?
    error: scorer `bounds.js`: invalid-config: `words[1]`: invalid length 0, expected at least 1 character
    error: scorer `bounds.js`: invalid-config: `words`: invalid length 3, expected at most 2 items
    error: scorer `bounds.js`: invalid-config: unknown key `rule.most`; known here: `maxWords`
    "#);
}

#[test]
fn a_schema_with_a_mistake_is_a_mistake_of_the_script() {
    let folder = Folder::new();
    let mut words = String::new();
    for (name, property) in [
        ("type", "type: 'integr'"),
        ("default", "type: 'integer', default: '2'"),
        ("bound", "minimum: '1'"),
        ("hidden", "type: '\\u202e\\n'"),
    ] {
        let script = format!(
            "export const info = {{ configSchema: {{ properties: {{ wanted: {{ {property} }} }} }} }};\nexport default () => 1;\n"
        );
        folder.write(&format!("{name}.js"), &script);
        let output = folder.sh(&format!("scorebox score {name}.js --output 1")).exits_with(2);
        words += &output.stderr;
    }
    assert_snapshot!(words, @r#"
    error: scorer `type.js`: invalid-script: the configuration schema: `properties.wanted.type`: invalid value: string "integr", expected one of "array", "boolean", "integer", "null", "number", "object", "string"
    hint: did you mean `integer`?
    error: scorer `default.js`: invalid-script: the configuration schema: `properties.wanted.default`: invalid type: string "2", expected a whole number
    error: scorer `bound.js`: invalid-script: the configuration schema: `properties.wanted.minimum`: invalid value: string "1", expected a number
    error: scorer `hidden.js`: invalid-script: the configuration schema: `properties.wanted.type`: invalid value: string "\u{202e}\n", expected one of "array", "boolean", "integer", "null", "number", "object", "string"
    "#);
    // `inspect` shows it too.
    let inspected = folder.sh("scorebox inspect type.js").exits_with(2);
    assert!(inspected.stderr.contains("invalid-script: the configuration schema"), "{inspected}");
}

#[test]
fn what_a_script_builds_to_is_the_component_that_it_is_anyway() {
    let folder = with_scripts();
    let built =
        folder.sh("scorebox build ts/overlap.ts -o built.wasm && scorebox build js/overlap.js");
    let built = built.exits_with(0);
    assert_snapshot!(built, @r#"
    [stderr]
    overlap  1.5 MiB  sha-256 [digest]  imports scorebox:scorer/log@0.1.0, scorebox:scorer/types@0.1.0 -> built.wasm
    overlap  1.5 MiB  sha-256 [digest]  imports scorebox:scorer/log@0.1.0, scorebox:scorer/types@0.1.0 -> overlap.wasm
    [exit code 0]
    "#);
    folder.write("two.jsonl", "{\"output\": \"a b\", \"groundTruth\": \"a\"}\n");
    folder
        .sh("scorebox run two.jsonl -s a=ts/overlap.ts -s b=./built.wasm -s c=./overlap.wasm -s d=js/overlap.js -q")
        .exits_with(0);
    assert_eq!(
        folder.rows(
            "SELECT DISTINCT a.scorer_digest = b.scorer_digest, c.scorer_digest = d.scorer_digest,
             a.scorer_digest = c.scorer_digest FROM scores a, scores b, scores c, scores d
             WHERE a.scorer_id = 'a' AND b.scorer_id = 'b' AND c.scorer_id = 'c' AND d.scorer_id = 'd'"
        ),
        ["1 | 1 | 0"]
    );
    let reused = folder.sh("scorebox run two.jsonl -s e=./built.wasm --reuse -q --format json");
    reused.exits_with(0);
}

#[test]
fn a_suite_names_scripts_and_a_run_ends_with_their_summary() {
    let folder = with_scripts();
    folder.write(
        "scripts.toml",
        "version = 1\n[scorers.overlap]\nuse = \"./js/overlap.js\"\nconfig = { ignoreCase = false }\n",
    );
    folder.write(
        "two.jsonl",
        "{\"output\": \"a b\", \"groundTruth\": \"a\"}\n{\"output\": \"A\", \"groundTruth\": \"a\"}\n",
    );
    assert_snapshot!(folder.sh("scorebox run scripts.toml two.jsonl"), @r#"
    scorer   scored  n/a  errors    mean  0 … 1        p50     min     max fuel time
    overlap       2    0       0  0.3333  █    █    0.3333  0.0000  0.6667 [fuel] [time]

    overlap of the run: {
      "count": 2,
      "best": 0.6666666666666666,
      "first": 1
    }
    [stderr]

    run [run]: 2 cases, 2 scores in [time]
    stored in scorebox.db; see them with: scorebox scores [run]
    root [digest]
    verdict: no scorer can fail a case; 1 of 2 cases have regressions, which --strict counts as failures
      overlap (soft, at least 0.5000): 1 case regressed
    [exit code 0]
    "#);
}

#[test]
fn an_error_names_file_line_and_column_of_what_the_author_wrote() {
    let folder = with_scripts();
    folder.write(
        "ts/throws.ts",
        "import { boom } from './lib/boom.js';\nexport default (input: { output: string }): number => boom<string>(input.output);\n",
    );
    folder.write(
        "ts/lib/boom.ts",
        "export function boom<T>(value: T): number {\n  const none: any = null; return none!.length as number;\n}\n",
    );
    let failed = folder.sh("scorebox score ts/throws.ts --output 1").exits_with(1);
    assert_eq!(
        failed.json()["error"]["message"],
        "lib/boom.ts:2:34: TypeError: cannot read property 'length' of null"
    );
    folder.write(
        "ts/typo.ts",
        "type A = number;\nexport default (): number => {\n\tconst x: = 1;\n};\n",
    );
    assert_snapshot!(folder.sh("scorebox score ts/typo.ts --output 1"), @r#"
    [stderr]
    error: scorer `ts/typo.ts`: invalid-script: typo.ts:3:11: SyntaxError: Unexpected token
         const x: = 1;
                  ^
    [exit code 2]
    "#);
    assert_snapshot!(folder.sh("scorebox build ts/typo.ts"), @r#"
    [stderr]
    error: script `ts/typo.ts`: invalid-script: typo.ts:3:11: SyntaxError: Unexpected token
         const x: = 1;
                  ^
    [exit code 2]
    "#);
}

#[test]
fn the_log_of_a_score_has_what_a_script_prints() {
    let folder = Folder::new();
    folder.write(
        "talks.mjs",
        "export default async (input) => {\n  console.log('got', input.output, { a: [1] });\n  console.warn(new TypeError('hm'));\n  return await Promise.resolve(true);\n};\n",
    );
    let output = folder.sh("scorebox score talks.mjs --output '\"x\"'").exits_with(0);
    assert_eq!(
        output.json()["log"],
        serde_json::json!([
            { "level": "info", "message": "got x {\"a\":[1]}" },
            { "level": "warn", "message": "TypeError: hm" },
        ])
    );
}

#[test]
fn the_clock_stands_still_and_random_numbers_repeat() {
    let folder = Folder::new();
    folder.write(
        "chance.js",
        "export const info = { scale: 'points' };\n\
         export default () => ({ score: Date.now(), meta: [Math.random(), Math.random(), new Date().toISOString()] });\n",
    );
    folder.write("three.jsonl", "{\"output\": 1}\n{\"output\": 2}\n{\"output\": 3}\n");
    folder.sh("scorebox run three.jsonl -s chance.js --run-id r -q").exits_with(0);
    assert_eq!(
        folder.rows(
            "SELECT count(*), count(DISTINCT meta_json), min(meta_json ->> 0) <> min(meta_json ->> 1), max(score),
             max(meta_json ->> 2) FROM scores"
        ),
        ["3 | 1 | 1 | 0 | 1970-01-01T00:00:00.000Z"]
    );
    folder.sh("scorebox verify --trust-cache r").exits_with(0);
}

#[test]
fn what_json_cannot_say_in_meta_is_an_error_and_never_another_value() {
    let folder = Folder::new();
    folder.write(
        "s.js",
        "const values = { nan: NaN, infinite: Infinity, map: new Map([[1, 2]]), set: new Set([1]) };\n\
         export default (c) => ({ score: 1, meta: { value: values[c.output] } });\n",
    );
    for output in ["nan", "infinite", "map", "set"] {
        let scored =
            folder.sh(&format!("scorebox score ./s.js --output-text {output}")).exits_with(1);
        let row = scored.json();
        assert_eq!(row["status"], "error", "{output}");
        assert_eq!(row["error"]["kind"], "failed", "{output}: {row}");
    }
    let without = folder.sh("scorebox score ./s.js --output-text none").exits_with(0).json();
    assert_eq!(without["meta"], serde_json::json!({}));
}
