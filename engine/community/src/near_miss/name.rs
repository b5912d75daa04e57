//! Compares how similar two names are. Knows nothing of scorers or their locations.

/// Shorter names are compared only for letters that look alike: too many words of three letters differ in one letter.
const LEAST_LETTERS: usize = 4;
/// From this length on, two letters may differ.
const LONG_LETTERS: usize = 8;

/// Letters that look like others, or like two letters: each is replaced before names are compared.
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

/// How similar a name is to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two names are the same, alike or different")]
pub enum Similarity {
    /// The names are the same.
    Same,
    /// The names could be confused.
    Close,
}

/// A name, prepared for many comparisons.
#[derive(Clone, Debug)]
pub(super) struct Name {
    /// In lower case.
    pub(super) text: String,
    /// Without separators, and with one letter for all that look like it.
    pub(super) skeleton: String,
    /// Its words in alphabetical order; empty if there is only one.
    pub(super) words: String,
    pub(super) shape: Shape,
}

/// Properties that are almost the same in similar names, for a quick check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    bytes: usize,
    /// The set of its letters, one bit for each.
    letters: u64,
}

impl Similarity {
    pub(super) fn rank(self) -> u8 {
        match self {
            Similarity::Same => 0,
            Similarity::Close => 1,
        }
    }
}

impl Name {
    pub(super) fn of(name: &str) -> Name {
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

    pub(super) fn similarity(&self, known: &Name) -> Option<Similarity> {
        if self.text == known.text {
            return Some(Similarity::Same);
        }
        let is_close = self.skeleton == known.skeleton
            || (!self.words.is_empty() && self.words == known.words)
            || (self.shape.could_be_near(known.shape) && self.is_near(&known.text));
        is_close.then_some(Similarity::Close)
    }

    /// Whether the name looks like the other one. Titles must have the same letters, because many titles are short
    /// words.
    pub(super) fn look_alike(&self, known: &Name) -> Option<Similarity> {
        let is_alike = !self.skeleton.is_empty() && self.skeleton == known.skeleton;
        is_alike.then(|| match self.text == known.text {
            true => Similarity::Same,
            false => Similarity::Close,
        })
    }

    /// Whether only a few letters differ, or are swapped.
    pub(super) fn is_near(&self, known: &str) -> bool {
        let most = max_changes(self.text.len().min(known.len()));
        is_within(self.text.as_bytes(), known.as_bytes(), most)
    }
}

/// Whether at most this many changes turn one text into the other: a byte more, a byte less, a different byte, or two
/// swapped bytes. Full distances, as the crate `strsim` computes them, would take a thousand times as long for names
/// that differ at the beginning, as most do.
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
    /// Whether names with these shapes can be similar.
    pub(super) fn could_be_near(self, other: Shape) -> bool {
        let most = max_changes(self.bytes.min(other.bytes));
        // Each different letter adds one, removes one, or does both.
        let differ = (self.letters ^ other.letters).count_ones() as usize;
        most > 0 && self.bytes.abs_diff(other.bytes) <= most && differ <= 2 * most
    }
}

/// How many letters of a name with this many bytes may differ.
fn max_changes(bytes: usize) -> usize {
    match bytes {
        0..LEAST_LETTERS => 0,
        LEAST_LETTERS..LONG_LETTERS => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
