//! Pauses all calls of a provider while its server asks for it, and decides when no answer can be expected any more.
//! Sends nothing.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use crate::{failure::Failure, retry};

/// The pauses of a provider, which its server asked for.
#[derive(Debug)]
pub(crate) struct Pause {
    /// No answer can be expected after more than this many pauses in a row without an answer to any call …
    most: u32,
    /// … that last at least this long together.
    endurance: Duration,
    paused: Mutex<Paused>,
}

#[derive(Clone, Debug, Default)]
struct Paused {
    /// `None` before the first one.
    until: Option<Instant>,
    length: Duration,
    /// The number of pauses so far. A failure begins a new pause if its attempt was made after the latest one.
    number: u32,
    /// The number of pauses in a row without an answer to any call during or between them.
    unanswered: u32,
    /// When the first of those began.
    since: Option<Instant>,
    /// The server's message.
    words: String,
}

impl Paused {
    fn is_on(&self) -> bool {
        self.until.is_some_and(|until| until > Instant::now())
    }

    /// How long no call has had an answer.
    fn lasts(&self, now: Instant) -> Duration {
        self.since.map(|since| now.saturating_duration_since(since)).unwrap_or_default()
    }
}

impl Pause {
    pub(crate) fn new(most: u32, endurance: Duration) -> Pause {
        Pause { most, endurance, paused: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Paused> {
        self.paused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_on(&self) -> bool {
        self.lock().is_on()
    }

    pub(crate) fn number(&self) -> u32 {
        self.lock().number
    }

    /// Records that the server answered.
    pub(crate) fn note_answer(&self) {
        let mut paused = self.lock();
        (paused.unanswered, paused.since) = (0, None);
    }

    /// Begins a pause, or extends the one that began after the attempt did: the attempt was made after pause `after`.
    /// Each pause in a row without an answer to any call is longer than the one before, whichever call causes it.
    ///
    /// # Errors
    /// No answer can be expected any more.
    pub(crate) fn extend(
        &self,
        no_sooner: Duration,
        after: u32,
        words: &str,
    ) -> Result<(), Failure> {
        self.extend_at(Instant::now(), no_sooner, after, words)
    }

    fn extend_at(
        &self,
        now: Instant,
        no_sooner: Duration,
        after: u32,
        words: &str,
    ) -> Result<(), Failure> {
        let mut paused = self.lock();
        if paused.number == after {
            paused.number = paused.number.wrapping_add(1);
            paused.unanswered = paused.unanswered.saturating_add(1);
            paused.since.get_or_insert(now);
            words.clone_into(&mut paused.words);
        }
        let length = retry::delay_of_all(paused.unanswered, no_sooner);
        let until = now + length;
        if paused.until.is_none_or(|before| before < until) {
            (paused.until, paused.length) = (Some(until), length);
        }
        self.must_have_hope(&paused, now)
    }

    /// Waits until the pause ends and a little longer, so that not all calls begin at once. `first` is the first pause
    /// that this call waited for.
    ///
    /// # Errors
    /// Another pause followed, and no answer can be expected: the call that caused it decides for all. Otherwise all
    /// calls would try one after the other, as often as each may.
    pub(crate) async fn end(&self, first: &mut Option<u32>) -> Result<(), Failure> {
        loop {
            let paused = self.lock().clone();
            let Some(until) = paused.until.filter(|_| paused.is_on()) else { return Ok(()) };
            if *first.get_or_insert(paused.number) != paused.number {
                self.must_have_hope(&paused, Instant::now())?;
            }
            let longer = retry::jittered(paused.length).saturating_sub(paused.length);
            sleep_until(until + longer).await;
        }
    }

    fn must_have_hope(&self, paused: &Paused, now: Instant) -> Result<(), Failure> {
        let Paused { unanswered, words, .. } = paused;
        let lasts = paused.lasts(now);
        if *unanswered <= self.most || lasts < self.endurance {
            return Ok(());
        }
        let seconds = lasts.as_secs();
        Err(Failure::limited(format!(
            "{words} ({unanswered} times in a row within {seconds} s, with no answer to any question in between)"
        )))
    }
}

#[cfg(test)]
mod tests {
    use scorebox::judge::{AskErrorKind, JudgeSettings};

    use super::*;

    fn pause() -> Pause {
        Pause::new(JudgeSettings::DEFAULT_RETRIES, JudgeSettings::DEFAULT_ENDURANCE)
    }

    /// How many pauses in a row without an answer there were, after failures of attempts that were made after these
    /// pauses.
    fn in_a_row(pause: &Pause, after: &[u32]) -> Vec<u32> {
        let counted = after.iter().map(|after| {
            pause.extend(Duration::from_secs(60), *after, "429").unwrap();
            pause.lock().unanswered
        });
        counted.collect()
    }

    /// How often and for how many seconds a server is asked if it always answers with status 429 and this time.
    fn until_hopeless(pause: &Pause, no_sooner: Duration) -> (u32, u64) {
        let begin = Instant::now();
        let mut now = begin;
        loop {
            let number = pause.number();
            if let Err(failure) = pause.extend_at(now, no_sooner, number, "429") {
                assert_eq!(failure.kind, AskErrorKind::Limited);
                return (number + 1, (now - begin).as_secs());
            }
            now = pause.lock().until.unwrap();
        }
    }

    #[test]
    fn failures_of_attempts_that_were_made_together_make_one_pause() {
        let pause = pause();
        assert_eq!(in_a_row(&pause, &[0, 0, 0, 1, 0, 2, 2]), [1, 1, 1, 2, 2, 3, 3]);
        assert_eq!(pause.number(), 3);
    }

    #[test]
    fn an_answer_to_anybody_gives_hope_again() {
        let pause = pause();
        in_a_row(&pause, &[0, 1, 2]);
        pause.note_answer();
        assert_eq!(in_a_row(&pause, &[3, 4]), [1, 2]);
    }

    #[test]
    fn hope_ends_after_minutes_whatever_the_server_states_and_not_before_all_retries() {
        let (times, seconds) = until_hopeless(&pause(), Duration::ZERO);
        assert!((10..20).contains(&times) && (300..340).contains(&seconds), "{times}, {seconds}");
        let (times, seconds) = until_hopeless(&pause(), Duration::from_secs(1));
        assert!((10..20).contains(&times) && (300..340).contains(&seconds), "{times}, {seconds}");
        let (times, seconds) = until_hopeless(&pause(), Duration::from_secs(60));
        assert!((5..=6).contains(&times) && (300..370).contains(&seconds), "{times}, {seconds}");
        let patient = Pause::new(20, JudgeSettings::DEFAULT_ENDURANCE);
        assert_eq!(until_hopeless(&patient, Duration::ZERO).0, 21);
    }

    #[test]
    fn a_pause_that_begins_after_an_answer_is_short_again() {
        let (pause, now) = (pause(), Instant::now());
        let mut lengths = Vec::new();
        for number in 0..4 {
            pause.extend_at(now, Duration::ZERO, number, "429").unwrap();
            lengths.push(pause.lock().length);
        }
        assert!(lengths.is_sorted() && lengths[3] >= Duration::from_secs(4), "{lengths:?}");
        pause.note_answer();
        let later = now + Duration::from_secs(60);
        pause.extend_at(later, Duration::ZERO, 4, "429").unwrap();
        assert!(pause.lock().length < Duration::from_secs(1));
    }
}
