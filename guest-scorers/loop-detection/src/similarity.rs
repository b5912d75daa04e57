//! How similar two answers are: the greater of the Jaccard index of their word pairs and the ratio of Python's difflib.
//! It does not understand them.
//!
//! Both use the meaningful words: in lower case, without stop words, of three characters or more.

use std::collections::{BTreeMap, BTreeSet};

/// Texts with fewer meaningful words than this are not compared.
const WORDS: usize = 20;

/// The longest text for which difflib's ratio is computed, in characters; longer ones are compared by their word pairs
/// only.
const CHARACTERS: usize = 10_000;

/// How many pairs of equal characters may be visited for all answers of one run. Two answers of a page each cost about
/// 100 000.
const WORK: u64 = 20_000_000;

/// DeepEval's list.
const STOP_WORDS: [&str; 45] = [
    "the",
    "a",
    "an",
    "is",
    "are",
    "was",
    "were",
    "i",
    "will",
    "now",
    "based",
    "on",
    "information",
    "provided",
    "to",
    "of",
    "in",
    "and",
    "that",
    "this",
    "with",
    "for",
    "it",
    "my",
    "next",
    "step",
    "going",
    "so",
    "do",
    "be",
    "have",
    "has",
    "not",
    "but",
    "as",
    "or",
    "from",
    "at",
    "by",
    "about",
    "above",
    "below",
    "up",
    "its",
    "let",
];

/// The rest of the work that one run may cost.
pub(crate) struct Budget {
    left: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: WORK }
    }
}

impl Budget {
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    fn spend(&mut self, work: u64) -> bool {
        self.left = self.left.saturating_sub(work);
        self.left > 0
    }
}

/// The similarity of two answers, 0 to 1; `None` if one is too short. If it cannot reach `least`, a smaller number may
/// be returned instead.
pub(crate) fn similarity(left: &str, right: &str, least: f64, budget: &mut Budget) -> Option<f64> {
    let (left, right) = (meaningful(left), meaningful(right));
    if left.len() < WORDS || right.len() < WORDS {
        return None;
    }
    let pairs = shared_pairs(&left, &right);
    let characters = |words: &[String]| words.join(" ").chars().collect::<Vec<char>>();
    let (left, right) = (characters(&left), characters(&right));
    if left.len().max(right.len()) > CHARACTERS || max_ratio(&left, &right) < least.max(pairs) {
        return Some(pairs);
    }
    Some(pairs.max(ratio(&left, &right, budget).unwrap_or(0.0)))
}

fn meaningful(text: &str) -> Vec<String> {
    let words = text.split_whitespace().map(str::to_lowercase);
    words
        .filter(|word| !STOP_WORDS.contains(&word.as_str()) && word.chars().nth(2).is_some())
        .collect()
}

/// The Jaccard index of the sets of neighbouring words.
fn shared_pairs(left: &[String], right: &[String]) -> f64 {
    let pairs = |words: &'_ [String]| -> BTreeSet<(String, String)> {
        words.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    };
    let (left, right) = (pairs(left), pairs(right));
    let shared = left.intersection(&right).count();
    let all = left.len() + right.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// An upper bound of the ratio: the share of equal characters in any order (difflib's `quick_ratio`).
fn max_ratio(left: &[char], right: &[char]) -> f64 {
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    right.iter().for_each(|character| *counts.entry(*character).or_default() += 1);
    let shared = left.iter().filter(|character| match counts.get_mut(character) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    });
    of_length(shared.count(), left, right)
}

fn of_length(matches: usize, left: &[char], right: &[char]) -> f64 {
    let length = left.len() + right.len();
    if length == 0 { 1.0 } else { 2.0 * matches as f64 / length as f64 }
}

/// `difflib.SequenceMatcher(None, left, right).ratio()`: twice the number of characters in the longest common block,
/// and in those left and right of it, divided by the length of both. As in difflib, characters that make up more than 1
/// % of a text of 200 or more start no block.
fn ratio(left: &[char], right: &[char], budget: &mut Budget) -> Option<f64> {
    let mut places: BTreeMap<char, Vec<usize>> = BTreeMap::new();
    for (index, character) in right.iter().enumerate() {
        places.entry(*character).or_default().push(index);
    }
    if right.len() >= 200 {
        let most = right.len() / 100 + 1;
        places.retain(|_, places| places.len() <= most);
    }
    let mut matcher = Matcher {
        left,
        right,
        places,
        lengths: vec![0; right.len() + 1],
        new_lengths: vec![0; right.len() + 1],
    };
    let mut matches = 0;
    let mut open = vec![(0, left.len(), 0, right.len())];
    while let Some((left_from, left_to, right_from, right_to)) = open.pop() {
        let block = matcher.longest(left_from, left_to, right_from, right_to, budget)?;
        let (left_at, right_at, size) = block;
        if size == 0 {
            continue;
        }
        matches += size;
        if left_from < left_at && right_from < right_at {
            open.push((left_from, left_at, right_from, right_at));
        }
        let (left_end, right_end) = (left_at + size, right_at + size);
        if left_end < left_to && right_end < right_to {
            open.push((left_end, left_to, right_end, right_to));
        }
    }
    Some(of_length(matches, left, right))
}

struct Matcher<'t> {
    left: &'t [char],
    right: &'t [char],
    /// The positions of each character on the right.
    places: BTreeMap<char, Vec<usize>>,
    /// The length of the block that ends at each position on the right, for the previous character on the left and for
    /// this one; shifted by one.
    lengths: Vec<usize>,
    new_lengths: Vec<usize>,
}

impl Matcher<'_> {
    /// The first longest common block of two ranges: its start on both sides, and its size.
    fn longest(
        &mut self,
        left_from: usize,
        left_to: usize,
        right_from: usize,
        right_to: usize,
        budget: &mut Budget,
    ) -> Option<(usize, usize, usize)> {
        let (mut best_left, mut best_right, mut best) = (left_from, right_from, 0);
        let mut touched: &[usize] = &[];
        for at in left_from..left_to {
            let places = self.places.get(&self.left[at]).map_or(&[][..], Vec::as_slice);
            let from = places.partition_point(|place| *place < right_from);
            let to = places.partition_point(|place| *place < right_to);
            let here = &places[from..to];
            if !budget.spend(1 + here.len() as u64) {
                return None;
            }
            for place in here {
                let length = self.lengths[*place] + 1;
                self.new_lengths[place + 1] = length;
                if length > best {
                    (best_left, best_right, best) = (at + 1 - length, place + 1 - length, length);
                }
            }
            touched.iter().for_each(|place| self.lengths[place + 1] = 0);
            std::mem::swap(&mut self.lengths, &mut self.new_lengths);
            touched = here;
        }
        touched.iter().for_each(|place| self.lengths[place + 1] = 0);
        // Frequent characters start no block, but may extend one.
        while best_left > left_from
            && best_right > right_from
            && self.left[best_left - 1] == self.right[best_right - 1]
        {
            (best_left, best_right, best) = (best_left - 1, best_right - 1, best + 1);
        }
        while best_left + best < left_to
            && best_right + best < right_to
            && self.left[best_left + best] == self.right[best_right + best]
        {
            best += 1;
        }
        Some((best_left, best_right, best))
    }
}

#[cfg(test)]
pub(crate) fn ratio_of(left: &str, right: &str) -> f64 {
    let characters = |text: &str| text.chars().collect::<Vec<char>>();
    ratio(&characters(left), &characters(right), &mut Budget::default()).unwrap()
}
