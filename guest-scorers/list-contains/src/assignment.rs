//! The pairing of two lists that is worth the most. It knows nothing of what a pair is worth.
//!
//! Kuhn's and Munkres' method with potentials and shortest augmenting paths (Jonker and Volgenant 1987):
//! work grows with the shorter list squared, times the longer one.

/// Pairs (row, column), each row and each column at most once, with the largest sum of `worth`; as many
/// pairs as the shorter side has, in the order of rows. All rows have the same length.
pub(crate) fn best_pairing(worth: &[Vec<f64>]) -> Vec<(usize, usize)> {
    let (rows, columns) = (worth.len(), worth.first().map_or(0, Vec::len));
    if rows > columns {
        let turned: Vec<Vec<f64>> =
            (0..columns).map(|column| worth.iter().map(|row| row[column]).collect()).collect();
        let mut pairs: Vec<_> =
            best_pairing(&turned).into_iter().map(|(column, row)| (row, column)).collect();
        pairs.sort_unstable();
        return pairs;
    }
    // Row and column 0 stand for "none yet"; the real ones start at 1.
    let (mut of_row, mut of_column) = (vec![0.0; rows + 1], vec![0.0; columns + 1]);
    let mut row_of = vec![0; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut came_from = vec![0; columns + 1];
        let mut visited = vec![false; columns + 1];
        let mut column = 0;
        while row_of[column] != 0 {
            visited[column] = true;
            let here = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for other in 1..=columns {
                if visited[other] {
                    continue;
                }
                let cost = -worth[here - 1][other - 1] - of_row[here] - of_column[other];
                if cost < least[other] {
                    (least[other], came_from[other]) = (cost, column);
                }
                if least[other] < step {
                    (step, next) = (least[other], other);
                }
            }
            for other in 0..=columns {
                if visited[other] {
                    of_row[row_of[other]] += step;
                    of_column[other] -= step;
                } else {
                    least[other] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[came_from[column]];
            column = came_from[column];
        }
    }
    let paired = (1..=columns).filter(|column| row_of[*column] != 0);
    let mut pairs: Vec<_> = paired.map(|column| (row_of[column] - 1, column - 1)).collect();
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::best_pairing;

    fn sum(worth: &[Vec<f64>]) -> f64 {
        best_pairing(worth).iter().map(|(row, column)| worth[*row][*column]).sum()
    }

    /// The best sum, by trying everything.
    fn by_trying(worth: &[Vec<f64>], used: &mut Vec<usize>) -> f64 {
        let columns = worth.first().map_or(0, Vec::len);
        let Some((row, rest)) = worth.split_first() else { return 0.0 };
        let mut best = f64::NEG_INFINITY;
        // Where there are more rows than columns, a row may stay without a pair.
        if worth.len() > columns - used.len() {
            best = by_trying(rest, used);
        }
        for (column, here) in row.iter().enumerate() {
            if !used.contains(&column) {
                used.push(column);
                best = best.max(here + by_trying(rest, used));
                used.pop();
            }
        }
        best
    }

    #[test]
    fn the_sum_is_the_largest_that_there_is() {
        // The greedy choice would take 0.9 and be left with 0.
        let pairs = best_pairing(&[vec![0.9, 0.8], vec![0.7, 0.0]]);
        assert_eq!(pairs, [(0, 1), (1, 0)]);
        let mut state: u32 = 7;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 24) / 256.0
        };
        for (rows, columns) in [(1, 1), (1, 4), (4, 1), (3, 3), (4, 6), (6, 4), (6, 6)] {
            for _ in 0..20 {
                let worth: Vec<Vec<f64>> =
                    (0..rows).map(|_| (0..columns).map(|_| random()).collect()).collect();
                let best = by_trying(&worth, &mut Vec::new());
                assert!((sum(&worth) - best).abs() < 1e-9, "{worth:?}");
                assert_eq!(best_pairing(&worth).len(), rows.min(columns));
            }
        }
    }

    #[test]
    fn nothing_is_paired_with_nothing() {
        assert!(best_pairing(&[]).is_empty());
        assert!(best_pairing(&[vec![], vec![]]).is_empty());
    }
}
