//! Builds again whenever a file of the scorer is saved, until it is interrupted. What a build is, and how sample cases
//! are scored, is known elsewhere.

use std::{sync::mpsc, thread, time::Duration};

use super::saved::Saved;
use crate::{
    failure::{Exit, Failure},
    signals::Signals,
    words,
};

/// How often files are looked at. What is saved in one go (all files of an editor, a checkout) is over when they are
/// the same twice.
const LOOK: Duration = Duration::from_millis(200);

/// Calls `build` at once and after each change of what `saved` looks at. An error of a build does not end it.
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

/// What arrives when the user interrupts. The second time ends the process at once.
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
