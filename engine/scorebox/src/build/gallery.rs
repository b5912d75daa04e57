//! A gallery: a folder with a crate for each of several scorers, and their components in its folder `dist`, with a
//! manifest. `guest-scorers/` is a gallery. It embeds nothing; `registry` does.

use std::{fs, path::Path};

use serde_json::value::RawValue;

use crate::{contract::ScorerInfo, digest::Digest, packing::pack};

use super::{
    BuildError, BuiltComponent, Describe, Packages, ToolOutput, Toolchain, build_guest, dictionary,
    manifest::{DICTIONARY_FILE, component_file, dist},
    package::compiled_packages,
    sources_digest,
    whole_file::write_whole,
};

pub use super::manifest::{MANIFEST_VERSION, Manifest, ManifestDictionary, ManifestScorer};

/// The names of the scorers of a gallery, sorted: the folders in it that contain a crate.
///
/// # Errors
/// If the folder cannot be read.
pub fn names(gallery: &Path) -> Result<Vec<String>, BuildError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(gallery).map_err(BuildError::file(gallery))? {
        let entry = entry.map_err(BuildError::file(gallery))?;
        if entry.path().join("Cargo.toml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Builds all scorers of a gallery, as [`build_guest`] does; `done` is called for each. Components of the `last` build
/// are kept if neither sources nor compiler have changed: the same ones give the same bytes.
///
/// # Errors
/// If one of them does not build, or its sources change while it is built.
pub fn build(
    gallery: &Path,
    toolchain: &Toolchain,
    last: Option<&Manifest>,
    output: ToolOutput,
    describe: Describe<'_>,
    mut done: impl FnMut(&BuiltComponent),
) -> Result<Vec<BuiltComponent>, BuildError> {
    let compiler = toolchain.fingerprint();
    let last = last.filter(|last| last.version == MANIFEST_VERSION && last.compiler == compiler);
    names(gallery)?
        .iter()
        .map(|name| {
            let built = match last.map(|last| kept(gallery, last, name)).transpose()?.flatten() {
                Some(kept) => kept,
                None => of_unchanged_sources(gallery, name, || {
                    let folder = gallery.join(name);
                    let built = build_guest(&folder, toolchain, None, output, describe)?;
                    let packages = compiled_packages(&folder.join("Cargo.toml"))?;
                    Ok(BuiltComponent { packages, ..built })
                })?,
            };
            done(&built);
            Ok(built)
        })
        .collect()
}

/// The component of the last build, if its sources are still the same and it is the one in the manifest.
fn kept(gallery: &Path, last: &Manifest, name: &str) -> Result<Option<BuiltComponent>, BuildError> {
    let listed = last.scorers.iter().find(|scorer| scorer.name == name);
    let Some(scorer) = listed else { return Ok(None) };
    let sources = sources_digest(gallery, name, &scorer.packages)?;
    if sources != scorer.sources {
        return Ok(None);
    }
    let Ok(bytes) = last.component(gallery, name) else { return Ok(None) };
    Ok(Some(BuiltComponent {
        name: name.to_owned(),
        bytes,
        example: scorer.example.as_ref().map(|example| example.get().to_owned()),
        info: Some(scorer.info.clone()),
        packages: scorer.packages.clone(),
        sources: Some(sources),
    }))
}

/// The component that `build` makes from a scorer's sources, with their digest. If the manifest recorded other sources,
/// the component would wrongly count as up to date.
fn of_unchanged_sources(
    gallery: &Path,
    name: &str,
    build: impl FnOnce() -> Result<BuiltComponent, BuildError>,
) -> Result<BuiltComponent, BuildError> {
    // Which packages count is known only after building.
    let all = Packages::default();
    let before = sources_digest(gallery, name, &all)?;
    let built = build()?;
    let sources = sources_digest(gallery, name, &built.packages)?;
    must_be_built_from(gallery, name, &all, before)?;
    Ok(BuiltComponent { sources: Some(sources), ..built })
}

fn must_be_built_from(
    gallery: &Path,
    name: &str,
    packages: &Packages,
    sources: Digest,
) -> Result<(), BuildError> {
    match sources_digest(gallery, name, packages)? == sources {
        true => Ok(()),
        false => Err(BuildError::SourcesChanged(name.to_owned())),
    }
}

/// Installs built components and their manifest; each component comes with what it reports about itself. Components of
/// the last build are replaced, even if they were compressed and now are not. Compressed components keep their
/// dictionary as long as most of them are the same, so that a change of one scorer changes one component's file.
///
/// # Errors
/// If a file cannot be written, the sources cannot be read, or they have changed since a component was built; then
/// nothing is written.
pub fn install(
    gallery: &Path,
    toolchain: &Toolchain,
    compressed: bool,
    components: Vec<(BuiltComponent, ScorerInfo)>,
) -> Result<Manifest, BuildError> {
    for (component, _) in &components {
        if let Some(sources) = component.sources {
            must_be_built_from(gallery, &component.name, &component.packages, sources)?;
        }
    }
    let folder = dist(gallery);
    fs::create_dir_all(&folder).map_err(BuildError::file(&folder))?;
    let dictionary = match compressed {
        true => install_dictionary(gallery, &components)?,
        false => remove(&folder.join(DICTIONARY_FILE)).map(|()| Vec::new())?,
    };
    let mut scorers = Vec::new();
    for (component, info) in components {
        let path = folder.join(component_file(&component.name, compressed));
        let stored = match compressed {
            true => pack(&component.bytes, &dictionary).map_err(BuildError::file(&path))?,
            false => component.bytes.clone(),
        };
        write_whole(&path, &stored)?;
        remove(&folder.join(component_file(&component.name, !compressed)))?;
        let sources = match component.sources {
            Some(sources) => sources,
            None => sources_digest(gallery, &component.name, &component.packages)?,
        };
        scorers.push(ManifestScorer {
            bytes: component.bytes.len() as u64,
            digest: component.digest(),
            sources,
            packages: component.packages,
            info,
            example: component.example.and_then(|text| RawValue::from_string(text).ok()),
            name: component.name,
        });
    }
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        compiler: toolchain.fingerprint(),
        compressed,
        dictionary: listed(&dictionary),
        scorers,
    };
    manifest.write(gallery)?;
    Ok(manifest)
}

/// Writes the dictionary of these components, unless that of the last build is still suitable.
fn install_dictionary(
    gallery: &Path,
    components: &[(BuiltComponent, ScorerInfo)],
) -> Result<Vec<u8>, BuildError> {
    let last = Manifest::read(gallery).ok().filter(|last| last.version == MANIFEST_VERSION);
    if let Some(last) = last {
        let is_same = |(component, _): &&(BuiltComponent, ScorerInfo)| {
            let before = last.scorers.iter().find(|scorer| scorer.name == component.name);
            before.is_some_and(|before| before.digest == component.digest())
        };
        let same = components.iter().filter(is_same).count();
        if last.compressed && 2 * same > components.len() {
            return last.dictionary(gallery);
        }
    }
    let bytes: Vec<&[u8]> = components.iter().map(|(component, _)| &component.bytes[..]).collect();
    let path = dist(gallery).join(DICTIONARY_FILE);
    let dictionary = dictionary::dictionary(&bytes).map_err(BuildError::file(&path))?;
    match dictionary.is_empty() {
        true => remove(&path)?,
        false => {
            let packed = pack(&dictionary, b"").map_err(BuildError::file(&path))?;
            write_whole(&path, &packed)?;
        }
    }
    Ok(dictionary)
}

fn listed(dictionary: &[u8]) -> Option<ManifestDictionary> {
    let (bytes, digest) = (dictionary.len() as u64, Digest::of(dictionary));
    (bytes > 0).then_some(ManifestDictionary { bytes, digest })
}

fn remove(file: &Path) -> Result<(), BuildError> {
    match file.is_file() {
        true => fs::remove_file(file).map_err(BuildError::file(file)),
        false => Ok(()),
    }
}

/// How freshly built components differ from the committed ones, in one sentence each.
pub fn differences(manifest: &Manifest, components: &[BuiltComponent]) -> Vec<String> {
    let built = |name: &str| components.iter().find(|component| component.name == name);
    let committed = |name: &str| manifest.scorers.iter().any(|scorer| scorer.name == name);
    let changed = manifest.scorers.iter().filter_map(|scorer| match built(&scorer.name) {
        None => Some(format!("`{}` is in dist, but has no sources", scorer.name)),
        Some(component) if component.digest() != scorer.digest => Some(format!(
            "`{}` builds to {}; dist has {}",
            scorer.name,
            component.digest().short(),
            scorer.digest.short()
        )),
        Some(_) => None,
    });
    let new = components
        .iter()
        .filter(|component| !committed(&component.name))
        .map(|component| format!("`{}` is not in dist", component.name));
    changed.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gallery() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("mine/src")).unwrap();
        fs::write(folder.path().join("Cargo.toml"), "[workspace]\n").unwrap();
        fs::write(folder.path().join("Cargo.lock"), "version = 4\npackage = []\n").unwrap();
        let manifest = "[package]\nname = \"mine\"\n";
        fs::write(folder.path().join("mine/Cargo.toml"), manifest).unwrap();
        fs::write(folder.path().join("mine/src/lib.rs"), "// 1").unwrap();
        folder
    }

    fn digest(gallery: &Path) -> Digest {
        sources_digest(gallery, "mine", &Packages::default()).unwrap()
    }

    fn component() -> BuiltComponent {
        BuiltComponent::new("mine".to_owned(), b"code".to_vec())
    }

    fn info() -> ScorerInfo {
        serde_json::from_value(serde_json::json!({
            "id": "mine", "name": "Mine", "description": "", "version": "1", "scale": "unit",
            "direction": "higher-is-better", "reads": [], "severity": "gate",
        }))
        .unwrap()
    }

    fn toolchain() -> Toolchain {
        Toolchain {
            rustc: "rustc".into(),
            version: "rustc 1".into(),
            library: crate::build::StandardLibrary::Installed,
            sysroot: "/".into(),
        }
    }

    #[test]
    fn a_component_has_the_digest_of_what_it_was_built_from() {
        let folder = gallery();
        let built = of_unchanged_sources(folder.path(), "mine", || Ok(component())).unwrap();
        assert_eq!(built.sources, Some(digest(folder.path())));
        let manifest = install(folder.path(), &toolchain(), false, vec![(built, info())]).unwrap();
        assert_eq!(manifest.scorers[0].sources, digest(folder.path()));
    }

    #[test]
    fn a_component_is_kept_while_its_sources_and_its_file_are_those_of_the_manifest() {
        let folder = gallery();
        let built = of_unchanged_sources(folder.path(), "mine", || Ok(component())).unwrap();
        let last = install(folder.path(), &toolchain(), true, vec![(built, info())]).unwrap();
        let is_kept = || kept(folder.path(), &last, "mine").unwrap().map(|kept| kept.bytes);
        assert_eq!(is_kept(), Some(b"code".to_vec()));
        assert!(
            kept(folder.path(), &Manifest { scorers: Vec::new(), ..last.clone() }, "mine")
                .unwrap()
                .is_none()
        );
        let path = last.component_path(folder.path(), "mine");
        let stored = fs::read(&path).unwrap();
        fs::write(&path, b"other").unwrap();
        assert_eq!(is_kept(), None);
        fs::write(&path, stored).unwrap();
        fs::write(folder.path().join("mine/src/lib.rs"), "// 2").unwrap();
        assert_eq!(is_kept(), None);
    }

    #[test]
    fn sources_that_change_during_a_build_or_before_its_end_fail_it() {
        let folder = gallery();
        let change = |text| fs::write(folder.path().join("mine/src/lib.rs"), text).unwrap();
        let changed = "the sources of `mine` changed while it was built; run it again";
        let error = of_unchanged_sources(folder.path(), "mine", || {
            change("// 2");
            Ok(component())
        });
        assert_eq!(error.unwrap_err().to_string(), changed);
        let built = of_unchanged_sources(folder.path(), "mine", || Ok(component())).unwrap();
        change("// 3");
        let error = install(folder.path(), &toolchain(), false, vec![(built, info())]);
        assert_eq!(error.unwrap_err().to_string(), changed);
        assert!(!Manifest::path(folder.path()).exists());
    }

    /// A component of the gallery with these bytes, as if it was just built.
    fn with_bytes(name: &str, bytes: &[u8]) -> (BuiltComponent, ScorerInfo) {
        let built = BuiltComponent { name: name.to_owned(), bytes: bytes.to_vec(), ..component() };
        (BuiltComponent { sources: None, ..built }, info())
    }

    fn stored(gallery: &Path, name: &str) -> Vec<u8> {
        fs::read(dist(gallery).join(name)).unwrap()
    }

    #[test]
    fn compressed_components_store_what_they_share_once_and_change_one_by_one() {
        let folder = gallery();
        let gallery = folder.path();
        for name in ["other", "third"] {
            fs::create_dir_all(gallery.join(name).join("src")).unwrap();
            let manifest = format!("[package]\nname = \"{name}\"\n");
            fs::write(gallery.join(name).join("Cargo.toml"), manifest).unwrap();
            fs::write(gallery.join(name).join("src/lib.rs"), "").unwrap();
        }
        let shared: Vec<u8> = (0..2000_u32)
            .flat_map(|number| *Digest::of(&number.to_le_bytes()).as_bytes())
            .collect();
        let of = |own: &[u8]| [shared.as_slice(), own].concat();
        let built = |third: &[u8]| {
            [("mine", &b"1"[..]), ("other", b"2"), ("third", third)]
                .map(|(name, own)| with_bytes(name, &of(own)))
                .to_vec()
        };
        let read = |manifest: &Manifest| {
            ["mine", "other", "third"].map(|name| manifest.component(gallery, name).unwrap())
        };

        let manifest = install(gallery, &toolchain(), true, built(b"3")).unwrap();
        assert_eq!(read(&manifest), [of(b"1"), of(b"2"), of(b"3")]);
        let files =
            ["mine", "other", "third"].map(|name| stored(gallery, &format!("{name}.wasm.zst")));
        assert!(files.iter().all(|file| file.len() < 100));
        let dictionary = stored(gallery, DICTIONARY_FILE);

        let manifest = install(gallery, &toolchain(), true, built(b"a change")).unwrap();
        assert_eq!(read(&manifest), [of(b"1"), of(b"2"), of(b"a change")]);
        assert_eq!(stored(gallery, DICTIONARY_FILE), dictionary);
        assert_eq!(stored(gallery, "mine.wasm.zst"), files[0]);
        assert_ne!(stored(gallery, "third.wasm.zst"), files[2]);

        fs::write(dist(gallery).join(DICTIONARY_FILE), pack(b"another", b"").unwrap()).unwrap();
        let error = manifest.component(gallery, "mine").unwrap_err().to_string();
        assert!(error.contains("it is not the dictionary that the manifest lists"), "{error}");

        let manifest = install(gallery, &toolchain(), false, built(b"3")).unwrap();
        assert_eq!((read(&manifest), manifest.dictionary), ([of(b"1"), of(b"2"), of(b"3")], None));
        let files = fs::read_dir(dist(gallery)).unwrap().count();
        assert_eq!(files, 4, "three components and the manifest");
    }

    #[test]
    fn a_manifest_of_the_version_before_dictionaries_is_read() {
        let folder = gallery();
        let gallery = folder.path();
        let bytes = b"as it was built";
        fs::create_dir_all(dist(gallery)).unwrap();
        fs::write(dist(gallery).join("mine.wasm.zst"), pack(bytes, b"").unwrap()).unwrap();
        let manifest = serde_json::json!({
            "version": 3, "compiler": "rustc 1", "compressed": true,
            "scorers": [{
                "name": "mine", "bytes": bytes.len(), "digest": Digest::of(bytes),
                "sources": Digest::of(b""), "info": info(),
            }],
        });
        fs::write(Manifest::path(gallery), manifest.to_string()).unwrap();
        let manifest = Manifest::read(gallery).unwrap();
        assert_eq!(manifest.component(gallery, "mine").unwrap(), bytes);
        let newer = manifest.version + 9;
        Manifest { version: newer, ..manifest }.write(gallery).unwrap();
        let error = Manifest::read(gallery).unwrap_err().to_string();
        assert!(error.contains(&format!("version {newer} of the format")), "{error}");
    }
}
