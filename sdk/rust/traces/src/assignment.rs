//! Pairs the items of two lists, as many as possible. The caller says what fits.

use scorebox_sdk::ScoreError;

/// The most pairs that are compared, so that the work stays bounded: 2000 calls with 2000.
const PAIR_LIMIT: usize = 4_000_000;

/// How pairs are chosen if an item fits several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Assignment {
    /// As many pairs as possible.
    #[default]
    Optimal,
    /// Each left item, in order, takes the first right item that fits and is free. This can leave items without a
    /// partner that another choice would pair.
    Greedy,
}

/// The pairs that were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// The right item of each left item.
    pub right_of: Vec<Option<usize>>,
    /// The left item of each right item.
    pub left_of: Vec<Option<usize>>,
}

impl Pairing {
    /// How many pairs there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.right_of.iter().flatten().count()
    }
}

/// Checks that all pairs of two lists can be compared.
///
/// # Errors
/// [`ScoreError::InvalidInput`] if there are more than 2000 by 2000.
pub fn check_pairs(left: usize, right: usize) -> Result<(), ScoreError> {
    if left.saturating_mul(right) > PAIR_LIMIT {
        return Err(ScoreError::invalid_input(format!(
            "{left} calls against {right} are too many to compare; at most {PAIR_LIMIT} pairs are"
        )));
    }
    Ok(())
}

impl Assignment {
    /// Pairs `left` items with `right` items that they fit, as `fits` says.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if there are more pairs to compare than 2000 by 2000.
    pub fn pair(
        self,
        left: usize,
        right: usize,
        mut fits: impl FnMut(usize, usize) -> bool,
    ) -> Result<Pairing, ScoreError> {
        check_pairs(left, right)?;
        let mut pairing = Pairing { right_of: vec![None; left], left_of: vec![None; right] };
        let mut partners: Vec<Vec<usize>> = Vec::new();
        for item in 0..left {
            if self == Self::Greedy {
                let free = (0..right)
                    .find(|other| pairing.left_of[*other].is_none() && fits(item, *other));
                pairing.join(item, free);
                continue;
            }
            let fitting: Vec<usize> = (0..right).filter(|other| fits(item, *other)).collect();
            let free = fitting.iter().copied().find(|other| pairing.left_of[*other].is_none());
            pairing.join(item, free);
            partners.push(fitting);
        }
        if self == Self::Optimal {
            while pairing.improve(&partners) {}
        }
        Ok(pairing)
    }
}

impl Pairing {
    fn join(&mut self, left: usize, right: Option<usize>) {
        if let Some(right) = right {
            self.right_of[left] = Some(right);
            self.left_of[right] = Some(left);
        }
    }

    /// A round of Hopcroft and Karp (1973): finds shortest augmenting paths, each of which gives one more item a
    /// partner, as many as do not cross. There are few rounds: about the square root of the number of items.
    fn improve(&mut self, partners: &[Vec<usize>]) -> bool {
        let Some(mut level) = self.levels(partners) else {
            return false;
        };
        let mut next = vec![0; partners.len()];
        let mut improved = false;
        for start in 0..partners.len() {
            if self.right_of[start].is_none() {
                improved |= self.change(start, partners, &mut level, &mut next);
            }
        }
        improved
    }

    /// How many changes of partner each left item is away from an item without a partner; `None` if no change helps.
    fn levels(&self, partners: &[Vec<usize>]) -> Option<Vec<usize>> {
        let mut level = vec![usize::MAX; partners.len()];
        let mut queue = Vec::new();
        for (item, partner) in self.right_of.iter().enumerate() {
            if partner.is_none() {
                level[item] = 0;
                queue.push(item);
            }
        }
        let mut helps = false;
        let mut seen = 0;
        while let Some(&item) = queue.get(seen) {
            seen += 1;
            for right in &partners[item] {
                match self.left_of[*right] {
                    None => helps = true,
                    Some(other) if level[other] == usize::MAX => {
                        level[other] = level[item] + 1;
                        queue.push(other);
                    }
                    Some(_) => {}
                }
            }
        }
        helps.then_some(level)
    }

    /// Follows the levels without recursion, and changes partners on the way back.
    fn change(
        &mut self,
        start: usize,
        partners: &[Vec<usize>],
        level: &mut [usize],
        next: &mut [usize],
    ) -> bool {
        let mut way = vec![start];
        while let Some(&item) = way.last() {
            let Some(&right) = partners[item].get(next[item]) else {
                level[item] = usize::MAX;
                way.pop();
                continue;
            };
            next[item] += 1;
            match self.left_of[right] {
                None => {
                    let mut free = Some(right);
                    while let (Some(item), Some(right)) = (way.pop(), free) {
                        free = self.right_of[item];
                        self.join(item, Some(right));
                    }
                    return true;
                }
                Some(other) if level[other] != usize::MAX && level[other] == level[item] + 1 => {
                    way.push(other);
                }
                Some(_) => {}
            }
        }
        false
    }
}
