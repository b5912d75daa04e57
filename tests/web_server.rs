//! A web server on the loopback interface that serves the current files of a folder. Knows nothing of scorebox.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

/// A server, which listens until it is dropped.
pub(crate) struct WebServer {
    port: u16,
    asked: Arc<AtomicUsize>,
    failing: Arc<Mutex<Option<&'static str>>>,
    is_over: Arc<AtomicBool>,
    serving: Option<thread::JoinHandle<()>>,
}

impl WebServer {
    /// A server of the files in `folder`, which it creates.
    pub(crate) fn of(folder: PathBuf) -> WebServer {
        fs::create_dir_all(&folder).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counting, ending) = (Arc::clone(&asked), Arc::clone(&is_over));
        let failing = Arc::new(Mutex::new(None));
        let fails = Arc::clone(&failing);
        let serving = thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ending.load(SeqCst) {
                    return;
                }
                counting.fetch_add(1, SeqCst);
                // A client that goes away is not an error.
                let _ = answer(stream, &folder, *fails.lock().unwrap());
            }
        });
        WebServer { port, asked, failing, is_over, serving: Some(serving) }
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// From now on answers every request with this status and a Retry-After of zero, or no longer does.
    pub(crate) fn fail(&self, status: Option<&'static str>) {
        *self.failing.lock().unwrap() = status;
    }

    /// The number of requests so far.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(SeqCst)
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        // Wakes the thread, which waits for a client.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        let _ = self.serving.take().map(thread::JoinHandle::join);
    }
}

fn answer(mut stream: TcpStream, folder: &Path, failing: Option<&str>) -> io::Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
    let path = first.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
    let (status, body) = match (failing, fs::read(folder.join(path))) {
        (Some(status), _) => (status, Vec::new()),
        (None, Ok(body)) => ("200 OK", body),
        (None, Err(_)) => ("404 Not Found", Vec::new()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nConnection: close\r\nRetry-After: 0\r\nContent-Length: {length}\r\n\r\n"
    )?;
    stream.write_all(&body)
}
