//! Names that a person could take for other, better-known ones: a letter more or less, letters that look alike, words in another order. Knows
//! no language, and accuses nobody: what is alike may be so by chance.

use std::collections::BTreeMap;

use crate::address::Address;

/// Shorter names are compared for letters that look alike only: too many words of three letters differ in one.
const LEAST_LETTERS: usize = 4;
/// From this length on, two letters may differ.
const LONG_LETTERS: usize = 8;

/// Letters that look like others, or like two: each is written as the other before names are compared.
const LOOKALIKES: [(&str, &str); 10] = [
    ("rn", "m"),
    ("vv", "w"),
    ("0", "o"),
    ("1", "l"),
    ("i", "l"),
    ("3", "e"),
    ("4", "a"),
    ("5", "s"),
    ("7", "t"),
    ("8", "b"),
];

/// How a name is like another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two names are the same, alike or different")]
pub enum Likeness {
    /// It is the same name.
    Same,
    /// It could be taken for it.
    Close,
}

/// A name that others could be taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a scorer is built in or published")]
pub enum KnownName {
    /// That of a built-in scorer.
    BuiltIn(String),
    /// A published scorer's: where it is, without a version.
    Published(String),
}

/// A name, prepared for many comparisons.
#[derive(Clone, Debug)]
struct Name {
    /// In small letters.
    text: String,
    /// Without separators, and with one letter for all that look like it.
    skeleton: String,
    /// Its words in the order of the alphabet; empty if there is only one.
    words: Vec<String>,
    /// Which letters are in it, a bit for each.
    letters: u64,
}

/// Names, and those that are better known.
#[derive(Debug, Default)]
pub struct NearMisses {
    built_in: Vec<(String, Name)>,
    /// By their signers and places; of each place, its whole name and the last part.
    published: BTreeMap<(Option<String>, String), (Name, Name)>,
}

impl NearMisses {
    /// Names that are like those of these built-in scorers.
    pub fn of<'a>(built_in: impl IntoIterator<Item = &'a str>) -> NearMisses {
        let built_in = built_in.into_iter().map(|name| (name.to_owned(), Name::of(name)));
        NearMisses { built_in: built_in.collect(), published: BTreeMap::new() }
    }

    /// Another published scorer that is known, and who signed it.
    pub fn know(&mut self, address: &Address, signer: Option<&str>) {
        let place = place_of(address);
        let names = || (Name::of(&place), Name::of(last_of(address)));
        let key = (signer.map(str::to_owned), place.clone());
        self.published.entry(key).or_insert_with(names);
    }

    /// What the scorer at `address`, which calls itself `id`, could be taken for: a built-in scorer first, and then one that somebody else
    /// signed. Scorers of one signer are not compared with each other.
    pub fn closest(
        &self,
        address: &Address,
        id: &str,
        signer: Option<&str>,
    ) -> Option<(KnownName, Likeness)> {
        let last = Name::of(last_of(address));
        let names = [Name::of(id), last.clone()];
        let of_built_in = self.built_in.iter().filter_map(|(known, known_name)| {
            let likeness = names.iter().filter_map(|name| name.likeness(known_name));
            Some((KnownName::BuiltIn(known.clone()), likeness.min_by_key(|it| it.rank())?))
        });
        if let Some(closest) = of_built_in.min_by_key(|(_, likeness)| likeness.rank()) {
            return Some(closest);
        }
        let place = place_of(address);
        let whole = Name::of(&place);
        let others = self.published.iter().filter(|((other, other_place), _)| {
            *other_place != place && (signer.is_none() || other.as_deref() != signer)
        });
        let mut alike = others.filter(|(_, (other_whole, other_last))| {
            // Two may choose the same word for their scorers; in places that are alike as well it is no chance.
            last.likeness(other_last) == Some(Likeness::Close)
                || whole.likeness(other_whole) == Some(Likeness::Close)
        });
        let ((_, known), _) = alike.next()?;
        Some((KnownName::Published(known.clone()), Likeness::Close))
    }
}

impl Likeness {
    fn rank(self) -> u8 {
        match self {
            Likeness::Same => 0,
            Likeness::Close => 1,
        }
    }
}

/// `registry.example.com/team/grade`.
fn place_of(address: &Address) -> String {
    format!("{}/{}", address.registry(), address.name())
}

/// `grade` of `team/grade`.
fn last_of(address: &Address) -> &str {
    address.name().rsplit('/').next().unwrap_or_default()
}

impl Name {
    fn of(name: &str) -> Name {
        let text = name.to_lowercase();
        let is_separator = |character: char| !character.is_alphanumeric();
        let mut words: Vec<String> =
            text.split(is_separator).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        words.sort_unstable();
        if words.len() < 2 {
            words.clear();
        }
        let mut skeleton = text.replace(is_separator, "");
        for (looks_like, letter) in LOOKALIKES {
            skeleton = skeleton.replace(looks_like, letter);
        }
        let letters = text.bytes().fold(0, |all, byte| all | 1_u64 << (byte % 64));
        Name { text, skeleton, words, letters }
    }

    fn likeness(&self, known: &Name) -> Option<Likeness> {
        if self.text == known.text {
            return Some(Likeness::Same);
        }
        let is_close = self.skeleton == known.skeleton
            || (!self.words.is_empty() && self.words == known.words)
            || self.is_near(known);
        is_close.then_some(Likeness::Close)
    }

    /// Whether few letters differ, or are in another place.
    fn is_near(&self, known: &Name) -> bool {
        let (one, other) = (self.text.len(), known.text.len());
        let most = match one.min(other) {
            0..LEAST_LETTERS => return false,
            LEAST_LETTERS..LONG_LETTERS => 1,
            _ => 2,
        };
        // Each letter that differs adds one, takes one away, or does both.
        let differ = (self.letters ^ known.letters).count_ones() as usize;
        one.abs_diff(other) <= most
            && differ <= 2 * most
            && strsim::osa_distance(&self.text, &known.text) <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEAM: Option<&str> = Some("RWteam");
    const OTHER: Option<&str> = Some("RWother");

    fn address(written: &str) -> Address {
        written.parse().unwrap()
    }

    fn built_in(name: &str, likeness: Likeness) -> Option<(KnownName, Likeness)> {
        Some((KnownName::BuiltIn(name.to_owned()), likeness))
    }

    #[test]
    fn names_like_those_of_built_in_scorers_are_found() {
        let names = NearMisses::of(["contains", "exact-match", "regex", "bleu", "f1", "word-f1"]);
        let closest =
            |name: &str| names.closest(&address(&format!("a.b/x/{name}:1")), "unlike", TEAM);
        assert_eq!(closest("contains"), built_in("contains", Likeness::Same));
        for (name, known) in [
            ("contians", "contains"),
            ("c0ntains", "contains"),
            ("contain", "contains"),
            ("containss", "contains"),
            ("contalns", "contains"),
            ("exactmatch", "exact-match"),
            ("exact_match", "exact-match"),
            ("match-exact", "exact-match"),
            ("regexp", "regex"),
            ("regx", "regex"),
            ("fl", "f1"),
            ("word-fl", "word-f1"),
        ] {
            assert_eq!(closest(name), built_in(known, Likeness::Close), "{name}");
        }
        for name in ["grade", "contains-all-of", "f2", "blue-eyes", "match", "rex"] {
            assert_eq!(closest(name), None, "{name}");
        }
    }

    #[test]
    fn what_a_scorer_calls_itself_counts_as_where_it_is() {
        let names = NearMisses::of(["contains"]);
        let closest = |id: &str| names.closest(&address("a.b/x/innocent:1"), id, TEAM);
        assert_eq!(closest("contains"), built_in("contains", Likeness::Same));
        assert_eq!(closest("contians"), built_in("contains", Likeness::Close));
        assert_eq!(closest("innocent"), None);
    }

    #[test]
    fn a_name_is_compared_with_those_of_other_signers_and_not_with_its_own() {
        let mut names = NearMisses::of([]);
        names.know(&address("registry.test/team/grader:1.0.0"), TEAM);
        names.know(&address("registry.test/team/grader:1.1.0"), TEAM);
        let closest = |written: &str, signer| {
            names.closest(&address(written), "x", signer).map(|(known, _)| known)
        };
        let known = Some(KnownName::Published("registry.test/team/grader".to_owned()));
        assert_eq!(closest("registry.test/team/grade:1", OTHER), known);
        assert_eq!(closest("registry.test/tearn/grader:1", OTHER), known);
        assert_eq!(closest("reglstry.test/team/grader:1", OTHER), known);
        assert_eq!(closest("registry.test/team/grade:1", None), known, "nobody signed it");
        assert_eq!(closest("registry.test/team/grade:1", TEAM), None);
        assert_eq!(closest("registry.test/team/grader:2.0.0", OTHER), None, "it is that place");
        assert_eq!(closest("elsewhere.test/people/grader:1", OTHER), None, "a word that two chose");
    }

    #[test]
    fn letters_of_any_script_are_compared() {
        let names = NearMisses::of(["contains"]);
        // With a Cyrillic `о`, as only an id could have it.
        let closest = names.closest(&address("a.b/x:1"), "cоntains", TEAM);
        assert_eq!(closest, built_in("contains", Likeness::Close));
    }
}
