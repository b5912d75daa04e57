//! The right to send one call: its turn at the judge, and room in all budgets that count it. It sends nothing.

use std::pin::pin;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::{
    BudgetOf, Halt, JudgeError, Meter, TokenUsage, budget::Beyond, error::Names, expected::Size,
};

/// The budgets that count a call.
pub(super) type Meters<'a> = [(BudgetOf, &'a Meter)];

/// On drop, the call counts as sent, without an answer.
pub(super) struct Permit<'a> {
    /// Empty once the call has been counted.
    meters: &'a Meters<'a>,
    size: Size,
    _place: Option<SemaphorePermit<'a>>,
}

impl<'a> Permit<'a> {
    /// Waits for a turn first, so that the budgets count only calls that are about to be sent, and then until there is
    /// room in all of them.
    ///
    /// # Errors
    /// A budget is spent, or `stop` is ordered.
    pub(super) async fn wait(
        places: &'a Semaphore,
        size: Size,
        meters: &'a Meters<'a>,
        names: Names<'_>,
        stop: &Halt,
    ) -> Result<Permit<'a>, JudgeError> {
        let permit = stop.unless_ordered(Permit::waited_for(places, size, meters, names)).await;
        match permit.transpose()? {
            Some(permit) if !stop.is_ordered() => Ok(permit),
            had => {
                had.into_iter().for_each(Permit::not_sent);
                Err(JudgeError::stopped(names.0))
            }
        }
    }

    async fn waited_for(
        places: &'a Semaphore,
        size: Size,
        meters: &'a Meters<'a>,
        names: Names<'_>,
    ) -> Result<Permit<'a>, JudgeError> {
        // This fails only if the semaphore is closed, which never happens.
        let place = places.acquire().await.ok();
        while let Some(full) = begin(size, meters, names)? {
            let mut ended = pin!(full.ended());
            // A call may have ended since the budget was full; from here on, the end of a call is noticed.
            ended.as_mut().enable();
            match begin(size, meters, names)? {
                Some(full_still) if std::ptr::eq(full, full_still) => ended.await,
                Some(_) => {}
                None => break,
            }
        }
        Ok(Permit { meters, size, _place: place })
    }

    /// Undoes the counts, because nothing was sent.
    pub(super) fn not_sent(mut self) {
        let size = self.size;
        self.settle().iter().for_each(|(_, meter)| meter.not_sent(&size));
    }

    /// Counts the end of the call, with or without an answer.
    pub(super) fn ended(mut self, cost_usd: Option<f64>, usage: TokenUsage, beyond: Beyond) {
        let size = self.size;
        self.settle().iter().for_each(|(_, meter)| meter.end(&size, cost_usd, usage, beyond));
    }

    fn settle(&mut self) -> &'a Meters<'a> {
        std::mem::take(&mut self.meters)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let (size, usage) = (self.size, TokenUsage::default());
        self.settle().iter().for_each(|(_, meter)| meter.end(&size, None, usage, Beyond::Nothing));
    }
}

/// Counts a call in all budgets; or in none, and returns the budget that has no room for it now.
fn begin<'a>(
    size: Size,
    meters: &Meters<'a>,
    names: Names<'_>,
) -> Result<Option<&'a Meter>, JudgeError> {
    for (index, (whose, meter)) in meters.iter().enumerate() {
        let begun = meter.begin(&size);
        if begun == Ok(true) {
            continue;
        }
        meters[..index].iter().for_each(|(_, before)| before.not_sent(&size));
        return match begun {
            Err(spent) => Err(JudgeError::spent(*whose, names, &spent)),
            Ok(_) => Ok(Some(meter)),
        };
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use crate::judge::{Budget, JudgeErrorKind};

    use super::*;

    const SIZE: Size = Size::new(0, 1000);
    const NAMES: Names<'_> = ("j", Some("s"));

    fn dollar() -> Meter {
        Meter::new(Budget::default().with_cost_usd(1.0))
    }

    #[tokio::test]
    async fn a_call_waits_until_it_is_known_what_calls_cost() {
        let (places, run, scorer) = (Semaphore::new(9), dollar(), Meter::new(Budget::default()));
        let meters = [(BudgetOf::Run, &run), (BudgetOf::Scorer, &scorer)];
        let first = Permit::wait(&places, SIZE, &meters, NAMES, &Halt::default()).await.unwrap();
        let stop = Halt::default();
        let mut second = pin!(Permit::wait(&places, SIZE, &meters, NAMES, &stop));
        assert!(timeout(Duration::from_millis(1), &mut second).await.is_err());
        first.ended(Some(0.25), TokenUsage::default(), Beyond::Nothing);
        second.await.unwrap().ended(Some(0.75), TokenUsage::default(), Beyond::Nothing);
        let spent =
            Permit::wait(&places, SIZE, &meters, NAMES, &Halt::default()).await.err().unwrap();
        assert_eq!(spent.message, "the run: 1.000000 US dollars are spent, of a budget of 1");
        assert_eq!((run.consumed().calls, scorer.consumed().calls), (2, 2));
    }

    #[tokio::test]
    async fn what_a_call_cost_is_known_or_the_budget_ends() {
        let (places, run) = (Semaphore::new(9), dollar());
        let meters = [(BudgetOf::Run, &run)];
        for beyond in [Beyond::Nothing, Beyond::Unknown] {
            let permit =
                Permit::wait(&places, SIZE, &meters, NAMES, &Halt::default()).await.unwrap();
            permit.ended(None, TokenUsage::default(), beyond);
        }
        let unknown =
            Permit::wait(&places, SIZE, &meters, NAMES, &Halt::default()).await.err().unwrap();
        assert_eq!(
            unknown.message,
            "the run: what a question cost is not known, because its tokens are not counted or have no price: a budget of 1 US dollars cannot be kept"
        );
    }

    #[tokio::test]
    async fn a_question_without_an_answer_counts_as_much_as_the_dearest_one() {
        let (places, run) = (Semaphore::new(9), dollar());
        let meters = [(BudgetOf::Run, &run)];
        for (cost, beyond) in [
            (Some(0.25), Beyond::Nothing),
            (Some(0.125), Beyond::Nothing),
            (None, Beyond::Unanswered),
            (Some(0.125), Beyond::Unanswered),
        ] {
            let permit =
                Permit::wait(&places, SIZE, &meters, NAMES, &Halt::default()).await.unwrap();
            permit.ended(cost, TokenUsage::default(), beyond);
        }
        assert_eq!(run.consumed().cost_usd, 0.5);
        let spent =
            Permit::wait(&places, SIZE, &meters, NAMES, &Halt::default()).await.err().unwrap();
        assert_eq!(
            spent.message,
            "the run: 1.000000 US dollars are spent, of a budget of 1; 0.500000 of them are what failed attempts may have cost, for each question as much as the dearest one"
        );
    }

    #[tokio::test]
    async fn a_spent_budget_says_whose_it_is() {
        let (places, none) = (Semaphore::new(9), Meter::new(Budget::default().with_calls(0)));
        let said = async |whose, names: Names<'_>| {
            Permit::wait(&places, SIZE, &[(whose, &none)], names, &Halt::default())
                .await
                .err()
                .unwrap()
                .message
        };
        let spent = "its budget of 0 calls is used up";
        assert_eq!(said(BudgetOf::Run, NAMES).await, format!("the run: {spent}"));
        assert_eq!(said(BudgetOf::Judge, NAMES).await, format!("judge `j`: {spent}"));
        assert_eq!(said(BudgetOf::Scorer, NAMES).await, format!("scorer `s`: {spent}"));
        assert_eq!(said(BudgetOf::Scorer, ("j", None)).await, format!("the scorer: {spent}"));
    }

    #[tokio::test]
    async fn a_call_that_is_given_up_lets_the_next_one_begin() {
        let (places, run) = (Semaphore::new(9), dollar());
        let meters = [(BudgetOf::Run, &run)];
        let first = Permit::wait(&places, SIZE, &meters, NAMES, &Halt::default()).await.unwrap();
        let stop = Halt::default();
        let mut second = pin!(Permit::wait(&places, SIZE, &meters, NAMES, &stop));
        assert!(timeout(Duration::from_millis(1), &mut second).await.is_err());
        drop(first);
        second.await.unwrap();
    }

    #[tokio::test]
    async fn a_budget_is_asked_about_calls_that_have_a_place() {
        let (places, run) = (Semaphore::new(1), Meter::new(Budget::default().with_calls(5)));
        let meters = [(BudgetOf::Run, &run)];
        let first = Permit::wait(&places, SIZE, &meters, NAMES, &Halt::default()).await.unwrap();
        let second = timeout(
            Duration::from_millis(1),
            Permit::wait(&places, SIZE, &meters, NAMES, &Halt::default()),
        )
        .await;
        assert!(second.is_err());
        assert_eq!(run.consumed().calls, 1);
        first.not_sent();
        assert_eq!(run.consumed().calls, 0);
    }

    #[tokio::test]
    async fn a_call_that_is_stopped_while_it_waits_is_not_sent_and_costs_nothing() {
        let (places, run) = (Semaphore::new(1), Meter::new(Budget::default()));
        let (meters, stop) = ([(BudgetOf::Run, &run)], Halt::default());
        let first = Permit::wait(&places, SIZE, &meters, NAMES, &stop).await.unwrap();
        let mut second = pin!(Permit::wait(&places, SIZE, &meters, NAMES, &stop));
        assert!(timeout(Duration::from_millis(1), &mut second).await.is_err());
        stop.order();
        // The same applies if a turn becomes free at the same moment.
        first.ended(None, TokenUsage::default(), Beyond::Nothing);
        for waits in [second.await, Permit::wait(&places, SIZE, &meters, NAMES, &stop).await] {
            assert_eq!(waits.err().unwrap().kind, JudgeErrorKind::Stopped);
        }
        assert_eq!((run.consumed().calls, places.available_permits()), (1, 1));
    }
}
