//! The WASI that a component may be granted: nothing behind it, and the same every time for the same
//! case. Whether it may be imported at all is for `grants` to say.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use chacha20::{ChaCha12Rng, rand_core::SeedableRng as _};
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::{
    HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxView, WasiView, p2::pipe::MemoryOutputPipe,
};

use super::{score::COMPONENT_HANDLES, state::State};
use crate::{contract::LogLevel, digest::Digest};

/// Bytes of standard output, and of standard error, that are kept.
pub(super) const PRINTED_BYTES: usize = 64 << 10;
/// The most random bytes of one call.
pub(super) const RANDOM_BYTES: usize = 1 << 20;
/// The first second that a wall clock can show: 2020-01-01 UTC.
const FIRST_SECOND: u64 = 1_577_836_800;
/// The seconds that a wall clock can show from there on: about ten years.
const SECONDS: u64 = 1 << 28;
/// What a monotonic clock goes on by each time that somebody looks at it.
const LOOK: Duration = Duration::from_micros(1);

/// What clocks and random numbers are made of: the same for the same case, everywhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seed([u8; 32]);

impl Seed {
    /// For `describe` and `configure`, where there is no case.
    pub(super) const OF_LOADING: Seed = Seed(*b"scorebox: no case, only loading.");

    /// For the case whose input has this digest.
    pub(super) fn of(input: Digest) -> Seed {
        Seed(*input.as_bytes())
    }

    /// 32 bytes of its own for each use.
    fn bytes(self, what: &str) -> [u8; 32] {
        *Digest::of_parts([self.0.as_slice(), what.as_bytes()]).as_bytes()
    }

    fn random_numbers(self, what: &str) -> ChaCha12Rng {
        ChaCha12Rng::from_seed(self.bytes(what))
    }

    fn number(self, what: &str) -> u128 {
        self.bytes(what).iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
    }

    fn wall_clock(self) -> Duration {
        let place = self.number("clock") as u64 % SECONDS;
        Duration::from_secs(FIRST_SECOND + place)
    }
}

/// WASI's side of one instance.
pub(super) struct WasiState {
    context: WasiCtx,
    table: ResourceTable,
    stdout: MemoryOutputPipe,
    stderr: MemoryOutputPipe,
}

impl WasiState {
    fn new(seed: Seed) -> WasiState {
        let (stdout, stderr) =
            (MemoryOutputPipe::new(PRINTED_BYTES), MemoryOutputPipe::new(PRINTED_BYTES));
        let context = WasiCtx::builder()
            .stdout(stdout.clone())
            .stderr(stderr.clone())
            .secure_random(seed.random_numbers("secure random"))
            .insecure_random(seed.random_numbers("insecure random"))
            .insecure_random_seed(seed.number("insecure random seed"))
            .max_random_size(RANDOM_BYTES as u64)
            .wall_clock(CasesClock(seed.wall_clock()))
            .monotonic_clock(LooksClock(AtomicU64::new(0)))
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        let mut table = ResourceTable::new();
        table.set_max_capacity(COMPONENT_HANDLES);
        WasiState { context, table, stdout, stderr }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let wasi = self.wasi.get_or_insert_with(|| Box::new(WasiState::new(self.seed)));
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

/// A wall clock that stands still at a time of the case's own.
struct CasesClock(Duration);

impl HostWallClock for CasesClock {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        self.0
    }
}

/// A monotonic clock that goes on only when it is looked at, so that waiting for it ends.
struct LooksClock(AtomicU64);

impl HostMonotonicClock for LooksClock {
    fn resolution(&self) -> u64 {
        1_000
    }

    fn now(&self) -> u64 {
        LOOK.as_nanos() as u64 * self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Links all of WASI 0.2; what is behind it is empty.
pub(super) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)
}
