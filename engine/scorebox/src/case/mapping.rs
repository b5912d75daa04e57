//! Where a case's keys are in a line of another shape: `output=/response/text`. This parses and keeps the rules; `line`
//! applies them.

use super::{key::Key, pointer::Pointer};
use crate::{
    advice::{Advice, Advised, Form, Thing},
    suggest,
};

/// Rules that state where in a line the value of a key is, instead of in a member with that name.
///
/// A rule is written `KEY=POINTER`: a canonical key ([`Key::name`]) and a JSON Pointer (RFC 6901) from the line's
/// object. The empty pointer is the whole line. A rule's value wins over members that spell the key; if the pointer
/// finds nothing, the key is absent. The member that a pointer points into stays among the [other
/// keys](super::Case::other_json), unless it is the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    rules: Vec<(Key, Pointer)>,
}

impl Mapping {
    /// No rules: every key is a member of the line's object with that name.
    pub const NONE: Mapping = Mapping { rules: Vec::new() };

    /// Parses rules of the form `KEY=POINTER`.
    ///
    /// # Errors
    /// A rule has no `=`, an unknown key, an invalid JSON Pointer, or the key of another rule.
    pub fn parse<R: AsRef<str>>(
        rules: impl IntoIterator<Item = R>,
    ) -> Result<Mapping, MappingError> {
        let mut mapping = Mapping::default();
        for rule in rules {
            let (key, pointer) = parse_rule(rule.as_ref())?;
            if mapping.covers(key) {
                return Err(MappingError::Twice { key });
            }
            mapping.rules.push((key, pointer));
        }
        Ok(mapping)
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The JSON Pointer of `key`, if it has a rule.
    pub fn pointer(&self, key: Key) -> Option<&str> {
        self.rules.iter().find(|(mapped, _)| *mapped == key).map(|(_, pointer)| pointer.as_str())
    }

    /// All rules.
    pub(super) fn rules(&self) -> &[(Key, Pointer)] {
        &self.rules
    }

    /// Whether `key` has a rule.
    pub(super) fn covers(&self, key: Key) -> bool {
        self.rules.iter().any(|(mapped, _)| *mapped == key)
    }

    /// The rules that point into the member `name` of a line's object.
    pub(super) fn rules_into(&self, name: &str) -> impl Iterator<Item = &(Key, Pointer)> {
        self.rules.iter().filter(move |(_, pointer)| pointer.first() == Some(name))
    }

    /// The keys whose value is the whole line.
    pub(super) fn whole_line(&self) -> impl Iterator<Item = Key> {
        self.rules.iter().filter(|(_, pointer)| pointer.first().is_none()).map(|(key, _)| *key)
    }
}

/// Why a text is not a rule of a [`Mapping`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// It has no `=`.
    #[error("`{rule}` is not of the form KEY=POINTER")]
    NoEquals {
        /// The rule as it was written.
        rule: String,
    },
    /// Cases have no such key.
    #[error("a case has no key `{name}`")]
    UnknownKey {
        /// The name as it was written.
        name: String,
        /// The keys with the closest spellings, the best first.
        closest: Vec<Key>,
    },
    /// The text after the `=` is not a JSON Pointer.
    #[error("`{pointer}` is not a JSON Pointer: {problem}")]
    BadPointer {
        /// The key of the rule.
        key: Key,
        /// The text as it was written.
        pointer: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Two rules name the same key.
    #[error("`{key}` is mapped twice")]
    Twice {
        /// The key.
        key: Key,
    },
}

impl Advised for MappingError {
    fn advice(&self) -> Option<Advice> {
        match self {
            MappingError::NoEquals { .. } => Some(Advice::Write(Form::Mapping)),
            MappingError::UnknownKey { closest, .. } => {
                Some(Advice::did_you_mean(closest).unwrap_or_else(|| Advice::Choose {
                    what: Thing::PartOfCase,
                    names: Key::ALL.iter().map(ToString::to_string).collect(),
                }))
            }
            MappingError::BadPointer { key, pointer, .. } if !pointer.starts_with('/') => {
                let path =
                    pointer.trim_start_matches("$").trim_start_matches('.').replace('.', "/");
                Some(Advice::DidYouMean(vec![format!("{key}=/{path}")]))
            }
            MappingError::BadPointer { .. } => None,
            MappingError::Twice { .. } => Some(Advice::Once(Thing::PartOfCase)),
        }
    }
}

/// Splits `KEY=POINTER` into the key and the pointer.
fn parse_rule(rule: &str) -> Result<(Key, Pointer), MappingError> {
    let (name, pointer) =
        rule.split_once('=').ok_or_else(|| MappingError::NoEquals { rule: rule.to_owned() })?;
    let key = Key::from_name(name).ok_or_else(|| MappingError::UnknownKey {
        name: name.to_owned(),
        closest: closest(name),
    })?;
    let parsed = Pointer::parse(pointer).map_err(|problem| MappingError::BadPointer {
        key,
        pointer: pointer.to_owned(),
        problem,
    })?;
    Ok((key, parsed))
}

/// The keys with a spelling similar to `name`, the closest first.
fn closest(name: &str) -> Vec<Key> {
    let spellings = Key::ALL.iter().flat_map(|key| key.spellings().iter().copied());
    let mut keys = Vec::new();
    for spelling in suggest::closest(name, spellings) {
        let key = Key::ALL.into_iter().find(|key| key.spellings().contains(&spelling.as_str()));
        keys.extend(key.filter(|key| !keys.contains(key)));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(rule: &str) -> MappingError {
        Mapping::parse([rule]).unwrap_err()
    }

    #[test]
    fn every_key_can_be_mapped() {
        let rules = Key::ALL.map(|key| format!("{key}=/a/{key}"));
        let mapping = Mapping::parse(&rules).unwrap();
        assert_eq!(mapping.pointer(Key::NodeId), Some("/a/nodeId"));
        assert!(Key::ALL.into_iter().all(|key| mapping.covers(key)));
        assert!(Mapping::NONE.is_empty());
    }

    #[test]
    fn a_pointer_may_hold_an_equals_sign() {
        let mapping = Mapping::parse(["output=/a=b"]).unwrap();
        assert_eq!(mapping.pointer(Key::Output), Some("/a=b"));
    }

    #[test]
    fn an_unknown_key_brings_the_closest_ones() {
        let near = |rule: &str| match error(rule) {
            MappingError::UnknownKey { closest, .. } => closest,
            other => panic!("{other}"),
        };
        assert_eq!(near("ouput=/a"), [Key::Output]);
        assert_eq!(near("expected=/a"), [Key::GroundTruth]);
        assert_eq!(near("latency_ms=/a"), [Key::LatencyMs]);
        assert_eq!(near("colour=/a"), []);
        let meant = |name: &str| Some(Advice::DidYouMean(vec![name.to_owned()]));
        assert_eq!(error("GroundTruth=/a").advice(), meant("groundTruth"));
        let long = format!("{}=/a", "x".repeat(100_000));
        let Some(Advice::Choose { what: Thing::PartOfCase, names }) = error(&long).advice() else {
            panic!("no advice");
        };
        assert_eq!(names[..2], ["id", "input"]);
    }

    #[test]
    fn other_errors_say_what_to_write() {
        assert_eq!(error("output").to_string(), "`output` is not of the form KEY=POINTER");
        let dotted = error("output=$.response.text");
        assert_eq!(
            dotted.to_string(),
            "`$.response.text` is not a JSON Pointer: it does not start with `/`"
        );
        let meant = vec!["output=/response/text".to_owned()];
        assert_eq!(dotted.advice(), Some(Advice::DidYouMean(meant)));
        let twice = Mapping::parse(["output=/a", "output=/b"]).unwrap_err();
        assert_eq!(twice.to_string(), "`output` is mapped twice");
    }
}
