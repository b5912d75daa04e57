//! Scorers that try to keep something from one case to the next.

use insta::assert_snapshot;
use serde_json::json;

use crate::{
    hostile_files::instantiated,
    hostile_fixture::{Arena, attacker},
    hostile_modules::Module,
};

/// What the attacker reports to have found of its traces; the same on every case of a run.
fn found(arena: &Arena, scorer: &str, config: &serde_json::Value) -> String {
    let config = config.to_string();
    arena.run_beside_a_good_scorer(scorer, &config, "").exits_with(0);
    let alone = arena.score(scorer, &config, "").exits_with(0).json();
    alone["reason"].as_str().unwrap().to_owned()
}

#[test]
fn what_a_score_leaves_behind_is_gone_with_it() {
    let arena = Arena::new();
    assert_snapshot!(found(&arena, "attacker", &json!({"score": "leave-traces"})), @"static: false, heap: false, memory: false, new memory: false, pages: 6");
}

#[test]
fn what_configure_leaves_is_where_every_score_begins() {
    let arena = Arena::new();
    let both = json!({"configure": "leave-traces", "score": "leave-traces"});
    assert_snapshot!(found(&arena, "attacker", &both), @"static: true, heap: true, memory: true, new memory: false, pages: 7");
}

#[test]
fn without_a_frozen_start_it_is_the_same() {
    let arena = Arena::new();
    // A nested component with a module prevents it from being frozen.
    let twin = instantiated(&attacker("attacker"), &wasm_encoder::Module::new());
    arena.write("twin.wasm", twin);
    let inspected = arena.run("scorebox inspect ./twin.wasm --format json").exits_with(0).json();
    assert_eq!(inspected["frozen"], false, "{inspected}");
    for config in [
        json!({"score": "leave-traces"}),
        json!({"configure": "leave-traces", "score": "leave-traces"}),
    ] {
        assert_eq!(found(&arena, "twin", &config), found(&arena, "attacker", &config));
    }
}

/// A frozen start consists of memory and globals; handles are in wasmtime's own tables.
#[test]
fn a_handle_that_configure_made_is_what_it_was_in_every_score() {
    let arena = Arena::new();
    for whole in ["", "(data \"passive\")"] {
        let holder = Module {
            world: "package attack:held;
                interface holders { resource holder; }
                world attacker { export holders; }",
            imports: r#"
                (import "[export]attack:held/holders" "[resource-new]holder"
                    (func $new (param i32) (result i32)))
                (import "[export]attack:held/holders" "[resource-rep]holder"
                    (func $of (param i32) (result i32)))"#,
            configure: "(global.set $handle (call $new (i32.const 42))) (i32.const 3072)",
            score: "(drop (call $new (i32.const 7)))
                (if (i32.ne (call $of (global.get $handle)) (i32.const 42)) (then (unreachable)))
                (i32.const 4096)",
            more: &format!("(global $handle (mut i32) (i32.const 0)) {whole}"),
            ..Module::default()
        };
        arena.write("holder.wasm", holder.component());
        // The second time it comes from the cache.
        for _ in 0..2 {
            let inspected = arena.run("scorebox inspect ./holder.wasm --format json");
            assert_eq!(
                inspected.exits_with(0).json()["notFrozenBecause"],
                "the component makes handles of resources of its own"
            );
            let scored = arena.run("scorebox score ./holder.wasm --output 1");
            assert_eq!(scored.exits_with(0).json()["score"], 1.0, "{whole}");
        }
    }
}
