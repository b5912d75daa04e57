//! What a scorer says of a whole run: one call at its end, in a sandbox like that of a score. Reads no
//! rows; whoever calls hands them over.

use std::time::{Duration, Instant};

use wasmtime::Store;

use crate::{
    advice::{Advice, Limit},
    contract::{LogLine, ScoredRow, bindings::WireScored},
};

use super::{
    ErrorKind, LoadedScorer, ScoreError,
    capabilities::Granted,
    fault, result,
    score::{fuel_used, new_store},
    state::State,
    wasi::Seed,
};

/// What came of `summarize`, and what it cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// One JSON document, or why there is none.
    pub result: Result<String, ScoreError>,
    /// Fuel used; none where the time-out ended it.
    pub fuel: Option<u64>,
    /// How long it took.
    pub duration: Duration,
    /// What the scorer logged, within its limits.
    pub log: Vec<LogLine>,
}

/// The rows of a run that are handed to `summarize`, as far as they fit.
#[derive(Debug)]
pub struct SummaryRows {
    rows: Vec<ScoredRow>,
    bytes: u64,
    most_bytes: u64,
    too_many: bool,
}

impl SummaryRows {
    /// Takes a row; answers whether there is still room for more.
    pub fn add(&mut self, row: ScoredRow) -> bool {
        const ROW_BYTES: usize = size_of::<ScoredRow>();
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let bytes = ROW_BYTES + row.case_id.len() + text(&row.label) + text(&row.meta);
        self.bytes += bytes as u64;
        self.too_many |= self.bytes > self.most_bytes;
        if !self.too_many {
            self.rows.push(row);
        }
        !self.too_many
    }
}

impl LoadedScorer {
    /// An empty list for the rows of a run: what is in it stays below half of the scorer's memory
    /// limit, because the scorer gets all of it at once.
    pub fn summary_rows(&self) -> SummaryRows {
        let most_bytes = self.limits.of_loading().memory_bytes / 2;
        SummaryRows { rows: Vec::new(), bytes: 0, most_bytes, too_many: false }
    }

    /// Asks the scorer for its summary of a run; none where it has no such function. Limits are those
    /// of loading: a score's, and at least the default ones.
    pub async fn summarize(&self, rows: &SummaryRows) -> Option<Summary> {
        self.summarize.as_ref()?;
        let limits = self.limits.of_loading();
        let started = Instant::now();
        if rows.too_many {
            return Some(Summary {
                result: Err(too_many(rows.most_bytes)),
                fuel: None,
                duration: started.elapsed(),
                log: Vec::new(),
            });
        }
        let shared = self.sandbox.shared();
        let _admitted = shared.admission.enter(&limits).await;
        let mut store = new_store(shared, &limits, Seed::OF_LOADING, Granted::default());
        let called =
            tokio::time::timeout(limits.timeout, self.call_summarize(&mut store, &rows.rows)).await;
        store.data_mut().collect_printed();
        let result = match called {
            Err(_elapsed) => Err(fault::timed_out(&limits)),
            Ok(Err(error)) => Err(fault::of_call(&error, store.data(), &limits)),
            Ok(Ok(Err(message))) => {
                Err(ScoreError::new(ErrorKind::Failed, fault::cut(&message, limits.reason_bytes)))
            }
            Ok(Ok(Ok(summary))) => result::check_summary(summary, &limits),
        };
        let result = result.map_err(|error| fault::during("summarize", error));
        let fuel = fuel_used(&store, &limits, result.as_ref().err());
        let log = store.into_data().log.into_lines();
        Some(Summary { result, fuel, duration: started.elapsed(), log })
    }

    async fn call_summarize(
        &self,
        store: &mut Store<State>,
        rows: &[ScoredRow],
    ) -> wasmtime::Result<Result<String, String>> {
        let Some(summarize) = &self.summarize else {
            return Ok(Err("there is no `summarize`".into()));
        };
        let instance = self.image.instance_pre().instantiate_async(&mut *store).await?;
        if let Some(config) = &self.configure_each_time {
            let scorer = crate::contract::bindings::Scorer::new(&mut *store, &instance)?;
            let configured =
                scorer.scorebox_scorer_scoring().call_configure(&mut *store, config).await?;
            if let Err(message) = configured {
                return Ok(Err(message));
            }
        }
        let wire: Vec<WireScored<'_>> = rows.iter().map(WireScored::from).collect();
        let function = instance.get_typed_func::<(&[WireScored<'_>],), (Result<String, String>,)>(
            &mut *store,
            summarize,
        )?;
        let (answer,) = function.call_async(&mut *store, (&wire,)).await?;
        Ok(answer)
    }
}

fn too_many(most_bytes: u64) -> ScoreError {
    ScoreError::new(
        ErrorKind::OutOfMemory,
        format!("the run's scores take more than {most_bytes} bytes, half of the scorer's memory"),
    )
    .with(Advice::Raise(Limit::Memory))
}
