//! A host program that compiles in a separate process: `main` begins with `compile_if_asked`, and a file that crashes
//! the compiler ends only that process. There is no test harness, because the test is about the program's own `main`.

use scorebox::{
    case::Case,
    component_bytes::ComponentBytes,
    registry::Registry,
    sandbox::{ErrorKind, Grants, Limits, Sandbox, SandboxOptions, ScorerConfig, compile_if_asked},
};
use wasm_encoder::{Component, ComponentType, ComponentTypeSection, CustomSection};

fn main() {
    // This would happen in a program that forgets the next line.
    let forgotten = Sandbox::new(&SandboxOptions::default()).err().map(|error| error.message);
    compile_if_asked();
    let forgotten = forgotten.expect("a program that cannot compile as it should is refused");
    assert!(forgotten.contains("`main` does not begin with"), "{forgotten}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(a_scorer_is_compiled_and_a_hostile_file_ends_only_its_compiler());
}

async fn a_scorer_is_compiled_and_a_hostile_file_ends_only_its_compiler() {
    let sandbox = Sandbox::new(&SandboxOptions::default()).unwrap();
    let (config, limits) = (ScorerConfig::default(), Limits::default());
    let source = Registry::with_builtins().get("exact-match").unwrap();
    let bomb = ComponentBytes::new(nested_without_end(source.component.bytes().unwrap()));
    let refused = sandbox.load(&bomb, &config, &limits, Grants::NONE).await.err().unwrap();
    assert_eq!(refused.kind, ErrorKind::InvalidComponent);
    assert!(refused.message.contains("it is nested too deep"), "{refused}");

    let scorer = sandbox.load(&source.component, &config, &limits, Grants::NONE).await.unwrap();
    let case = Case::from_json(r#"{"output": 1, "groundTruth": 1}"#).unwrap();
    let outcome = scorer.score(case.scorer_input(scorer.info().reads)).await;
    assert_eq!(outcome.result.unwrap().score, Some(1.0));
}

/// The scorer, with a type that overflows the stack of any parser.
fn nested_without_end(scorer: &[u8]) -> Vec<u8> {
    let innermost = ComponentType::new();
    let outermost = (0..20_000).fold(innermost, |inner, _| {
        let mut outer = ComponentType::new();
        outer.ty().component(&inner);
        outer
    });
    let mut types = ComponentTypeSection::new();
    types.component(&outermost);
    // A section is independent, so it may follow the last one of the scorer.
    let mut alone = Component::new();
    alone.section(&CustomSection { name: "".into(), data: (&[]).into() }).section(&types);
    let preamble = 8;
    [scorer, &alone.finish()[preamble..]].concat()
}
