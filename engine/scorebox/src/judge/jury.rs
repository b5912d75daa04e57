//! Several judges, or several answers of one, instead of one: the members of a jury, and how its scores are combined.
//! It sends no questions.

use serde::{Deserialize, Serialize};

/// The jury of a scorer: each juror computes the score once, with a separate judge or model.
///
/// Jurors are all combinations of [`judges`](Jury::judges) or [`models`](Jury::models) with [`samples`](Jury::samples).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Jury {
    /// The names of the judges to ask; empty for the scorer's own judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<String>,
    /// The models of the scorer's judge to ask; empty for its own model. Only if no judges are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// How often each of them is asked, at least 1.
    pub samples: u32,
    /// How the scores are combined.
    pub combine: Combine,
    /// How many jurors must give a score, at least 1; `None` for more than half of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<u32>,
}

impl Jury {
    /// The most jurors of a jury.
    pub const MAX_JURORS: u32 = 64;

    /// A jury of one judge, which is asked `samples` times.
    pub fn of_samples(samples: u32) -> Jury {
        Jury { samples: samples.max(1), ..Jury::default() }
    }

    /// The number of jurors, at least 1.
    pub fn jurors(&self) -> u32 {
        let asked = self.judges.len().max(self.models.len()).max(1);
        u32::try_from(asked).unwrap_or(u32::MAX).saturating_mul(self.samples.max(1))
    }

    /// Whether such a jury is possible: a jury from a stranger's file may have any numbers.
    pub fn is_valid(&self) -> bool {
        let jurors = self.jurors();
        self.samples > 0
            && jurors <= Jury::MAX_JURORS
            && (1..=jurors).contains(&self.quorum())
            && (self.judges.is_empty() || self.models.is_empty())
    }

    /// How many jurors must give a score.
    pub fn quorum(&self) -> u32 {
        self.quorum.unwrap_or(self.jurors() / 2 + 1)
    }
}

/// How the scores of a jury are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Combine {
    /// Their mean.
    #[default]
    Mean,
    /// The middle one, or the mean of the two middle ones.
    Median,
    /// The most frequent one, or the mean of equally frequent ones.
    Majority,
}

impl Combine {
    /// All ways to combine scores.
    pub const ALL: [Combine; 3] = [Combine::Mean, Combine::Median, Combine::Majority];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Combine::Mean => "mean",
            Combine::Median => "median",
            Combine::Majority => "majority",
        }
    }

    /// The combination of `scores`, which are finite; `None` if there are no scores.
    pub fn of(self, scores: &[f64]) -> Option<f64> {
        let mut scores = scores.to_vec();
        scores.sort_by(f64::total_cmp);
        match self {
            Combine::Mean => mean(&scores),
            Combine::Median => match scores.len() {
                0 => None,
                of if of % 2 == 1 => Some(scores[of / 2]),
                of => mean(&scores[of / 2 - 1..=of / 2]),
            },
            Combine::Majority => {
                let runs = || scores.chunk_by(|one, other| one == other);
                let most = runs().map(<[f64]>::len).max()?;
                let tied: Vec<f64> =
                    runs().filter(|run| run.len() == most).map(|run| run[0]).collect();
                mean(&tied)
            }
        }
    }
}

/// The mean of sorted scores, rounded once: never outside their range.
fn mean(scores: &[f64]) -> Option<f64> {
    let (least, most) = (*scores.first()?, *scores.last()?);
    // No jury has 2^53 members.
    let of = scores.len() as f64;
    let (sum, lost) = sum(scores);
    let near = (sum + lost) / of;
    // The rest of the sum after subtracting the product, exact except for the last bits of a correction.
    let product = of * near;
    let left = (sum - product) + (lost - of.mul_add(near, -product));
    let mean = near + left / of;
    // Large scores add up to infinity unless each of them is divided first.
    let mean = if mean.is_finite() { mean } else { scores.iter().map(|it| it / of).sum() };
    Some(mean.clamp(least, most))
}

/// The sum, and its rounding errors (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher
/// Summen", ZAMM 54, 1974).
fn sum(scores: &[f64]) -> (f64, f64) {
    scores.iter().fold((0.0, 0.0), |(sum, lost), score| {
        let next: f64 = sum + score;
        let large = if f64::abs(sum) >= score.abs() { (sum, *score) } else { (*score, sum) };
        (next, lost + ((large.0 - next) + large.1))
    })
}

/// How far the jurors are apart: the largest score minus the smallest; 0 if there are no scores.
pub fn spread(scores: &[f64]) -> f64 {
    let least = scores.iter().copied().min_by(f64::total_cmp).unwrap_or_default();
    let most = scores.iter().copied().max_by(f64::total_cmp).unwrap_or_default();
    most - least
}

/// The share of the jurors that give the most frequent score, more than 0 and at most 1; 0 if there are no scores.
pub fn agreement(scores: &[f64]) -> f64 {
    let as_often = |score: &f64| scores.iter().filter(|other| *other == score).count();
    let most = scores.iter().map(as_often).max().unwrap_or_default();
    // No jury has 2^53 members.
    most as f64 / scores.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(scores: &[f64]) -> [Option<f64>; 3] {
        Combine::ALL.map(|combine| combine.of(scores))
    }

    #[test]
    fn scores_are_combined_by_mean_median_and_majority() {
        assert_eq!(all(&[]), [None; 3]);
        assert_eq!(all(&[0.25]), [Some(0.25); 3]);
        assert_eq!(all(&[1.0, 0.0, 1.0, 1.0]), [Some(0.75), Some(1.0), Some(1.0)]);
        assert_eq!(all(&[0.5, 0.0, 1.0]), [Some(0.5); 3]);
        // statistics.mean, statistics.median, and the mean of statistics.multimode of Python's library.
        assert_eq!(all(&[0.25, 0.75, 0.75, 0.25, 1.0, 0.0]), [Some(0.5); 3]);
        assert_eq!(all(&[0.0, 0.0, 1.0, 0.5, 0.25]), [Some(0.35), Some(0.25), Some(0.0)]);
    }

    #[test]
    fn a_mean_is_rounded_once() {
        // statistics.mean of Python's library, which computes with fractions.
        for (scores, mean) in [
            (&[0.7, 0.8, 0.9][..], 0.8),
            (&[0.1, 0.2, 0.3], 0.2),
            (&[0.1, 0.7, 0.3, 0.9, 0.2], 0.44),
            (&[1e16, 1.0, -1e16], 0.333_333_333_333_333_3),
            (&[f64::MAX, f64::MAX, 0.0], f64::MAX / 1.5),
        ] {
            assert_eq!(Combine::Mean.of(scores), Some(mean), "{scores:?}");
        }
    }

    #[test]
    fn a_tie_of_a_majority_is_between_those_that_tie() {
        assert_eq!(Combine::Majority.of(&[1.0, 0.0]), Some(0.5));
        assert_eq!(Combine::Majority.of(&[1.0, 0.0, 1.0, 0.0, 0.5]), Some(0.5));
    }

    #[test]
    fn a_combined_score_is_never_off_the_scale_of_its_parts() {
        for combine in Combine::ALL {
            assert_eq!(combine.of(&[0.1; 7]), Some(0.1), "{combine:?}");
            assert_eq!(combine.of(&[f64::MAX; 3]), Some(f64::MAX), "{combine:?}");
        }
    }

    #[test]
    fn spread_and_agreement_say_how_far_the_jurors_are_apart() {
        assert_eq!((spread(&[]), agreement(&[])), (0.0, 0.0));
        assert_eq!((spread(&[0.5]), agreement(&[0.5])), (0.0, 1.0));
        assert_eq!(
            (spread(&[0.5, 1.0, 0.5, 0.25]), agreement(&[0.5, 1.0, 0.5, 0.25])),
            (0.75, 0.5)
        );
    }

    #[test]
    fn more_than_half_of_a_jury_is_its_quorum_unless_it_has_another() {
        let jury = |models: usize, samples| Jury {
            models: vec![String::new(); models],
            ..Jury::of_samples(samples)
        };
        assert_eq!(
            [(0, 1), (0, 4), (3, 1), (3, 3)].map(|(m, s)| jury(m, s).jurors()),
            [1, 4, 3, 9]
        );
        assert_eq!(
            [(0, 1), (0, 4), (3, 1), (3, 3)].map(|(m, s)| jury(m, s).quorum()),
            [1, 3, 2, 5]
        );
        assert_eq!(Jury { quorum: Some(1), ..jury(3, 3) }.quorum(), 1);
    }

    #[test]
    fn a_jury_has_a_bounded_number_of_jurors_and_a_quorum_that_they_can_reach() {
        let of = Jury::of_samples;
        assert!(of(1).is_valid() && of(64).is_valid());
        let wrong = [
            Jury { samples: 0, ..of(1) },
            of(65),
            of(u32::MAX),
            Jury { models: vec![String::new(); 2], ..of(u32::MAX) },
            Jury { quorum: Some(0), ..of(3) },
            Jury { quorum: Some(4), ..of(3) },
            Jury { models: vec!["a".into()], judges: vec!["b".into()], ..of(1) },
        ];
        assert_eq!(wrong.iter().filter(|jury| jury.is_valid()).count(), 0);
    }
}
