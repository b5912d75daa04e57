//! Makes a linked module smaller without changing what it computes: numbers use as few bytes as possible, functions
//! with equal code are kept once, calls of a function that only calls another one go there directly, and the code that
//! frees a score is removed. It does not change data, and does not optimize inside a function; the compiler did.
//! `functions` reads the module.

mod functions;

use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
};

use wasm_encoder::{
    CodeSection, ExportSection, Function, FunctionSection, Module, NameMap, NameSection,
    reencode::{self, Error, Reencode},
};
use wasmparser::{
    CodeSectionReader, Export, FunctionBody, FunctionSectionReader, Name, Operator, Parser,
};

use self::functions::Functions;
use super::BuildError;

/// The name of the export that frees the score after the engine has read it. The sandbox ends then, so freeing would be
/// wasted work. (What `describe` and `configure` leave would be in every score's memory.)
const FREES_SCORE: [&str; 2] = ["cabi_post_scorebox:scorer/scoring@", "#score"];

type Result<T> = std::result::Result<T, Error<Infallible>>;

/// The smaller module.
///
/// Names of functions move with them; of equal functions, the first one's name stays. A backtrace lacks the functions
/// that only called another one.
pub(super) fn lean(module: &[u8]) -> std::result::Result<Vec<u8>, BuildError> {
    let smaller = || {
        let functions = Functions::read(module)?;
        let mut plan = Plan::of_all(&functions);
        while plan.send_on(&functions)? | plan.merge(&functions)? {}
        let mut kept = Kept::of(plan, &functions)?;
        let mut smaller = Module::new();
        kept.parse_core_module(&mut smaller, Parser::new(0), module)?;
        Ok(smaller.finish())
    };
    smaller().map_err(|error: Error| BuildError::Component(error.to_string()))
}

fn frees_score(export: &str) -> bool {
    let [before, after] = FREES_SCORE;
    export.starts_with(before) && export.ends_with(after)
}

/// Which function is called instead of each function, and which functions do nothing.
struct Plan {
    /// By index: the function itself, or another one, which is not replaced.
    instead: Vec<u32>,
    /// Functions without parameters, results and effects: calls of them are removed.
    idle: HashSet<u32>,
}

impl Plan {
    fn of_all(functions: &Functions<'_>) -> Self {
        let instead = (0..functions.count() as u32).collect();
        Self { instead, idle: HashSet::new() }
    }

    fn stands(&self, index: u32) -> bool {
        self.instead[index as usize] == index
    }

    /// Replaces calls of `index` with calls of `other`; neither was replaced before.
    fn replace(&mut self, index: u32, other: u32) {
        for each in &mut self.instead {
            if *each == index {
                *each = other;
            }
        }
    }

    /// Finds functions that do nothing, or only call another one with their own arguments. Returns whether it found a
    /// new one.
    fn send_on(&mut self, functions: &Functions<'_>) -> Result<bool> {
        let mut found = false;
        for (index, kind, body) in functions.own() {
            if !self.stands(index) || body.get_locals_reader()?.get_count() != 0 {
                continue;
            }
            let mut reader = body.get_operators_reader()?;
            let count = functions.parameters[kind as usize];
            let mut parameters = 0..count;
            let called = loop {
                match reader.read()? {
                    Operator::LocalGet { local_index }
                        if parameters.next() == Some(local_index) => {}
                    Operator::Call { function_index } if parameters.is_empty() => {
                        let called = self.instead[function_index as usize];
                        let ends = matches!(reader.read()?, Operator::End);
                        break ends.then_some(called);
                    }
                    // A valid function without parameters that returns at once has no results either.
                    Operator::Return | Operator::End if count == 0 => {
                        found |= self.idle.insert(index);
                        break None;
                    }
                    _ => break None,
                }
            };
            if let Some(called) = called.filter(|called| *called != index) {
                self.replace(index, called);
                found = true;
            }
        }
        Ok(found)
    }

    /// Finds functions with the same type and code. Returns whether it found a new one.
    fn merge(&mut self, functions: &Functions<'_>) -> Result<bool> {
        let mut first: HashMap<(u32, Vec<u8>), u32> = HashMap::new();
        let mut equal = Vec::new();
        for (index, kind, body) in functions.own() {
            if self.stands(index) {
                let code = self.encoded(body, |index| index)?.into_raw_body();
                let first = *first.entry((kind, code)).or_insert(index);
                if first != index {
                    equal.push((index, first));
                }
            }
        }
        for (index, first) in &equal {
            self.replace(*index, *first);
        }
        Ok(!equal.is_empty())
    }

    /// A function's code, with the functions' new places instead of their indices.
    fn encoded(&self, body: &FunctionBody<'_>, place: impl Fn(u32) -> u32) -> Result<Function> {
        let mut calls = Calls { plan: self, place };
        let mut function = calls.new_function_with_parsed_locals(body)?;
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            match operator {
                Operator::Call { function_index } if self.does_nothing(function_index) => {}
                _ => drop(function.instruction(&calls.instruction(operator)?)),
            }
        }
        Ok(function)
    }

    fn does_nothing(&self, index: u32) -> bool {
        self.idle.contains(&self.instead[index as usize])
    }
}

/// Writes code with calls redirected according to the plan.
struct Calls<'p, P> {
    plan: &'p Plan,
    place: P,
}

impl<P: Fn(u32) -> u32> Reencode for Calls<'_, P> {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32> {
        Ok((self.place)(self.plan.instead[index as usize]))
    }
}

/// Writes a module with the functions that can still be called.
struct Kept {
    plan: Plan,
    imported: u32,
    /// By old index: the new index, if the function is kept.
    places: Vec<Option<u32>>,
    /// The old index of the function whose code is read next.
    next: u32,
}

impl Kept {
    fn of(plan: Plan, functions: &Functions<'_>) -> Result<Self> {
        let imported = functions.imported;
        let mut is_kept = vec![false; functions.count()];
        is_kept[..imported as usize].fill(true);
        let mut found: Vec<u32> = functions.roots.clone();
        while let Some(index) = found.pop() {
            let index = plan.instead[index as usize];
            if index < imported && is_kept[index as usize] {
                continue;
            }
            if std::mem::replace(&mut is_kept[index as usize], true) {
                continue;
            }
            for operator in functions.bodies[(index - imported) as usize].get_operators_reader()? {
                match operator? {
                    Operator::Call { function_index } if plan.does_nothing(function_index) => {}
                    Operator::Call { function_index }
                    | Operator::ReturnCall { function_index }
                    | Operator::RefFunc { function_index } => found.push(function_index),
                    _ => {}
                }
            }
        }
        let mut next = 0..;
        let places = is_kept.iter().map(|kept| if *kept { next.next() } else { None }).collect();
        Ok(Self { plan, imported, places, next: imported })
    }

    fn place(&self, index: u32) -> Option<u32> {
        self.places[index as usize]
    }
}

impl Reencode for Kept {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32> {
        // Only reachable functions are written, and all of these are kept.
        Ok(self.place(self.plan.instead[index as usize]).unwrap_or(u32::MAX))
    }

    fn parse_function_section(
        &mut self,
        kept: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<()> {
        for (index, kind) in (self.imported..).zip(section) {
            let kind = kind?;
            if self.place(index).is_some() {
                kept.function(kind);
            }
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        kept: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<()> {
        for body in section {
            let body = body?;
            if self.place(self.next).is_some() {
                let place = |index| self.place(index).unwrap_or(u32::MAX);
                kept.function(&self.plan.encoded(&body, place)?);
            }
            self.next += 1;
        }
        Ok(())
    }

    fn parse_export(&mut self, exports: &mut ExportSection, export: Export<'_>) -> Result<()> {
        match frees_score(export.name) {
            true => Ok(()),
            false => reencode::utils::parse_export(self, exports, export),
        }
    }

    fn parse_custom_name_subsection(
        &mut self,
        names: &mut NameSection,
        section: Name<'_>,
    ) -> Result<()> {
        // Other names are not kept anyway.
        if let Name::Function(all) = section {
            let mut kept = NameMap::new();
            for naming in all {
                let naming = naming?;
                if let Some(place) = self.place(naming.index) {
                    kept.append(place, naming.name);
                }
            }
            names.functions(&kept);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasmparser::Payload;
    use wasmtime::{Engine, Instance, Store};

    use super::*;

    const MODULE: &str = r#"(module
        (type $one (func (param i32) (result i32)))
        (import "" "log" (func $log (param i32)))
        (memory (export "memory") 1)
        (global $count (mut i32) (i32.const 0))
        (table 4 4 funcref)
        (elem (i32.const 0) $same $once_more $led $apart)
        (func $idle (return) unreachable)
        (func $also_idle (call $idle))
        (func $twice (param i32) (result i32) (i32.mul (local.get 0) (i32.const 2)))
        (func $same (param i32) (result i32) (i32.mul (local.get 0) (i32.const 2)))
        ;; Equal once those that they call are.
        (func $calls (param i32) (result i32) (i32.add (call $twice (local.get 0)) (i32.const 1)))
        (func $once_more (param i32) (result i32)
            (i32.add (call $same (local.get 0)) (i32.const 1)))
        (func $led (param i32) (result i32) (call $calls (local.get 0)))
        (func $logs (param i32) (call $log (local.get 0)))
        ;; These only look so: it swaps, it returns what it was given, its type is another, and it calls itself.
        (func $less (param i32 i32) (result i32) (i32.sub (local.get 0) (local.get 1)))
        (func $swaps (param i32 i32) (result i32) (call $less (local.get 1) (local.get 0)))
        (func $given (param i32) (result i32) (local.get 0))
        (func $apart (param i64) (result i64) (local.get 0))
        (func $endless (param i32) (result i32) (call $endless (local.get 0)))
        (func $unused (result i32) (i32.const 70000))
        (func (export "run") (param i32) (result i32)
            (call $also_idle)
            (call $logs (local.get 0))
            (i32.add
                (call $swaps (call $led (local.get 0)) (call $given (call $same (local.get 0))))
                (call_indirect (type $one) (local.get 0) (i32.const 1))))
        (func (export "endless") (param i32) (result i32) (call $endless (local.get 0)))
        (func (export "cabi_post_scorebox:scorer/scoring@0.1.0#score") (param i32)
            (drop (call $unused)))
        (func (export "cabi_post_scorebox:scorer/scoring@0.1.0#describe") (param i32)))"#;

    fn names(module: &[u8]) -> Vec<(u32, String)> {
        let mut all = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            let Payload::CustomSection(section) = payload.unwrap() else { continue };
            let wasmparser::KnownCustom::Name(names) = section.as_known() else { continue };
            for name in names {
                let Name::Function(map) = name.unwrap() else { continue };
                all.extend(map.into_iter().map(|each| {
                    let each = each.unwrap();
                    (each.index, each.name.to_owned())
                }));
            }
        }
        all
    }

    /// What the export `run` returns and logs.
    fn run(module: &[u8], argument: i32) -> (i32, Vec<i32>) {
        let engine = Engine::default();
        let mut store = Store::new(&engine, Vec::new());
        let module = wasmtime::Module::new(&engine, module).unwrap();
        let log = wasmtime::Func::wrap(
            &mut store,
            |mut caller: wasmtime::Caller<'_, Vec<i32>>, logged: i32| {
                caller.data_mut().push(logged);
            },
        );
        let instance = Instance::new(&mut store, &module, &[log.into()]).unwrap();
        let run = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap();
        (run.call(&mut store, argument).unwrap(), store.into_data())
    }

    #[test]
    fn a_lean_module_computes_the_same_with_fewer_functions() {
        let module = wat::parse_str(MODULE).unwrap();
        let small = lean(&module).unwrap();
        wasmparser::validate(&small).unwrap();
        assert!(small.len() < module.len());
        for argument in [0, 7, -3] {
            assert_eq!(run(&small, argument), run(&module, argument));
        }
        let kept: Vec<String> = names(&small).into_iter().map(|(_, name)| name).collect();
        assert_eq!(
            kept,
            ["log", "twice", "calls", "less", "swaps", "given", "apart", "endless"],
            "those without a name are exports"
        );
        let before: Vec<String> = names(&module).into_iter().map(|(_, name)| name).collect();
        assert_eq!(before.len(), 15);
    }

    #[test]
    fn nothing_is_left_to_do_in_a_lean_module() {
        let small = lean(&wat::parse_str(MODULE).unwrap()).unwrap();
        assert_eq!(lean(&small).unwrap(), small);
    }

    #[test]
    fn only_what_frees_a_score_is_no_longer_exported() {
        let small = lean(&wat::parse_str(MODULE).unwrap()).unwrap();
        let module = wasmtime::Module::new(&Engine::default(), small).unwrap();
        let exports: Vec<&str> = module.exports().map(|export| export.name()).collect();
        let describe = "cabi_post_scorebox:scorer/scoring@0.1.0#describe";
        assert_eq!(exports, ["memory", "run", "endless", describe]);
    }

    #[test]
    fn numbers_take_as_few_bytes_as_they_need() {
        // A linker writes calls and constants like this: with room for any number.
        let code = b"\x0e\0\x10\x80\x80\x80\x80\0\x41\x87\x80\x80\x80\0\x0b";
        let mut module = b"\0asm\x01\0\0\0\x01\x08\x02\x60\0\0\x60\0\x01\x7f".to_vec();
        module.extend(b"\x02\x05\x01\0\0\0\0\x03\x02\x01\x01\x07\x05\x01\x01f\0\x01");
        module.extend(b"\x0a\x10\x01");
        module.extend(code);
        wasmparser::validate(&module).unwrap();
        let small = lean(&module).unwrap();
        assert!(small.ends_with(b"\x0a\x08\x01\x06\0\x10\0\x41\x07\x0b"), "{small:?}");
    }
}
