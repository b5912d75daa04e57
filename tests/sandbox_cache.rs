//! The cache of compiled code: valid entries are used, and a damaged one costs time but never a score.

use std::{
    cmp::Reverse,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use scorebox::{
    component_bytes::ComponentBytes,
    registry::{Reference, Registry},
    sandbox::{
        CacheOptions, CompileLimits, Compiler, DEFAULT_CACHE_BYTES, LoadedScorer, Sandbox,
        SandboxOptions, Start,
    },
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    hostile_fixture::compiling_by_shell,
    hostile_modules::{Module, REASON, answer_with},
    sandbox_fixture::{guest, load, output, result},
};

fn sandbox(folder: &Path, max_bytes: u64) -> Sandbox {
    let cache = CacheOptions::new(folder).with_max_bytes(max_bytes);
    Sandbox::new(&SandboxOptions::default().with_compiler(Compiler::InProcess).with_cache(cache))
        .unwrap()
}

/// A sandbox like one in another process.
fn fresh(folder: &Path) -> Sandbox {
    sandbox(folder, DEFAULT_CACHE_BYTES)
}

async fn misbehave(sandbox: &Sandbox, settings: Value) -> LoadedScorer {
    load(sandbox, &guest("misbehave"), &settings).await
}

/// The state that `configure` leaves is too large to be frozen, with any amount from 40 MiB on.
async fn unfrozen(folder: &Path, mebibytes: usize) -> LoadedScorer {
    misbehave(&fresh(folder), json!({"first": "take-memory", "amount": mebibytes << 20})).await
}

/// Reason and fuel of a score.
async fn trail(scorer: &LoadedScorer) -> (Option<String>, Option<u64>) {
    let outcome = scorer.score(output("1")).await;
    let fuel = outcome.fuel;
    (result(outcome).reason, fuel)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// The images, the latest first, and then the code.
fn by_size(folder: &Path) -> Vec<PathBuf> {
    let mut files = files(folder);
    let metadata = |file: &PathBuf| file.metadata().unwrap();
    files.sort_by_key(|file| (metadata(file).len(), Reverse(metadata(file).modified().unwrap())));
    files
}

/// Bytes of the smallest entry.
fn smallest(folder: &Path) -> u64 {
    by_size(folder)[0].metadata().unwrap().len()
}

fn bytes_in(folder: &Path) -> u64 {
    files(folder).iter().map(|file| file.metadata().unwrap().len()).sum()
}

#[tokio::test]
async fn what_was_loaded_once_comes_from_the_cache_and_scores_the_same() {
    let folder = TempDir::new().unwrap();
    // The counter is in the frozen memory, so that the second start shows its initial value.
    let settings = json!({"first": "keep-state", "then": "keep-state"});
    let uncached =
        Sandbox::new(&SandboxOptions::default().with_compiler(Compiler::InProcess)).unwrap();
    let expected = trail(&misbehave(&uncached, settings.clone()).await).await;
    assert_eq!(expected.0.as_deref(), Some("2"));

    let first = misbehave(&fresh(folder.path()), settings.clone()).await;
    assert!(!first.cached());
    let second = misbehave(&fresh(folder.path()), settings).await;
    assert!(second.cached());
    assert_eq!(*second.start(), Start::Frozen);
    assert_eq!((first.info(), first.digest()), (second.info(), second.digest()));
    assert_eq!((trail(&first).await, trail(&second).await), (expected.clone(), expected));
}

#[tokio::test]
async fn a_scorer_that_is_not_frozen_is_cached_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let first = unfrozen(folder.path(), 40).await;
    let second = unfrozen(folder.path(), 40).await;
    assert!(second.cached());
    assert!(matches!(second.start(), Start::ConfigureEachTime { .. }));
    assert_eq!(first.start(), second.start());
    assert_eq!(trail(&first).await, trail(&second).await);
}

#[tokio::test]
async fn an_entry_is_for_one_component_and_one_configuration() {
    let folder = TempDir::new().unwrap();
    let told = json!({"then": "not-applicable"});
    misbehave(&fresh(folder.path()), json!({})).await;
    let other = misbehave(&fresh(folder.path()), told.clone()).await;
    assert!(!other.cached());
    assert_eq!(files(folder.path()).len(), 3, "the code, and what each configuration made of it");
    let again = misbehave(&fresh(folder.path()), told).await;
    assert!(again.cached());
    assert_eq!(trail(&again).await.0.as_deref(), Some("was told not to apply"));
    assert!(!load(&fresh(folder.path()), &guest("sleeper"), &json!({})).await.cached());
}

#[tokio::test]
async fn code_is_compiled_once_for_all_configurations() {
    let folder = TempDir::new().unwrap();
    misbehave(&fresh(folder.path()), json!({})).await;
    let one = files(folder.path());
    let code = by_size(folder.path()).pop().unwrap();
    // A new configuration reads the code, and makes another small image.
    let written = code.metadata().unwrap().ino();
    let settings = json!({"first": "keep-state", "then": "keep-state"});
    let other = misbehave(&fresh(folder.path()), settings).await;
    assert_eq!(trail(&other).await.0.as_deref(), Some("2"));
    assert_eq!(
        (files(folder.path()).len(), code.metadata().unwrap().ino()),
        (one.len() + 1, written)
    );
    assert!(smallest(folder.path()) * 3 < code.metadata().unwrap().len());
    // An image is useless without its code.
    fs::remove_file(&code).unwrap();
    let again = misbehave(&fresh(folder.path()), json!({})).await;
    assert!(!again.cached());
    assert_eq!(result(again.score(output("1")).await).score, Some(1.0));
    assert!(code.exists());
}

/// A handwritten scorer that returns the word in its data, and runs `more` before that.
fn saying(word: &str, more: &str) -> Vec<u8> {
    let [there, address, length] = REASON;
    let answer = answer_with(&[(there, 1), (address, 5000), (length, word.len() as i32)]);
    let data = format!("(data (i32.const 5000) \"{word}\")");
    Module { score: &format!("{more} {answer}"), more: &data, ..Module::default() }.component()
}

#[tokio::test]
async fn code_is_compiled_once_for_components_that_differ_only_in_their_data() {
    let folder = TempDir::new().unwrap();
    let (one, another) = (saying("one", ""), saying("two", ""));
    let first = load(&fresh(folder.path()), &one, &json!({})).await;
    assert_eq!(trail(&first).await.0.as_deref(), Some("one"));
    let code = by_size(folder.path()).pop().unwrap();
    let written = code.metadata().unwrap().ino();
    let second = load(&fresh(folder.path()), &another, &json!({})).await;
    assert!(!second.cached());
    assert_eq!(trail(&second).await, (Some("two".to_owned()), trail(&first).await.1));
    assert_eq!(files(folder.path()).len(), 3, "the code, and an image of each");
    assert_eq!(code.metadata().unwrap().ino(), written);
    for (component, word) in [(&one, "one"), (&another, "two")] {
        let again = load(&fresh(folder.path()), component, &json!({})).await;
        assert!(again.cached());
        assert_eq!(trail(&again).await.0.as_deref(), Some(word));
        // Another configuration of it starts with its own data.
        let other = load(&fresh(folder.path()), component, &json!({"a": word})).await;
        assert_eq!(trail(&other).await.0.as_deref(), Some(word));
    }
    // One more instruction makes other code.
    let third = load(&fresh(folder.path()), &saying("two", "(nop)"), &json!({})).await;
    assert!(!third.cached());
    assert_eq!(files(folder.path()).len(), 7, "the code and the image of another");
}

#[tokio::test]
async fn what_is_not_taken_apart_shares_no_code_whatever_the_data() {
    let folder = TempDir::new().unwrap();
    let whole = |word: &str| {
        let answer = answer_with(&[(REASON[0], 1), (REASON[1], 5000), (REASON[2], 3)]);
        let more = format!("(func $begin) (start $begin) (data (i32.const 5000) \"{word}\")");
        Module { score: &answer, more: &more, ..Module::default() }.component()
    };
    let sandbox = fresh(folder.path());
    for word in ["one", "two", "one", "two"] {
        for sandbox in [&sandbox, &fresh(folder.path())] {
            let scorer = load(sandbox, &whole(word), &json!({})).await;
            assert_eq!(scorer.own_code(), Some("has a start function"));
            assert_eq!(trail(&scorer).await.0.as_deref(), Some(word));
        }
    }
}

#[tokio::test]
async fn of_an_edited_script_only_its_memory_is_compiled() {
    let folder = TempDir::new().unwrap();
    let sizes = folder.path().join("sizes");
    let line = format!("scorebox | tee -a '{}'", sizes.display());
    let sandbox = compiling_by_shell(&line, &CompileLimits::default());
    let script = folder.path().join("grade.js");
    let mut compiled = Vec::new();
    for score in ["0.5", "0.25", "0.125"] {
        fs::write(&script, format!("export default () => {score};")).unwrap();
        let reference = Reference::File(script.clone());
        let component = Registry::with_builtins().resolve(&reference).unwrap().component;
        let scorer = load(&sandbox, component.bytes().unwrap(), &json!({})).await;
        assert_eq!(result(scorer.score(output("1")).await).score, score.parse().ok());
        compiled.push(fs::metadata(&sizes).unwrap().len());
    }
    let [first, second, third] = compiled[..] else { panic!("{compiled:?}") };
    assert_eq!(third - second, second - first, "{compiled:?}");
    assert!((second - first) * 2 < first, "{compiled:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn configurations_that_are_loaded_at_once_wait_for_one_compiler() {
    let folder = TempDir::new().unwrap();
    let started = folder.path().join("started");
    let line = format!("echo a compiler >> '{}'; scorebox", started.display());
    let sandbox = compiling_by_shell(&line, &CompileLimits::default());
    let load = |settings| {
        let sandbox = sandbox.clone();
        tokio::spawn(async move { misbehave(&sandbox, settings).await })
    };
    // Two of them use the same configuration, the others use different ones.
    let loads = [0, 0, 1, 2, 3].map(|amount| load(json!({"amount": amount, "then": "keep-state"})));
    for load in loads {
        assert_eq!(trail(&load.await.unwrap()).await.0.as_deref(), Some("1"));
    }
    assert_eq!(fs::read_to_string(started).unwrap(), "a compiler\n");
}

#[tokio::test]
async fn configurations_of_a_scorer_that_is_not_frozen_share_its_code() {
    let folder = TempDir::new().unwrap();
    unfrozen(folder.path(), 40).await;
    let one = bytes_in(folder.path());
    let other = unfrozen(folder.path(), 41).await;
    assert!(!other.cached());
    assert_eq!(files(folder.path()).len(), 3, "the code, and a note for each configuration");
    assert!(bytes_in(folder.path()) - one < 10_000);
    assert!(unfrozen(folder.path(), 41).await.cached());
}

#[tokio::test]
async fn an_entry_that_is_not_whole_is_made_again() {
    let folder = TempDir::new().unwrap();
    let expected = trail(&unfrozen(folder.path(), 40).await).await;
    for entry in files(folder.path()) {
        let whole = fs::read(&entry).unwrap();
        let flipped = |place: usize| {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            bytes
        };
        let damages = [
            ("empty", Vec::new()),
            ("cut in its header", whole[..100].to_vec()),
            ("half written", whole[..whole.len() / 2].to_vec()),
            ("cut by a byte", whole[..whole.len() - 1].to_vec()),
            ("of another format", flipped(0)),
            ("with another digest", flipped(10)),
            ("with another key", flipped(60)),
            ("with a length of its header beyond its end", flipped(75)),
            ("with a flipped bit in its header", flipped(100)),
            ("with a flipped bit at its end", flipped(whole.len() - 20)),
        ];
        for (what, bytes) in damages {
            fs::write(&entry, bytes).unwrap();
            let scorer = unfrozen(folder.path(), 40).await;
            assert!(!scorer.cached(), "{what}");
            assert_eq!(trail(&scorer).await, expected, "{what}");
            let repaired = unfrozen(folder.path(), 40).await;
            assert!(repaired.cached(), "{what}: it was replaced");
        }
    }
}

#[tokio::test]
async fn the_folder_stays_under_its_bound_and_keeps_the_latest() {
    let folder = TempDir::new().unwrap();
    misbehave(&fresh(folder.path()), json!({"amount": 0})).await;
    // The code, which each of them uses, and two images.
    let bound = bytes_in(folder.path()) + smallest(folder.path()) * 3 / 2;
    for amount in 1..4 {
        for (age, file) in by_size(folder.path()).iter().enumerate() {
            // Makes existing entries older than new ones, whatever the resolution of the file system's clock.
            let file = fs::File::options().write(true).open(file).unwrap();
            let hours = Duration::from_secs(3600 * (age as u64 + 1));
            file.set_modified(SystemTime::now() - hours).unwrap();
        }
        misbehave(&sandbox(folder.path(), bound), json!({"amount": amount})).await;
        assert!(bytes_in(folder.path()) <= bound);
        let latest = sandbox(folder.path(), bound);
        assert!(misbehave(&latest, json!({"amount": amount})).await.cached());
    }
    assert_eq!(files(folder.path()).len(), 3, "as many as fit");
}

#[tokio::test]
async fn an_entry_larger_than_the_bound_is_not_kept() {
    let folder = TempDir::new().unwrap();
    let scorer = misbehave(&sandbox(folder.path(), 1000), json!({})).await;
    assert_eq!(result(scorer.score(output("1")).await).score, Some(1.0));
    assert!(files(folder.path()).is_empty());
}

#[tokio::test]
async fn a_folder_that_others_can_write_to_is_not_used_and_scoring_continues() {
    let folder = TempDir::new().unwrap();
    misbehave(&fresh(folder.path()), json!({})).await;
    for mode in [0o777, 0o702] {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        let sandbox = fresh(folder.path());
        let warnings = sandbox.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("can be written to by others"), "{warnings:?}");
        assert!(warnings[0].contains(&folder.path().display().to_string()));
        let scorer = misbehave(&sandbox, json!({})).await;
        assert!(!scorer.cached());
        assert_eq!(result(scorer.score(output("1")).await).score, Some(1.0));
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_created_is_a_warning_and_scoring_continues() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for place in [file.clone(), file.join("below")] {
        let sandbox = fresh(&place);
        assert_eq!(sandbox.warnings().len(), 1);
        let scorer = misbehave(&sandbox, json!({})).await;
        assert_eq!(result(scorer.score(output("1")).await).score, Some(1.0));
    }
}

#[test]
fn a_new_folder_is_for_the_user_alone() {
    let parent = TempDir::new().unwrap();
    let folder = parent.path().join("scorebox").join("code");
    assert!(fresh(&folder).warnings().is_empty());
    for made in [parent.path().join("scorebox"), folder] {
        assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_load_the_same_thing_at_once_do_not_disturb_each_other() {
    let folder = TempDir::new().unwrap();
    let (one, another) = (fresh(folder.path()), fresh(folder.path()));
    let (one, another) = tokio::join!(misbehave(&one, json!({})), misbehave(&another, json!({})));
    assert_eq!(trail(&one).await, trail(&another).await);
    assert_eq!(files(folder.path()).len(), 2, "code and image");
    assert!(misbehave(&fresh(folder.path()), json!({})).await.cached());
}

#[tokio::test]
async fn what_a_scorer_says_about_itself_is_cached_apart_from_its_code() {
    let folder = TempDir::new().unwrap();
    let describe = async |sandbox: Sandbox| {
        let (limits, grants) = Default::default();
        let component = ComponentBytes::new(guest("misbehave"));
        sandbox.describe(&component, &limits, grants).await.unwrap()
    };
    let first = describe(fresh(folder.path())).await;
    assert!(smallest(folder.path()) < 10_000);
    assert_eq!(describe(fresh(folder.path())).await, first);
    let scorer = misbehave(&fresh(folder.path()), json!({})).await;
    assert!(!scorer.cached());
    assert_eq!(*scorer.info(), first);
}

#[tokio::test]
async fn what_another_scorer_says_about_itself_is_not_taken() {
    let folder = TempDir::new().unwrap();
    let describe = async |name: &str| {
        let (limits, grants) = Default::default();
        let component = ComponentBytes::new(guest(name));
        fresh(folder.path()).describe(&component, &limits, grants).await.unwrap()
    };
    let right = (describe("misbehave").await, describe("sleeper").await);
    assert_ne!(right.0, right.1);
    let entries = by_size(folder.path());
    assert_eq!(entries.len(), 4, "code and a description of each");
    let mut contents: Vec<Vec<u8>> = entries.iter().map(|file| fs::read(file).unwrap()).collect();
    contents.swap(0, 1);
    contents.swap(2, 3);
    for (entry, content) in entries.iter().zip(contents) {
        fs::write(entry, content).unwrap();
    }
    assert_eq!((describe("misbehave").await, describe("sleeper").await), right);
}

#[tokio::test]
async fn code_that_is_not_configured_is_not_taken_for_what_is() {
    let folder = TempDir::new().unwrap();
    let expected = trail(&unfrozen(folder.path(), 40).await).await;
    let entries = files(folder.path());
    assert_eq!(entries.len(), 2, "the code, and a note for the configuration");
    let contents = [&entries[1], &entries[0]].map(|entry| fs::read(entry).unwrap());
    for (entry, content) in entries.iter().zip(contents) {
        fs::write(entry, content).unwrap();
    }
    let scorer = unfrozen(folder.path(), 40).await;
    assert!(!scorer.cached());
    assert_eq!(trail(&scorer).await, expected);
}
