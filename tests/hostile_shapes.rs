//! Files that are hostile by their shape: too deep, too many parts, too large. All are refused or do no harm before a
//! score; none is scored with.

use insta::assert_snapshot;
use serde_json::json;
use wasm_encoder::{
    Component, ComponentExportKind, ComponentExportSection, ComponentImportSection,
    ComponentInstanceSection, ComponentSection, ComponentTypeRef, ComponentTypeSection,
    ComponentValType, ConstExpr, CustomSection, GlobalSection, GlobalType, ModuleSection,
    NestedComponentSection, PrimitiveValType, RefType, TableSection, TableType, ValType,
};

use crate::{
    hostile_files::{
        core_instances, doubling_instance_types, doubling_instances, doubling_types,
        handles_without_end, instances, instantiated, module_with_data, nested_component_types,
        nested_components, nested_lists, noise, start_without_end, with, with_instance_of,
        with_module,
    },
    hostile_fixture::{Arena, is_ended_by_the_clock_in, words},
    hostile_modules::Module,
    sandbox_fixture::builtin,
};

/// The message about a file that is loaded as a scorer.
#[track_caller]
fn load(file: &[u8]) -> String {
    let arena = Arena::new();
    arena.write("file.wasm", file);
    words(&arena.run("scorebox score ./file.wasm --output 1 --no-cache"))
}

/// A harmless scorer, to put something after; it has the same bytes with every compiler.
fn scorer() -> Vec<u8> {
    Module::default().component()
}

#[test]
fn components_in_components_do_no_harm() {
    assert_snapshot!(load(&with(&scorer(), &[&NestedComponentSection(&nested_components(5000))])), @"[exit code 0]");
}

#[test]
fn more_components_modules_and_instances_than_there_may_be_are_refused() {
    let (component, module) = (Component::new(), wasm_encoder::Module::new());
    let nested = NestedComponentSection(&component);
    let siblings = vec![&nested as &dyn ComponentSection; 2000];
    assert_snapshot!(load(&with(&scorer(), &siblings)), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: components count exceeds limit of 1000 (at offset 0x36db)
    [exit code 2]
    "#);
    let section = ModuleSection(&module);
    let modules = vec![&section as &dyn ComponentSection; 2000];
    assert_snapshot!(load(&with(&scorer(), &modules)), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: modules count exceeds limit of 1000 (at offset 0x36db)
    [exit code 2]
    "#);
    assert_snapshot!(load(&with_instance_of(&scorer(), &core_instances(60))), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: it needs more than a sandbox has: The component transitively contains 61 core module instances, which exceeds the configured maximum of 48
    hint: a sandbox has at most 48 core instances, 4 memories, 24 tables of 65536 elements; these bounds are fixed
    [exit code 2]
    "#);
    assert_snapshot!(load(&with_instance_of(&scorer(), &core_instances(2000))), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: instances count exceeds limit of 1000 (at offset 0xfeb)
    [exit code 2]
    "#);
}

#[test]
fn instances_that_double_with_every_level_are_refused() {
    assert_snapshot!(load(&with_instance_of(&scorer(), &doubling_instances(8))), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: it needs more than a sandbox has: The component transitively contains 257 core module instances, which exceeds the configured maximum of 48
    hint: a sandbox has at most 48 core instances, 4 memories, 24 tables of 65536 elements; these bounds are fixed
    [exit code 2]
    "#);
    let arena = Arena::new();
    arena.write("file.wasm", with_instance_of(&scorer(), &doubling_instances(40)));
    let options = "--no-cache --compile-memory 300MiB";
    let output = arena.run(&format!("scorebox score ./file.wasm --output 1 {options}"));
    assert_snapshot!(words(&output), @"
    error: scorer `./file.wasm`: invalid-component: compiling the scorer took more than 314572800 bytes of memory
    hint: raise the limit: --compile-memory
    [exit code 2]
    ");
}

#[test]
fn types_that_double_with_every_level_are_refused() {
    assert_snapshot!(load(&with(&scorer(), &[&NestedComponentSection(&doubling_types(40))])), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: effective type size exceeds the limit of 1000000 (at offset 0x102b)
    [exit code 2]
    "#);
    let instances = doubling_instance_types(40);
    assert_snapshot!(load(&with(&scorer(), &[&NestedComponentSection(&instances)])), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: effective type size exceeds the limit of 1000000 (at offset 0x1145)
    [exit code 2]
    "#);
}

#[test]
fn types_in_types_without_end_are_refused() {
    assert_snapshot!(load(&with(&scorer(), &[&NestedComponentSection(&nested_lists(100_000))])), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: type nesting is too deep (at offset 0x10d0)
    [exit code 2]
    "#);
    assert_snapshot!(load(&with(&scorer(), &[&nested_component_types(20_000)])), @"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: it is nested too deep
    [exit code 2]
    ");
}

#[test]
fn very_many_types_do_no_harm() {
    let mut types = ComponentTypeSection::new();
    (0..300_000).for_each(|_| types.defined_type().primitive(PrimitiveValType::String));
    assert_snapshot!(load(&with(&scorer(), &[&types])), @"[exit code 0]");
}

#[test]
fn a_huge_data_segment_needs_more_memory_than_there_is() {
    let data = module_with_data(1760, [(0, vec![7; 110 << 20])]);
    assert_snapshot!(load(&instantiated(&scorer(), &data)), @r#"
    error: scorer `./file.wasm`: out-of-memory: in `describe`: the scorer needs 115474432 bytes of memory, more than its limit of 67108864
      memory minimum size of 1760 pages exceeds memory limits
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 2]
    "#);
}

#[test]
fn a_few_bytes_in_every_page_of_four_gigabytes_take_the_compiler_too_long() {
    let data = module_with_data(65536, (0..60_000).map(|page| ((page << 16) + 5, vec![1])));
    let arena = Arena::new();
    arena.write("file.wasm", with_module(&scorer(), &data));
    let options = "--no-cache --compile-timeout 2s";
    assert_snapshot!(words(
        &arena.run(&format!("scorebox score ./file.wasm --output 1 {options}"))
    ), @"
    error: scorer `./file.wasm`: invalid-component: compiling the scorer took more than 2000 ms of processor time
    hint: raise the limit: --compile-timeout
    [exit code 2]
    ");
}

#[test]
fn a_memory_that_begins_with_four_gigabytes_beside_the_scorers_own_is_refused() {
    assert_snapshot!(load(&instantiated(&scorer(), &module_with_data(65536, []))), @r#"
    error: scorer `./file.wasm`: out-of-memory: in `describe`: the scorer needs 4295098368 bytes of memory, more than its limit of 67108864
      memory minimum size of 65536 pages exceeds memory limits
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 2]
    "#);
}

#[test]
fn tables_that_begin_too_large_are_refused() {
    let table = |minimum, count| {
        let mut tables = TableSection::new();
        let table = TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum,
            maximum: None,
            shared: false,
        };
        for _ in 0..count {
            tables.table(table);
        }
        let mut module = wasm_encoder::Module::new();
        module.section(&tables);
        instantiated(&scorer(), &module)
    };
    assert_snapshot!(load(&table(10_000_000, 1)), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: it needs more than a sandbox has: table index 0 has a minimum element size of 10000000 which exceeds the limit of 65536
    hint: a sandbox has at most 48 core instances, 4 memories, 24 tables of 65536 elements; these bounds are fixed
    [exit code 2]
    "#);
    assert_snapshot!(load(&table(60_000, 90)), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: it needs more than a sandbox has: defined tables count of 90 exceeds the per-instance limit of 24
    hint: a sandbox has at most 48 core instances, 4 memories, 24 tables of 65536 elements; these bounds are fixed
    [exit code 2]
    "#);
}

#[test]
fn globals_without_number_are_more_than_a_sandbox_has() {
    let mut globals = GlobalSection::new();
    let global = GlobalType { val_type: ValType::I64, mutable: true, shared: false };
    for _ in 0..900_000 {
        globals.global(global, &ConstExpr::i64_const(1));
    }
    let mut module = wasm_encoder::Module::new();
    module.section(&globals);
    assert_snapshot!(load(&instantiated(&scorer(), &module)), @r#"
    error: scorer `./file.wasm`: invalid-component: the component does not compile: it needs more than a sandbox has: instance allocation for this module requires 14400176 bytes which exceeds the configured maximum of 8388608 bytes; breakdown of allocation requirement:
    hint: a sandbox has at most 48 core instances, 4 memories, 24 tables of 65536 elements; these bounds are fixed
    [exit code 2]
    "#);
}

#[test]
fn a_beginning_without_end_is_ended_by_the_clock() {
    let file = instantiated(&scorer(), &start_without_end());
    is_ended_by_the_clock_in("describe", &file, &json!({}));
}

#[test]
fn handles_without_number_end_at_their_bound() {
    assert_snapshot!(load(&with_instance_of(&scorer(), &handles_without_end())), @"
    error: scorer `./file.wasm`: trap: in `describe`: cannot allocate another handle: store handle limit exceeded
        at [frames]
    hint: a sandbox has at most 1000 open handles; this bound is fixed
    [exit code 2]
    ");
}

/// A component that has only exports, of a type.
fn exporting(names: impl IntoIterator<Item = String>) -> Vec<u8> {
    let mut component = Component::new();
    let mut types = ComponentTypeSection::new();
    types.defined_type().primitive(PrimitiveValType::String);
    component.section(&types);
    let mut exports = ComponentExportSection::new();
    for name in names {
        exports.export(&name, ComponentExportKind::Type, 0, None);
    }
    component.section(&exports);
    component.finish()
}

/// A component that has only imports, of a function, followed by the parts that make it a scorer.
fn importing(names: impl IntoIterator<Item = String>) -> Vec<u8> {
    let mut component = Component::new();
    let mut types = ComponentTypeSection::new();
    types.function().params::<_, ComponentValType>([]).result(None);
    types.defined_type().primitive(PrimitiveValType::String);
    component.section(&types);
    let mut imports = ComponentImportSection::new();
    for name in names {
        imports.import(&name, ComponentTypeRef::Func(0));
    }
    component.section(&imports);
    let mut exports = ComponentExportSection::new();
    exports.export("scorebox:scorer/scoring@0.1.0", ComponentExportKind::Type, 1, None);
    component.section(&exports);
    component.finish()
}

const LONG: usize = 99_000;

#[test]
fn names_that_fill_the_screen_or_speak_to_it_are_cut_and_harmless() {
    let long = || format!("\u{1b}[2J\u{202e}\nhint: {}", "l".repeat(LONG));
    let short = |words: String| words.replace(&"l".repeat(64), "");
    assert_snapshot!(short(load(&exporting((0..4).map(|n| format!("e{n}{}", long()))))), @"
    error: scorer `./file.wasm`: invalid-component: one of the component's exports has a name of 99016 bytes; the most is 512
    [exit code 2]
    ");
    assert_snapshot!(short(load(&exporting([format!("scorebox:scorer/scoring@{}", long())]))), @"
    error: scorer `./file.wasm`: invalid-component: one of the component's exports has a name of 99038 bytes; the most is 512
    [exit code 2]
    ");
    assert_snapshot!(short(load(&importing([long()]))), @"
    error: scorer `./file.wasm`: invalid-component: one of the component's imports has a name of 99014 bytes; the most is 512
    [exit code 2]
    ");
}

#[test]
fn exports_and_imports_are_counted() {
    assert_snapshot!(load(&exporting((0..900_000).map(|n| format!("e{n}")))), @"
    error: scorer `./file.wasm`: invalid-component: the component has more than 1000 exports
    [exit code 2]
    ");
    assert_snapshot!(load(&importing((0..900_000).map(|n| format!("i{n}")))), @"
    error: scorer `./file.wasm`: invalid-component: the component has more than 1000 imports
    [exit code 2]
    ");
    let arena = Arena::new();
    arena.write("file.wasm", importing((0..100_000).map(|n| format!("i{n}"))));
    let inspected = arena.run("scorebox inspect ./file.wasm");
    assert!(inspected.stdout.lines().count() < 1000, "{} lines", inspected.stdout.lines().count());
}

#[test]
fn a_file_larger_than_any_scorer_is_refused() {
    let ballast = vec![0; 130 << 20];
    let section = CustomSection { name: "ballast".into(), data: ballast.into() };
    assert_snapshot!(load(&with(&scorer(), &[&section])), @"
    error: scorer `./file.wasm`: invalid-component: the component has 134217729 bytes; the most that is loaded is 134217728
    [exit code 2]
    ");
}

#[test]
fn a_file_almost_as_large_as_that_does_no_harm() {
    let ballast = vec![0; 120 << 20];
    let section = CustomSection { name: "ballast".into(), data: ballast.into() };
    assert_snapshot!(load(&with(&scorer(), &[&section])), @"[exit code 0]");
}

#[test]
fn very_many_sections_do_no_harm() {
    let section = CustomSection { name: "x".into(), data: (&[][..]).into() };
    let sections = vec![&section as &dyn ComponentSection; 100_000];
    assert_snapshot!(load(&with(&scorer(), &sections)), @"[exit code 0]");
}

#[test]
fn noise_and_halves_are_refused_with_what_they_are() {
    assert_snapshot!(load(&noise(100_000)), @"
    error: scorer `./file.wasm`: invalid-component: not a valid component, at byte 8: malformed section id
    [exit code 2]
    ");
    assert_snapshot!(load(&noise(0)), @"
    error: scorer `./file.wasm`: invalid-component: the component exports nothing; a scorer exports `scorebox:scorer/scoring@0.1.0`
    hint: build it against scorebox's contract: the folder wit/, or the scorebox-sdk crate
    [exit code 2]
    ");
    let whole = scorer();
    assert_snapshot!(load(&whole[..whole.len() / 2]), @r#"
    error: scorer `./file.wasm`: invalid-component: the component is cut off: it ends at byte 2025, in the middle of a section
    hint: download or build it again
    [exit code 2]
    "#);
    assert_snapshot!(load(&whole[..9]), @"
    error: scorer `./file.wasm`: invalid-component: the component is cut off: it ends at byte 9, in the middle of a section
    hint: download or build it again
    [exit code 2]
    ");
}

#[test]
fn what_is_exported_beside_the_contract_is_ignored() {
    let arena = Arena::new();
    let mut instance = ComponentInstanceSection::new();
    instance.export_items([] as [(&str, ComponentExportKind, u32); 0]);
    let scorer = builtin("exact-match");
    let number = instances(&scorer);
    let mut exports = ComponentExportSection::new();
    exports.export("scorebox:store/database@0.1.0", ComponentExportKind::Instance, number, None);
    exports.export("wasi:cli/run@0.2.0", ComponentExportKind::Instance, number, None);
    exports.export("judge", ComponentExportKind::Instance, number, None);
    arena.write("more.wasm", with(&scorer, &[&instance, &exports]));
    let output = arena.run("scorebox score ./more.wasm --output 1 --ground-truth 1 --no-cache");
    assert_eq!(output.exits_with(0).json()["score"], 1.0);
}

#[test]
fn functions_of_other_types_do_not_fit_the_contract() {
    let text = r#"(component
        (core module $m (func (export "f") (result i32) (i32.const 0)))
        (core instance $i (instantiate $m))
        (func $f (result u32) (canon lift (core func $i "f")))
        (instance $scoring
            (export "describe" (func $f)) (export "configure" (func $f)) (export "score" (func $f)))
        (export "scorebox:scorer/scoring@0.1.0" (instance $scoring)))"#;
    let words = load(&wat::parse_str(text).unwrap());
    let expected = "invalid-component: in `describe`: the component does not fit the contract: ";
    assert!(words.contains(expected), "{words}");
}

/// Printed over several lines, each number in it would be indented by 240 spaces.
#[test]
fn a_case_whose_lines_would_be_mostly_spaces_is_shown_as_it_is() {
    let arena = Arena::new();
    let numbers = vec!["1"; 1_500_000].join(",");
    let deep = format!("{}{numbers}{}", "[".repeat(120), "]".repeat(120));
    arena.write("deep.jsonl", format!("{{\"id\": \"a\", \"output\": {deep}}}\n"));
    let roomy = Module { memory: "(memory (export \"memory\") 64)", ..Module::default() };
    arena.write("by-hand.wasm", roomy.component());
    arena.run("scorebox run -s it=./by-hand.wasm deep.jsonl").exits_with(0);
    let shown = arena.run("scorebox show a").exits_with(0).stdout;
    assert!(shown.contains(&deep) && shown.len() < deep.len() + 10_000, "{}", shown.len());
    arena.run("scorebox report --format html -o report.html").exits_with(0);
}
