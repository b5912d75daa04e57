//! How long a run waits for a database that another process has locked, and who hears of it. Takes no lock.

use std::{fmt, path::Path, sync::Arc};

use crate::store::Store;

use super::Control;

/// That a run waits as long as it takes, and what is called with the database's path when it has waited for a while.
pub(super) struct Waiting(Box<dyn Fn(&Path) + Send>);

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

impl Waiting {
    pub(super) fn new(notice: impl Fn(&Path) + Send + 'static) -> Waiting {
        Waiting(Box::new(notice))
    }

    /// Has the store wait until the run is to end.
    pub(super) fn begin(self, store: &mut Store, control: &Arc<Control>) {
        let (control, path) = (Arc::clone(control), store.path().to_owned());
        store.wait_longer(move |is_first| {
            let waits = !control.is_stopping();
            if waits && is_first {
                (self.0)(&path);
            }
            waits
        });
    }
}
