//! The same attacks with too little address space for a pool: they must end in the same way, because a score must not
//! depend on the machine.

use serde_json::json;
use wasm_encoder::{
    ConstExpr, GlobalSection, GlobalType, RefType, TableSection, TableType, ValType,
};

use crate::{
    hostile_files::{core_instances, instantiated, with_instance_of},
    hostile_fixture::{Arena, attacker, words},
    hostile_modules::Module,
};

/// A command with a limit of address space, in KiB, that leaves no room for a pool but enough for the rest.
fn in_short_space(command: &str) -> String {
    format!("sh -c 'ulimit -v 4000000; exec {}'", command.replace('\'', r"'\''"))
}

/// The output that the user sees of a score by `component`, which must be the same with and without a pool.
#[track_caller]
fn alike(component: &[u8], config: &str, timeout: &str) {
    let arena = Arena::new();
    arena.write("file.wasm", component);
    let command = format!(
        "scorebox score ./file.wasm --config '{config}' --output 1 --timeout {timeout} --no-cache"
    );
    let (with, without) = (arena.run(&command), arena.run(&in_short_space(&command)));
    assert_eq!(words(&with), words(&without), "with a pool, and without");
}

#[test]
fn what_a_score_does_ends_alike() {
    for word in ["behave", "recurse", "take-memory-in-steps", "call-a-number", "divide-by-zero"] {
        alike(&attacker("attacker"), &json!({"score": word}).to_string(), "60s");
    }
    let large = json!({"score": "log-one-long-line", "amount": 30 << 20});
    alike(&attacker("attacker"), &large.to_string(), "60s");
    alike(&attacker("attacker"), &json!({"score": "spin"}).to_string(), "300ms");
}

#[test]
fn what_a_component_may_have_is_bounded_alike() {
    let scorer = Module::default().component();
    alike(&with_instance_of(&scorer, &core_instances(60)), "{}", "60s");
    let mut globals = GlobalSection::new();
    let global = GlobalType { val_type: ValType::I64, mutable: true, shared: false };
    for _ in 0..900_000 {
        globals.global(global, &ConstExpr::i64_const(1));
    }
    let mut module = wasm_encoder::Module::new();
    module.section(&globals);
    alike(&instantiated(&scorer, &module), "{}", "60s");
    let mut tables = TableSection::new();
    for _ in 0..90 {
        tables.table(TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum: 1,
            maximum: None,
            shared: false,
        });
    }
    let mut module = wasm_encoder::Module::new();
    module.section(&tables);
    alike(&instantiated(&scorer, &module), "{}", "60s");
}

#[test]
fn tables_grow_alike_with_and_without_a_pool() {
    let grown = "(loop $l (br_if $l (i32.ne
        (table.grow $t (ref.null func) (i32.const 100)) (i32.const -1))))
        (if (i32.gt_u (table.size $t) (i32.const 70000)) (then unreachable)) (i32.const 4096)";
    let more = "(table $t 1 funcref)";
    alike(&Module { score: grown, more, ..Module::default() }.component(), "{}", "60s");
}
