//! Compares an index with the cases that were added: what is found, in which order, and what replaces what.

use super::{super::sample, *};
use crate::{
    row::Status,
    store::{ScorerKey, Store},
    verdict::{CaseVerdict, Verdict},
};

const A: ScorerKey = ScorerKey(1);
const B: ScorerKey = ScorerKey(2);

/// An index, and a run of a database.
fn index() -> (tempfile::TempDir, CaseIndex, RunRecord) {
    let (folder, store) = sample::database();
    let writer = sample::writer(store, "r", &["a", "b"]);
    let run = writer.store().run("r").unwrap();
    let index = CaseIndex::open(folder.path().join("cases.index")).unwrap();
    (folder, index, run)
}

fn case(run: &RunRecord, ordinal: u64, verdict: Verdict, score: f64, text: &str) -> IndexedCase {
    let key = CaseKey::at(run.key, ordinal).unwrap();
    let rows = match verdict {
        Verdict::Errored => vec![(A, Status::Error, None), (B, Status::Scored, Some(score))],
        _ => vec![(A, Status::Scored, Some(score)), (B, Status::Skipped, None)],
    };
    IndexedCase::new(key, CaseVerdict::of(verdict, 0, Some(score)), rows, text.to_owned())
}

/// Ten cases: every third failed, the last errored; scores descend.
fn filled() -> (tempfile::TempDir, CaseIndex, RunRecord) {
    let (folder, mut index, run) = index();
    let cases: Vec<IndexedCase> = (0..10)
        .map(|ordinal| {
            let verdict = match ordinal {
                9 => Verdict::Errored,
                _ if ordinal % 3 == 0 => Verdict::Failed,
                _ => Verdict::Passed,
            };
            let text = format!(
                "case {ordinal} says {}",
                if ordinal % 2 == 0 { "Été river" } else { "desert" }
            );
            case(&run, ordinal, verdict, 1.0 - ordinal as f64 / 10.0, &text)
        })
        .collect();
    index.add(&run, &cases, CaseKey::at(run.key, 10).unwrap()).unwrap();
    (folder, index, run)
}

/// The ordinals of the cases that a query finds, in pages of `limit`.
fn found(index: &CaseIndex, query: &CaseQuery, limit: usize) -> Vec<u64> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let page = index.cases(query, after, limit).unwrap();
        let Some(last) = page.last() else { return all };
        after = Some(last.cursor());
        all.extend(page.iter().map(|case| case.key.ordinal()));
    }
}

/// The ordinals of the same cases from the end, in pages of `limit`, each of which comes before the one found earlier.
fn found_backwards(index: &CaseIndex, query: &CaseQuery, limit: usize) -> Vec<u64> {
    let mut all = Vec::new();
    let mut before = None;
    loop {
        let page = index.finding(query).unwrap().reversed().cases(before, limit).unwrap();
        let Some(first) = page.last() else { return all };
        before = Some(first.cursor());
        all.extend(page.iter().map(|case| case.key.ordinal()));
    }
}

/// Checks that the result and the count are the same for all page sizes, forwards and backwards.
#[track_caller]
fn finds(index: &CaseIndex, query: &CaseQuery, expected: &[u64]) {
    for limit in [1, 3, 100] {
        assert_eq!(found(index, query, limit), expected, "{query:?}");
        let mut backwards = found_backwards(index, query, limit);
        backwards.reverse();
        assert_eq!(backwards, expected, "{query:?}");
    }
    let count = index.finding(query).unwrap().count(1000).unwrap();
    assert_eq!(count, expected.len() as u64, "{query:?}");
}

fn asked(run: &RunRecord, change: impl FnOnce(&mut CaseQuery)) -> CaseQuery {
    let mut query = CaseQuery::of_run(run.key);
    change(&mut query);
    query
}

#[test]
fn cases_are_found_by_verdict_scorer_status_and_score() {
    let (_folder, index, run) = filled();
    let all: Vec<u64> = (0..10).collect();
    finds(&index, &asked(&run, |_| ()), &all);
    finds(&index, &asked(&run, |it| it.verdict = Some(Verdict::Failed)), &[0, 3, 6]);
    finds(&index, &asked(&run, |it| it.status = Some(Status::Error)), &[9]);
    finds(&index, &asked(&run, |it| it.status = Some(Status::Scored)), &all);
    finds(
        &index,
        &asked(&run, |it| (it.scorer, it.status) = (Some(B), Some(Status::Scored))),
        &[9],
    );
    finds(&index, &asked(&run, |it| (it.scorer, it.least) = (Some(A), Some(0.75))), &[0, 1, 2]);
    finds(&index, &asked(&run, |it| (it.least, it.most) = (Some(0.15), Some(0.35))), &[7, 8]);
    let several = |it: &mut CaseQuery| {
        (it.scorer, it.verdict, it.most) = (Some(A), Some(Verdict::Failed), Some(0.8));
    };
    finds(&index, &asked(&run, several), &[3, 6]);
    finds(&index, &asked(&run, |it| it.regressed = Some(true)), &[]);
}

#[test]
fn the_order_of_scores_has_pages_too() {
    let (_folder, index, run) = filled();
    let lowest = |it: &mut CaseQuery| it.order = CaseOrder::LowestFirst;
    finds(&index, &asked(&run, lowest), &[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    let of_scorer = |it: &mut CaseQuery| (it.scorer, it.order) = (Some(A), CaseOrder::HighestFirst);
    finds(&index, &asked(&run, of_scorer), &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn words_are_found_with_everything_else() {
    let (_folder, index, run) = filled();
    let search = |words: &str| asked(&run, |_| ()).with_search(words).unwrap();
    finds(&index, &search("river"), &[0, 2, 4, 6, 8]);
    finds(&index, &search("RIV"), &[0, 2, 4, 6, 8]);
    finds(&index, &search("ete"), &[0, 2, 4, 6, 8]);
    finds(&index, &search("ri"), &[]);
    finds(&index, &search("7"), &[7]);
    finds(&index, &search("\"says desert\" 7"), &[7]);
    finds(&index, &search("\"desert says\""), &[]);
    let failed = CaseQuery { verdict: Some(Verdict::Failed), ..search("river") };
    finds(&index, &failed, &[0, 6]);
    let status = CaseQuery { status: Some(Status::Error), ..search("desert") };
    finds(&index, &status, &[9]);
    let scored = CaseQuery { scorer: Some(A), most: Some(0.5), ..search("river") };
    finds(&index, &scored, &[6, 8]);
    let ordered = CaseQuery { order: CaseOrder::LowestFirst, ..search("river") };
    finds(&index, &ordered, &[8, 6, 4, 2, 0]);
}

#[test]
fn text_without_spaces_is_found_wherever_it_stands() {
    let (_folder, mut index, run) = index();
    let texts = [
        "これは日本語のテキストです。東京は大きい。",
        "北京大学是一所著名的大学",
        "ภาษาไทยเป็นภาษา",
        "the GPT東京 test",
    ];
    let cases: Vec<IndexedCase> = (0..)
        .zip(texts)
        .map(|(ordinal, text)| case(&run, ordinal, Verdict::Passed, 1.0, text))
        .collect();
    index.add(&run, &cases, CaseKey::at(run.key, 4).unwrap()).unwrap();
    let search = |words: &str| asked(&run, |_| ()).with_search(words).unwrap();
    for (words, expected) in [
        ("日本語", &[0][..]),
        ("\"日本語\"", &[0]),
        ("テキスト", &[0]),
        ("大学", &[1]),
        ("東京", &[0, 3]),
        ("GPT東", &[3]),
        ("語日", &[]),
        ("ไทย", &[2]),
        ("北", &[1]),
    ] {
        finds(&index, &search(words), expected);
    }
}

#[test]
fn what_hangs_on_a_korean_word_does_not_hide_it() {
    let (_folder, mut index, run) = index();
    let cases: Vec<IndexedCase> = (0..)
        .zip(["서울은 대한민국의 수도입니다", "물이 v2서울에 있다"])
        .map(|(ordinal, text)| case(&run, ordinal, Verdict::Passed, 1.0, text))
        .collect();
    index.add(&run, &cases, CaseKey::at(run.key, 2).unwrap()).unwrap();
    let search = |words: &str| asked(&run, |_| ()).with_search(words).unwrap();
    for (words, expected) in [
        ("서울", &[0][..]),
        ("서울*", &[0]),
        ("수도 대한", &[0]),
        ("물", &[1]),
        ("v2서", &[1]),
        ("\"서울\"", &[]),
        ("울은", &[]),
    ] {
        finds(&index, &search(words), expected);
    }
}

#[test]
fn vowels_and_tones_that_are_marks_count_and_accents_do_not() {
    let (_folder, mut index, run) = index();
    let texts =
        ["ผมชอบข้าวผัด", "सेब का रस", "ខ្មែរ", "e\u{301}te\u{301} s\u{336}o\u{336} 1\u{fe0f}\u{20e3}"];
    let cases: Vec<IndexedCase> = (0..)
        .zip(texts)
        .map(|(ordinal, text)| case(&run, ordinal, Verdict::Passed, 1.0, text))
        .collect();
    index.add(&run, &cases, CaseKey::at(run.key, 4).unwrap()).unwrap();
    let search = |words: &str| asked(&run, |_| ()).with_search(words).unwrap();
    for (words, expected) in [
        ("ข้าว", &[0][..]),
        ("ขาว", &[]),
        ("का", &[1]),
        ("की", &[]),
        ("रस", &[1]),
        ("ខ្មែរ", &[2]),
        ("ខមរ", &[]),
        ("été", &[3]),
        ("so", &[3]),
        ("1", &[3]),
    ] {
        finds(&index, &search(words), expected);
    }
}

/// More cases than are looked up one by one have the word: the index goes through their scores, with the same result.
#[test]
fn a_word_that_very_many_cases_have_is_found_with_everything_else() {
    const ALL: u64 = 12_000;
    let (_folder, mut index, run) = index();
    let score = |ordinal: u64| (ordinal * 7919 % ALL) as f64 / ALL as f64;
    let has_word = |ordinal: u64| !ordinal.is_multiple_of(10);
    let has_failed = |ordinal: u64| ordinal.is_multiple_of(3);
    let cases: Vec<IndexedCase> = (0..ALL)
        .map(|ordinal| {
            let verdict = if has_failed(ordinal) { Verdict::Failed } else { Verdict::Passed };
            let text = if has_word(ordinal) { "common" } else { "other" };
            case(&run, ordinal, verdict, score(ordinal), text)
        })
        .collect();
    index.add(&run, &cases, CaseKey::at(run.key, ALL).unwrap()).unwrap();
    let search =
        |change: &dyn Fn(&mut CaseQuery)| asked(&run, change).with_search("common").unwrap();
    let expected = |is_meant: &dyn Fn(u64) -> bool, is_by_score: bool| {
        let mut all: Vec<u64> = (0..ALL).filter(|it| has_word(*it) && is_meant(*it)).collect();
        if is_by_score {
            all.sort_by(|one, other| score(*one).total_cmp(&score(*other)));
        }
        all
    };
    let lowest = search(&|it| it.order = CaseOrder::LowestFirst);
    assert_eq!(found(&index, &lowest, 999), expected(&|_| true, true));
    let highest =
        search(&|it| (it.order, it.verdict) = (CaseOrder::HighestFirst, Some(Verdict::Failed)));
    let mut failed = expected(&has_failed, true);
    failed.reverse();
    assert_eq!(found(&index, &highest, 999), failed);
    let between = search(&|it| (it.scorer, it.least, it.most) = (Some(A), Some(0.25), Some(0.5)));
    let is_between = |ordinal| (0.25..=0.5).contains(&score(ordinal));
    assert_eq!(found(&index, &between, 999), expected(&is_between, false));
    let finding = index.finding(&between).unwrap();
    let counts = [1_000_000, 7].map(|most| finding.count(most).unwrap());
    assert_eq!(counts, [expected(&is_between, false).len() as u64, 7]);
    let errors =
        search(&|it| (it.status, it.order) = (Some(Status::Error), CaseOrder::LowestFirst));
    assert_eq!(found(&index, &errors, 999), [0; 0]);
}

#[test]
fn no_text_is_an_operator_of_the_search() {
    let (_folder, index, run) = filled();
    for text in [
        "river OR desert",
        "NOT river",
        "said:river",
        "river*",
        "(river",
        "river)",
        "^river",
        "river + x",
        "{a b}:c",
        "\"river",
        "a\"\"b",
        "r\0iver",
        "NEAR(a b)",
        "- river",
        "marks : r1",
        "\u{345}\u{345}\u{345}",
    ] {
        let query = asked(&run, |_| ()).with_search(text).unwrap();
        index.cases(&query, None, 10).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    finds(&index, &asked(&run, |_| ()).with_search("r1").unwrap(), &[]);
    for text in ["", " ", "\"\"", "***", "- + ("] {
        assert_eq!(asked(&run, |_| ()).with_search(text), Err(WordsError::NoWord), "{text}");
    }
    assert_eq!(asked(&run, |_| ()).with_search(&"x ".repeat(17)), Err(WordsError::TooLong));
    assert_eq!(asked(&run, |_| ()).with_search(&"x".repeat(1001)), Err(WordsError::TooLong));
}

#[test]
fn a_case_that_comes_again_replaces_the_one_before() {
    let (_folder, mut index, run) = filled();
    let again = case(&run, 3, Verdict::Passed, 0.95, "oasis");
    index.add(&run, &[again], CaseKey::at(run.key, 10).unwrap()).unwrap();
    finds(&index, &asked(&run, |it| it.verdict = Some(Verdict::Failed)), &[0, 6]);
    finds(&index, &asked(&run, |_| ()).with_search("oasis").unwrap(), &[3]);
    finds(&index, &asked(&run, |_| ()).with_search("desert").unwrap(), &[1, 5, 7, 9]);
    let here = index.case(run.key, CaseKey::at(run.key, 3).unwrap()).unwrap().unwrap();
    assert_eq!((here.verdict, here.score), (Verdict::Passed, Some(0.95)));
}

#[test]
fn a_case_that_comes_as_it_is_indexed_is_passed_over_and_anything_new_of_it_counts() {
    let (_folder, mut index, mut run) = index();
    let first = || case(&run, 0, Verdict::Passed, 0.5, "desert");
    let next = CaseKey::at(run.key, 1).unwrap();
    assert!(index.add(&run, &[first()], next).unwrap());
    run.state = RunState::Finished;
    index.complete(&run).unwrap();
    let first = || case(&run, 0, Verdict::Passed, 0.5, "desert");
    assert!(!index.add(&run, &[first()], next).unwrap());
    assert!(index.indexed(&run).unwrap().is_complete, "nothing was written");
    let changes: [fn(&mut IndexedCase); 6] = [
        |it| it.text.push('s'),
        |it| it.verdict = CaseVerdict::of(Verdict::Passed, 1, Some(0.5)),
        |it| it.verdict = CaseVerdict::of(Verdict::Passed, 0, Some(0.25)),
        |it| it.rows[0].2 = Some(0.25),
        |it| it.rows[1].1 = Status::NotApplicable,
        |it| it.rows.truncate(1),
    ];
    let mut changed = first();
    for (number, change) in changes.iter().enumerate() {
        change(&mut changed);
        assert!(index.add(&run, &[changed.clone()], next).unwrap(), "{number}");
        assert!(!index.add(&run, &[changed.clone()], next).unwrap(), "{number}");
        assert_eq!(index.case_count(run.key).unwrap(), 1);
    }
    assert!(!index.indexed(&run).unwrap().is_complete);
    finds(&index, &asked(&run, |_| ()).with_search("deserts").unwrap(), &[0]);
    finds(&index, &asked(&run, |it| it.scorer = Some(B)), &[]);
    index.forget(run.key).unwrap();
    assert_eq!(index.case_count(run.key).unwrap(), 0);
}

#[test]
fn what_the_file_was_is_noted_once() {
    let (_folder, mut index, _run) = index();
    for state in [None, Some("one"), Some("other"), None] {
        index.note_file(state).unwrap();
        assert_eq!(index.file().unwrap().as_deref(), state);
    }
}

#[test]
fn a_run_is_complete_until_it_changes_and_another_of_its_number_is_another() {
    let (_folder, mut index, mut run) = filled();
    assert!(!index.indexed(&run).unwrap().is_complete);
    run.state = RunState::Finished;
    run.finished_at_ms = Some(9);
    index.complete(&run).unwrap();
    index.keep_figures(&run, "{}").unwrap();
    let indexed = index.indexed(&run).unwrap();
    assert!(indexed.is_complete);
    assert_eq!(indexed.figures.as_deref(), Some("{}"));
    assert_eq!(indexed.next_case, CaseKey::at(run.key, 10));
    run.finished_at_ms = Some(10);
    assert!(!index.indexed(&run).unwrap().is_complete, "it was resumed, and ended again");

    let other = RunRecord { spec: sample::run("other"), ..run.clone() };
    assert_eq!(index.indexed(&other).unwrap(), Indexed::default());
    index
        .add(&other, &[case(&other, 0, Verdict::Passed, 1.0, "new")], CaseKey::first_of(run.key))
        .unwrap();
    finds(&index, &asked(&other, |_| ()), &[0]);
    index.forget(other.key).unwrap();
    assert_eq!(index.runs().unwrap(), []);
    finds(&index, &asked(&other, |_| ()), &[]);
}

#[test]
fn a_file_that_is_not_an_index_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cases.index");
    for content in
        ["not a database at all, but long enough to be looked at as one".repeat(9), String::new()]
    {
        std::fs::write(&path, content).unwrap();
        assert_eq!(CaseIndex::open(&path).unwrap().runs().unwrap(), []);
    }
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert_eq!(CaseIndex::open(&path).unwrap().runs().unwrap(), []);
    assert!(Store::open_read_only(&path).is_err(), "nor is it a database of runs");
}
