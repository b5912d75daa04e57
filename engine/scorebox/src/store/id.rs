//! Names of runs and scores, and the numbers that represent them in a database. It looks nothing up.

#![expect(clippy::exhaustive_structs, reason = "it is what a stored id is made of")]

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use super::StoreError;

/// A run inside one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunKey(pub(super) i64);

/// One scorer of one run, inside one database. Ascends in the suite's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScorerKey(pub(super) i64);

/// One session of one run, inside one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub(super) i64);

/// One stored case of one run, inside one database. Ascends in the order of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseKey(pub(super) i64);

/// Low bits of a case key: the ordinal. See `cases.case_key` in `migrations/0001.sql`.
pub(super) const ORDINAL_BITS: u32 = 40;

impl CaseKey {
    /// The key of the case at `ordinal`; `None` if the ordinal has more than 40 bits.
    pub(super) fn new(run: RunKey, ordinal: u64) -> Option<CaseKey> {
        let ordinal = i64::try_from(ordinal).ok().filter(|n| n >> ORDINAL_BITS == 0)?;
        Some(CaseKey((run.0 << ORDINAL_BITS) + ordinal))
    }

    /// The smallest and the greatest key that a case of this run can have.
    pub(super) fn bounds(run: RunKey) -> (i64, i64) {
        let first = run.0 << ORDINAL_BITS;
        (first, first + ((1 << ORDINAL_BITS) - 1))
    }
}

/// The name of a run, for people: 1 to 64 of `A-Z`, `a-z`, `0-9`, `.`, `_`, `-`; not `.` or `..`, which have another
/// meaning in a URL, and without `-` at the beginning, which would look like an option.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(String);

impl RunId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of a stored run: older databases may have runs called `.`, `..` and `-x`.
    pub(super) fn stored(text: &str) -> Result<RunId, StoreError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
            return Ok(RunId(text.to_owned()));
        }
        Err(StoreError::InvalidRunId { text: text.to_owned() })
    }

    /// An id that is known to be valid: at most 64 of the allowed characters.
    pub(crate) fn trusted(id: String) -> RunId {
        RunId(id)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<RunId, StoreError> {
        match matches!(text, "." | "..") || text.starts_with('-') {
            true => Err(StoreError::InvalidRunId { text: text.to_owned() }),
            false => RunId::stored(text),
        }
    }
}

/// The name of one score, which does not depend on where and when it is computed: `RUN:SCORER:ITERATION:ATTEMPT:CASE`.
///
/// Only the case's id may contain `:`, and it comes last, so no two scores have the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScoreId {
    /// The run.
    pub run_id: RunId,
    /// The suite's key for the scorer; not empty, without `:`.
    pub scorer_id: String,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
    /// The case's own id; not empty.
    pub case_id: String,
}

impl fmt::Display for ScoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScoreId { run_id, scorer_id, iteration, attempt, case_id } = self;
        write!(f, "{run_id}:{scorer_id}:{iteration}:{attempt}:{case_id}")
    }
}

impl Serialize for ScoreId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for ScoreId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<ScoreId, StoreError> {
        let parse = || {
            let mut parts = text.splitn(5, ':');
            Some(ScoreId {
                run_id: RunId::stored(parts.next()?).ok()?,
                scorer_id: parts.next()?.to_owned(),
                iteration: parts.next()?.parse().ok()?,
                attempt: parts.next()?.parse().ok()?,
                case_id: parts.next()?.to_owned(),
            })
        };
        parse()
            .filter(|id| !id.scorer_id.is_empty() && !id.case_id.is_empty())
            // Numbers have many spellings (`+1`, `01`), but an id has one.
            .filter(|id| id.to_string() == text)
            .ok_or_else(|| StoreError::InvalidScoreId { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_is_1_to_64_of_a_few_ascii_characters() {
        let longest = "x".repeat(64);
        for good in ["r", "2026-01-31_nightly.2", &longest] {
            assert_eq!(good.parse::<RunId>().unwrap().as_str(), good);
        }
        let too_long = "x".repeat(65);
        for bad in ["", "a b", "a:b", "ä", "a/b", "a\n", ".", "..", "-x", &too_long] {
            assert!(
                matches!(bad.parse::<RunId>(), Err(StoreError::InvalidRunId { .. })),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_run_that_is_stored_under_a_name_that_is_refused_now_is_read() {
        assert_eq!(RunId::stored("..").unwrap().as_str(), "..");
        assert_eq!(RunId::stored("-x").unwrap().as_str(), "-x");
        assert_eq!("..:s:0:0:c".parse::<ScoreId>().unwrap().run_id.as_str(), "..");
    }

    #[test]
    fn a_score_id_is_written_and_read_back_with_any_case_id() {
        for case_id in ["case-1", "a:b:c", ":", "ä ö\n", "0"] {
            let id = ScoreId {
                run_id: "r.1".parse().unwrap(),
                scorer_id: "exact-match".into(),
                iteration: 3,
                attempt: u32::MAX,
                case_id: case_id.into(),
            };
            assert_eq!(id.to_string().parse::<ScoreId>().unwrap(), id);
        }
    }

    #[test]
    fn a_score_id_has_one_spelling() {
        for bad in
            ["", "r", "r:s:0:0", "r:s:0:0:", "r::0:0:c", ":s:0:0:c", "r:s:+1:0:c", "r:s:01:0:c"]
        {
            let error = bad.parse::<ScoreId>().unwrap_err();
            assert!(
                matches!(&error, StoreError::InvalidScoreId { text } if text == bad),
                "{error:?}"
            );
        }
    }

    #[test]
    fn case_keys_of_runs_do_not_overlap() {
        let last = CaseKey::new(RunKey(1), (1 << 40) - 1).unwrap();
        let first = CaseKey::new(RunKey(2), 0).unwrap();
        assert_eq!(last.0 + 1, first.0);
        assert_eq!(CaseKey::bounds(RunKey(1)).1, last.0);
        assert_eq!(CaseKey::bounds(RunKey(2)).0, first.0);
        assert_eq!(CaseKey::new(RunKey(1), 1 << 40), None);
        assert_eq!(CaseKey::new(RunKey(1), u64::MAX), None);
    }
}
