//! Where the cases of a run come from, one at a time: lines that are read, or a queue that a program fills. It numbers
//! the cases of a queue, but does not check cases.

use std::sync::Arc;

use crate::case::{Case, CaseReader, ReadError};

use super::{Control, queue::CaseQueue};

/// Cases, one at a time.
#[derive(Debug)]
pub(super) enum CaseSource {
    /// Lines.
    Lines(Box<CaseReader>),
    /// Cases that a program adds.
    Queue(Arc<CaseQueue>),
}

impl CaseSource {
    /// Connects the source with the run: reading ends when the run should end, and the run knows its progress.
    pub(super) fn begin(&mut self, control: &Arc<Control>) {
        if let CaseSource::Lines(reader) = self {
            control.note_sources(reader);
            let watched = Arc::clone(control);
            reader.stop_when(move || watched.is_reading_ended());
        }
    }

    /// The next case, or why it cannot be read; `None` at the end. Waits for it.
    pub(super) fn next_case(&mut self, control: &Control) -> Option<Result<Case, ReadError>> {
        match self {
            CaseSource::Lines(reader) => reader.next_case(),
            CaseSource::Queue(queue) => queue.take(|| control.is_reading_ended()).map(Ok),
        }
    }

    /// Whether the next case is available without waiting.
    pub(super) fn has_next_at_hand(&self) -> bool {
        match self {
            CaseSource::Lines(reader) => reader.is_next_line_buffered(),
            CaseSource::Queue(queue) => queue.has_some(),
        }
    }
}

impl From<CaseReader> for CaseSource {
    fn from(reader: CaseReader) -> CaseSource {
        CaseSource::Lines(Box::new(reader))
    }
}

impl From<Arc<CaseQueue>> for CaseSource {
    fn from(queue: Arc<CaseQueue>) -> CaseSource {
        CaseSource::Queue(queue)
    }
}
