//! The imports of scripts: files that do not exist, that are outside of the folder or that export something else, JSON,
//! and names without an extension.

use insta::assert_snapshot;

use crate::{command_script::with_scripts, fixture::Folder};

#[test]
fn imports_that_are_not_there_or_lead_away_are_reported_where_they_stand() {
    let folder = with_scripts();
    let import = |name: &str, specifier: &str| {
        folder.write(
            name,
            format!(
                "// A comment.\nimport {{ x }} from \"{specifier}\";\nexport default () => x;\n"
            ),
        );
        folder.sh(&format!("scorebox score {name} --output 1"))
    };
    assert_snapshot!(import("js/missing.js", "./not-there.js"), @r#"
    [stderr]
    error: scorer `js/missing.js`: invalid-script: missing.js:2:19: `./not-there.js` cannot be imported: there is no file `not-there.js`
        import { x } from "./not-there.js";
                          ^
    [exit code 2]
    "#);
    assert_snapshot!(import("js/away.js", "../ts/lib/words.ts"), @r#"
    [stderr]
    error: scorer `js/away.js`: invalid-script: away.js:2:19: `../ts/lib/words.ts` is outside the folder of the script, where imports may not lead
        import { x } from "../ts/lib/words.ts";
                          ^
    [exit code 2]
    "#);
    std::os::unix::fs::symlink("../ts/lib/words.ts", folder.path("js/link.js")).unwrap();
    assert_snapshot!(import("js/linked.js", "./link.js"), @"
    [stderr]
    error: the script `js/linked.js` imports `link.js`, which leads out of the script's folder through a link
    [exit code 2]
    ");
    assert_snapshot!(import("js/package.js", "lodash"), @r#"
    [stderr]
    error: scorer `js/package.js`: invalid-script: package.js:2:19: `lodash` is not a file of the script; an import begins with `./` or `../`
        import { x } from "lodash";
                          ^
    [exit code 2]
    "#);
    assert_snapshot!(import("js/name.js", "./lib/words.js"), @r#"
    [stderr]
    error: scorer `js/name.js`: invalid-script: name.js:2:10: SyntaxError: Could not find export 'x' in module 'lib/words.js'
        import { x } from "./lib/words.js";
                 ^
    [exit code 2]
    "#);
}

#[test]
fn a_json_file_is_read_as_json_and_not_as_javascript() {
    let folder = Folder::new();
    folder.write(
        "data.js",
        "import data from './data.json';\nexport default () => ({ score: 1, meta: [data, Object.keys(data), data.polluted ?? null] });\n",
    );
    folder.write("data.json", r#"{"__proto__": {"polluted": 1}, "é": [1.50, "\u00e9", null]}"#);
    let answer = folder.sh("scorebox score data.js --output 1").exits_with(0).json();
    assert_eq!(
        answer["meta"].to_string(),
        r#"[{"__proto__":{"polluted":1},"é":[1.5,"é",null]},["__proto__","é"],null]"#
    );
    let mut words = String::new();
    for text in [r#"{"é": 1,}"#, "['single']", "{\n  \"a\": (() => 1)()\n}", "{}; 1", "{\n"] {
        folder.write("data.json", text);
        let output = folder.sh("scorebox score data.js --output 1").exits_with(2);
        words += &output.stderr;
    }
    assert_snapshot!(words, @r#"
    error: scorer `data.js`: invalid-script: data.json:1:9: the file is not valid JSON: key must be a string
        {"é": 1,}
                ^
    error: scorer `data.js`: invalid-script: data.json:1:2: the file is not valid JSON: expected value
        ['single']
         ^
    error: scorer `data.js`: invalid-script: data.json:2:8: the file is not valid JSON: expected value
          "a": (() => 1)()
               ^
    error: scorer `data.js`: invalid-script: data.json:1:3: the file is not valid JSON: trailing characters
        {}; 1
          ^
    error: scorer `data.js`: invalid-script: data.json:2:1: the file is not valid JSON: it ends too early
    "#);
    // A file that is imported during a score is read during the score.
    folder.write("data.js", "export default async () => (await import('./data.json')).default;\n");
    folder.write("data.json", "0.5,");
    let failed = folder.sh("scorebox score data.js --output 1").exits_with(1).json();
    assert_eq!(
        failed["error"]["message"],
        "data.json:1:4: the file is not valid JSON: trailing characters"
    );
    folder.write("data.json", "0.5");
    assert_eq!(folder.sh("scorebox score data.js --output 1").exits_with(0).json()["score"], 0.5);
}

#[test]
fn a_name_that_another_file_does_not_export_is_reported_where_it_is_imported() {
    let folder = with_scripts();
    let script = |name: &str, text: &str| {
        folder.write(name, text);
        let output = folder.sh(&format!("scorebox score {name} --output 1")).exits_with(2);
        output.stderr.lines().take(3).collect::<Vec<_>>().join("\n")
    };
    let renamed = "// xs\nimport {\n  words as xs, word as x,\n} from './lib/words.js';\nexport default () => x;\n";
    assert_snapshot!(script("js/renamed.js", renamed), @r#"
    error: scorer `js/renamed.js`: invalid-script: renamed.js:3:16: SyntaxError: Could not find export 'word' in module 'lib/words.js'
          words as xs, word as x,
                       ^
    "#);
    let default =
        "import words, { words as all } from './lib/words';\nexport default () => words;\n";
    assert_snapshot!(script("ts/default.ts", default), @r#"
    error: scorer `ts/default.ts`: invalid-script: default.ts:1:8: SyntaxError: Could not find export 'default' in module 'lib/words.ts'
        import words, { words as all } from './lib/words';
               ^
    "#);
    folder.write(
        "js/lib/again.js",
        "export { words } from './words.js';\nexport { sentences } from './words.js';\n",
    );
    let again = "import { words } from './lib/again.js';\nexport default () => words;\n";
    assert_snapshot!(script("js/again.js", again), @r#"
    error: scorer `js/again.js`: invalid-script: lib/again.js:2:10: SyntaxError: Could not find export 'sentences' in module 'lib/words.js'
        export { sentences } from './words.js';
                 ^
    "#);
    let circle = "import { x } from './circle.js';\nexport { x } from './circle.js';\nexport default () => 1;\n";
    assert_snapshot!(script("js/circle.js", circle), @r#"
    error: scorer `js/circle.js`: invalid-script: circle.js:1:10: SyntaxError: circular reference when looking for export 'x' in module 'circle.js'
        import { x } from './circle.js';
                 ^
    "#);
}

#[test]
fn an_import_without_an_ending_finds_each_ending_of_a_script() {
    for ending in ["js", "mjs", "ts", "mts"] {
        let folder = Folder::new();
        folder.write(&format!("m.{ending}"), "export const half = 0.5;\n");
        folder.write("s.ts", "import { half } from \"./m\";\nexport default () => half;\n");
        let scored = folder.sh("scorebox score ./s.ts --output 1").exits_with(0);
        assert_eq!(scored.json()["score"], 0.5, "{ending}");
    }
}
