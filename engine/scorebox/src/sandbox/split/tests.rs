//! What is split and what is not, for hand-written components and for all built-in ones. End-to-end tests show that
//! split components score like whole ones.

#![cfg(feature = "builtins")]

use wasmparser::{Operator, Parser, Payload, Validator};

use super::{global::halves, *};
use crate::registry::Registry;

/// A component around a main module with `items`, as wit-component makes it if nothing is imported.
fn component(items: &str) -> Vec<u8> {
    around(&format!(
        r#"(core module $main (memory (export "memory") 1) (func (export "f")) {items})"#
    ))
}

fn around(module: &str) -> Vec<u8> {
    assembled(&format!("(component {module} (core instance (instantiate $main)))"))
}

fn assembled(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

/// The end of the sentence about a component that is not split.
fn why_not(component: &[u8]) -> String {
    split(component).expect_err("it is split").to_string()
}

#[track_caller]
fn must_be_valid(split: &Split) {
    let code = split.code.as_ref().map(|(code, _)| ("code", code));
    let parts = [("shell", &split.shell), ("data", &split.first)];
    for (name, part) in parts.into_iter().chain(code) {
        if let Err(error) = Validator::new().validate_all(part) {
            panic!("{name}: {error}");
        }
    }
}

fn built_ins() -> impl Iterator<Item = (String, Vec<u8>)> {
    let registry = Registry::with_builtins();
    let names: Vec<String> = registry.list().map(str::to_owned).collect();
    names.into_iter().map(move |name| {
        let component = registry.get(&name).unwrap().component;
        (name, component.bytes().unwrap().to_vec())
    })
}

/// The bodies of a module's functions.
fn bodies(module: &[u8]) -> Vec<&[u8]> {
    let payloads = Parser::new(0).parse_all(module).map(Result::unwrap);
    payloads
        .filter_map(|payload| match payload {
            Payload::CodeSectionEntry(body) => Some(body.as_bytes()),
            _ => None,
        })
        .collect()
}

#[test]
fn every_built_in_component_is_split_into_valid_parts() {
    let mut count = 0;
    for (path, component) in built_ins() {
        let split = split(&component).unwrap_or_else(|why| panic!("{path} {why}"));
        must_be_valid(&split);
        count += 1;
    }
    assert!(count >= 57, "{count}");
}

/// The code module of a component that is split.
fn code_of(component: &[u8]) -> Vec<u8> {
    let Split { shell, code, .. } = split(component).unwrap();
    if let Some((code, _)) = code {
        return code;
    }
    let outside = Outside::read(component).unwrap();
    let modules: Vec<CoreModule<'_>> =
        outside.modules.iter().map(|bytes| CoreModule::read(bytes).unwrap()).collect();
    let accessors = code::accessors(main_of(&modules).unwrap().module);
    let code = Parser::new(0).parse_all(&shell).find_map(|payload| match payload.unwrap() {
        Payload::ModuleSection { unchecked_range, .. } => {
            let module = &shell[unchecked_range];
            let has_accessor =
                |name: &str| module.windows(name.len()).any(|at| at == name.as_bytes());
            accessors.iter().all(|it| has_accessor(&it.name)).then(|| module.to_vec())
        }
        _ => None,
    });
    code.expect("one of the shell's modules is the code")
}

#[test]
fn functions_keep_their_bytes_and_their_places() {
    for (path, component) in built_ins().take(3) {
        let outside = Outside::read(&component).unwrap();
        let modules: Vec<CoreModule<'_>> =
            outside.modules.iter().map(|bytes| CoreModule::read(bytes).unwrap()).collect();
        let main = main_of(&modules).unwrap();
        let (own, code) = (bodies(outside.modules[main.index]), code_of(&component));
        assert!(bodies(&code).starts_with(&own), "{path}");
        assert!(own.len() > 20 && bodies(&code).len() < own.len() + 20, "{path}");
    }
}

#[test]
fn a_component_with_a_shim_has_no_core_instance_more_and_one_without_has_one() {
    let made = |component: &[u8]| {
        // For the shell, which imports modules, this looks only at the sections.
        let payloads = Parser::new(0).parse_all(component).map(Result::unwrap);
        let instances = payloads.filter_map(|payload| match payload {
            Payload::InstanceSection(instances) => Some(instances),
            _ => None,
        });
        let is_made = |made: &wasmparser::Instance<'_>| {
            matches!(made, wasmparser::Instance::Instantiate { .. })
        };
        instances.flatten().map(Result::unwrap).filter(is_made).count()
    };
    let shell = |component: &[u8]| split(component).unwrap().shell;
    let with_shim = with_shim("", CALLS_THROUGH);
    assert_eq!(made(&shell(&with_shim)), made(&with_shim));
    let without_shim = component("");
    assert_eq!(made(&shell(&without_shim)), made(&without_shim) + 1);
}

/// The body of a shim's function.
const CALLS_THROUGH: &str = "(call_indirect (type $t) (local.get 0) (i32.const 0))";

/// A component with a module with `more` that is instantiated before the code, as wit-component makes it if there are
/// imports that use memory. Its function has this `body`.
fn with_shim(more: &str, body: &str) -> Vec<u8> {
    assembled(&format!(
        r#"(component
        (core module $shim (type $t (func (param i32))) (table (export "t") 1 funcref)
          (func (export "0") (param i32) {body}) {more})
        (core instance $s (instantiate $shim))
        (core module $main (import "s" "0" (func (param i32))) (memory (export "memory") 1)
          (func (export "f")))
        (core instance (instantiate $main (with "s" (instance $s)))))"#
    ))
}

#[test]
fn what_has_state_that_is_not_kept_is_not_split() {
    let cases = [
        (
            component("(table 1 funcref) (func (table.set (i32.const 0) (ref.null func)))"),
            "has an instruction `table.set`",
        ),
        (
            component("(table 1 funcref) (func (drop (table.grow (ref.null func) (i32.const 1))))"),
            "has an instruction `table.grow`",
        ),
        (
            component(
                "(table 1 funcref) (func (table.copy (i32.const 0) (i32.const 0) (i32.const 0)))",
            ),
            "has an instruction `table.copy`",
        ),
        (
            component(
                "(table 1 funcref) (func (table.fill (i32.const 0) (ref.null func) (i32.const 0)))",
            ),
            "has an instruction `table.fill`",
        ),
        (
            component(
                "(table 1 funcref) (elem $e func) (func (table.init $e (i32.const 0) (i32.const 0) (i32.const 0)))",
            ),
            "has an instruction `table.init`",
        ),
        (component("(elem $e func) (func (elem.drop $e))"), "has an instruction `elem.drop`"),
        (component("(data $d \"d\") (func (data.drop $d))"), "has an instruction `data.drop`"),
        (
            component(
                "(data $d \"d\") (func (memory.init $d (i32.const 0) (i32.const 0) (i32.const 0)))",
            ),
            "has an instruction `memory.init`",
        ),
        (component("(data \"passive\")"), "has passive data segments"),
        (
            component("(data (i32.const 65530) \"beyond it\")"),
            "has data segments beyond its memory",
        ),
        (
            component("(global (mut funcref) (ref.null func))"),
            "has a global that changes and holds a reference",
        ),
        (
            component("(global funcref (ref.null func))"),
            "has a global that does not begin with a constant number",
        ),
        (
            component(
                "(global $a i32 (i32.const 1)) (global i32 (i32.add (i32.const 1) (i32.const 1)))",
            ),
            "has a global that does not begin with a constant number",
        ),
        (component("(func $s) (start $s)"), "has a start function"),
        (component("(memory 1)"), "has several memories"),
        (component("(func (export \"scorebox-pages\"))"), "has names that begin with `scorebox-`"),
        (
            around("(core module $main (memory (export \"memory\") i64 1) (func (export \"f\")))"),
            "has a memory that is shared, has 64 bits or pages of another size",
        ),
        (
            around("(core module $main (memory 1) (func (export \"f\")))"),
            "does not export its memory",
        ),
        (
            around("(core module $main (memory (export \"memory\") 1))"),
            "has no functions beside its memory",
        ),
        (around("(core module $main)"), "has no memory"),
        (component("")[..20].to_vec(), "is not valid: unexpected end-of-file"),
        // A nested component claims to be longer than it is.
        (
            [component("").as_slice(), b"\x04\x09\0asm\x0d\0\x01\0"].concat(),
            "has a section beyond its end",
        ),
    ];
    for (component, why) in cases {
        assert_eq!(why_not(&component), why);
    }
}

#[test]
fn components_of_structures_that_are_not_repeated_are_not_split() {
    let main = r#"(core module $main (memory (export "memory") 1) (func (export "f")))"#;
    let made = "(core instance (instantiate $main))";
    let cases = [
        (format!("{main} {made} {made}"), "instantiates a module twice"),
        (main.to_owned(), "does not instantiate its code"),
        (format!("{main} {made} (core module (memory 1))"), "has memories in several modules"),
        (format!("{main} {made} (component (core module))"), "has components with modules in it"),
        (format!("{main} {made} (core type (module))"), "has types of core modules"),
        (
            format!(r#"{main} {made} (export "m" (core module $main))"#),
            "hands modules, components or values about",
        ),
        (
            format!(r#"(import "scorebox-code" (func)) {main} {made}"#),
            "has names that begin with `scorebox-`",
        ),
        (
            format!("{main} {made} (core module (global (mut i32) (i32.const 0)))"),
            "has a module (1) beside its code that has globals that change",
        ),
        (
            format!("{main} {made} (core module (func $s) (start $s))"),
            "has a module (1) beside its code that has a start function",
        ),
        (
            r#"(core module $other (table (export "t") 1 funcref)) (core instance $o (instantiate $other))
                (core module $main (import "o" "t" (table 1 funcref)) (memory (export "memory") 1)
                (func (export "f"))) (core instance (instantiate $main (with "o" (instance $o))))"#
            .to_owned(),
            "has code that imports a table, a memory, a global or a tag",
        ),
    ];
    for (text, why) in cases {
        assert_eq!(why_not(&assembled(&format!("(component {text})"))), why, "{text}");
    }
}

#[test]
fn a_module_that_writes_into_the_memory_of_another_is_not_split() {
    let text = r#"(component
        (core module $main (memory (export "memory") 1) (func (export "f")))
        (core instance $m (instantiate $main))
        (core module $other (import "m" "memory" (memory 1)) (data (i32.const 0) "written"))
        (core instance (instantiate $other (with "m" (instance $m)))))"#;
    let why = "has a module (1) beside its code that has data segments";
    assert_eq!(why_not(&assembled(text)), why);
}

#[test]
fn more_than_a_sandbox_has_is_not_split() {
    let instance = "(core module $m) (core instance (instantiate $m))";
    let module = r#"(core module $main (memory (export "memory") 1) (func (export "f")))
        (core instance (instantiate $main))"#;
    let modules = |count: usize| {
        let more: String = (0..count).map(|n| instance.replace("$m", &format!("$m{n}"))).collect();
        assembled(&format!("(component {module} {more})"))
    };
    // One core instance is the main module's, and one the data module's.
    let most = settings::CORE_INSTANCES as usize - 2;
    must_be_valid(&split(&modules(most)).unwrap());
    assert_eq!(why_not(&modules(most + 1)), "needs more than a sandbox has");
    let table = component(&format!("(table {} funcref)", settings::TABLE_ELEMENTS + 1));
    assert_eq!(why_not(&table), "needs more than a sandbox has");
}

#[test]
fn a_shim_that_does_more_than_to_call_through_its_table_is_a_module_like_others() {
    let is_shim = |more: &str, body: &str| {
        let split = split(&with_shim(more, body)).unwrap();
        must_be_valid(&split);
        serde_json::to_value(&split.shape).unwrap()["shim"] != serde_json::Value::Null
    };
    assert!(is_shim("", CALLS_THROUGH));
    for body in [
        "(loop (br 0))".to_owned(),
        format!("(local i32) {CALLS_THROUGH}"),
        "(call_indirect (type $t) (i32.const 0) (i32.const 0))".to_owned(),
        format!("{CALLS_THROUGH} (nop)"),
    ] {
        assert!(!is_shim("", &body), "{body}");
    }
    for more in [
        "(global i32 (i32.const 1))".to_owned(),
        "(elem (i32.const 0) 0)".to_owned(),
        format!("(type (func (param {})))", "i32 ".repeat(18)),
        "(type (func (result i32 i32)))".to_owned(),
        "(table 1 funcref)".to_owned(),
    ] {
        assert!(!is_shim(&more, CALLS_THROUGH), "{more}");
    }
}

#[test]
fn a_shim_with_the_names_of_a_data_module_does_not_become_one() {
    let split = split(&with_shim("(export \"memory\" (func 0))", CALLS_THROUGH)).unwrap();
    let error = Validator::new().validate_all(&split.first).err().expect("compiled whole then");
    assert_eq!(error.message(), "duplicate export name `memory` already defined");
}

/// Like a component that links its libraries when it is built: the module with the memory defines where each library
/// is.
#[test]
fn a_module_beside_the_code_may_begin_with_what_never_changes() {
    let with = |global: &str| {
        assembled(&format!(
            r#"(component
            (core module $main (memory (export "memory") 1) (global (export "base") i32 (i32.const 8))
              (global (export "changing") (mut i32) (i32.const 1)) (func (export "f")))
            (core instance $m (instantiate $main))
            (core module $library (import "m" "base" (global $base i32))
              (import "m" "changing" (global (mut i32))) (import "m" "memory" (memory 1)) {global}
              (func (export "g") (result i32) (global.get 2)))
            (core instance (instantiate $library (with "m" (instance $m)))))"#
        ))
    };
    must_be_valid(&split(&with("(global i32 (global.get $base))")).unwrap());
    let why = "has a module (1) beside its code that has globals that change";
    assert_eq!(why_not(&with("(global (mut i32) (global.get $base))")), why);
}

#[test]
fn numbers_of_any_type_keep_their_bits() {
    let component = component(
        "(global (mut i32) (i32.const -1)) (global (mut i64) (i64.const -2))
         (global (mut f32) (f32.const nan:0x200001)) (global (mut f64) (f64.const -nan:0x4000000000001))
         (global f32 (f32.const -0.0)) (global (mut v128) (v128.const i64x2 0x0123456789abcdef -1))
         (global $last i64 (i64.const 9)) (global f64 (f64.const nan:0x4000000000001))
         (func (export \"last\") (result i64) (global.get $last))",
    );
    let split = split(&component).unwrap();
    must_be_valid(&split);
    let f64_bits = 0xfff4_0000_0000_0001;
    let vector = [0x0123_4567_89ab_cdef, u64::MAX];
    let begins = [
        [0xffff_ffff, 0],
        [u64::MAX - 1, 0],
        [0x7fa0_0001, 0],
        [f64_bits, 0],
        [0x8000_0000, 0],
        vector,
    ];
    assert_eq!(bits_of_globals(&split.first), begins);
    // Immutable globals need no import, as long as no index changes.
    assert_eq!(bits_of_globals(&code_of(&component)), [[9, 0], [0x7ff4_0000_0000_0001, 0]]);
    let globals = vec![[7, 0], [8, 0], [0x7f80_0001, 0], [0x7ff0_0000_0000_0001, 0], [3, 4]];
    let contents = Contents { memory: vec![0; 2 * 65_536], globals: globals.clone() };
    let data = split.shape.data(&contents).unwrap();
    Validator::new().validate_all(&data).unwrap();
    let mut expected = globals;
    expected.insert(4, [0x8000_0000, 0]);
    assert_eq!(bits_of_globals(&data), expected);
    let shape = serde_json::to_vec(&split.shape).unwrap();
    assert_eq!(serde_json::from_slice::<Shape>(&shape).unwrap(), split.shape);
}

/// The bits of all globals of a data module.
fn bits_of_globals(module: &[u8]) -> Vec<[u64; 2]> {
    let mut bits = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::GlobalSection(globals) = payload.unwrap() {
            for global in globals {
                let init = global.unwrap().init_expr;
                bits.push(halves(match init.get_operators_reader().read().unwrap() {
                    Operator::I32Const { value } => value.cast_unsigned().into(),
                    Operator::I64Const { value } => value.cast_unsigned().into(),
                    Operator::F32Const { value } => value.bits().into(),
                    Operator::F64Const { value } => value.bits().into(),
                    Operator::V128Const { value } => value.i128().cast_unsigned(),
                    other => panic!("{other:?}"),
                }));
            }
        }
    }
    bits
}

#[test]
fn a_data_module_has_all_of_a_memory_but_its_zeros() {
    let shape = split(&component("(data (i32.const 5) \"five\")")).unwrap().shape;
    let mut memory = vec![0; 3 * 65_536];
    for offset in [0, 4095, 4096, 100_000, 3 * 65_536 - 1] {
        memory[offset] = 9;
    }
    let data = shape.data(&Contents { memory: memory.clone(), globals: Vec::new() }).unwrap();
    let module = CoreModule::read(&data).unwrap();
    assert_eq!(module.memories[0].initial, 3);
    let mut filled = vec![0; memory.len()];
    for (offset, bytes) in &module.segments {
        let offset = *offset as usize;
        filled[offset..offset + bytes.len()].copy_from_slice(bytes);
    }
    assert_eq!(filled, memory);
    assert!(data.len() < 20_000, "{}", data.len());
    let other = Contents { memory, globals: vec![[1, 0]] };
    assert!(shape.data(&other).is_err());
}

#[test]
fn bytes_that_are_cut_off_or_changed_are_split_or_refused_and_what_is_split_is_valid() {
    let (_, component) = built_ins().min_by_key(|(_, bytes)| bytes.len()).unwrap();
    let mut tried = 0;
    // Both ends of a component, which have its structure; the middle is code.
    let structure = (0..400).chain(component.len() - 3000..component.len());
    for offset in structure.step_by(37) {
        for value in [0, 1, 0x40, 0x7f, 0xff] {
            let mut changed = component.clone();
            changed[offset] = value;
            if let Ok(split) = split(&changed) {
                must_be_valid(&split);
            }
            tried += 1;
        }
        if let Ok(split) = split(&component[..offset]) {
            must_be_valid(&split);
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn components_that_differ_only_in_data_share_a_digest_and_a_shell() {
    let with = |items: &str| component(&format!("{items} (func (result i32) (i32.const 7))"));
    let one = with(r#"(data (i32.const 8) "one")"#);
    let same = [
        with(r#"(data (i32.const 8) "two")"#),
        with(r#"(data (i32.const 9000) "longer, and elsewhere") (data (i32.const 0) "twice")"#),
    ];
    for other in same {
        assert_ne!(one, other);
        assert_eq!(digest_but_data(&one).unwrap(), digest_but_data(&other).unwrap());
        let (one, other) = (split(&one).unwrap(), split(&other).unwrap());
        assert_eq!((one.shell, one.shape), (other.shell, other.shape));
        assert_ne!(one.first, other.first);
    }
    let others = [
        with("(global (mut i32) (i32.const 8))"),
        with("(memory 1)"),
        component("(func (result i32) (i32.const 8))"),
        around(r#"(core module $main (memory (export "memory") 2) (func (export "f")))"#),
        [one.as_slice(), b"\0\x05\x04name"].concat(),
        // The data is in a nested component.
        assembled(r#"(component (component (core module (memory 1) (data (i32.const 0) "a"))))"#),
        assembled(r#"(component (component (core module (memory 1) (data (i32.const 0) "b"))))"#),
    ];
    let digests = others.iter().chain([&one]).map(|it| digest_but_data(it).unwrap());
    let digests: std::collections::HashSet<_> = digests.collect();
    assert_eq!(digests.len(), others.len() + 1);
}

#[test]
fn whatever_byte_is_changed_what_shares_a_digest_shares_a_shell() {
    let (_, component) = built_ins().min_by_key(|(_, bytes)| bytes.len()).unwrap();
    let (digest, whole) = (digest_but_data(&component).unwrap(), split(&component).unwrap());
    let (mut shared, mut tried) = (0, 0);
    for offset in (0..component.len()).step_by(component.len() / 400) {
        let mut changed = component.clone();
        changed[offset] ^= 1;
        tried += 1;
        if digest_but_data(&changed) != Some(digest) {
            continue;
        }
        let Ok(split) = split(&changed) else { continue };
        assert_eq!(
            (split.shell, split.shape),
            (whole.shell.clone(), whole.shape.clone()),
            "{offset}"
        );
        shared += 1;
    }
    assert!((10..tried - 100).contains(&shared), "{shared} of {tried}");
}

/// A component that lifts `score` from `f`, with these options in addition to memory and realloc, around this code.
fn scoring(options: &str, code: &str) -> Vec<u8> {
    let numbers = "u32 ".repeat(17);
    assembled(&format!(
        r#"(component
        (core module $main (memory (export "memory") 1)
          (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 8))
          (func (export "f") (param i32) (result i32) (i32.const 8))
          (func (export "after") (param i32)) {code})
        (core instance $i (instantiate $main))
        (type $in (tuple {numbers})) (type $out (tuple string string))
        (func $f (param "case" $in) (result $out)
          (canon lift (core func $i "f") (memory (core memory $i "memory"))
            (realloc (core func $i "realloc")) {options}))
        (instance $scoring (export "score" (func $f)))
        (export "scorebox:scorer/scoring@0.1.0" (instance $scoring)))"#
    ))
}

#[test]
fn score_is_called_without_the_component_where_it_is_nothing_but_a_function_of_the_code() {
    let found = |options: &str| split(&scoring(options, "")).unwrap().code.map(|(_, score)| score);
    let plain = CoreScore {
        imports: vec![Source::State("memory".into())],
        memory: "memory".into(),
        realloc: "realloc".into(),
        score: "f".into(),
        post_return: None,
    };
    assert_eq!(found(""), Some(plain.clone()));
    let after = CoreScore { post_return: Some("after".into()), ..plain };
    assert_eq!(found(r#"(post-return (core func $i "after"))"#), Some(after));
    // Only the component can convert texts of another encoding.
    assert_eq!(found("string-encoding=utf16"), None);
    assert_eq!(found("string-encoding=latin1+utf16"), None);
}

#[test]
fn code_that_cannot_be_described_from_outside_stays_in_the_shell() {
    for strange in [
        r#"(tag $t (param i32)) (export "t" (tag $t))"#,
        r#"(func (export "g") (param (ref null 0)))"#,
    ] {
        let Split { code, .. } = split(&scoring("", strange)).unwrap();
        assert_eq!(code, None, "{strange}");
    }
}

#[test]
fn most_built_in_components_score_without_the_component_and_those_that_import_a_judge_do_not() {
    let mut plain = 0;
    for (name, component) in built_ins() {
        let Split { shell, code, .. } = split(&component).unwrap();
        let anatomy = crate::sandbox::Anatomy::read(&component).unwrap();
        let asks = anatomy.grants().contains(crate::sandbox::Grant::Judge);
        assert_eq!(code.is_none(), asks, "{name}");
        plain += usize::from(code.is_some());
        let Some((code, score)) = code else { continue };
        assert!(shell.len() < code.len() / 4, "{name}: the code is in the shell as well");
        assert!(score.imports.contains(&Source::State("memory".into())), "{name}");
    }
    assert!(plain >= 50, "{plain}");
}
