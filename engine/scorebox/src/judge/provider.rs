//! The interface to what answers questions. HTTP clients and programs are implemented elsewhere.

use std::{
    fmt,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use crate::panic_message::panic_message;

use super::{Answer, Halt, Question, TokenUsage};

/// A future in a box, which other threads may poll.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers questions: a server, a program, a file of recordings.
///
/// It enforces its own limits of concurrency and rate, tries again when that helps, and ends attempts that take too
/// long. Dropping the future ends the call.
///
/// The crate `scorebox-judges` has providers for servers and programs. A program can implement its own, such as a model
/// that it runs itself:
///
/// ```
/// use std::{sync::Arc, time::Duration};
///
/// use scorebox::{
///     engine::Engine,
///     judge::{
///         Answer, AskError, AskErrorKind, BoxFuture, JudgeChoice, JudgeSettings, Judges, Provider,
///         ProviderSettings, Question, Reply,
///     },
/// };
///
/// /// Chooses B, whatever it is asked.
/// #[derive(Debug)]
/// struct AlwaysB;
///
/// impl Provider for AlwaysB {
///     fn ask<'a>(
///         &'a self,
///         question: &'a Question,
///         _within: Duration,
///     ) -> BoxFuture<'a, Result<Answer, AskError>> {
///         Box::pin(async move {
///             match question {
///                 Question::Generate(_) => {
///                     let text = r#"{"reason": "Why not?", "choice": "B"}"#.to_owned();
///                     Ok(Answer::new(Reply::Text { text, truncated: false }, "always-b"))
///                 }
///                 _ => Err(AskError::new(AskErrorKind::Refused, "it makes no vectors", 0)),
///             }
///         })
///     }
/// }
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     scorebox::sandbox::compile_if_asked();
///     tokio::runtime::Runtime::new()?.block_on(program())
/// }
///
/// async fn program() -> Result<(), Box<dyn std::error::Error>> {
///     let settings = JudgeSettings::new(ProviderSettings::Own {
///         kind: "always-b".to_owned(),
///         place: String::new(),
///     });
///     let judges = Judges::builder().judge(JudgeChoice::DEFAULT, settings, Some(Arc::new(AlwaysB))).build();
///     let engine = Engine::builder().judges(judges).build()?;
///     let scorer = engine.scorer("possible").judge(JudgeChoice::default()).load().await?;
///     let outcome = scorer.score(&r#"{"input": "Fly.", "output": "I fly."}"#.parse()?).await;
///     assert_eq!(outcome.result?.score, Some(1.0));
///     Ok(())
/// }
/// ```
pub trait Provider: fmt::Debug + Send + Sync {
    /// Asks one question, from the caller's point of view. The answer may take `within` from the moment when the
    /// question is first sent; waiting for a turn before that does not count.
    fn ask<'a>(
        &'a self,
        question: &'a Question,
        within: Duration,
    ) -> BoxFuture<'a, Result<Answer, AskError>>;

    /// The same, for a caller that may lose interest: once `stop` is ordered, no further attempt begins, and the call
    /// ends with [`AskErrorKind::Stopped`]. An attempt that has begun is waited for. The default implementation ignores
    /// `stop`, and waits for the call in any case.
    fn ask_until<'a>(
        &'a self,
        question: &'a Question,
        within: Duration,
        stop: Halt,
    ) -> BoxFuture<'a, Result<Answer, AskError>> {
        drop(stop);
        self.ask(question, within)
    }

    /// Its current load.
    fn load(&self) -> Load {
        Load::default()
    }
}

/// The calls that a provider is working on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// Calls that wait for a turn, for the rate limit, or for another attempt.
    pub waiting: u64,
    /// Calls that were sent and have no answer yet.
    pub running: u64,
    /// Attempts beyond the first of each call, so far.
    pub retries: u64,
}

impl Load {
    /// A load with these numbers of waiting calls, running calls and retries.
    pub fn new(waiting: u64, running: u64, retries: u64) -> Load {
        Load { waiting, running, retries }
    }
}

/// A provider's answer. A provider that panics has failed.
pub(super) async fn answer_of(
    provider: &dyn Provider,
    question: &Question,
    within: Duration,
    stop: Halt,
) -> Result<Answer, AskError> {
    let mut asking = pin!(async { provider.ask_until(question, within, stop).await });
    // The future is not polled again after a panic.
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| asking.as_mut().poll(context)));
        polled.unwrap_or_else(|panic| {
            let message = format!("its provider panicked: {}", panic_message(&*panic));
            let error = AskError::new(AskErrorKind::Unavailable, message, 1);
            Poll::Ready(Err(error.with_uncounted(true)))
        })
    })
    .await
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct AskError {
    /// The kind of the error.
    pub kind: AskErrorKind,
    /// What happened, in at most a few hundred bytes: who reported what. It never contains a key.
    pub message: String,
    /// How many attempts were made; 0 if nothing was sent.
    pub attempts: u32,
    /// The tokens that it consumed nevertheless, as far as the provider reports them.
    pub usage: TokenUsage,
    /// The cost in US dollars, if the provider reports it.
    pub cost_usd: Option<f64>,
    /// Whether more than that may have been consumed, by an unknown amount: the model answered without a count of its
    /// tokens, or its answer was not waited for.
    pub is_uncounted: bool,
}

impl AskError {
    /// An error of this kind after this many attempts.
    pub fn new(kind: AskErrorKind, message: impl Into<String>, attempts: u32) -> AskError {
        let usage = TokenUsage::default();
        AskError {
            kind,
            message: message.into(),
            attempts,
            usage,
            cost_usd: None,
            is_uncounted: false,
        }
    }

    /// The same, after answers that consumed this much.
    #[must_use]
    pub fn with_consumed(self, usage: TokenUsage, cost_usd: Option<f64>) -> AskError {
        AskError { usage, cost_usd, ..self }
    }

    /// The same with this [`is_uncounted`](AskError::is_uncounted).
    #[must_use]
    pub fn with_uncounted(self, is_uncounted: bool) -> AskError {
        AskError { is_uncounted, ..self }
    }
}

/// The kind of an [`AskError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskErrorKind {
    /// The provider refuses the question, because of the key, the model, a parameter or the content.
    Refused,
    /// The provider cannot be reached, or fails.
    Unavailable,
    /// No answer within the time-out.
    TimedOut,
    /// The provider has asked all calls to wait for so long, without answering any, that further questions are of no
    /// use now.
    Limited,
    /// The caller stopped it while it waited for its turn.
    Stopped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Panics;

    impl Provider for Panics {
        fn ask<'a>(
            &'a self,
            question: &'a Question,
            _: Duration,
        ) -> BoxFuture<'a, Result<Answer, AskError>> {
            assert!(matches!(question, Question::Generate(_)), "it makes no vectors");
            Box::pin(async {
                tokio::task::yield_now().await;
                panic!("no model is loaded")
            })
        }
    }

    #[tokio::test]
    async fn a_provider_that_panics_has_failed() {
        let generate = Question::Generate(crate::judge::Generation::default());
        let embed = Question::Embed(crate::judge::Embedding::default());
        for (question, words) in [(generate, "no model is loaded"), (embed, "it makes no vectors")]
        {
            let error =
                answer_of(&Panics, &question, Duration::MAX, Halt::default()).await.unwrap_err();
            assert_eq!(error.kind, AskErrorKind::Unavailable);
            assert_eq!(error.message, format!("its provider panicked: {words}"));
            assert!(error.is_uncounted);
        }
    }
}
