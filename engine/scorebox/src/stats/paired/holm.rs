//! Corrects the p values of several tests for their number (Holm 1979): of twenty true null hypotheses, one is rejected
//! by chance. It runs no test.

/// The p values, each raised so that the chance of any false alarm among them is as low as for one test; in the same
/// order. Missing values do not count.
///
/// Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut ordered: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(index, p)| Some((index, (*p)?))).collect();
    ordered.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let mut corrected = vec![None; p_values.len()];
    let (tests, mut least) = (ordered.len(), 0.0_f64);
    for (before, (index, p)) in ordered.into_iter().enumerate() {
        least = least.max(p * (tests - before) as f64).min(1.0);
        corrected[index] = Some(least);
    }
    corrected
}
