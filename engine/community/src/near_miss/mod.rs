//! Finds names that could be confused with other, better-known ones: a letter more or less, letters that look alike,
//! words in another order. Knows no language, and accuses nobody: names may be similar by chance.
//!
//! - `name`: how similar two names are.

mod name;

use std::collections::{HashMap, HashSet};

use scorebox::digest::Digest;

use crate::address::Address;

use name::{Name, Shape};

pub use name::Similarity;

/// A known name that could be confused with another one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a scorer is built in or published")]
pub enum KnownName {
    /// The name of a built-in scorer.
    BuiltIn(String),
    /// The location of a published scorer, without a version.
    Published(String),
}

/// The known names that new names are compared with.
#[derive(Debug, Default)]
pub struct NearMisses {
    /// Each name with its prepared name and title.
    built_in: Vec<(String, [Name; 2])>,
    /// Each location once, in the order in which they became known.
    places: Vec<Place>,
    known: HashSet<Place>,
    /// The full names of the locations, and their last parts.
    wholes: Names,
    lasts: Names,
    titles: Names,
}

/// The properties of a published scorer that matter for confusion.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a caller that leaves one out compares less")]
pub struct Named<'n> {
    /// Where it is published.
    pub address: &'n Address,
    /// Its own id.
    pub id: &'n str,
    /// Its title for people.
    pub title: &'n str,
    /// Who signed it.
    pub signer: Option<&'n str>,
    /// Its component.
    pub component: Digest,
}

/// A location, and who signed the scorer there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    text: String,
    title: String,
    signer: Option<String>,
    /// For an unsigned scorer: its component.
    component: Option<Digest>,
}

/// The names of all locations, in their order, with indexes to find similar ones.
#[derive(Debug, Default)]
struct Names {
    names: Vec<(String, Shape)>,
    by_skeleton: HashMap<String, Vec<usize>>,
    by_words: HashMap<String, Vec<usize>>,
}

impl NearMisses {
    /// Compares with the names of these built-in scorers, each with its title.
    pub fn of<'a>(built_in: impl IntoIterator<Item = (&'a str, &'a str)>) -> NearMisses {
        let built_in = built_in
            .into_iter()
            .map(|(name, title)| (name.to_owned(), [Name::of(name), Name::of(title)]));
        NearMisses { built_in: built_in.collect(), ..NearMisses::default() }
    }

    /// Adds a published scorer.
    pub fn know(&mut self, scorer: &Named<'_>) {
        let place = Place::of(scorer);
        if !self.known.insert(place.clone()) {
            return;
        }
        self.wholes.add(Name::of(&place.text));
        self.lasts.add(Name::of(last_of(scorer.address)));
        self.titles.add(Name::of(scorer.title));
        self.places.push(place);
    }

    /// The name that a scorer could be confused with: a built-in one first, and then one at another location that
    /// another key signed. Scorers of one signer are not compared with each other, nor is a copy of an unsigned scorer
    /// compared with the original.
    pub fn closest(&self, scorer: &Named<'_>) -> Option<(KnownName, Similarity)> {
        let (last, title) = (Name::of(last_of(scorer.address)), Name::of(scorer.title));
        let names = [Name::of(scorer.id), last.clone()];
        let of_built_in = self.built_in.iter().filter_map(|(known, known_names)| {
            let by_name = names.iter().filter_map(|name| name.similarity(&known_names[0]));
            let by_title = known_names.iter().filter_map(|known| title.look_alike(known));
            let similarity = by_name.chain(by_title).min_by_key(|it| it.rank())?;
            Some((KnownName::BuiltIn(known.clone()), similarity))
        });
        if let Some(closest) = of_built_in.min_by_key(|(_, similarity)| similarity.rank()) {
            return Some(closest);
        }
        let place = Place::of(scorer);
        let is_another = |other: usize| self.places[other].could_be_confused_with(&place);
        let wholes = Name::of(&place.text);
        let found = [
            self.lasts.closest(&last, is_another),
            self.lasts.closest(&names[0], is_another),
            self.wholes.closest(&wholes, is_another),
            self.titles.look_alike(&title, is_another),
        ];
        let found = found.into_iter().flatten();
        let (similarity, first) = found.min_by_key(|(how, number)| (how.rank(), *number))?;
        Some((KnownName::Published(self.places[first].text.clone()), similarity))
    }
}

impl Place {
    fn of(scorer: &Named<'_>) -> Place {
        Place {
            text: place_of(scorer.address),
            title: scorer.title.to_owned(),
            signer: scorer.signer.map(str::to_owned),
            component: scorer.signer.is_none().then_some(scorer.component),
        }
    }

    /// Whether the scorer is at another location, and is not known to be of the same publisher or the same component.
    fn could_be_confused_with(&self, other: &Place) -> bool {
        self.text != other.text
            && (self.signer.as_deref(), self.component)
                != (other.signer.as_deref(), other.component)
    }
}

impl Names {
    fn add(&mut self, name: Name) {
        let number = self.names.len();
        let Name { text, skeleton, words, shape } = name;
        self.names.push((text, shape));
        if !skeleton.is_empty() {
            self.by_skeleton.entry(skeleton).or_default().push(number);
        }
        if !words.is_empty() {
            self.by_words.entry(words).or_default().push(number);
        }
    }

    /// The first location whose name is the same or could be confused with this one, among those that `may_be` allows.
    fn closest(&self, name: &Name, may_be: impl Fn(usize) -> bool) -> Option<(Similarity, usize)> {
        let alike = [
            Names::first_of(self.by_skeleton.get(&name.skeleton), &may_be),
            Names::first_of(self.by_words.get(&name.words), &may_be),
        ];
        let is_near = |(number, (text, shape)): &(usize, &(String, Shape))| {
            name.shape.could_be_near(*shape) && may_be(*number) && name.is_near(text)
        };
        let near = self.names.iter().enumerate().find(is_near).map(|(number, _)| number);
        let found = alike.into_iter().flatten().chain(near);
        let found = found.map(|number| (self.similarity(number, name), number));
        found.min_by_key(|(how, number)| (how.rank(), *number))
    }

    /// The first location whose name looks like this one, among those that `may_be` allows.
    fn look_alike(
        &self,
        name: &Name,
        may_be: impl Fn(usize) -> bool,
    ) -> Option<(Similarity, usize)> {
        let number = Names::first_of(self.by_skeleton.get(&name.skeleton), may_be)?;
        Some((self.similarity(number, name), number))
    }

    fn first_of(numbers: Option<&Vec<usize>>, may_be: impl Fn(usize) -> bool) -> Option<usize> {
        numbers?.iter().copied().find(|number| may_be(*number))
    }

    fn similarity(&self, number: usize, name: &Name) -> Similarity {
        match self.names[number].0 == name.text {
            true => Similarity::Same,
            false => Similarity::Close,
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEAM: Option<&str> = Some("RWteam");
    const OTHER: Option<&str> = Some("RWother");

    fn address(written: &str) -> Address {
        written.parse().unwrap()
    }

    fn named<'n>(
        address: &'n Address,
        [id, title]: [&'n str; 2],
        signer: Option<&'n str>,
    ) -> Named<'n> {
        Named { address, id, title, signer, component: Digest::of(b"component") }
    }

    fn built_in(name: &str, similarity: Similarity) -> Option<(KnownName, Similarity)> {
        Some((KnownName::BuiltIn(name.to_owned()), similarity))
    }

    #[test]
    fn names_like_those_of_built_in_scorers_are_found() {
        let names = NearMisses::of(
            ["contains", "exact-match", "regex", "bleu", "f1", "word-f1"].map(|name| (name, "")),
        );
        let closest = |name: &str| {
            let address = address(&format!("a.b/x/{name}:1"));
            names.closest(&named(&address, ["unlike", ""], TEAM))
        };
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
        let names = NearMisses::of([("contains", "Has the Text")]);
        let closest = |id: &str, title: &str| {
            names.closest(&named(&address("a.b/x/innocent:1"), [id, title], TEAM))
        };
        assert_eq!(closest("contains", ""), built_in("contains", Similarity::Same));
        assert_eq!(closest("contians", ""), built_in("contains", Similarity::Close));
        for title in ["Contains", "Has the text"] {
            assert_eq!(closest("innocent", title), built_in("contains", Similarity::Same));
        }
        for title in ["C0ntains", "Has-the-Text"] {
            assert_eq!(closest("innocent", title), built_in("contains", Similarity::Close));
        }
        for title in ["", "-", "Contain", "Has Text"] {
            assert_eq!(closest("innocent", title), None, "{title}");
        }
    }

    #[test]
    fn a_name_is_compared_with_those_of_other_signers_and_not_with_its_own() {
        let mut names = NearMisses::of([]);
        for version in ["1.0.0", "1.1.0"] {
            let address = address(&format!("registry.test/team/grader:{version}"));
            names.know(&named(&address, ["grader", "The Grader"], TEAM));
        }
        let closest = |written: &str, signer| {
            let address = address(written);
            names.closest(&named(&address, ["x", "X"], signer)).map(|(known, _)| known)
        };
        let known = Some(KnownName::Published("registry.test/team/grader".to_owned()));
        assert_eq!(closest("registry.test/team/grade:1", OTHER), known);
        assert_eq!(closest("registry.test/tearn/grader:1", OTHER), known);
        assert_eq!(closest("reglstry.test/team/grader:1", OTHER), known);
        assert_eq!(closest("registry.test/team/grade:1", None), known, "nobody signed it");
        assert_eq!(closest("registry.test/team/grade:1", TEAM), None);
        assert_eq!(closest("registry.test/team/grader:2.0.0", OTHER), None, "it is that place");
        assert_eq!(closest("elsewhere.test/people/other:1", OTHER), None);
    }

    #[test]
    fn the_same_name_somewhere_else_is_found_unless_the_same_key_signed_it() {
        let mut names = NearMisses::of([]);
        let (signed, unsigned) =
            (address("registry.test/team/grader:1"), address("registry.test/x/counter:1"));
        names.know(&named(&signed, ["grader", "The Grader"], TEAM));
        names.know(&named(&unsigned, ["counter", "Counts"], None));
        let known = |place: &str, similarity| {
            Some((KnownName::Published(format!("registry.test/{place}")), similarity))
        };
        let (same, close) = (Similarity::Same, Similarity::Close);
        let mirror = address("mirror.test/people/grader:1");
        let other = address("mirror.test/people/x:1");
        for (address, says, signer, expected) in [
            (&mirror, ["x", "X"], OTHER, known("team/grader", same)),
            (&mirror, ["x", "X"], None, known("team/grader", same)),
            (&mirror, ["grader", "The Grader"], TEAM, None),
            (&other, ["grader", "X"], OTHER, known("team/grader", same)),
            (&other, ["x", "The Grader"], OTHER, known("team/grader", same)),
            (&other, ["x", "the-grader"], OTHER, known("team/grader", close)),
            (&other, ["x", "The Grade"], OTHER, None),
            (&other, ["counter", "X"], OTHER, known("x/counter", same)),
            (&other, ["counter", "X"], None, None),
        ] {
            assert_eq!(
                names.closest(&named(address, says, signer)),
                expected,
                "{address} {says:?}"
            );
        }
        let of_other_bytes =
            Named { component: Digest::of(b"other"), ..named(&other, ["counter", "X"], None) };
        assert_eq!(names.closest(&of_other_bytes), known("x/counter", same));
    }

    #[test]
    fn one_of_many_names_is_found_without_looking_closely_at_all_of_them() {
        let mut names = NearMisses::of([]);
        for number in 0..50_000 {
            let word = format!("{number:05}").replace(['1', '3'], "x");
            let address = address(&format!("registry.test/team/{word}-{number}:1"));
            names.know(&named(&address, ["x", ""], TEAM));
        }
        names.know(&named(&address("registry.test/team/glockenspiel:1"), ["x", ""], TEAM));
        let other = address("elsewhere.test/crew/glockenspeil:1");
        let closest = names.closest(&named(&other, ["y", ""], OTHER));
        let known = KnownName::Published("registry.test/team/glockenspiel".to_owned());
        assert_eq!(closest, Some((known, Similarity::Close)));
    }

    #[test]
    fn letters_of_any_script_are_compared() {
        let names = NearMisses::of([("contains", "")]);
        // The id has a Cyrillic `о`, which only an id could contain.
        let closest = names.closest(&named(&address("a.b/x:1"), ["cоntains", ""], TEAM));
        assert_eq!(closest, built_in("contains", Similarity::Close));
    }
}
