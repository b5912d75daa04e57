//! How well scores separate yes and no, whatever the threshold, and which threshold separates best. Higher scores mean
//! yes.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use serde::Serialize;

use super::{Confusion, correlation::mean_ranks};

/// The chance that a positive case has a higher score than a negative one, where equal scores count half: the area
/// under the ROC curve. `None` if there are no positive or no negative cases.
///
/// Hanley and McNeil, "The meaning and use of the area under a receiver operating characteristic (ROC) curve",
/// Radiology 143 (1982), by the ranks of Mann and Whitney.
pub fn roc_auc(cases: &[(f64, bool)]) -> Option<f64> {
    let scores: Vec<f64> = cases.iter().map(|(score, _)| *score).collect();
    let ranks = mean_ranks(&scores);
    let of_positives: f64 =
        cases.iter().zip(&ranks).filter(|((_, yes), _)| *yes).map(|(_, rank)| rank).sum();
    let positives = cases.iter().filter(|(_, yes)| *yes).count() as f64;
    let negatives = cases.len() as f64 - positives;
    let pairs = positives * negatives;
    (pairs > 0.0).then(|| (of_positives - positives * (positives + 1.0) / 2.0) / pairs)
}

/// The threshold that separates best, and its result on cases that were not used to choose it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BestThreshold {
    /// The lowest score that passes, chosen from all cases.
    pub threshold: f64,
    /// The thresholds that were chosen without each fold.
    pub of_folds: Vec<f64>,
    /// The counts over all folds, each with the threshold that was chosen without it.
    pub held_out: Confusion,
}

/// The threshold with the highest balanced accuracy, with cross-validation: each case has a fold, below `folds`. Cases
/// of one group (attempts, or answers to one question) have the same fold. `None` if only positive or only negative
/// cases are left without some fold.
///
/// The threshold is an observed score: the one with the highest recall plus specificity (Youden, "Index for rating
/// diagnostic tests", Cancer 3, 1950), among equally good ones the highest. Cross-validation: Stone, "Cross-validatory
/// choice and assessment of statistical predictions", Journal of the Royal Statistical Society B 36 (1974).
pub fn best_threshold(
    cases: &[(f64, bool)],
    fold_of: &[usize],
    folds: usize,
) -> Option<BestThreshold> {
    let mut sorted: Vec<(f64, bool, usize)> =
        cases.iter().zip(fold_of).map(|((score, yes), fold)| (*score + 0.0, *yes, *fold)).collect();
    sorted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let of_folds: Vec<f64> =
        (0..folds).map(|fold| youden(&sorted, Some(fold))).collect::<Option<_>>()?;
    let mut held_out = Confusion::default();
    for (score, yes, fold) in &sorted {
        held_out.add(score >= of_folds.get(*fold)?, *yes);
    }
    Some(BestThreshold { threshold: youden(&sorted, None)?, of_folds, held_out })
}

/// The threshold with the highest index, for cases in descending order of their scores, without those of a fold.
fn youden(descending: &[(f64, bool, usize)], without: Option<usize>) -> Option<f64> {
    let chosen = || descending.iter().filter(|(.., fold)| Some(*fold) != without);
    let positives = chosen().filter(|(_, yes, _)| *yes).count() as u64;
    let negatives = chosen().count() as u64 - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let (mut above, mut best) = ((0, 0), None);
    let mut chosen = chosen().peekable();
    while let Some((score, yes, _)) = chosen.next() {
        match yes {
            true => above.0 += 1,
            false => above.1 += 1,
        }
        if chosen.peek().is_some_and(|(next, ..)| next == score) {
            continue;
        }
        // The index times both counts: whole numbers, so that equally good thresholds are equal.
        let index = i128::from(above.0) * i128::from(negatives)
            - i128::from(above.1) * i128::from(positives);
        if best.is_none_or(|(most, _)| index > most) {
            best = Some((index, *score));
        }
    }
    best.map(|(_, score)| score)
}
