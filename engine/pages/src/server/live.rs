//! Sends a stream of server-sent events that report that something changed. A page then requests what changed.

use std::{convert::Infallible, time::Duration};

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use tokio::sync::watch;

/// The time between two events, so that a page is not requested without end.
const PAUSE: Duration = Duration::from_secs(1);

/// An event for each change, until the server ends. The first one comes at once if anything changed since the server
/// began, because a page that opens its stream again has missed what happened in the meantime.
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
            // Browsers ignore an event without data.
            Some((Ok(Event::default().event("changed").data("1")), (changes, ended, false)))
        });
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// Ready once the server ends.
pub(super) async fn end(ended: &mut watch::Receiver<bool>) {
    // If the sender no longer exists, that is also an end.
    let _ = ended.wait_for(|ended| *ended).await;
}
