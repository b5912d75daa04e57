//! Limits the memory for what is in flight, in bytes: a producer waits until there is room for its item. It counts only
//! items that request room.

use std::sync::Arc;

use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// The unit that the semaphore counts, in bytes.
const UNIT_BYTES: usize = 256;
/// What every item takes in addition to its own size, in bytes.
const OVERHEAD_BYTES: usize = 512;

/// A number of bytes that items in flight share. A share is returned when it is dropped. An item larger than the whole
/// room waits until it is alone.
#[derive(Clone)]
pub(crate) struct Room {
    units: Arc<Semaphore>,
    all: u32,
}

impl Room {
    /// Room for this many bytes.
    pub(crate) fn new(bytes: usize) -> Room {
        let all = u32::try_from(bytes / UNIT_BYTES).unwrap_or(u32::MAX).max(1);
        Room { units: Arc::new(Semaphore::new(all as usize)), all }
    }

    /// Whether most of it is free, so that no producer waits.
    pub(crate) fn is_ample(&self) -> bool {
        self.units.available_permits() > self.all as usize / 2
    }

    /// A share of this many bytes. `None` only if the program ends.
    pub(crate) async fn share(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let units = (bytes + OVERHEAD_BYTES).div_ceil(UNIT_BYTES);
        let units = u32::try_from(units).unwrap_or(self.all).min(self.all);
        Arc::clone(&self.units).acquire_many_owned(units).await.ok()
    }

    /// Like [`Room::share`], on a thread that may block.
    pub(crate) fn wait_for(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        Handle::current().block_on(self.share(bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn what_does_not_fit_waits_until_a_share_is_given_back() {
        let room = Room::new(4096);
        let first = room.share(3000).await;
        let second = timeout(Duration::from_millis(20), room.share(3000)).await;
        assert!(second.is_err());
        drop(first);
        assert!(timeout(Duration::from_secs(10), room.share(3000)).await.is_ok());
    }

    #[tokio::test]
    async fn what_is_larger_than_all_of_it_waits_to_be_alone() {
        let room = Room::new(4096);
        assert!(timeout(Duration::from_secs(10), room.share(1 << 30)).await.is_ok());
    }
}
