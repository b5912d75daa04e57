//! [`CoreInstance`]: the functions of an instance of both modules, which are called without comparing their types each
//! time, and its state that changes. It makes no instances, and knows no cases.

use wasmtime::{
    Extern, ExternType, Func, Global, Instance, Memory, Module, ModuleExport, Store, TypedFunc,
    ValRaw, ValType,
};

use super::{Missed, State};

/// Allocates memory in a guest.
pub(super) type Realloc = TypedFunc<(u32, u32, u32, u32), u32>;

/// An exported function that takes this many 32-bit numbers, and returns one or nothing.
pub(super) struct Exported<const TAKES: usize, const RETURNS: usize>(ModuleExport);

/// The same function in an instance.
#[derive(Clone, Copy)]
pub(super) struct Function<const TAKES: usize, const RETURNS: usize>(Func);

/// Handles to an instance; its store owns it.
pub(super) struct CoreInstance {
    pub(super) memory: Memory,
    /// The mutable globals.
    pub(super) globals: Vec<Global>,
    pub(super) realloc: Realloc,
    pub(super) score: Function<1, 1>,
    pub(super) post_return: Option<Function<1, 0>>,
    /// The initial size of its memories and tables, in bytes.
    pub(super) first_bytes: usize,
    /// The fuel that making it took.
    pub(super) first_fuel: u64,
}

/// The memory and the mutable globals of an instance of a data module.
pub(super) fn state_of(
    store: &mut Store<impl Sized>,
    data: Instance,
    (memory, globals): (&ModuleExport, &[ModuleExport]),
) -> Option<(Memory, Vec<Global>)> {
    let memory = data.get_module_export(&mut *store, memory).and_then(Extern::into_memory)?;
    let globals = globals
        .iter()
        .map(|global| data.get_module_export(&mut *store, global).and_then(Extern::into_global));
    Some((memory, globals.collect::<Option<_>>()?))
}

impl<const TAKES: usize, const RETURNS: usize> Exported<TAKES, RETURNS> {
    /// The function that `code` exports under this name, if it has this type.
    pub(super) fn of(code: &Module, name: &str) -> Option<Exported<TAKES, RETURNS>> {
        const { assert!(TAKES > 0 && RETURNS <= TAKES, "there is a place for all of them") };
        let ExternType::Func(ty) = code.get_export(name)? else { return None };
        let (takes, returns) = (ty.params(), ty.results());
        let fits = takes.len() == TAKES && returns.len() == RETURNS;
        let all_fit = takes.chain(returns).all(|ty| matches!(ty, ValType::I32));
        (fits && all_fit).then_some(())?;
        code.get_export_index(name).map(Exported)
    }

    pub(super) fn within(
        &self,
        store: &mut Store<State>,
        instance: Instance,
    ) -> Result<Function<TAKES, RETURNS>, Missed> {
        let function = instance.get_module_export(store, &self.0).and_then(Extern::into_func);
        function.map(Function).ok_or(Missed)
    }
}

impl<const TAKES: usize, const RETURNS: usize> Function<TAKES, RETURNS> {
    /// Calls it in its store, as wasmtime calls a function that a component lifts. The result comes first in the array.
    #[expect(
        unsafe_code,
        reason = "a safe call compares the type each time, behind a lock of all threads"
    )]
    pub(super) fn call(
        self,
        store: &mut Store<State>,
        arguments: [u32; TAKES],
    ) -> wasmtime::Result<[ValRaw; TAKES]> {
        let mut values = arguments.map(ValRaw::u32);
        // SAFETY: the function is the one that its module exports under the name with which `Exported::of` found its
        // type: `TAKES` numbers of 32 bits, and at most as many of them as results. So the numbers are what it takes,
        // the array has room for what it returns, and no number is a reference. `Func` itself refuses the store of
        // another instance. A store that may only be called asynchronously does not get here: no instance could be made
        // in it.
        unsafe { self.0.call_unchecked(store, &mut values)? };
        Ok(values)
    }
}

impl Function<4, 1> {
    /// Types it like a function that allocates, to be called in wasmtime's way. How much of the stack is left for the
    /// guest depends on how it is called.
    #[expect(
        unsafe_code,
        reason = "a safe call compares the type each time, behind a lock of all threads"
    )]
    pub(super) fn typed(self, store: &Store<State>) -> Realloc {
        // SAFETY: `Exported::of` compared the type: four numbers of 32 bits, and one as the result.
        unsafe { TypedFunc::new_unchecked(store, self.0) }
    }
}

impl<const TAKES: usize> Function<TAKES, 1> {
    /// Calls it, and returns its result.
    pub(super) fn number(
        self,
        store: &mut Store<State>,
        arguments: [u32; TAKES],
    ) -> wasmtime::Result<u32> {
        Ok(self.call(store, arguments)?[0].get_u32())
    }
}
