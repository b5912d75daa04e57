//! Which rows a filter finds, in which order, and which rows count as failed. It opens only databases that it wrote.

use super::{super::sample::*, *};
use crate::{
    contract::{Assertion, Direction, Scale, Severity},
    row::Json,
    store::{NewCase, Outcome, RunWriter, ScorerSpec},
    verdict::Standing,
};

/// Two runs of four cases by two scorers. By `a`: 0.0, 0.5, 1.0, error; by `b`: all 0.9.
fn two_runs() -> (tempfile::TempDir, Store) {
    let (folder, store) = database();
    drop(store);
    for run in ["one", "two"] {
        let store = Store::open(folder.path().join("scores.db")).unwrap();
        let mut writer = writer(store, run, &["a", "b"]);
        let scorers = writer.run().scorers.clone();
        let rows = [scored(0.0), scored(0.5), scored(1.0), error()];
        // Workers finish in any order; rows are read in the order of the cases.
        for ordinal in [2, 0, 3, 1] {
            let id = format!("case-{ordinal}");
            let node = if ordinal % 2 == 0 { "even" } else { "odd" };
            let new = NewCase { node_id: Some(node), ..case(ordinal, &id) };
            let key = added(&mut writer, &new);
            writer.add_score(key, scorers[1], &scored(0.9)).unwrap();
            writer.add_score(key, scorers[0], &rows[ordinal as usize]).unwrap();
        }
    }
    let store = Store::open_read_only(folder.path().join("scores.db")).unwrap();
    (folder, store)
}

#[test]
fn a_row_whose_case_is_not_there_is_damage_and_not_left_out() {
    for (lost, what) in [("cases", "case or its run"), ("scorers", "scorer")] {
        let (folder, store) = two_runs();
        let sql = format!(
            "PRAGMA foreign_keys = OFF; DELETE FROM {lost} WHERE rowid = (SELECT max(rowid) FROM {lost})"
        );
        let other = rusqlite::Connection::open(folder.path().join("scores.db")).unwrap();
        other.execute_batch(&sql).unwrap();
        let read = store.scores(&of("two"), None, 100);
        let Err(StoreError::Corrupt { what: found, .. }) = read else { panic!("{read:?}") };
        assert_eq!(found, format!("a score row has no {what}"));
    }
}

fn ids(store: &Store, filter: &ScoreFilter) -> Vec<String> {
    let scores = store.scores(filter, None, 100).unwrap();
    assert_eq!(store.score_count(filter).unwrap(), scores.len() as u64);
    scores.iter().map(|score| score.id.to_string()).collect()
}

fn of(run: &str) -> ScoreFilter {
    ScoreFilter { run: Some(run.into()), ..ScoreFilter::default() }
}

#[test]
fn a_count_takes_steps_for_each_row_so_that_it_can_be_bounded() {
    let (_folder, store) = two_runs();
    let instructions = |sql: &str, values: &[Value]| -> Vec<String> {
        let mut explained = store.conn.prepare(&format!("EXPLAIN {sql}")).unwrap();
        let rows = explained.query_map(params_from_iter(values), |row| row.get("opcode"));
        rows.unwrap().map(Result::unwrap).collect()
    };
    let in_one_step = "Count".to_owned();
    assert!(instructions("SELECT count(*) FROM score_rows", &[]).contains(&in_one_step));
    let all = Conditions::of(&ScoreFilter::default(), None, None);
    assert!(!instructions(&count_sql(&all), &all.values).contains(&in_one_step));
}

#[test]
fn rows_come_by_run_case_and_scorer() {
    let (_folder, store) = two_runs();
    let found = ids(&store, &ScoreFilter::default());
    assert_eq!(found.len(), 16);
    assert_eq!(found[..3], ["one:a:0:0:case-0", "one:b:0:0:case-0", "one:a:0:0:case-1"]);
    assert_eq!(found[8], "two:a:0:0:case-0");
}

#[test]
fn filters_combine() {
    let (_folder, store) = two_runs();
    let a_of_two = ScoreFilter { scorer: Some("a".into()), ..of("two") };
    assert_eq!(ids(&store, &a_of_two).len(), 4);
    let odd = ScoreFilter { node: Some("odd".into()), ..a_of_two.clone() };
    assert_eq!(ids(&store, &odd), ["two:a:0:0:case-1", "two:a:0:0:case-3"]);
    let errors = ScoreFilter { errors: true, ..odd.clone() };
    assert_eq!(ids(&store, &errors), ["two:a:0:0:case-3"]);
    let below = ScoreFilter { below: Some(0.6), ..odd };
    assert_eq!(ids(&store, &below), ["two:a:0:0:case-1"]);
    let case = ScoreFilter { case: Some("case-2".into()), ..ScoreFilter::default() };
    assert_eq!(ids(&store, &case).len(), 4, "both runs, both scorers");
    let both = ScoreFilter { case: Some("case-2".into()), ..a_of_two };
    assert_eq!(ids(&store, &both), ["two:a:0:0:case-2"]);
    let nobody = ScoreFilter { scorer: Some("' OR 1 --".into()), ..ScoreFilter::default() };
    assert!(ids(&store, &nobody).is_empty());
    assert!(matches!(store.scores(&of("three"), None, 1), Err(StoreError::NoSuchRun { .. })));
}

#[test]
fn pages_follow_one_another_without_gap_or_repetition() {
    let (_folder, store) = two_runs();
    for filter in [ScoreFilter::default(), of("two"), ScoreFilter { failed: true, ..of("one") }] {
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = store.scores(&filter, after, 3).unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.cursor);
            paged.extend(page.iter().map(|score| score.id.to_string()));
        }
        assert_eq!(paged, ids(&store, &filter));
    }
}

/// `failed` by scale, direction and threshold: which of the scores 0, 0.5 and 1 fail.
#[test]
fn what_fails_is_an_error_or_on_the_wrong_side_of_the_threshold() {
    let (higher, lower) = (Direction::HigherIsBetter, Direction::LowerIsBetter);
    let rules = [
        (Scale::Unit, higher, None, ""),
        (Scale::Unit, higher, Some(0.5), "0"),
        (Scale::Unit, lower, None, ""),
        (Scale::Unit, lower, Some(0.5), "1"),
        (Scale::Points, higher, None, ""),
        (Scale::Points, higher, Some(1.0), "0 0.5"),
    ];
    for (scale, direction, threshold, expected) in rules {
        let (_folder, mut store) = database();
        let spec = ScorerSpec { scale, direction, threshold, ..scorer("a") };
        let run = store.create_run(&run("r"), &[spec], &session()).unwrap();
        let mut writer = RunWriter::new(store, run.clone());
        for (ordinal, id) in ["0", "0.5", "1", "error"].into_iter().enumerate() {
            let key = added(&mut writer, &case(ordinal as u64, id));
            let row = id.parse().map_or(error(), scored);
            writer.add_score(key, run.scorers[0], &row).unwrap();
        }
        let failed = ScoreFilter { failed: true, ..ScoreFilter::default() };
        let failed = writer.store().scores(&failed, None, 10).unwrap();
        let cases: Vec<_> = failed.iter().map(|score| score.row.case_id.as_str()).collect();
        let expected: Vec<_> = expected.split_whitespace().chain(["error"]).collect();
        assert_eq!(cases, expected, "{scale:?} {direction:?} {threshold:?}");
    }
}

#[test]
fn a_gate_from_0_to_1_that_states_no_threshold_fails_all_but_the_best_score() {
    for (direction, expected) in
        [(Direction::HigherIsBetter, ["0", "0.5"]), (Direction::LowerIsBetter, ["0.5", "1"])]
    {
        let (_folder, mut store) = database();
        let spec = ScorerSpec { direction, severity: Severity::Gate, ..scorer("a") };
        let run = store.create_run(&run("r"), &[spec], &session()).unwrap();
        let mut writer = RunWriter::new(store, run.clone());
        for (ordinal, id) in ["0", "0.5", "1"].into_iter().enumerate() {
            let key = added(&mut writer, &case(ordinal as u64, id));
            writer.add_score(key, run.scorers[0], &scored(id.parse().unwrap())).unwrap();
        }
        let failed = ScoreFilter::default().with_failed(true);
        let failed = writer.store().scores(&failed, None, 10).unwrap();
        let cases: Vec<_> = failed.iter().map(|score| score.row.case_id.as_str()).collect();
        assert_eq!(cases, expected, "{direction:?}");
    }
}

/// Rows are found exactly if their policy is not satisfied.
#[test]
fn a_row_whose_assertions_decide_against_its_case_fails() {
    let (gate, soft) = (Some(Severity::Gate), Some(Severity::Soft));
    let checks = [None, gate, soft]
        .into_iter()
        .flat_map(|severity| [None, Some(0.3), Some(0.7)].map(|threshold| (severity, threshold)));
    let checks: Vec<_> = checks.flat_map(|it| [0.5, 1.0].map(|score| (it, score))).collect();
    let (_folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    let (scorer, policy) = (writer.run().scorers[0], scorer("a").policy());
    let mut expected = Vec::new();
    for (ordinal, ((severity, threshold), score)) in checks.into_iter().enumerate() {
        let (name, held) = ("it holds".to_owned(), "it does".to_owned());
        let check = Assertion { name, score, severity, threshold, reason: None };
        let holds = Assertion { name: held, score: 1.0, severity: gate, threshold, reason: None };
        let id = format!("{severity:?} {threshold:?} {score}");
        let assertions = [holds, check];
        if policy.standing(1.0, &assertions) != Standing::Holds {
            expected.push(id.clone());
        }
        let assertions = &assertions[..];
        let outcome =
            Outcome::Scored { score: 1.0, label: None, reason: None, meta: None, assertions };
        let key = added(&mut writer, &case(ordinal as u64, &id));
        writer.add_score(key, scorer, &row(outcome)).unwrap();
    }
    let failed = ScoreFilter::default().with_failed(true);
    let found = writer.store().scores(&failed, None, 100).unwrap();
    let found: Vec<_> = found.iter().map(|score| score.row.case_id.clone()).collect();
    assert_eq!(found, expected);
    assert_eq!((found.len(), writer.store().score_count(&failed).unwrap()), (4, 4));
}

/// The value in a row's JSON for a column: `meta` for `meta_json`, `/error/kind` for `error_kind`.
fn shown<'a>(json: &'a serde_json::Value, column: &str) -> Option<&'a serde_json::Value> {
    if let Some(of_the_error) = column.strip_prefix("error_") {
        return json.get("error")?.get(of_the_error);
    }
    let mut words = column.trim_end_matches("_json").split('_');
    let first = words.next().unwrap().to_owned();
    let key = words.fold(first, |key, word| key + &word[..1].to_uppercase() + &word[1..]);
    json.get(key)
}

#[test]
fn text_that_is_not_json_in_a_changed_database_stays_a_text() {
    let (_folder, store) = two_runs();
    let mut record = store.scores(&ScoreFilter::default(), None, 1).unwrap().remove(0);
    record.row.answer.meta = Some(Json::from("{\"a\": ".to_owned()));
    assert_eq!(serde_json::to_value(&record).unwrap()["meta"], "{\"a\": ");
}

#[test]
fn the_view_says_the_same_as_the_library() {
    let (folder, store) = two_runs();
    let other = rusqlite::Connection::open(folder.path().join("scores.db")).unwrap();
    let mut view = other.prepare("SELECT * FROM scores WHERE id = ?1").unwrap();
    for score in store.scores(&ScoreFilter::default(), None, 100).unwrap() {
        let json = serde_json::to_value(&score).unwrap();
        let columns: Vec<String> = view.column_names().map(str::to_owned).collect();
        let mut there = 0;
        view.query_row([score.id.to_string()], |row| {
            for column in &columns {
                let expected = match row.get::<_, Value>(column.as_str())? {
                    Value::Null => serde_json::Value::Null,
                    Value::Integer(n) => n.into(),
                    Value::Real(n) => n.into(),
                    Value::Text(text) if column.ends_with("_json") => {
                        serde_json::from_str(&text).unwrap()
                    }
                    Value::Text(text) => text.into(),
                    Value::Blob(_) => "a blob in a view for people".into(),
                };
                let found = shown(&json, column);
                there += usize::from(found.is_some());
                assert_eq!(*found.unwrap_or(&serde_json::Value::Null), expected, "{column}");
            }
            Ok(())
        })
        .unwrap();
        let keys = json.as_object().unwrap();
        let in_the_error =
            keys.get("error").map_or(0, |error| error.as_object().unwrap().len() - 1);
        assert_eq!(there, keys.len() + in_the_error, "no key that the view does not have");
    }
}

#[test]
fn sorted_scores_are_those_of_one_scorer_and_of_scored_rows_only() {
    let (_folder, store) = two_runs();
    let sorted = |filter: &ScoreFilter| {
        let mut scores = Vec::new();
        store.for_each_score_sorted(filter, "a", |score| scores.push(score)).unwrap();
        scores
    };
    assert_eq!(sorted(&ScoreFilter::default()), [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]);
    assert_eq!(sorted(&of("one")), [0.0, 0.5, 1.0]);
    assert_eq!(sorted(&ScoreFilter { scorer: Some("b".into()), ..of("one") }), [0.0; 0]);
}

#[test]
fn a_snapshot_does_not_see_what_is_written_meanwhile() {
    let (folder, store) = two_runs();
    let mut other = Store::open(folder.path().join("scores.db")).unwrap();
    let counted: Result<_, StoreError> = store.snapshot(|store| {
        let before = store.runs(10)?.len();
        other.create_run(&run("three"), &[], &session())?;
        Ok((before, store.runs(10)?.len()))
    });
    assert_eq!(counted.unwrap(), (2, 2));
    assert_eq!(store.runs(10).unwrap().len(), 3);
}

#[test]
fn every_page_is_found_without_sorting() {
    let (_folder, store) = two_runs();
    let filters = [
        ScoreFilter::default(),
        of("one"),
        ScoreFilter { errors: true, ..of("one") },
        ScoreFilter { node: Some("odd".into()), ..of("one") },
        ScoreFilter { failed: true, ..of("one") },
    ];
    for filter in filters {
        let run = store.run_of(&filter).unwrap();
        let conditions = Conditions::of(&filter, run, None);
        let order = "ORDER BY score_rows.case_key, score_rows.scorer";
        let sql = format!("EXPLAIN QUERY PLAN {RECORDS}{} {order}", conditions.sql());
        let mut plan = String::new();
        store
            .each(&sql, &conditions, |row| {
                plan.push_str(&row.get::<_, String>("detail")?);
                plan.push('\n');
                Ok(())
            })
            .unwrap();
        assert!(!plan.contains("TEMP B-TREE"), "{filter:?}\n{plan}");
        assert!(!filter.errors || plan.contains("score_rows_errors"), "{plan}");
    }
}

#[test]
fn a_page_ends_when_its_rows_are_large() {
    let (_folder, store) = database();
    let mut writer = writer(store, "r", &["a"]);
    let scorer = writer.run().scorers[0];
    let meta = format!("\"{}\"", "x".repeat(7 << 20));
    for ordinal in 0..5 {
        let key = added(&mut writer, &case(ordinal, &ordinal.to_string()));
        let large = Outcome::NotApplicable { label: None, reason: None, meta: Some(&meta) };
        writer.add_score(key, scorer, &row(large)).unwrap();
    }
    let (mut after, mut pages) = (None, Vec::new());
    loop {
        let page = writer.store().scores(&ScoreFilter::default(), after, 100).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.cursor);
        pages.push(page.len());
    }
    assert_eq!(pages, [3, 2]);
}
