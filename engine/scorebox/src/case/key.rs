//! The keys of a case line and their spellings, in one table. Knows names only; values are sliced in `line` and
//! checked in `checks`.

use std::fmt;

use crate::contract::Field;

/// The table: a key's name, its spellings, and the part of a case that it is, if it is one.
macro_rules! keys {
    ($(#[doc = $meaning:literal] $name:ident $(is $field:ident)? = [$($spelling:literal),+],)+) => {
        /// One of the keys that a case line may have.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[expect(clippy::exhaustive_enums, reason = "who decides by it must decide about each")]
        pub enum Key {
            $(#[doc = $meaning] $name,)+
        }

        impl Key {
            /// The number of keys.
            pub(super) const COUNT: usize = [$(Key::$name),+].len();

            /// All keys, in the order in which the documentation lists them.
            pub const ALL: [Key; Key::COUNT] = [$(Key::$name),+];

            /// The spellings of this key, strongest first; the first is the canonical one.
            pub const fn spellings(self) -> &'static [&'static str] {
                match self {
                    $(Key::$name => &[$($spelling),+],)+
                }
            }

            /// The meaning of the key's value, in a few words for a person.
            pub fn meaning(self) -> &'static str {
                let sentence = match self {
                    $(Key::$name => $meaning,)+
                };
                sentence.trim().trim_end_matches('.')
            }
        }

        impl From<Field> for Key {
            fn from(field: Field) -> Key {
                match field {
                    $($(Field::$field => Key::$name,)?)+
                }
            }
        }
    };
}

keys! {
    /// The case's id: a string or an integer.
    Id = ["id"],
    /// The task's input or prompt.
    Input is Input = ["input"],
    /// What the task produced.
    Output = ["output"],
    /// The expected output.
    GroundTruth is GroundTruth = [
        "groundTruth",
        "ground_truth",
        "expected",
        "expectedOutput",
        "expected_output",
        "reference",
        "target"
    ],
    /// What the task was given in addition to its input.
    Context is Context = ["context"],
    /// How long the task took, in milliseconds.
    LatencyMs is Latency = ["latencyMs", "latency_ms"],
    /// A JSON Schema that the output should match.
    OutputSchema is OutputSchema = ["outputSchema", "output_schema"],
    /// What the agent did.
    Trace is Trace = ["trace", "messages"],
    /// Tokens and cost.
    Usage is Usage = ["usage"],
    /// Anything else that the case says about itself.
    Metadata is Metadata = ["metadata", "meta"],
    /// Another output for the same input.
    Baseline is Baseline = ["baseline"],
    /// The folder with the files that the task left.
    Workspace = ["workspace"],
    /// The task that the case belongs to.
    NodeId = ["nodeId", "node_id"],
    /// Which iteration of the task this is.
    Iteration = ["iteration"],
    /// Which attempt of the iteration this is.
    Attempt = ["attempt"],
    /// Whether the case is not to be judged: true, or why.
    Skip = ["skip"],
    /// Why there is no answer, if the task failed.
    Error = ["error"],
}

/// One spelling of a key, as [`Key::find`] found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spelling {
    /// The key with this spelling.
    pub key: Key,
    /// 0 for the canonical spelling; the lowest rank that a line contains wins.
    pub rank: u8,
    /// A different number for every spelling, below 32.
    pub number: u8,
}

impl Key {
    /// The canonical spelling.
    pub const fn name(self) -> &'static str {
        self.spellings()[0]
    }

    /// The key whose canonical spelling is `name`.
    pub fn from_name(name: &str) -> Option<Key> {
        Key::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The key that `text` spells, canonically or not.
    pub(super) fn find(text: &str) -> Option<Spelling> {
        let mut number = 0;
        for key in Key::ALL {
            for (rank, spelling) in (0..).zip(key.spellings()) {
                if *spelling == text {
                    return Some(Spelling { key, rank, number });
                }
                number += 1;
            }
        }
        None
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_spelling_is_found_and_has_a_number_of_its_own() {
        let mut numbers = HashSet::new();
        for (index, key) in Key::ALL.into_iter().enumerate() {
            assert_eq!(key as usize, index);
            for (rank, spelling) in key.spellings().iter().enumerate() {
                let found = Key::find(spelling).unwrap();
                assert_eq!((found.key, usize::from(found.rank)), (key, rank), "{spelling}");
                assert!(found.number < 32 && numbers.insert(found.number), "{spelling}");
            }
        }
        assert_eq!(Key::find("Output"), None);
    }

    #[test]
    fn only_the_canonical_spelling_is_a_name() {
        assert_eq!(Key::from_name("groundTruth"), Some(Key::GroundTruth));
        assert_eq!(Key::from_name("ground_truth"), None);
    }

    #[test]
    fn every_field_of_the_contract_has_the_key_of_the_same_name() {
        for field in Field::ALL {
            assert_eq!(Key::from(field).name(), field.key());
        }
    }
}
