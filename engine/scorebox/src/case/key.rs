//! The keys of a case line and their spellings. Knows names only; values are sliced in `line` and
//! checked in `checks`.

use std::fmt;

use crate::contract::Field;

/// One of the keys that a case line may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Key {
    /// The case's id: a string or an integer.
    Id,
    /// The task's input or prompt.
    Input,
    /// What the task produced; the only required key.
    Output,
    /// The expected output.
    GroundTruth,
    /// What the task was given besides its input.
    Context,
    /// How long the task took, in milliseconds.
    LatencyMs,
    /// A JSON Schema that the output should match.
    OutputSchema,
    /// What the agent did.
    Trace,
    /// Tokens and cost.
    Usage,
    /// Whatever else the case says about itself.
    Metadata,
    /// Another output for the same input.
    Baseline,
    /// The folder with the files that the task left.
    Workspace,
    /// The task that the case belongs to.
    NodeId,
    /// Which iteration of the task this is.
    Iteration,
    /// Which attempt of the iteration this is.
    Attempt,
}

/// One way to write a key, as [`Key::find`] found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spelling {
    /// The key that is meant.
    pub key: Key,
    /// 0 for the canonical spelling; the least rank that is in a line wins.
    pub rank: u8,
    /// A number of its own for every spelling, below 32.
    pub number: u8,
}

impl Key {
    /// How many keys there are.
    pub(super) const COUNT: usize = 15;

    /// All keys, in the order in which the documentation lists them.
    pub const ALL: [Key; Key::COUNT] = [
        Key::Id,
        Key::Input,
        Key::Output,
        Key::GroundTruth,
        Key::Context,
        Key::LatencyMs,
        Key::OutputSchema,
        Key::Trace,
        Key::Usage,
        Key::Metadata,
        Key::Baseline,
        Key::Workspace,
        Key::NodeId,
        Key::Iteration,
        Key::Attempt,
    ];

    /// The ways to write this key, strongest first; the first is the canonical one.
    pub const fn spellings(self) -> &'static [&'static str] {
        match self {
            Key::Id => &["id"],
            Key::Input => &["input"],
            Key::Output => &["output"],
            Key::GroundTruth => &[
                "groundTruth",
                "ground_truth",
                "expected",
                "expectedOutput",
                "expected_output",
                "reference",
                "target",
            ],
            Key::Context => &["context"],
            Key::LatencyMs => &["latencyMs", "latency_ms"],
            Key::OutputSchema => &["outputSchema", "output_schema"],
            Key::Trace => &["trace", "messages"],
            Key::Usage => &["usage"],
            Key::Metadata => &["metadata", "meta"],
            Key::Baseline => &["baseline"],
            Key::Workspace => &["workspace"],
            Key::NodeId => &["nodeId", "node_id"],
            Key::Iteration => &["iteration"],
            Key::Attempt => &["attempt"],
        }
    }

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

impl From<Field> for Key {
    fn from(field: Field) -> Key {
        match field {
            Field::Input => Key::Input,
            Field::GroundTruth => Key::GroundTruth,
            Field::Context => Key::Context,
            Field::Latency => Key::LatencyMs,
            Field::OutputSchema => Key::OutputSchema,
            Field::Trace => Key::Trace,
            Field::Usage => Key::Usage,
            Field::Metadata => Key::Metadata,
            Field::Baseline => Key::Baseline,
        }
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
