//! Reads and writes `scorebox.lock`: the component of each published scorer of the suites in a folder, and what the
//! scorer needed when its user accepted it. Connects to no registry. The file has one table for each scorer, headed by
//! its address, in the order of the addresses.

use std::{collections::BTreeMap, fmt::Write as _};

use scorebox::digest::Digest;
use serde::{Deserialize, Serialize};

use crate::{
    address::{Address, NotAnAddress},
    signing::{BadSignature, Signature, Signer},
};

/// The name of the file, which is next to its suites.
pub const LOCK_FILE: &str = "scorebox.lock";
/// The version of the format that is written; version 1 has no signatures.
const VERSION: u32 = 2;
/// The most bytes of the file that are read.
pub const MAX_LOCK_BYTES: u64 = 16 << 20;

const HEAD: &str = "# Which components the suites in this folder use. `scorebox add`, `scorebox update` and `scorebox remove` write it.";

/// The locked scorers, by their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    scorers: BTreeMap<String, Locked>,
    is_of_older_version: bool,
}

/// The state that a published scorer is locked to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Locked {
    /// Where it is published.
    pub address: Address,
    /// The digest of the component.
    pub component: Digest,
    /// The digest of the manifest that named it.
    pub manifest: Digest,
    /// The version of the contract that it was built for, such as `0.1.0`.
    pub contract: String,
    /// The parts of a case that it reads in addition to the output, sorted.
    pub reads: Vec<String>,
    /// What it imports, in its own order.
    pub imports: Vec<String>,
    /// The grants that it needs, sorted.
    pub grants: Vec<String>,
    /// Who signed the component; `None` if it is not signed.
    pub signed: Option<Signed>,
}

/// Who signed a component, according to its lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
pub enum Signed {
    /// A signature proves it.
    By(Signature),
    /// A lock of version 1 names this key, without the signature.
    Said(Signer),
}

/// Why a text is not a valid lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotALock {
    /// The text is not TOML, or lacks something.
    #[error("{0}")]
    Invalid(String),
    /// The lock has another version.
    #[error("it has version {0} of the format; this scorebox reads versions 1 to {VERSION}")]
    OtherVersion(u64),
    /// The address of a scorer is not valid.
    #[error(transparent)]
    Address(NotAnAddress),
}

#[derive(Deserialize)]
struct Versioned {
    version: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    #[serde(default, rename = "scorer")]
    scorers: BTreeMap<String, Table>,
}

/// The table of a scorer, whose header contains its address.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(with = "crate::named_digest")]
    component: Digest,
    #[serde(with = "crate::named_digest")]
    manifest: Digest,
    contract: String,
    reads: Vec<String>,
    imports: Vec<String>,
    grants: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signer: Option<String>,
    /// The signature in the format of a minisign file.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

#[derive(Serialize)]
struct One {
    scorer: BTreeMap<String, Table>,
}

impl Locked {
    /// A scorer that is locked to `component`; it does not yet read, import or need anything.
    pub fn new(address: Address, component: Digest, manifest: Digest, contract: &str) -> Locked {
        let contract = contract.to_owned();
        let (reads, imports, grants) = Default::default();
        Locked { address, component, manifest, contract, reads, imports, grants, signed: None }
    }

    /// The same, which reads these parts of a case.
    #[must_use]
    pub fn reading(mut self, parts: impl IntoIterator<Item = String>) -> Locked {
        self.reads = parts.into_iter().collect();
        self.reads.sort_unstable();
        self
    }

    /// The same, with this signature.
    #[must_use]
    pub fn signed(mut self, signed: Option<Signed>) -> Locked {
        self.signed = signed;
        self
    }

    /// The key that the lock names.
    pub fn signer(&self) -> Option<&Signer> {
        match self.signed.as_ref()? {
            Signed::By(signature) => Some(signature.signer()),
            Signed::Said(signer) => Some(signer),
        }
    }

    /// Who signed `component`, proved by the signature in the lock; `None` if the lock has no signature.
    ///
    /// # Errors
    /// If the signature does not belong to this component.
    pub fn proved_signer(&self, component: &[u8]) -> Result<Option<&Signer>, BadSignature> {
        let Some(Signed::By(signature)) = &self.signed else { return Ok(None) };
        signature.verify(component)?;
        Ok(Some(signature.signer()))
    }

    /// The same, with these imports and the grants that they need.
    #[must_use]
    pub fn importing(
        mut self,
        imports: Vec<String>,
        grants: impl IntoIterator<Item = String>,
    ) -> Locked {
        self.imports = imports;
        self.grants = grants.into_iter().collect();
        self.grants.sort_unstable();
        self
    }
}

impl Table {
    fn of(locked: &Locked) -> Table {
        let Locked { component, manifest, contract, reads, imports, grants, .. } = locked.clone();
        let signer = locked.signer().map(Signer::to_string);
        let signature = match &locked.signed {
            Some(Signed::By(signature)) => Some(signature.text().to_owned()),
            Some(Signed::Said(_)) | None => None,
        };
        Table { component, manifest, contract, reads, imports, grants, signer, signature }
    }

    fn at(self, address: Address) -> Result<Locked, NotALock> {
        let invalid = |reason: String| NotALock::Invalid(format!("`{address}`: {reason}"));
        let signed = match (self.signer, self.signature) {
            (None, None) => None,
            (Some(signer), None) => {
                let signer = signer.parse().map_err(|error| invalid(format!("{error}")))?;
                Some(Signed::Said(signer))
            }
            (Some(signer), Some(text)) => {
                let signer = signer.parse().map_err(|error| invalid(format!("{error}")))?;
                let signature = Signature::of_text(&signer, &text);
                Some(Signed::By(signature.map_err(|error| invalid(error.to_string()))?))
            }
            (None, Some(_)) => {
                return Err(invalid("its `signature` is without a `signer`".to_owned()));
            }
        };
        let Table { component, manifest, contract, reads, imports, grants, .. } = self;
        Ok(Locked { address, component, manifest, contract, reads, imports, grants, signed })
    }
}

impl Lock {
    /// Reads the text of a lock.
    ///
    /// # Errors
    /// What is wrong with the text, and where.
    pub fn parse(text: &str) -> Result<Lock, NotALock> {
        let document = match toml::from_str::<Document>(text) {
            Ok(document) if (1..=VERSION).contains(&document.version) => document,
            Ok(document) => return Err(NotALock::OtherVersion(document.version.into())),
            Err(error) => return Err(why_not(text, &error)),
        };
        let mut lock = Lock::default();
        for (address, table) in document.scorers {
            let address: Address = address.parse().map_err(NotALock::Address)?;
            if lock.get(&address.to_string()).is_some() {
                return Err(NotALock::Invalid(format!("`{address}` is in it twice")));
            }
            lock.insert(table.at(address)?);
        }
        lock.is_of_older_version = document.version < VERSION;
        Ok(lock)
    }

    /// The text of the lock; the same scorers always produce the same bytes.
    pub fn text(&self) -> String {
        let mut text = format!("{HEAD}\nversion = {VERSION}\n");
        for locked in self.scorers.values() {
            // The table consists of texts and lists of texts, so this cannot fail.
            let scorer = [(locked.address.to_string(), Table::of(locked))].into();
            let table = toml::to_string(&One { scorer }).unwrap_or_default();
            let _ = write!(text, "\n{table}");
        }
        text
    }

    /// Whether the lock was read from a text of an older version; it is always written in the current version.
    pub fn is_of_older_version(&self) -> bool {
        self.is_of_older_version
    }

    /// What the scorer at `address` is locked to.
    pub fn get(&self, address: &str) -> Option<&Locked> {
        self.scorers.get(&Address::canonical(address))
    }

    /// Locks a scorer, and replaces its earlier entry.
    pub fn insert(&mut self, locked: Locked) {
        self.scorers.insert(locked.address.to_string(), locked);
    }

    /// Removes a scorer; returns whether the lock had it.
    pub fn remove(&mut self, address: &str) -> bool {
        self.scorers.remove(&Address::canonical(address)).is_some()
    }

    /// All locked scorers, in the order of their addresses.
    pub fn iter(&self) -> impl Iterator<Item = &Locked> {
        self.scorers.values()
    }
}

/// Why a text is not a valid lock. For another version only that is reported, because this version would find mistakes
/// where there are none.
fn why_not(text: &str, error: &toml::de::Error) -> NotALock {
    match toml::from_str(text) {
        Ok(Versioned { version: None }) => NotALock::Invalid("it has no `version`".to_owned()),
        Ok(Versioned { version: Some(version) })
            if !(1..=u64::from(VERSION)).contains(&version) =>
        {
            NotALock::OtherVersion(version)
        }
        Ok(_) | Err(_) => NotALock::Invalid(placed(text, error)),
    }
}

/// What is wrong, after its line number.
fn placed(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().lines().next().unwrap_or_default();
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => {
            format!("line {}: {message}", before.bytes().filter(|byte| *byte == b'\n').count() + 1)
        }
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(address: &str) -> Locked {
        let (component, manifest) = (Digest::of(b"component"), Digest::of(b"manifest"));
        let locked = Locked::new(address.parse().unwrap(), component, manifest, "0.1.0");
        let imports = vec!["scorebox:scorer/judge@0.1.0".to_owned()];
        let reads = ["input".to_owned(), "expected".to_owned()];
        locked.reading(reads).importing(imports, ["judge".to_owned()])
    }

    #[test]
    fn the_name_of_a_host_is_found_in_any_case_and_is_there_once() {
        let mut lock = Lock::default();
        lock.insert(locked("a.test/grade:1.2.0"));
        lock.insert(locked("b.test/grade:1.2.0"));
        let text = lock.text();
        let mut lock = Lock::parse(&text.replace("\"b.test/", "\"B.Test/")).unwrap();
        assert_eq!(lock.text(), text);
        assert!(lock.get("b.TEST/grade:1.2.0").is_some());
        let table = text.split_once("[scorer.\"b.test/").unwrap().1;
        let table = table.split("\n[scorer.").next().unwrap();
        let twice = format!("{text}\n[scorer.\"B.test/{table}");
        let error = Lock::parse(&twice).unwrap_err();
        assert_eq!(error, NotALock::Invalid("`b.test/grade:1.2.0` is in it twice".to_owned()));
        assert!(lock.remove("b.TEST/grade:1.2.0"));
    }

    #[test]
    fn a_lock_is_written_as_it_is_read_in_the_order_of_the_addresses() {
        let mut lock = Lock::default();
        lock.insert(locked("b.test/grade:1.2.0"));
        lock.insert(locked("a.test/grade:1.2.0"));
        let text = lock.text();
        assert_eq!(Lock::parse(&text).unwrap(), lock);
        let addresses: Vec<String> = lock.iter().map(|it| it.address.to_string()).collect();
        assert_eq!(addresses, ["a.test/grade:1.2.0", "b.test/grade:1.2.0"]);
        let digest = Digest::of(b"component");
        let (_, table) = text.split_once("\n\n").unwrap();
        let (table, _) = table.split_once("\n\n").unwrap();
        let expected = format!(
            "[scorer.\"a.test/grade:1.2.0\"]\ncomponent = \"sha256:{digest}\"\nmanifest = \"sha256:{}\"\n\
             contract = \"0.1.0\"\nreads = [\"expected\", \"input\"]\nimports = [\"scorebox:scorer/judge@0.1.0\"]\n\
             grants = [\"judge\"]",
            Digest::of(b"manifest")
        );
        assert_eq!(table, expected);
        assert!(lock.remove("a.test/grade:1.2.0"));
        assert!(!lock.remove("a.test/grade:1.2.0"));
        assert!(lock.get("b.test/grade:1.2.0").is_some());
    }

    #[test]
    fn what_is_not_a_lock_is_refused_with_its_line() {
        let mut lock = Lock::default();
        lock.insert(locked("a.test/grade:1.2.0"));
        let text = lock.text();
        let refused = |text: &str| Lock::parse(text).unwrap_err().to_string();
        let tables = text.split_once("\n\n").unwrap().1;
        let twice = refused(&format!("{text}\n{tables}"));
        assert!(twice.starts_with("line 12: duplicate key"), "{twice}");
        assert!(refused(&text.replace("version = 2", "version = 3")).contains("has version 3"));
        assert!(refused(&text.replace("version = 2\n", "")).contains("no `version`"));
        assert!(
            refused(&text.replace("a.test", "../a")).contains("is not the address of a scorer")
        );
        let error = refused(&text.replace("sha256:", "sha256:0"));
        assert!(error.contains("line 5") && error.contains("64 hexadecimal"), "{error}");
        assert!(refused(&text.replace("grants", "rights")).contains("rights"));
        assert!(refused("<<<<<<< HEAD\nversion = 1\n").contains("line 1"));
    }
    #[test]
    fn a_signature_is_written_as_it_is_read_and_proves_who_signed() {
        let component = b"component";
        let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        let secret = pair.sk.to_box(None).unwrap().into_string();
        let signature = Signature::make(component, &secret, None).unwrap();
        let signer = signature.signer().clone();
        let mut lock = Lock::default();
        lock.insert(locked("a.test/grade:1.2.0").signed(Some(Signed::By(signature))));
        let text = lock.text();
        let read = Lock::parse(&text).unwrap();
        assert_eq!(read, lock);
        let read = read.get("a.test/grade:1.2.0").unwrap();
        assert_eq!(read.proved_signer(component), Ok(Some(&signer)));
        assert_eq!(read.proved_signer(b"other"), Err(BadSignature::NotOfThis(signer.clone())));
        let without = text.replace(&format!("signer = \"{signer}\"\n"), "");
        assert!(Lock::parse(&without).unwrap_err().to_string().contains("without a `signer`"));
        let other = Lock::parse(&text.replace(signer.as_str(), "RWother")).unwrap_err().to_string();
        assert!(other.contains("a.test/grade:1.2.0"), "{other}");
    }

    #[test]
    fn a_lock_whose_lines_end_as_windows_ends_them_says_the_same() {
        let component = b"component";
        let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        let secret = pair.sk.to_box(None).unwrap().into_string();
        let signature = Signature::make(component, &secret, None).unwrap();
        let mut lock = Lock::default();
        lock.insert(locked("a.test/grade:1.2.0").signed(Some(Signed::By(signature))));
        let read = Lock::parse(&lock.text().replace('\n', "\r\n")).unwrap();
        assert_eq!(read, lock);
        assert!(read.iter().all(|it| it.proved_signer(component).is_ok_and(|it| it.is_some())));
    }

    #[test]
    fn a_lock_of_version_1_is_read_and_its_signer_is_not_proved() {
        const VERSION_1: &str = r#"# Which components the suites in this folder use. `scorebox add` and `scorebox remove` write it.
version = 1

[scorer."localhost:5066/team/word-count:1.2.0"]
component = "sha256:85aab30548dcdd882248ceacdf2d9c62de1e6139db542f44519ae814366db96e"
manifest = "sha256:ff21aeba8e52fec8f3a48cb134511241d9bdd1b5073ca3cd4bfa40316723f29b"
contract = "0.1.0"
reads = []
imports = ["scorebox:scorer/log@0.1.0", "scorebox:scorer/types@0.1.0"]
grants = []
signer = "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI"
"#;
        let lock = Lock::parse(VERSION_1).unwrap();
        assert!(lock.is_of_older_version());
        let locked = lock.iter().next().unwrap();
        assert_eq!(locked.contract, "0.1.0");
        assert_eq!(
            locked.signer().map(Signer::as_str),
            Some("RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI")
        );
        assert_eq!(locked.proved_signer(b"component"), Ok(None));
        assert!(lock.text().contains("\nversion = 2\n"));
    }
}
