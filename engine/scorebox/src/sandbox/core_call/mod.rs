//! [`CoreCall`]: `score` as a call of the functions that the component lifts it from, without the component around them,
//! where that is all that there is to it (`split::CoreScore` says so). It saves a tenth of the time of an isolated score.
//!
//! What it gives is what the component would give, with the same memory, fuel and log. Whatever is out of the ordinary,
//! a trap, a limit, a value that breaks the contract, a score that takes longer than two ticks of the clock, is [`Missed`]:
//! the caller starts again with a fresh instance of the component, which has the words for it. So nothing here explains an
//! error, and nothing here waits.
//!
//! - `lower`: the case, written into the memory of the guest as the canonical ABI of the component model says.
//! - `lift`: the answer, read from there.
//! - `stack`: the stack that all of this runs on.
//! - `trust`: whether a scorer is called in this way, after it missed.

mod lift;
mod lower;
mod stack;
mod trust;

use wasmtime::{
    Caller, Engine, Extern, ExternType, Func, Instance, InstancePre, Linker, Memory, Module,
    ModuleExport, Store, TypedFunc, ValRaw, ValType,
};

use crate::contract::{LOG_INTERFACE, LogLevel, ScoreResult, ScorerError, bindings::wire};

use super::{code::ScoringCode, split::Source, state::State};

pub(super) use trust::Trust;

/// Nothing came of it; the component has to be asked.
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
    // In the order of the contract's `level`.
    let levels = [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error];
    let level = usize::try_from(level).ok().and_then(|level| levels.get(level));
    let level = level.filter(|_| caller.data().may_call_out);
    let level = *level.ok_or_else(|| wasmtime::format_err!("no level"))?;
    caller.data_mut().log.end(level);
    Ok(())
}

/// The code and the state of a scorer, ready to be made an instance of each.
pub(super) struct CoreCall {
    linker: Linker<State>,
    data: InstancePre<State>,
    code: Module,
    imports: Vec<Import>,
    memory: ModuleExport,
    realloc: Exported<4, 1>,
    score: Exported<1, 1>,
    post_return: Option<Exported<1, 0>>,
}

/// What the code module imports.
enum Import {
    Of(ModuleExport),
    Log(&'static str),
}

/// An exported function that takes so many numbers of 32 bits, and returns one or nothing.
struct Exported<const TAKES: usize, const RETURNS: usize>(ModuleExport);

/// The same function in an instance.
#[derive(Clone, Copy)]
struct Function<const TAKES: usize, const RETURNS: usize>(Func);

impl CoreCall {
    /// Links `code` with the module that contains its state; `None` if they are not the two that belong together.
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
        Some(CoreCall {
            linker: linker.clone(),
            data: linker.instantiate_pre(data).ok()?,
            code: code.clone(),
            imports,
            memory: data.get_export_index(&score.memory)?,
            realloc: Exported::of(code, &score.realloc)?,
            score: Exported::of(code, &score.score)?,
            post_return,
        })
    }

    /// What a fresh instance says about one case.
    ///
    /// # Errors
    /// If the component has to be asked.
    pub(super) fn score(
        &self,
        store: &mut Store<State>,
        input: wire::ScorerInput<'_>,
        transfer_bytes: usize,
    ) -> Result<Result<ScoreResult, ScorerError>, Missed> {
        stack::on_guests_stack(|| self.score_here(store, input, transfer_bytes)).ok_or(Missed)?
    }

    fn score_here(
        &self,
        store: &mut Store<State>,
        input: wire::ScorerInput<'_>,
        transfer_bytes: usize,
    ) -> Result<Result<ScoreResult, ScorerError>, Missed> {
        let (instance, memory) = self.instance(store)?;
        let realloc = self.realloc.within(store, instance)?.typed(store);
        let case = lower::case(&mut Guest { store, memory, realloc }, input)?;
        let answer_at = self.score.within(store, instance)?.number(store, [case])?;
        let answer = lift::answer(memory.data(&*store), answer_at, transfer_bytes)?;
        if let Some(post_return) = &self.post_return {
            let post_return = post_return.within(store, instance)?;
            within_itself(store, |store| post_return.call(store, [answer_at]))?;
        }
        Ok(answer)
    }

    /// A fresh instance of the code, and its memory.
    fn instance(&self, store: &mut Store<State>) -> Result<(Instance, Memory), Missed> {
        let data = self.data.instantiate(&mut *store)?;
        let imports = self.imports.iter().map(|import| match import {
            Import::Of(export) => data.get_module_export(&mut *store, export).ok_or(Missed),
            Import::Log(name) => {
                self.linker.get(&mut *store, LOG_INTERFACE, name).map_err(Missed::from)
            }
        });
        let imports: Vec<Extern> = imports.collect::<Result<_, _>>()?;
        let instance = Instance::new(&mut *store, &self.code, &imports)?;
        let memory = data.get_module_export(&mut *store, &self.memory);
        Ok((instance, memory.and_then(Extern::into_memory).ok_or(Missed)?))
    }
}

impl<const TAKES: usize, const RETURNS: usize> Exported<TAKES, RETURNS> {
    /// The function that `code` exports under this name, if it is of this type.
    fn of(code: &Module, name: &str) -> Option<Exported<TAKES, RETURNS>> {
        const { assert!(TAKES > 0 && RETURNS <= TAKES, "there is a place for all of them") };
        let ExternType::Func(ty) = code.get_export(name)? else { return None };
        let (takes, returns) = (ty.params(), ty.results());
        let fits = takes.len() == TAKES && returns.len() == RETURNS;
        let all_fit = takes.chain(returns).all(|ty| matches!(ty, ValType::I32));
        (fits && all_fit).then_some(())?;
        code.get_export_index(name).map(Exported)
    }

    fn within(
        &self,
        store: &mut Store<State>,
        instance: Instance,
    ) -> Result<Function<TAKES, RETURNS>, Missed> {
        let function = instance.get_module_export(store, &self.0).and_then(Extern::into_func);
        function.map(Function).ok_or(Missed)
    }
}

impl<const TAKES: usize, const RETURNS: usize> Function<TAKES, RETURNS> {
    /// Calls it in its store, as wasmtime calls what a component lifts. What it returns comes first.
    #[expect(
        unsafe_code,
        reason = "a safe call compares the type each time, behind a lock of all threads"
    )]
    fn call(
        self,
        store: &mut Store<State>,
        arguments: [u32; TAKES],
    ) -> wasmtime::Result<[ValRaw; TAKES]> {
        let mut values = arguments.map(ValRaw::u32);
        // SAFETY: the function is the one that its module exports under the name with which `Exported::of` found its type:
        // `TAKES` numbers of 32 bits, and at most as many of them as results. So the numbers are what it takes, the array
        // has room for what it returns, and no number is a reference. `Func` itself refuses the store of another instance.
        // A store that may only be called asynchronously does not get here: `CoreCall::instance` could not instantiate in it.
        unsafe { self.0.call_unchecked(store, &mut values)? };
        Ok(values)
    }
}

impl Function<4, 1> {
    /// The same, to be called as wasmtime calls a function that allocates. How much of the stack is left for the guest depends on
    /// how it is called.
    #[expect(
        unsafe_code,
        reason = "a safe call compares the type each time, behind a lock of all threads"
    )]
    fn typed(self, store: &Store<State>) -> TypedFunc<(u32, u32, u32, u32), u32> {
        // SAFETY: `Exported::of` compared the type: four numbers of 32 bits, and one as the result.
        unsafe { TypedFunc::new_unchecked(store, self.0) }
    }
}

impl<const TAKES: usize> Function<TAKES, 1> {
    /// Calls it, and returns the number that it returns.
    fn number(self, store: &mut Store<State>, arguments: [u32; TAKES]) -> wasmtime::Result<u32> {
        Ok(self.call(store, arguments)?[0].get_u32())
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

/// A guest whose memory is written.
struct Guest<'a> {
    store: &'a mut Store<State>,
    memory: Memory,
    realloc: TypedFunc<(u32, u32, u32, u32), u32>,
}

impl Guest<'_> {
    /// Has the guest allocate `bytes` bytes, and returns where they are.
    fn allocate(&mut self, align: u32, bytes: usize) -> Result<usize, Missed> {
        let size = u32::try_from(bytes).map_err(|_| Missed)?;
        let realloc = &self.realloc;
        let at = within_itself(self.store, |store| realloc.call(store, (0, 0, align, size)))?;
        let aligned = at.is_multiple_of(align);
        usize::try_from(at).ok().filter(|_| aligned).ok_or(Missed)
    }

    fn memory(&mut self) -> &mut [u8] {
        self.memory.data_mut(&mut *self.store)
    }
}

/// So many bytes of a memory.
fn part(memory: &mut [u8], at: usize, bytes: usize) -> Result<&mut [u8], Missed> {
    let end = at.checked_add(bytes).ok_or(Missed)?;
    memory.get_mut(at..end).ok_or(Missed)
}

#[cfg(test)]
mod tests;
