//! Names that a person could take for other, better-known ones: a letter more or less, letters that look alike, words in another order. Knows
//! no language, and accuses nobody: what is alike may be so by chance.

use std::collections::{HashMap, HashSet};

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
pub enum Similarity {
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
    words: String,
    shape: Shape,
}

/// What two names that are near each other have almost in common, at a glance.
#[derive(Clone, Copy, Debug)]
struct Shape {
    bytes: usize,
    /// Which letters are in it, a bit for each.
    letters: u64,
}

/// Names, and those that are better known.
#[derive(Debug, Default)]
pub struct NearMisses {
    built_in: Vec<(String, Name)>,
    /// Each once, in the order in which they became known.
    places: Vec<Place>,
    known: HashSet<Place>,
    /// The whole names of the places, and their last parts.
    wholes: Names,
    lasts: Names,
}

/// A place and who signed what is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    text: String,
    signer: Option<String>,
}

/// The names of all places, in their order, and ways to those that are alike.
#[derive(Debug, Default)]
struct Names {
    names: Vec<(String, Shape)>,
    by_skeleton: HashMap<String, Vec<usize>>,
    by_words: HashMap<String, Vec<usize>>,
}

impl NearMisses {
    /// Names that are like those of these built-in scorers.
    pub fn of<'a>(built_in: impl IntoIterator<Item = &'a str>) -> NearMisses {
        let built_in = built_in.into_iter().map(|name| (name.to_owned(), Name::of(name)));
        NearMisses { built_in: built_in.collect(), ..NearMisses::default() }
    }

    /// Another published scorer that is known, and who signed it.
    pub fn know(&mut self, address: &Address, signer: Option<&str>) {
        let place = Place { text: place_of(address), signer: signer.map(str::to_owned) };
        if !self.known.insert(place.clone()) {
            return;
        }
        self.wholes.add(Name::of(&place.text));
        self.lasts.add(Name::of(last_of(address)));
        self.places.push(place);
    }

    /// What the scorer at `address`, which calls itself `id`, could be taken for: a built-in scorer first, and then one that somebody else
    /// signed. Scorers of one signer are not compared with each other.
    pub fn closest(
        &self,
        address: &Address,
        id: &str,
        signer: Option<&str>,
    ) -> Option<(KnownName, Similarity)> {
        let last = Name::of(last_of(address));
        let names = [Name::of(id), last.clone()];
        let of_built_in = self.built_in.iter().filter_map(|(known, known_name)| {
            let similarity = names.iter().filter_map(|name| name.similarity(known_name));
            Some((KnownName::BuiltIn(known.clone()), similarity.min_by_key(|it| it.rank())?))
        });
        if let Some(closest) = of_built_in.min_by_key(|(_, similarity)| similarity.rank()) {
            return Some(closest);
        }
        let place = place_of(address);
        let is_another = |other: usize| {
            let other = &self.places[other];
            (signer.is_none() || other.signer.as_deref() != signer) && other.text != place
        };
        // Two may choose the same word for their scorers; in places that are alike as well it is no chance.
        let of_lasts = self.lasts.closest(&last, is_another);
        let of_wholes = self.wholes.closest(&Name::of(&place), is_another);
        let first = of_lasts.into_iter().chain(of_wholes).min()?;
        Some((KnownName::Published(self.places[first].text.clone()), Similarity::Close))
    }
}

impl Names {
    fn add(&mut self, name: Name) {
        let number = self.names.len();
        let Name { text, skeleton, words, shape } = name;
        self.names.push((text, shape));
        self.by_skeleton.entry(skeleton).or_default().push(number);
        if !words.is_empty() {
            self.by_words.entry(words).or_default().push(number);
        }
    }

    /// The first of those that the name could be taken for and is not, among those that may be.
    fn closest(&self, name: &Name, may_be: impl Fn(usize) -> bool) -> Option<usize> {
        let is_other = |number: &&usize| self.names[**number].0 != name.text && may_be(**number);
        let first = |numbers: Option<&Vec<usize>>| numbers?.iter().find(is_other).copied();
        let alike =
            [first(self.by_skeleton.get(&name.skeleton)), first(self.by_words.get(&name.words))];
        let is_near = |(number, (text, shape)): &(usize, &(String, Shape))| {
            name.shape.could_be_near(*shape)
                && may_be(*number)
                && *text != name.text
                && name.is_near(text)
        };
        let near = self.names.iter().enumerate().find(is_near).map(|(number, _)| number);
        alike.into_iter().flatten().chain(near).min()
    }
}

impl Similarity {
    fn rank(self) -> u8 {
        match self {
            Similarity::Same => 0,
            Similarity::Close => 1,
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
        let mut words: Vec<&str> =
            text.split(is_separator).filter(|word| !word.is_empty()).collect();
        words.sort_unstable();
        let words = if words.len() < 2 { String::new() } else { words.join(" ") };
        let mut skeleton = text.replace(is_separator, "");
        for (looks_like, letter) in LOOKALIKES {
            skeleton = skeleton.replace(looks_like, letter);
        }
        let letters = text.bytes().fold(0, |all, byte| all | 1_u64 << (byte % 64));
        let shape = Shape { bytes: text.len(), letters };
        Name { text, skeleton, words, shape }
    }

    fn similarity(&self, known: &Name) -> Option<Similarity> {
        if self.text == known.text {
            return Some(Similarity::Same);
        }
        let is_close = self.skeleton == known.skeleton
            || (!self.words.is_empty() && self.words == known.words)
            || (self.shape.could_be_near(known.shape) && self.is_near(&known.text));
        is_close.then_some(Similarity::Close)
    }

    /// Whether few letters differ, or are in another place.
    fn is_near(&self, known: &str) -> bool {
        let most = most_changes(self.text.len().min(known.len()));
        is_within(self.text.as_bytes(), known.as_bytes(), most)
    }
}

/// Whether so many changes make one text of the other: a byte more, a byte less, another byte, or two that change places. Whole distances, as the
/// crate `strsim` computes them, would take a thousand times as long for names that differ at their beginning, which most do.
fn is_within(one: &[u8], other: &[u8], changes: usize) -> bool {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[same..], &other[same..]);
    let Some(left) = changes.checked_sub(1) else { return one.is_empty() && other.is_empty() };
    if one.len().abs_diff(other.len()) > changes {
        return false;
    }
    match (one, other) {
        ([], rest) | (rest, []) => rest.len() <= changes,
        ([_, one_rest @ ..], [_, other_rest @ ..]) => {
            let is_swapped = one.len() > 1
                && other.len() > 1
                && (one[0], one[1]) == (other[1], other[0])
                && is_within(&one[2..], &other[2..], left);
            is_swapped
                || is_within(one_rest, other_rest, left)
                || is_within(one_rest, other, left)
                || is_within(one, other_rest, left)
        }
    }
}

impl Shape {
    /// Whether names of these shapes can be near each other.
    fn could_be_near(self, other: Shape) -> bool {
        let most = most_changes(self.bytes.min(other.bytes));
        // Each letter that differs adds one, takes one away, or does both.
        let differ = (self.letters ^ other.letters).count_ones() as usize;
        most > 0 && self.bytes.abs_diff(other.bytes) <= most && differ <= 2 * most
    }
}

/// How many letters of a name of so many bytes may differ.
fn most_changes(bytes: usize) -> usize {
    match bytes {
        0..LEAST_LETTERS => 0,
        LEAST_LETTERS..LONG_LETTERS => 1,
        _ => 2,
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

    fn built_in(name: &str, similarity: Similarity) -> Option<(KnownName, Similarity)> {
        Some((KnownName::BuiltIn(name.to_owned()), similarity))
    }

    #[test]
    fn names_like_those_of_built_in_scorers_are_found() {
        let names = NearMisses::of(["contains", "exact-match", "regex", "bleu", "f1", "word-f1"]);
        let closest =
            |name: &str| names.closest(&address(&format!("a.b/x/{name}:1")), "unlike", TEAM);
        assert_eq!(closest("contains"), built_in("contains", Similarity::Same));
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
            assert_eq!(closest(name), built_in(known, Similarity::Close), "{name}");
        }
        for name in ["grade", "contains-all-of", "f2", "blue-eyes", "match", "rex"] {
            assert_eq!(closest(name), None, "{name}");
        }
    }

    #[test]
    fn what_a_scorer_calls_itself_counts_as_where_it_is() {
        let names = NearMisses::of(["contains"]);
        let closest = |id: &str| names.closest(&address("a.b/x/innocent:1"), id, TEAM);
        assert_eq!(closest("contains"), built_in("contains", Similarity::Same));
        assert_eq!(closest("contians"), built_in("contains", Similarity::Close));
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
    fn changes_are_counted_wherever_they_are() {
        for (one, other, changes) in [
            ("grade", "grade", 0),
            ("grade", "grader", 1),
            ("abcde", "bcde", 1),
            ("grade", "grbde", 1),
            ("grade", "garde", 1),
            ("grade", "gared", 2),
            ("grade", "xgradex", 2),
            ("abcdef", "badcfe", 3),
            ("abcdefgh", "bacdefhg", 2),
            ("", "ab", 2),
        ] {
            for most in 0..=2 {
                let is_near = most >= changes;
                assert_eq!(
                    is_within(one.as_bytes(), other.as_bytes(), most),
                    is_near,
                    "{one} {other}"
                );
                assert_eq!(
                    is_within(other.as_bytes(), one.as_bytes(), most),
                    is_near,
                    "{other} {one}"
                );
            }
        }
    }

    #[test]
    fn one_of_many_names_is_found_without_looking_closely_at_all_of_them() {
        let mut names = NearMisses::of([]);
        for number in 0..50_000 {
            let word = format!("{number:05}").replace(['1', '3'], "x");
            names.know(&address(&format!("registry.test/team/{word}-{number}:1")), TEAM);
        }
        names.know(&address("registry.test/team/glockenspiel:1"), TEAM);
        let closest = names.closest(&address("elsewhere.test/crew/glockenspeil:1"), "x", OTHER);
        let known = KnownName::Published("registry.test/team/glockenspiel".to_owned());
        assert_eq!(closest, Some((known, Similarity::Close)));
    }

    #[test]
    fn letters_of_any_script_are_compared() {
        let names = NearMisses::of(["contains"]);
        // With a Cyrillic `о`, as only an id could have it.
        let closest = names.closest(&address("a.b/x:1"), "cоntains", TEAM);
        assert_eq!(closest, built_in("contains", Similarity::Close));
    }
}
