//! Files that are hostile by their shape: too deep, too many, too large. All are refused, or do no harm,
//! before a score; none is computed with.

use insta::assert_snapshot;
use wasm_encoder::{
    Component, ComponentExportKind, ComponentExportSection, ComponentImportSection,
    ComponentTypeRef, ComponentTypeSection, ComponentValType, ConstExpr, CustomSection,
    GlobalSection, GlobalType, Module, ModuleSection, NestedComponentSection, PrimitiveValType,
    RefType, TableSection, TableType, ValType,
};

use crate::{
    hostile_files::{
        core_instances, doubling_instance_types, doubling_instances, doubling_types,
        handles_without_end, instantiated, module_with_data, nested_component_types,
        nested_components, nested_lists, noise, start_without_end, with, with_instance_of,
        with_module,
    },
    hostile_fixture::{Arena, attacker, words},
    sandbox_fixture::builtin,
};

/// What the user reads of a file that is loaded as a scorer.
#[track_caller]
fn load(file: &[u8]) -> String {
    let arena = Arena::new();
    arena.write("file.wasm", file);
    words(&arena.run("scorebox score ./file.wasm --output 1 --no-cache"))
}

/// A scorer that behaves, to put something behind.
fn scorer() -> Vec<u8> {
    attacker("attacker")
}

#[test]
fn components_in_components_without_end() {
    assert_snapshot!(load(&with(&scorer(), &[&NestedComponentSection(&nested_components(5000))])), @"");
}

#[test]
fn more_components_modules_and_instances_than_there_may_be() {
    let (component, module) = (Component::new(), Module::new());
    let mut siblings = scorer();
    (0..2000).for_each(|_| {
        siblings = with(&std::mem::take(&mut siblings), &[&NestedComponentSection(&component)])
    });
    assert_snapshot!(load(&siblings), @"");
    let mut modules = scorer();
    (0..2000)
        .for_each(|_| modules = with(&std::mem::take(&mut modules), &[&ModuleSection(&module)]));
    assert_snapshot!(load(&modules), @"");
    assert_snapshot!(load(&with_instance_of(&scorer(), &core_instances(60))), @"");
    assert_snapshot!(load(&with_instance_of(&scorer(), &core_instances(2000))), @"");
}

#[test]
fn instances_that_double_with_every_level() {
    assert_snapshot!(load(&with_instance_of(&scorer(), &doubling_instances(8))), @"");
    assert_snapshot!(load(&with_instance_of(&scorer(), &doubling_instances(40))), @"");
}

#[test]
fn types_that_double_with_every_level() {
    assert_snapshot!(load(&with(&scorer(), &[&NestedComponentSection(&doubling_types(40))])), @"");
    let instances = doubling_instance_types(40);
    assert_snapshot!(load(&with(&scorer(), &[&NestedComponentSection(&instances)])), @"");
}

#[test]
fn types_in_types_without_end() {
    assert_snapshot!(load(&with(&scorer(), &[&NestedComponentSection(&nested_lists(100_000))])), @"");
    assert_snapshot!(load(&with(&scorer(), &[&nested_component_types(20_000)])), @"");
}

#[test]
fn very_many_types_do_no_harm() {
    let mut types = ComponentTypeSection::new();
    (0..300_000).for_each(|_| types.defined_type().primitive(PrimitiveValType::String));
    assert_snapshot!(load(&with(&scorer(), &[&types])), @"");
}

#[test]
fn a_huge_data_segment() {
    let data = module_with_data(1760, [(0, vec![7; 110 << 20])]);
    assert_snapshot!(load(&instantiated(&scorer(), &data)), @"");
}

#[test]
fn a_few_bytes_in_every_page_of_four_gigabytes() {
    let data = module_with_data(65536, (0..60_000).map(|page| ((page << 16) + 5, vec![1])));
    let arena = Arena::new();
    arena.write("file.wasm", with_module(&scorer(), &data));
    let options = "--no-cache --compile-timeout 2s";
    assert_snapshot!(words(
        &arena.run(&format!("scorebox score ./file.wasm --output 1 {options}"))
    ), @"");
}

#[test]
fn a_memory_that_begins_with_four_gigabytes_beside_the_scorers_own() {
    assert_snapshot!(load(&instantiated(&scorer(), &module_with_data(65536, []))), @"");
}

#[test]
fn tables_that_begin_too_large() {
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
        let mut module = Module::new();
        module.section(&tables);
        instantiated(&scorer(), &module)
    };
    assert_snapshot!(load(&table(10_000_000, 1)), @"");
    assert_snapshot!(load(&table(60_000, 90)), @"");
}

#[test]
fn globals_without_number() {
    let mut globals = GlobalSection::new();
    let global = GlobalType { val_type: ValType::I64, mutable: true, shared: false };
    for _ in 0..900_000 {
        globals.global(global, &ConstExpr::i64_const(1));
    }
    let mut module = Module::new();
    module.section(&globals);
    assert_snapshot!(load(&instantiated(&scorer(), &module)), @"");
}

#[test]
fn a_beginning_without_end() {
    assert_snapshot!(load(&instantiated(&scorer(), &start_without_end())), @"");
}

#[test]
fn handles_without_number() {
    assert_snapshot!(load(&with_instance_of(&scorer(), &handles_without_end())), @"");
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

/// A component that has only imports, of a function, and then what makes it a scorer.
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
fn names_that_fill_the_screen_or_speak_to_it() {
    let long = || format!("\u{1b}[2J\u{202e}\nhint: {}", "l".repeat(LONG));
    let short = |words: String| words.replace(&"l".repeat(64), "");
    assert_snapshot!(short(load(&exporting((0..4).map(|n| format!("e{n}{}", long()))))), @"");
    assert_snapshot!(short(load(&exporting([format!("scorebox:scorer/scoring@{}", long())]))), @"");
    assert_snapshot!(short(load(&importing([long()]))), @"");
}

#[test]
fn exports_and_imports_without_number() {
    assert_snapshot!(load(&exporting((0..900_000).map(|n| format!("e{n}")))), @"");
    assert_snapshot!(load(&importing((0..900_000).map(|n| format!("i{n}")))), @"");
    let arena = Arena::new();
    arena.write("file.wasm", importing((0..100_000).map(|n| format!("i{n}"))));
    let inspected = arena.run("scorebox inspect ./file.wasm");
    assert!(inspected.stdout.lines().count() < 1000, "{} lines", inspected.stdout.lines().count());
}

#[test]
fn a_file_larger_than_any_scorer() {
    let ballast = vec![0; 130 << 20];
    let section = CustomSection { name: "ballast".into(), data: ballast.into() };
    assert_snapshot!(load(&with(&scorer(), &[&section])), @"");
}

#[test]
fn a_file_almost_as_large_as_that_does_no_harm() {
    let ballast = vec![0; 120 << 20];
    let section = CustomSection { name: "ballast".into(), data: ballast.into() };
    assert_snapshot!(load(&with(&scorer(), &[&section])), @"");
}

#[test]
fn very_many_sections_do_no_harm() {
    let section = CustomSection { name: "x".into(), data: (&[][..]).into() };
    let sections = vec![&section as &dyn wasm_encoder::ComponentSection; 100_000];
    assert_snapshot!(load(&with(&scorer(), &sections)), @"");
}

#[test]
fn noise_and_halves() {
    assert_snapshot!(load(&noise(100_000)), @"");
    assert_snapshot!(load(&noise(0)), @"");
    let whole = scorer();
    assert_snapshot!(load(&whole[..whole.len() / 2]), @"");
    assert_snapshot!(load(&whole[..9]), @"");
}

#[test]
fn what_is_exported_beside_the_contract_is_nobodys_business() {
    let arena = Arena::new();
    let mut exports = ComponentExportSection::new();
    exports.export("scorebox:store/database@0.1.0", ComponentExportKind::Component, 0, None);
    exports.export("judge", ComponentExportKind::Component, 0, None);
    let component = with(&builtin("exact-match"), &[&exports]);
    arena.write("more.wasm", component);
    let output = arena.run("scorebox score ./more.wasm --output 1 --ground-truth 1 --no-cache");
    assert_eq!(output.exits_with(0).json()["score"], 1.0);
}
