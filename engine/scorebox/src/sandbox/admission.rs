//! How many instances may exist at once, and how much memory they may have together. What an instance does with its
//! share is up to its own limiter.
//!
//! An instance takes its whole memory limit from the budget before it begins, so that a score never fails because of
//! other scores that run at the same time.

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::advice::{Advice, Limit};

use super::{ErrorKind, Limits, ScoreError};

/// The unit of the budget: a page of Wasm memory.
const PAGE_BYTES: u64 = 64 << 10;

/// Admits instances.
pub(super) struct Admission {
    slots: Semaphore,
    pages: Semaphore,
    all_pages: u32,
    budget_bytes: u64,
}

/// An instance's share, returned on drop.
pub(super) struct Admitted<'a> {
    _slot: Option<SemaphorePermit<'a>>,
    _pages: Option<SemaphorePermit<'a>>,
}

impl Admission {
    pub(super) fn new(slots: u32, budget_bytes: u64) -> Admission {
        let all_pages = u32::try_from(budget_bytes.div_ceil(PAGE_BYTES)).unwrap_or(u32::MAX);
        Admission {
            slots: Semaphore::new(slots as usize),
            pages: Semaphore::new(all_pages as usize),
            all_pages,
            budget_bytes,
        }
    }

    /// Refuses limits that no instance could ever be admitted with.
    pub(super) fn must_fit(&self, limits: &Limits) -> Result<(), ScoreError> {
        if limits.memory_bytes <= self.budget_bytes {
            return Ok(());
        }
        Err(ScoreError::new(
            ErrorKind::OutOfMemory,
            format!(
                "one score may use {} bytes of memory, and all sandboxes together {}",
                limits.memory_bytes, self.budget_bytes
            ),
        )
        .with(Advice::Lower { limit: Limit::Memory, or_raise: Limit::MemoryBudget }))
    }

    /// Waits for a share.
    pub(super) async fn enter(&self, limits: &Limits) -> Admitted<'_> {
        let pages = limits.memory_bytes.div_ceil(PAGE_BYTES).min(self.all_pages.into());
        let pages = u32::try_from(pages).unwrap_or(self.all_pages);
        // Neither semaphore is ever closed. All callers take the slot first, so that no two wait for each other.
        // Acquiring yields to other tasks from time to time.
        let slot = self.slots.acquire().await;
        // If nobody waits, this avoids the waiting queue, which costs more than the pages.
        let pages = match self.pages.try_acquire_many(pages) {
            Ok(pages) => Ok(pages),
            Err(_) => self.pages.acquire_many(pages).await,
        };
        Admitted { _slot: slot.ok(), _pages: pages.ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(memory_bytes: u64) -> Limits {
        Limits { memory_bytes, ..Limits::default() }
    }

    #[tokio::test]
    async fn instances_together_stay_within_the_budget() {
        let admission = Admission::new(8, 3 << 20);
        let two_thirds = limits(2 << 20);
        let _first = admission.enter(&two_thirds).await;
        let waiting = admission.enter(&two_thirds);
        assert!(tokio::time::timeout(std::time::Duration::ZERO, waiting).await.is_err());
        admission.enter(&limits(1 << 20)).await;
    }

    #[test]
    fn limits_beyond_the_budget_are_refused_with_both_numbers() {
        let error = Admission::new(1, 1 << 20).must_fit(&limits(2 << 20)).unwrap_err();
        assert_eq!(
            error.message,
            "one score may use 2097152 bytes of memory, and all sandboxes together 1048576"
        );
    }
}
