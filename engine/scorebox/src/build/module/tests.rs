//! Tests of `module`, on hand-written modules: what is refused, and what replaces WASI preview 1.

use wasmparser::{Parser, Payload};
use wasmtime::{Caller, Engine, Extern, Instance, Memory, Module, Store};

use super::*;

const LOG: &str = "scorebox:scorer/log@0.1.0";

/// A module that is a complete scorer together with `more`: imports come first, then what follows them.
fn scorer(imports: &str, more: &str) -> Vec<u8> {
    let text = format!(
        r#"(module {imports}
            (memory (export "memory") 1)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
            (func (export "describe") (result i32) (i32.const 1024))
            (func (export "scorebox:scorer/scoring@0.1.0#configure") (param i32 i32) (result i32)
                (i32.const 1024))
            {more})"#
    );
    wat::parse_str(text).unwrap()
}

/// A scorer with `body` as its function `score`.
fn scoring(imports: &str, body: &str) -> Vec<u8> {
    scorer(imports, &format!(r#"(func (export "score") (param i32) (result i32) {body})"#))
}

fn refused(module: &[u8]) -> String {
    match component_of_module(module).unwrap_err() {
        BuildError::Module(error) => error.to_string(),
        error => panic!("{error}"),
    }
}

#[test]
fn a_module_that_exports_the_contract_is_made_a_component() {
    let component = component_of_module(&scoring("", "(i32.const 1024)")).unwrap();
    wasmparser::validate(&component).unwrap();
    assert!(Parser::is_component(&component));
    assert_eq!(
        component_of_module(&component).unwrap_err().to_string(),
        "the module cannot be made a component: it is a component already"
    );
    // A summary is exported only by a scorer that has one.
    let text = String::from_utf8_lossy(&component);
    assert!(text.contains("scorebox:scorer/scoring@0.1.0") && !text.contains("scorer/summary"));
    let summary = r#"(func (export "score") (param i32) (result i32) (i32.const 1024))
        (func (export "summarize") (param i32 i32) (result i32) (i32.const 1024))"#;
    let component = component_of_module(&scorer("", summary)).unwrap();
    assert!(String::from_utf8_lossy(&component).contains("scorebox:scorer/summary@0.1.0"));
}

#[test]
fn what_the_contract_needs_and_the_module_lacks_is_named() {
    assert_eq!(
        refused(&scorer("", "")),
        "it does not export `scorebox:scorer/scoring@0.1.0#score`"
    );
    assert_eq!(
        refused(&wat::parse_str("(module)").unwrap()),
        "it does not export `scorebox:scorer/scoring@0.1.0#configure`, \
         `scorebox:scorer/scoring@0.1.0#describe`, `scorebox:scorer/scoring@0.1.0#score`, \
         `cabi_realloc`, `memory`"
    );
    assert_eq!(
        refused(&scorer("", r#"(func (export "score") (param i64) (result i32) (i32.const 0))"#)),
        "it exports `scorebox:scorer/scoring@0.1.0#score` with other parameters or results than the \
         contract has"
    );
}

#[test]
fn another_version_of_the_contract_is_named() {
    let other = r#"(func (export "scorebox:scorer/scoring@0.2.0#score") (param i32) (result i32)
        (i32.const 0))"#;
    let expected = "it is built against the contract 0.2.0; this scorebox has 0.1.0";
    assert_eq!(refused(&scorer("", other)), expected);
    let import = r#"(import "scorebox:scorer/log@0.2.0" "letter" (func (param i32)))"#;
    assert_eq!(refused(&scoring(import, "(i32.const 0)")), expected);
}

#[test]
fn imports_that_no_scorer_has_are_named() {
    let imports = r#"
        (import "env" "emscripten_memcpy_big" (func (param i32 i32 i32)))
        (import "scorebox:scorer/log@0.1.0" "log" (func (param i32 i32 i32)))
        (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "thread_spawn" (func (param i32) (result i32)))
        (import "wasi:cli/environment@0.2.0" "get-arguments" (func (param i32)))"#;
    assert_eq!(
        refused(&scoring(imports, "(i32.const 0)")),
        "it imports `env.emscripten_memcpy_big`, `wasi_snapshot_preview1.thread_spawn`, \
         `wasi:cli/environment@0.2.0.get-arguments`, which a scorer does not have"
    );
    assert_eq!(
        refused(&scoring(r#"(import "env" "table" (table 1 funcref))"#, "(i32.const 0)")),
        "it imports `env.table`, which a scorer does not have"
    );
    let wrong = r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i64) (result i32)))"#;
    assert_eq!(
        refused(&scoring(wrong, "(i32.const 0)")),
        "it imports `wasi_snapshot_preview1.fd_write` with other parameters or results than it has here"
    );
    let many: String = (0..20).map(|number| format!(r#"(import "m" "{number}" (func))"#)).collect();
    let message = refused(&scoring(&many, "(i32.const 0)"));
    assert!(message.contains("`m.7` and 12 more, which"), "{message}");
}

#[test]
fn bytes_that_are_not_a_module_are_refused() {
    for (bytes, expected) in [
        (&b""[..], "it is not a valid WebAssembly module: unexpected end"),
        (b"\0asm\x01\0\0\0\x01", "it is not a valid WebAssembly module: "),
        (b"#!/bin/sh\n", "it is not a valid WebAssembly module: magic header not detected"),
    ] {
        let message = refused(bytes);
        assert!(message.starts_with(expected), "{message}");
    }
    let shared = wat::parse_str(r#"(module (memory 1 1 shared))"#).unwrap();
    assert!(refused(&shared).contains("threads must be enabled"));
    let wide = wat::parse_str(r#"(module (memory i64 1))"#).unwrap();
    assert!(refused(&wide).contains("memory64 must be enabled"));
    let large = vec![0; MAX_BYTES + 1];
    assert_eq!(refused(&large), "it has 67108865 bytes, more than 67108864");
}

#[test]
fn preview_1_is_its_text_assembled() {
    let text = wat::parse_str(include_str!("preview1.wat")).unwrap();
    assert_eq!(
        text,
        include_bytes!("preview1.wasm"),
        "assemble it again: wasm-tools parse preview1.wat -o preview1.wasm"
    );
    // All 46 functions of preview 1, and those of AssemblyScript.
    let functions = preview1::Preview1::functions();
    let (assemblyscript, preview_1): (Vec<_>, Vec<_>) =
        functions.keys().partition(|name| name.starts_with("env."));
    assert_eq!((preview_1.len(), assemblyscript.len()), (46, 7));
}

/// A module, merged and instantiated, and what it logs: level and message.
struct Running {
    store: Store<Logged>,
    instance: Instance,
    memory: Memory,
}

#[derive(Default)]
struct Logged {
    letters: String,
    messages: Vec<(i32, String)>,
}

impl Running {
    fn new(module: &[u8]) -> Running {
        let contract = Contract::read().unwrap().without_summary();
        let outside = Outside::read(module).unwrap();
        let plan = outside.plan(&contract).unwrap();
        let merged = merge::merge(module, &outside, &plan).unwrap();
        wasmparser::validate(&merged).unwrap();
        let merged = names::shorten(&lean(&merged).unwrap()).unwrap();
        wasmparser::validate(&merged).unwrap();
        let engine = Engine::default();
        let module = Module::new(&engine, merged).unwrap();
        let mut store = Store::new(&engine, Logged::default());
        let imports: Vec<Extern> = module
            .imports()
            .map(|import| {
                assert_eq!(import.module(), LOG);
                let function = match import.name() {
                    "letter" => wasmtime::Func::wrap(
                        &mut store,
                        |mut caller: Caller<'_, Logged>, letter: u32| {
                            let letter = char::from_u32(letter).unwrap();
                            caller.data_mut().letters.push(letter);
                        },
                    ),
                    _ => wasmtime::Func::wrap(
                        &mut store,
                        |mut caller: Caller<'_, Logged>, level: i32| {
                            let logged = caller.data_mut();
                            let message = std::mem::take(&mut logged.letters);
                            logged.messages.push((level, message));
                        },
                    ),
                };
                function.into()
            })
            .collect();
        let instance = Instance::new(&mut store, &module, &imports).unwrap();
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        Running { store, instance, memory }
    }

    fn score(&mut self, argument: i32) -> wasmtime::Result<i32> {
        let name = "scorebox:scorer/scoring@0.1.0#score";
        let score = self.instance.get_typed_func::<i32, i32>(&mut self.store, name).unwrap();
        score.call(&mut self.store, argument)
    }

    fn allocate(&mut self) -> i32 {
        let realloc = self
            .instance
            .get_typed_func::<(i32, i32, i32, i32), i32>(&mut self.store, "cabi_realloc")
            .unwrap();
        realloc.call(&mut self.store, (0, 0, 1, 8)).unwrap()
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        self.memory.write(&mut self.store, at, bytes).unwrap();
    }

    fn read<const BYTES: usize>(&self, at: usize) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        self.memory.read(&self.store, at, &mut bytes).unwrap();
        bytes
    }

    /// The messages since the last call.
    fn logged(&mut self) -> Vec<(i32, String)> {
        std::mem::take(&mut self.store.data_mut().messages)
    }
}

const WRITE: &str = r#"(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))"#;

/// Prints `bytes` to a descriptor, in pieces of these lengths.
fn print(running: &mut Running, descriptor: i32, bytes: &[u8], pieces: &[usize]) -> i32 {
    running.write(1000, bytes);
    let mut at = 1000;
    for (index, length) in pieces.iter().enumerate() {
        running.write(16 + 8 * index, &(at as u32).to_le_bytes());
        running.write(20 + 8 * index, &(*length as u32).to_le_bytes());
        at += length;
    }
    running.write(8, &(pieces.len() as u32).to_le_bytes());
    running.score(descriptor).unwrap()
}

#[test]
fn a_printed_line_is_a_message_and_what_is_not_utf_8_is_replaced() {
    let body = "(call $write (local.get 0) (i32.const 16) (i32.load (i32.const 8)) (i32.const 4))";
    let mut running = Running::new(&scoring(WRITE, body));
    assert_eq!(print(&mut running, 1, "one\ntw".as_bytes(), &[2, 4]), 0);
    assert_eq!(running.read::<4>(4), 6_u32.to_le_bytes());
    assert_eq!(running.logged(), [(1, "one".to_owned())]);
    // A character may be split between two calls.
    let rest = "o — zwölf 🦀\n\n".as_bytes();
    print(&mut running, 1, &rest[..3], &[3]);
    print(&mut running, 1, &rest[3..], &[rest.len() - 3]);
    assert_eq!(running.logged(), [(1, "two — zwölf 🦀".to_owned())]);
    // Standard error interrupts a line of standard output.
    print(&mut running, 1, b"half", &[4]);
    print(&mut running, 2, b"wrong\n", &[6]);
    assert_eq!(running.logged(), [(1, "half".to_owned()), (3, "wrong".to_owned())]);
    // Byte sequences that are not UTF-8, compared with Rust's reading.
    for bytes in [
        &b"\xff a\xc3\n"[..],
        b"\xc0\x80 \xe0\x80\x80 \xed\xa0\x80 \xf4\x90\x80\x80\n",
        b"\xe2\x82 \xf0\x9f\xa6 \x80\n",
        b"\xc3\xc3\xa9\n",
    ] {
        print(&mut running, 1, bytes, &[bytes.len()]);
        let (_, message) = running.logged().remove(0);
        let expected = String::from_utf8_lossy(&bytes[..bytes.len() - 1]);
        let only = |text: &str| text.replace('\u{fffd}', "");
        assert_eq!(only(&message), only(&expected), "{bytes:?}");
        assert!(message.contains('\u{fffd}'), "{message}");
    }
    // There are no other descriptors.
    assert_eq!(print(&mut running, 3, b"lost\n", &[5]), 8);
    assert_eq!(print(&mut running, 0, b"lost\n", &[5]), 8);
    assert_eq!(running.logged(), []);
}

#[test]
fn what_assemblyscript_imports_in_place_of_wasi_is_there_too() {
    let imports = r#"
        (import "env" "console.log" (func $log (param i32)))
        (import "env" "console.error" (func $error (param i32)))
        (import "env" "seed" (func $seed (result f64)))
        (import "env" "Date.now" (func $now (result f64)))"#;
    let body = r#"(if (result i32) (local.get 0)
        (then (call $error (i32.const 104)) (i32.trunc_f64_s (call $seed)))
        (else (call $log (i32.const 104)) (i32.trunc_f64_s (call $now))))"#;
    let mut running = Running::new(&scoring(imports, body));
    let mut say = |text: &[u16], way: i32| {
        running.write(100, &(2 * text.len() as u32).to_le_bytes());
        let bytes: Vec<u8> = text.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        running.write(104, &bytes);
        (running.score(way).unwrap(), running.logged())
    };
    let text: Vec<u16> = "zwölf 🦀\ntwo".encode_utf16().collect();
    let lines = |level| vec![(level, "zwölf 🦀".to_owned()), (level, "two".to_owned())];
    assert_eq!(say(&text, 0), (0, lines(1)));
    assert_eq!(say(&text, 1), (1, lines(3)));
    let halves = vec![(1, "\u{fffd}a\u{fffd}".to_owned())];
    assert_eq!(say(&[0xdd80, 0x61, 0xd83e], 0), (0, halves));
    assert_eq!(say(&[], 0), (0, vec![]));
}

#[test]
fn clocks_count_their_readings_and_waiting_moves_them() {
    let imports = r#"
        (import "wasi_snapshot_preview1" "clock_time_get" (func $time (param i32 i64 i32) (result i32)))
        (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))"#;
    let body = r#"(if (result i32) (local.get 0)
        (then (call $poll (i32.const 100) (i32.const 200) (i32.const 2) (i32.const 300)))
        (else (call $time (i32.const 1) (i64.const 0) (i32.const 0))))"#;
    let mut running = Running::new(&scoring(imports, body));
    let time = |running: &mut Running| {
        assert_eq!(running.score(0).unwrap(), 0);
        u64::from_le_bytes(running.read(0))
    };
    assert_eq!([time(&mut running), time(&mut running)], [1000, 2000]);
    // One second from now, and a descriptor to read.
    running.write(100, &7_u64.to_le_bytes());
    running.write(124, &1_000_000_000_u64.to_le_bytes());
    running.write(148, &9_u64.to_le_bytes());
    running.write(156, &[1]);
    assert_eq!(running.score(1).unwrap(), 0);
    assert_eq!(running.read::<4>(300), 2_u32.to_le_bytes());
    assert_eq!(running.read::<11>(200), [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(running.read::<11>(232), [9, 0, 0, 0, 0, 0, 0, 0, 8, 0, 1]);
    assert_eq!(time(&mut running), 1_000_003_000);
}

#[test]
fn random_bytes_are_the_same_in_every_sandbox() {
    let imports = r#"(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))"#;
    let module = scoring(imports, "(call $random (i32.const 0) (local.get 0))");
    let random = || {
        let mut running = Running::new(&module);
        assert_eq!(running.score(16).unwrap(), 0);
        let first: [u8; 16] = running.read(0);
        running.score(16).unwrap();
        (first, running.read::<16>(0))
    };
    let (first, second) = random();
    assert_ne!(first, second);
    assert_ne!(first, [0; 16]);
    assert_eq!(random(), (first, second));
}

#[test]
fn there_are_no_files_and_no_environment() {
    let imports = r#"
        (import "wasi_snapshot_preview1" "path_open"
            (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))"#;
    let body = r#"
        (i32.store (i32.const 100) (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0)
            (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 0)))
        (i32.store (i32.const 104) (call $prestat (i32.const 3) (i32.const 0)))
        (i32.store (i32.const 108) (call $sizes (i32.const 112) (i32.const 116)))
        (i32.store (i32.const 120) (call $read (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 124)))
        (if (local.get 0) (then (call $exit (i32.const 3))))
        (i32.const 0)"#;
    let mut running = Running::new(&scoring(imports, body));
    running.write(100, &[255; 28]);
    running.score(0).unwrap();
    let words: [u8; 28] = running.read(100);
    let words: Vec<u8> = words.chunks(4).map(|word| word[0]).collect();
    assert_eq!(words, [8, 8, 0, 0, 0, 0, 0]);
    // A program that exits is a trap, whatever code it passes.
    assert!(running.score(1).unwrap_err().downcast_ref::<wasmtime::Trap>().is_some());
}

#[test]
fn a_runtime_begins_before_anything_else_and_prints_nothing_while_memory_is_allocated() {
    let imports = format!("{WRITE} (global $begun (mut i32) (i32.const 0))");
    let more = r#"
        (data (i32.const 16) "\18\00\00\00\03\00\00\00hi\0a")
        (func (export "_initialize")
            (global.set $begun (i32.add (global.get $begun) (i32.const 1)))
            (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 4))))
        (func (export "score") (param i32) (result i32)
            (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 4)))
            (global.get $begun))"#;
    let module = scorer(&imports, more);
    let mut running = Running::new(&module);
    assert_eq!(running.score(0).unwrap(), 1);
    assert_eq!(running.score(0).unwrap(), 1);
    assert_eq!(running.logged().len(), 3);
    let mut allocating = Running::new(&module);
    assert_eq!(allocating.allocate(), 4096);
    assert_eq!(allocating.logged(), []);
    assert_eq!(allocating.score(0).unwrap(), 1);
    assert_eq!(allocating.logged(), [(1, "hi".to_owned())]);
}

#[test]
fn an_import_that_the_module_has_already_is_not_imported_twice() {
    let imports = format!(
        r#"{WRITE}
        (import "scorebox:scorer/log@0.1.0" "letter" (func $letter (param i32)))
        (import "scorebox:scorer/log@0.1.0" "end" (func $end (param i32)))"#
    );
    let body = r#"
        (call $letter (i32.const 65)) (call $end (i32.const 0))
        (call $write (local.get 0) (i32.const 16) (i32.load (i32.const 8)) (i32.const 4))"#;
    let module = scoring(&imports, body);
    let mut running = Running::new(&module);
    print(&mut running, 1, b"b\n", &[2]);
    assert_eq!(running.logged(), [(0, "A".to_owned()), (1, "b".to_owned())]);
    component_of_module(&module).unwrap();
}

#[test]
fn nothing_but_names_of_functions_is_kept_beside_the_code() {
    let text = r#"(module
        (@custom "component-type" "another contract")
        (@custom ".debug_info" "/home/me/scorer.c")
        (@custom "producers" "\00")
        (memory (export "memory") 1)
        (func $unused)
        (func $allocate (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
        (func (export "describe") (result i32) (i32.const 1024))
        (func (export "configure") (param i32 i32) (result i32) (i32.const 1024))
        (func (export "score") (param i32) (result i32) (i32.const 1024))
        (func (export "start_of_program") (param i32 i32) (result i32) (i32.const 0))
        (func (export "_start")))"#;
    let component = component_of_module(&wat::parse_str(text).unwrap()).unwrap();
    let text = String::from_utf8_lossy(&component);
    for gone in ["another contract", "/home/me", "unused", "start_of_program", "_start"] {
        assert!(!text.contains(gone), "{gone}");
    }
    assert!(text.contains("allocate"));
    let exports =
        Parser::new(0).parse_all(&component).filter_map(|payload| match payload.unwrap() {
            Payload::ExportSection(exports) => Some(exports.count()),
            _ => None,
        });
    assert_eq!(exports.collect::<Vec<_>>(), [5]);
}
