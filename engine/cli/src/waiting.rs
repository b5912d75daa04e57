//! Shows a user at a terminal the current activity and its progress. It shows nothing at first, and nothing in a pipe,
//! except one line if another process may keep this one waiting forever.

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::words;

/// A shorter activity is not worth a message.
const PATIENCE: Duration = Duration::from_millis(700);

/// How often the display is redrawn.
const REDRAW: Duration = Duration::from_millis(200);

/// Why loading a scorer takes long.
pub(crate) const COMPILING: &str =
    "compiling the scorer (once for all its configurations; cached afterwards)";

/// The template with the activity and its time.
const FOR_HOW_LONG: &str = "{spinner} {msg}, {elapsed}";

/// The text about the activity, which may change in the meantime.
type What = Arc<Mutex<Cow<'static, str>>>;

/// A progress display, shown until this is dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    what: What,
    position: Arc<AtomicU64>,
    shown: Option<Shown>,
}

#[derive(Debug)]
struct Shown {
    end: mpsc::Sender<()>,
    drawing: JoinHandle<()>,
}

impl Waiting {
    /// `rewriting the database`.
    pub(crate) fn on(what: impl Into<Cow<'static, str>>) -> Waiting {
        Waiting::new(what.into(), FOR_HOW_LONG, None, Arc::default())
    }

    /// `waiting for another command`, which is one plain line in a pipe.
    pub(crate) fn for_another(what: String) -> Waiting {
        match io::stderr().is_terminal() {
            true => Waiting::on(what),
            false => {
                let shown = Shown::after_patience(move |_| words::say(&what));
                Waiting { what: What::default(), position: Arc::default(), shown }
            }
        }
    }

    /// `removing cases: 1,200 of 3,000`; [`Waiting::at`] sets the position.
    pub(crate) fn of(what: impl Into<Cow<'static, str>>, total: u64) -> Waiting {
        let template = "{spinner} {msg}: {human_pos} of {human_len}, {elapsed}";
        Waiting::new(what.into(), template, Some(total), Arc::default())
    }

    /// `reading rows: 1,200`; other code counts in `position`, or [`Waiting::at`] sets it.
    pub(crate) fn counting(
        what: impl Into<Cow<'static, str>>,
        position: Arc<AtomicU64>,
    ) -> Waiting {
        Waiting::new(what.into(), "{spinner} {msg}: {human_pos}, {elapsed}", None, position)
    }

    /// Sets the position.
    pub(crate) fn at(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
    }

    /// Changes the text about the activity.
    pub(crate) fn say(&self, what: impl Into<Cow<'static, str>>) {
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
    }

    fn new(
        what: Cow<'static, str>,
        template: &'static str,
        total: Option<u64>,
        position: Arc<AtomicU64>,
    ) -> Waiting {
        let what = What::new(Mutex::new(what));
        let shown = match io::stderr().is_terminal() {
            true => {
                let (what, position) = (Arc::clone(&what), Arc::clone(&position));
                let show = move |ended: &_| draw(&what, template, total, &position, ended);
                Shown::after_patience(show)
            }
            false => None,
        };
        Waiting { what, position, shown }
    }
}

impl Shown {
    /// Runs `show` after a delay, unless the activity ends first; `show` is notified of the end. `None` if no thread
    /// can be started, which only costs the display.
    fn after_patience(show: impl FnOnce(&mpsc::Receiver<()>) + Send + 'static) -> Option<Shown> {
        let (end, ended) = mpsc::channel();
        let wait = move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                show(&ended);
            }
        };
        let drawing = thread::Builder::new().name("scorebox-waiting".into()).spawn(wait).ok()?;
        Some(Shown { end, drawing })
    }
}

fn draw(
    what: &What,
    template: &str,
    total: Option<u64>,
    position: &AtomicU64,
    ended: &mpsc::Receiver<()>,
) {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_elapsed(PATIENCE);
    loop {
        bar.set_message(what.lock().unwrap_or_else(PoisonError::into_inner).clone());
        bar.set_position(position.load(Ordering::Relaxed));
        bar.tick();
        if ended.recv_timeout(REDRAW) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    bar.finish_and_clear();
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(Shown { end, drawing }) = self.shown.take() else { return };
        drop(end);
        // A panic of the thread only costs the display.
        let _ = drawing.join();
    }
}
