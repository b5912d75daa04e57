//! Sorts names of cases, with digests of their results, in unnamed files, a part at a time: this takes a few bytes for
//! each case on disk, and 1/256 of them in memory. Knows nothing of cases or shards.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _},
};

use scorebox::digest::Digest;

use crate::shards::At;

/// The number of parts. Each is an open file.
const PARTS: usize = 256;
/// An entry contains half of each digest, which is enough to distinguish everything that was not made to collide, and
/// the position.
const HALF: usize = 16;
const ENTRY: usize = 2 * HALF + 4 + 8;

/// A case and its results, as digests, and their position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub name: [u8; HALF],
    pub at: At,
    pub content: [u8; HALF],
}

/// Entries that are collected to be sorted.
#[derive(Debug)]
pub(crate) struct Sorting {
    parts: Vec<Option<BufWriter<File>>>,
}

impl Sorting {
    pub(crate) fn new() -> Sorting {
        Sorting { parts: (0..PARTS).map(|_| None).collect() }
    }

    pub(crate) fn add(&mut self, name: Digest, content: Digest, at: At) -> io::Result<()> {
        let part = &mut self.parts[usize::from(name.as_bytes()[0])];
        let out = match part {
            Some(out) => out,
            None => part.insert(BufWriter::new(tempfile::tempfile()?)),
        };
        out.write_all(&name.as_bytes()[..HALF])?;
        out.write_all(&content.as_bytes()[..HALF])?;
        out.write_all(&at.0.to_le_bytes())?;
        out.write_all(&at.1.to_le_bytes())
    }

    /// The entries in the order of their names, and those with the same name in the order of their positions; a part at
    /// a time.
    pub(crate) fn sorted(self) -> impl Iterator<Item = io::Result<Vec<Entry>>> {
        self.parts.into_iter().flatten().map(|part| {
            let mut file = part.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.rewind()?;
            let mut entries = entries(file)?;
            entries.sort_unstable();
            Ok(entries)
        })
    }
}

fn entries(file: File) -> io::Result<Vec<Entry>> {
    let count = file.metadata()?.len() / ENTRY as u64;
    let mut entries = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
    let mut file = BufReader::new(file);
    for _ in 0..count {
        let (mut name, mut content) = ([0; HALF], [0; HALF]);
        let (mut shard, mut row) = ([0; 4], [0; 8]);
        file.read_exact(&mut name)?;
        file.read_exact(&mut content)?;
        file.read_exact(&mut shard)?;
        file.read_exact(&mut row)?;
        let at = (u32::from_le_bytes(shard), u64::from_le_bytes(row));
        entries.push(Entry { name, at, content });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_one_name_stand_side_by_side_in_the_order_of_their_places() {
        let mut sorting = Sorting::new();
        let of = |text: &str| Digest::of(text.as_bytes());
        for at in 0..1000 {
            let name = of(&format!("{}", at % 400));
            sorting.add(name, of("x"), (u32::try_from(at / 100).unwrap(), at % 100)).unwrap();
        }
        let parts = sorting.sorted().collect::<io::Result<Vec<_>>>().unwrap();
        let mut counts = Vec::new();
        for part in parts {
            for group in part.chunk_by(|one, other| one.name == other.name) {
                assert!(group.is_sorted_by_key(|entry| entry.at));
                counts.push(group.len());
            }
        }
        assert_eq!(counts.len(), 400);
        assert_eq!(counts.iter().sum::<usize>(), 1000);
    }
}
