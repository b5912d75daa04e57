//! What a call is expected to cost before it is sent, from its size and the costs of similar calls. It knows no budget.

use std::{
    collections::{BTreeMap, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

use super::{Embedding, Generation, Message, Question};

/// How many kinds of calls are distinguished, because a scorer may name any number of models. All others share one
/// kind.
const MAX_KINDS: usize = 1000;

/// The size and the kind of a call, from which its cost is estimated before it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// A hash of judge, model and kind of question: calls with another hash are not comparable.
    whom: u64,
    /// The size of the question's texts in bytes, at least 1.
    bytes: u64,
}

impl Size {
    /// The size of a call with this many bytes of text.
    pub(super) const fn new(whom: u64, bytes: u64) -> Size {
        Size { whom, bytes: if bytes == 0 { 1 } else { bytes } }
    }

    /// The size of this question to this judge.
    pub(super) fn of(judge: &str, question: &Question) -> Size {
        let (bytes, is_embedding) = match question {
            Question::Generate(Generation { system, messages, response_schema, .. }) => {
                let said: usize = messages.iter().map(|Message { text, .. }| text.len()).sum();
                let rest = [system, response_schema].map(|it| it.as_ref().map_or(0, String::len));
                (said + rest[0] + rest[1], false)
            }
            Question::Embed(Embedding { texts, .. }) => (texts.iter().map(String::len).sum(), true),
        };
        let mut whom = DefaultHasher::new();
        (judge, question.model(), is_embedding).hash(&mut whom);
        // The texts are in memory, so their length fits.
        Size::new(whom.finish(), bytes as u64)
    }

    /// Sizes within a factor of two are one class.
    fn class(&self) -> (u64, u32) {
        (self.whom, self.bytes.ilog2())
    }
}

/// What calls have cost, by class, and which calls are in progress.
#[derive(Debug, Default)]
pub(super) struct Expected {
    classes: BTreeMap<(u64, u32), Class>,
    under_way: usize,
    /// Whether a call has ended.
    has_ended: bool,
    dearest_usd: f64,
}

/// Calls of one kind, of about one size.
#[derive(Debug, Default)]
struct Class {
    /// The bytes of each call in progress.
    under_way: Vec<u64>,
    /// How many calls ended with a known cost.
    paid: usize,
    /// Whether another call has ended, without a known cost.
    has_failed: bool,
    dearest_usd: f64,
    dearest_usd_per_byte: f64,
}

impl Class {
    /// The cost of a call with this many bytes, judging by the others.
    fn usd(&self, bytes: u64) -> f64 {
        // No text has 2^53 bytes.
        self.dearest_usd.max(self.dearest_usd_per_byte * bytes as f64)
    }

    /// How many may be in progress at the same time: each call that has ended makes room for two more, because the
    /// first may have been cheap by chance.
    fn most(&self) -> usize {
        1 + 2 * self.paid + usize::from(self.has_failed)
    }
}

impl Expected {
    /// Whether no call is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.under_way == 0
    }

    /// Whether one more call fits into the rest of a budget, if it and those in progress cost as much as the most
    /// expensive similar ones.
    pub(super) fn has_room(&self, size: &Size, left_usd: f64) -> bool {
        if self.is_idle() {
            return true;
        }
        let alike = self.classes.get(&self.class(size));
        if !self.has_ended || alike.is_some_and(|class| class.under_way.len() >= class.most()) {
            return false;
        }
        let under_way: f64 = self
            .classes
            .iter()
            .map(|(place, class)| match class.paid {
                0 => class.under_way.iter().map(|bytes| self.usd(*place, *bytes)).sum::<f64>(),
                _ => class.under_way.iter().map(|bytes| class.usd(*bytes)).sum(),
            })
            .sum();
        under_way + self.usd(self.class(size), size.bytes) <= left_usd
    }

    /// The expected cost of a call in this class: from the calls of its class or, if none of them has ended, from the
    /// closest smaller size of its kind, by bytes, or otherwise from a larger one.
    fn usd(&self, (whom, class): (u64, u32), bytes: u64) -> f64 {
        let known = |(_, class): &(_, &Class)| class.paid > 0;
        let smaller = self.classes.range((whom, 0)..=(whom, class)).rev().find(known);
        let larger = || self.classes.range((whom, class)..=(whom, u32::MAX)).find(known);
        match smaller.or_else(larger) {
            Some((_, class)) => class.usd(bytes),
            None => self.dearest_usd,
        }
    }

    pub(super) fn begin(&mut self, size: &Size) {
        self.under_way += 1;
        self.of(size).under_way.push(size.bytes);
    }

    pub(super) fn not_sent(&mut self, size: &Size) {
        self.gone(size);
    }

    /// Ends a call with this cost, if it is known.
    pub(super) fn end(&mut self, size: &Size, cost_usd: Option<f64>) {
        self.has_ended = true;
        let bytes = size.bytes as f64;
        let class = self.gone(size);
        let Some(cost) = cost_usd else {
            class.has_failed = true;
            return;
        };
        class.paid += 1;
        class.dearest_usd = class.dearest_usd.max(cost);
        class.dearest_usd_per_byte = class.dearest_usd_per_byte.max(cost / bytes);
        self.dearest_usd = self.dearest_usd.max(cost);
    }

    /// The class of a call that is no longer in progress.
    fn gone(&mut self, size: &Size) -> &mut Class {
        self.under_way = self.under_way.saturating_sub(1);
        let class = self.of(size);
        if let Some(at) = class.under_way.iter().position(|bytes| *bytes == size.bytes) {
            class.under_way.swap_remove(at);
        }
        class
    }

    fn of(&mut self, size: &Size) -> &mut Class {
        let class = self.class(size);
        self.classes.entry(class).or_default()
    }

    fn class(&self, size: &Size) -> (u64, u32) {
        let class = size.class();
        match self.classes.len() < MAX_KINDS || self.classes.contains_key(&class) {
            true => class,
            false => (0, class.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes calls with these bytes, at most `at_once` at the same time, until the budget is spent; returns what was
    /// spent, and the most calls that were in progress. The oldest call ends first, with the cost that `cost` returns.
    fn spent(
        calls: impl IntoIterator<Item = u64>,
        at_once: usize,
        budget: f64,
        cost: impl Fn(u64) -> f64,
    ) -> (f64, usize) {
        let (mut expected, mut spent, mut most) = (Expected::default(), 0.0, 0);
        let mut under_way = std::collections::VecDeque::new();
        for bytes in calls {
            let size = Size::new(7, bytes);
            while under_way.len() == at_once
                || (spent < budget && !expected.has_room(&size, budget - spent))
            {
                let ended: Size = under_way.pop_front().unwrap();
                spent += cost(ended.bytes);
                expected.end(&ended, Some(cost(ended.bytes)));
            }
            if spent >= budget {
                break;
            }
            expected.begin(&size);
            under_way.push_back(size);
            most = most.max(under_way.len());
        }
        (spent + under_way.iter().map(|size| cost(size.bytes)).sum::<f64>(), most)
    }

    #[test]
    fn a_cheap_call_first_and_dear_ones_after_it_keep_the_budget() {
        let calls = || std::iter::once(100).chain(std::iter::repeat_n(60_000, 300));
        let by_bytes = |bytes: u64| bytes as f64 * 1e-6;
        assert!(spent(calls(), 100, 0.5, by_bytes).0 < 0.5 + 2.0 * 0.06);
        // Long questions may or may not have long answers.
        let by_answers = |bytes: u64| if bytes < 1000 { 0.0001 } else { 1.0 };
        assert!(spent(calls(), 100, 2.0, by_answers).0 < 2.0 + 3.0);
    }

    #[test]
    fn questions_of_all_sizes_keep_the_budget() {
        let calls = || (0..300).map(|place| 50 + (place * 7919) % 60_000);
        for budget in [0.05, 0.5, 5.0] {
            let (spent, _) = spent(calls(), 100, budget, |bytes| bytes as f64 * 1e-6 + 0.001);
            assert!(spent < budget + 3.0 * 0.061, "{spent} of {budget}");
        }
    }

    #[test]
    fn the_dear_one_of_two_models_is_not_taken_for_the_cheap_one() {
        let mut expected = Expected::default();
        let (cheap, dear) = (Size::new(1, 100), Size::new(2, 100));
        for _ in 0..50 {
            expected.begin(&cheap);
            expected.end(&cheap, Some(0.001));
        }
        expected.begin(&dear);
        assert!(!expected.has_room(&dear, 1.0));
        assert!(expected.has_room(&cheap, 1.0));
    }

    #[test]
    fn as_many_as_wanted_are_under_way_soon_if_the_budget_is_far() {
        let mut expected = Expected::default();
        let size = Size::new(7, 1000);
        let mut rounds = 0;
        loop {
            let mut under_way = 0;
            while under_way < 100 && expected.has_room(&size, 1000.0) {
                expected.begin(&size);
                under_way += 1;
            }
            if under_way == 100 {
                break;
            }
            (0..under_way).for_each(|_| expected.end(&size, Some(0.01)));
            rounds += 1;
        }
        assert!(rounds <= 5, "{rounds}");
    }
}
