//! Built-in scorers loaded: an image is made again where it has to be, and a scorer's own words about a wrong
//! configuration are its schema's. What a program meets stands in the end-to-end tests of loading.

use serde_json::{Map, Value, json};

use super::*;
use crate::{
    contract::Example,
    registry::{Reference, Registry},
    sandbox::{CacheOptions, Compiler, SandboxOptions},
};

#[tokio::test]
async fn an_image_that_does_not_fit_its_code_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = SandboxOptions::default()
        .with_compiler(Compiler::InProcess)
        .with_cache(CacheOptions::new(folder.path()));
    let fresh = || Sandbox::new(&options).unwrap();
    let component = Registry::with_builtins().get("exact-match").unwrap().bytes.into_owned();
    let config = ScorerConfig::default();
    let limits = Limits::default();
    let load = async |sandbox: &Sandbox| {
        sandbox.load(&component, &config, &limits, Grants::NONE).await.unwrap()
    };
    let sandbox = fresh();
    let first = load(&sandbox).await;
    let source = Source { component: &component, digest: first.digest(), way: Way::Apart };
    let key = sandbox.cache_key(&source, config.as_str(), Some(&limits.of_loading()));
    let Shared { engine, cache, .. } = sandbox.shared();
    let empty = wasmtime::Module::from_binary(engine, b"\0asm\x01\0\0\0").unwrap();
    let entry = Entry { info: first.info().clone(), image: KeptImage::Data(empty) };
    cache.as_ref().unwrap().put(key, &entry);
    let second = load(&fresh()).await;
    assert!(!second.cached());
    assert_eq!((first.info(), first.start()), (second.info(), second.start()));
    assert!(load(&fresh()).await.cached());
}

/// The message as the scorer itself puts it.
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
    let budget = sandbox.compile_budget();
    let (mut refused, mut taken) = (0, 0);
    for name in registry.list() {
        let component = registry.get(name).unwrap().bytes.into_owned();
        let info = registry.info_of(&Reference::Name(name.to_owned())).unwrap();
        let anatomy = Anatomy::read(&component).unwrap();
        // One that asks a judge has no example.
        let example = anatomy.example.as_deref().map(|text| Example::parse(text).unwrap());
        let example = example.map(|example| example.config).unwrap_or_default();
        let digest = Digest::of(&component);
        let source = Source { component: &component, digest, way: sandbox.way_of(&anatomy) };
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
