//! The right to send one call: a place at its judge, and room in all budgets that it counts in. Sends nothing.

use std::pin::pin;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::{BudgetOf, JudgeError, Meter, TokenUsage};

/// The budgets that a call counts in.
pub(super) type Meters<'a> = [(BudgetOf, &'a Meter)];

/// Given back on drop, as a call that was sent and has no answer.
pub(super) struct Permit<'a> {
    /// Empty once it is known what the call consumed.
    meters: &'a Meters<'a>,
    _place: Option<SemaphorePermit<'a>>,
}

impl<'a> Permit<'a> {
    /// Waits for a place first, so that the budgets are asked about as few calls as are sent at the same moment, and then until
    /// there is room in all of them.
    ///
    /// # Errors
    /// A budget is spent.
    pub(super) async fn wait(
        places: &'a Semaphore,
        meters: &'a Meters<'a>,
        judge: &str,
    ) -> Result<Permit<'a>, JudgeError> {
        // Fails only if the semaphore is closed, which nothing does.
        let place = places.acquire().await.ok();
        while let Some(full) = begin(meters, judge)? {
            let mut ended = pin!(full.ended());
            // A call may have ended since it was full: what ends from here on is noticed.
            ended.as_mut().enable();
            match begin(meters, judge)? {
                Some(full_still) if std::ptr::eq(full, full_still) => ended.await,
                Some(_) => {}
                None => break,
            }
        }
        Ok(Permit { meters, _place: place })
    }

    /// Nothing was sent.
    pub(super) fn not_sent(mut self) {
        self.settle().iter().for_each(|(_, meter)| meter.not_sent());
    }

    /// There is no answer, or one that is refused. `is_uncounted`: it costs something, and nobody knows how much.
    pub(super) fn failed(mut self, cost_usd: Option<f64>, usage: TokenUsage, is_uncounted: bool) {
        for (_, meter) in self.settle() {
            if is_uncounted {
                meter.cost_is_unknown();
            }
            meter.failed(cost_usd, usage);
        }
    }

    /// There is an answer, of a judge that `has_price` or has none. One without is free as far as the run's budget goes; who has a budget
    /// of its own in dollars costs something.
    pub(super) fn answered(mut self, cost_usd: Option<f64>, usage: TokenUsage, has_price: bool) {
        for (whose, meter) in self.settle() {
            if cost_usd.is_none() && (has_price || *whose != BudgetOf::Run) {
                meter.cost_is_unknown();
            }
            meter.consume(cost_usd, usage);
        }
    }

    fn settle(&mut self) -> &'a Meters<'a> {
        std::mem::take(&mut self.meters)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.settle().iter().for_each(|(_, meter)| meter.failed(None, TokenUsage::default()));
    }
}

/// Counts a call in all budgets; in none, if one of them has no room for it now: that one.
fn begin<'a>(meters: &Meters<'a>, judge: &str) -> Result<Option<&'a Meter>, JudgeError> {
    for (place, (whose, meter)) in meters.iter().enumerate() {
        let begun = meter.begin();
        if begun == Ok(true) {
            continue;
        }
        meters[..place].iter().for_each(|(_, before)| before.not_sent());
        return match begun {
            Err(spent) => Err(JudgeError::spent(*whose, judge, &spent)),
            Ok(_) => Ok(Some(meter)),
        };
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use crate::judge::Budget;

    use super::*;

    fn dollar() -> Meter {
        Meter::new(Budget::default().with_cost_usd(1.0))
    }

    #[tokio::test]
    async fn a_call_waits_until_it_is_known_what_calls_cost() {
        let (places, run, scorer) = (Semaphore::new(9), dollar(), Meter::new(Budget::default()));
        let meters = [(BudgetOf::Run, &run), (BudgetOf::Scorer, &scorer)];
        let first = Permit::wait(&places, &meters, "j").await.unwrap();
        let mut second = pin!(Permit::wait(&places, &meters, "j"));
        assert!(timeout(Duration::from_millis(1), &mut second).await.is_err());
        first.answered(Some(0.25), TokenUsage::default(), true);
        second.await.unwrap().answered(Some(0.75), TokenUsage::default(), true);
        let spent = Permit::wait(&places, &meters, "j").await.err().unwrap();
        assert_eq!(spent.message, "the run: 1.000000 US dollars are spent, of a budget of 1");
        assert_eq!((run.consumed().calls, scorer.consumed().calls), (2, 2));
    }

    #[tokio::test]
    async fn a_judge_without_a_price_is_free_and_one_with_a_price_is_not() {
        let (places, run) = (Semaphore::new(9), dollar());
        let meters = [(BudgetOf::Run, &run)];
        for has_price in [false, true] {
            let permit = Permit::wait(&places, &meters, "j").await.unwrap();
            permit.answered(None, TokenUsage::default(), has_price);
        }
        let unknown = Permit::wait(&places, &meters, "j").await.err().unwrap();
        assert_eq!(
            unknown.message,
            "the run: what an answer cost is not known, because it does not say how many tokens it took: a budget of 1 US dollars cannot be kept"
        );
    }

    #[tokio::test]
    async fn a_call_that_is_given_up_lets_the_next_one_begin() {
        let (places, run) = (Semaphore::new(9), dollar());
        let meters = [(BudgetOf::Run, &run)];
        let first = Permit::wait(&places, &meters, "j").await.unwrap();
        let mut second = pin!(Permit::wait(&places, &meters, "j"));
        assert!(timeout(Duration::from_millis(1), &mut second).await.is_err());
        drop(first);
        second.await.unwrap();
    }

    #[tokio::test]
    async fn a_budget_is_asked_about_calls_that_have_a_place() {
        let (places, run) = (Semaphore::new(1), Meter::new(Budget::default().with_calls(5)));
        let meters = [(BudgetOf::Run, &run)];
        let first = Permit::wait(&places, &meters, "j").await.unwrap();
        let second = timeout(Duration::from_millis(1), Permit::wait(&places, &meters, "j")).await;
        assert!(second.is_err());
        assert_eq!(run.consumed().calls, 1);
        first.not_sent();
        assert_eq!(run.consumed().calls, 0);
    }
}
