//! A sink that hands events over to whoever asks for the next. It holds so many, and the run waits for a reader that is
//! slower. Nothing is lost.

use tokio::{runtime::Handle, sync::mpsc};

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

/// A sink, and the stream of what it takes. A run whose stream was dropped ends as where a sink refuses.
pub fn event_stream() -> (impl Sink + use<>, EventStream) {
    let (to_reader, events) = mpsc::channel(HELD);
    (StreamSink(to_reader), EventStream(events))
}

struct StreamSink(mpsc::Sender<Event>);

impl Sink for StreamSink {
    fn take(&mut self, event: &Event) -> Result<(), Refused> {
        if !self.is_ready() {
            // Until half of it is free, so that a full stream is not waited for, and the database committed, for each
            // event. Sinks are called on a thread that may block.
            let _room = Handle::current().block_on(self.0.reserve_many(HELD / 2));
        }
        self.0.blocking_send(event.clone()).map_err(|_| Refused::new("nobody reads the events"))
    }

    fn is_ready(&self) -> bool {
        self.0.capacity() > 0 || self.0.is_closed()
    }
}
