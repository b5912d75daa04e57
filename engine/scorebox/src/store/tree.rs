//! The Merkle tree over a run's cases (RFC 6962, section 2.1, with SHA-256), and the cases that are not yet complete.
//! Leaves come in any order; only subtrees without a complete neighbour are kept. It reads and writes no database.

use std::collections::{BTreeMap, HashMap};

use super::CaseKey;
use crate::digest::Digest;

/// A tree whose leaves come in any order. It keeps the roots of the complete subtrees: about log₂(leaves) for each
/// missing leaf that has later ones.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// By the first leaf below, and the height above the leaves.
    complete: BTreeMap<(u64, u32), Digest>,
}

impl Tree {
    /// Adds the leaf at a position, from 0; to be called once for each.
    pub(super) fn add(&mut self, position: u64, leaf: Digest) {
        let (mut first, mut height, mut node) = (position, 0, leaf);
        while height < u64::BITS {
            let sibling = first ^ (1 << height);
            let Some(other) = self.complete.remove(&(sibling, height)) else { break };
            node = match sibling < first {
                true => join(other, node),
                false => join(node, other),
            };
            first = first.min(sibling);
            height += 1;
        }
        self.complete.insert((first, height), node);
    }

    /// The root over the leaves 0 to `leaves` - 1; `None` if one of them is missing.
    pub(super) fn root(&self, leaves: u64) -> Option<Digest> {
        let mut next = 0;
        for (first, height) in self.complete.keys() {
            if *first != next {
                return None;
            }
            next += 1 << height;
        }
        if next != leaves {
            return None;
        }
        let mut nodes = self.complete.values().rev();
        // RFC 6962: the root of no leaves is the digest of nothing.
        let last = nodes.next().copied().unwrap_or_else(|| Digest::of(b""));
        Some(nodes.fold(last, |right, left| join(*left, right)))
    }
}

/// The two prefixes make leaves and nodes distinguishable.
const LEAF: u8 = 0;
const NODE: u8 = 1;

fn join(left: Digest, right: Digest) -> Digest {
    let mut bytes = [NODE; 65];
    bytes[1..33].copy_from_slice(left.as_bytes());
    bytes[33..].copy_from_slice(right.as_bytes());
    Digest::of(&bytes)
}

/// The leaf of a case: its own digest, and those of its rows in the order of the run's scorers. A missing row counts
/// too.
pub(super) fn leaf(case: Digest, rows: impl IntoIterator<Item = Option<Digest>>) -> Digest {
    let mut bytes = vec![LEAF];
    bytes.extend_from_slice(case.as_bytes());
    for row in rows {
        bytes.push(u8::from(row.is_some()));
        bytes.extend(row.iter().flat_map(|digest| digest.as_bytes()));
    }
    Digest::of(&bytes)
}

/// The tree of a run that is being written, from its first case on.
#[derive(Debug)]
pub(super) struct GrowingTree {
    tree: Tree,
    scorers: usize,
    cases: u64,
    incomplete: HashMap<CaseKey, IncompleteCase>,
}

#[derive(Debug)]
struct IncompleteCase {
    position: u64,
    case: Digest,
    rows: Vec<Option<Digest>>,
}

impl GrowingTree {
    /// The tree of a run with this number of scorers and no case.
    pub(super) fn new(scorers: usize) -> GrowingTree {
        let (tree, incomplete) = (Tree::default(), HashMap::new());
        GrowingTree { tree, scorers, cases: 0, incomplete }
    }

    /// Adds the next case, in the order of the run.
    pub(super) fn add_case(&mut self, key: CaseKey, case: Digest) {
        let rows = vec![None; self.scorers];
        self.incomplete.insert(key, IncompleteCase { position: self.cases, case, rows });
        self.cases += 1;
    }

    /// Adds the row of the scorer at this index in the run's order.
    pub(super) fn add_row(&mut self, key: CaseKey, scorer: usize, row: Digest) {
        let Some(case) = self.incomplete.get_mut(&key) else { return };
        if let Some(slot) = case.rows.get_mut(scorer) {
            *slot = Some(row);
        }
        if case.rows.iter().all(Option::is_some)
            && let Some(case) = self.incomplete.remove(&key)
        {
            case.into_leaf(&mut self.tree);
        }
    }

    /// How many cases there are, and the root over them; cases with missing rows count with the rows that they have.
    pub(super) fn finish(mut self) -> (u64, Option<Digest>) {
        for (_, case) in self.incomplete {
            case.into_leaf(&mut self.tree);
        }
        (self.cases, self.tree.root(self.cases))
    }
}

impl IncompleteCase {
    fn into_leaf(self, tree: &mut Tree) {
        tree.add(self.position, leaf(self.case, self.rows));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition in RFC 6962.
    fn merkle_tree_hash(leaves: &[Digest]) -> Digest {
        match leaves {
            [] => Digest::of(b""),
            [leaf] => *leaf,
            _ => {
                let split = leaves.len().next_power_of_two() / 2;
                let (left, right) = leaves.split_at(split);
                join(merkle_tree_hash(left), merkle_tree_hash(right))
            }
        }
    }

    fn leaves(count: u64) -> Vec<Digest> {
        (0..count).map(|number| Digest::of(&number.to_le_bytes())).collect()
    }

    proptest! {
        #[test]
        fn the_root_is_the_one_of_rfc_6962_in_whatever_order_leaves_come(
            order in (0_usize..200)
                .prop_flat_map(|count| Just((0..count).collect::<Vec<_>>()).prop_shuffle())
        ) {
            let leaves = leaves(order.len() as u64);
            let mut tree = Tree::default();
            for position in order {
                tree.add(position as u64, leaves[position]);
            }
            prop_assert_eq!(tree.root(leaves.len() as u64), Some(merkle_tree_hash(&leaves)));
        }
    }

    /// The test vectors of certificate transparency's reference implementation.
    #[test]
    fn the_root_of_known_leaves_is_the_published_one() {
        let leaf = |bytes: &[u8]| Digest::of(&[&[LEAF], bytes].concat());
        let inputs: [&[u8]; 4] = [b"", b"\x00", b"\x10", b"\x20\x21"];
        let mut tree = Tree::default();
        for (position, input) in inputs.into_iter().enumerate() {
            tree.add(position as u64, leaf(input));
        }
        let published = "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7";
        assert_eq!(tree.root(4).unwrap().to_string(), published);
        assert_eq!(
            Tree::default().root(0).unwrap().to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn a_tree_with_a_gap_has_no_root() {
        let mut tree = Tree::default();
        for position in [0, 1, 3] {
            tree.add(position, Digest::of(b"leaf"));
        }
        assert_eq!((tree.root(3), tree.root(4)), (None, None));
    }

    #[test]
    fn what_is_held_does_not_grow_with_the_number_of_leaves() {
        let mut tree = Tree::default();
        // The first leaf is late: a slow case.
        for position in 1..100_000 {
            tree.add(position, Digest::of(b"leaf"));
        }
        assert!(tree.complete.len() <= 34, "{}", tree.complete.len());
    }

    #[test]
    fn a_leaf_depends_on_which_scorer_a_row_is_of() {
        let (case, row) = (Digest::of(b"case"), Digest::of(b"row"));
        assert_ne!(leaf(case, [Some(row), None]), leaf(case, [None, Some(row)]));
        assert_ne!(leaf(case, [Some(row)]), leaf(case, [Some(row), None]));
    }
}
