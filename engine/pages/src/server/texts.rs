//! Sends long texts as answers: only a few are in memory at a time, however slowly they are received. Knows no case.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::stream;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};

use super::trouble::Trouble;

/// How many long texts are sent at once.
const MAX_AT_ONCE: usize = 8;
/// How long an answer waits until another one is received.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How many bytes are sent at once; a text that is no longer than this needs no slot.
const PIECE: usize = 64 << 10;

/// The slots for texts.
#[derive(Clone, Debug)]
pub(super) struct Texts(Arc<Semaphore>);

/// A slot for a text that is read next.
#[derive(Debug)]
pub(super) struct Place {
    _held: OwnedSemaphorePermit,
}

impl Texts {
    pub(super) fn new() -> Texts {
        Texts(Arc::new(Semaphore::new(MAX_AT_ONCE)))
    }

    /// A slot, as soon as one is free.
    pub(super) async fn place(&self) -> Result<Place, Trouble> {
        let place = time::timeout(LONGEST_WAIT, Arc::clone(&self.0).acquire_owned()).await;
        // The semaphore is never closed.
        place.ok().and_then(Result::ok).map(|held| Place { _held: held }).ok_or_else(|| {
            let words = format!(
                "The server is already sending {MAX_AT_ONCE} long texts to slow clients. Try again in a while."
            );
            Trouble::Busy(words)
        })
    }
}

impl Place {
    /// A text as an answer, which keeps its slot until almost all of it is received.
    pub(super) fn answer(self, text: String) -> Response {
        if text.len() <= PIECE {
            return text.into_response();
        }
        let length = text.len();
        // The piece is copied, because a reference into the text would keep all of it.
        let pieces = stream::unfold((text, 0, self), |(text, from, place)| async move {
            let to = text.len().min(from + PIECE);
            let piece = text.as_bytes().get(from..to).filter(|piece| !piece.is_empty())?;
            let piece = Bytes::copy_from_slice(piece);
            Some((Ok::<_, Infallible>(piece), (text, to, place)))
        });
        ([(header::CONTENT_LENGTH, length)], Body::from_stream(pieces)).into_response()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    #[tokio::test]
    async fn a_long_text_keeps_its_place_until_it_is_taken_and_a_short_one_none() {
        let texts = Texts::new();
        let free = || texts.0.available_permits();
        let long = "ä".repeat(PIECE);
        let answer = texts.place().await.unwrap().answer(long.clone());
        assert_eq!(free(), MAX_AT_ONCE - 1);
        let _short = texts.place().await.unwrap().answer("short".to_owned());
        assert_eq!(free(), MAX_AT_ONCE - 1);
        assert_eq!(answer.headers()[header::CONTENT_LENGTH], long.len().to_string());
        assert_eq!(to_bytes(answer.into_body(), usize::MAX).await.unwrap(), long);
        assert_eq!(free(), MAX_AT_ONCE);
    }
}
