//! How often something must happen. It does no counting itself.

use std::fmt;

use scorebox_sdk::ConfigError;

/// A required number of times: exactly, at least, at most, or between two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    least: usize,
    most: Option<usize>,
    /// Whether `least` comes from the default of `min`.
    by_default: bool,
}

impl Count {
    /// From a configuration's `count`, `min` and `max`. `least` is the default of `min`; `max` alone does not lower it.
    ///
    /// # Errors A [`ConfigError`] if `count` is combined with the others, or `max` is below `min`.
    pub fn from_config(
        count: Option<usize>,
        min: Option<usize>,
        max: Option<usize>,
        least: usize,
    ) -> Result<Self, ConfigError> {
        if let Some(count) = count {
            if min.is_some() || max.is_some() {
                let message = "is exact; leave out `min` and `max`, or leave out `count`";
                return Err(ConfigError::new("count", message));
            }
            return Ok(Self { least: count, most: Some(count), by_default: false });
        }
        let by_default = min.is_none();
        let least = min.unwrap_or(least);
        if let Some(max) = max.filter(|max| *max < least) {
            let message = format!("should be {least} or more, because at least that is wanted");
            return Err(ConfigError::new("max", format!("{message}; found {max}")));
        }
        Ok(Self { least, most: max, by_default })
    }

    /// Whether a number meets the requirement.
    #[must_use]
    pub fn holds(&self, number: usize) -> bool {
        number >= self.least && self.most.is_none_or(|most| number <= most)
    }
}

/// "exactly 1", "at least 1", "at most 5", "2 to 4", "1 to 4 (`min` is 1 unless you say otherwise)".
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (least, Some(most)) if self.by_default && least > 0 => {
                write!(f, "{least} to {most} (`min` is {least} unless you say otherwise)")
            }
            (least, Some(most)) if least == most => write!(f, "exactly {least}"),
            (0, Some(most)) => write!(f, "at most {most}"),
            (least, Some(most)) => write!(f, "{least} to {most}"),
            (least, None) => write!(f, "at least {least}"),
        }
    }
}
