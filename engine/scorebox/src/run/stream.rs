//! A sink that passes events to a reader that asks for the next one. It holds a limited number, and the run waits for a
//! slower reader. No event is lost.

use tokio::{
    runtime::Handle,
    sync::{
        mpsc::{self, error::TrySendError},
        oneshot,
    },
};

use super::{Event, Refused, Sink};

/// How many events are held for a reader.
const HELD: usize = 1024;

/// The events of a run, one after the other.
#[derive(Debug)]
pub struct EventStream {
    events: mpsc::Receiver<Event>,
    awaited: Option<Awaited>,
}

impl EventStream {
    /// The next event; `None` after the last one. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Makes the sink wait for a slow reader only as long as the returned value exists; without this call, as long as
    /// the stream exists.
    pub(crate) fn awaited(&mut self) -> Option<Awaited> {
        self.awaited.take()
    }
}

/// Held by the future of a run: dropping that future ends the run, and the reader may never come back.
#[derive(Debug)]
pub(crate) struct Awaited(#[expect(dead_code, reason = "it is dropped")] oneshot::Sender<()>);

/// A sink, and the stream of the events that it receives. Dropping the stream ends the run, as if a sink refused an
/// event.
pub fn event_stream() -> (impl Sink + use<>, EventStream) {
    let (to_reader, events) = mpsc::channel(HELD);
    let (awaited, abandoned) = oneshot::channel();
    let stream = EventStream { events, awaited: Some(Awaited(awaited)) };
    (StreamSink { to_reader, abandoned }, stream)
}

struct StreamSink {
    to_reader: mpsc::Sender<Event>,
    abandoned: oneshot::Receiver<()>,
}

impl StreamSink {
    /// Waits until the reader accepts an event; returns whether it did. Sinks are called on a thread that may block.
    fn wait(&mut self, event: Event) -> bool {
        Handle::current().block_on(async {
            tokio::select! {
                biased;
                sent = self.to_reader.send(event) => sent.is_ok(),
                _ = &mut self.abandoned => false,
            }
        })
    }
}

impl Sink for StreamSink {
    fn take(&mut self, event: &Event) -> Result<(), Refused> {
        let is_sent = match self.to_reader.try_send(event.clone()) {
            Ok(()) => true,
            Err(TrySendError::Full(event)) => self.wait(event),
            Err(TrySendError::Closed(_)) => false,
        };
        if is_sent { Ok(()) } else { Err(Refused::new("the events are no longer read")) }
    }
}
