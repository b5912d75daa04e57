//! Keeps what was found out about a server's models while they were asked, once for all calls. Asks nothing itself.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    sync::{Mutex as Turns, MutexGuard, OnceCell},
    time::timeout,
};

use crate::form::Way;

/// How many models are remembered. A judge has a few, but a scorer could name any number.
const MAX_MODELS: usize = 64;

/// What is known about a server's models.
#[derive(Debug, Default)]
pub(crate) struct Knowledge(Mutex<HashMap<String, Arc<Known>>>);

impl Knowledge {
    /// What is known about this model.
    pub(crate) fn about(&self, model: &str) -> Arc<Known> {
        let mut models = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = models.get(model) {
            return Arc::clone(known);
        }
        if models.len() >= MAX_MODELS {
            models.clear();
        }
        Arc::clone(models.entry(model.to_owned()).or_default())
    }
}

/// What is known about a model.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// How to ask the model for an answer of a form; `None` inside if that could not be found out.
    pub(crate) way: OnceCell<Option<Way>>,
    /// Calls with a form; the first one finds out the way.
    pub(crate) with_form: First,
    /// Calls with a token limit; the first one finds out the limit's name.
    pub(crate) with_limit: First,
    takes_completion_tokens: AtomicBool,
}

impl Known {
    /// Whether the model takes `max_completion_tokens` instead of `max_tokens`.
    pub(crate) fn takes_completion_tokens(&self) -> bool {
        self.takes_completion_tokens.load(Relaxed)
    }

    pub(crate) fn learn_completion_tokens(&self) {
        self.takes_completion_tokens.store(true, Relaxed);
    }
}

/// Lets one call find out something that all others then know.
#[derive(Debug, Default)]
pub(crate) struct First {
    is_over: AtomicBool,
    turns: Turns<()>,
}

impl First {
    /// The turn of the first call. The others wait here until it ends, but no longer than `patience`, and get no turn.
    /// If the turn is dropped before its end, the next call is the first.
    pub(crate) async fn turn(&self, patience: Duration) -> Option<Turn<'_>> {
        if self.is_over.load(Relaxed) {
            return None;
        }
        let guard = timeout(patience, self.turns.lock()).await.ok()?;
        match self.is_over.load(Relaxed) {
            true => None,
            false => Some(Turn { first: self, _guard: guard }),
        }
    }
}

/// While this exists, other calls wait.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    first: &'a First,
    _guard: MutexGuard<'a, ()>,
}

impl Turn<'_> {
    /// Lets all other calls continue.
    pub(crate) fn end(self) {
        self.first.is_over.store(true, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_does_not_grow_with_the_names_that_scorers_give() {
        let knowledge = Knowledge::default();
        knowledge.about("m").learn_completion_tokens();
        assert!(knowledge.about("m").takes_completion_tokens());
        for number in 0..10 * MAX_MODELS {
            knowledge.about(&number.to_string());
        }
        assert!(knowledge.0.lock().unwrap().len() <= MAX_MODELS);
    }

    #[tokio::test]
    async fn calls_do_not_wait_without_end_for_a_first_one_that_is_slow() {
        let (first, patience) = (First::default(), Duration::from_millis(1));
        let turn = first.turn(patience).await.unwrap();
        assert!(first.turn(patience).await.is_none());
        drop(turn);
        first.turn(patience).await.unwrap().end();
        assert!(first.turn(patience).await.is_none());
    }
}
