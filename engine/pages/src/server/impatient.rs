//! Ends a connection whose other end does not receive what is written to it. Knows no HTTP, and does not limit reading.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{self, Instant, Sleep},
};

/// The bytes a second that compensate for waiting: a client that stays slower than this is too slow.
const ENOUGH: f64 = 16.0 * 1024.0;

/// A stream on which writes may wait for a limited time.
pub(super) struct Impatient<S> {
    stream: S,
    most: Duration,
    /// How long writes have waited, less what the bytes received since then compensate for.
    waited: Duration,
    /// When the current write began to wait.
    since: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl<S: Unpin> Impatient<S> {
    pub(super) fn new(stream: S, most: Duration) -> Impatient<S> {
        let timer = Box::pin(time::sleep(most));
        Impatient { stream, most, waited: Duration::ZERO, since: None, timer }
    }

    /// The outcome of a write, if it did not wait too long.
    fn in_time(
        &mut self,
        context: &mut Context<'_>,
        write: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let Poll::Ready(written) = write else {
            if self.since.is_none() {
                let now = Instant::now();
                self.since = Some(now);
                self.timer.as_mut().reset(now + self.most.saturating_sub(self.waited));
            }
            return self.timer.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()));
        };
        if let Some(since) = self.since.take() {
            self.waited += since.elapsed();
        }
        if let Ok(bytes) = &written {
            let made_up = Duration::from_secs_f64(*bytes as f64 / ENOUGH);
            self.waited = self.waited.saturating_sub(made_up);
        }
        Poll::Ready(written)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let write = Pin::new(&mut own.stream).poll_write(context, bytes);
        own.in_time(context, write)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let write = Pin::new(&mut own.stream).poll_write_vectored(context, parts);
        own.in_time(context, write)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn an_answer_that_the_client_does_not_take_is_written_for_a_while_only() {
        let (stream, _unread) = duplex(64);
        let mut stream = Impatient::new(stream, Duration::from_millis(20));
        let written = stream.write_all(&[0; 1024]).await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn what_is_taken_is_written_to_its_end() {
        let (stream, mut reader) = duplex(64);
        let mut stream = Impatient::new(stream, Duration::from_secs(3600));
        let writing = tokio::spawn(async move { stream.write_all(&[7; 4096]).await });
        let mut taken = Vec::new();
        reader.read_to_end(&mut taken).await.unwrap();
        writing.await.unwrap().unwrap();
        assert_eq!(taken, [7; 4096]);
    }
}
