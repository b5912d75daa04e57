//! Which rows a filter finds, implemented a second time in plain Rust and compared on random rows.

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::super::sample::*;
use crate::{
    contract::{Direction, Scale, Severity},
    store::{NewScore, Outcome, RunWriter, ScoreFilter, ScorerSpec},
};

/// The possible outcomes of a score.
#[derive(Clone, Copy, Debug)]
enum Row {
    Scored(f64),
    NotApplicable,
    Skipped,
    Error,
}

impl Row {
    fn stored(self) -> NewScore<'static> {
        match self {
            Row::Scored(score) => scored(score),
            Row::NotApplicable => {
                row(Outcome::NotApplicable { label: None, reason: None, meta: None })
            }
            Row::Skipped => NewScore { fuel: None, ..row(Outcome::Skipped { reason: None }) },
            Row::Error => error(),
        }
    }
}

/// A number that often is one of a few, so that scores equal thresholds.
fn number(scale: Scale) -> BoxedStrategy<f64> {
    match scale {
        Scale::Unit => prop_oneof![select(vec![0.0, 0.25, 0.5, 1.0]), 0.0..=1.0].boxed(),
        Scale::Points => prop_oneof![select(vec![0.0, 0.5, 1.0, 2.0]), 0.0..=1e9].boxed(),
    }
}

fn some_row(scale: Scale) -> impl Strategy<Value = Row> {
    prop_oneof![
        4 => number(scale).prop_map(Row::Scored),
        1 => select(vec![Row::NotApplicable, Row::Skipped, Row::Error]),
    ]
}

/// A scorer, and its rows for some cases.
fn some_scorer() -> impl Strategy<Value = (ScorerSpec, Vec<Row>)> {
    let directions = vec![Direction::HigherIsBetter, Direction::LowerIsBetter];
    let severities = vec![Severity::Gate, Severity::Soft];
    select(vec![Scale::Unit, Scale::Points]).prop_flat_map(move |scale| {
        let rest =
            (select(directions.clone()), select(severities.clone()), option::of(number(scale)));
        (rest, vec(some_row(scale), 1..8)).prop_map(
            move |((direction, severity, threshold), rows)| {
                (ScorerSpec { scale, direction, severity, threshold, ..scorer("a") }, rows)
            },
        )
    })
}

/// Whether a row failed: it is an error, or its score is worse than the threshold. Without a threshold, a gate from 0
/// to 1 fails all but the best score, and other scorers fail none. The severity does not matter otherwise.
fn fails(scorer: &ScorerSpec, row: Row) -> bool {
    let score = match row {
        Row::Error => return true,
        Row::NotApplicable | Row::Skipped => return false,
        Row::Scored(score) => score,
    };
    let higher = scorer.direction == Direction::HigherIsBetter;
    let asks_for_the_best = scorer.severity == Severity::Gate && scorer.scale == Scale::Unit;
    let best = asks_for_the_best.then_some(if higher { 1.0 } else { 0.0 });
    let threshold = scorer.threshold.or(best);
    threshold.is_some_and(|threshold| if higher { score < threshold } else { score > threshold })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_filter_finds_the_rows_that_the_rules_name(
        scorers in vec(some_scorer(), 1..4),
        below in option::of(number(Scale::Unit)),
        errors in any::<bool>(),
    ) {
        let (_folder, mut store) = database();
        let specs: Vec<ScorerSpec> = scorers
            .iter()
            .enumerate()
            .map(|(index, (spec, _))| ScorerSpec { scorer_id: format!("s{index}"), ..spec.clone() })
            .collect();
        let run = store.create_run(&run("r"), &specs, &session()).unwrap();
        let mut writer = RunWriter::new(store, run.clone());
        let cases = scorers.iter().map(|(_, rows)| rows.len()).max().unwrap_or(0);
        let (mut failed, mut chosen) = (Vec::new(), Vec::new());
        for ordinal in 0..cases {
            let key = added(&mut writer, &case(ordinal as u64, &format!("c{ordinal}")));
            for (index, (spec, rows)) in scorers.iter().enumerate() {
                let Some(row) = rows.get(ordinal).copied() else { continue };
                writer.add_score(key, run.scorers[index], &row.stored()).unwrap();
                let name = format!("r:s{index}:0:0:c{ordinal}");
                if fails(spec, row) {
                    failed.push(name.clone());
                }
                let is_below = below.is_none_or(|most| matches!(row, Row::Scored(score) if score < most));
                if is_below && (!errors || matches!(row, Row::Error)) {
                    chosen.push(name);
                }
            }
        }
        let found = |filter: &ScoreFilter| {
            let rows = writer.store().scores(filter, None, 1000).unwrap();
            assert_eq!(writer.store().score_count(filter).unwrap(), rows.len() as u64);
            rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>()
        };
        prop_assert_eq!(found(&ScoreFilter { failed: true, ..ScoreFilter::default() }), failed);
        prop_assert_eq!(found(&ScoreFilter { below, errors, ..ScoreFilter::default() }), chosen);
    }
}
