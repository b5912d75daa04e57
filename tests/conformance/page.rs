//! `docs/conformance.md`, for people: made of the rows, the peers' tables and the differences. It scores
//! nothing; that what it says holds is for the other tests.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use serde_json::Value;

use super::{
    difference::{self, Difference},
    peers::{self, Peer},
    trial::Trial,
    vector::{self, Vector},
    verdict::words,
};

const HEAD: &str = "\
# Conformance: the same numbers as the programs you know

The built-in scorers run on rows that other programs have scored, each row in a real sandbox. The tests in
`tests/conformance` require every score to agree to a millionth, or with what is known of the program's answer: that it
is rounded, in a range, above a threshold, or an error. Deliberate differences are listed below with the reason. The tests
fail if a row differs and is not listed, or is listed and no longer differs. They also write this page.

The rows, their sources and their licences are in `tests/conformance/data`. For what differs beyond single scores, see
[coming from another tool](coming-from.md).
";

const SCORERS: &str = "
## Which scorer is which

A key of the configuration that is the same in all rows is shown with its value.
";

const DIFFERENCES: &str = "
## Deliberate differences
";

const JSON_SCHEMA: &str = "
## JSON Schema beyond the required tests

The official optional tests agree too, at the same commit, for drafts 4, 6, 7, 2019-09 and 2020-12, with these exceptions:

- `format` is checked only with `formats`. Then `idn-email` refuses a quoted or an unusual local part that is not ASCII, and 64 ASCII
  characters before the `@` (`email` accepts them), and `idn-hostname` accepts one label that decodes to a disallowed character (`xn--7a`).
  All other formats are as strict as the tests; names of Unicode properties in a `regex` are not looked up.
- `contentEncoding` and `contentMediaType` only describe.
- In draft 4, too, 1.0 is an integer.

Beyond what the tests ask:

- `multipleOf` divides decimals, not doubles: 19.99 is a multiple of 0.01. It and the bounds take whole numbers of up to 64 bits as they
  are; a number that has more digits is the closest double. Doubles are compared after the 64th different number of that kind in a
  schema (a divisor, or a bound from 2^53 on), in a schema whose `$schema` is one of its `documents`, and for draft 4's
  `exclusiveMaximum: true` and `exclusiveMinimum: true`.
- `pattern` and `patternProperties` are ECMA 262 with the flag `u`, and take escaped punctuation (`\\-`), `]` and `}` for themselves as
  without the flag. They know no look-around, no back references and no `(?m:…)`: a schema with one of those is an error, as is one with a
  pattern that is too large (10 MB when it is compiled). If a `$ref` leads into `patternProperties`, the keys there are in Rust's syntax.
- `dependencies` holds in every draft, also in 2019-09 and 2020-12, which have `dependentRequired` and `dependentSchemas` in its place.
- A schema that refers to itself without a step into the value, such as `{\"$ref\": \"#\"}`, is an error if all values of a kind come to
  that place. One that only some values come to compiles, and those values do not match it.
";

/// Ends the test unless the page is what it would be if written now.
pub(super) fn is_current() {
    let page = page();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md");
    if fs::read_to_string(path).is_ok_and(|written| written == page) {
        return;
    }
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance.md");
    fs::write(&fresh, page).unwrap();
    panic!("the page has changed: cp {} docs/conformance.md", fresh.display());
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    page.push_str("\n| program | which, and on what | rows | agree | differ deliberately |\n|---|---|--:|--:|--:|\n");
    let (mut rows, mut differing) = (0, 0);
    for peer in peers::ALL {
        let count: usize = peer.files.iter().map(|file| vector::read(file).len()).sum();
        let listed = differences(peer).len();
        let Peer { name, version, .. } = peer;
        let agree = count - listed;
        writeln!(page, "| {name} | {version} | {count} | {agree} | {listed} |").unwrap();
        rows += count;
        differing += listed;
    }
    writeln!(page, "| all | | {rows} | {} | {differing} |", rows - differing).unwrap();
    page.push_str(SCORERS);
    page.push_str(
        "\n| program | its scorer | scorebox's | configuration | rows |\n|---|---|---|---|--:|\n",
    );
    for peer in peers::ALL {
        for ((theirs, ours), configs) in scorers(peer) {
            let (name, count) = (peer.name, configs.len());
            let config = common(&configs);
            writeln!(page, "| {name} | {theirs} | `{ours}` | {config} | {count} |").unwrap();
        }
    }
    page.push_str(DIFFERENCES);
    page.push_str("\n| program | its scorer | case | its answer | scorebox's | why |\n|---|---|---|---|---|---|\n");
    for peer in peers::ALL {
        for (vector, Difference { ours, reason, .. }) in differences(peer) {
            let (name, case, theirs) = (peer.name, case(&vector), words(vector.expected()));
            let scorer = vector.scorer;
            writeln!(page, "| {name} | {scorer} | {case} | {theirs} | {ours} | {reason} |")
                .unwrap();
        }
    }
    page.push_str(JSON_SCHEMA);
    page
}

/// The differing rows of a peer, each with its difference.
fn differences(peer: &Peer) -> Vec<(Vector, Difference)> {
    let mut differing = Vec::new();
    for difference in difference::all() {
        if peer.files.contains(&difference.file.as_str()) {
            let vectors = vector::read(&difference.file);
            let rows = difference.rows.iter();
            differing.extend(rows.map(|row| (vectors[row - 1].clone(), difference.clone())));
        }
    }
    differing
}

/// The configurations of every pair of a peer's scorer and one of ours, one for each row.
fn scorers(peer: &Peer) -> BTreeMap<(String, &'static str), Vec<Value>> {
    let mut scorers: BTreeMap<_, Vec<Value>> = BTreeMap::new();
    for vector in peer.files.iter().flat_map(|file| vector::read(file)) {
        let Trial { scorer, config, .. } = (peer.trial)(&vector);
        scorers.entry((vector.scorer, scorer)).or_default().push(config);
    }
    scorers
}

/// The longest value that is shown.
const SHOWN: usize = 24;

/// The keys of several configurations, with the value where all have the same.
fn common(configs: &[Value]) -> String {
    let mut values: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (key, value) in configs.iter().filter_map(Value::as_object).flatten() {
        values.entry(key).or_default().push(value);
    }
    let key = |(key, values): (&&str, &Vec<&Value>)| {
        let shown = values[0].to_string();
        let same = values.len() == configs.len() && values.iter().all(|value| *value == values[0]);
        if same && shown.len() <= SHOWN { format!("`{key}: {shown}`") } else { format!("`{key}`") }
    };
    values.iter().map(key).collect::<Vec<_>>().join(", ").replace('|', "\\|")
}

/// A case, in a cell of a table.
fn case(vector: &Vector) -> String {
    let mut parts = vec![format!("output `{}`", vector.output)];
    if let Some(truth) = &vector.ground_truth {
        parts.push(format!("ground truth `{truth}`"));
    }
    if let Value::Object(config) = &vector.config {
        parts.extend(config.iter().map(|(key, value)| format!("{key} `{value}`")));
    }
    parts.join(", ").replace('|', "\\|")
}
