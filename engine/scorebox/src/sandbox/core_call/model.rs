//! [`Model`]: what every instance of a scorer begins as, in an instance in which nothing ever runs; and setting another
//! one back to it. All that can change in an instance is its memory and its globals: what has more to it, such as a
//! table that its code writes or exceptions that it throws, is not called in this way (`split`). Decides nothing about
//! when.

use std::ops::Range;

use tokio::sync::OwnedSemaphorePermit;
use wasmtime::{Engine, Instance, Memory, Module, ModuleExport, Store, Val};

use super::{CoreSandbox, instance};

/// An instance of a data module, as it was made.
pub(super) struct Model {
    store: Store<()>,
    memory: Memory,
    /// The values of the globals that change.
    globals: Vec<Val>,
    _place: OwnedSemaphorePermit,
}

impl Model {
    /// `None` if no instance can be made, which is so for scorers whose other instances cannot be made either.
    pub(super) fn new(
        engine: &Engine,
        data: &Module,
        (memory, globals): (&ModuleExport, &[ModuleExport]),
        place: OwnedSemaphorePermit,
    ) -> Option<Model> {
        let mut store = Store::new(engine, ());
        let data = Instance::new(&mut store, data, &[]).ok()?;
        let (memory, globals) = instance::state_of(&mut store, data, (memory, globals))?;
        let globals = globals.iter().map(|global| global.get(&mut store)).collect();
        Some(Model { store, memory, globals, _place: place })
    }

    /// Sets the instance of `sandbox` back to what it was before anything ran in it: every byte of its memory, which
    /// has not grown and was written only where `changed` says, and every global that changes. `None` if it is an
    /// instance of another scorer: then it is of no more use.
    pub(super) fn set_back(
        &self,
        sandbox: &mut CoreSandbox,
        changed: impl Iterator<Item = Range<usize>>,
    ) -> Option<()> {
        let CoreSandbox { store, instance, .. } = sandbox;
        let instance = instance.as_ref()?;
        let first = self.memory.data(&self.store);
        let memory = instance.memory.data_mut(&mut *store);
        (memory.len() == first.len()).then_some(())?;
        for written in changed {
            memory.get_mut(written.clone())?.copy_from_slice(first.get(written)?);
        }
        debug_assert!(memory == first, "no page was missed");
        (instance.globals.len() == self.globals.len()).then_some(())?;
        for (global, value) in instance.globals.iter().zip(&self.globals) {
            global.set(&mut *store, *value).ok()?;
        }
        Some(())
    }
}
