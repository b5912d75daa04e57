//! Draws a distribution in a few characters. `stats` counts it.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One bar for each bucket, the highest for the fullest; an empty bucket is a space, so that few differ from none.
pub(crate) fn sparkline(buckets: &[u64]) -> String {
    let most = buckets.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&bucket: &u64| match bucket {
        0 => ' ',
        // 1 to 8, rounded up.
        _ => BARS[usize::try_from((bucket * 8).div_ceil(most)).unwrap_or(8) - 1],
    };
    buckets.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_bucket_is_the_highest_bar_and_an_empty_one_is_blank() {
        assert_eq!(sparkline(&[8, 4, 1, 0]), "█▄▁ ");
        assert_eq!(sparkline(&[0, 0]), "  ");
        assert_eq!(sparkline(&[1, 1_000_000]), "▁█");
    }
}
