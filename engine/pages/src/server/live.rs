//! A stream of server-sent events that says that something changed. What changed, a page asks for again.

use std::{convert::Infallible, time::Duration};

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use tokio::sync::watch;

/// Between two events, so that a page is not asked for without end.
const PAUSE: Duration = Duration::from_secs(1);

/// An event for each change, until the server ends. The first comes at once if anything changed since the server began:
/// a page that closed its stream and opens it again has missed what happened meanwhile.
pub(super) fn changes(
    changes: watch::Receiver<u64>,
    is_ended: watch::Receiver<bool>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events =
        stream::unfold((changes, is_ended, true), async |(mut changes, mut ended, is_first)| {
            if !is_first {
                tokio::select! {
                    () = tokio::time::sleep(PAUSE) => {}
                    () = end(&mut ended) => return None,
                }
            }
            tokio::select! {
                changed = changes.changed() => changed.ok()?,
                () = end(&mut ended) => return None,
            }
            // Browsers pass over an event without data.
            Some((Ok(Event::default().event("changed").data("1")), (changes, ended, false)))
        });
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// Ready once the server ends.
pub(super) async fn end(ended: &mut watch::Receiver<bool>) {
    // Nothing is left that could say so: that is an end, too.
    let _ = ended.wait_for(|ended| *ended).await;
}
