//! The values in a stored case of the keys that a leaderboard reads, in its metadata and outside it. The names are
//! those of dify's challenges, and shorter ones. It does not interpret values: see `entry`.

use std::fmt;

use serde::{
    Deserializer as _,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{row::Json, store::CaseEntry};

/// A key in all its spellings: dify's has priority over that of JSON, which may be there too.
pub(super) type Spellings = &'static [&'static str];

const ENTRANT: Spellings = &["entrant"];
const USER: Spellings = &["end_user_id", "endUserId"];
const ACCOUNT: Spellings = &["account_id", "accountId"];
pub(super) const TENANT: Spellings = &["tenant", "tenant_id", "tenantId"];
pub(super) const APP: Spellings = &["app", "app_id", "appId"];
pub(super) const CHALLENGE: Spellings = &["challenge", "challenge_id", "challengeId"];
pub(super) const SUCCEEDED: Spellings = &["succeeded"];
pub(super) const RATING: Spellings = &["rating"];
pub(super) const TOKENS_TOTAL: Spellings = &["tokens_total", "tokensTotal"];
pub(super) const ELAPSED_MS: Spellings = &["elapsed_ms", "elapsedMs"];
pub(super) const CREATED_AT: Spellings = &["created_at", "createdAt"];

/// All keys that are read. Others are ignored.
const KEYS: [Spellings; 11] = [
    ENTRANT,
    USER,
    ACCOUNT,
    TENANT,
    APP,
    CHALLENGE,
    SUCCEEDED,
    RATING,
    TOKENS_TOTAL,
    ELAPSED_MS,
    CREATED_AT,
];

/// The relevant members of a case.
#[derive(Debug, Default)]
pub(super) struct Stated<'a> {
    metadata: Members<'a>,
    line: Members<'a>,
}

impl<'a> Stated<'a> {
    /// The members of a case's metadata, and of its line outside the metadata.
    pub(super) fn by(entry: &'a CaseEntry) -> Stated<'a> {
        Stated {
            metadata: Members::of(entry.metadata.as_ref()),
            line: Members::of(entry.other.as_ref()),
        }
    }

    /// The values of a key in the metadata. There they are meant for the key, while those in the line may not be.
    pub(super) fn in_metadata(&self, key: Spellings) -> Vec<&'a RawValue> {
        self.metadata.values(key)
    }

    /// The values of a key: in the metadata or, if that has none, in the line.
    pub(super) fn values(&self, key: Spellings) -> Vec<&'a RawValue> {
        let in_metadata = self.in_metadata(key);
        if in_metadata.is_empty() { self.line.values(key) } else { in_metadata }
    }

    /// The values that name the entrant: the `entrant` of the line, which nobody writes there for another purpose, then
    /// those in the metadata, and last the other keys of the line.
    pub(super) fn entrants(&self) -> impl Iterator<Item = &'a RawValue> {
        let in_metadata = [ENTRANT, USER, ACCOUNT].map(|key| self.in_metadata(key));
        let elsewhere = [USER, ACCOUNT].map(|key| self.values(key));
        let own = self.line.values(ENTRANT).into_iter();
        own.chain(in_metadata.into_iter().flatten()).chain(elsewhere.into_iter().flatten())
    }

    /// The keys that the metadata has twice, so that their values are ambiguous. No line has a key twice.
    pub(super) fn repeated(&self) -> impl Iterator<Item = &'static str> {
        self.metadata.repeated.iter().copied()
    }
}

/// The members of an object that are read; if one occurs twice, the first.
#[derive(Debug, Default)]
struct Members<'a> {
    values: Vec<(&'static str, Option<&'a RawValue>)>,
    repeated: Vec<&'static str>,
}

impl<'a> Members<'a> {
    /// The members of an object; none of any other value.
    fn of(json: Option<&'a Json>) -> Members<'a> {
        let mut members = Members::default();
        if let Some(json) = json {
            // Values other than objects have no members, and members before an invalid position count.
            let _ = serde_json::Deserializer::from_str(json.get())
                .deserialize_any(Reading { members: &mut members });
        }
        members
    }

    fn add(&mut self, key: &'static str, value: Option<&'a RawValue>) {
        if !self.values.iter().any(|(known, _)| *known == key) {
            self.values.push((key, value));
        } else if !self.repeated.contains(&key) {
            self.repeated.push(key);
        }
    }

    fn values(&self, key: Spellings) -> Vec<&'a RawValue> {
        let of = |spelling: &&'static str| {
            self.values.iter().find(|(known, _)| known == spelling).and_then(|(_, value)| *value)
        };
        key.iter().filter_map(of).collect()
    }
}

/// Reads members one by one: serde's own way would refuse a whole object in which one occurs twice.
struct Reading<'m, 'a> {
    members: &'m mut Members<'a>,
}

impl<'de> Visitor<'de> for Reading<'_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // A name may have escapes that are not valid text; then it is another name.
        while let Some(name) = map.next_key::<&RawValue>()? {
            match known(name) {
                Some(key) => self.members.add(key, map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The key with this name, if it is one that is read.
fn known(name: &RawValue) -> Option<&'static str> {
    let name: String = serde_json::from_str(name.get()).ok()?;
    KEYS.iter().copied().flatten().copied().find(|key| *key == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(metadata: &str, line: &str) -> CaseEntry {
        CaseEntry {
            metadata: Some(Json::from(metadata.to_owned())),
            other: Some(Json::from(line.to_owned())),
        }
    }

    fn said(entry: &CaseEntry, key: Spellings) -> Vec<String> {
        Stated::by(entry).values(key).iter().map(|value| value.get().to_owned()).collect()
    }

    fn entrants(metadata: &str, line: &str) -> Vec<String> {
        let entry = entry(metadata, line);
        Stated::by(&entry).entrants().map(|value| value.get().to_owned()).collect()
    }

    #[test]
    fn metadata_stands_in_place_of_the_line_and_the_spelling_of_dify_before_that_of_json() {
        let entry = entry(
            r#"{"tokensTotal": 2, "tokens_total": 1, "rating": null, "elapsedMs": []}"#,
            r#"{"tokens_total": 3, "rating": "4", "elapsed_ms": 5}"#,
        );
        assert_eq!(said(&entry, TOKENS_TOTAL), ["1", "2"]);
        assert_eq!(said(&entry, RATING), ["\"4\""]);
        assert_eq!(said(&entry, ELAPSED_MS), ["[]"]);
        assert_eq!(said(&entry, APP), [""; 0]);
        assert!(Stated::by(&entry).in_metadata(RATING).is_empty());
    }

    #[test]
    fn only_the_entrant_of_the_line_comes_before_the_metadata() {
        let line = r#"{"entrant": 1, "end_user_id": 2, "accountId": 3}"#;
        let first = |metadata: &str, line: &str| entrants(metadata, line).swap_remove(0);
        assert_eq!(first(r#"{"entrant": 4}"#, line), "1");
        assert_eq!(first(r#"{"account_id": 4}"#, r#"{"end_user_id": 2, "accountId": 3}"#), "4");
        assert_eq!(entrants("{}", line), ["1", "2", "3"]);
        // Metadata keys in the line are never read.
        assert!(!entrants(r#"{"endUserId": {}}"#, line).contains(&"2".to_owned()));
    }

    #[test]
    fn of_a_key_that_comes_twice_the_first_counts_and_it_is_named_once() {
        let entry = entry(
            r#"{"rating": 1, "\ud800": 0, "r\u0061ting": 2, "rating": 3, "entrant": "x", "z": 1, "z": 2}"#,
            "{}",
        );
        assert_eq!(said(&entry, RATING), ["1"]);
        assert_eq!(said(&entry, ENTRANT), ["\"x\""]);
        assert_eq!(Stated::by(&entry).repeated().collect::<Vec<_>>(), ["rating"]);
    }

    #[test]
    fn what_is_not_an_object_says_nothing() {
        for metadata in [r#"["entrant"]"#, r#""entrant""#, "7", "null", "", "{"] {
            assert_eq!(said(&entry(metadata, "{}"), ENTRANT), [""; 0], "{metadata}");
        }
        assert_eq!(said(&entry(r#"{"entrant": "x", oops"#, "{}"), ENTRANT), ["\"x\""]);
    }
}
