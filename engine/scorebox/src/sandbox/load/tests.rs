//! Loads built-in scorers: an image is made again where necessary, and a scorer's own message about a wrong
//! configuration is the same as its schema's. What a program sees is in the end-to-end tests of loading.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::*;
use crate::{
    advice::Advice,
    component_bytes::Packed,
    contract::{Example, ScorerInput},
    registry::{Reference, Registry},
    sandbox::{CacheOptions, Compiler, Grant, SandboxOptions},
};

/// Options that compile in this process, and keep code in `folder`.
fn cached_in(folder: &Path) -> SandboxOptions {
    let cache = CacheOptions::new(folder);
    SandboxOptions::default().with_compiler(Compiler::InProcess).with_cache(cache)
}

#[tokio::test]
async fn an_image_that_does_not_fit_its_code_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = cached_in(folder.path());
    let fresh = || Sandbox::new(&options).unwrap();
    let component = Registry::with_builtins().get("exact-match").unwrap().component;
    let config = ScorerConfig::default();
    let limits = Limits::default();
    let load = async |sandbox: &Sandbox| {
        sandbox.load(&component, &config, &limits, Grants::NONE).await.unwrap()
    };
    let sandbox = fresh();
    let first = load(&sandbox).await;
    let Source { outside, .. } = sandbox.source(&component, None, Grants::NONE).unwrap();
    let key = sandbox.image_key(component.digest(), config.as_str(), &limits.of_loading());
    let Shared { engine, cache, .. } = sandbox.shared();
    let empty = wasmtime::Module::from_binary(engine, b"\0asm\x01\0\0\0").unwrap();
    let entry = Entry { outside, info: first.info().clone(), image: KeptImage::Data(empty) };
    cache.as_ref().unwrap().put(key, &entry);
    let second = load(&fresh()).await;
    assert!(!second.cached());
    assert_eq!((first.info(), first.start()), (second.info(), second.start()));
    assert!(load(&fresh()).await.cached());
}

/// The component with another instruction instead of the offset of its first data segment.
fn with_broken_data(component: &[u8]) -> Vec<u8> {
    let data = wasmparser::Parser::new(0).parse_all(component).find_map(|payload| {
        match payload.unwrap() {
            wasmparser::Payload::DataSection(data) => Some(data.range().start),
            _ => None,
        }
    });
    let mut broken = component.to_vec();
    // After the number of segments and the first segment's kind.
    let offset = data.unwrap() + 2;
    assert_eq!(broken[offset], 0x41, "i32.const");
    broken[offset] = 0x02;
    broken
}

#[tokio::test]
async fn a_component_that_does_not_compile_for_its_data_says_nothing_of_one_with_the_same_code() {
    let options = SandboxOptions::default().with_compiler(Compiler::InProcess);
    let sandbox = Sandbox::new(&options).unwrap();
    let component = Registry::with_builtins().get("exact-match").unwrap().component;
    let broken = ComponentBytes::new(with_broken_data(component.bytes().unwrap()));
    let load = async |component: &ComponentBytes| {
        let config = ScorerConfig::default();
        sandbox.load(component, &config, &Limits::default(), Grants::NONE).await
    };
    for _ in 0..2 {
        let refused = load(&broken).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::InvalidComponent);
        assert_eq!(load(&component).await.unwrap().info().id, "exact-match");
    }
}

/// Bytes that nobody may read.
struct OutOfReach;

impl Packed for OutOfReach {
    fn unpacked(&self) -> Option<Vec<u8>> {
        None
    }
}

#[tokio::test]
async fn what_is_compiled_already_is_loaded_without_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let options = cached_in(folder.path());
    let fresh = || Sandbox::new(&options).unwrap();
    let (config, limits) = (ScorerConfig::default(), Limits::default());
    let component = Registry::with_builtins().get("exact-match").unwrap().component;
    let named = ComponentBytes::packed(&OutOfReach, component.digest(), component.length());
    let unloaded = fresh().load(&named, &config, &limits, Grants::NONE).await.unwrap_err();
    assert_eq!(unloaded.kind, ErrorKind::InvalidComponent);
    assert!(unloaded.message.ends_with(" is damaged"), "{unloaded}");

    let first = fresh().load(&component, &config, &limits, Grants::NONE).await.unwrap();
    let info = fresh().describe(&component, &limits, Grants::NONE).await.unwrap();
    let second = fresh().load(&named, &config, &limits, Grants::NONE).await.unwrap();
    assert!(second.cached());
    assert_eq!(first.anatomy(), second.anatomy());
    assert_eq!(fresh().describe(&named, &limits, Grants::NONE).await.unwrap(), info);
    let fuel = async |scorer: LoadedScorer| scorer.score(ScorerInput::of("1")).await.fuel;
    assert_eq!(fuel(first).await, fuel(second).await);
}

#[tokio::test]
async fn what_is_compiled_already_still_needs_its_grants() {
    let folder = tempfile::tempdir().unwrap();
    let options = cached_in(folder.path());
    let sandbox = Sandbox::new(&options).unwrap();
    let (config, limits) = (ScorerConfig::default(), Limits::default());
    let component = Registry::with_builtins().get("factuality").unwrap().component;
    let granted: Grants = [Grant::Judge].into_iter().collect();
    sandbox.load(&component, &config, &limits, granted).await.unwrap();
    sandbox.describe(&component, &limits, granted).await.unwrap();
    let loaded = sandbox.load(&component, &config, &limits, Grants::NONE).await.unwrap_err();
    let described = sandbox.describe(&component, &limits, Grants::NONE).await.unwrap_err();
    assert_eq!((loaded.kind, described.kind), (ErrorKind::MissingGrant, ErrorKind::MissingGrant));
}

/// The message as the scorer itself words it.
fn in_the_scorers_words(error: ScoreError) -> String {
    match error.advice {
        Some(Advice::DidYouMean(names)) => {
            format!("{}; did you mean `{}`?", error.message, names.join("` or `"))
        }
        _ => error.message,
    }
}

/// Wrong spellings of the keys of `example`, and wrong types of its values.
fn misspelt(example: &Map<String, Value>) -> [Map<String, Value>; 5] {
    let renamed = |key: &str, to: String| -> Map<String, Value> {
        let other = |name: &String| if name == key { to.clone() } else { name.clone() };
        example.iter().map(|(name, value)| (other(name), value.clone())).collect()
    };
    let first = example.keys().next().cloned().unwrap_or_default();
    let (start, end) = first.split_at(first.len() / 2);
    [
        renamed(&first, format!("{first}x")),
        renamed(&first, first.to_uppercase()),
        renamed(&first, format!("{start}_{end}")),
        example.iter().map(|(name, _)| (name.clone(), json!([[true]]))).collect(),
        [("no such key".to_owned(), json!(1))].into_iter().collect(),
    ]
}

#[tokio::test]
async fn a_configuration_that_the_schema_refuses_is_one_that_the_scorer_refuses_in_the_same_words()
{
    let options = SandboxOptions::default().with_compiler(Compiler::InProcess);
    let sandbox = Sandbox::new(&options).unwrap();
    let registry = Registry::with_builtins();
    let limits = Limits::default().of_loading();
    let (mut refused, mut taken) = (0, 0);
    for name in registry.list() {
        let budget = sandbox.compile_budget();
        let component = registry.get(name).unwrap().component;
        let info = registry.info_of(&Reference::Name(name.to_owned())).unwrap();
        let source = sandbox.source(&component, None, Grant::ALL.into_iter().collect()).unwrap();
        // A scorer that asks a judge has no example.
        let example =
            source.outside.anatomy.example.as_deref().map(|text| Example::parse(text).unwrap());
        let example = example.map(|example| example.config).unwrap_or_default();
        let (code, _) = sandbox.code_of(&source, &budget).await.unwrap();
        for config in misspelt(&example) {
            let config = ScorerConfig::new(&config);
            let configured = sandbox.configure(&source, &code, &config, &limits, &budget).await;
            match (check_config(&info, &config), configured.err()) {
                (Err(schema), Some(scorer)) => {
                    assert_eq!(schema.kind, scorer.kind, "{name} {config:?}: {scorer}");
                    let schema = in_the_scorers_words(schema);
                    assert_eq!(schema, scorer.message, "{name} {config:?}");
                    refused += 1;
                }
                (Err(schema), None) => panic!("{name} takes {config:?}, but: {schema}"),
                (Ok(()), Some(scorer)) => {
                    let unknown = scorer.message.contains("unknown key");
                    assert!(!unknown, "{name} {config:?}: {scorer}");
                }
                (Ok(()), None) => taken += 1,
            }
        }
    }
    assert!(refused > 100, "{refused} refused, {taken} taken");
}
