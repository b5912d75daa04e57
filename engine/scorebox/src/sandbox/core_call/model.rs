//! [`Model`]: the initial state of every instance of a scorer, held by an instance in which nothing ever runs, and
//! resetting another instance to it. The state of such an instance is only its memory and its globals: scorers with
//! more, such as a table that their code writes or exceptions that they throw, are not called in this way (`split`).
//! When to reset is decided elsewhere.

use std::ops::Range;

use tokio::sync::OwnedSemaphorePermit;
use wasmtime::{Engine, Instance, Memory, Module, ModuleExport, Store, Val};

use super::{CoreSandbox, instance};

/// An instance of a data module in its initial state.
pub(super) struct Model {
    store: Store<()>,
    memory: Memory,
    /// The values of the mutable globals.
    globals: Vec<Val>,
    _place: OwnedSemaphorePermit,
}

impl Model {
    /// `None` if no instance can be made; then the scorer's other instances cannot be made either.
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

    /// Resets the instance of `sandbox` to its state before anything ran in it: every byte of its memory, which has not
    /// grown and was written only in the ranges `changed`, and every mutable global. `None` if it is an instance of
    /// another scorer: then it is of no more use.
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
