//! Times in which no call of a provider is sent, because its server asked for that, and when the hope of an answer is over.
//! Sends nothing.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use crate::{failure::Failure, retry};

/// Times in which nothing is sent, because the server asked for it.
#[derive(Debug, Default)]
pub(crate) struct Pause(Mutex<Paused>);

#[derive(Clone, Debug, Default)]
struct Paused {
    /// `None` before the first one.
    until: Option<Instant>,
    length: Duration,
    /// Counts them: one begins with the failure of an attempt that was made after the one before.
    number: u32,
    /// Those in a row in which and between which nobody had an answer.
    unanswered: u32,
    /// What the server said.
    words: String,
}

impl Paused {
    fn is_on(&self) -> bool {
        self.until.is_some_and(|until| until > Instant::now())
    }
}

impl Pause {
    fn lock(&self) -> MutexGuard<'_, Paused> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_on(&self) -> bool {
        self.lock().is_on()
    }

    pub(crate) fn number(&self) -> u32 {
        self.lock().number
    }

    /// The server answers.
    pub(crate) fn note_answer(&self) {
        self.lock().unanswered = 0;
    }

    /// Begins a pause, or makes the one longer that began after the attempt did: that was made after pause `after`. Gives how many
    /// there were in a row without an answer to anybody.
    pub(crate) fn extend(&self, length: Duration, after: u32, words: &str) -> u32 {
        let until = Instant::now() + length;
        let mut paused = self.lock();
        if paused.number == after {
            paused.number = paused.number.wrapping_add(1);
            paused.unanswered = paused.unanswered.saturating_add(1);
            words.clone_into(&mut paused.words);
        }
        if paused.until.is_none_or(|before| before < until) {
            (paused.until, paused.length) = (Some(until), length);
        }
        paused.unanswered
    }

    /// Waits for its end and a little longer, so that not all begin at once. `first` is the pause that this call waited for first.
    ///
    /// # Errors
    /// Another one followed, and nobody has had an answer for more than `most` of them: each counts as an attempt, of whichever call
    /// makes it, or all would try one after the other, as often as each may.
    pub(crate) async fn end(&self, first: &mut Option<u32>, most: u32) -> Result<(), Failure> {
        loop {
            let paused = self.lock().clone();
            let Some(until) = paused.until.filter(|_| paused.is_on()) else { return Ok(()) };
            let waits_again = *first.get_or_insert(paused.number) != paused.number;
            if waits_again && paused.unanswered > most {
                let Paused { words, unanswered, .. } = paused;
                return Err(Failure::unavailable(format!(
                    "{words} ({unanswered} times in a row, with no answer to any question in between)"
                )));
            }
            let longer = retry::jittered(paused.length).saturating_sub(paused.length);
            sleep_until(until + longer).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many there were in a row without an answer, after the failures of attempts that were made after these pauses.
    fn in_a_row(pause: &Pause, after: &[u32]) -> Vec<u32> {
        after.iter().map(|after| pause.extend(Duration::from_secs(60), *after, "429")).collect()
    }

    #[test]
    fn failures_of_attempts_that_were_made_together_make_one_pause() {
        let pause = Pause::default();
        assert_eq!(in_a_row(&pause, &[0, 0, 0, 1, 0, 2, 2]), [1, 1, 1, 2, 2, 3, 3]);
        assert_eq!(pause.number(), 3);
    }

    #[test]
    fn an_answer_to_anybody_gives_hope_again() {
        let pause = Pause::default();
        in_a_row(&pause, &[0, 1, 2]);
        pause.note_answer();
        assert_eq!(in_a_row(&pause, &[3, 4]), [1, 2]);
    }
}
