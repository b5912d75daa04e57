//! Makes the linked wasmtime produce each message. The last messages of a compiler process, which would end this
//! process, are tested end to end with compiling.

use wasmtime::{
    Engine, Store,
    component::{Component, ComponentNamedList, ComponentType, Lift, Linker, Lower},
};
use wasmtime_wasi::p2::{
    OutputStream, bindings::random::random::Host as _, pipe::MemoryOutputPipe,
};

use super::*;
use crate::sandbox::settings;

/// wasmtime's error for a call of the component's function `f` with `parameters`: its cause, without the backtrace.
fn said_of_a_call<P, R>(component: &str, parameters: P, prepare: fn(&mut Store<()>)) -> String
where
    P: ComponentNamedList + Lower,
    R: Lift + ComponentType + 'static,
{
    let engine = Engine::new(&settings::common(settings::Traps::Signals)).unwrap();
    let component = Component::from_binary(&engine, &wat::parse_str(component).unwrap()).unwrap();
    let mut linker = Linker::new(&engine);
    linker.root().func_wrap("name", |_, (): ()| Ok(("name".to_owned(),))).unwrap();
    let mut store = Store::new(&engine, ());
    store.set_fuel(1_000_000).unwrap();
    store.set_epoch_deadline(1_000_000);
    prepare(&mut store);
    let instance = linker.instantiate(&mut store, &component).unwrap();
    let function = instance.get_typed_func::<P, (R,)>(&mut store, "f").unwrap();
    let error = function.call(&mut store, parameters).err().unwrap();
    error.root_cause().to_string()
}

/// A component whose `f` returns a `ty`, from a core function with this `result` and `code`.
fn answering(ty: &str, result: &str, code: &str, options: &str) -> String {
    format!(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "f") (result {result}) {code}))
            (core instance $i (instantiate $m))
            {ty}
            (func (export "f") (result $t)
                (canon lift (core func $i "f") (memory (core memory $i "memory")) {options})))"#
    )
}

/// The error for an answer of type `ty` at `at`, when the words at 64 are `words`.
fn said_of_an_answer<R: Lift + ComponentType + 'static>(
    ty: &str,
    at: u32,
    words: [u32; 2],
    options: &str,
) -> String {
    let [first, second] = words;
    let code = format!(
        "(i32.store (i32.const 64) (i32.const {first})) \
         (i32.store (i32.const 68) (i32.const {second})) (i32.const {at})"
    );
    let ty = format!("(type $t {ty})");
    said_of_a_call::<(), R>(&answering(&ty, "i32", &code, options), (), |_| ())
}

#[track_caller]
fn breaks_the_contract(said: &str, phrase: &str) {
    assert!(said.contains(phrase) && BREAKS_THE_CONTRACT.contains(&phrase), "{said}");
}

#[test]
fn texts_and_lists_that_end_beyond_the_memory_break_the_contract() {
    let beyond = [0, u32::MAX];
    let text = said_of_an_answer::<String>("string", 64, beyond, "");
    breaks_the_contract(&text, "pointer/length out of bounds of memory");
    let list = said_of_an_answer::<Vec<u8>>("(list u8)", 64, beyond, "");
    breaks_the_contract(&list, "pointer/length out of bounds of memory");
}

#[test]
fn an_answer_that_is_beyond_the_memory_breaks_the_contract() {
    let said = said_of_an_answer::<String>("string", 0x10000, [0, 0], "");
    assert_eq!(said, "pointer out of bounds of memory");
    breaks_the_contract(&said, "pointer out of bounds");
}

#[test]
fn pointers_that_are_not_aligned_break_the_contract() {
    let answer = said_of_an_answer::<String>("string", 65, [0, 0], "");
    breaks_the_contract(&answer, "pointer not aligned");
    let text = said_of_an_answer::<String>("string", 64, [1, 1], "string-encoding=utf16");
    breaks_the_contract(&text, "pointer not aligned");
    let list = said_of_an_answer::<Vec<u32>>("(list u32)", 64, [1, 1], "");
    breaks_the_contract(&list, "pointer is not aligned");
}

#[derive(ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
enum Word {
    #[component(name = "a")]
    _A,
    #[component(name = "b")]
    _B,
}

#[test]
fn a_variant_that_is_not_there_breaks_the_contract() {
    let option = said_of_an_answer::<Option<u32>>("(option u32)", 64, [7, 0], "");
    breaks_the_contract(&option, "discriminant");
    let result = said_of_an_answer::<Result<u32, u32>>("(result u32 (error u32))", 64, [7, 0], "");
    breaks_the_contract(&result, "discriminant");
    let ty = r#"(type $e (enum "a" "b")) (export $t "e" (type $e))"#;
    let word = said_of_a_call::<(), Word>(&answering(ty, "i32", "(i32.const 9)", ""), (), |_| ());
    breaks_the_contract(&word, "discriminant");
}

/// The error for a component whose `f` takes a list, for which its allocator returns `place`.
fn said_of_an_allocation(place: u32) -> String {
    let component = format!(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const {place}))
                (func (export "f") (param i32 i32) (result i32) (i32.const 0)))
            (core instance $i (instantiate $m))
            (func (export "f") (param "list" (list u32)) (result u32)
                (canon lift (core func $i "f") (memory (core memory $i "memory")) (realloc (core func $i "realloc")))))"#
    );
    said_of_a_call::<(&[u32],), u32>(&component, (&[1, 2, 3],), |_| ())
}

#[test]
fn an_allocator_that_gives_places_it_does_not_have_breaks_the_contract() {
    for (place, said) in [(0x10000, "beyond end of memory"), (1, "result not aligned")] {
        let found = said_of_an_allocation(place);
        assert_eq!(found, format!("realloc return: {said}"));
        breaks_the_contract(&found, "realloc return: ");
    }
}

/// The error for a guest that requests the host's answer at `place`.
fn said_of_a_host_call(place: u32) -> String {
    let component = format!(
        r#"(component
            (import "name" (func $name (result string)))
            (core module $memory
                (memory (export "memory") 1)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0)))
            (core instance $memory (instantiate $memory))
            (core func $name (canon lower (func $name)
                (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
            (core module $m
                (import "host" "name" (func $name (param i32)))
                (func (export "f") (result i32) (call $name (i32.const {place})) (i32.const 0)))
            (core instance $i (instantiate $m
                (with "host" (instance (export "name" (func $name))))))
            (func (export "f") (result u32) (canon lift (core func $i "f"))))"#
    );
    said_of_a_call::<(), u32>(&component, (), |_| ())
}

#[test]
fn a_place_for_the_hosts_answer_that_is_not_there_breaks_the_contract() {
    breaks_the_contract(&said_of_a_host_call(0x10000), "pointer out of bounds");
    breaks_the_contract(&said_of_a_host_call(1), "pointer not aligned");
}

#[test]
fn handing_over_more_than_a_call_may_is_said_in_these_words() {
    let ty = "(type $t string)";
    let code = "(i32.store (i32.const 68) (i32.const 100)) (i32.const 64)";
    let component = answering(ty, "i32", code, "");
    let said = said_of_a_call::<(), String>(&component, (), |store| store.set_hostcall_fuel(99));
    assert!(said.contains(HANDS_OVER_TOO_MUCH), "{said}");
}

#[test]
fn taking_more_handles_than_there_are_is_said_in_these_words() {
    let component = r#"(component
        (type $r (resource (rep i32)))
        (core func $new (canon resource.new $r))
        (core module $m
            (import "host" "new" (func $new (param i32) (result i32)))
            (func (export "f") (result i32)
                (drop (call $new (i32.const 1))) (call $new (i32.const 2))))
        (core instance $i (instantiate $m (with "host" (instance (export "new" (func $new))))))
        (func (export "f") (result u32) (canon lift (core func $i "f"))))"#;
    let one = |store: &mut Store<()>| store.set_max_component_handles(1);
    let said = said_of_a_call::<(), u32>(component, (), one);
    assert!(said.contains(TOO_MANY_HANDLES), "{said}");
}

#[test]
fn printing_more_than_is_kept_is_said_in_these_words() {
    let said = MemoryOutputPipe::new(1).write("xx".into()).unwrap_err().to_string();
    assert!(said.contains(PRINTS_TOO_MUCH[0]), "{said}");
    let said = MemoryOutputPipe::new(1).write_zeroes(2).unwrap_err().to_string();
    assert!(said.contains(PRINTS_TOO_MUCH[1]), "{said}");
}

#[test]
fn asking_for_more_randomness_than_one_call_gives_is_said_in_these_words() {
    let mut random = wasmtime_wasi::random::WasiRandomCtx::default();
    let said = random.get_random_bytes(u64::MAX).unwrap_err().to_string();
    assert!(said.starts_with(TOO_MUCH_RANDOMNESS), "{said}");
}

/// Why an engine with the pool's bounds refuses a component.
fn refusal(component: &str) -> String {
    let engine = Engine::new(&settings::checking(settings::Traps::Signals)).unwrap();
    format!(
        "{:#}",
        Component::from_binary(&engine, &wat::parse_str(component).unwrap()).err().unwrap()
    )
}

#[test]
fn what_does_not_parse_is_said_in_these_words() {
    let said = refusal(r#"(component (core module (export "f" (func 3))))"#);
    assert!(said.starts_with(DOES_NOT_PARSE), "{said}");
}

#[test]
fn that_a_component_is_asynchronous_is_said_in_these_words() {
    let said = refusal("(component (core func (canon task.return)))");
    assert!(said.contains(IS_ASYNCHRONOUS), "{said}");
}

#[test]
fn that_a_pool_has_no_room_for_a_component_is_said_in_these_words() {
    let said = refusal(
        "(component (core module $m (table 70000 funcref)) (core instance (instantiate $m)))",
    );
    assert!(said.contains(POOL_REQUIREMENTS) && said.contains(DOES_NOT_FIT_THE_POOL), "{said}");
    let instances = "(core instance (instantiate $m))".repeat(49);
    let said = refusal(&format!("(component (core module $m) {instances})"));
    assert!(said.contains(DOES_NOT_FIT_THE_POOL), "{said}");
}
