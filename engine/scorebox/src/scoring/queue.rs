//! The units between their source and the workers: a bounded queue that wakes a worker, or holds up the source, once
//! for many units rather than once for each. It knows nothing of scoring.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// A queue with blocking senders and asynchronous receivers. A sender that found it full continues when half of it has
/// been taken.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    most: usize,
    room: Condvar,
    work: Notify,
}

struct State<T> {
    items: VecDeque<T>,
    closed: bool,
}

/// The other side has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Closed;

impl<T> Queue<T> {
    /// An empty queue that accepts no more while it has `most` items.
    pub(crate) fn new(most: usize) -> Queue<T> {
        Queue {
            state: Mutex::new(State { items: VecDeque::new(), closed: false }),
            most,
            room: Condvar::new(),
            work: Notify::new(),
        }
    }

    /// Adds items; waits while the queue is full.
    pub(crate) fn push(&self, items: impl IntoIterator<Item = T>) -> Result<(), Closed> {
        let mut state = self.lock();
        if state.items.len() >= self.most {
            let full = |state: &mut State<T>| !state.closed && state.items.len() > self.most / 2;
            state = self.room.wait_while(state, full).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(Closed);
        }
        state.items.extend(items);
        drop(state);
        self.work.notify_waiters();
        Ok(())
    }

    /// Takes up to `most` items, at least one; empty if the queue is closed and empty.
    pub(crate) async fn take(&self, most: usize) -> Vec<T> {
        loop {
            let mut woken = std::pin::pin!(self.work.notified());
            // From here on, no push is missed.
            woken.as_mut().enable();
            if let Some(items) = self.try_take(most) {
                return items;
            }
            woken.await;
        }
    }

    fn try_take(&self, most: usize) -> Option<Vec<T>> {
        let mut state = self.lock();
        if state.items.is_empty() {
            return state.closed.then(Vec::new);
        }
        let count = most.clamp(1, state.items.len());
        let items = state.items.drain(..count).collect();
        if state.items.len() <= self.most / 2 {
            self.room.notify_all();
        }
        Some(items)
    }

    /// Accepts no more items, and drops what is queued, because no worker will take it.
    pub(crate) fn abandon(&self) {
        let left = {
            let mut state = self.lock();
            state.closed = true;
            std::mem::take(&mut state.items)
        };
        drop(left);
        self.room.notify_all();
        self.work.notify_waiters();
    }

    /// Accepts no more items; what is queued can still be taken.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.room.notify_all();
        self.work.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // The state behind the lock is consistent after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;

    #[tokio::test]
    async fn hands_over_everything_in_order_and_ends_when_closed() {
        let queue = Arc::new(Queue::new(4));
        let sender = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                for number in 0..1000 {
                    queue.push([number]).unwrap();
                }
                queue.close();
            })
        };
        let mut taken = Vec::new();
        loop {
            let items = queue.take(3).await;
            if items.is_empty() {
                break;
            }
            taken.extend(items);
        }
        sender.join().unwrap();
        assert!(taken.iter().copied().eq(0..1000));
    }

    #[test]
    fn what_will_not_be_taken_is_dropped() {
        let queue = Queue::new(4);
        let item = Arc::new(());
        queue.push([Arc::clone(&item)]).unwrap();
        queue.abandon();
        assert_eq!(Arc::strong_count(&item), 1);
        assert_eq!(queue.push([item]), Err(Closed));
    }

    #[test]
    fn a_sender_that_waits_for_room_hears_of_the_end() {
        let queue = Arc::new(Queue::new(1));
        queue.push([1]).unwrap();
        let sender = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push([2]))
        };
        queue.close();
        assert_eq!(sender.join().unwrap(), Err(Closed));
    }
}
