//! Draws plots as SVG from a few rectangles and lines. Every plot describes in words what it shows, and takes its
//! colours from the style sheet. Computes no statistics.

use maud::{Markup, PreEscaped, html};
use scorebox::stats::Rate;

use crate::figure;

/// How many scores fall into each of the equal parts of a range.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bars<'a> {
    pub(crate) counts: &'a [u64],
    /// The upper end of the range, which begins at 0.
    pub(crate) high: f64,
    /// How many of these scores do not hold, in each part.
    pub(crate) wrong: &'a [u64],
    /// The worst score that passes.
    pub(crate) threshold: Option<f64>,
}

impl Bars<'_> {
    /// The bars, upwards from `base`, each tall enough to be visible: scores that do not hold are at the bottom, the
    /// others above them.
    fn drawn(&self, [left, step, gap]: [f64; 3], base: f64, height: f64) -> Markup {
        const LEAST: f64 = 1.5;
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let tall = |count: u64| match count {
            0 => 0.0,
            count => (count as f64 / most * height).max(LEAST),
        };
        html! {
            @for (part, count) in self.counts.iter().enumerate() {
                @let wrong = self.wrong.get(part).copied().unwrap_or(0).min(*count);
                @let [below, above] = [wrong, count - wrong].map(tall);
                @for (class, tall, bottom) in [("wrong", below, base), ("bar", above, base - below)] {
                    @if tall > 0.0 {
                        rect class=(class) x=(length(left + part as f64 * step + gap / 2.0)) width=(length(step - gap))
                            y=(length(bottom - tall)) height=(length(tall)) {}
                    }
                }
            }
        }
    }

    fn said(&self) -> String {
        let parts = self.counts.len().max(1) as f64;
        let most = self.counts.iter().copied().max().unwrap_or(0);
        let all: u64 = self.counts.iter().sum();
        let index = self.counts.iter().position(|count| *count == most).unwrap_or(0);
        let [low, high] =
            [index, index + 1].map(|edge| figure::tick(edge as f64 / parts * self.high));
        let threshold = self.threshold.map_or_else(String::new, |threshold| {
            format!("; the threshold is {}", figure::exact(threshold))
        });
        format!(
            "Distribution of {}: most, {}, are from {low} to {high}{threshold}",
            figure::counted(all, "score", "scores"),
            figure::count(most)
        )
    }
}

/// A length in a drawing, with no more digits than are visible.
fn length(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A distribution with its axis.
pub(crate) fn distribution(bars: &Bars<'_>) -> Markup {
    const WIDTH: f64 = 300.0;
    const HEIGHT: f64 = 92.0;
    const TOP: f64 = 14.0;
    let most = bars.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let step = WIDTH / bars.counts.len().max(1) as f64;
    let marked = bars.threshold.filter(|it| bars.high > 0.0 && (0.0..=bars.high).contains(it));
    html! {
        svg viewBox="0 0 300 124" role="img" aria-label=(bars.said()) {
            line.grid x1="0" x2="300" y1=(length(TOP)) y2=(length(TOP)) {}
            text x="300" y="10" text-anchor="end" { (figure::count(most as u64)) }
            (bars.drawn([0.0, step, 1.5], TOP + HEIGHT, HEIGHT))
            line.axis x1="0" x2="300" y1="106.5" y2="106.5" {}
            text x="0" y="120" { "0" }
            text x="300" y="120" text-anchor="end" { (figure::tick(bars.high)) }
            @if let Some(threshold) = marked {
                @let x = threshold / bars.high * WIDTH;
                line.mark x1=(length(x)) x2=(length(x)) y1=(length(TOP)) y2="110" {}
                @if (30.0..=270.0).contains(&x) {
                    text x=(length(x)) y="120" text-anchor="middle" { (figure::tick(threshold)) }
                }
            }
        }
    }
}

/// A distribution the size of a word.
pub(crate) fn spark(bars: &Bars<'_>) -> Markup {
    let step = 136.0 / bars.counts.len().max(1) as f64;
    html! {
        svg.spark viewBox="0 0 136 28" role="img" aria-label=(bars.said()) {
            (bars.drawn([0.0, step, 1.0], 27.0, 26.0))
            line.axis x1="0" x2="136" y1="27.5" y2="27.5" {}
        }
    }
}

/// Shares of a whole, each with the class that has its colour.
pub(crate) fn shares(parts: &[(&str, u64)], said: &str) -> Markup {
    const WIDTH: f64 = 1000.0;
    let all = parts.iter().map(|(_, count)| count).sum::<u64>().max(1) as f64;
    let mut x = 0.0;
    let mut drawn = String::new();
    for (class, count) in parts.iter().filter(|(_, count)| *count > 0) {
        let wide = *count as f64 / all * WIDTH;
        // A share that is not zero must be visible.
        let shown = (wide - 2.0).max(1.5);
        drawn.push_str(
            &html! { rect class={ "is-" (class) } x=(length(x)) y="0" width=(length(shown)) height="20" {} }
                .into_string(),
        );
        x += wide;
    }
    html! {
        svg viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label=(said) {
            (PreEscaped(drawn))
        }
    }
}

/// A value at one position of a trend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    /// The run.
    pub(crate) name: String,
    pub(crate) value: f64,
    /// The interval that contains the value.
    pub(crate) interval: Option<(f64, f64)>,
}

/// Values in chronological order, with the threshold.
pub(crate) fn trend(points: &[Point], threshold: Option<f64>) -> Markup {
    const WIDTH: f64 = 700.0;
    const HEIGHT: f64 = 160.0;
    const LEFT: f64 = 36.0;
    const TOP: f64 = 10.0;
    let ends = points.iter().map(|point| point.interval.map_or(point.value, |(_, high)| high));
    let values = ends.chain(threshold);
    let high = values.fold(1.0, f64::max);
    let x = |index: usize| match points.len() {
        0 | 1 => LEFT + (WIDTH - LEFT) / 2.0,
        all => LEFT + 6.0 + index as f64 / (all - 1) as f64 * (WIDTH - LEFT - 12.0),
    };
    let y = |value: f64| TOP + HEIGHT - value / high * HEIGHT;
    let path: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(index, point)| format!("{},{}", length(x(index)), length(y(point.value))))
        .collect();
    let said = match points {
        [] => String::new(),
        [only] => format!("{} in {}", figure::score(only.value), only.name),
        [first, .., last] => format!(
            "Means of {} runs, from {} in {} to {} in {}",
            points.len(),
            figure::score(first.value),
            first.name,
            figure::score(last.value),
            last.name
        ),
    };
    html! {
        svg viewBox="0 0 700 194" role="img" aria-label=(said) {
            @for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
                @let height = y(part * high);
                line class=(if part == 0.0 { "axis" } else { "grid" }) x1=(length(LEFT)) x2="700" y1=(length(height)) y2=(length(height)) {}
                text x="30" y=(length(height + 4.0)) text-anchor="end" { (figure::tick(part * high)) }
            }
            @if let Some(threshold) = threshold {
                @let height = y(threshold);
                line.mark x1=(length(LEFT)) x2="700" y1=(length(height)) y2=(length(height)) {}
            }
            polyline.trend points=(path.join(" ")) {}
            @for (index, point) in points.iter().enumerate() {
                @if let Some((low, high)) = point.interval {
                    line.whisker x1=(length(x(index))) x2=(length(x(index))) y1=(length(y(low))) y2=(length(y(high))) {}
                }
                circle.dot cx=(length(x(index))) cy=(length(y(point.value))) r="4.5" {
                    title {
                        (point.name) ": " (figure::score(point.value))
                        @if let Some((low, high)) = point.interval { ", 95 % interval " (figure::range(low, high)) }
                    }
                }
            }
            @if let [first, .., last] = points {
                text x=(length(LEFT)) y="188" { (first.name) }
                text x="700" y="188" text-anchor="end" { (last.name) }
            }
        }
    }
}

/// A mean difference between two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
    /// The difference at the ends of the drawing; greater than 0 unless all differences are 0.
    pub(crate) end: f64,
    pub(crate) lower_is_better: bool,
}

/// A difference next to the zero line, the size of a word. Better values are to the right.
pub(crate) fn difference(of: &Difference) -> Markup {
    const MIDDLE: f64 = 68.0;
    const HALF: f64 = 62.0;
    let sign = if of.lower_is_better { -1.0 } else { 1.0 };
    let x = |value: f64| match of.end > 0.0 {
        true => MIDDLE + (sign * value / of.end).clamp(-1.0, 1.0) * HALF,
        false => MIDDLE,
    };
    let said = match of.interval {
        Some((low, high)) => format!(
            "Difference {}, 95 % interval {} to {}",
            figure::difference(of.value),
            figure::difference(low),
            figure::difference(high)
        ),
        None => format!("Difference {}", figure::difference(of.value)),
    };
    html! {
        svg.spark viewBox="0 0 136 28" role="img" aria-label=(said) {
            line.grid x1="6" x2="130" y1="14" y2="14" {}
            line.axis x1=(length(MIDDLE)) x2=(length(MIDDLE)) y1="2" y2="26" {}
            @if let Some((low, high)) = of.interval {
                line.whisker x1=(length(x(low))) x2=(length(x(high))) y1="14" y2="14" {}
                @for end in [low, high] { line.whisker x1=(length(x(end))) x2=(length(x(end))) y1="10" y2="18" {} }
            }
            circle.dot cx=(length(x(of.value))) cy="14" r="4" {}
        }
    }
}

/// The cases whose scores are within a part of the range from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bin {
    pub(crate) cases: u64,
    /// Their mean score.
    pub(crate) score: f64,
    /// How many of them are positive.
    pub(crate) positives: Rate,
}

/// The rate of positive cases by score, with intervals, and the diagonal on which scores are probabilities: of a
/// positive case, or of a negative one if lower scores are better.
pub(crate) fn calibration(bins: &[Bin], lower_is_better: bool) -> Markup {
    const SIDE: f64 = 240.0;
    const LEFT: f64 = 36.0;
    const TOP: f64 = 10.0;
    let x = |score: f64| LEFT + score * SIDE;
    let y = |rate: f64| TOP + SIDE - rate * SIDE;
    let [first, last] = if lower_is_better { [1.0, 0.0] } else { [0.0, 1.0] };
    let most = bins.iter().map(|bin| bin.cases).max().unwrap_or(1).max(1) as f64;
    // The area of a point is proportional to the number of its cases, but large enough to be visible.
    let radius = |bin: &Bin| (8.0 * (bin.cases as f64 / most).sqrt()).max(2.5);
    let points: Vec<String> = bins
        .iter()
        .map(|bin| {
            let score = figure::tick(bin.score);
            format!(
                "{} of {score}: {}",
                figure::count(bin.cases),
                figure::percent(bin.positives.rate)
            )
        })
        .collect();
    let said = format!("Positive cases by mean score, cases of score: {}", points.join("; "));
    let path: Vec<String> = bins
        .iter()
        .map(|bin| format!("{},{}", length(x(bin.score)), length(y(bin.positives.rate))))
        .collect();
    html! {
        svg viewBox="0 0 290 286" role="img" aria-label=(said) {
            @for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
                @let (across, up) = (x(part), y(part));
                line class=(if part == 0.0 { "axis" } else { "grid" }) x1=(length(LEFT)) x2=(length(LEFT + SIDE)) y1=(length(up)) y2=(length(up)) {}
                text x="30" y=(length(up + 4.0)) text-anchor="end" { (figure::tick(part)) }
                text x=(length(across)) y=(length(TOP + SIDE + 16.0)) text-anchor="middle" { (figure::tick(part)) }
            }
            line.mark x1=(length(x(0.0))) y1=(length(y(first))) x2=(length(x(1.0))) y2=(length(y(last))) {}
            polyline.trend points=(path.join(" ")) {}
            @for bin in bins {
                line.whisker x1=(length(x(bin.score))) x2=(length(x(bin.score))) y1=(length(y(bin.positives.low))) y2=(length(y(bin.positives.high))) {}
                circle.dot cx=(length(x(bin.score))) cy=(length(y(bin.positives.rate))) r=(length(radius(bin))) {
                    title {
                        (figure::counted(bin.cases, "case", "cases")) ", mean score " (figure::score(bin.score)) ": "
                        (figure::percent(bin.positives.rate)) " positive, 95 % interval " (figure::range(bin.positives.low, bin.positives.high))
                    }
                }
            }
            text x=(length(LEFT + SIDE / 2.0)) y="282" text-anchor="middle" { "score" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars<'a>(counts: &'a [u64], wrong: &'a [u64], threshold: Option<f64>) -> Bars<'a> {
        Bars { counts, wrong, high: 1.0, threshold }
    }

    /// The colours of the drawn parts, and the height of each.
    fn drawn(svg: &str) -> Vec<String> {
        let value = |rect: &str, name: &str| {
            let (_, rest) = rect.split_once(&format!("{name}=\"")).unwrap();
            rest.split('"').next().unwrap().to_owned()
        };
        let rects = svg.split("<rect ").skip(1);
        rects.map(|it| format!("{} {}", value(it, "class"), value(it, " height"))).collect()
    }

    #[test]
    fn what_does_not_hold_has_another_colour_within_a_bar_too() {
        let mixed = bars(&[4, 0, 2, 4], &[4, 0, 0, 1], Some(1.0));
        let svg = distribution(&mixed).into_string();
        assert_eq!(drawn(&svg), ["wrong 92", "bar 46", "wrong 23", "bar 69"]);
        let svg = spark(&mixed).into_string();
        assert_eq!(drawn(&svg), ["wrong 26", "bar 13", "wrong 6.5", "bar 19.5"]);
        // However small its share is, it must be visible.
        let few = bars(&[10_000], &[1], Some(1.0));
        assert!(distribution(&few).into_string().contains("class=\"wrong\""));
    }

    #[test]
    fn a_plot_says_in_words_what_it_shows() {
        let said = bars(&[0, 3, 1, 0], &[], Some(0.25)).said();
        assert_eq!(
            said,
            "Distribution of 4 scores: most, 3, are from 0.25 to 0.5; the threshold is 0.25"
        );
    }

    #[test]
    fn what_is_better_is_to_the_right_whichever_end_of_the_scale_is_good() {
        let of = Difference { value: 0.5, interval: None, end: 1.0, lower_is_better: false };
        assert!(difference(&of).into_string().contains("cx=\"99\""));
        let lower = Difference { lower_is_better: true, ..of };
        assert!(difference(&lower).into_string().contains("cx=\"37\""));
        let none = Difference { value: 0.0, end: 0.0, ..of };
        let none = difference(&none).into_string();
        assert!(none.contains("cx=\"68\"") && none.contains("aria-label=\"Difference 0.0000\""));
    }

    #[test]
    fn a_calibration_has_a_point_for_each_part_and_says_it_in_words() {
        let bin = |cases, score, positives| Bin {
            cases,
            score,
            positives: Rate::of(positives, cases).unwrap(),
        };
        let svg = calibration(&[bin(10, 0.25, 5), bin(40, 0.75, 40)], false).into_string();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("10 of 0.25: 50.0 %; 40 of 0.75: 100.0 %"), "{svg}");
        assert!(!calibration(&[], false).into_string().contains("NaN"));
    }

    #[test]
    fn the_diagonal_of_a_calibration_falls_if_lower_scores_are_better() {
        let rising = calibration(&[], false).into_string();
        assert!(rising.contains(r#"class="mark" x1="36" y1="250" x2="276" y2="10""#), "{rising}");
        let falling = calibration(&[], true).into_string();
        assert!(falling.contains(r#"class="mark" x1="36" y1="10" x2="276" y2="250""#), "{falling}");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        for counts in [&[][..], &[0, 0]] {
            let none = bars(counts, &[], None);
            assert!(!distribution(&none).into_string().contains("<rect"));
            assert!(!spark(&none).into_string().contains("NaN"));
        }
        assert!(!shares(&[("passed", 0)], "none").into_string().contains("<rect"));
    }
}
