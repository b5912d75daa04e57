//! Finds the existing names closest to one that does not exist, for hints. Every room that looks names up uses it.

/// The minimum similarity of two names, 0 to 1 (Jaro-Winkler).
const ALIKE: f64 = 0.8;

/// How much less similar than the closest name another may be: if one is clearly a typing error, others do not help.
const BEHIND: f64 = 0.05;

/// The most names that are suggested.
const MOST: usize = 3;

/// The longest name, in bytes, that is compared; no existing name comes close to a longer one.
const LONGEST: usize = 100;

/// Up to three of `names` that are similar to `wanted`, the closest first.
pub(crate) fn closest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut closest = Closest::to(wanted);
    names.for_each(|name| closest.see(name));
    closest.names()
}

/// Finds the names closest to one among many that are seen one at a time; keeps only three of them.
#[derive(Debug)]
pub(crate) struct Closest {
    /// The wanted name in lower case; `None` if it is too long to be compared.
    wanted: Option<String>,
    /// The closest names so far with their similarity, the closest first.
    found: Vec<(f64, String)>,
}

impl Closest {
    /// Starts with the wanted name.
    pub(crate) fn to(wanted: &str) -> Closest {
        let wanted = (wanted.len() <= LONGEST).then(|| wanted.to_lowercase());
        Closest { wanted, found: Vec::new() }
    }

    /// Compares a name.
    pub(crate) fn see(&mut self, name: &str) {
        let Some(wanted) = &self.wanted else { return };
        if name.len() > LONGEST {
            return;
        }
        let similarity = strsim::jaro_winkler(wanted, &name.to_lowercase());
        if similarity < ALIKE || self.found.iter().any(|(_, found)| found == name) {
            return;
        }
        let before = |(other_similarity, other): &(f64, String)| {
            *other_similarity > similarity
                || (*other_similarity == similarity && other.as_str() < name)
        };
        let index = self.found.partition_point(before);
        if index < MOST {
            self.found.insert(index, (similarity, name.to_owned()));
            self.found.truncate(MOST);
        }
    }

    /// The names that were close enough.
    pub(crate) fn names(self) -> Vec<String> {
        let least = self.found.first().map_or(0.0, |(closest, _)| closest - BEHIND);
        let near = self.found.into_iter().filter(|(similarity, _)| *similarity >= least);
        near.map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_names_come_first_and_distant_ones_not_at_all() {
        let names = ["exact-match", "latency", "exact-matches", "match"];
        assert_eq!(
            closest("Exact-mach", names.into_iter()),
            ["exact-match".to_owned(), "exact-matches".to_owned()]
        );
        assert!(closest("zzz", names.into_iter()).is_empty());
        assert!(closest(&"e".repeat(101), names.into_iter()).is_empty());
    }

    #[test]
    fn no_more_than_three_are_kept_each_once() {
        let names = ["q10", "q11", "q12", "q13", "q10", "q1"];
        assert_eq!(closest("q1", names.into_iter()), ["q1".to_owned()]);
        let names = (20..90).map(|number| format!("case-{number}")).collect::<Vec<_>>();
        assert_eq!(closest("case-9", names.iter().map(String::as_str)).len(), 3);
    }
}
