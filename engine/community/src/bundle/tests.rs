//! Tests bundles that are written and read, and files that only look like bundles.

use std::io::Cursor;

use serde_json::{Value, json};

use super::{layout::BLOBS, *};
use crate::artifact::MANIFEST_TYPE;

fn bundle() -> Bundle {
    let mut bundle = Bundle::new("answers", "suite.toml");
    for (path, text) in [("suite.toml", "include = ['../base.toml']"), ("../base.toml", "# base")] {
        bundle.files.insert(path.to_owned(), text.to_owned());
    }
    bundle.variables.insert("MODEL".to_owned(), "small".to_owned());
    bundle.lock = Some("version = 1\n".to_owned());
    let here = |bytes: &'static [u8]| Carried::Here(Bytes::from_static(bytes));
    let components = [("./a.wasm", here(b"one")), ("./b.wasm", here(b"two"))];
    let built_in = ("contains", Carried::BuiltIn(Digest::of(b"contains")));
    let again = ("oci://a.test/grade:1.0.0", here(b"one"));
    let all = components.into_iter().chain([built_in, again]);
    bundle.components = all.map(|(name, component)| (name.to_owned(), component)).collect();
    bundle
}

fn written(bundle: &Bundle) -> Vec<u8> {
    let mut bytes = Vec::new();
    bundle.file().unwrap().write(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Bundle, String> {
    Bundle::read(Cursor::new(bytes)).map_err(|error| error.to_string())
}

/// A file of a tar.
#[derive(Clone)]
struct Entry {
    name: String,
    kind: EntryType,
    bytes: Vec<u8>,
}

impl Entry {
    fn file(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Entry {
        Entry { name: name.into(), kind: EntryType::Regular, bytes: bytes.into() }
    }

    fn of(name: &str, kind: EntryType) -> Entry {
        Entry { kind, ..Entry::file(name, "") }
    }
}

/// The files of the bundle.
fn entries() -> Vec<Entry> {
    let bytes = written(&bundle());
    let mut tar = tar::Archive::new(&bytes[..]);
    let entries = tar.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        io::copy(&mut entry, &mut bytes).unwrap();
        Entry::file(String::from_utf8_lossy(&entry.path_bytes()), bytes)
    });
    entries.collect()
}

/// A tar whose entries have these names, whatever they are.
fn tar_of(entries: &[Entry]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for Entry { name, kind, bytes } in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, &bytes[..]).unwrap();
    }
    tar.into_inner().unwrap()
}

/// The error for the bundle's files and these additional ones.
fn refused_with(more: &[Entry]) -> String {
    read(&tar_of(&[&entries()[..], more].concat())).unwrap_err()
}

/// The documents of a bundle, changed; blobs are named by their new digests, so that everything but the change is
/// valid.
fn changed(change: impl FnOnce(&mut Value, &mut Value, &mut Value)) -> Vec<u8> {
    let mut files: BTreeMap<String, Vec<u8>> =
        entries().into_iter().map(|entry| (entry.name, entry.bytes)).collect();
    let path = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().unwrap();
        format!("{BLOBS}{}", digest.strip_prefix("sha256:").unwrap())
    };
    let mut index: Value = serde_json::from_slice(&files[INDEX]).unwrap();
    let manifest = files.remove(&path(&index["manifests"][0])).unwrap();
    let mut manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let config = files.remove(&path(&manifest["config"])).unwrap();
    let mut config: Value = serde_json::from_slice(&config).unwrap();
    change(&mut config, &mut manifest, &mut index);
    let mut put = |document: &Value, descriptor: &mut Value| {
        let bytes = document.to_string().into_bytes();
        let digest = Digest::of(&bytes);
        descriptor["digest"] = format!("sha256:{digest}").into();
        descriptor["size"] = bytes.len().into();
        files.insert(blob_path(digest), bytes);
    };
    put(&config, &mut manifest["config"]);
    // If there are several manifests, all are this one.
    for descriptor in index["manifests"].as_array_mut().unwrap() {
        put(&manifest, descriptor);
    }
    files.insert(INDEX.to_owned(), index.to_string().into_bytes());
    tar_of(&files.into_iter().map(|(name, bytes)| Entry::file(name, bytes)).collect::<Vec<_>>())
}

fn refused(change: impl FnOnce(&mut Value, &mut Value, &mut Value)) -> String {
    read(&changed(change)).unwrap_err()
}

#[test]
fn a_bundle_is_read_as_it_was_written_and_its_bytes_repeat() {
    let bundle = bundle();
    let bytes = written(&bundle);
    assert_eq!(read(&bytes).unwrap(), bundle);
    assert_eq!(written(&bundle), bytes);
    assert_eq!(bytes.len() as u64, bundle.file().unwrap().bytes());
    let mut other = bundle.clone();
    other.lock = None;
    assert_ne!(other.file().unwrap().digest(), bundle.file().unwrap().digest());
    // `./a.wasm` and the published scorer are the same component.
    assert_eq!(entries().len(), 4 + 3 + 2);
}

#[test]
fn nothing_in_a_head_is_of_the_machine_that_wrote_it() {
    let bytes = written(&bundle());
    let mut tar = tar::Archive::new(&bytes[..]);
    for entry in tar.entries().unwrap() {
        let entry = entry.unwrap();
        let header = entry.header().as_ustar().unwrap();
        let of_user = (entry.header().uid().unwrap(), entry.header().gid().unwrap());
        assert_eq!((of_user, entry.header().mtime().unwrap()), ((0, 0), 0));
        assert_eq!((header.uname[0], header.gname[0]), (0, 0));
        assert_eq!(entry.header().mode().unwrap(), 0o644);
    }
}

#[test]
fn texts_stand_for_files_of_the_same_paths_and_no_others_are_read() {
    let bundle = bundle();
    assert_eq!(bundle.text(Path::new("../base.toml")).unwrap(), "# base");
    for path in ["base.toml", "/etc/hostname", "./suite.toml", ""] {
        assert!(matches!(bundle.text(Path::new(path)), Err(InputFileError::NotFound)), "{path}");
    }
}

#[test]
fn a_layout_that_was_unpacked_and_packed_again_is_read() {
    let folders = ["./", "./blobs/", "./blobs/sha256/"];
    let mut all: Vec<Entry> =
        folders.iter().map(|name| Entry::of(name, EntryType::Directory)).collect();
    all.extend(entries().into_iter().rev().map(|entry| {
        let name = format!("./{}", entry.name);
        Entry { name, ..entry }
    }));
    assert_eq!(read(&tar_of(&all)).unwrap(), bundle());
}

#[test]
fn names_that_are_no_files_of_a_layout_are_refused() {
    let digest = "0".repeat(64);
    for name in [
        "../evil",
        "/etc/cron.d/evil",
        "blobs/sha256/../../../evil",
        "blobs/sha256/evil",
        "./../evil",
        "././index.json",
        "index.json/",
        "blobs//sha256/x",
        "suite.toml",
        "\u{1b}[31m",
        "",
        &format!("blobs/sha256/{}", "A".repeat(64)),
        &format!("blobs/sha512/{digest}"),
        &format!("C:\\blobs\\sha256\\{digest}"),
    ] {
        let error = refused_with(&[Entry::file(name, "x")]);
        assert!(error.ends_with("is not a file of an image layout"), "{name}: {error}");
        assert!(!error.contains('\u{1b}'), "{error}");
    }
    let folder = refused_with(&[Entry::of("etc/", EntryType::Directory)]);
    assert_eq!(folder, "`etc/` is not a file of an image layout");
}

#[test]
fn links_devices_and_entries_about_other_entries_are_refused() {
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::GNUSparse,
        EntryType::GNULongName,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
        EntryType::new(b'Z'),
    ] {
        let error = refused_with(&[Entry::of(&blob_path(Digest::of(b"link")), kind)]);
        assert!(error.contains("is not a regular file"), "{kind:?}: {error}");
    }
}

#[test]
fn two_files_of_one_name_are_refused() {
    for name in [INDEX, "./index.json", "oci-layout", &blob_path(Digest::of(b"one"))] {
        let error = refused_with(&[Entry::file(name, "{}")]);
        assert_eq!(error, format!("`{name}` is in it twice"));
    }
}

#[test]
fn a_file_that_is_cut_off_is_refused_wherever_that_is() {
    let bytes = written(&bundle());
    // The last part is followed by 509 bytes of padding, and two empty blocks that some tools leave out.
    let parts = bytes.len() - 1024 - 509;
    for length in (0..parts).step_by(61).chain([parts - 1]) {
        let error = read(&bytes[..length]).unwrap_err();
        let is_cut = ["cut off", "missing", "not a tar", "damaged", "has no `oci-layout`"];
        assert!(is_cut.iter().any(|words| error.contains(words)), "{length}: {error}");
    }
    assert!(read(&bytes[..parts]).is_ok());
}

#[test]
fn a_size_that_is_not_that_of_the_file_is_refused() {
    let sized = |size: u64| {
        let mut bytes = tar_of(&entries());
        let mut header = Header::new_ustar();
        header.as_mut_bytes().copy_from_slice(&bytes[..512]);
        header.set_size(size);
        header.set_cksum();
        bytes[..512].copy_from_slice(header.as_bytes());
        read(&bytes).unwrap_err()
    };
    let cut = "it is cut off in `oci-layout`";
    for size in [1 << 40, u64::MAX, u64::MAX - 511, u64::MAX >> 1] {
        let error = sized(size);
        assert!(
            error == cut || error.contains("damaged") || error.contains("not a tar"),
            "{error}"
        );
    }
    // If the size is too large, what follows is read as content; if it is 0, the content is read as the next header.
    assert!(sized(512).contains("is not valid") || sized(512).contains("has no"), "{}", sized(512));
    assert!(sized(0).contains("damaged"), "{}", sized(0));
}

#[test]
fn a_gigabyte_of_nothing_is_refused_without_reading_it() {
    /// An endless source of zeros that counts what is read.
    struct Nothing {
        at: u64,
        read: u64,
    }
    impl io::Read for Nothing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            into.fill(0);
            self.at += into.len() as u64;
            self.read += into.len() as u64;
            Ok(into.len())
        }
    }
    impl io::Seek for Nothing {
        fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
            self.at = match to {
                io::SeekFrom::Start(at) => at,
                io::SeekFrom::End(_) => 1 << 30,
                io::SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            };
            Ok(self.at)
        }
    }
    let mut nothing = Nothing { at: 0, read: 0 };
    assert!(matches!(Bundle::read(&mut nothing), Err(NotABundle::NotATar)));
    assert!(nothing.read <= 1 << 16, "{}", nothing.read);
    assert!(matches!(Bundle::read(Cursor::new(b"")), Err(NotABundle::NotATar)));
    assert!(matches!(Bundle::read(Cursor::new(b"[scorers.a]")), Err(NotABundle::NotATar)));
}

#[test]
fn a_part_whose_bytes_are_not_its_digest_or_that_is_missing_is_refused() {
    for (bytes, what) in [
        (&b"two"[..], "the component `./b.wasm`"),
        (b"# base", "the file `../base.toml`"),
        (b"version = 1\n", "the lock"),
    ] {
        let path = blob_path(Digest::of(bytes));
        let mut all = entries();
        let index = all.iter().position(|entry| entry.name == path).unwrap();
        all[index].bytes[0] ^= 1;
        let error = read(&tar_of(&all)).unwrap_err();
        assert_eq!(error, format!("{what} has other bytes than its digest says"));
        all[index].bytes.push(0);
        let error = read(&tar_of(&all)).unwrap_err();
        assert!(error.contains("bytes, and should have"), "{error}");
        all.remove(index);
        let error = read(&tar_of(&all)).unwrap_err();
        assert_eq!(error, format!("{what} is missing: it has no `{path}`"));
    }
}

#[test]
fn a_part_that_nothing_names_is_refused_since_nothing_is_compared_with_its_digest() {
    let path = blob_path(Digest::of(b"other"));
    let error = refused_with(&[Entry::file(&path, "unlike its name")]);
    assert_eq!(error, format!("`{path}` is in it, and nothing names it"));
    let digest = Digest::of(b"other");
    let layer =
        json!({"mediaType": "application/wasm", "digest": format!("sha256:{digest}"), "size": 5});
    let error = refused(|_, manifest, _| manifest["layers"].as_array_mut().unwrap().push(layer));
    let words = format!("the manifest names sha256:{digest}, and the configuration does not");
    assert_eq!(error, words);
}

#[test]
fn documents_of_another_kind_are_refused() {
    let image = refused(|_, manifest, _| {
        manifest["config"]["mediaType"] = "application/vnd.oci.image.config.v1+json".into();
    });
    assert_eq!(
        image,
        "it is not a bundle of a suite: it has `application/vnd.oci.image.config.v1+json`"
    );
    let list = refused(|_, _, index| {
        index["manifests"][0]["mediaType"] = "application/vnd.oci.image.index.v1+json".into();
    });
    assert!(list.contains("it has `application/vnd.oci.image.index.v1+json`"), "{list}");
    let several = refused(|_, _, index| {
        let one = index["manifests"][0].clone();
        index["manifests"] = json!([one, one]);
    });
    assert!(several.ends_with("`index.json` names 2 manifests"), "{several}");
    let none = refused(|_, _, index| index["other"] = "x".repeat(2 << 20).into());
    assert_eq!(none, "`index.json` has more than 1 MiB");
    let huge = refused(|_, manifest, _| manifest["other"] = "x".repeat(2 << 20).into());
    assert_eq!(huge, "the manifest has more than 1 MiB");
    let huge = refused(|config, _, _| config["variables"]["X"] = "x".repeat(2 << 20).into());
    assert_eq!(huge, "the configuration has more than 1 MiB");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut all = entries();
    all.iter_mut().find(|entry| entry.name == INDEX).unwrap().bytes = deep.into_bytes();
    assert!(read(&tar_of(&all)).unwrap_err().starts_with("`index.json` is not valid"));
    all.iter_mut().find(|entry| entry.name == LAYOUT).unwrap().bytes =
        br#"{"imageLayoutVersion":"2.0.0"}"#.to_vec();
    assert!(read(&tar_of(&all)).unwrap_err().ends_with("`oci-layout` has version 2.0.0"));
    all.retain(|entry| entry.name != LAYOUT);
    assert!(read(&tar_of(&all)).unwrap_err().contains("it has no `oci-layout`"));
}

#[test]
fn a_configuration_that_does_not_fit_its_manifest_is_refused() {
    let newer = changed(|config, _, _| {
        config["version"] = 2.into();
        config["anything"] = "else".into();
    });
    let error = Bundle::read(Cursor::new(newer)).unwrap_err();
    assert!(matches!(error, NotABundle::OtherVersion(2)), "{error}");
    assert!(refused(|config, _, _| config["more"] = 1.into()).contains("unknown field `more`"));
    let escaped = refused(|config, _, _| config["\u{1b}[31m"] = 1.into());
    assert!(escaped.contains("unknown field") && !escaped.contains('\u{1b}'), "{escaped}");
    let unnamed = refused(|_, manifest, _| manifest["layers"] = json!([]));
    assert!(unnamed.contains("is missing: the manifest does not name it"), "{unnamed}");
    let first = refused(|config, _, _| config["suite"] = "other.toml".into());
    assert_eq!(first, "the suite is missing: there is no file `other.toml`");
    let both = refused(|config, _, _| {
        config["builtins"]["./a.wasm"] = config["components"]["./a.wasm"].clone();
    });
    assert_eq!(both, "`./a.wasm` is listed both as built-in and with a component");
    let sized = refused(|_, manifest, _| {
        for layer in manifest["layers"].as_array_mut().unwrap() {
            layer["size"] = (layer["size"].as_u64().unwrap() + 1).into();
        }
    });
    assert!(sized.contains("bytes, and should have"), "{sized}");
    let digest = refused(|_, manifest, _| manifest["layers"][0]["digest"] = "sha256:../..".into());
    assert!(digest.contains("64 hexadecimal digits"), "{digest}");
    assert!(read(&changed(|_, manifest, _| manifest["mediaType"] = MANIFEST_TYPE.into())).is_ok());
}

#[test]
fn more_than_a_bundle_can_have_is_not_written_and_not_read() {
    let mut bundle = bundle();
    bundle.variables.insert("LONG".to_owned(), "x".repeat(MAX_MANIFEST_BYTES));
    assert_eq!(bundle.file().unwrap_err(), NotBundled::TooManyNames);
    bundle.variables.clear();
    bundle.files.insert("large.toml".to_owned(), " ".repeat(16 << 20));
    assert!(bundle.file().is_ok());
    bundle.files.insert("large.toml".to_owned(), " ".repeat((16 << 20) + 1));
    let error = bundle.file().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`large.toml` has more than 16 MiB, the most that a bundle takes of it"
    );
    // A text with this many names is read once for each name.
    let many = changed(|config, manifest, _| {
        let text = config["files"]["suite.toml"].clone();
        for number in 0..9000 {
            config["files"][format!("{number}.toml")] = text.clone();
        }
        manifest["annotations"] = json!({});
    });
    assert_eq!(read(&many).unwrap().files.len(), 9002);
    let entries = vec![Entry::file(INDEX, "{}"); 1];
    let blobs = (0..10_001)
        .map(|number: u32| Entry::file(blob_path(Digest::of(&number.to_le_bytes())), ""));
    let error = read(&tar_of(&entries.into_iter().chain(blobs).collect::<Vec<_>>())).unwrap_err();
    assert_eq!(error, "it has more than 10000 entries");
}
