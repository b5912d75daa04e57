//! The pairing of two lists that is worth the most. It knows nothing of what a pair is worth.
//!
//! Kuhn's and Munkres' method with potentials and shortest augmenting paths (Jonker and Volgenant 1987):
//! work grows with the shorter list squared, times the longer one, at worst.

/// A column, with what is known of it while a row looks for its partner. Together, because most of the
/// work is to walk along the columns.
#[derive(Clone, Copy, Default)]
struct Column {
    potential: f64,
    /// The row that it is paired with, from 1; 0 if there is none.
    row: usize,
    /// The cost of the cheapest way here, as far as it is known.
    least: f64,
    /// The column before it on that way.
    came_from: usize,
    visited: bool,
}

/// Pairs (row, column), each row and each column once at most, with the largest sum of `worth`; as many
/// pairs as there are rows, in their order. All rows have the same length, and there are at most as many rows
/// than columns. Each look at a column is taken off `steps`; `None` if they do not suffice.
pub(crate) fn best_pairing(worth: &[Vec<f64>], steps: &mut usize) -> Option<Vec<(usize, usize)>> {
    let (rows, width) = (worth.len(), worth.first().map_or(0, Vec::len));
    // Row and column 0 stand for "none yet"; the real ones start at 1.
    let mut of_row = vec![0.0; rows + 1];
    let mut columns = vec![Column::default(); width + 1];
    for row in 1..=rows {
        for column in &mut columns {
            (column.least, column.visited) = (f64::INFINITY, false);
        }
        columns[0].row = row;
        let mut current = 0;
        while columns[current].row != 0 {
            *steps = steps.checked_sub(width)?;
            columns[current].visited = true;
            let here = columns[current].row;
            let (step, next) = look(&mut columns[1..], &worth[here - 1], of_row[here], current);
            // A step of nothing changes nothing.
            if step != 0.0 {
                advance(&mut columns, &mut of_row, step);
            }
            current = next;
        }
        while current != 0 {
            let before = columns[current].came_from;
            columns[current].row = columns[before].row;
            current = before;
        }
    }
    let paired = columns.iter().enumerate().skip(1).filter(|(_, column)| column.row != 0);
    let mut pairs: Vec<_> = paired.map(|(index, column)| (column.row - 1, index - 1)).collect();
    pairs.sort_unstable();
    Some(pairs)
}

/// Looks from a row at all columns that were not visited; gives the cost of the cheapest way to one of
/// them, and that column.
fn look(columns: &mut [Column], worth: &[f64], potential: f64, from: usize) -> (f64, usize) {
    let (mut step, mut next) = (f64::INFINITY, 0);
    for (index, (column, worth)) in columns.iter_mut().zip(worth).enumerate() {
        if column.visited {
            continue;
        }
        let cost = -worth - potential - column.potential;
        if cost < column.least {
            (column.least, column.came_from) = (cost, from);
        }
        if column.least < step {
            (step, next) = (column.least, index + 1);
        }
    }
    (step, next)
}

/// Goes that far: what was visited costs so much more, and the ways to the others so much less.
fn advance(columns: &mut [Column], of_row: &mut [f64], step: f64) {
    for column in columns {
        if column.visited {
            of_row[column.row] += step;
            column.potential -= step;
        } else {
            column.least -= step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::best_pairing;

    /// The pairs of lists of any length, found from the shorter one.
    fn pairs(worth: &[Vec<f64>]) -> Vec<(usize, usize)> {
        let columns = worth.first().map_or(0, Vec::len);
        if worth.len() <= columns {
            return best_pairing(worth, &mut { usize::MAX }).unwrap();
        }
        let turned = |column: usize| worth.iter().map(|row| row[column]).collect();
        let turned: Vec<Vec<f64>> = (0..columns).map(turned).collect();
        let pairs = best_pairing(&turned, &mut { usize::MAX }).unwrap();
        pairs.into_iter().map(|(column, row)| (row, column)).collect()
    }

    fn sum(worth: &[Vec<f64>]) -> f64 {
        pairs(worth).iter().map(|(row, column)| worth[*row][*column]).sum()
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
        let found = pairs(&[vec![0.9, 0.8], vec![0.7, 0.0]]);
        assert_eq!(found, [(0, 1), (1, 0)]);
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
                assert_eq!(pairs(&worth).len(), rows.min(columns));
            }
        }
    }

    #[test]
    fn nothing_is_paired_with_nothing() {
        assert!(pairs(&[]).is_empty());
        assert!(pairs(&[vec![], vec![]]).is_empty());
    }

    #[test]
    fn a_pairing_that_takes_too_long_is_given_up() {
        // Where all are worth the same, row r looks r times at each column.
        let same = vec![vec![0.5; 10]; 10];
        let mut steps = 551;
        assert_eq!(best_pairing(&same, &mut steps).map(|pairs| pairs.len()), Some(10));
        assert_eq!(steps, 1);
        assert_eq!(best_pairing(&same, &mut 549), None);
    }
}
