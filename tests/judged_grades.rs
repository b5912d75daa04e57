//! 180 grades that GPT-4 gave to 60 responses, three to each, with its published texts: asked once of a server that
//! returns them, then replayed from the recordings alone.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
    sync::Mutex,
};

use serde_json::{Value, json};

use crate::{fixture::Folder, model_server::ModelServer};

/// Each case has as many attempts as it has grades.
const GRADES: usize = 3;

const SCORER: &str = "
[scorers.grade]
use = 'rubric'
grants = ['judge']
[scorers.grade.config]
instructions = 'You grade a response by a rubric.'
scale = { min = 1, max = 5 }
promptTemplate = \"\"\"
{{input}}

{{output}}

{{groundTruth}}

{{metadata/rubric}}\"\"\"
";

fn cases() -> Vec<Value> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/judged/prometheus.jsonl.zst");
    let text = zstd::decode_all(fs::File::open(file).unwrap()).unwrap();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// A folder with three attempts at each case.
fn folder(cases: &[Value]) -> Folder {
    let folder = Folder::new();
    let attempts = cases.iter().flat_map(|case| {
        (0..GRADES).map(move |attempt| {
            let mut case = case.clone();
            case["attempt"] = attempt.into();
            format!("{case}\n")
        })
    });
    folder.write("cases.jsonl", attempts.collect::<String>());
    folder
}

/// A server that answers each question with the grades that were published for it, one after another, in the form that
/// `rubric` requires.
fn grader(cases: &[Value]) -> ModelServer {
    let published: Vec<(String, Value)> = cases
        .iter()
        .map(|case| (case["output"].as_str().unwrap().to_owned(), case["metadata"].clone()))
        .collect();
    let given = Mutex::new(HashMap::new());
    ModelServer::saying(move |asked| {
        let text = asked.text();
        let (output, graded) = published
            .iter()
            .find(|(output, _)| text.contains(&format!(">\n{output}\n</output-")))
            .unwrap();
        let mut given = given.lock().unwrap();
        let next = given.entry(output.clone()).or_insert(0);
        let answer = json!({"reason": graded["feedback"][*next], "score": graded["scores"][*next]});
        *next += 1;
        answer.to_string()
    })
}

/// The grades and reasons of each case, sorted, because it varies which of the three an attempt gets.
fn grades(folder: &Folder, run: &str) -> BTreeMap<String, Vec<String>> {
    let rows = folder.rows(&format!(
        "SELECT case_id, score * 4 + 1, meta_json, reason FROM scores WHERE run_id = '{run}' ORDER BY 1, 2, 4"
    ));
    let mut grades = BTreeMap::<String, Vec<String>>::new();
    for row in rows {
        let (case, grade) = row.split_once(" | ").unwrap();
        grades.entry(case.to_owned()).or_default().push(grade.to_owned());
    }
    grades
}

#[test]
fn published_grades_are_the_scores_and_replay_from_their_recordings() {
    let cases = cases();
    assert_eq!(cases.len(), 60);
    let folder = folder(&cases);
    let server = grader(&cases);
    let asking = format!(
        "[judges.default]\nprovider = 'openai'\nbase_url = '{}'\nmodel = 'gpt-4'\n{SCORER}",
        server.base_url()
    );
    folder.write("suite.toml", &asking);
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id asked").exits_with(0);
    assert_eq!(server.asked().len(), cases.len() * GRADES);

    let published = cases.iter().map(|case| {
        let metadata = &case["metadata"];
        let grades = (0..GRADES).map(|place| {
            let (score, feedback) = (&metadata["scores"][place], &metadata["feedback"][place]);
            let score = score.as_f64().unwrap();
            let feedback = feedback.as_str().unwrap().trim();
            format!("{score} | {} | {feedback}", json!({"grade": score}))
        });
        let mut grades: Vec<String> = grades.collect();
        grades.sort();
        (case["id"].as_str().unwrap().to_owned(), grades)
    });
    let published: BTreeMap<String, Vec<String>> = published.collect();
    assert_eq!(grades(&folder, "asked"), published);

    // From a file of recordings, in a new database; no server is left to ask.
    let export = "scorebox calls asked --format jsonl --limit 0 > calls.jsonl";
    folder.sh(export).exits_with(0);
    drop(server);
    let recorded =
        "[judges.default]\nprovider = 'recorded'\nfile = 'calls.jsonl'\nmodel = 'gpt-4'\n";
    folder.write("suite.toml", format!("{recorded}{SCORER}"));
    for run in ["first", "again"] {
        let line = "scorebox run suite.toml cases.jsonl -q --judge-cache off --run-id";
        folder.sh(&format!("{line} {run}")).exits_with(0);
    }
    let trail = |run: &str| {
        folder.rows(&format!(
            "SELECT case_id, attempt, status, score, reason, meta_json, fuel, input_digest FROM scores \
             WHERE run_id = '{run}' ORDER BY 1, 2"
        ))
    };
    let first = trail("first");
    assert_eq!(first.len(), cases.len() * GRADES);
    assert_eq!(trail("asked"), first);
    assert_eq!(trail("again"), first);

    // From the recordings in the database, which are those of the server that is gone.
    folder.write("suite.toml", asking);
    let replay = "scorebox run suite.toml cases.jsonl -q --judge-cache only --run-id only";
    folder.sh(replay).exits_with(0);
    assert_eq!(trail("only"), first);
    let verified = folder.sh("scorebox verify only").exits_with(0);
    assert!(verified.stderr.contains("180 verified, 0 different"), "{verified}");
}
