//! Manages the folder of fetched indexes: a copy of each, by its location and signer. What a server sends is compared
//! with the copy, so that nobody can pass off an older index as the newest. No file is trusted because it is in the
//! folder: signatures are checked again.

use std::{
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use scorebox::digest::Digest;
use serde::{Deserialize, Serialize};

use super::{
    document::MAX_INDEX_BYTES, error::IndexFailed, place::IndexPlace, signed::SignedIndex,
};
use crate::signing::{MAX_SIGNATURE_BYTES, Signer};

/// The most bytes of the line before the document: times, numbers and a signature, of which each byte may be escaped as
/// six.
const MAX_HEAD_BYTES: u64 = 1024 + 6 * MAX_SIGNATURE_BYTES as u64;

/// A folder of indexes.
#[derive(Clone, Debug)]
pub struct KeptIndexes {
    folder: PathBuf,
}

/// An index that was fetched before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptIndex {
    /// The index.
    pub signed: SignedIndex,
    /// When its location last had it.
    pub fetched: SystemTime,
}

/// The outcome for a fetched index.
#[derive(Debug)]
#[non_exhaustive]
pub enum Taken {
    /// The index can be used, and is now stored.
    New(SignedIndex),
    /// The index can be used, and replaces a damaged copy: it is unknown whether it is older than that copy.
    InPlaceOfDamaged(SignedIndex),
    /// The index can be used, but cannot be stored.
    NotKept(SignedIndex, io::Error),
    /// The index must not be used in place of the stored one.
    Refused(Refused, KeptIndex),
}

/// Why an index does not replace the stored one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The index is older.
    #[error("it is older than the copy: its serial number is {it}, and {kept} was seen before")]
    Older {
        /// The serial number of the index.
        it: u64,
        /// The serial number of the stored index.
        kept: u64,
    },
    /// The index has the same serial number but other content.
    #[error("its serial number {0} was seen before with other content")]
    SameSerial(u64),
    /// The index is a different one of the same signer.
    #[error("it calls itself `{it}`; this place had the index `{kept}` before")]
    OtherName {
        /// The name of the index.
        it: String,
        /// The name of the stored index.
        kept: String,
    },
}

/// The first line of a file, before the document.
#[derive(Serialize, Deserialize)]
struct Head {
    /// Seconds since 1970.
    fetched: u64,
    signature: String,
}

impl KeptIndexes {
    /// Uses `folder`, which is created when the first index is stored.
    pub fn new(folder: PathBuf) -> KeptIndexes {
        KeptIndexes { folder }
    }

    /// The index that was last fetched from that location and signer; `None` if there is none.
    ///
    /// # Errors
    /// [`IndexFailed::DamagedCopy`]
    pub fn get(
        &self,
        place: &IndexPlace,
        signer: &Signer,
    ) -> Result<Option<KeptIndex>, IndexFailed> {
        let path = self.file(place, signer);
        let is_missing = matches!(
            path.symlink_metadata(),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        );
        match is_missing {
            true => Ok(None),
            false => match read(&path, signer) {
                Some(kept) => Ok(Some(kept)),
                None => Err(IndexFailed::DamagedCopy(path)),
            },
        }
    }

    /// Accepts an index that its location had at the time `now`, unless it is older than the stored one, or a different
    /// one.
    pub fn take(
        &self,
        place: &IndexPlace,
        signer: &Signer,
        signed: SignedIndex,
        now: SystemTime,
    ) -> Taken {
        let kept = self.get(place, signer);
        let is_damaged = kept.is_err();
        if let Ok(Some(kept)) = kept
            && let Some(refused) = refusal(&signed, &kept.signed)
        {
            return Taken::Refused(refused, kept);
        }
        match self.keep(&self.file(place, signer), &signed, now) {
            Ok(()) if is_damaged => Taken::InPlaceOfDamaged(signed),
            Ok(()) => Taken::New(signed),
            Err(error) => Taken::NotKept(signed, error),
        }
    }

    /// The file of an index; a user who really wants an older index deletes it.
    pub fn file(&self, place: &IndexPlace, signer: &Signer) -> PathBuf {
        let place = place.to_string();
        let name = Digest::of_parts([place.as_bytes(), signer.as_str().as_bytes()]);
        self.folder.join(format!("{name}.index"))
    }

    fn keep(&self, path: &Path, signed: &SignedIndex, now: SystemTime) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let fetched = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let head = Head { fetched, signature: signed.signature().text().to_owned() };
        let mut beside = tempfile::Builder::new().prefix(".fetching-").tempfile_in(&self.folder)?;
        serde_json::to_writer(&mut beside, &head)?;
        beside.write_all(b"\n")?;
        let document: &Bytes = signed.document();
        beside.write_all(document)?;
        beside.as_file().sync_all()?;
        beside.persist(path)?;
        Ok(())
    }
}

/// Reads a file; `None` if it is not an index that `signer` signed.
fn read(path: &Path, signer: &Signer) -> Option<KeptIndex> {
    // Opening a pipe would wait for a writer.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut reader = BufReader::new(File::open(path).ok()?);
    let mut head = String::new();
    reader.by_ref().take(MAX_HEAD_BYTES).read_line(&mut head).ok()?;
    let Head { fetched, signature } = serde_json::from_str(&head).ok()?;
    let mut document = Vec::new();
    reader.take(MAX_INDEX_BYTES as u64 + 1).read_to_end(&mut document).ok()?;
    let signed = SignedIndex::open(document.into(), &signature, signer).ok()?;
    let fetched = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(fetched))?;
    Some(KeptIndex { signed, fetched })
}

fn refusal(it: &SignedIndex, kept: &SignedIndex) -> Option<Refused> {
    let (new, old) = (it.index(), kept.index());
    if new.name != old.name {
        return Some(Refused::OtherName { it: new.name.clone(), kept: old.name.clone() });
    }
    if new.serial < old.serial {
        return Some(Refused::Older { it: new.serial, kept: old.serial });
    }
    let is_same = it.document() == kept.document();
    (new.serial == old.serial && !is_same).then_some(Refused::SameSerial(new.serial))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{index::document::Index, signing::Signature};

    fn secret_key() -> String {
        let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        pair.sk.to_box(None).unwrap().into_string()
    }

    fn signed(key: &str, name: &str, serial: u64, spaces: &str) -> (SignedIndex, Signer) {
        let text = format!("{}{spaces}", Index::new(name, serial, Vec::new()).unwrap().text());
        let signature = Signature::make(text.as_bytes(), key, None).unwrap();
        let signer = signature.signer().clone();
        (SignedIndex::open(text.into(), signature.text(), &signer).unwrap(), signer)
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn an_index_is_kept_and_replaced_by_a_newer_one_only() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptIndexes::new(folder.path().join("a/b"));
        let place: IndexPlace = "https://a.test/index.json".parse().unwrap();
        let key = secret_key();
        let (five, signer) = signed(&key, "team", 5, "");
        assert_eq!(kept.get(&place, &signer), Ok(None));
        let take =
            |index: &SignedIndex, seconds| kept.take(&place, &signer, index.clone(), at(seconds));
        assert!(matches!(take(&five, 100), Taken::New(_)));
        assert!(matches!(take(&five, 200), Taken::New(_)), "the same again");
        let found = kept.get(&place, &signer).unwrap().unwrap();
        assert_eq!((&found.signed, found.fetched), (&five, at(200)));
        for (name, serial, spaces, expected) in [
            ("team", 4, "", Refused::Older { it: 4, kept: 5 }),
            ("team", 5, " ", Refused::SameSerial(5)),
            ("other", 6, "", Refused::OtherName { it: "other".into(), kept: "team".into() }),
        ] {
            let (index, _) = signed(&key, name, serial, spaces);
            let Taken::Refused(refused, instead) = take(&index, 300) else { panic!("{name}") };
            assert_eq!((refused, instead.signed), (expected, five.clone()));
        }
        let (six, _) = signed(&key, "team", 6, "");
        assert!(matches!(take(&six, 400), Taken::New(_)));
        assert_eq!(kept.get(&place, &signer).unwrap().unwrap().signed, six);
        assert_eq!(fs::read_dir(folder.path().join("a/b")).unwrap().count(), 1);
    }

    #[test]
    fn a_copy_is_of_one_place_and_signer() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptIndexes::new(folder.path().to_owned());
        let place: IndexPlace = "https://a.test/index.json".parse().unwrap();
        let (index, signer) = signed(&secret_key(), "team", 5, "");
        let _ = kept.take(&place, &signer, index, at(1));
        let other: IndexPlace = "https://b.test/index.json".parse().unwrap();
        assert_eq!(kept.get(&other, &signer), Ok(None));
        let (_, other_signer) = signed(&secret_key(), "team", 5, "");
        assert_eq!(kept.get(&place, &other_signer), Ok(None));
    }

    #[test]
    fn a_copy_that_was_changed_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptIndexes::new(folder.path().to_owned());
        let place: IndexPlace = "https://a.test/index.json".parse().unwrap();
        let (index, signer) = signed(&secret_key(), "team", 5, "");
        let _ = kept.take(&place, &signer, index, at(1));
        let file = kept.file(&place, &signer);
        let whole = fs::read_to_string(&file).unwrap();
        for damaged in [
            String::new(),
            "{}".to_owned(),
            "x".repeat(1 << 20),
            whole.replace("\"serial\": 5", "\"serial\": 9"),
            whole.replace("\"fetched\":1,", "\"fetched\":18446744073709551615,"),
            whole[..whole.len() - 2].to_owned(),
        ] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(kept.get(&place, &signer), Err(IndexFailed::DamagedCopy(file.clone())));
        }
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        assert_eq!(kept.get(&place, &signer), Err(IndexFailed::DamagedCopy(file.clone())));
    }

    #[test]
    fn an_index_is_taken_in_place_of_a_copy_that_is_damaged_and_that_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptIndexes::new(folder.path().to_owned());
        let place: IndexPlace = "https://a.test/index.json".parse().unwrap();
        let (index, signer) = signed(&secret_key(), "team", 5, "");
        let take = || kept.take(&place, &signer, index.clone(), at(1));
        assert!(matches!(take(), Taken::New(_)));
        fs::write(kept.file(&place, &signer), "half").unwrap();
        assert!(matches!(take(), Taken::InPlaceOfDamaged(_)));
        assert!(matches!(take(), Taken::New(_)));
        assert_eq!(kept.get(&place, &signer).unwrap().unwrap().signed, index);
    }

    #[test]
    fn where_nothing_can_be_written_an_index_is_used_and_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let kept = KeptIndexes::new(folder.path().join("file/below"));
        let place: IndexPlace = "https://a.test/index.json".parse().unwrap();
        let (index, signer) = signed(&secret_key(), "team", 5, "");
        assert!(matches!(kept.take(&place, &signer, index, at(1)), Taken::NotKept(..)));
    }
}
