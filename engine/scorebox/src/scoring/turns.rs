//! Which tasks compute: a task has a turn from when it is woken until it waits. It knows nothing of scores.

use std::{
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::Semaphore;

/// The result of `work`, computed in turns: as many tasks compute at the same time as `turns` has permits. A task that
/// waits for a host call, a clock or another task returns its turn, and takes another when it is woken. The epoch
/// interrupts a guest that computes for long, so a turn never takes as long as a score may.
pub(super) async fn in_turns<F: Future>(turns: Arc<Semaphore>, work: F) -> F::Output {
    let mut work = pin!(work);
    loop {
        // The semaphore is never closed.
        let turn = turns.acquire().await;
        let polled = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
        drop(turn);
        match polled {
            Poll::Ready(output) => return output,
            Poll::Pending => woken().await,
        }
    }
}

/// Waits until this task is woken: whatever returned `Pending` wakes it.
async fn woken() {
    let mut is_first = true;
    poll_fn(|_: &mut Context<'_>| match std::mem::take(&mut is_first) {
        true => Poll::Pending,
        false => Poll::Ready(()),
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_task_that_waits_lets_another_have_its_turn() {
        let turns = Arc::new(Semaphore::new(1));
        let (says, hears) = oneshot::channel();
        let waits = tokio::spawn(in_turns(Arc::clone(&turns), hears));
        let computes = tokio::spawn(in_turns(turns, async move { says.send(7) }));
        assert_eq!(computes.await.unwrap(), Ok(()));
        assert_eq!(waits.await.unwrap(), Ok(7));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn no_more_compute_at_once_than_there_are_turns() {
        let (turns, computing) = (Arc::new(Semaphore::new(2)), Arc::new(AtomicUsize::new(0)));
        let most = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..16)
            .map(|_| {
                let (computing, most) = (Arc::clone(&computing), Arc::clone(&most));
                tokio::spawn(in_turns(Arc::clone(&turns), async move {
                    for _ in 0..50 {
                        let now = computing.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        std::hint::black_box((0..1000).sum::<u64>());
                        computing.fetch_sub(1, Ordering::SeqCst);
                        tokio::task::yield_now().await;
                    }
                }))
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert!((1..=2).contains(&most.load(Ordering::SeqCst)));
    }
}
