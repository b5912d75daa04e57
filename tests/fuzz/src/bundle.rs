//! Bundles of suites, as a stranger may have made them: a tar as it is, or its files as text, which are packed and
//! named by their digests, so that the code that reads documents and parts is reached.

use std::{io::Cursor, path::Path};

use scorebox::{digest::Digest, suite::Suite};
use scorebox_community::Bundle;
use tar::{Builder, Header};

/// The start of a line that begins a file.
const FILE: &str = "== ";
/// Stands for the digest of the blob in place of a name.
const BLOB: &str = "=";
/// The most files: more of them test nothing new.
const MAX_FILES: usize = 50;

/// Reads the bytes as a bundle, and checks that the bundle survives writing and reading, and that its suite is valid or
/// is reported with its mistakes.
pub fn bundle(data: &[u8]) {
    let bundle = match Bundle::read(Cursor::new(tar_of(data))) {
        Ok(bundle) => bundle,
        Err(error) => {
            let error = error.to_string();
            return assert!(!error.is_empty() && !error.contains(char::is_control), "{error:?}");
        }
    };
    let mut written = Vec::new();
    let file = bundle.file().unwrap();
    file.write(&mut written).unwrap();
    assert_eq!(written.len() as u64, file.bytes());
    assert_eq!(Bundle::read(Cursor::new(written)).unwrap(), bundle);
    let variable = |name: &str| bundle.variables.get(name).cloned();
    match Suite::read_from(Path::new(&bundle.suite), &bundle, &variable) {
        Ok(suite) => assert!(!suite.scorers.is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The bytes, if they are a tar; otherwise a tar of the files in their text.
fn tar_of(data: &[u8]) -> Vec<u8> {
    match data.get(257..262) {
        Some(b"ustar") => data.to_vec(),
        _ => packed(&String::from_utf8_lossy(data)),
    }
}

/// A tar of the files in the text. `{digest 3}` and `{size 3}` in a file are replaced by those of the file with that
/// number, counted from 0, which must come after it.
fn packed(text: &str) -> Vec<u8> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match line.strip_prefix(FILE).filter(|_| files.len() < MAX_FILES) {
            Some(name) => files.push((name.trim_end(), String::new())),
            None => files.last_mut().into_iter().for_each(|(_, content)| content.push_str(line)),
        }
    }
    for number in (0..files.len()).rev() {
        let (before, behind) = files.split_at_mut(number);
        let Some((_, content)) = behind.first() else { continue };
        let digest = format!("sha256:{}", Digest::of(content.as_bytes()));
        let size = content.len().to_string();
        for (_, content) in before {
            *content = content
                .replace(&format!("{{digest {number}}}"), &digest)
                .replace(&format!("{{size {number}}}"), &size);
        }
    }
    let mut tar = Builder::new(Vec::new());
    for (name, content) in files {
        let blob = || format!("blobs/sha256/{}", Digest::of(content.as_bytes()));
        let name = if name == BLOB { blob() } else { name.to_owned() };
        let mut header = Header::new_ustar();
        let most = name.len().min(100);
        header.as_mut_bytes()[..most].copy_from_slice(&name.as_bytes()[..most]);
        header.set_size(content.len() as u64);
        header.set_cksum();
        tar.append(&header, content.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap()
}

/// The outcome of the bytes, as text.
#[cfg(test)]
pub(crate) fn said(data: &[u8]) -> String {
    match Bundle::read(Cursor::new(tar_of(data))) {
        Ok(bundle) => format!("{} components", bundle.components.len()),
        Err(error) => error.to_string(),
    }
}
