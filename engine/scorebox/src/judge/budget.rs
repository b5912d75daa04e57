//! What calls have consumed, and whether more is left. It does not decide what happens then.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, futures::Notified};

use super::{
    Budget, TokenUsage,
    expected::{Expected, Size},
};

/// What calls have consumed of a budget. Calls that are answered from a recording consume nothing.
pub struct Meter {
    budget: Budget,
    /// How much of the budget was consumed before; it is not included in the counts.
    before: Consumed,
    used: Mutex<Used>,
    /// Notifies when a call has ended.
    ended: Notify,
}

#[derive(Default)]
struct Used {
    consumed: Consumed,
    /// The known costs of similar calls, and which of them are in progress.
    alike: Expected,
    /// The highest known cost of a call.
    dearest_usd: Option<f64>,
    /// What failed attempts may have cost: assumed to be as much for each call as the most expensive one so far.
    guessed_usd: f64,
    /// Whether a call had an unknown cost.
    is_cost_unknown: bool,
}

impl Used {
    /// Ends a call of this size.
    fn end(&mut self, size: &Size, cost_usd: Option<f64>, usage: TokenUsage) {
        self.alike.end(size, cost_usd);
        self.consumed.add(cost_usd, usage);
        if let Some(cost) = cost_usd.filter(|cost| *cost > 0.0) {
            self.dearest_usd = Some(self.dearest_usd.map_or(cost, |dearest| dearest.max(cost)));
        }
    }
}

/// What a call may have consumed beyond what is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beyond {
    /// Nothing.
    Nothing,
    /// Failed attempts whose cost is not reported: for each question, it is assumed to be that of the most expensive
    /// call so far.
    Unanswered,
    /// An unknown amount: if there is a budget in US dollars, nothing more is spent from here on.
    Unknown,
}

/// What calls have consumed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Consumed {
    /// Calls that were sent, including those that failed.
    pub calls: u64,
    /// Their cost in US dollars, as far as it is known.
    pub cost_usd: f64,
    /// Tokens of questions.
    pub input_tokens: u64,
    /// Tokens of answers.
    pub output_tokens: u64,
}

impl Consumed {
    /// Adds what one call consumed.
    pub(super) fn add(&mut self, cost_usd: Option<f64>, usage: TokenUsage) {
        let sum = |one: u64, other: Option<u64>| one.saturating_add(other.unwrap_or(0));
        self.cost_usd += cost_usd.unwrap_or(0.0);
        self.input_tokens = sum(self.input_tokens, usage.input_tokens);
        self.output_tokens = sum(self.output_tokens, usage.output_tokens);
    }
}

/// Why a budget is spent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Spent {
    /// No more calls are allowed.
    #[error("its budget of {} is used up", calls(*.0))]
    Calls(u64),
    /// No more money is left.
    #[error("{used:.6} US dollars are spent, of a budget of {budget}{}", of_guesses(*guessed))]
    Cost {
        /// The amount that was spent.
        used: f64,
        /// How much of it is assumed for attempts with unknown cost.
        guessed: f64,
        /// The budget.
        budget: f64,
    },
    /// It is unknown how much money is left.
    #[error(
        "what a question cost is not known, because its tokens are not counted or have no price: a budget of {0} US dollars cannot be kept"
    )]
    CostUnknown(f64),
}

/// A number of calls, in words.
fn calls(number: u64) -> String {
    match number {
        1 => "1 call".to_owned(),
        more => format!("{more} calls"),
    }
}

/// How much of what was spent is assumed, in words; empty if all of it is known.
fn of_guesses(guessed: f64) -> String {
    match guessed > 0.0 {
        true => format!(
            "; {guessed:.6} of them are what failed attempts may have cost, for each question as much as the dearest one"
        ),
        false => String::new(),
    }
}

impl Meter {
    /// A budget of which nothing is consumed yet.
    pub fn new(budget: Budget) -> Meter {
        let before = Consumed::default();
        Meter { budget, before, used: Mutex::default(), ended: Notify::new() }
    }

    /// The same, with this much of the budget consumed before.
    pub(super) fn after(self, before: Consumed) -> Meter {
        Meter { before, ..self }
    }

    /// The budget.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// What was consumed so far.
    pub fn consumed(&self) -> Consumed {
        self.lock().consumed
    }

    /// Counts a call of this size that is about to be sent. Returns `false`, and counts nothing, if the calls in
    /// progress might spend the rest, or if the rest is spent and calls in progress may still add to that: then wait
    /// until one has ended, and try again.
    ///
    /// The first call is in progress alone, because costs are unknown before it ends.
    ///
    /// # Errors
    /// The budget is spent. A budget in US dollars reports this only when no call is in progress, so that the amount is
    /// final.
    pub(super) fn begin(&self, size: &Size) -> Result<bool, Spent> {
        let mut used = self.lock();
        match self.must_have_left(&used) {
            Err(Spent::Cost { .. }) if !used.alike.is_idle() => return Ok(false),
            left => left?,
        }
        if let Some(budget) = self.budget.cost_usd {
            let left = budget - self.spent_usd(&used);
            if !used.alike.has_room(size, left) {
                return Ok(false);
            }
        }
        used.consumed.calls += 1;
        used.alike.begin(size);
        Ok(true)
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.must_have_left(&self.lock()).is_err()
    }

    fn must_have_left(&self, used: &Used) -> Result<(), Spent> {
        let calls = used.consumed.calls.saturating_add(self.before.calls);
        if let Some(most) = self.budget.calls.filter(|most| calls >= *most) {
            return Err(Spent::Calls(most));
        }
        let spent = self.spent_usd(used);
        match self.budget.cost_usd {
            Some(budget) if spent >= budget => {
                Err(Spent::Cost { used: spent, guessed: used.guessed_usd, budget })
            }
            Some(budget) if used.is_cost_unknown => Err(Spent::CostUnknown(budget)),
            _ => Ok(()),
        }
    }

    /// How much of the budget in US dollars is spent.
    fn spent_usd(&self, used: &Used) -> f64 {
        self.before.cost_usd + used.consumed.cost_usd + used.guessed_usd
    }

    /// Waits for the end of a call, from this moment on.
    pub(super) fn ended(&self) -> Notified<'_> {
        self.ended.notified()
    }

    /// Undoes the count of a call that was not sent.
    pub(super) fn not_sent(&self, size: &Size) {
        let mut used = self.lock();
        used.consumed.calls = used.consumed.calls.saturating_sub(1);
        used.alike.not_sent(size);
        drop(used);
        self.ended.notify_waiters();
    }

    /// Counts what a call consumed, with what it may have consumed beyond that. Waiting calls see both or neither.
    pub(super) fn end(
        &self,
        size: &Size,
        cost_usd: Option<f64>,
        usage: TokenUsage,
        beyond: Beyond,
    ) {
        let mut used = self.lock();
        used.end(size, cost_usd, usage);
        match (beyond, used.dearest_usd) {
            (Beyond::Nothing, _) => {}
            (Beyond::Unanswered, Some(dearest)) => used.guessed_usd += dearest,
            (Beyond::Unanswered, None) | (Beyond::Unknown, _) => used.is_cost_unknown = true,
        }
        drop(used);
        self.ended.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        // The state behind the lock is consistent after every statement.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter")
            .field("budget", &self.budget)
            .field("consumed", &self.consumed())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size::new(0, 1000);

    fn tokens(input: u64, output: u64) -> TokenUsage {
        TokenUsage { input_tokens: Some(input), output_tokens: Some(output) }
    }

    #[test]
    fn a_budget_of_calls_lets_exactly_so_many_begin() {
        let meter = Meter::new(Budget::default().with_calls(2));
        assert_eq!((meter.begin(&SIZE), meter.begin(&SIZE)), (Ok(true), Ok(true)));
        assert_eq!(meter.begin(&SIZE), Err(Spent::Calls(2)));
        assert!(meter.is_spent());
        meter.not_sent(&SIZE);
        assert_eq!(meter.begin(&SIZE), Ok(true));
        assert_eq!(meter.consumed().calls, 2);
    }

    #[test]
    fn a_budget_of_money_ends_with_the_call_that_spends_it() {
        let meter = Meter::new(Budget::default().with_cost_usd(0.5));
        for _ in 0..2 {
            assert_eq!(meter.begin(&SIZE), Ok(true));
            meter.end(&SIZE, Some(0.25), tokens(10, 2), Beyond::Nothing);
        }
        assert_eq!(meter.begin(&SIZE), Err(Spent::Cost { used: 0.5, guessed: 0.0, budget: 0.5 }));
        let consumed = meter.consumed();
        assert_eq!((consumed.calls, consumed.input_tokens, consumed.output_tokens), (2, 20, 4));
    }

    #[test]
    fn what_was_consumed_before_is_gone_and_not_counted_again() {
        let mut before = Consumed { calls: 2, cost_usd: 0.75, ..Consumed::default() };
        let meter = Meter::new(Budget::default().with_cost_usd(1.0)).after(before);
        assert_eq!(meter.begin(&SIZE), Ok(true));
        meter.end(&SIZE, Some(0.25), TokenUsage::default(), Beyond::Nothing);
        assert_eq!(meter.begin(&SIZE), Err(Spent::Cost { used: 1.0, guessed: 0.0, budget: 1.0 }));
        assert_eq!((meter.consumed().calls, meter.consumed().cost_usd), (1, 0.25));
        before.calls = 3;
        let of_calls = Meter::new(Budget::default().with_calls(3)).after(before);
        assert_eq!(of_calls.begin(&SIZE), Err(Spent::Calls(3)));
    }

    #[test]
    fn what_calls_cost_is_found_out_by_the_first_alone() {
        let meter = Meter::new(Budget::default().with_cost_usd(1.0));
        assert_eq!((meter.begin(&SIZE), meter.begin(&SIZE)), (Ok(true), Ok(false)));
        meter.not_sent(&SIZE);
        assert_eq!(meter.begin(&SIZE), Ok(true));
        meter.end(&SIZE, None, TokenUsage::default(), Beyond::Nothing);
        assert_eq!((meter.begin(&SIZE), meter.begin(&SIZE)), (Ok(true), Ok(true)));
        assert_eq!(meter.consumed().calls, 3);
    }

    #[test]
    fn calls_under_way_count_as_much_as_those_before_them() {
        let meter = Meter::new(Budget::default().with_cost_usd(1.0));
        assert_eq!(meter.begin(&SIZE), Ok(true));
        meter.end(&SIZE, Some(0.25), TokenUsage::default(), Beyond::Nothing);
        (0..3).for_each(|_| assert_eq!(meter.begin(&SIZE), Ok(true)));
        assert_eq!(meter.begin(&SIZE), Ok(false));
        // The call was cheaper than expected: there is room again.
        meter.end(&SIZE, Some(0.0), TokenUsage::default(), Beyond::Nothing);
        assert_eq!(meter.begin(&SIZE), Ok(true));
        assert!(!meter.is_spent());
    }

    #[test]
    fn a_budget_of_money_ends_with_an_answer_of_unknown_cost() {
        let meter = Meter::new(Budget::default().with_cost_usd(0.5));
        assert_eq!(meter.begin(&SIZE), Ok(true));
        meter.end(&SIZE, None, TokenUsage::default(), Beyond::Unknown);
        assert_eq!(meter.begin(&SIZE), Err(Spent::CostUnknown(0.5)));
        let of_calls = Meter::new(Budget::default().with_calls(9));
        of_calls.end(&SIZE, None, TokenUsage::default(), Beyond::Unknown);
        assert_eq!(of_calls.begin(&SIZE), Ok(true));
    }

    #[test]
    fn what_a_call_without_an_answer_consumed_counts() {
        let meter = Meter::new(Budget::default().with_cost_usd(0.5));
        assert_eq!(meter.begin(&SIZE), Ok(true));
        meter.end(&SIZE, Some(0.5), tokens(10, 2), Beyond::Nothing);
        assert_eq!(meter.begin(&SIZE), Err(Spent::Cost { used: 0.5, guessed: 0.0, budget: 0.5 }));
        assert_eq!(meter.consumed().input_tokens, 10);
    }

    #[test]
    fn without_a_budget_there_is_always_more() {
        let meter = Meter::new(Budget::default());
        (0..1000).for_each(|_| assert_eq!(meter.begin(&SIZE), Ok(true)));
        meter.end(&SIZE, None, tokens(0, u64::MAX), Beyond::Nothing);
        meter.end(&SIZE, Some(1e9), tokens(0, 1), Beyond::Nothing);
        assert_eq!(meter.consumed().output_tokens, u64::MAX);
        assert_eq!(meter.begin(&SIZE), Ok(true));
    }

    #[test]
    fn a_budget_of_money_says_what_is_spent_once_no_call_is_under_way() {
        let meter = Meter::new(Budget::default().with_cost_usd(1.0));
        meter.begin(&SIZE).unwrap();
        meter.end(&SIZE, Some(0.25), TokenUsage::default(), Beyond::Nothing);
        assert_eq!((meter.begin(&SIZE), meter.begin(&SIZE)), (Ok(true), Ok(true)));
        meter.end(&SIZE, Some(1.0), TokenUsage::default(), Beyond::Nothing);
        // The cost of the other call is not known yet.
        assert_eq!(meter.begin(&SIZE), Ok(false));
        assert!(meter.is_spent());
        meter.end(&SIZE, Some(1.0), TokenUsage::default(), Beyond::Nothing);
        assert_eq!(meter.begin(&SIZE), Err(Spent::Cost { used: 2.25, guessed: 0.0, budget: 1.0 }));
    }
}
