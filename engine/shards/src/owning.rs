//! Which shards have a case that no other one brings, so that a copy or an old merge does not count as one of those that
//! are expected. Reads no row.

/// How many rows each shard has, and which of them have a case of their own.
#[derive(Debug)]
pub(crate) struct Owning {
    rows: Vec<u64>,
    owns: Vec<bool>,
}

impl Owning {
    /// So many shards, of which nothing is known yet.
    pub(crate) fn of(shards: usize) -> Owning {
        Owning { rows: vec![0; shards], owns: vec![false; shards] }
    }

    /// Takes a row of this shard.
    pub(crate) fn add(&mut self, shard: u32) {
        self.rows[shard as usize] += 1;
    }

    /// Gives a case to one of the shards that have it, when all rows were taken: to the smallest, or else to the first.
    /// So shards have their cases before a file that they were merged into, and each shard that has one at all stands
    /// for at least one shard that was scored.
    pub(crate) fn give(&mut self, shards: impl Iterator<Item = u32>) {
        let owner = shards.min_by_key(|shard| (self.rows[*shard as usize], *shard));
        owner.into_iter().for_each(|shard| self.owns[shard as usize] = true);
    }

    /// The shards with rows of which others have every case. One without rows says nothing of cases, and may be a part
    /// like any.
    pub(crate) fn without_own(&self) -> Vec<u32> {
        let rows = (0..).zip(self.rows.iter().zip(&self.owns));
        rows.filter(|(_, (rows, owns))| **rows > 0 && !**owns).map(|(shard, _)| shard).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [u32; 0] = [];

    /// The shards without a case of their own, of shards with these cases.
    fn without_own(shards: &[&[u32]]) -> Vec<u32> {
        let mut owning = Owning::of(shards.len());
        let all: Vec<(u32, u32)> = (0..)
            .zip(shards)
            .flat_map(|(shard, cases)| cases.iter().map(move |case| (shard, *case)))
            .collect();
        all.iter().for_each(|(shard, _)| owning.add(*shard));
        for case in 0..9 {
            owning.give(all.iter().filter(|(_, it)| *it == case).map(|(shard, _)| *shard));
        }
        owning.without_own()
    }

    #[test]
    fn a_copy_and_an_old_merge_have_no_case_of_their_own() {
        assert_eq!(without_own(&[&[0, 1], &[2, 3]]), NONE);
        assert_eq!(without_own(&[&[0, 1], &[0, 1], &[2, 3]]), [1]);
        assert_eq!(without_own(&[&[0, 1, 2, 3], &[0, 1], &[2, 3]]), [0]);
        assert_eq!(without_own(&[&[0, 1], &[1], &[0]]), [0]);
    }

    #[test]
    fn shards_may_share_cases_and_have_none() {
        assert_eq!(without_own(&[&[0, 1], &[1, 2], &[2, 3, 4]]), NONE);
        assert_eq!(without_own(&[&[], &[0], &[]]), NONE);
    }

    /// The merged file stands for the shard whose cases only it has.
    #[test]
    fn a_merge_stands_for_a_shard_that_it_alone_has() {
        assert_eq!(without_own(&[&[0, 1, 2, 3], &[0, 1]]), NONE);
    }
}
