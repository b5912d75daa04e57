//! Defines the metrics: those of Smithers with their names and meanings, and our own. Sends nothing.

use std::collections::HashMap;

use opentelemetry::{
    KeyValue,
    metrics::{Counter, Histogram, Meter},
};
use scorebox::run::{Event, ScorerEnded};

/// The bounds of the duration buckets in milliseconds: each is twice the one before, from 10 ms to about 80 s.
fn duration_bounds() -> Vec<f64> {
    (0..14).map(|power| 10.0 * f64::from(1_u32 << power)).collect()
}

/// All metrics that events change.
pub(crate) struct Instruments {
    started: Counter<u64>,
    finished: Counter<u64>,
    failed: Counter<u64>,
    duration: Histogram<f64>,
    fuel: Counter<u64>,
    reused: Counter<u64>,
    cases: Counter<u64>,
    refused: Counter<u64>,
    cache_hits: Counter<u64>,
    cache_misses: Counter<u64>,
    /// The attributes of each scorer of the suite, by its id.
    scorers: HashMap<String, [KeyValue; 2]>,
}

impl Instruments {
    pub(crate) fn new(meter: &Meter) -> Instruments {
        let counter = |name: &'static str, unit: &'static str, what: &'static str| {
            meter.u64_counter(name).with_unit(unit).with_description(what).build()
        };
        Instruments {
            started: counter("smithers.scorers.started", "{score}", "Scorers that began"),
            finished: counter("smithers.scorers.finished", "{score}", "Scorers that completed"),
            failed: counter("smithers.scorers.failed", "{score}", "Scorers that failed"),
            duration: meter
                .f64_histogram("smithers.scorer.duration_ms")
                .with_unit("ms")
                .with_description("How long scorers took")
                .with_boundaries(duration_bounds())
                .build(),
            fuel: counter("scorebox.scorer.fuel", "{fuel}", "Wasm fuel that scorers used"),
            reused: counter(
                "scorebox.scores.reused",
                "{score}",
                "Scores that were copied from an earlier run",
            ),
            cases: counter("scorebox.cases.finished", "{case}", "Cases that have all their scores"),
            refused: counter("scorebox.cases.refused", "{case}", "Lines that are not valid cases"),
            cache_hits: counter(
                "scorebox.cache.hits",
                "{scorer}",
                "Scorers whose compiled code came from the cache",
            ),
            cache_misses: counter(
                "scorebox.cache.misses",
                "{scorer}",
                "Scorers whose code was compiled",
            ),
            scorers: HashMap::new(),
        }
    }

    /// Updates the metrics from an event.
    pub(crate) fn hear(&mut self, event: &Event) {
        match event {
            Event::Started(started) => {
                let (all, cached) =
                    (started.scorer_ids.len() as u64, started.scorers_cached as u64);
                self.cache_hits.add(cached, &[]);
                self.cache_misses.add(all.saturating_sub(cached), &[]);
            }
            Event::CaseFinished(_) => self.cases.add(1, &[]),
            Event::BadCase(_) => self.refused.add(1, &[]),
            Event::ScorerStarted(started) => {
                let started_with = self.scorer(started.scorer_id.as_str(), &started.scorer_name);
                self.started.add(1, &started_with);
            }
            Event::ScorerFinished(ended) | Event::ScorerFailed(ended) => self.ended(ended),
            _ => {}
        }
    }

    fn ended(&mut self, ended: &ScorerEnded) {
        let scorer = self.scorer(&ended.row.scorer_id, &ended.scorer_name);
        if ended.is_reused {
            return self.reused.add(1, &scorer);
        }
        let answer = &ended.row.answer;
        if let Some(fuel) = answer.fuel {
            self.fuel.add(fuel, &scorer);
        }
        let Some(error) = &answer.error else {
            self.finished.add(1, &scorer);
            return self.took(answer.duration_ms, &scorer);
        };
        let [id, name] = scorer;
        let failed = [id, name, KeyValue::new("error.type", error.kind.clone())];
        self.failed.add(1, &failed);
        self.took(answer.duration_ms, &failed);
    }

    fn took(&self, duration_ms: Option<f64>, attributes: &[KeyValue]) {
        if let Some(duration) = duration_ms {
            self.duration.record(duration, attributes);
        }
    }

    fn scorer(&mut self, id: &str, name: &str) -> [KeyValue; 2] {
        if let Some(attributes) = self.scorers.get(id) {
            return attributes.clone();
        }
        let attributes = [
            KeyValue::new("scorebox.scorer.id", id.to_owned()),
            KeyValue::new("scorebox.scorer.name", name.to_owned()),
        ];
        self.scorers.insert(id.to_owned(), attributes.clone());
        attributes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buckets_of_durations_double_from_10_ms_to_about_80_s() {
        let bounds = duration_bounds();
        assert_eq!((bounds.first(), bounds.last()), (Some(&10.0), Some(&81_920.0)));
        assert!(bounds.is_sorted_by(|one, next| *next == 2.0 * one));
    }
}
