//! Which cases have the words of a search, with one bit per case. It reads no index.

/// A set of cases of a run, by their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Matches {
    /// Ranges of 64 keys with a case, in ascending order, and a bit for each key.
    stretches: Vec<(i64, u64)>,
    count: u64,
}

impl Matches {
    /// Adds the next case; keys come in ascending order.
    pub(super) fn add(&mut self, key: i64) {
        let (stretch, bit) = (key >> 6, 1 << (key & 63));
        self.count += 1;
        match self.stretches.last_mut() {
            Some((last, bits)) if *last == stretch => *bits |= bit,
            _ => self.stretches.push((stretch, bit)),
        }
    }

    /// How many cases it has.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether it has this case.
    pub(super) fn contains(&self, key: i64) -> bool {
        let stretch = key >> 6;
        let index = self.stretches.binary_search_by_key(&stretch, |(stretch, _)| *stretch);
        let bits = index.ok().and_then(|index| self.stretches.get(index));
        bits.is_some_and(|(_, bits)| bits & (1 << (key & 63)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_there_and_nothing_else() {
        let mut matches = Matches::default();
        let keys = [0, 63, 64, 1000, 1 << 40, i64::MAX];
        keys.iter().for_each(|key| matches.add(*key));
        assert_eq!(matches.count(), 6);
        assert!(keys.iter().all(|key| matches.contains(*key)));
        for other in [1, 62, 65, 999, (1 << 40) - 1, i64::MAX - 1] {
            assert!(!matches.contains(other), "{other}");
        }
        assert!(!Matches::default().contains(0));
    }
}
