//! Whether all shards of a run are there: a shard does not know how many others there are. Opens none of them.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use crate::{
    failure::Failure,
    report::{count, counted, one_line},
};

/// Missing shards that are named.
const MOST_NAMED: usize = 10;
/// The most shards that can be expected.
pub(super) const MOST_EXPECTED: u64 = 10_000_000;

/// Refuses another number of shards than `expected`, and names those that are missing if their names have numbers.
pub(super) fn must_be_all(shards: &[PathBuf], expected: u64) -> Result<(), Failure> {
    let there = shards.len() as u64;
    if there == expected {
        return Ok(());
    }
    let shards_there = counted(there, "shard is", "shards are");
    let failure = Failure::new(format!(
        "{shards_there} there, and {} expected",
        counted(expected, "is", "are")
    ));
    let missing = missing(shards, expected);
    Err(match missing.get(..MOST_NAMED.min(missing.len())) {
        Some([]) | None => {
            failure.hint("nothing was written; name all shards of the run, once each")
        }
        Some(named) => {
            let more = match missing.len() - named.len() {
                0 => String::new(),
                more => format!(" and {} more", count(more as u64)),
            };
            let named = one_line(&named.join(", "), 400);
            failure.hint(format!("nothing was written; missing: {named}{more}"))
        }
    })
}

/// The names of the missing shards, if the others are numbered from 0 or 1; else none.
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

/// A file name with a number in it.
struct Numbered {
    before: String,
    number: u64,
    /// How many digits it is written with, if with leading zeros.
    digits: usize,
    behind: String,
}

impl Numbered {
    /// The last number is the one that counts.
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
    fn other_names_say_nothing() {
        for names in [&["a", "b"][..], &["a0", "b1"], &["a7"], &["2024.parquet"], &[]] {
            assert_eq!(missing_of(names, 3), [""; 0], "{names:?}");
        }
    }
}
