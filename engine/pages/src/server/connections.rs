//! Accepts connections and limits them: their number, the time for the head of a request and for receiving an answer,
//! and a shutdown that does not wait for clients that never finish. Knows no page.

use std::{io, pin::pin, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time,
};

use super::{impatient::Impatient, live};

/// The time before the next connection is accepted after accepting one failed, for example because the process has no
/// free file descriptor.
const PAUSE: Duration = Duration::from_secs(1);

/// The limits of connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The most connections at once; others wait until one is closed.
    most: usize,
    /// The time for the head of a request; a connection without a request is closed after it, too.
    head: Duration,
    /// The time that an answer may wait to be received; a connection whose client receives nothing is closed.
    taking: Duration,
    /// The time from the shutdown until answers under way are cut off.
    end: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        // A connection is a file descriptor, and a process commonly has 1024 of these.
        let ten = Duration::from_secs(10);
        Bounds { most: 512, head: ten, taking: ten, end: Duration::from_secs(3) }
    }
}

/// Answers all connections until `end` is ready, and then reports that to `ended`.
pub(super) async fn serve(
    listener: TcpListener,
    app: Router,
    bounds: Bounds,
    end: impl Future<Output = ()>,
    ended: watch::Sender<bool>,
) {
    let mut end = pin!(end);
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            () = &mut end => break,
            stream = caller(&listener), if open.len() < bounds.most => {
                open.spawn(connection(stream, app.clone(), bounds, ended.subscribe()));
            }
            Some(_) = open.join_next() => {}
        }
    }
    drop(listener);
    ended.send_replace(true);
    let closed = async { while open.join_next().await.is_some() {} };
    // Connections that are still open then are cut off.
    let _ = time::timeout(bounds.end, closed).await;
}

/// The next connection.
async fn caller(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_of_caller(&error) => {}
            Err(_) => time::sleep(PAUSE).await,
        }
    }
}

/// Whether the client closed the connection.
fn is_of_caller(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    [ConnectionAborted, ConnectionRefused, ConnectionReset].contains(&error.kind())
}

async fn connection(
    stream: TcpStream,
    app: Router,
    bounds: Bounds,
    mut is_ended: watch::Receiver<bool>,
) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(bounds.head);
    let service = TowerToHyperService::new(app);
    let stream = TokioIo::new(Impatient::new(stream, bounds.taking));
    let mut connection = pin!(builder.serve_connection(stream, service));
    tokio::select! {
        // If the client breaks off or does not use HTTP, there is no one who could be informed.
        _ = connection.as_mut() => return,
        () = live::end(&mut is_ended) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

#[cfg(test)]
mod tests {
    use std::{future::pending, net::SocketAddr, sync::Arc};

    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        sync::{Notify, oneshot},
    };

    use super::*;

    const NEVER: Duration = Duration::from_secs(3600);
    const SOON: Duration = Duration::from_millis(50);
    const HALF: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nX-Half: ";
    const WHOLE: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

    async fn listening() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// A connection on which this text was sent.
    async fn sent(address: SocketAddr, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    /// Everything that arrives until the server closes; the server may close before it has read everything, which is an
    /// error here.
    async fn answer(mut stream: TcpStream) -> String {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    }

    fn app() -> Router {
        Router::new().route("/", get(async || "here"))
    }

    #[tokio::test]
    async fn who_sends_half_a_request_or_none_does_not_keep_others_out() {
        let (listener, address) = listening().await;
        let bounds = Bounds { most: 2, head: SOON, taking: NEVER, end: SOON };
        tokio::spawn(serve(listener, app(), bounds, pending(), watch::Sender::new(false)));
        let (half, none) = (sent(address, HALF).await, sent(address, "").await);
        assert!(answer(sent(address, WHOLE).await).await.ends_with("here"));
        assert!(!answer(half).await.contains("200 OK"));
        assert_eq!(answer(none).await, "");
    }

    #[tokio::test]
    async fn who_does_not_take_an_answer_does_not_keep_others_out() {
        let (listener, address) = listening().await;
        let bounds = Bounds { most: 2, head: NEVER, taking: SOON, end: SOON };
        // This is more than a socket buffer holds.
        let app = app().route("/long", get(async || vec![b'x'; 64 << 20]));
        tokio::spawn(serve(listener, app, bounds, pending(), watch::Sender::new(false)));
        let long = "GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let _unread = (sent(address, long).await, sent(address, long).await);
        assert!(answer(sent(address, WHOLE).await).await.ends_with("here"));
    }

    #[tokio::test]
    async fn the_end_does_not_wait_for_half_a_request() {
        let (listener, address) = listening().await;
        let bounds = Bounds { most: 10, head: NEVER, taking: NEVER, end: SOON };
        let (end, is_end) = oneshot::channel::<()>();
        let end_comes = async { is_end.await.unwrap() };
        let served =
            tokio::spawn(serve(listener, app(), bounds, end_comes, watch::Sender::new(false)));
        let half = sent(address, HALF).await;
        // A later client is answered, so the first one was accepted.
        assert!(answer(sent(address, WHOLE).await).await.ends_with("here"));
        end.send(()).unwrap();
        served.await.unwrap();
        assert_eq!(answer(half).await, "");
    }

    #[tokio::test]
    async fn an_answer_under_way_is_finished_at_the_end() {
        let (listener, address) = listening().await;
        let (asked, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (is_asked, waits) = (Arc::clone(&asked), Arc::clone(&go_on));
        let slow = get(async move || {
            is_asked.notify_one();
            waits.notified().await;
            "at last"
        });
        let bounds = Bounds { most: 10, head: NEVER, taking: NEVER, end: NEVER };
        let ended = watch::Sender::new(false);
        let mut is_ended = ended.subscribe();
        let end_comes = async move { asked.notified().await };
        let app = Router::new().route("/", slow);
        let served = tokio::spawn(serve(listener, app, bounds, end_comes, ended));
        let asking = sent(address, WHOLE).await;
        live::end(&mut is_ended).await;
        go_on.notify_one();
        assert!(answer(asking).await.ends_with("at last"));
        served.await.unwrap();
    }
}
