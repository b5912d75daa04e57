//! Reads and writes the document of an index: its name, its serial number, and an entry for each scorer. Reads a
//! bounded number of entries, and signs nothing.

use std::{collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, SeqAccess, Visitor},
};

use super::entry::{IndexEntry, Written};

/// The version of the format.
const VERSION: u32 = 1;
/// The most bytes of a document that are read or written: 32 MiB.
pub const MAX_INDEX_BYTES: usize = 32 << 20;
/// The most scorers in a document.
pub const MAX_ENTRIES: usize = 50_000;
/// The most characters of a name.
const MAX_NAME: usize = 64;

/// An index of published scorers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Index {
    /// The name that its publisher gives it: 1 to 64 letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// A number that grows with every change.
    pub serial: u64,
    /// The scorers, in the order of their addresses, each of which occurs once.
    pub scorers: Vec<IndexEntry>,
}

/// Why bytes are not the document of an index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAnIndex {
    /// The document is not JSON, or something in it is missing or not valid.
    #[error("{0}")]
    Invalid(String),
    /// The document has another version.
    #[error("it has version {0} of the format; this scorebox reads version {VERSION}")]
    OtherVersion(u64),
    /// The document has more bytes than are read.
    #[error("it has more than {} MiB", MAX_INDEX_BYTES >> 20)]
    TooLarge,
}

#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

#[derive(Deserialize)]
struct Document {
    name: String,
    serial: u64,
    scorers: Entries,
}

#[derive(Serialize)]
struct WrittenDocument<'a> {
    version: u32,
    name: &'a str,
    serial: u64,
    scorers: Vec<Written>,
}

/// The entries, of which at most [`MAX_ENTRIES`] are read.
struct Entries(Vec<IndexEntry>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Entries, D::Error> {
        from.deserialize_seq(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of scorers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entries, A::Error> {
        let mut entries: Vec<IndexEntry> = Vec::new();
        let mut addresses = HashSet::new();
        while let Some(written) = list.next_element::<Written>()? {
            let number = entries.len() + 1;
            if number > MAX_ENTRIES {
                return Err(A::Error::custom(format!("it has more than {MAX_ENTRIES} scorers")));
            }
            let wrong = |reason| A::Error::custom(format!("scorer {number}: {reason}"));
            let entry = IndexEntry::try_from(written).map_err(wrong)?;
            if !addresses.insert(entry.address.clone()) {
                return Err(wrong(format!("`{}` is in it twice", entry.address)));
            }
            entries.push(entry);
        }
        entries.sort_by_cached_key(|entry| entry.address.to_string());
        Ok(Entries(entries))
    }
}

impl Index {
    /// An index of these scorers.
    ///
    /// # Errors
    /// If the index cannot be written: its name is not valid, two scorers have the same address, or there are more
    /// scorers or bytes than are read.
    pub fn new(name: &str, serial: u64, mut scorers: Vec<IndexEntry>) -> Result<Index, NotAnIndex> {
        scorers.sort_by_cached_key(|entry| entry.address.to_string());
        let index = Index { name: name.to_owned(), serial, scorers };
        // Reading the written document ensures that only valid documents are written.
        Index::parse(index.text().as_bytes())
    }

    /// Reads a document. Unknown keys are ignored.
    ///
    /// # Errors
    /// What is wrong with the document, and where.
    pub fn parse(document: &[u8]) -> Result<Index, NotAnIndex> {
        if document.len() > MAX_INDEX_BYTES {
            return Err(NotAnIndex::TooLarge);
        }
        let invalid = |error: serde_json::Error| NotAnIndex::Invalid(error.to_string());
        let Versioned { version } = serde_json::from_slice(document).map_err(invalid)?;
        if version != u64::from(VERSION) {
            return Err(NotAnIndex::OtherVersion(version));
        }
        let Document { name, serial, scorers } =
            serde_json::from_slice(document).map_err(invalid)?;
        if !is_name(&name) {
            let reason = "its `name` must have 1 to 64 letters, digits, `-`, `_` and `.`";
            return Err(NotAnIndex::Invalid(reason.to_owned()));
        }
        if serial == u64::MAX {
            let reason = format!("its `serial` is {serial}, after which there is no higher one");
            return Err(NotAnIndex::Invalid(reason));
        }
        Ok(Index { name, serial, scorers: scorers.0 })
    }

    /// The document; the same index always produces the same bytes.
    pub fn text(&self) -> String {
        let Index { name, serial, scorers } = self;
        let scorers = scorers.iter().map(Written::from).collect();
        let document = WrittenDocument { version: VERSION, name, serial: *serial, scorers };
        // The document consists of texts, numbers and lists of texts, so this cannot fail.
        let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn is_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(is_word)
}

#[cfg(test)]
mod tests {
    use scorebox::digest::Digest;
    use serde_json::{Value, json};

    use super::*;

    fn entry(address: &str) -> IndexEntry {
        let component = Digest::of(b"component");
        let signer = "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI".parse().ok();
        IndexEntry::new(address.parse().unwrap(), "grade", "0.1.0", component, 9)
            .described("Grade", "Grades an answer.")
            .published_with(Some("MIT"), None)
            .signed_by(signer)
            .using(vec!["input".to_owned()], Vec::new(), vec!["judge".to_owned()])
    }

    fn index() -> Index {
        Index::new("team", 3, vec![entry("b.test/grade:1.2.0"), entry("a.test/grade:1.2.0")])
            .unwrap()
    }

    #[test]
    fn an_index_is_written_as_it_is_read_in_the_order_of_the_addresses() {
        let text = index().text();
        assert_eq!(Index::parse(text.as_bytes()).unwrap(), index());
        let value: Value = serde_json::from_str(&text).unwrap();
        let digest = format!("sha256:{}", Digest::of(b"component"));
        assert_eq!(value["version"], 1);
        assert_eq!(value["serial"], 3);
        assert_eq!(
            value["scorers"][0],
            json!({
                "address": "a.test/grade:1.2.0",
                "scorerId": "grade",
                "title": "Grade",
                "description": "Grades an answer.",
                "contract": "0.1.0",
                "license": "MIT",
                "signer": "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI",
                "component": digest,
                "bytes": 9,
                "reads": ["input"],
                "imports": [],
                "grants": ["judge"],
            })
        );
    }

    #[test]
    fn what_is_too_long_for_an_entry_is_cut_or_left_out() {
        let long = "é".repeat(1000);
        let entry = entry("a.test/grade:1.2.0")
            .described(&long, &long)
            .published_with(Some(&long), Some(&long));
        assert_eq!((entry.title.len(), entry.description.len()), (200, 1000));
        assert_eq!((&entry.license, &entry.source), (&None, &None));
        assert!(Index::new("team", 1, vec![entry]).is_ok());
    }

    #[test]
    fn keys_that_are_not_known_are_ignored() {
        let mut value: Value = serde_json::from_str(&index().text()).unwrap();
        value["more"] = json!([1]);
        value["scorers"][0]["more"] = json!({"a": 1});
        assert_eq!(Index::parse(value.to_string().as_bytes()).unwrap(), index());
    }

    #[test]
    fn what_is_not_an_index_is_refused_with_the_reason() {
        let value: Value = serde_json::from_str(&index().text()).unwrap();
        let with = |pointer: &str, new: Value| {
            let mut other = value.clone();
            *other.pointer_mut(pointer).unwrap() = new;
            Index::parse(other.to_string().as_bytes()).unwrap_err().to_string()
        };
        let long = "x".repeat(1001);
        let names = json!(vec!["x"; 101]);
        for (pointer, new, reason) in [
            ("/version", json!(2), "it has version 2 of the format"),
            ("/version", json!("1"), "invalid type"),
            ("/name", json!(""), "its `name` must have"),
            ("/name", json!("../a"), "its `name` must have"),
            ("/name", json!("\u{1b}[2J"), "its `name` must have"),
            ("/serial", json!(-1), "invalid value"),
            ("/scorers", json!({}), "expected a list of scorers"),
            ("/scorers/0", json!({}), "missing field `address`"),
            ("/scorers/0/address", json!("../grade"), "scorer 1: `../grade` is not the address"),
            (
                "/scorers/1/address",
                json!("a.test/grade:1.2.0"),
                "scorer 2: `a.test/grade:1.2.0` is in it twice",
            ),
            ("/scorers/0/scorerId", json!("grаde"), "its `scorerId` must have"),
            ("/scorers/0/scorerId", json!(""), "its `scorerId` must have"),
            ("/scorers/0/title", json!(long), "its `title` has more than 200 bytes"),
            ("/scorers/0/description", json!(long), "its `description` has more than 1000 bytes"),
            ("/scorers/0/license", json!(long), "its `license` has more than 500 bytes"),
            ("/scorers/0/signer", json!("RW"), "its `signer`: it is not a public key"),
            ("/scorers/0/component", json!("sha256:00"), "its `component` must be"),
            ("/scorers/0/reads", names, "its `reads` has more than 100 names"),
            (
                "/scorers/0/imports",
                json!([long]),
                "a name in its `imports` has more than 500 bytes",
            ),
            ("/scorers/0/bytes", json!(1.5), "invalid type"),
        ] {
            let error = with(pointer, new);
            assert!(error.contains(reason), "{pointer}: {error}");
        }
        let refused = |text: &[u8]| Index::parse(text).unwrap_err().to_string();
        assert!(refused(b"").contains("EOF"));
        assert!(refused(b"<html>").contains("line 1 column 1"));
        assert!(refused(b"{\"version\": 1, \"name\": \"\xff\"").contains("line 1"));
        assert!(refused(&vec![b'['; 1 << 20]).contains("line 1"));
        assert_eq!(refused(&vec![b' '; MAX_INDEX_BYTES + 1]), "it has more than 32 MiB");
        let twice = vec![entry("a.test/grade:1.2.0"), entry("a.test/grade:1.2.0")];
        assert!(Index::new("team", 1, twice).is_err());
    }

    #[test]
    fn no_more_scorers_are_read_than_an_index_may_have() {
        let head = "{\"version\": 1, \"name\": \"a\", \"serial\": 1, \"scorers\": [";
        let digest = Digest::of(b"");
        let entry = |number: usize| {
            format!(
                "{{\"address\":\"a.b/{number}:1\",\"scorerId\":\"a\",\"title\":\"\",\"contract\":\"\",\
                 \"component\":\"sha256:{digest}\",\"bytes\":0,\"reads\":[],\"imports\":[],\"grants\":[]}}"
            )
        };
        let of = |count: usize| {
            let entries: Vec<String> = (0..count).map(entry).collect();
            Index::parse(format!("{head}{}]}}", entries.join(",")).as_bytes())
        };
        assert_eq!(of(MAX_ENTRIES).unwrap().scorers.len(), MAX_ENTRIES);
        let error = of(MAX_ENTRIES + 1).unwrap_err().to_string();
        assert!(error.starts_with("it has more than 50000 scorers"), "{error}");
        // A million elements of the smallest size are refused at the first one.
        let million = format!("{head}{}{{}}]}}", "{},".repeat(1_000_000));
        let error = Index::parse(million.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("missing field `address`"), "{error}");
    }
}
