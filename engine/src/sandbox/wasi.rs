//! The WASI that a component may be granted: nothing behind it, and the same every time. Whether it
//! may be imported at all is for `grants` to say.

use std::time::Duration;

use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::{
    HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxView, WasiView, p2::pipe::MemoryOutputPipe,
    random::Deterministic,
};

use super::state::State;
use crate::contract::LogLevel;

/// Bytes of standard output, and of standard error, that are kept.
const PRINTED_BYTES: usize = 64 << 10;
/// Handles (streams, polls) that may be open at once.
const HANDLES: usize = 1000;
/// The most random bytes of one call.
const RANDOM_BYTES: u64 = 1 << 20;
/// What every random number is made of.
const SEED: [u8; 16] = *b"scorebox-entropy";

/// WASI's side of one instance.
pub(super) struct WasiState {
    context: WasiCtx,
    table: ResourceTable,
    stdout: MemoryOutputPipe,
    stderr: MemoryOutputPipe,
}

impl WasiState {
    fn new() -> WasiState {
        let (stdout, stderr) =
            (MemoryOutputPipe::new(PRINTED_BYTES), MemoryOutputPipe::new(PRINTED_BYTES));
        let context = WasiCtx::builder()
            .stdout(stdout.clone())
            .stderr(stderr.clone())
            .secure_random(Deterministic::new(SEED.to_vec()))
            .insecure_random(Deterministic::new(SEED.to_vec()))
            .insecure_random_seed(u128::from_le_bytes(SEED))
            .max_random_size(RANDOM_BYTES)
            .wall_clock(StoppedClock)
            .monotonic_clock(StoppedClock)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        WasiState { context, table, stdout, stderr }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let wasi = self.wasi.get_or_insert_with(|| Box::new(WasiState::new()));
        WasiCtxView { ctx: &mut wasi.context, table: &mut wasi.table }
    }
}

impl State {
    /// Moves what the component printed into its log.
    pub(super) fn collect_printed(&mut self) {
        let Some(wasi) = self.wasi.take() else { return };
        for (level, pipe) in [(LogLevel::Info, &wasi.stdout), (LogLevel::Error, &wasi.stderr)] {
            let printed = pipe.contents();
            for line in String::from_utf8_lossy(&printed).lines() {
                self.log.push(level, line.to_owned());
            }
        }
    }
}

/// A clock that always shows the start of its epoch.
struct StoppedClock;

impl HostWallClock for StoppedClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for StoppedClock {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        0
    }
}

/// Links all of WASI 0.2; what is behind it is empty.
pub(super) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)
}
