//! The engine's settings. Every size of the pool is derived from the number of slots; all settings for determinism, and
//! all disabled features, are here and nowhere else.

use crate::advice::Bound;

use super::Limits;
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

/// The most core instances of one component: the module, its adapters, and for languages that link several modules
/// (Python) a few dozen more.
pub(super) const CORE_INSTANCES: u32 = 48;
/// The most linear memories of one component: one, with room for adapters that have their own.
pub(super) const MEMORIES: u32 = 4;
/// The most tables of one component: one per module.
pub(super) const TABLES: u32 = 24;
/// The most elements of one table: large interpreters have some ten thousand functions.
pub(super) const TABLE_ELEMENTS: usize = 65_536;
/// The core instances of an instance that is kept for the next case: its code and its state.
const KEPT_CORE_INSTANCES: u32 = 2;
/// The tables of an instance that is kept for the next case: that of its code.
pub(super) const KEPT_TABLES: u32 = 1;
/// How many handles to host resources (streams, polls) an instance may hold.
pub(super) const COMPONENT_HANDLES: usize = 1000;
/// The most bytes of wasmtime's own data for one instance.
const INSTANCE_BYTES: usize = 8 << 20;
/// Up to this many bytes, a memory's dirty pages are reset by copying; the kernel resets the rest.
const KEEP_RESIDENT_BYTES: usize = 1 << 20;
const TABLE_KEEP_RESIDENT_BYTES: usize = 64 << 10;

/// How many instances a pool of `slots` sandboxes has room for in addition: instances that are kept for the next case,
/// and the models that they are reset to. That is one of each for every slot, within bounds, because each takes address
/// space.
pub(super) fn kept_instances(slots: u32) -> u32 {
    slots.saturating_mul(2).clamp(32, 1024)
}

/// How memory for instances is allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Allocation {
    /// From a pool, which is set up once.
    Pooling,
    /// For every instance (slower), because there is no pool.
    OnDemand {
        /// Why there is no pool.
        reason: String,
    },
}

/// The bounds of one sandbox that no limit raises.
pub(super) const SHAPE: Bound = Bound::Shape {
    core_instances: CORE_INSTANCES,
    memories: MEMORIES,
    tables: TABLES,
    table_elements: TABLE_ELEMENTS,
};

/// What one component may contain, wherever its instances are allocated.
fn bounded_pool() -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(MEMORIES)
        .max_memories_per_module(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_tables_per_module(TABLES)
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        .max_memory_size(usize::try_from(Limits::MAX_MEMORY_BYTES).unwrap_or(usize::MAX))
        .table_elements(TABLE_ELEMENTS);
    pool
}

/// How machine code detects a guest's invalid operations, such as an access outside its memory. The outcome and the
/// fuel are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Traps {
    /// Through processor signals: this process has handlers for them.
    Signals,
    /// Through checks in the code: no handler is installed.
    Checks,
}

/// Settings for a pool of `slots` sandboxes, and of `kept` instances in addition.
pub(super) fn pooling(slots: u32, kept: u32, traps: Traps) -> Config {
    let mut pool = bounded_pool();
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(CORE_INSTANCES) + kept * KEPT_CORE_INSTANCES)
        .total_memories(slots.saturating_mul(MEMORIES) + kept)
        .total_tables(slots.saturating_mul(TABLES) + kept * KEPT_TABLES)
        .total_stacks(slots)
        .max_unused_warm_slots(slots);
    // wasmtime's scan misses pages that are swapped out, which the next instance would find (its pull request 14357).
    if PoolingAllocationConfig::is_pagemap_scan_available() && !can_swap() {
        // Without the scan, keeping pages resident costs more than it saves.
        pool.pagemap_scan(Enabled::Yes)
            .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
            .table_keep_resident(TABLE_KEEP_RESIDENT_BYTES);
    }
    let mut config = common(traps);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// Whether the system may swap out pages of this process.
#[cfg(target_os = "linux")]
fn can_swap() -> bool {
    rustix::system::sysinfo().totalswap > 0
}

/// Whether the system may swap out pages of this process.
#[cfg(not(target_os = "linux"))]
fn can_swap() -> bool {
    true
}

/// Settings of an engine that runs nothing and needs almost no address space, but refuses what a pool refuses, with the
/// same message.
pub(super) fn checking(traps: Traps) -> Config {
    let mut pool = bounded_pool();
    // A component may have no more tables than the whole pool.
    pool.total_component_instances(0)
        .total_core_instances(0)
        .total_memories(0)
        .total_tables(TABLES)
        .total_stacks(0);
    let mut config = common(traps);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// Settings without a pool, for a machine that has no address space for it.
pub(super) fn on_demand(traps: Traps) -> Config {
    let mut config = common(traps);
    config
        .allocation_strategy(InstanceAllocationStrategy::OnDemand)
        // This takes no more address space than a memory needs, because address space is what was lacking.
        .memory_reservation(0)
        .memory_reservation_for_growth(1 << 20)
        .memory_guard_size(64 << 10);
    config
}

/// What both have in common, and everything that compiled code for the pool depends on.
pub(super) fn common(traps: Traps) -> Config {
    let mut config = Config::new();
    config
        .signals_based_traps(traps == Traps::Signals)
        // Bounds on instructions and on time.
        .consume_fuel(true)
        .epoch_interruption(true)
        // For the same bits on every machine.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        // Features that no scorer of the contract needs: shared memory (wasmtime's feature `threads` is disabled as
        // well), concurrency, garbage collection, 64-bit memories.
        .shared_memory(false)
        .concurrency_support(false)
        .wasm_gc(false)
        .wasm_memory64(false);
    config
}
