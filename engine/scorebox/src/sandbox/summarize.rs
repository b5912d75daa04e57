//! A scorer's summary of a run: one call at its end, in a sandbox like that of a score. It reads no rows; the caller
//! passes them in.

use std::time::Duration;

use wasmtime::{Store, component::ComponentExportIndex};

use crate::{
    advice::{Advice, Limit},
    contract::{LogLine, ScoredRow, ScorerError, bindings::WireScored},
};

use super::{
    ErrorKind, LoadedScorer, ScoreError,
    guest_call::{Cost, Guest, GuestCall},
    image::Fault,
    result,
    state::State,
};

/// The outcome of `summarize`, and what it cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// One JSON document, or why there is none.
    pub result: Result<String, ScoreError>,
    /// Fuel used; `None` if the time-out ended it.
    pub fuel: Option<u64>,
    /// The most bytes of memories and tables in use at once.
    pub memory_bytes: u64,
    /// How long it took.
    pub duration: Duration,
    /// What the scorer logged, within its limits.
    pub log: Vec<LogLine>,
}

/// The rows of a run for `summarize`, as long as they fit.
#[derive(Debug)]
pub struct SummaryRows {
    rows: Vec<ScoredRow>,
    bytes: u64,
    max_bytes: u64,
    too_many: bool,
}

impl SummaryRows {
    /// Adds a row; returns whether there is still room for more.
    pub fn add(&mut self, row: ScoredRow) -> bool {
        const ROW_BYTES: usize = size_of::<ScoredRow>();
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let bytes = ROW_BYTES + row.case_id.len() + text(&row.label) + text(&row.meta);
        self.bytes += bytes as u64;
        self.too_many |= self.bytes > self.max_bytes;
        if !self.too_many {
            self.rows.push(row);
        }
        !self.too_many
    }
}

#[cfg(feature = "store")]
impl SummaryRows {
    /// The same rows in the order of these numbers, one for each row.
    pub(crate) fn in_order_of(mut self, numbers: Vec<u64>) -> SummaryRows {
        let mut numbered: Vec<(u64, ScoredRow)> = numbers.into_iter().zip(self.rows).collect();
        numbered.sort_by_key(|(number, _)| *number);
        self.rows = numbered.into_iter().map(|(_, row)| row).collect();
        self
    }
}

impl LoadedScorer {
    /// An empty list for the rows of a run. Its content stays below half of the scorer's memory limit, because the
    /// scorer gets all of it at once.
    pub fn summary_rows(&self) -> SummaryRows {
        let max_bytes = self.limits.of_loading().memory_bytes / 2;
        SummaryRows { rows: Vec::new(), bytes: 0, max_bytes, too_many: false }
    }

    /// Asks the scorer for its summary of a run; `None` if it has no such function. The limits are those of loading: a
    /// score's, but at least the default ones.
    pub async fn summarize(&self, rows: &SummaryRows) -> Option<Summary> {
        let function = self.summarize.as_ref()?;
        let limits = self.limits.of_loading();
        let of_nothing = |error| Summary {
            result: Err(error),
            fuel: None,
            memory_bytes: 0,
            duration: Duration::ZERO,
            log: Vec::new(),
        };
        if let Err(error) = self.sandbox.must_be_of_this_process() {
            return Some(of_nothing(error));
        }
        if rows.too_many {
            return Some(of_nothing(too_many(rows.max_bytes)));
        }
        let mut guest = Guest::admit(self.sandbox.shared(), &limits).await;
        let call = Summarize { scorer: self, function, rows: &rows.rows };
        let result = guest.ask(call, |summary| result::check_summary(summary, &limits)).await;
        let Cost { fuel, memory_bytes, duration, log, .. } = guest.cost();
        Some(Summary { result, fuel, memory_bytes, duration, log })
    }
}

/// Calls `summarize` with the rows of a run.
struct Summarize<'a> {
    scorer: &'a LoadedScorer,
    function: &'a ComponentExportIndex,
    rows: &'a [ScoredRow],
}

impl GuestCall for Summarize<'_> {
    type Answer = String;

    const EXPORT: Option<&'static str> = Some("summarize");

    async fn ask(self, store: &mut Store<State>) -> Result<String, Fault> {
        let LoadedScorer { image, configure_each_time, .. } = self.scorer;
        let (instance, _) = image.start(store, configure_each_time.as_deref()).await?;
        let rows: Vec<WireScored<'_>> = self.rows.iter().map(WireScored::from).collect();
        let function = instance.get_typed_func::<(&[WireScored<'_>],), (Result<String, String>,)>(
            &mut *store,
            self.function,
        );
        let function = function.map_err(Fault::Mismatch)?;
        let (answer,) = function.call_async(store, (&rows,)).await?;
        answer.map_err(|message| Fault::Scorer(ScorerError::Failed(message)))
    }
}

fn too_many(max_bytes: u64) -> ScoreError {
    ScoreError::new(
        ErrorKind::OutOfMemory,
        format!("the run's scores take more than {max_bytes} bytes, half of the scorer's memory"),
    )
    .with(Advice::Raise(Limit::Memory))
}
