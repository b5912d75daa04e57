//! Which changes make a component stale, and which do not.

use std::{fs, path::Path};

use super::{Packages, sources_digest};
use crate::digest::Digest;

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A workspace with a scorer, the SDK that it uses, and a crate that it does not use.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        (
            "Cargo.toml",
            "[workspace]\n[workspace.package]\nedition = \"2024\"\n[workspace.dependencies]\n\
             sdk = { path = \"sdk/core\" }\nserde = \"1\"\nother = \"2\"\n",
        ),
        (
            "Cargo.lock",
            "version = 4\n[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\nchecksum = \"aa\"\n\
             [[package]]\nname = \"other\"\nversion = \"2.0.0\"\nchecksum = \"bb\"\n",
        ),
        (
            "scorers/mine/Cargo.toml",
            "[package]\nname = \"mine\"\n[dependencies]\nsdk.workspace = true\n\
             [dev-dependencies]\nother.workspace = true\n",
        ),
        ("scorers/mine/src/lib.rs", "mod tests;"),
        ("scorers/mine/src/tests.rs", "// none"),
        ("scorers/mine/example.json", "{}"),
        (
            "sdk/core/Cargo.toml",
            "[package]\nname = \"sdk\"\n[dependencies]\nserde.workspace = true\n",
        ),
        ("sdk/core/src/lib.rs", ""),
        ("sdk/traces/Cargo.toml", "[package]\nname = \"traces\"\n"),
        ("sdk/traces/src/lib.rs", ""),
        ("wit/0.1.0/scorer.wit", "package a:b;"),
    ] {
        write(folder.path(), path, text);
    }
    folder
}

fn digest(folder: &Path) -> Digest {
    digest_of(folder, &[])
}

fn digest_of(folder: &Path, compiled: &[&str]) -> Digest {
    let compiled: Packages = compiled.iter().map(|package| (*package).to_owned()).collect();
    sources_digest(&folder.join("scorers"), "mine", &compiled).unwrap()
}

#[test]
fn what_a_component_is_built_from_makes_it_stale() {
    let folder = workspace();
    let before = digest(folder.path());
    let lock = fs::read_to_string(folder.path().join("Cargo.lock")).unwrap();
    let root = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
    for (path, text) in [
        ("scorers/mine/src/lib.rs", "fn changed() {}".to_owned()),
        ("scorers/mine/src/more.rs", String::new()),
        ("scorers/mine/example.json", "{\"case\": 1}".to_owned()),
        ("sdk/core/src/lib.rs", "fn changed() {}".to_owned()),
        ("wit/0.1.0/scorer.wit", "package c:d;".to_owned()),
        ("Cargo.lock", lock.replace("\"aa\"", "\"cc\"")),
        ("Cargo.toml", root.replace("serde = \"1\"", "serde = \"=1\"")),
        ("Cargo.toml", root.replace("2024", "2021")),
    ] {
        let file = folder.path().join(path);
        let written = fs::read_to_string(&file).ok();
        write(folder.path(), path, &text);
        assert_ne!(digest(folder.path()), before, "{path}");
        match written {
            Some(written) => fs::write(&file, written).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        assert_eq!(digest(folder.path()), before, "{path}");
    }
}

#[test]
fn what_a_component_is_not_built_from_does_not() {
    let folder = workspace();
    let before = digest(folder.path());
    let lock = fs::read_to_string(folder.path().join("Cargo.lock")).unwrap();
    let root = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
    for (path, text) in [
        ("scorers/mine/src/tests.rs", "// changed".to_owned()),
        ("scorers/mine/tests/all.rs", String::new()),
        ("scorers/mine/benches/fast.rs", String::new()),
        ("sdk/core/examples/one.rs", String::new()),
        ("sdk/core/src/config/tests.rs", String::new()),
        ("sdk/traces/src/lib.rs", "fn changed() {}".to_owned()),
        ("Cargo.lock", lock.replace("\"bb\"", "\"cc\"")),
        ("Cargo.toml", root.replace("other = \"2\"", "other = \"=2\"")),
    ] {
        write(folder.path(), path, &text);
        assert_eq!(digest(folder.path()), before, "{path}");
    }
}

#[test]
fn a_profiles_settings_count_if_they_are_for_what_is_compiled() {
    let folder = workspace();
    let root = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
    let with = |profile: &str| {
        write(folder.path(), "Cargo.toml", &format!("{root}{profile}"));
        digest_of(folder.path(), &["mine 0.1.0", "serde 1.0.0"])
    };
    let before = with("");
    for counts in [
        "[profile.scorebox-guest.package]\nserde = { opt-level = \"s\" }\n",
        "[profile.scorebox-guest.package.\"serde@1.0.0\"]\nopt-level = \"s\"\n",
        "[profile.scorebox-guest.package.\"*\"]\nopt-level = \"s\"\n",
        "[profile.scorebox-guest.package.\"https://example.com/serde\"]\nopt-level = \"s\"\n",
        "[profile.release.package]\nserde = { opt-level = \"s\" }\n",
        "[profile.release]\noverflow-checks = true\n",
    ] {
        assert_ne!(with(counts), before, "{counts}");
    }
    for counts_not in [
        "[profile.scorebox-guest.package]\nother = { opt-level = \"s\" }\n",
        "[profile.release.package]\nserde_json = { opt-level = \"s\" }\n",
        "[profile.release.build-override]\nopt-level = 1\n",
        "[profile.dev]\noverflow-checks = true\n",
        "[profile.dist.package]\nserde = { opt-level = \"s\" }\n",
    ] {
        assert_eq!(with(counts_not), before, "{counts_not}");
    }
    let small = with("[profile.scorebox-guest.package]\nserde = { opt-level = \"s\" }\n");
    let smaller = with("[profile.scorebox-guest.package]\nserde = { opt-level = \"z\" }\n");
    assert_ne!(small, smaller);
}

#[test]
fn what_all_guests_are_compiled_with_counts_if_it_is_for_what_is_compiled() {
    let folder = workspace();
    let without = digest_of(folder.path(), &["mine 0.1.0", "serde 1.0.0"]);
    let with = digest_of(folder.path(), &["mine 0.1.0", "serde 1.0.0", "zmij 1.0.23"]);
    assert_ne!(without, with, "what writes floats is compiled to be small");
    let other = digest_of(folder.path(), &["mine 0.1.0", "serde 1.0.0", "other 2.0.0"]);
    assert_eq!(without, other);
}

#[test]
fn a_dependency_that_is_not_locked_is_named() {
    let folder = workspace();
    write(
        folder.path(),
        "Cargo.lock",
        "version = 4\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n",
    );
    let error = sources_digest(&folder.path().join("scorers"), "mine", &Packages::default());
    let error = error.unwrap_err();
    assert!(error.to_string().contains("does not know the package `serde`"), "{error}");
}

/// A Cargo.lock in which serde has a dependency that only some of the workspace's crates enable.
fn lock(serde: &str, optional: &str) -> String {
    format!(
        "version = 4\n\
         [[package]]\nname = \"serde\"\nversion = \"1.0.0\"\nchecksum = \"{serde}\"\n\
         dependencies = [\"derive\"{optional}]\n\
         [[package]]\nname = \"derive\"\nversion = \"1.0.0\"\nchecksum = \"dd\"\n\
         [[package]]\nname = \"other\"\nversion = \"2.0.0\"\nchecksum = \"bb\"\n"
    )
}

#[test]
fn a_package_that_another_crates_features_bring_into_the_lock_does_not_count() {
    let folder = workspace();
    let compiled = ["serde 1.0.0", "derive 1.0.0"];
    write(folder.path(), "Cargo.lock", &lock("aa", ""));
    let (before, all) = (digest_of(folder.path(), &compiled), digest(folder.path()));
    write(folder.path(), "Cargo.lock", &lock("aa", ", \"other\""));
    assert_eq!(digest_of(folder.path(), &compiled), before);
    assert_ne!(digest(folder.path()), all, "without the list, all count");
}

#[test]
fn a_package_that_is_compiled_counts_with_its_version_and_its_checksum() {
    let folder = workspace();
    let compiled = ["serde 1.0.0", "derive 1.0.0"];
    write(folder.path(), "Cargo.lock", &lock("aa", ""));
    let before = digest_of(folder.path(), &compiled);
    for changed in [
        lock("cc", ""),
        lock("aa", "").replace("1.0.0\"\nchecksum = \"dd", "1.0.1\"\nchecksum = \"dd"),
    ] {
        write(folder.path(), "Cargo.lock", &changed);
        assert_ne!(digest_of(folder.path(), &compiled), before);
    }
}

#[test]
fn a_library_in_another_crates_folder_is_built_from_that_folder() {
    let folder = workspace();
    let manifest = "[package]\nname = \"mine\"\n[lib]\npath = \"../shared/src/lib.rs\"\n";
    write(folder.path(), "scorers/mine/Cargo.toml", manifest);
    write(folder.path(), "scorers/shared/Cargo.toml", "[package]\nname = \"shared\"\n");
    write(folder.path(), "scorers/shared/src/lib.rs", "// 1");
    let before = digest(folder.path());
    write(folder.path(), "scorers/shared/src/lib.rs", "// 2");
    assert_ne!(digest(folder.path()), before);
}
