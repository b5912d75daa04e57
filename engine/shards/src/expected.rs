//! Whether all shards of a run are there: a shard does not know how many others there are. Opens none of them; which of
//! them bring nothing is `owning`'s to find.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use crate::error::ShardError;

/// The most missing shards that are named.
const MAX_NAMED: usize = 10;
/// The most shards that can be expected.
pub const MAX_EXPECTED_SHARDS: u64 = 10_000_000;

/// Refuses a number of shards other than `expected`, which is at most [`MAX_EXPECTED_SHARDS`], and names the missing
/// ones if file names contain numbers.
///
/// # Errors
/// [`ShardError::NotAll`].
pub fn must_be_all(shards: &[PathBuf], expected: u64) -> Result<(), ShardError> {
    must_be_all_but(shards, &[], expected)
}

/// The same, where those with these numbers, in ascending order, count as none.
pub(crate) fn must_be_all_but(
    shards: &[PathBuf],
    without: &[u32],
    expected: u64,
) -> Result<(), ShardError> {
    let there = (shards.len() - without.len()) as u64;
    if there == expected {
        return Ok(());
    }
    let is_without = |shard: u32| without.binary_search(&shard).is_ok();
    let (none, counting): (Vec<_>, Vec<_>) =
        (0..).zip(shards).partition(|(shard, _)| is_without(*shard));
    let paths = |them: Vec<(u32, &PathBuf)>| -> Vec<PathBuf> {
        them.into_iter().map(|(_, path)| path.clone()).collect()
    };
    let (repeated, counting) = (paths(none), paths(counting));
    let all = missing(&counting, expected.min(MAX_EXPECTED_SHARDS));
    let named = all.get(..MAX_NAMED.min(all.len())).filter(|named| !named.is_empty());
    let missing = named.map(|named| match all.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    });
    Err(ShardError::NotAll { there, expected, repeated, missing })
}

/// The names of the missing shards, if the others are numbered from 0 or 1; otherwise empty.
fn missing(shards: &[PathBuf], expected: u64) -> Vec<String> {
    let numbered: Option<Vec<Numbered>> = shards.iter().map(|path| Numbered::of(path)).collect();
    let Some(numbered) = numbered else { return Vec::new() };
    let Some(first) = numbered.first() else { return Vec::new() };
    let numbers: HashSet<u64> = numbered.iter().map(|it| it.number).collect();
    let is_alike = |it: &Numbered| (&it.before, &it.behind) == (&first.before, &first.behind);
    let begin = u64::from(!numbers.contains(&0) && numbers.contains(&expected));
    let all = begin..begin + expected;
    if !numbered.iter().all(is_alike) || !numbers.iter().all(|number| all.contains(number)) {
        return Vec::new();
    }
    let name = |number: u64| {
        let Numbered { before, digits, behind, .. } = first;
        format!("{before}{number:0width$}{behind}", width = *digits)
    };
    all.filter(|number| !numbers.contains(number)).map(name).collect()
}

/// A file name that contains a number.
struct Numbered {
    before: String,
    number: u64,
    /// The number of digits, if there are leading zeros.
    digits: usize,
    behind: String,
}

impl Numbered {
    /// Uses the last number in the name.
    fn of(path: &Path) -> Option<Numbered> {
        let name = path.file_name()?.to_str()?;
        let end = name.rfind(|it: char| it.is_ascii_digit())? + 1;
        let begin = name[..end].rfind(|it: char| !it.is_ascii_digit());
        let begin = begin.map_or(0, |at| at + name[at..].chars().next().map_or(0, char::len_utf8));
        let number = name[begin..end].parse().ok()?;
        let is_padded = name[begin..].starts_with('0') && end - begin > 1;
        let digits = if is_padded { end - begin } else { 0 };
        let (before, behind) = (name[..begin].to_owned(), name[end..].to_owned());
        Some(Numbered { before, number, digits, behind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing_of(names: &[&str], expected: u64) -> Vec<String> {
        missing(&names.iter().map(PathBuf::from).collect::<Vec<_>>(), expected)
    }

    #[test]
    fn numbered_names_say_what_is_missing() {
        let names = ["scores/part-00000.parquet", "scores/part-00003.parquet"];
        assert_eq!(missing_of(&names, 4), ["part-00001.parquet", "part-00002.parquet"]);
        assert_eq!(missing_of(&["s1.parquet", "s3.parquet"], 3), ["s2.parquet"]);
        assert_eq!(missing_of(&["é0"], 2), ["é1"]);
    }

    #[test]
    fn of_many_missing_shards_the_first_are_named() {
        let shards = ["s0.parquet".into(), "s14.parquet".into()];
        must_be_all(&shards, 2).unwrap();
        let Err(ShardError::NotAll { there: 2, expected: 15, missing, .. }) =
            must_be_all(&shards, 15)
        else {
            panic!("two of fifteen")
        };
        let missing = missing.unwrap();
        assert!(missing.starts_with("s1.parquet, s2.parquet, "), "{missing}");
        assert!(missing.ends_with("s10.parquet and 3 more"), "{missing}");
        let said = must_be_all(&shards[..1], 3).unwrap_err();
        assert_eq!(said.to_string(), "1 shard is there, and 3 are expected");
    }

    #[test]
    fn shards_that_bring_nothing_count_as_none_and_are_named() {
        let shards = ["s0.parquet".into(), "copy.parquet".into(), "s1.parquet".into()];
        must_be_all_but(&shards, &[1], 2).unwrap();
        let error = must_be_all_but(&shards, &[1], 3).unwrap_err();
        let said =
            "2 shards are there, and 3 are expected: other shards have all cases of `copy.parquet`";
        assert_eq!(error.to_string(), said);
        let ShardError::NotAll { missing, .. } = error else { panic!("{error}") };
        assert_eq!(missing.as_deref(), Some("s2.parquet"));
        let many = must_be_all_but(&shards, &[0, 1, 2], 3).unwrap_err().to_string();
        assert!(many.ends_with(" of `s0.parquet` and 2 more"), "{many}");
    }

    #[test]
    fn other_names_say_nothing() {
        for names in [&["a", "b"][..], &["a0", "b1"], &["a7"], &["2024.parquet"], &[]] {
            assert_eq!(missing_of(names, 3), [""; 0], "{names:?}");
        }
    }
}
