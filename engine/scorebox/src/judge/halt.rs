//! Stops the waiting of calls: for a turn, for room in a budget, for another attempt. It stops nothing that has begun.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// The order not to begin any more questions. Cheap to clone; all clones share it.
#[derive(Clone, Debug)]
pub struct Halt(
    /// It has no permits; closing it wakes everyone who waits for one.
    Arc<Semaphore>,
);

impl Default for Halt {
    /// A halt that is not ordered.
    fn default() -> Halt {
        Halt(Arc::new(Semaphore::new(0)))
    }
}

impl Halt {
    /// Orders the halt, for good.
    pub fn order(&self) {
        self.0.close();
    }

    /// Whether it is ordered.
    pub fn is_ordered(&self) -> bool {
        self.0.is_closed()
    }

    /// The result of `waiting`; `None` if the halt is ordered first. Anything that need not wait is done in any case.
    pub async fn unless_ordered<T>(&self, waiting: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = waiting => Some(done),
            // This ends only when the semaphore is closed.
            _ = self.0.acquire() => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn a_halt_ends_what_waits_and_nothing_else() {
        let halt = Halt::default();
        let waits = tokio::spawn({
            let halt = halt.clone();
            async move { halt.unless_ordered(pending::<()>()).await }
        });
        assert_eq!(halt.unless_ordered(ready(1)).await, Some(1));
        assert!(!halt.is_ordered());
        halt.order();
        assert_eq!(waits.await.unwrap(), None);
        assert_eq!(halt.unless_ordered(ready(1)).await, Some(1));
        assert_eq!(halt.unless_ordered(pending::<()>()).await, None);
    }
}
