//! The WASI that a component may be granted: it reaches nothing outside, and behaves the same every time for the same
//! case. Whether it may be imported at all is decided in `grants`, and how it is linked in `imports`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use chacha20::{ChaCha12Rng, rand_core::SeedableRng as _};
use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::{
    HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxView, async_trait,
    p2::{
        DynPollable, Pollable, bindings::clocks::monotonic_clock, pipe::MemoryOutputPipe, subscribe,
    },
};

use super::settings::COMPONENT_HANDLES;
use crate::{contract::LogLevel, digest::Digest};

/// The most bytes that are kept of standard output, and of standard error.
pub(super) const PRINTED_BYTES: usize = 64 << 10;
/// The most random bytes of one call.
pub(super) const RANDOM_BYTES: usize = 1 << 20;
/// The earliest time of a wall clock: 2020-01-01 UTC.
const FIRST_SECOND: u64 = 1_577_836_800;
/// The range of a wall clock's time from there on, in seconds: about eight and a half years.
const SECONDS: u64 = 1 << 28;
/// How far a monotonic clock advances with each read.
const LOOK: Duration = Duration::from_micros(1);

/// What clocks and random numbers are derived from: the same for the same case, everywhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seed([u8; 32]);

impl Seed {
    /// For `describe` and `configure`, which have no case.
    pub(super) const OF_LOADING: Seed = Seed(*b"scorebox: no case, only loading.");

    /// For the case whose input has this digest.
    pub(super) fn of(input: Digest) -> Seed {
        Seed(*input.as_bytes())
    }

    /// 32 bytes, different for each purpose.
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
    clock: LooksClock,
    table: ResourceTable,
    stdout: MemoryOutputPipe,
    stderr: MemoryOutputPipe,
    /// Whether a clock was read.
    looked: Arc<AtomicBool>,
}

impl WasiState {
    pub(super) fn new(seed: Seed) -> WasiState {
        let (stdout, stderr) =
            (MemoryOutputPipe::new(PRINTED_BYTES), MemoryOutputPipe::new(PRINTED_BYTES));
        let looked = Arc::<AtomicBool>::default();
        let clock = LooksClock { nanoseconds: Arc::default(), looked: Arc::clone(&looked) };
        let context = WasiCtx::builder()
            .stdout(stdout.clone())
            .stderr(stderr.clone())
            .secure_random(seed.random_numbers("secure random"))
            .insecure_random(seed.random_numbers("insecure random"))
            .insecure_random_seed(seed.number("insecure random seed"))
            .max_random_size(RANDOM_BYTES as u64)
            .wall_clock(CasesClock { time: seed.wall_clock(), looked: Arc::clone(&looked) })
            .monotonic_clock(clock.clone())
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        let mut table = ResourceTable::new();
        table.set_max_capacity(COMPONENT_HANDLES);
        WasiState { context, clock, table, stdout, stderr, looked }
    }

    pub(super) fn view(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.context, table: &mut self.table }
    }

    pub(super) fn monotonic(&mut self) -> MonotonicClock<'_> {
        MonotonicClock { clock: self.clock.clone(), table: &mut self.table }
    }

    /// Why the component cannot continue in another instance from its memory, where it would have no handles, and
    /// clocks that start again; `None` if it can.
    pub(super) fn keeps(&self) -> Option<&'static str> {
        if !self.table.is_empty() {
            return Some(
                "`configure` leaves a handle of WASI open (a stream, a file, a clock that it waits for), which does not outlive an instance",
            );
        }
        self.looked.load(Ordering::Relaxed).then_some(
            "`configure` reads a clock of WASI, which would be at another time in every score",
        )
    }

    /// What the component printed, with the log level for it.
    pub(super) fn printed(&self) -> [(LogLevel, Vec<u8>); 2] {
        let printed = [(LogLevel::Info, &self.stdout), (LogLevel::Error, &self.stderr)];
        printed.map(|(level, pipe)| (level, pipe.contents().to_vec()))
    }
}

/// A wall clock that stands still at a time derived from the case.
struct CasesClock {
    time: Duration,
    looked: Arc<AtomicBool>,
}

impl HostWallClock for CasesClock {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        self.looked.store(true, Ordering::Relaxed);
        self.time
    }
}

/// A monotonic clock, in nanoseconds. It advances only when it is read, so that a loop that waits for it ends, and when
/// something waits for a later time.
#[derive(Clone)]
struct LooksClock {
    nanoseconds: Arc<AtomicU64>,
    looked: Arc<AtomicBool>,
}

impl HostMonotonicClock for LooksClock {
    fn resolution(&self) -> u64 {
        1_000
    }

    fn now(&self) -> u64 {
        self.looked.store(true, Ordering::Relaxed);
        self.nanoseconds.fetch_add(LOOK.as_nanos() as u64, Ordering::Relaxed)
    }
}

/// A time that something waits for. It is reached as soon as something waits for it, because the true time would be the
/// machine's; only the end of time is never reached.
struct Awaited {
    clock: LooksClock,
    time: u64,
    seen: bool,
}

#[async_trait]
impl Pollable for Awaited {
    async fn ready(&mut self) {
        if self.time == u64::MAX {
            return std::future::pending().await;
        }
        if !self.seen {
            self.seen = true;
            // Other tasks get their turn, and a scorer that only polls gets "not yet" once.
            tokio::task::yield_now().await;
        }
        self.clock.nanoseconds.fetch_max(self.time, Ordering::Relaxed);
    }
}

/// The monotonic clock of one instance.
pub(super) struct MonotonicClock<'a> {
    clock: LooksClock,
    table: &'a mut ResourceTable,
}

impl HasData for MonotonicClock<'static> {
    type Data<'a> = MonotonicClock<'a>;
}

impl MonotonicClock<'_> {
    fn wait_for(&mut self, time: u64) -> wasmtime::Result<Resource<DynPollable>> {
        // Waiting moves the clock.
        self.clock.looked.store(true, Ordering::Relaxed);
        let awaited = Awaited { clock: self.clock.clone(), time, seen: false };
        let awaited = self.table.push(awaited)?;
        subscribe(self.table, awaited)
    }
}

impl monotonic_clock::Host for MonotonicClock<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(self.clock.now())
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(self.clock.resolution())
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.wait_for(when)
    }

    fn subscribe_duration(&mut self, duration: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let now = self.clock.nanoseconds.load(Ordering::Relaxed);
        self.wait_for(now.saturating_add(duration))
    }
}

#[cfg(test)]
mod tests {
    use wasmtime_wasi::{
        clocks::WasiClocksCtxView,
        p2::bindings::{clocks::wall_clock, random::random},
    };

    use super::*;

    #[test]
    fn a_component_that_keeps_no_handle_and_saw_no_clock_can_continue_in_another_instance() {
        let mut wasi = WasiState::new(Seed::OF_LOADING);
        assert_eq!(wasi.keeps(), None);
        random::Host::get_random_u64(wasi.context.random()).unwrap();
        let handle = wasi.table.push(1_u8).unwrap();
        assert!(wasi.keeps().is_some_and(|why| why.contains("handle")));
        wasi.table.delete(handle).unwrap();
        assert_eq!(wasi.keeps(), None);
        let waits = wasi.monotonic().wait_for(7).unwrap();
        assert!(wasi.keeps().is_some_and(|why| why.contains("handle")));
        wasi.table.delete(waits).unwrap();
        assert!(wasi.keeps().is_some_and(|why| why.contains("handle") || why.contains("clock")));
    }

    #[test]
    fn what_a_clock_said_binds_a_component_to_its_instance() {
        let mut wasi = WasiState::new(Seed::OF_LOADING);
        monotonic_clock::Host::now(&mut wasi.monotonic()).unwrap();
        assert!(wasi.keeps().is_some_and(|why| why.contains("clock")));
        let mut wasi = WasiState::new(Seed::OF_LOADING);
        let WasiState { context, table, .. } = &mut wasi;
        let mut clocks = WasiClocksCtxView { ctx: context.clocks(), table };
        wall_clock::Host::now(&mut clocks).unwrap();
        assert!(wasi.keeps().is_some_and(|why| why.contains("clock")));
    }
}
