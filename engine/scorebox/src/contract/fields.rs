//! The optional parts of a case: a table of them, sets of them, and values for them. It does not interpret their
//! content.

use serde::{Deserialize, Serialize};

/// The table: a part's name, its key in a case line, and its meaning. The order is the contract's.
macro_rules! fields {
    ($($(#[$meaning:meta])+ $name:ident = $key:literal,)+) => {
        /// One optional part of a case that a scorer may declare to read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[expect(clippy::exhaustive_enums, reason = "a version of the contract has these and no others")]
        pub enum Field {
            $($(#[$meaning])+ $name,)+
        }

        impl Field {
            /// The number of fields.
            pub const COUNT: usize = [$(Field::$name),+].len();

            /// All fields, in the contract's order.
            pub const ALL: [Field; Field::COUNT] = [$(Field::$name),+];

            /// The key of this field in a case line.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Field::$name => $key,)+
                }
            }
        }
    };
}

fields! {
    /// The task's input or prompt.
    Input = "input",
    /// The expected output.
    GroundTruth = "groundTruth",
    /// What the task was given in addition to its input.
    Context = "context",
    /// How long the task took.
    Latency = "latencyMs",
    /// A JSON Schema that the output should match.
    OutputSchema = "outputSchema",
    /// What the agent did.
    Trace = "trace",
    /// Tokens and cost.
    Usage = "usage",
    /// Anything else that the case says about itself.
    Metadata = "metadata",
    /// Another output for the same input.
    Baseline = "baseline",
}

/// A set of [`Field`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields(u16);

impl Fields {
    /// No field.
    pub const NONE: Fields = Fields(0);

    /// Every field.
    pub const ALL: Fields = Fields((1 << Field::ALL.len()) - 1);

    /// This set with `field` in it.
    #[must_use]
    pub const fn with(self, field: Field) -> Fields {
        Fields(self.0 | 1 << field as u8)
    }

    /// Whether `field` is in the set.
    pub const fn contains(self, field: Field) -> bool {
        self.0 & (1 << field as u8) != 0
    }

    /// The fields of the set, in the contract's order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |field| self.contains(*field))
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Fields {
        fields.into_iter().fold(Fields::NONE, Fields::with)
    }
}

impl Serialize for Fields {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Field::key))
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        let keys = Vec::<String>::deserialize(deserializer)?;
        keys.iter()
            .map(|key| {
                Field::ALL
                    .into_iter()
                    .find(|field| field.key() == key)
                    .ok_or_else(|| serde::de::Error::custom(format!("no field `{key}`")))
            })
            .collect()
    }
}

/// An optional value for each field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<T>([Option<T>; Field::COUNT]);

impl<T> Parts<T> {
    /// No value.
    pub const NONE: Parts<T> = Parts([const { None }; Field::COUNT]);

    /// The value for `field`.
    pub const fn get(&self, field: Field) -> Option<&T> {
        self.0[field as usize].as_ref()
    }

    /// Sets the value for `field`.
    pub fn set(&mut self, field: Field, value: Option<T>) {
        self.0[field as usize] = value;
    }

    /// The values that are set, in the contract's order.
    pub fn iter(&self) -> impl Iterator<Item = (Field, &T)> {
        Field::ALL
            .into_iter()
            .zip(&self.0)
            .filter_map(|(field, value)| Some((field, value.as_ref()?)))
    }

    /// The values for the fields that are in `fields`.
    #[must_use]
    pub fn only(mut self, fields: Fields) -> Parts<T> {
        for field in Field::ALL.into_iter().filter(|field| !fields.contains(*field)) {
            self.set(field, None);
        }
        self
    }
}

impl<'a> Parts<&'a str> {
    /// These parts with `text` for `field`.
    #[must_use]
    pub const fn with(mut self, field: Field, text: &'a str) -> Parts<&'a str> {
        self.0[field as usize] = Some(text);
        self
    }
}

impl<T> Default for Parts<T> {
    fn default() -> Parts<T> {
        Parts::NONE
    }
}

impl<T> FromIterator<(Field, T)> for Parts<T> {
    fn from_iter<I: IntoIterator<Item = (Field, T)>>(values: I) -> Parts<T> {
        let mut parts = Parts::NONE;
        for (field, value) in values {
            parts.set(field, Some(value));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_their_field_and_come_in_the_contracts_order() {
        let parts = Parts::NONE.with(Field::Trace, "2").with(Field::Input, "1");
        assert_eq!(parts.get(Field::Trace), Some(&"2"));
        assert_eq!(parts.get(Field::Usage), None);
        let all: Vec<_> = parts.iter().collect();
        assert_eq!(all, [(Field::Input, &"1"), (Field::Trace, &"2")]);
        let traces = parts.only(Fields::NONE.with(Field::Trace));
        assert_eq!(traces, Parts::NONE.with(Field::Trace, "2"));
        assert_eq!(
            all.into_iter().map(|(field, text)| (field, *text)).collect::<Parts<_>>(),
            parts
        );
    }
}
