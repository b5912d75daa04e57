//! One guarded call of a guest: its share of the budget, a store with all limits set, its clock, what it printed, what
//! it cost, and what a failure means. This is the same for every export; the calls themselves are in `load`, `score`
//! and `summarize`.

use std::{
    mem,
    pin::pin,
    time::{Duration, Instant},
};

use wasmtime::{Store, UpdateDeadline, component::Instance};

use crate::contract::{LogLine, ScorerError, ScorerInfo};

use super::{
    ErrorKind, Limits, ScoreError,
    admission::Admitted,
    capabilities::Granted,
    clock::{Clock, TimeIsUp},
    fault,
    host::{Shared, TICK},
    image::{Fault, Image},
    settings::COMPONENT_HANDLES,
    state::State,
    wasi::Seed,
};

/// A guest that answers within this many ticks of the clock need not yield: the first tick may come at once.
pub(super) const BRIEF_TICKS: u32 = 2;
/// The longest time that these ticks take, if the machine has time for all threads.
pub(super) const BRIEF_TIME: Duration = TICK.saturating_mul(BRIEF_TICKS);

/// A call of a guest.
pub(super) trait GuestCall {
    /// The guest's answer, unchecked.
    type Answer;

    /// The export that errors name; `None` if the errors are those of a score.
    const EXPORT: Option<&'static str>;

    /// Makes an instance and calls it.
    fn ask(
        self,
        store: &mut Store<State>,
    ) -> impl Future<Output = Result<Self::Answer, Fault>> + Send;
}

/// A guest in its sandbox, with its share of the budget. Both end with this value.
pub(super) struct Guest<'a> {
    store: Store<State>,
    limits: &'a Limits,
    started: Instant,
    timed_out: bool,
    // The last field: the share is returned only after the memory is.
    _admitted: Admitted<'a>,
}

/// What a guest used, and what it logged.
pub(super) struct Cost {
    /// `None` if the time-out ended the call: then wasmtime does not count the fuel.
    pub(super) fuel: Option<u64>,
    pub(super) memory_bytes: u64,
    pub(super) duration: Duration,
    pub(super) log: Vec<LogLine>,
    /// Its share of the capabilities.
    pub(super) granted: Granted,
}

impl Cost {
    /// The cost of a guest that was started at `started`; takes its log and its share of the capabilities.
    pub(super) fn of(store: &mut Store<State>, limits: &Limits, started: Instant) -> Cost {
        let left = store.get_fuel().ok();
        let state = store.data_mut();
        Cost {
            fuel: left.map(|left| limits.fuel.saturating_sub(left)),
            memory_bytes: state.limiter.peak_bytes(),
            duration: started.elapsed(),
            granted: mem::take(&mut state.granted),
            log: mem::take(&mut state.log).into_lines(),
        }
    }
}

/// Sets the guest's fuel, and the number of ticks until it yields or traps.
pub(super) fn bound(store: &mut Store<State>, limits: &Limits, ticks: u32) {
    // Fuel is enabled in every engine that this program makes, so this cannot fail; if it were off, the score would
    // trap.
    let _ = store.set_fuel(limits.fuel);
    store.set_epoch_deadline(ticks.into());
}

impl<'a> Guest<'a> {
    /// Waits for a share of the budget; nothing runs yet.
    pub(super) async fn admit(shared: &'a Shared, limits: &'a Limits) -> Guest<'a> {
        let clock = Clock::start(limits.timeout);
        Guest::admit_with(shared, limits, (Seed::OF_LOADING, clock), Granted::default()).await
    }

    /// The same, for a case, with a clock that is stopped until the guest has its share.
    pub(super) async fn admit_with(
        shared: &'a Shared,
        limits: &'a Limits,
        (seed, clock): (Seed, Clock),
        granted: Granted,
    ) -> Guest<'a> {
        let admitted = clock.stopped(shared.admission.enter(limits)).await;
        let mut store = Store::new(&shared.engine, State::new(limits, (seed, clock), granted));
        store.limiter(|state| &mut state.limiter);
        bound(&mut store, limits, 1);
        store.set_hostcall_fuel(limits.transfer_bytes());
        store.set_max_component_handles(COMPONENT_HANDLES);
        store.epoch_deadline_callback(|context| {
            context.data().clock.check()?;
            // This gives other tasks their turn, and lets a time-out on this thread be noticed.
            Ok(UpdateDeadline::Yield(1))
        });
        let started = Instant::now();
        Guest { started, store, limits, timed_out: false, _admitted: admitted }
    }

    /// Calls the guest, within its limits; `check` checks what it returned.
    ///
    /// # Errors
    /// The failure of the guest, the error that it returned, or what is wrong with its answer.
    pub(super) async fn ask<C: GuestCall, T>(
        &mut self,
        call: C,
        check: impl FnOnce(C::Answer) -> Result<T, ScoreError>,
    ) -> Result<T, ScoreError> {
        let clock = self.store.data().clock.clone();
        let asked = {
            let call = pin!(call.ask(&mut self.store));
            clock.within(call).await
        };
        self.store.data_mut().collect_printed();
        let checked = match asked {
            Err(TimeIsUp) => {
                self.timed_out = true;
                Err(fault::timed_out(self.limits))
            }
            Ok(Err(Fault::Refused(message))) => {
                let message = super::cut(&message, self.limits.reason_bytes);
                return Err(ScoreError::new(ErrorKind::InvalidConfig, message));
            }
            Ok(Err(Fault::Scorer(error))) => Err(scorers_own(error, self.limits)),
            Ok(Err(Fault::Mismatch(error))) => Err(fault::mismatch(&error)),
            Ok(Err(Fault::Wasm(error))) => {
                self.timed_out = error.is::<TimeIsUp>();
                Err(fault::of_call(&error, self.store.data(), self.limits))
            }
            Ok(Ok(answer)) => check(answer),
        };
        checked.map_err(|error| match C::EXPORT {
            Some(export) => fault::during(export, error),
            None => error,
        })
    }

    /// What the guest used.
    pub(super) fn cost(mut self) -> Cost {
        let cost = Cost::of(&mut self.store, self.limits, self.started);
        Cost { fuel: cost.fuel.filter(|_| !self.timed_out), ..cost }
    }

    /// The store, for freezing what the guest left in it.
    pub(super) fn store(&mut self) -> &mut Store<State> {
        &mut self.store
    }
}

/// The scorer's own error, cut to its limits.
pub(super) fn scorers_own(error: ScorerError, limits: &Limits) -> ScoreError {
    let (kind, message) = match error {
        ScorerError::InvalidInput(message) => (ErrorKind::InvalidInput, message),
        ScorerError::Failed(message) => (ErrorKind::Failed, message),
    };
    ScoreError::new(kind, super::cut(&message, limits.reason_bytes))
}

/// Calls `describe`: what the scorer reports about itself.
pub(super) struct Describe<'a>(pub(super) &'a Image);

impl GuestCall for Describe<'_> {
    type Answer = ScorerInfo;

    const EXPORT: Option<&'static str> = Some("describe");

    async fn ask(self, store: &mut Store<State>) -> Result<ScorerInfo, Fault> {
        let (_, scorer) = self.0.start(store, None).await?;
        Ok(scorer.scorebox_scorer_scoring().call_describe(store).await?.into())
    }
}

/// Calls `configure`, and leaves the guest in the resulting state.
pub(super) struct Configure<'a> {
    pub(super) image: &'a Image,
    pub(super) config: &'a str,
}

impl GuestCall for Configure<'_> {
    type Answer = Instance;

    const EXPORT: Option<&'static str> = Some("configure");

    async fn ask(self, store: &mut Store<State>) -> Result<Instance, Fault> {
        let (instance, _) = self.image.start(store, Some(self.config)).await?;
        Ok(instance)
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::component::{Component, Linker};

    use crate::sandbox::{Compiler, Sandbox, SandboxOptions};

    use super::*;

    fn options() -> SandboxOptions {
        SandboxOptions { compiler: Compiler::InProcess, ..SandboxOptions::default() }
    }

    /// A guest that computes without end.
    struct Spins;

    impl GuestCall for Spins {
        type Answer = ();

        const EXPORT: Option<&'static str> = None;

        async fn ask(self, store: &mut Store<State>) -> Result<(), Fault> {
            let spins = r#"(component
                (core module $m (func (export "f") (loop $l (br $l))))
                (core instance $i (instantiate $m))
                (func (export "f") (canon lift (core func $i "f"))))"#;
            let component =
                Component::from_binary(store.engine(), &wat::parse_str(spins).unwrap())?;
            let linker: Linker<State> = Linker::new(store.engine());
            let instance = linker.instantiate_async(&mut *store, &component).await?;
            let f = instance.get_typed_func::<(), ()>(&mut *store, "f")?;
            Ok(f.call_async(&mut *store, ()).await?)
        }
    }

    /// A guest that refuses its configuration when it should summarize a run.
    struct Refuses;

    impl GuestCall for Refuses {
        type Answer = ();

        const EXPORT: Option<&'static str> = Some("summarize");

        async fn ask(self, _store: &mut Store<State>) -> Result<(), Fault> {
            Err(Fault::Refused("no such key".to_owned()))
        }
    }

    #[tokio::test]
    async fn a_refused_configuration_is_one_whatever_is_asked() {
        let sandbox = Sandbox::new(&options()).unwrap();
        let limits = Limits::default();
        let mut guest = Guest::admit(sandbox.shared(), &limits).await;
        let error = guest.ask(Refuses, Ok).await.unwrap_err();
        assert_eq!(error.to_string(), "invalid-config: no such key");
    }

    #[tokio::test]
    async fn a_guest_that_computes_without_end_is_ended_by_its_clock() {
        let sandbox = Sandbox::new(&options()).unwrap();
        let timeout = Duration::from_millis(20);
        let limits = Limits { fuel: u64::MAX, timeout, ..Limits::default() };
        let mut guest = Guest::admit(sandbox.shared(), &limits).await;
        let error = guest.ask(Spins, Ok).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::TimedOut);
        assert_eq!(error.message, "no answer within 20 ms; the scorer was stopped");
        assert_eq!(guest.cost().fuel, None);
    }
}
