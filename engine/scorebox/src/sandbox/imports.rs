//! What a guest can call: the host's side of the contract's imports and of WASI, based on the state of its instance.
//! What may be called is decided elsewhere: in `capabilities` once, in `grants` for each component.

use std::sync::Arc;

use wasmtime::{
    Engine,
    component::{HasSelf, Linker},
};
use wasmtime_wasi::{WasiCtxView, WasiView, p2::bindings::clocks::monotonic_clock};

use crate::{
    contract::bindings::{Scorer, wire_embedder, wire_judge, wire_log, wire_types, wire_workspace},
    judge::{Recording, Reply, Request},
};

use super::{asking::NoAnswer, cut, state::State, wasi::MonotonicClock};

/// The most bytes of a path that are shown.
const SHOWN_PATH_BYTES: usize = 200;

/// Links everything that any component may import: the contract, and WASI 0.2, which reaches nothing outside.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    Scorer::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    // WASI's own implementation waits for the machine's clock.
    linker.allow_shadowing(true);
    monotonic_clock::add_to_linker::<State, MonotonicClock<'static>>(&mut linker, monotonic)?;
    linker.allow_shadowing(false);
    Ok(linker)
}

fn monotonic(state: &mut State) -> MonotonicClock<'_> {
    state.wasi().monotonic()
}

impl wire_types::Host for State {}

impl wire_log::Host for State {
    fn log(&mut self, level: wire_log::Level, message: String) {
        self.log.push(level.into(), message);
    }

    fn letter(&mut self, letter: char) {
        self.log.push_letter(letter);
    }

    fn end(&mut self, level: wire_log::Level) {
        self.log.end(level.into());
    }
}

impl wire_workspace::Host for State {
    fn paths(&mut self) -> Result<Vec<String>, String> {
        Ok(self.granted.files()?.paths().map(str::to_owned).collect())
    }

    fn read(&mut self, path: String) -> Result<Vec<u8>, String> {
        let content = self.granted.files()?.read(&path).map(<[u8]>::to_vec);
        content.ok_or_else(|| format!("there is no file `{}`", cut(&path, SHOWN_PATH_BYTES)))
    }
}

impl wire_judge::Host for State {
    fn generate(&mut self, request: wire_judge::Request) -> wasmtime::Result<wire_judge::Response> {
        let answers = self.answers(&[request.into()])?;
        let answer = answers.first().ok_or(NoAnswer::Waits)?;
        Ok(answer.as_ref().into())
    }

    fn generate_all(
        &mut self,
        requests: Vec<wire_judge::Request>,
    ) -> wasmtime::Result<Vec<wire_judge::Response>> {
        let requests: Vec<Request> = requests.into_iter().map(Into::into).collect();
        let answers = self.answers(&requests)?;
        Ok(answers.iter().map(|answer| answer.as_ref().into()).collect())
    }

    fn unreadable(&mut self, why: String) -> wasmtime::Result<()> {
        Err(NoAnswer::Unreadable(why).into())
    }
}

impl wire_embedder::Host for State {
    fn embed(
        &mut self,
        texts: Vec<String>,
        model: Option<String>,
    ) -> wasmtime::Result<Vec<Vec<f32>>> {
        let answers = self.answers(&[Request::Embed { texts, model }])?;
        match answers.first().map(|answer| &answer.reply) {
            Some(Reply::Vectors(vectors)) => Ok(vectors.clone()),
            _ => Err(NoAnswer::Waits.into()),
        }
    }
}

impl State {
    fn answers(&mut self, requests: &[Request]) -> Result<Vec<Arc<Recording>>, NoAnswer> {
        let nobody = NoAnswer::Nobody("the scorer asks a judge, and there is none that it may ask");
        self.granted.calls().ok_or(nobody)?.answers(requests)
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.wasi().view()
    }
}
