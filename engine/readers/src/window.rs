//! Combines parts of a case that are not next to each other. A case counts as complete when enough others have begun
//! after it, so that memory is bounded; parts that come later are left out and counted.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use crate::record::MAX_RECORD_BYTES;

/// How many cases are open at once. Tools work on far fewer at a time.
const MAX_OPEN: usize = 4096;
/// How many completed cases are remembered.
const MAX_REMEMBERED: usize = 1 << 20;

/// Open cases, in the order in which they began.
#[derive(Debug)]
pub(crate) struct Window<T> {
    open: HashMap<String, Open<T>>,
    order: VecDeque<String>,
    bytes: usize,
    /// The names of completed cases, as hashes.
    complete: HashSet<u64>,
    completed: VecDeque<u64>,
}

#[derive(Debug)]
struct Open<T> {
    parts: T,
    bytes: usize,
}

impl<T: Default> Window<T> {
    pub(crate) fn new() -> Window<T> {
        Window {
            open: HashMap::new(),
            order: VecDeque::new(),
            bytes: 0,
            complete: HashSet::new(),
            completed: VecDeque::new(),
        }
    }

    /// The open case `name`, to which a part of this many bytes is added; `None` if it is already complete.
    pub(crate) fn case(&mut self, name: &str, bytes: usize) -> Option<&mut T> {
        if self.complete.contains(&hash(name)) {
            return None;
        }
        if !self.open.contains_key(name) {
            self.order.push_back(name.to_owned());
        }
        self.bytes += bytes;
        let open = self
            .open
            .entry(name.to_owned())
            .or_insert_with(|| Open { parts: T::default(), bytes: 0 });
        open.bytes += bytes;
        Some(&mut open.parts)
    }

    /// The oldest case, if there is no room for it any more.
    pub(crate) fn overflow(&mut self) -> Option<(String, T)> {
        let full = self.order.len() > MAX_OPEN || self.bytes > MAX_RECORD_BYTES;
        full.then(|| self.oldest()).flatten()
    }

    /// The oldest case; at the end, this returns all of them one after the other.
    pub(crate) fn oldest(&mut self) -> Option<(String, T)> {
        let name = self.order.pop_front()?;
        let open = self.open.remove(&name)?;
        self.bytes -= open.bytes;
        let hash = hash(&name);
        self.complete.insert(hash);
        self.completed.push_back(hash);
        if self.completed.len() > MAX_REMEMBERED
            && let Some(forgotten) = self.completed.pop_front()
        {
            self.complete.remove(&forgotten);
        }
        Some((name, open.parts))
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_together_and_cases_leave_in_the_order_in_which_they_began() {
        let mut window = Window::<Vec<u32>>::new();
        for (name, part) in [("a", 1), ("b", 2), ("a", 3)] {
            window.case(name, 1).unwrap().push(part);
        }
        assert_eq!(window.overflow(), None);
        assert_eq!(window.oldest(), Some(("a".to_owned(), vec![1, 3])));
        assert!(window.case("a", 1).is_none(), "it is complete");
        assert_eq!(window.oldest(), Some(("b".to_owned(), vec![2])));
        assert_eq!(window.oldest(), None);
    }

    #[test]
    fn a_full_window_gives_up_its_oldest() {
        let mut window = Window::<Vec<u32>>::new();
        for name in 0..=MAX_OPEN {
            window.case(&name.to_string(), 1).unwrap();
        }
        assert_eq!(window.overflow().unwrap().0, "0");
        assert_eq!(window.overflow(), None);
        window.case("large", MAX_RECORD_BYTES).unwrap();
        assert_eq!(window.overflow().unwrap().0, "1");
    }
}
