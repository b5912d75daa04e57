//! A sink that passes events to a reader who asks for the next one. It holds a bounded number, and the run waits for a
//! slower reader. Nothing is lost.

use tokio::sync::mpsc;

use super::{Event, Refused, Sink};

/// Events that are held for a reader.
const HELD: usize = 1024;

/// The events of a run, one after the other.
#[derive(Debug)]
pub struct EventStream(mpsc::Receiver<Event>);

impl EventStream {
    /// The next event; none after the last. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Event> {
        self.0.recv().await
    }
}

/// A sink, and the stream of what it takes. A run whose stream is dropped ends as if a sink refused.
pub fn event_stream() -> (impl Sink + use<>, EventStream) {
    let (to_reader, events) = mpsc::channel(HELD);
    (StreamSink(to_reader), EventStream(events))
}

struct StreamSink(mpsc::Sender<Event>);

impl Sink for StreamSink {
    fn take(&mut self, event: &Event) -> Result<(), Refused> {
        // Sinks are called on a thread that may block.
        self.0
            .blocking_send(event.clone())
            .map_err(|_| Refused::new("the events are no longer read"))
    }
}
