//! Defines what an index contains about one scorer: enough for a person to decide whether to look at it, and for
//! comparison with what is fetched later. Checks sizes and formats, but trusts nothing.

use scorebox::digest::Digest;
use serde::{Deserialize, Serialize};

use crate::{address::Address, signing::Signer};

/// The most bytes of a title.
const MAX_TITLE_BYTES: usize = 200;
/// The most bytes of a description.
const MAX_DESCRIPTION_BYTES: usize = 1000;
/// The most bytes of a licence, a source, or a name in a list.
const MAX_TEXT_BYTES: usize = 500;
/// The most names in a list.
const MAX_NAMES: usize = 100;
/// The most characters of a scorer's id, as in the contract.
const MAX_ID_BYTES: usize = 64;

/// A published scorer, as an index describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexEntry {
    /// Where it is published.
    pub address: Address,
    /// The scorer's own id: 1 to 64 of `a-z`, `0-9` and `-`.
    pub scorer_id: String,
    /// The title for people: up to 200 bytes.
    pub title: String,
    /// What it scores and how: up to 1000 bytes.
    pub description: String,
    /// The version of the contract that it was built for, such as `0.1.0`.
    pub contract: String,
    /// Its licence, as an SPDX expression, as stated by its publisher.
    pub license: Option<String>,
    /// Where its sources are, as stated by its publisher.
    pub source: Option<String>,
    /// The key that signed the component; `None` if it is not signed.
    pub signer: Option<Signer>,
    /// The digest of the component.
    pub component: Digest,
    /// The component's size in bytes.
    pub bytes: u64,
    /// The parts of a case that it reads in addition to the output.
    pub reads: Vec<String>,
    /// What it imports.
    pub imports: Vec<String>,
    /// The grants that it needs.
    pub grants: Vec<String>,
}

/// An entry in the format of the document.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Written {
    address: String,
    scorer_id: String,
    title: String,
    #[serde(default)]
    description: String,
    contract: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    license: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signer: Option<String>,
    component: String,
    bytes: u64,
    reads: Vec<String>,
    imports: Vec<String>,
    grants: Vec<String>,
}

impl IndexEntry {
    /// An entry for the scorer at `address`, whose component has this digest and size. It reads the output, imports
    /// nothing, and is not signed.
    pub fn new(
        address: Address,
        scorer_id: &str,
        contract: &str,
        component: Digest,
        bytes: u64,
    ) -> IndexEntry {
        IndexEntry {
            address,
            scorer_id: scorer_id.to_owned(),
            title: String::new(),
            description: String::new(),
            contract: contract.to_owned(),
            license: None,
            source: None,
            signer: None,
            component,
            bytes,
            reads: Vec::new(),
            imports: Vec::new(),
            grants: Vec::new(),
        }
    }

    /// The same, with a title and a description, cut to the limits of an index.
    #[must_use]
    pub fn described(mut self, title: &str, description: &str) -> IndexEntry {
        self.title = title[..title.floor_char_boundary(MAX_TITLE_BYTES)].to_owned();
        let end = description.floor_char_boundary(MAX_DESCRIPTION_BYTES);
        self.description = description[..end].to_owned();
        self
    }

    /// The same, with what its publisher states; texts that are too long are left out.
    #[must_use]
    pub fn published_with(mut self, license: Option<&str>, source: Option<&str>) -> IndexEntry {
        let short = |text: &&str| text.len() <= MAX_TEXT_BYTES;
        self.license = license.filter(short).map(str::to_owned);
        self.source = source.filter(short).map(str::to_owned);
        self
    }

    /// The same, signed by this key.
    #[must_use]
    pub fn signed_by(mut self, signer: Option<Signer>) -> IndexEntry {
        self.signer = signer;
        self
    }

    /// The same, with what the scorer reads, imports and needs.
    #[must_use]
    pub fn using(
        mut self,
        reads: Vec<String>,
        imports: Vec<String>,
        grants: Vec<String>,
    ) -> IndexEntry {
        (self.reads, self.imports, self.grants) = (reads, imports, grants);
        self
    }

    /// What is wrong with the entry; `None` if an index can contain it.
    pub(super) fn mistake(&self) -> Option<String> {
        let is_id = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let id = &self.scorer_id;
        if id.is_empty() || id.len() > MAX_ID_BYTES || !id.bytes().all(is_id) {
            return Some("its `scorerId` must have 1 to 64 of `a-z`, `0-9` and `-`".to_owned());
        }
        let texts = [
            ("title", self.title.len(), MAX_TITLE_BYTES),
            ("description", self.description.len(), MAX_DESCRIPTION_BYTES),
            ("contract", self.contract.len(), MAX_TEXT_BYTES),
            ("license", self.license.as_ref().map_or(0, String::len), MAX_TEXT_BYTES),
            ("source", self.source.as_ref().map_or(0, String::len), MAX_TEXT_BYTES),
        ];
        if let Some((key, _, most)) = texts.into_iter().find(|(_, bytes, most)| bytes > most) {
            return Some(format!("its `{key}` has more than {most} bytes"));
        }
        let lists = [("reads", &self.reads), ("imports", &self.imports), ("grants", &self.grants)];
        lists.into_iter().find_map(|(key, names)| {
            let is_long = names.iter().any(|name| name.len() > MAX_TEXT_BYTES);
            if names.len() > MAX_NAMES {
                return Some(format!("its `{key}` has more than {MAX_NAMES} names"));
            }
            is_long.then(|| format!("a name in its `{key}` has more than {MAX_TEXT_BYTES} bytes"))
        })
    }
}

impl From<&IndexEntry> for Written {
    fn from(entry: &IndexEntry) -> Written {
        let IndexEntry { scorer_id, title, description, contract, license, source, .. } =
            entry.clone();
        let IndexEntry { address, signer, component, bytes, reads, imports, grants, .. } =
            entry.clone();
        Written {
            address: address.to_string(),
            scorer_id,
            title,
            description,
            contract,
            license,
            source,
            signer: signer.map(|signer| signer.to_string()),
            component: format!("sha256:{component}"),
            bytes,
            reads,
            imports,
            grants,
        }
    }
}

impl TryFrom<Written> for IndexEntry {
    type Error = String;

    fn try_from(written: Written) -> Result<IndexEntry, String> {
        let digest = written.component.strip_prefix("sha256:").and_then(|it| it.parse().ok());
        let component =
            digest.ok_or("its `component` must be `sha256:` and 64 hexadecimal digits")?;
        let signer = written.signer.as_deref().map(str::parse::<Signer>).transpose();
        let entry = IndexEntry {
            address: written.address.parse().map_err(|error| format!("{error}"))?,
            scorer_id: written.scorer_id,
            title: written.title,
            description: written.description,
            contract: written.contract,
            license: written.license,
            source: written.source,
            signer: signer.map_err(|error| format!("its `signer`: {error}"))?,
            component,
            bytes: written.bytes,
            reads: written.reads,
            imports: written.imports,
            grants: written.grants,
        };
        entry.mistake().map_or(Ok(entry), Err)
    }
}
