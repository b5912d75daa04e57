//! Checks that the files under `dist/` match their sources and their manifest. Building them again and comparing byte
//! for byte is left to `.ci/run`, because it needs a wasm toolchain.

use std::path::PathBuf;

use scorebox::{
    build::{gallery, sources_digest},
    digest::Digest,
    registry::Registry,
};

fn galleries() -> [PathBuf; 4] {
    let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let galleries = ["guest-scorers", "tests/guests", "tests/hostile", "script-engines"];
    galleries.map(|gallery| workspace.join(gallery))
}

#[test]
fn every_scorer_with_sources_is_built_and_the_other_way_round() {
    for gallery in galleries() {
        let manifest = gallery::Manifest::read(&gallery).unwrap();
        let built: Vec<String> = manifest.scorers.into_iter().map(|scorer| scorer.name).collect();
        assert_eq!(gallery::names(&gallery).unwrap(), built);
    }
}

#[test]
fn sources_have_not_changed_since_they_were_built() {
    for gallery in galleries() {
        for scorer in gallery::Manifest::read(&gallery).unwrap().scorers {
            assert_eq!(
                sources_digest(&gallery, &scorer.name, &scorer.packages).unwrap(),
                scorer.sources,
                "the sources of `{}` have changed: scorebox build --all {}",
                scorer.name,
                gallery.display()
            );
        }
    }
}

#[test]
fn components_are_those_of_the_manifest() {
    for gallery in galleries() {
        let manifest = gallery::Manifest::read(&gallery).unwrap();
        for scorer in &manifest.scorers {
            let component = manifest.component(&gallery, &scorer.name).unwrap();
            assert_eq!(Digest::of(&component), scorer.digest, "{}", scorer.name);
            assert_eq!(component.len() as u64, scorer.bytes, "{}", scorer.name);
        }
    }
}

#[test]
fn the_built_in_scorers_are_embedded() {
    let manifest = gallery::Manifest::read(&galleries()[0]).unwrap();
    let names: Vec<String> = manifest.scorers.iter().map(|scorer| scorer.name.clone()).collect();
    let registry = Registry::with_builtins();
    assert_eq!(registry.list().collect::<Vec<_>>(), names);
    for scorer in manifest.scorers {
        let component = registry.get(&scorer.name).unwrap().component;
        assert_eq!(Digest::of(component.bytes().unwrap()), scorer.digest);
    }
}

#[test]
fn no_path_of_the_machine_and_no_registry_host_is_inside() {
    for gallery in galleries() {
        let manifest = gallery::Manifest::read(&gallery).unwrap();
        for scorer in &manifest.scorers {
            let bytes = manifest.component(&gallery, &scorer.name).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for place in ["/home/", "/root/", "/usr/", "/work/", "registry/src/index.", ".cargo"] {
                assert!(!text.contains(place), "`{}` holds `{place}`", scorer.name);
            }
        }
    }
}
