//! Calls that are being asked at the moment: callers with the same question wait for the same answer. It sends no
//! questions itself.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::sync::OnceCell;

use super::{JudgeError, JudgeErrorKind, Recording};
use crate::digest::Digest;

/// The place where the callers of a call in progress wait for its answer.
pub(super) type Slot = OnceCell<Ended>;

/// The outcome of a call, and how it was asked.
pub(super) struct Ended {
    pub(super) outcome: Result<Arc<Recording>, JudgeError>,
    /// The judge's name.
    pub(super) judge: String,
    /// How long the answer was allowed to take.
    pub(super) within: Duration,
}

impl Ended {
    /// Whether a caller that waited for it may get its own answer: with its own budget, from its own judge, which may
    /// have another key, in more time, or because nobody stopped it.
    pub(super) fn is_of_another(&self, judge: &str, within: Duration) -> bool {
        let Err(error) = &self.outcome else { return false };
        match error.kind {
            JudgeErrorKind::OverBudget(_)
            | JudgeErrorKind::CostUnknown(_)
            | JudgeErrorKind::Stopped => true,
            JudgeErrorKind::TimedOut => self.judge != judge || self.within < within,
            // There was an answer, which another one would not be kept any better than.
            JudgeErrorKind::Recordings => false,
            _ => self.judge != judge,
        }
    }
}

/// The slots of all calls, by their digests.
#[derive(Default)]
pub(super) struct InFlight(Mutex<HashMap<Digest, Weak<Slot>>>);

impl InFlight {
    /// The slot of a call in progress, or a new one.
    pub(super) fn slot(&self, call: Digest) -> Arc<Slot> {
        let mut slots = self.lock();
        if let Some(slot) = slots.get(&call).and_then(Weak::upgrade) {
            return slot;
        }
        // Slots that nobody waits for any more are removed when the map is full.
        if slots.len() == slots.capacity() {
            slots.retain(|_, slot| slot.strong_count() > 0);
        }
        let slot = Arc::new(Slot::default());
        slots.insert(call, Arc::downgrade(&slot));
        slot
    }

    /// Removes a slot, so that the call is asked again, unless another slot has replaced it.
    pub(super) fn forget(&self, call: Digest, slot: &Arc<Slot>) {
        let mut slots = self.lock();
        if slots.get(&call).is_some_and(|there| std::ptr::eq(there.as_ptr(), Arc::as_ptr(slot))) {
            slots.remove(&call);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Weak<Slot>>> {
        // The state behind the lock is consistent after every statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::{join, join3};

    use crate::judge::{
        Answer, AskError, AskErrorKind, Asker, BoxFuture, Budget, Call, Generation, JudgeChoice,
        JudgeSettings, Judges, Message, Provider, ProviderSettings, Question, Reply, Request, Role,
    };

    use super::*;

    /// How long an answer takes.
    const LATENCY: Duration = Duration::from_millis(50);

    /// Answers everyone who waits long enough.
    #[derive(Debug)]
    struct Slow;

    impl Provider for Slow {
        fn ask<'a>(
            &'a self,
            _: &'a Question,
            within: Duration,
        ) -> BoxFuture<'a, Result<Answer, AskError>> {
            Box::pin(async move {
                tokio::time::sleep(within.min(LATENCY)).await;
                match within < LATENCY {
                    true => Err(AskError::new(AskErrorKind::TimedOut, "too late", 1)),
                    false => {
                        Ok(Answer::new(Reply::Text { text: "1".into(), truncated: false }, "m"))
                    }
                }
            })
        }
    }

    /// Refuses, as a server does that wants a key.
    #[derive(Debug)]
    struct Refuses;

    impl Provider for Refuses {
        fn ask<'a>(
            &'a self,
            _: &'a Question,
            _: Duration,
        ) -> BoxFuture<'a, Result<Answer, AskError>> {
            Box::pin(async {
                tokio::time::sleep(LATENCY).await;
                Err(AskError::new(AskErrorKind::Refused, "no key", 1))
            })
        }
    }

    /// A judge that takes one call at a time.
    fn judges() -> Judges {
        let provider = ProviderSettings::Own { kind: "slow".into(), place: String::new() };
        let settings = JudgeSettings { concurrency: 1, ..JudgeSettings::new(provider) };
        Judges::builder().judge("default", settings, Some(Arc::new(Slow))).build()
    }

    fn asker(judges: &Judges, budget: Budget) -> Asker {
        judges.asker(JudgeChoice { budget, ..JudgeChoice::default() }).unwrap()
    }

    fn call(asker: &Asker, text: &str) -> Call {
        let messages = vec![Message { role: Role::User, text: text.into() }];
        let generation = Generation { messages, ..Generation::default() };
        asker.call(&Request::Generate { generation, model: None }, 0, 0).unwrap()
    }

    #[tokio::test]
    async fn who_has_more_time_than_the_one_who_asks_first_has_an_answer() {
        let judges = judges();
        let asker = asker(&judges, Budget::default());
        let call = call(&asker, "Is it?");
        let (short, long) = (LATENCY / 5, LATENCY * 100);
        let (first, second) = join(asker.ask(&call, short), asker.ask(&call, long)).await;
        assert_eq!(first.unwrap_err().kind, JudgeErrorKind::TimedOut);
        assert!(!second.unwrap().is_recorded);
        let counts = judges.counts();
        assert_eq!((counts.consumed.calls, counts.answered, counts.failed), (2, 1, 1));
    }

    #[tokio::test]
    async fn who_has_no_more_time_shares_the_time_out() {
        let judges = judges();
        let asker = asker(&judges, Budget::default());
        let (call, short) = (call(&asker, "Is it?"), LATENCY / 5);
        let (first, second) = join(asker.ask(&call, short), asker.ask(&call, short)).await;
        assert!(first.is_err() && second.is_err());
        assert_eq!(judges.counts().consumed.calls, 1);
    }

    #[tokio::test]
    async fn the_refusal_of_another_judge_is_no_answer_and_that_of_its_own_is_shared() {
        let provider = ProviderSettings::Own { kind: "slow".into(), place: String::new() };
        let settings = || JudgeSettings::new(provider.clone());
        let judges = Judges::builder()
            .judge("keyless", settings(), Some(Arc::new(Refuses)))
            .judge("default", settings(), Some(Arc::new(Slow)))
            .build();
        let keyless = judges.asker(JudgeChoice::of(Some("keyless".into()))).unwrap();
        let own = asker(&judges, Budget::default());
        let (same, other, long) = (call(&own, "Is it?"), call(&own, "Another?"), LATENCY * 100);
        let (first, second) = join(keyless.ask(&same, long), own.ask(&same, long)).await;
        assert_eq!(first.unwrap_err().kind, JudgeErrorKind::Refused);
        second.unwrap();
        let (first, second) = join(keyless.ask(&other, long), keyless.ask(&other, long)).await;
        assert!(first.is_err() && second.is_err());
        assert_eq!(judges.counts().consumed.calls, 3);
    }

    #[tokio::test]
    async fn the_budget_of_another_scorer_ends_nothing() {
        let judges = judges();
        let poor = asker(&judges, Budget::default().with_calls(0));
        let rich = asker(&judges, Budget::default());
        let (other, same) = (call(&rich, "Another?"), call(&rich, "Is it?"));
        let long = LATENCY * 100;
        // The first call takes the judge's only turn, so that both others wait for one answer.
        let (_, first, second) =
            join3(rich.ask(&other, long), poor.ask(&same, long), rich.ask(&same, long)).await;
        let spent = JudgeErrorKind::OverBudget(crate::judge::BudgetOf::Scorer);
        assert_eq!(first.unwrap_err().kind, spent);
        second.unwrap();
    }
}
