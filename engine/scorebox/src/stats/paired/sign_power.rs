//! How often the sign test finds a difference that is there, counted over all ways in which cases can change by one
//! step: up, down or not at all. Knows no score.

use crate::stats::distributions::log_ways;

/// How often a real difference should be found: 80 times of 100.
pub const POWER: f64 = 0.8;

/// Numbers of changes that are less likely than this add nothing.
const NEGLIGIBLE: f64 = 1e-16;

/// The power of the sign test, for any number of cases of which each changes with the same chances.
///
/// Of so many cases a binomial number changes, and of these a binomial number changes against the difference: it is
/// found if these are no more than the test allows (Schork and Williams, "Number of observations required for
/// the comparison of two correlated proportions", Communications in Statistics, Simulation and Computation 9, 1980).
pub(in crate::stats) struct SignPower {
    /// The chance that a case changes.
    share: f64,
    /// The chance that a change is against the difference; less than one half.
    against: f64,
    /// The two-sided error that is allowed.
    error: f64,
    /// For each number of changes, from 0, the chance that so many show the difference.
    shown: Vec<f64>,
    last: Last,
}

/// The greatest number of changes that was looked at, with the most of them that may be against the difference.
struct Last {
    changes: u64,
    most: u64,
    /// Of a fair coin, and of changes with their chances: the probability of so many or fewer, and that of so many.
    fair: Tail,
    real: Tail,
}

#[derive(Clone, Copy)]
struct Tail {
    at_most: f64,
    exactly: f64,
}

impl Tail {
    /// That none of so many throws is a head.
    fn none(chance: f64, throws: u64) -> Tail {
        let none = (1.0 - chance).powf(throws as f64);
        Tail { at_most: none, exactly: none }
    }

    /// The same heads of one throw more, which makes `throws`.
    fn throw(&mut self, chance: f64, heads: u64, throws: u64) {
        self.at_most -= chance * self.exactly;
        self.exactly *= (1.0 - chance) * throws as f64 / (throws - heads) as f64;
    }

    /// One head more than these of so many throws.
    fn allow(self, chance: f64, heads: u64, throws: u64) -> Tail {
        let odds = chance / (1.0 - chance);
        let exactly = self.exactly * odds * (throws - heads) as f64 / (heads + 1) as f64;
        Tail { at_most: self.at_most + exactly, exactly }
    }
}

impl SignPower {
    /// Of cases of which `share` changes, and `difference` more of all go one way than the other, both in parts of all
    /// cases and with 0 < difference ≤ share ≤ 1; with the error that is allowed for a test, for which all of `fewest`
    /// changes must go one way.
    pub(in crate::stats) fn new(share: f64, difference: f64, error: f64, fewest: u64) -> SignPower {
        let against = (share - difference).max(0.0) / 2.0 / share;
        let (fair, real) = (Tail::none(0.5, fewest), Tail::none(against, fewest));
        let mut shown = vec![0.0; usize::try_from(fewest).unwrap_or_default()];
        shown.push(real.at_most);
        let last = Last { changes: fewest, most: 0, fair, real };
        SignPower { share, against, error, shown, last }
    }

    /// Looks at one change more.
    fn grow(&mut self) {
        let Last { changes, most, fair, real } = &mut self.last;
        *changes += 1;
        fair.throw(0.5, *most, *changes);
        real.throw(self.against, *most, *changes);
        loop {
            let one_more = fair.allow(0.5, *most, *changes);
            if 2.0 * one_more.at_most >= self.error {
                break;
            }
            *fair = one_more;
            *real = real.allow(self.against, *most, *changes);
            *most += 1;
        }
        self.shown.push(real.at_most.clamp(0.0, 1.0));
    }

    /// The chance that so many changes show the difference.
    fn shown_by(&mut self, changes: u64) -> f64 {
        while self.last.changes < changes {
            self.grow();
        }
        usize::try_from(changes).ok().and_then(|it| self.shown.get(it)).copied().unwrap_or(0.0)
    }

    /// The chance that so many cases show the difference.
    pub(in crate::stats) fn of(&mut self, cases: u64) -> f64 {
        if self.share >= 1.0 {
            return self.shown_by(cases);
        }
        let (count, odds) = (cases as f64, self.share / (1.0 - self.share));
        let mode = (((count + 1.0) * self.share) as u64).min(cases);
        let at_mode = log_ways(cases, mode)
            + mode as f64 * self.share.ln()
            + (count - mode as f64) * (-self.share).ln_1p();
        let at_mode = at_mode.exp();
        let (mut power, mut chance, mut changes) = (0.0, at_mode, mode);
        while chance > NEGLIGIBLE {
            power += chance * self.shown_by(changes);
            if changes == cases {
                break;
            }
            chance *= odds * (cases - changes) as f64 / (changes + 1) as f64;
            changes += 1;
        }
        (chance, changes) = (at_mode, mode);
        while changes > 0 && chance > NEGLIGIBLE {
            chance *= changes as f64 / odds / (cases - changes + 1) as f64;
            changes -= 1;
            power += chance * self.shown_by(changes);
        }
        power
    }

    /// The fewest cases of `within` that show the difference as often as is wanted.
    pub(super) fn fewest_cases(
        &mut self,
        mut within: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        within.find(|cases| self.of(*cases) >= POWER)
    }
}
