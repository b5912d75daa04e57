//! Reads an instance's state through functions that were added to its component for that. It replaces wizer's own
//! access, which panics if a function is missing and enables several features of wasmtime. It does not freeze the
//! state.

use wasmtime::{
    Store,
    component::{Instance, Lift, WasmList},
};
use wasmtime_wizer::ComponentInstanceState;

use super::state::State;

/// An instance of an instrumented component.
pub(super) struct WizerAccess<'a> {
    store: &'a mut Store<State>,
    instance: Instance,
    failure: Option<wasmtime::Error>,
}

impl<'a> WizerAccess<'a> {
    /// An instance in its store.
    pub(super) fn new(store: &'a mut Store<State>, instance: Instance) -> WizerAccess<'a> {
        WizerAccess { store, instance, failure: None }
    }

    /// Why something could not be read, if so; then what wizer made must not be used.
    pub(super) fn failure(self) -> Option<wasmtime::Error> {
        self.failure
    }

    /// Calls a function and converts its answer with `read`; the default value if the function does not exist or fails.
    async fn ask<Answer: Lift + Send + Sync + 'static, Value: Default>(
        &mut self,
        instance: &str,
        function: &str,
        read: impl FnOnce(&Store<State>, Answer) -> Value,
    ) -> Value {
        match ask(self.store, self.instance, instance, function).await {
            Ok(answer) => read(self.store, answer),
            Err(error) => {
                self.failure.get_or_insert(error);
                Value::default()
            }
        }
    }
}

/// Calls `function` of the instance's export `exports`, and returns its answer.
pub(super) async fn ask<Answer: Lift + Send + Sync + 'static>(
    store: &mut Store<State>,
    instance: Instance,
    exports: &str,
    function: &str,
) -> wasmtime::Result<Answer> {
    let missing = || wasmtime::format_err!("the component does not answer `{function}`");
    let (_, exports) = instance.get_export(&mut *store, None, exports).ok_or_else(missing)?;
    let (_, export) =
        instance.get_export(&mut *store, Some(&exports), function).ok_or_else(missing)?;
    let export = instance.get_typed_func::<(), (Answer,)>(&mut *store, export)?;
    Ok(export.call_async(&mut *store, ()).await?.0)
}

impl ComponentInstanceState for WizerAccess<'_> {
    async fn call_func_ret_list_u8(
        &mut self,
        instance: &str,
        function: &str,
        contents: impl FnOnce(&[u8]) + Send,
    ) {
        let read = |store: &Store<State>, list: WasmList<u8>| contents(list.as_le_slice(store));
        self.ask(instance, function, read).await;
    }

    async fn call_func_ret_s32(&mut self, instance: &str, function: &str) -> i32 {
        self.ask(instance, function, |_, number| number).await
    }

    async fn call_func_ret_s64(&mut self, instance: &str, function: &str) -> i64 {
        self.ask(instance, function, |_, number| number).await
    }

    async fn call_func_ret_f32(&mut self, instance: &str, function: &str) -> u32 {
        self.ask(instance, function, |_, number: f32| number.to_bits()).await
    }

    async fn call_func_ret_f64(&mut self, instance: &str, function: &str) -> u64 {
        self.ask(instance, function, |_, number: f64| number.to_bits()).await
    }
}
