//! An index of scorers, as a stranger may have made it: a document and, after the line `== signature`, its supposed
//! signature by the key of the tests.

use scorebox_community::{
    Index, IndexEntry, IndexFailed, KnownName, Named, NearMisses, Searched, SignedIndex, Signer,
    Words,
};

/// The separator between the document and the signature.
const BETWEEN: &str = "\n== signature\n";
/// The public half of `tests/signing-keys/team.key`.
const SIGNER: &str = "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI";

/// Reads the bytes as an index, and checks that the index that is read survives writing and reading, that only a
/// document that can be read has a valid signature, and that each scorer is found by its name.
pub fn index(data: &[u8]) {
    let read = match opened(data) {
        (Ok(signed), read) => {
            assert_eq!(Some(signed.index()), read.as_ref());
            read
        }
        (Err(error), read) => {
            assert!(!error.to_string().is_empty());
            read
        }
    };
    let Some(index) = read else { return };
    assert_eq!(Index::parse(index.text().as_bytes()).as_ref(), Ok(&index));
    let mut names =
        NearMisses::of([("contains", "Contains"), ("exact-match", "Exact Match"), ("f1", "F1")]);
    for entry in &index.scorers {
        names.know(&named(entry));
    }
    for entry in &index.scorers {
        let signer = entry.signer.as_ref();
        if let Some((KnownName::Published(place), _)) = names.closest(&named(entry)) {
            let is_there = |other: &&IndexEntry| {
                place == format!("{}/{}", other.address.registry(), other.address.name())
            };
            let mut there = index.scorers.iter().filter(is_there);
            assert!(there.any(|other| signer.is_none() || other.signer.as_ref() != signer));
        }
        let searched = Searched { id: &entry.scorer_id, ..Searched::default() };
        assert_eq!(Words::new([entry.scorer_id.as_str()]).distance(&searched), Some(0));
    }
}

fn named(entry: &IndexEntry) -> Named<'_> {
    Named {
        address: &entry.address,
        id: &entry.scorer_id,
        title: &entry.title,
        signer: entry.signer.as_ref().map(Signer::as_str),
        component: entry.component,
    }
}

/// The signed index, if the signature is valid, and the index that is read without looking at the signature.
fn opened(data: &[u8]) -> (Result<SignedIndex, IndexFailed>, Option<Index>) {
    let text = String::from_utf8_lossy(data);
    let (document, signature) = text.split_once(BETWEEN).unwrap_or((&text, ""));
    let signer = SIGNER.parse().expect("a key");
    let signed = SignedIndex::open(document.to_owned().into(), signature, &signer);
    (signed, Index::parse(document.as_bytes()).ok())
}

/// The outcome of the bytes, as text.
#[cfg(test)]
pub(crate) fn said(data: &[u8]) -> String {
    match opened(data).0 {
        Ok(signed) => format!("{} scorers", signed.index().scorers.len()),
        Err(error) => error.to_string(),
    }
}
