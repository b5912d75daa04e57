//! Finds the pairing of two lists with the largest sum of worth. What a pair is worth is up to the caller.
//!
//! Kuhn's and Munkres' method with potentials and shortest augmenting paths (Jonker and Volgenant 1987): the work grows
//! at most with the square of the shorter list, times the longer one.

/// A column, with what is known about it while a row looks for its partner. Kept together, because most of the work is
/// walking along the columns.
#[derive(Clone, Copy, Default)]
struct Column {
    potential: f64,
    /// The row that it is paired with, from 1; 0 if there is none.
    row: usize,
    /// The cost of the cheapest path to here, as far as it is known.
    least: f64,
    /// The previous column on that path.
    came_from: usize,
    visited: bool,
}

/// Pairs (row, column) with the largest sum of `worth`, with each row and each column used at most once; there are as
/// many pairs as rows, in their order. All rows have the same length, and there are at most as many rows as columns.
/// Each visit of a column uses one of `steps`; `None` if they do not suffice.
pub(crate) fn best_pairing(worth: &[Vec<f64>], steps: &mut usize) -> Option<Vec<(usize, usize)>> {
    let (rows, width) = (worth.len(), worth.first().map_or(0, Vec::len));
    // Row and column 0 mean "none yet"; the real ones start at 1.
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
            // A step of 0 changes nothing.
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

/// Updates all columns that were not visited from a row; returns the cost of the cheapest path to one of them, and that
/// column.
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

/// Advances by this much: visited columns become more expensive, and the paths to the others cheaper.
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

    /// The pairs of lists of any length; the search starts from the shorter one.
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
        // If there are more rows than columns, a row may stay without a partner.
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
        // If all pairs have the same worth, row r visits each column r times.
        let same = vec![vec![0.5; 10]; 10];
        let mut steps = 551;
        assert_eq!(best_pairing(&same, &mut steps).map(|pairs| pairs.len()), Some(10));
        assert_eq!(steps, 1);
        assert_eq!(best_pairing(&same, &mut 549), None);
    }
}
