//! Builds again whenever a file of the scorer is saved, until it is interrupted. The caller builds and scores; `saved`
//! finds the changes.

use std::{sync::mpsc, thread, time::Duration};

use super::saved::Saved;
use crate::{
    failure::{Exit, Failure},
    signals::Signals,
    words,
};

/// How often files are checked. A save of several files (by an editor, a checkout) is complete when two checks are
/// equal.
const LOOK: Duration = Duration::from_millis(200);

/// Calls `build` at once and after each change of the files in `saved`. An error of a build does not end it.
pub(super) fn watch(
    mut saved: Saved,
    mut build: impl FnMut() -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let interrupted = interruptions()?;
    let mut built = saved.look();
    if saved.has_left_out() {
        words::warn("the folder has too many files: those furthest down are not watched");
    }
    loop {
        if let Err(failure) = build() {
            words::failure(&failure);
        }
        words::say(&format!("watching `{}`; Ctrl-C ends it", saved.folder().display()));
        let mut last = built.clone();
        loop {
            if let Ok(exit) = interrupted.recv_timeout(LOOK) {
                return Ok(exit);
            }
            let now = saved.look();
            let is_over = now == last;
            last = now;
            if is_over && last != built {
                built = last;
                break;
            }
        }
    }
}

/// Receives the user's interruptions. The second one ends the process at once.
fn interruptions() -> Result<mpsc::Receiver<Exit>, Failure> {
    let mut signals = Signals::listen()?;
    let (tell, told) = mpsc::sync_channel(1);
    let pass_on = move || {
        while let Some(exit) = signals.wait() {
            if tell.try_send(exit).is_err() {
                std::process::exit(exit as i32);
            }
        }
    };
    thread::Builder::new()
        .name("scorebox-watch".into())
        .spawn(pass_on)
        .map_err(|error| Failure::new(format!("cannot wait for signals: {error}")))?;
    Ok(told)
}
