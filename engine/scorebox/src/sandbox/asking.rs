//! One score's questions to a judge. A question without an answer ends the guest's run; once the answer exists, the
//! guest runs again from its beginning and finds it here. So a score that waits holds no instance and no memory, and a
//! guest that asks the same question gets the same answer in every run.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::join_all;

use crate::{
    contract::Repeat,
    digest::Digest,
    judge::{Asked, Asker, Call, JudgeError, Recording, Request, ScoreCall},
};

/// The most questions that one score may ask.
const MAX_CALLS: usize = 256;
/// The most bytes of questions and answers that one score holds.
const MAX_BYTES: usize = 32 << 20;

/// The calls of one score: those with an answer, and those that it waits for.
pub(super) struct Calls {
    asker: Asker,
    repeat: Repeat,
    answers: BTreeMap<Digest, Asked>,
    /// The answered calls, in the order in which they were first asked.
    order: Vec<Digest>,
    waiting: Vec<Call>,
    bytes: usize,
    /// How long the score may still wait for answers.
    time_left: Duration,
}

/// Why a guest's question is not answered at once. It ends the guest's run.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    /// The score must wait for the answer.
    #[error("the scorer waits for a judge")]
    Waits,
    /// The judge has no answer.
    #[error("{0}")]
    Judge(JudgeError),
    /// The scorer reports that it cannot read the answer.
    #[error("{0}")]
    Unreadable(String),
    /// There is nobody to ask.
    #[error("{0}")]
    Nobody(&'static str),
    /// The score asks too much.
    #[error("{0}")]
    TooMuch(String),
}

impl Calls {
    pub(super) fn new(asker: Asker, repeat: Repeat) -> Calls {
        let (answers, order, waiting) = (BTreeMap::new(), Vec::new(), Vec::new());
        let time_left = asker.timeout();
        Calls { asker, repeat, answers, order, waiting, bytes: 0, time_left }
    }

    /// The same with these answers, which need not be asked for. They also set the iteration and the attempt, which a
    /// stored case does not have.
    pub(super) fn knowing(mut self, answers: &[Arc<Recording>]) -> Calls {
        if let Some(Call { iteration, attempt, .. }) = answers.first().map(|first| &first.call) {
            self.repeat = Repeat { iteration: *iteration, attempt: *attempt };
        }
        let known = answers
            .iter()
            .map(|recording| (recording.call.digest(), Asked::recorded(Arc::clone(recording))));
        self.answers.extend(known);
        self
    }

    /// The answers to `requests`, if all exist. Otherwise the missing calls are waited for, unless one of them cannot
    /// be asked.
    pub(super) fn answers(
        &mut self,
        requests: &[Request],
    ) -> Result<Vec<Arc<Recording>>, NoAnswer> {
        let answers = self.answers_or_calls(requests);
        if !matches!(answers, Ok(_) | Err(NoAnswer::Waits)) {
            self.waiting.clear();
        }
        answers
    }

    fn answers_or_calls(&mut self, requests: &[Request]) -> Result<Vec<Arc<Recording>>, NoAnswer> {
        let Repeat { iteration, attempt } = self.repeat;
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            let call = self.asker.call(request, iteration, attempt).map_err(NoAnswer::Judge)?;
            let digest = call.digest();
            match self.answers.get(&digest) {
                Some(asked) => {
                    answers.push(Arc::clone(&asked.recording));
                    if !self.order.contains(&digest) {
                        self.order.push(digest);
                    }
                }
                None if self.is_waited_for(&call) => {}
                None => self.wait_for(call)?,
            }
        }
        match self.waiting.is_empty() {
            true => Ok(answers),
            false => Err(NoAnswer::Waits),
        }
    }

    fn is_waited_for(&self, call: &Call) -> bool {
        self.waiting.iter().any(|waiting| waiting == call)
    }

    fn wait_for(&mut self, call: Call) -> Result<(), NoAnswer> {
        if self.order.len() + self.waiting.len() >= MAX_CALLS {
            return Err(NoAnswer::TooMuch(format!(
                "the scorer asks a judge more than {MAX_CALLS} questions for one case"
            )));
        }
        self.waiting.push(call);
        Ok(())
    }

    /// Whether the score waits for answers.
    pub(super) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Asks what is waited for, all at the same time. The first error counts, and every answer is one of the score's
    /// calls all the same: it was paid for.
    pub(super) async fn ask(&mut self) -> Result<(), NoAnswer> {
        let waiting = std::mem::take(&mut self.waiting);
        // All calls run to their end: an answer that was paid for is recorded, even if another call fails.
        let asked = waiting.iter().map(|call| self.asker.ask(call, self.time_left));
        let (mut longest, mut failed) = (Duration::ZERO, None);
        for asked in join_all(asked).await {
            match asked {
                Ok(asked) => longest = longest.max(self.take(asked)),
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        self.time_left = self.time_left.saturating_sub(longest);
        failed.map_or_else(|| self.must_fit(), |error| Err(NoAnswer::Judge(error)))
    }

    /// Takes an answer; how long it took, if it was waited for.
    fn take(&mut self, asked: Asked) -> Duration {
        let took = Duration::try_from_secs_f64(asked.recording.latency_ms / 1000.0);
        let waited = took.ok().filter(|_| !asked.is_recorded);
        self.bytes += asked.recording.bytes();
        let digest = asked.recording.call.digest();
        self.order.push(digest);
        self.answers.insert(digest, asked);
        waited.unwrap_or_default()
    }

    fn must_fit(&self) -> Result<(), NoAnswer> {
        match self.bytes <= MAX_BYTES {
            true => Ok(()),
            false => Err(NoAnswer::TooMuch(format!(
                "a judge's answers for one case have {} bytes; the limit is {MAX_BYTES}",
                self.bytes
            ))),
        }
    }

    /// The calls that were answered, in the order in which they were asked.
    pub(super) fn answered(&self) -> Vec<ScoreCall> {
        let asked =
            self.order.iter().filter_map(|digest| Some((digest, self.answers.get(digest)?)));
        asked
            .map(|(digest, asked)| {
                ScoreCall::new(*digest, asked.recording.reply_digest(), asked.is_recorded)
            })
            .collect()
    }
}
