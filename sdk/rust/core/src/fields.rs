//! The set of parts of a case that a scorer asks for. How each part is read is defined elsewhere.

/// A set of the optional parts of a case. The engine passes a scorer the parts that it names and no others; `output` is
/// always present.
///
/// Sets are combined by [`and`](Self::and). `|` does the same, but not in a constant such as an `Info`: Rust's
/// operators are not `const`.
///
/// ```
/// # use scorebox_sdk::{Fields, Info};
/// const READS: Fields = Fields::INPUT.and(Fields::GROUND_TRUTH);
/// const INFO: Info = Info::new("mine", "Mine", "1").reads(READS);
/// assert_eq!(READS, Fields::INPUT | Fields::GROUND_TRUTH);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields(u16);

impl Fields {
    /// Only the output.
    pub const NONE: Self = Self(0);
    /// The task's input or prompt.
    pub const INPUT: Self = Self(1);
    /// The expected output.
    pub const GROUND_TRUTH: Self = Self(1 << 1);
    /// What the task was given in addition to its input.
    pub const CONTEXT: Self = Self(1 << 2);
    /// How long the task took.
    pub const LATENCY: Self = Self(1 << 3);
    /// A JSON Schema that the output should match.
    pub const OUTPUT_SCHEMA: Self = Self(1 << 4);
    /// What the agent did.
    pub const TRACE: Self = Self(1 << 5);
    /// What the task consumed.
    pub const USAGE: Self = Self(1 << 6);
    /// Everything else that the case says about itself.
    pub const METADATA: Self = Self(1 << 7);
    /// Another output for the same input.
    pub const BASELINE: Self = Self(1 << 8);

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Fields {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}
