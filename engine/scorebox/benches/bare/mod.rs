//! The same component with the same settings in a hand-written wasmtime loop, which shows what a score costs without
//! scorebox. It checks nothing, and limits only what the engine can limit without cost.

use scorebox::{case::Case, registry::Registry};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
    UpdateDeadline,
    component::{Component, HasSelf, Instance, Lift, Linker, WasmList},
};
use wasmtime_wizer::{ComponentInstanceState, Wizer};

mod generated {
    wasmtime::component::bindgen!({
        path: "wit/0.1.0",
        world: "scorer",
        exports: { default: async },
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

use generated::{ScorerPre, exports::scorebox::scorer::scoring};

struct State;

impl generated::scorebox::scorer::types::Host for State {}
impl generated::scorebox::scorer::log::Host for State {
    fn log(&mut self, _level: generated::scorebox::scorer::log::Level, _message: String) {}

    fn letter(&mut self, _letter: char) {}

    fn end(&mut self, _level: generated::scorebox::scorer::log::Level) {}
}

pub(crate) struct Scorer {
    engine: Engine,
    image: ScorerPre<State>,
}

pub(crate) struct Warm {
    store: Store<State>,
    instance: generated::Scorer,
}

fn engine() -> Engine {
    let slots = 8;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots * 48)
        .total_memories(slots * 4)
        .total_tables(slots * 24)
        .total_stacks(slots)
        .max_unused_warm_slots(slots)
        .max_component_instance_size(8 << 20)
        .max_core_instance_size(8 << 20)
        .max_memory_size(4 << 30)
        .table_elements(65_536);
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        pool.pagemap_scan(Enabled::Yes)
            .linear_memory_keep_resident(1 << 20)
            .table_keep_resident(64 << 10);
    }
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .consume_fuel(true)
        .epoch_interruption(true)
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .concurrency_support(false);
    Engine::new(&config).unwrap()
}

fn store(engine: &Engine) -> Store<State> {
    let mut store = Store::new(engine, State);
    store.set_fuel(10_000_000_000).unwrap();
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
    store
}

impl Scorer {
    /// Freezes a built-in scorer after `configure`, as the engine does.
    pub(crate) async fn new(name: &str, config: &str) -> Scorer {
        let engine = engine();
        let mut linker = Linker::<State>::new(&engine);
        generated::Scorer::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state).unwrap();
        let registry = Registry::with_builtins();
        let wizer = Wizer::new();
        let component = registry.get(name).unwrap().component;
        let (context, instrumented) =
            wizer.instrument_component(component.bytes().unwrap()).unwrap();
        let prepared = Component::new(&engine, &instrumented).unwrap();
        let mut store = store(&engine);
        let instance = linker.instantiate_async(&mut store, &prepared).await.unwrap();
        let scorer = generated::Scorer::new(&mut store, &instance).unwrap();
        let scoring = scorer.scorebox_scorer_scoring();
        scoring.call_configure(&mut store, config).await.unwrap().unwrap();
        store.set_fuel(u64::MAX).unwrap();
        let mut access = Access { store: &mut store, instance };
        let image = wizer.snapshot_component(&context, &mut access).await.unwrap();
        let image = Component::new(&engine, &image).unwrap();
        let image = ScorerPre::new(linker.instantiate_pre(&image).unwrap()).unwrap();
        Scorer { engine, image }
    }

    pub(crate) async fn score_in_fresh_instance(&self, case: &Case) -> Option<f64> {
        self.warm().await.score(case).await
    }

    pub(crate) async fn warm(&self) -> Warm {
        let mut store = store(&self.engine);
        let instance = self.image.instantiate_async(&mut store).await.unwrap();
        Warm { store, instance }
    }
}

impl Warm {
    pub(crate) async fn score(&mut self, case: &Case) -> Option<f64> {
        let input = scoring::ScorerInput {
            output: case.output(),
            ground_truth: case.raw(scorebox::case::Key::GroundTruth),
            input: None,
            context: None,
            latency_ms: None,
            output_schema: None,
            trace: None,
            usage: None,
            metadata: None,
            baseline: None,
        };
        let scoring = self.instance.scorebox_scorer_scoring();
        scoring.call_score(&mut self.store, input).await.unwrap().unwrap().score
    }
}

/// Access to the instrumented component for wizer.
struct Access<'a> {
    store: &'a mut Store<State>,
    instance: Instance,
}

impl Access<'_> {
    async fn ask<Answer: Lift + Send + Sync + 'static>(
        &mut self,
        exports: &str,
        name: &str,
    ) -> Answer {
        let (store, instance) = (&mut *self.store, self.instance);
        let (_, exports) = instance.get_export(&mut *store, None, exports).unwrap();
        let (_, export) = instance.get_export(&mut *store, Some(&exports), name).unwrap();
        let export = instance.get_typed_func::<(), (Answer,)>(&mut *store, export).unwrap();
        export.call_async(&mut *store, ()).await.unwrap().0
    }
}

impl ComponentInstanceState for Access<'_> {
    async fn call_func_ret_list_u8(
        &mut self,
        exports: &str,
        name: &str,
        contents: impl FnOnce(&[u8]) + Send,
    ) {
        let list: WasmList<u8> = self.ask(exports, name).await;
        contents(list.as_le_slice(&*self.store));
    }

    async fn call_func_ret_s32(&mut self, exports: &str, name: &str) -> i32 {
        self.ask(exports, name).await
    }

    async fn call_func_ret_s64(&mut self, exports: &str, name: &str) -> i64 {
        self.ask(exports, name).await
    }

    async fn call_func_ret_f32(&mut self, exports: &str, name: &str) -> u32 {
        self.ask::<f32>(exports, name).await.to_bits()
    }

    async fn call_func_ret_f64(&mut self, exports: &str, name: &str) -> u64 {
        self.ask::<f64>(exports, name).await.to_bits()
    }
}
