//! The limits that a user sets, in a suite file or on the command line. It enforces none.

use std::time::Duration;

use crate::{
    advice::{Advice, Advised, Form},
    sandbox::Limits,
};

use super::{parse_bytes, parse_duration, parse_memory};

/// The limits that a user sets; the others keep their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LimitOverrides {
    /// The fuel for one score.
    pub fuel: Option<u64>,
    /// The memory in bytes, at most 4 GiB.
    pub memory: Option<u64>,
    /// The wall-clock time for the computation of one score.
    pub timeout: Option<Duration>,
    /// The wall-clock time that one score may wait for the host.
    pub host_timeout: Option<Duration>,
    /// The length of `reason` in bytes.
    pub reason: Option<u64>,
    /// The length of `meta` in bytes.
    pub meta: Option<u64>,
    /// The number of assertions of one score.
    pub assertions: Option<u32>,
    /// The length of log messages in bytes.
    pub log: Option<u64>,
}

impl LimitOverrides {
    /// The same with this [`fuel`](LimitOverrides::fuel).
    #[must_use]
    pub fn with_fuel(mut self, fuel: impl Into<Option<u64>>) -> LimitOverrides {
        self.fuel = fuel.into();
        self
    }

    /// The same with this [`memory`](LimitOverrides::memory).
    #[must_use]
    pub fn with_memory(mut self, memory: impl Into<Option<u64>>) -> LimitOverrides {
        self.memory = memory.into();
        self
    }

    /// The same with this [`timeout`](LimitOverrides::timeout).
    #[must_use]
    pub fn with_timeout(mut self, timeout: impl Into<Option<Duration>>) -> LimitOverrides {
        self.timeout = timeout.into();
        self
    }

    /// The same with this [`host_timeout`](LimitOverrides::host_timeout).
    #[must_use]
    pub fn with_host_timeout(
        mut self,
        host_timeout: impl Into<Option<Duration>>,
    ) -> LimitOverrides {
        self.host_timeout = host_timeout.into();
        self
    }

    /// The same with this [`reason`](LimitOverrides::reason).
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<Option<u64>>) -> LimitOverrides {
        self.reason = reason.into();
        self
    }

    /// The same with this [`meta`](LimitOverrides::meta).
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<Option<u64>>) -> LimitOverrides {
        self.meta = meta.into();
        self
    }

    /// The same with this [`assertions`](LimitOverrides::assertions).
    #[must_use]
    pub fn with_assertions(mut self, assertions: impl Into<Option<u32>>) -> LimitOverrides {
        self.assertions = assertions.into();
        self
    }

    /// The same with this [`log`](LimitOverrides::log).
    #[must_use]
    pub fn with_log(mut self, log: impl Into<Option<u64>>) -> LimitOverrides {
        self.log = log.into();
        self
    }
}

/// What is wrong with `NAME=VALUE`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadLimit {
    /// No `=`.
    #[error("`{}` is not NAME=VALUE", .0.escape_debug())]
    NoValue(String),
    /// No limit has that name.
    #[error("there is no limit `{}`; the limits are: {}", .0.escape_debug(), LimitOverrides::NAMES.join(", "))]
    NoSuchLimit(String),
    /// It already has a value.
    #[error("the limit `{0}` is set twice")]
    SetTwice(String),
    /// The value is not valid.
    #[error("{name}: {reason}")]
    BadValue {
        /// The limit.
        name: String,
        /// The reason.
        reason: String,
    },
}

impl Advised for BadLimit {
    fn advice(&self) -> Option<Advice> {
        match self {
            // These messages already contain the advice.
            BadLimit::SetTwice(_) | BadLimit::NoSuchLimit(_) | BadLimit::BadValue { .. } => None,
            BadLimit::NoValue(_) => Some(Advice::Write(Form::LimitOverride)),
        }
    }
}

/// The fuel, if it is enough to compute anything.
pub(super) fn some_fuel(fuel: u64) -> Result<u64, &'static str> {
    match fuel {
        0 => Err("must be 1 or more: without fuel nothing is scored"),
        fuel => Ok(fuel),
    }
}

impl LimitOverrides {
    /// The names of all limits.
    pub const NAMES: [&str; 8] =
        ["fuel", "memory", "timeout", "host-timeout", "reason", "meta", "assertions", "log"];

    /// Sets the limit in `NAME=VALUE`; values are written as in a suite file.
    ///
    /// # Errors
    /// If it is not valid, or if the limit is already set.
    pub fn set(&mut self, written: &str) -> Result<(), BadLimit> {
        let Some((name, value)) = written.split_once('=') else {
            return Err(BadLimit::NoValue(written.to_owned()));
        };
        if self.is_set(name) {
            return Err(BadLimit::SetTwice(name.to_owned()));
        }
        let bad = |reason: String| BadLimit::BadValue { name: name.to_owned(), reason };
        let bytes = || parse_bytes(value).map(Some).map_err(|error| bad(error.to_string()));
        let time = || parse_duration(value).map(Some).map_err(|error| bad(error.to_string()));
        let count = || {
            value.parse().map_err(|_| {
                bad(format!(
                    "`{}` is not a whole number, such as 1000; it has no unit",
                    value.escape_debug()
                ))
            })
        };
        match name {
            "fuel" => self.fuel = Some(some_fuel(count()?).map_err(|why| bad(why.to_owned()))?),
            "memory" => {
                self.memory = Some(parse_memory(value).map_err(|error| bad(error.to_string()))?);
            }
            "timeout" => self.timeout = time()?,
            "host-timeout" => self.host_timeout = time()?,
            "reason" => self.reason = bytes()?,
            "meta" => self.meta = bytes()?,
            "assertions" => {
                let most = u32::try_from(count()?);
                let too_many = |_| bad(format!("more than {}, the most", u32::MAX));
                self.assertions = Some(most.map_err(too_many)?);
            }
            "log" => self.log = bytes()?,
            _ => return Err(BadLimit::NoSuchLimit(name.to_owned())),
        }
        Ok(())
    }

    fn is_set(&self, name: &str) -> bool {
        match name {
            "fuel" => self.fuel.is_some(),
            "memory" => self.memory.is_some(),
            "timeout" => self.timeout.is_some(),
            "host-timeout" => self.host_timeout.is_some(),
            "reason" => self.reason.is_some(),
            "meta" => self.meta.is_some(),
            "assertions" => self.assertions.is_some(),
            "log" => self.log.is_some(),
            _ => false,
        }
    }

    /// These limits, with missing ones from `base`.
    #[must_use]
    pub(super) fn over(self, base: &LimitOverrides) -> LimitOverrides {
        LimitOverrides {
            fuel: self.fuel.or(base.fuel),
            memory: self.memory.or(base.memory),
            timeout: self.timeout.or(base.timeout),
            host_timeout: self.host_timeout.or(base.host_timeout),
            reason: self.reason.or(base.reason),
            meta: self.meta.or(base.meta),
            assertions: self.assertions.or(base.assertions),
            log: self.log.or(base.log),
        }
    }

    /// `limits`, with the limits that the user set.
    #[must_use]
    pub fn apply(&self, mut limits: Limits) -> Limits {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        limits.fuel = self.fuel.unwrap_or(limits.fuel);
        limits.memory_bytes = self.memory.unwrap_or(limits.memory_bytes);
        limits.timeout = self.timeout.unwrap_or(limits.timeout);
        limits.host_timeout = self.host_timeout.unwrap_or(limits.host_timeout);
        limits.reason_bytes = self.reason.map_or(limits.reason_bytes, size);
        limits.meta_bytes = self.meta.map_or(limits.meta_bytes, size);
        limits.assertions = self.assertions.map_or(limits.assertions, |most| size(most.into()));
        limits.log_bytes = self.log.map_or(limits.log_bytes, size);
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_set_once_by_its_name() {
        let mut limits = LimitOverrides::default().with_fuel(7);
        for name in LimitOverrides::NAMES {
            let written =
                format!("{name}={}", if name.ends_with("timeout") { "1s" } else { "65536" });
            match limits.set(&written) {
                Err(BadLimit::SetTwice(twice)) => assert_eq!((&*twice, name), ("fuel", "fuel")),
                set => set.unwrap(),
            }
            assert!(matches!(limits.set(&written), Err(BadLimit::SetTwice(_))), "{name}");
        }
        assert_eq!((limits.fuel, limits.log), (Some(7), Some(65_536)));
    }

    #[test]
    fn an_unknown_limit_is_refused_with_the_known_ones() {
        let mut limits = LimitOverrides::default();
        for (written, said) in [
            ("fuel", "`fuel` is not NAME=VALUE"),
            ("feul=1", "there is no limit `feul`; the limits are: fuel, memory"),
            ("fuel=many", "fuel: `many` is not a whole number"),
        ] {
            let refused = limits.set(written).unwrap_err().to_string();
            assert!(refused.starts_with(said), "{refused}");
        }
        assert_eq!(limits, LimitOverrides::default());
    }
}
