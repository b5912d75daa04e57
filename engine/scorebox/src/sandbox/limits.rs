//! Defines what one score may use. These are only the numbers; the code that enforces each is named with it.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

/// The limits of one score. Reaching one is an error of that score alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// Wasm instructions, roughly: wasmtime's unit of fuel. Enforced by the compiled code.
    pub fuel: u64,
    /// The size of all linear memories and tables of the instance together, in bytes. Enforced on growth.
    pub memory_bytes: u64,
    /// Wall-clock time that one score may compute; waiting for a judge does not count.
    #[serde(rename = "timeoutMs", serialize_with = "as_millis", deserialize_with = "of_millis")]
    pub timeout: Duration,
    /// Wall-clock time that the host may take to read the files of a case before the score begins. Limits that were
    /// stored before this one existed have its default, and the default is not stored, so that equal limits are equal
    /// texts.
    #[serde(
        rename = "hostTimeoutMs",
        default = "default_host_timeout",
        skip_serializing_if = "is_default_host_timeout",
        serialize_with = "as_millis",
        deserialize_with = "of_millis"
    )]
    pub host_timeout: Duration,
    /// Wall-clock time that `describe`, `configure` and `summarize` may each compute. `None` means the
    /// [`timeout`](Limits::timeout), but at least its default. Not stored, because no score depends on it.
    #[serde(skip)]
    pub loading_timeout: Option<Duration>,
    /// The most bytes of `reason`, and of each text of an assertion.
    pub reason_bytes: usize,
    /// The most bytes of `meta`.
    pub meta_bytes: usize,
    /// The most assertions of one score.
    pub assertions: usize,
    /// The most log messages that are kept for one score; later ones are only counted.
    pub log_lines: usize,
    /// The most bytes of log messages that are kept for one score.
    pub log_bytes: usize,
}

fn as_millis<S: serde::Serializer>(timeout: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u128(timeout.as_millis())
}

fn of_millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

const DEFAULT_HOST_TIMEOUT: Duration = Duration::from_secs(60);

fn default_host_timeout() -> Duration {
    DEFAULT_HOST_TIMEOUT
}

fn is_default_host_timeout(timeout: &Duration) -> bool {
    *timeout == DEFAULT_HOST_TIMEOUT
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            fuel: 10_000_000_000,
            memory_bytes: 64 << 20,
            timeout: Duration::from_secs(5),
            host_timeout: DEFAULT_HOST_TIMEOUT,
            loading_timeout: None,
            reason_bytes: 64 << 10,
            meta_bytes: 1 << 20,
            assertions: 1000,
            log_lines: 1000,
            log_bytes: 256 << 10,
        }
    }
}

impl Limits {
    /// The largest memory limit that can be set: a 32-bit memory cannot be larger.
    pub const MAX_MEMORY_BYTES: u64 = 4 << 30;

    /// The largest component that is loaded: 128 MiB.
    pub const MAX_COMPONENT_BYTES: u64 = 128 << 20;

    /// The same with this [`fuel`](Limits::fuel).
    #[must_use]
    pub fn with_fuel(mut self, fuel: u64) -> Limits {
        self.fuel = fuel;
        self
    }

    /// The same with this [`memory_bytes`](Limits::memory_bytes).
    #[must_use]
    pub fn with_memory_bytes(mut self, memory_bytes: u64) -> Limits {
        self.memory_bytes = memory_bytes;
        self
    }

    /// The same with this [`timeout`](Limits::timeout).
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Limits {
        self.timeout = timeout;
        self
    }

    /// The same with this [`host_timeout`](Limits::host_timeout).
    #[must_use]
    pub fn with_host_timeout(mut self, host_timeout: Duration) -> Limits {
        self.host_timeout = host_timeout;
        self
    }

    /// The same with this [`loading_timeout`](Limits::loading_timeout).
    #[must_use]
    pub fn with_loading_timeout(mut self, loading_timeout: Duration) -> Limits {
        self.loading_timeout = Some(loading_timeout);
        self
    }

    /// The same with this [`reason_bytes`](Limits::reason_bytes).
    #[must_use]
    pub fn with_reason_bytes(mut self, reason_bytes: usize) -> Limits {
        self.reason_bytes = reason_bytes;
        self
    }

    /// The same with this [`meta_bytes`](Limits::meta_bytes).
    #[must_use]
    pub fn with_meta_bytes(mut self, meta_bytes: usize) -> Limits {
        self.meta_bytes = meta_bytes;
        self
    }

    /// The same with this [`assertions`](Limits::assertions).
    #[must_use]
    pub fn with_assertions(mut self, assertions: usize) -> Limits {
        self.assertions = assertions;
        self
    }

    /// The same with this [`log_lines`](Limits::log_lines).
    #[must_use]
    pub fn with_log_lines(mut self, log_lines: usize) -> Limits {
        self.log_lines = log_lines;
        self
    }

    /// The same with this [`log_bytes`](Limits::log_bytes).
    #[must_use]
    pub fn with_log_bytes(mut self, log_bytes: usize) -> Limits {
        self.log_bytes = log_bytes;
        self
    }

    /// The limits of `describe` and `configure`: those of a score, but (unless the caller sets the time) at least the
    /// defaults, so that a tight limit on scores does not prevent loading a scorer.
    pub(super) fn of_loading(&self) -> Limits {
        // A fuzzer tries very many components, and each one that loops would use up all of the defaults.
        if cfg!(fuzzing) {
            return self.clone();
        }
        let default = Limits::default();
        Limits {
            fuel: self.fuel.max(default.fuel),
            timeout: self.loading_timeout.unwrap_or(self.timeout.max(default.timeout)),
            host_timeout: self.host_timeout.max(default.host_timeout),
            memory_bytes: self.memory_bytes.max(default.memory_bytes),
            ..self.clone()
        }
    }

    /// How many bytes one call may pass from guest to host: every bounded part of a result once, and room for their
    /// descriptions.
    pub(super) fn transfer_bytes(&self) -> usize {
        const PER_ASSERTION: usize = 4 << 10;
        self.reason_bytes
            .saturating_mul(2)
            .saturating_add(self.meta_bytes)
            .saturating_add(self.assertions.saturating_mul(PER_ASSERTION))
            .saturating_add(self.log_bytes)
            .saturating_add(64 << 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_before_the_host_had_a_clock_are_read_and_written_as_they_were() {
        let stored = r#"{"fuel":1,"memoryBytes":2,"timeoutMs":3,"reasonBytes":4,"metaBytes":5,"assertions":6,"logLines":7,"logBytes":8}"#;
        let limits: Limits = serde_json::from_str(stored).unwrap();
        assert_eq!(limits.host_timeout, Limits::default().host_timeout);
        assert_eq!(serde_json::to_string(&limits).unwrap(), stored);
    }

    #[test]
    fn loading_has_at_least_the_defaults_unless_its_time_is_set() {
        let (little, much) = (Duration::from_millis(1), Duration::from_secs(3600));
        let tight = Limits::default().with_fuel(1).with_memory_bytes(1).with_timeout(little);
        let tight = tight.with_host_timeout(little).with_reason_bytes(7);
        assert_eq!(tight.of_loading(), Limits::default().with_reason_bytes(7));
        assert_eq!(tight.clone().with_timeout(much).of_loading().timeout, much);
        assert_eq!(tight.with_loading_timeout(little).of_loading().timeout, little);
    }

    #[test]
    fn a_host_timeout_of_ones_own_is_stored() {
        let limits = Limits { host_timeout: Duration::from_millis(7), ..Limits::default() };
        let stored = serde_json::to_string(&limits).unwrap();
        assert!(stored.contains(r#""hostTimeoutMs":7,"#), "{stored}");
        assert_eq!(serde_json::from_str::<Limits>(&stored).unwrap(), limits);
    }

    #[test]
    fn the_largest_limits_that_a_suite_can_name_are_limits() {
        let most = usize::try_from(i64::MAX).unwrap_or(usize::MAX);
        let limits = Limits { reason_bytes: most, meta_bytes: most, ..Limits::default() };
        assert!(limits.transfer_bytes() >= most);
    }
}
