//! What a scorer says about itself. The description and the configuration's schema are derived
//! elsewhere, from the scorer's type.

use crate::{Fields, Severity};

/// The range of a scorer's scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// 0 to 1.
    Unit,
    /// Any finite number from 0 up.
    Points,
}

/// Which end of the scale is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// 1 is best.
    HigherIsBetter,
    /// 0 is best: toxicity, error rates.
    LowerIsBetter,
}

/// What a scorer says about itself. Build it in a `const`, with [`Info::new`] and the methods that change one property
/// each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) description: Option<&'static str>,
    pub(crate) reads: Fields,
    pub(crate) scale: Scale,
    pub(crate) direction: Direction,
    pub(crate) severity: Severity,
    pub(crate) threshold: Option<f64>,
}

impl Info {
    /// A scorer that reads only the output and scores from 0 to 1, where 1 is best; its severity is soft, and it has no
    /// threshold.
    ///
    /// `id`: 1 to 64 of `a-z`, `0-9`, `-`. `name`: for a person, at most 200 characters. `version`:
    /// the scorer's own, usually `env!("CARGO_PKG_VERSION")`.
    #[must_use]
    pub const fn new(id: &'static str, name: &'static str, version: &'static str) -> Self {
        Self {
            id,
            name,
            version,
            description: None,
            reads: Fields::NONE,
            scale: Scale::Unit,
            direction: Direction::HigherIsBetter,
            severity: Severity::Soft,
            threshold: None,
        }
    }

    /// The parts of a case that the scorer reads; it is given no others.
    #[must_use]
    pub const fn reads(mut self, fields: Fields) -> Self {
        self.reads = fields;
        self
    }

    /// A description in place of the type's doc comment.
    #[must_use]
    pub const fn description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// The range of the scores.
    #[must_use]
    pub const fn scale(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// Which end of the scale is good.
    #[must_use]
    pub const fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// The severity of a score below the threshold, unless the suite sets another one.
    #[must_use]
    pub const fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The lowest score that passes, unless the suite sets another one; on the scorer's own scale.
    #[must_use]
    pub const fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }
}
