//! Shows how well the scorers of a run agree with labels: a calibration plot with figures next to it. Reads no label,
//! and computes no statistics.

use maud::{Markup, html};
use scorebox::{
    aggregate::{Agreement, BinaryAgreement, Figure, PositiveRule},
    stats::Rate,
};

use crate::{
    figure,
    plot::{self, Bin},
    said::{Said, plain},
};

/// A scorer with its agreement, or why that is unknown.
pub(crate) type Agreed = (String, Result<Agreement, String>);

/// The agreement of each scorer with the labels at `with`.
pub(crate) fn agreements(with: &str, agreed: &[Agreed]) -> Markup {
    html! {
        section {
            h2 { "Agreement with " code { (Said::line(with, 200)) } }
            p.aside {
                "Scores against the labels of the cases. In the plots, a point is a tenth of the range of scores: as probabilities they are right where it is \
                 on the diagonal, which falls if lower scores are better."
            }
            div.agreements {
                @for (scorer, agreement) in agreed {
                    section.agreement {
                        h3 { (Said::line(scorer, 200)) }
                        @match agreement {
                            Ok(agreement) => (of_scorer(scorer, agreement)),
                            Err(why) => p.note { "Not compared: " (Said::line(why, 600)) "." },
                        }
                    }
                }
            }
        }
    }
}

fn of_scorer(scorer: &str, agreement: &Agreement) -> Markup {
    let calibration = agreement.binary.as_ref().and_then(|it| it.calibration.as_ref());
    let bins: Vec<Bin> = calibration.map_or_else(Vec::new, |calibration| {
        let bin = |bin: &scorebox::stats::agreement::Bin| {
            Some(Bin { cases: bin.cases, score: bin.mean_score?, positives: bin.positives? })
        };
        calibration.bins.iter().filter_map(bin).collect()
    });
    html! {
        p.small.aside { (about(agreement)) }
        @for doubt in doubts(agreement) { p.note.strong { (doubt) } }
        div.beside {
            @if !bins.is_empty() {
                figure.plot {
                    figcaption { b { "Calibration" } span.small.aside { "positive cases, by score" } }
                    (plot::calibration(&bins, agreement.lower_is_better))
                }
            }
            (figures(scorer, agreement))
            @if let Some(binary) = &agreement.binary { (confusion(scorer, binary)) }
        }
    }
}

/// What the figures describe.
fn about(agreement: &Agreement) -> Markup {
    let left_out = [
        (agreement.without_score, "without a score"),
        (agreement.without_label, "without a label"),
        (agreement.unreadable_labels, "with a label that cannot be read"),
    ];
    html! {
        (figure::count(agreement.pairs)) " of " (figure::counted(agreement.cases, "case has", "cases have")) " a score and a label"
        @for (count, what) in left_out { @if count > 0 { ", " (figure::count(count)) " " (what) } }
        "."
        @if let (Some(score), Some(label)) = (agreement.mean_score, agreement.mean_label) {
            " Mean score " (figure::score(score)) ", mean label " (figure::score(label)) "."
        }
        @if agreement.correlations.is_some() && !agreement.same_scale { " Labels are on another scale: mean errors are left out." }
        @if let Some(binary) = &agreement.binary {
            " " (figure::counted(binary.positives, "label is", "labels are")) " positive (" (why_positive(&binary.positive)) ")"
            @if let Some(threshold) = binary.threshold {
                "; a score passes if it is " @if agreement.lower_is_better { "at most " } @else { "at least " } (figure::exact(threshold))
            }
            "."
            @if let Some(best) = &binary.best_threshold {
                " Best threshold: " (figure::exact(best.threshold))
                @if let Some(held_out) = best.held_out.balanced_accuracy() {
                    ", with a balanced accuracy of " (figure::score(held_out)) " on cases that it was not chosen by"
                }
                "."
            }
        }
        @if agreement.has_attempts { " Attempts count each; intervals are of cases." }
    }
}

/// Which labels are positive, and why.
fn why_positive(rule: &PositiveRule) -> Markup {
    html! {
        @match rule {
            PositiveRule::BetterOfTwo { number, lower_is_better } => {
                (figure::exact(*number)) ", because " @if *lower_is_better { "lower" } @else { "higher" } " is better"
            }
            PositiveRule::True => "those that are true",
            PositiveRule::Passing => "those that pass",
            PositiveRule::AtLeast { number } => { "at least " (figure::exact(*number)) }
            PositiveRule::AtMost { number } => { "at most " (figure::exact(*number)) }
            PositiveRule::Named { labels } => (Said::line(&labels.join(", "), 200)),
            _ => "as was asked for",
        }
    }
}

fn doubts(agreement: &Agreement) -> Vec<&'static str> {
    let mut doubts = Vec::new();
    if agreement.constant_scores {
        doubts.push("All scores are the same: figures that need them to vary are undefined.");
    }
    if agreement.constant_labels {
        doubts.push("All labels are the same: figures that need them to vary are undefined.");
    }
    if agreement.binary.is_none() && agreement.correlations.is_some() {
        doubts.push(match agreement.constant_labels {
            true => "One label does not say which labels are positive: there is no accuracy and no calibration.",
            false => "Labels are more than two numbers, and nothing says which are positive: there is no accuracy and no calibration.",
        });
    }
    if agreement.binary.as_ref().is_some_and(|binary| binary.reversed) {
        doubts.push("Cases with a positive label have worse scores than others: it may be the other labels that should pass.");
    }
    if agreement.labels_elsewhere > 0 {
        doubts.push("Some cases without a label have one in another part of the case, which does not count.");
    }
    doubts
}

fn figures(scorer: &str, agreement: &Agreement) -> Markup {
    let rate = |rate: Option<Rate>| rate.map(|it| it.rate);
    let mut rows: Vec<(&str, Option<f64>, Option<Figure>)> = Vec::new();
    if let Some(binary) = &agreement.binary {
        if binary.threshold.is_some() {
            rows.extend([
                ("accuracy", rate(binary.accuracy), Some(Figure::Accuracy)),
                ("precision", rate(binary.precision), Some(Figure::Precision)),
                ("recall", rate(binary.recall), Some(Figure::Recall)),
                ("specificity", rate(binary.specificity), Some(Figure::Specificity)),
                ("F1", binary.f1, Some(Figure::F1)),
                ("balanced accuracy", binary.balanced_accuracy, Some(Figure::BalancedAccuracy)),
                ("Cohen's kappa", binary.kappa, Some(Figure::Kappa)),
            ]);
        }
        rows.push(("ROC AUC", binary.roc_auc, Some(Figure::RocAuc)));
        if let Some(calibration) = &binary.calibration {
            rows.push(("Brier", Some(calibration.brier), Some(Figure::Brier)));
            rows.push(("calibration error", Some(calibration.expected_error), None));
        }
    }
    if let Some(categories) = &agreement.categories {
        rows.push(("same category", rate(categories.accuracy), Some(Figure::SameCategory)));
        rows.push(("kappa of categories", categories.kappa, Some(Figure::CategoryKappa)));
        if categories.has_order {
            let quadratic = Some(Figure::CategoryKappaQuadratic);
            rows.push(("kappa, quadratic weights", categories.kappa_quadratic, quadratic));
        }
    }
    if let Some(correlations) = &agreement.correlations {
        rows.extend([
            ("Pearson", correlations.pearson, Some(Figure::Pearson)),
            ("Spearman", correlations.spearman, Some(Figure::Spearman)),
            ("Kendall tau-b", correlations.kendall, Some(Figure::Kendall)),
        ]);
    }
    if let Some(errors) = &agreement.errors {
        let (mean, absolute, root) = (errors.mean, errors.mean_absolute, errors.root_mean_square);
        rows.extend([
            ("mean error", Some(mean), Some(Figure::MeanError)),
            ("mean absolute error", Some(absolute), Some(Figure::MeanAbsoluteError)),
            ("RMSE", Some(root), Some(Figure::RootMeanSquareError)),
        ]);
    }
    html! {
        div.scrolls tabindex="0" role="group" aria-label={ "Figures of " (plain(scorer, 80)) } {
            table {
                thead { tr { th scope="col" { "figure" } th.number scope="col" { "value" } th.number scope="col" { "95 % interval" } } }
                tbody {
                    @for (name, value, interval) in rows {
                        tr {
                            th.name scope="row" { (name) }
                            td.number { @match value { Some(value) => (figure::score(value)), None => span.none { "undefined" } } }
                            td.number { @if let Some((low, high)) = interval.and_then(|it| agreement.interval(it)) { (figure::range(low, high)) } }
                        }
                    }
                }
            }
        }
    }
}

fn confusion(scorer: &str, binary: &BinaryAgreement) -> Markup {
    html! {
        @if let Some(confusion) = binary.confusion {
            div.scrolls tabindex="0" role="group" aria-label={ "What passes by " (plain(scorer, 80)) } {
                table {
                    thead { tr { th scope="col" { "score" } th.number scope="col" { "positive" } th.number scope="col" { "negative" } } }
                    tbody {
                        tr { th scope="row" { "passes" } td.number { (figure::count(confusion.true_positives)) } td.number { (figure::count(confusion.false_positives)) } }
                        tr { th scope="row" { "fails" } td.number { (figure::count(confusion.false_negatives)) } td.number { (figure::count(confusion.true_negatives)) } }
                    }
                }
            }
        }
    }
}
