//! [`Model`]: what every instance of a scorer begins as, in an instance in which nothing ever runs; and setting another one
//! back to it. All that can change in an instance is its memory and its globals: of what has more to it, such as a table
//! that code writes, no code is made (`split`). Decides nothing about when.

use tokio::sync::OwnedSemaphorePermit;
use wasmtime::{Engine, Instance, Memory, Module, ModuleExport, Store, Val};

use super::{CoreSandbox, instance, written_pages::PageMap};

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

    /// Sets the instance of `sandbox` back to what it was before anything ran in it: every byte of its memory and every global
    /// that changes. `None` if that is not possible, because its memory has grown or too much of it was written: then
    /// it is of no more use.
    pub(super) fn set_back(&self, sandbox: &mut CoreSandbox, pages: &PageMap) -> Option<()> {
        let CoreSandbox { store, instance, .. } = sandbox;
        let instance = instance.as_ref()?;
        let first = self.memory.data(&self.store);
        let memory = instance.memory.data_mut(&mut *store);
        (memory.len() == first.len()).then_some(())?;
        for written in pages.written(memory)? {
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
