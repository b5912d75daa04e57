//! [`CoreCall`]: calls `score` through the core functions that the component lifts it from, without the component
//! around them, if the component adds nothing else (`split::CoreScore` determines that). It saves a tenth of the time
//! of an isolated score.
//!
//! The result is what the component would return, with the same memory, fuel and log. Anything unusual, such as a trap,
//! a limit, a value that breaks the contract, or a score that takes longer than two ticks of the clock, is [`Missed`]:
//! the caller starts again with a fresh instance of the component, which reports the error. So nothing here explains an
//! error, and nothing here waits.
//!
//! After a score, its instance is reset to its state before anything ran in it, and waits for the next case, because
//! making an instance takes longer. If it cannot be reset, it is dropped, as after every miss.
//!
//! - `lower`: writes the case into the guest's memory, as in the canonical ABI of the component model.
//! - `lift`: reads the answer from there.
//! - `instance`: an instance, and its functions.
//! - `model`: the initial state of every instance, and resetting one to it.
//! - `written_pages`: which parts of a memory must be reset.
//! - `watching`: makes the kernel track these parts, once an instance was reset a few times.
//! - `kept`: the waiting instances.
//! - `stack`: the stack that all of this runs on.
//! - `trust`: whether a scorer is called in this way, after it missed.

mod instance;
mod kept;
mod lift;
mod lower;
mod model;
mod stack;
mod trust;
mod watching;
mod written_pages;

use std::ops::Range;

use tokio::sync::OwnedSemaphorePermit;
use wasmtime::{
    Caller, Engine, Extern, ExternType, Instance, InstancePre, Linker, Memory, Module,
    ModuleExport, Mutability, Store,
};

use crate::contract::{LOG_INTERFACE, LogLevel, ScoreResult, ScorerError, bindings::wire};

use super::{code::ScoringCode, settings::KEPT_TABLES, split::Source, state::State};

use instance::{CoreInstance, Exported, Realloc};
use kept::Kept;
use model::Model;
use watching::Watch;
use written_pages::PageMap;

pub(super) use kept::Room;
pub(super) use trust::Trust;

/// The most globals of an instance that is kept: each is reset after each score.
const MAX_KEPT_GLOBALS: usize = 16;

/// There is no result; the component must be called.
#[derive(Debug, PartialEq)]
pub(super) struct Missed;

impl From<wasmtime::Error> for Missed {
    fn from(_: wasmtime::Error) -> Missed {
        Missed
    }
}

/// The functions of `log` that a code module may import, as core functions.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    linker.func_wrap(LOG_INTERFACE, LETTER, letter)?.func_wrap(LOG_INTERFACE, END, end)?;
    Ok(linker)
}

const LETTER: &str = "letter";
const END: &str = "end";

fn letter(mut caller: Caller<'_, State>, letter: u32) -> wasmtime::Result<()> {
    let letter = char::from_u32(letter).filter(|_| caller.data().may_call_out);
    let letter = letter.ok_or_else(|| wasmtime::format_err!("no letter"))?;
    caller.data_mut().log.push_letter(letter);
    Ok(())
}

fn end(mut caller: Caller<'_, State>, level: u32) -> wasmtime::Result<()> {
    // The levels are in the order of the contract's `level`.
    let levels = [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error];
    let level = usize::try_from(level).ok().and_then(|level| levels.get(level));
    let level = level.filter(|_| caller.data().may_call_out);
    let level = *level.ok_or_else(|| wasmtime::format_err!("no level"))?;
    caller.data_mut().log.end(level);
    Ok(())
}

/// The code and the state of a scorer, ready to make instances.
pub(super) struct CoreCall {
    linker: Linker<State>,
    data: InstancePre<State>,
    code: Module,
    imports: Vec<Import>,
    memory: ModuleExport,
    /// The mutable globals.
    globals: Vec<ModuleExport>,
    realloc: Exported<4, 1>,
    score: Exported<1, 1>,
    post_return: Option<Exported<1, 0>>,
    /// `None` if no instance of this scorer is kept.
    kept: Option<Kept>,
}

/// What the code module imports: an export of the data module, or a function of the log.
enum Import {
    Of(ModuleExport),
    Log(&'static str),
}

/// The place where one score is computed: a store, with an instance once that is made.
pub(super) struct CoreSandbox {
    /// The watch of its memory, if there is one. It is the first field, so that it ends before the memory is reused.
    watch: Option<Watch>,
    /// How often its instance was reset.
    times_set_back: u32,
    store: Store<State>,
    instance: Option<CoreInstance>,
    /// Its place among the kept instances. It is the last field, so that the place is returned only after the memory.
    place: Option<OwnedSemaphorePermit>,
}

impl CoreSandbox {
    /// Where its memory may have changed. `None` if it cannot be reset, because it grew, because too much changed, or
    /// because making it took fuel, which a score in a kept instance would not pay.
    fn changed(&self, pages: &PageMap) -> Option<impl Iterator<Item = Range<usize>> + use<>> {
        let instance = self.instance.as_ref()?;
        let has_grown = self.store.data().limiter.used() != instance.first_bytes;
        (!has_grown && instance.first_fuel == 0).then_some(())?;
        let memory = instance.memory.data(&self.store);
        pages.written(memory, self.watch.as_ref())
    }

    /// Its store.
    pub(super) fn store(&mut self) -> &mut Store<State> {
        &mut self.store
    }
}

impl CoreCall {
    /// Links `code` with the module that contains its state; `None` if the two do not belong together.
    pub(super) fn new(
        linker: &Linker<State>,
        code: &ScoringCode,
        data: &Module,
    ) -> Option<CoreCall> {
        let ScoringCode { module: code, score } = code;
        let imports = score.imports.iter().map(|source| match source {
            Source::State(name) => data.get_export_index(name).map(Import::Of),
            Source::Letter => Some(Import::Log(LETTER)),
            Source::End => Some(Import::Log(END)),
        });
        let imports: Vec<Import> = imports.collect::<Option<_>>()?;
        (imports.len() == code.imports().len()).then_some(())?;
        let post_return = match &score.post_return {
            None => None,
            Some(name) => Some(Exported::of(code, name)?),
        };
        let changing = data.exports().filter(|export| {
            matches!(export.ty(), ExternType::Global(ty) if ty.mutability() == Mutability::Var)
        });
        let globals = changing.map(|export| data.get_export_index(export.name()));
        let globals: Vec<ModuleExport> = globals.collect::<Option<_>>()?;
        let tables = |module: &Module| module.resources_required().num_tables;
        let can_be_kept = globals.len() <= MAX_KEPT_GLOBALS
            && tables(data).saturating_add(tables(code)) <= KEPT_TABLES;
        Some(CoreCall {
            linker: linker.clone(),
            data: linker.instantiate_pre(data).ok()?,
            code: code.clone(),
            imports,
            memory: data.get_export_index(&score.memory)?,
            globals,
            realloc: Exported::of(code, &score.realloc)?,
            score: Exported::of(code, &score.score)?,
            post_return,
            kept: can_be_kept.then(Kept::default),
        })
    }

    /// The sandbox for the next score, within the limits of `state`: with an instance that was reset, or without one,
    /// which the score then makes.
    pub(super) fn sandbox(&self, engine: &Engine, mut state: State) -> CoreSandbox {
        let kept = self.kept.as_ref().and_then(Kept::take);
        let kept = kept.filter(|kept| {
            let first = kept.instance.as_ref().map(|instance| instance.first_bytes);
            first.is_some_and(|bytes| state.limiter.begin_with(bytes))
        });
        if let Some(mut kept) = kept {
            *kept.store.data_mut() = state;
            return kept;
        }
        let mut store = Store::new(engine, state);
        store.limiter(|state| &mut state.limiter);
        CoreSandbox { watch: None, times_set_back: 0, store, instance: None, place: None }
    }

    /// Scores one case.
    ///
    /// # Errors
    /// If the component must be called instead.
    pub(super) fn score(
        &self,
        sandbox: &mut CoreSandbox,
        input: wire::ScorerInput<'_>,
        transfer_bytes: usize,
    ) -> Result<Result<ScoreResult, ScorerError>, Missed> {
        let score = || self.score_here(sandbox, input, transfer_bytes);
        stack::on_guests_stack(score).ok_or(Missed)?
    }

    fn score_here(
        &self,
        sandbox: &mut CoreSandbox,
        input: wire::ScorerInput<'_>,
        transfer_bytes: usize,
    ) -> Result<Result<ScoreResult, ScorerError>, Missed> {
        let CoreSandbox { store, instance, .. } = sandbox;
        let instance = match instance {
            Some(instance) => instance,
            None => instance.insert(self.instance(store)?),
        };
        let CoreInstance { memory, realloc, score, post_return, .. } = instance;
        let case = lower::case(&mut Guest { store, memory: *memory, realloc }, input)?;
        let answer_at = score.number(store, [case])?;
        let answer = lift::answer(memory.data(&*store), answer_at, transfer_bytes)?;
        if let Some(post_return) = post_return {
            within_itself(store, |store| post_return.call(store, [answer_at]))?;
        }
        Ok(answer)
    }

    /// Keeps the instance in which a score was computed without a miss, reset to its initial state if possible, for the
    /// next case.
    pub(super) fn keep(&self, sandbox: CoreSandbox, room: &Room) {
        let Some(kept) = &self.kept else { return };
        let model = |place| {
            let state = (&self.memory, self.globals.as_slice());
            Model::new(self.code.engine(), self.data.module(), state, place)
        };
        kept.put(sandbox, room, model);
    }

    /// Makes a fresh instance.
    fn instance(&self, store: &mut Store<State>) -> Result<CoreInstance, Missed> {
        let fuel = store.get_fuel()?;
        let data = self.data.instantiate(&mut *store)?;
        let imports = self.imports.iter().map(|import| match import {
            Import::Of(export) => data.get_module_export(&mut *store, export).ok_or(Missed),
            Import::Log(name) => {
                self.linker.get(&mut *store, LOG_INTERFACE, name).map_err(Missed::from)
            }
        });
        let imports: Vec<Extern> = imports.collect::<Result<_, _>>()?;
        let code = Instance::new(&mut *store, &self.code, &imports)?;
        let (memory, globals) =
            instance::state_of(store, data, (&self.memory, &self.globals)).ok_or(Missed)?;
        let post_return = self.post_return.as_ref();
        Ok(CoreInstance {
            memory,
            globals,
            realloc: self.realloc.within(store, code)?.typed(store),
            score: self.score.within(store, code)?,
            post_return: post_return.map(|export| export.within(store, code)).transpose()?,
            first_bytes: store.data().limiter.used(),
            first_fuel: fuel.saturating_sub(store.get_fuel()?),
        })
    }
}

/// Calls a function that must not call the host.
fn within_itself<Answer>(
    store: &mut Store<State>,
    call: impl FnOnce(&mut Store<State>) -> wasmtime::Result<Answer>,
) -> Result<Answer, Missed> {
    store.data_mut().may_call_out = false;
    let answer = call(store)?;
    store.data_mut().may_call_out = true;
    Ok(answer)
}

/// A guest into whose memory the case is written.
struct Guest<'a> {
    store: &'a mut Store<State>,
    memory: Memory,
    realloc: &'a Realloc,
}

impl Guest<'_> {
    /// Makes the guest allocate `bytes` bytes, and returns their address.
    fn allocate(&mut self, align: u32, bytes: usize) -> Result<usize, Missed> {
        let size = u32::try_from(bytes).map_err(|_| Missed)?;
        let realloc = self.realloc;
        let at = within_itself(self.store, |store| realloc.call(store, (0, 0, align, size)))?;
        let aligned = at.is_multiple_of(align);
        usize::try_from(at).ok().filter(|_| aligned).ok_or(Missed)
    }

    fn memory(&mut self) -> &mut [u8] {
        self.memory.data_mut(&mut *self.store)
    }
}

/// A range of a memory.
fn part(memory: &mut [u8], at: usize, bytes: usize) -> Result<&mut [u8], Missed> {
    let end = at.checked_add(bytes).ok_or(Missed)?;
    memory.get_mut(at..end).ok_or(Missed)
}

#[cfg(test)]
mod tests;
