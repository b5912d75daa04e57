//! Formats how well scores agree with labels, as tables and text. It computes nothing.

use scorebox::{
    aggregate::{
        Agreement, Bias, BiasUnit, BinaryAgreement, CategoryAgreement, Figure, LabelPlace,
        PositiveRule, RaterAgreement,
    },
    stats::{Rate, agreement::Confusion},
    store::RunState,
    verdict::exact,
};

use crate::{
    output::cell,
    report::{
        Align, Table, count, counted,
        interval::{between, chance, difference, of_rate},
        one_line, score, shell_word,
    },
};

/// A figure that may be undefined.
fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "undefined".to_owned(), score)
}

/// A table with a row for each figure.
pub(crate) fn figures(agreement: &Agreement) -> Table {
    let mut table = Table::new(&[
        ("figure", Align::Left),
        ("value", Align::Right),
        ("95 % interval", Align::Right),
    ]);
    let mut row = |name: &str, value: Option<f64>, interval: Option<Figure>| {
        let interval = interval.and_then(|it| agreement.interval(it));
        let interval = interval.map_or_else(String::new, |(low, high)| between(low, high));
        table.row([name.to_owned(), figure(value), interval]);
    };
    let of_rate = |rate: Option<Rate>| rate.map(|it| it.rate);
    if let Some(binary) = &agreement.binary {
        if binary.threshold.is_some() {
            row("accuracy", of_rate(binary.accuracy), Some(Figure::Accuracy));
            row("precision", of_rate(binary.precision), Some(Figure::Precision));
            row("recall", of_rate(binary.recall), Some(Figure::Recall));
            row("specificity", of_rate(binary.specificity), Some(Figure::Specificity));
            row("F1", binary.f1, Some(Figure::F1));
            row("balanced accuracy", binary.balanced_accuracy, Some(Figure::BalancedAccuracy));
            row("Cohen's kappa", binary.kappa, Some(Figure::Kappa));
            row("Krippendorff's alpha", binary.alpha, Some(Figure::Alpha));
        }
        row("ROC AUC", binary.roc_auc, Some(Figure::RocAuc));
        if let Some(calibration) = &binary.calibration {
            row("Brier", Some(calibration.brier), Some(Figure::Brier));
            row("calibration error", Some(calibration.expected_error), None);
        }
    }
    if let Some(categories) = &agreement.categories {
        let CategoryAgreement { accuracy, kappa, kappa_linear, kappa_quadratic, .. } = categories;
        row("same category", of_rate(*accuracy), Some(Figure::SameCategory));
        row("kappa of categories", *kappa, Some(Figure::CategoryKappa));
        // Words have no order.
        if categories.has_order {
            row("kappa, linear weights", *kappa_linear, Some(Figure::CategoryKappaLinear));
            row("kappa, quadratic weights", *kappa_quadratic, Some(Figure::CategoryKappaQuadratic));
            row("alpha, ordinal", categories.alpha_ordinal, Some(Figure::CategoryAlphaOrdinal));
        }
        row("alpha, nominal", categories.alpha, Some(Figure::CategoryAlpha));
    }
    if let Some(correlations) = &agreement.correlations {
        row("Pearson", correlations.pearson, Some(Figure::Pearson));
        row("Spearman", correlations.spearman, Some(Figure::Spearman));
        row("Kendall tau-b", correlations.kendall, Some(Figure::Kendall));
        if agreement.same_scale {
            row("alpha, interval", correlations.alpha, Some(Figure::IntervalAlpha));
        }
    }
    if let Some(errors) = &agreement.errors {
        row("mean error", Some(errors.mean), Some(Figure::MeanError));
        row("mean absolute error", Some(errors.mean_absolute), Some(Figure::MeanAbsoluteError));
        row("RMSE", Some(errors.root_mean_square), Some(Figure::RootMeanSquareError));
    }
    table
}

/// The table of passing scores against positive labels.
pub(crate) fn confusion(binary: &BinaryAgreement) -> Option<Table> {
    let Confusion { true_positives, false_positives, false_negatives, true_negatives } =
        binary.confusion?;
    let mut table =
        Table::new(&[("", Align::Left), ("positive", Align::Right), ("negative", Align::Right)]);
    table.row(["passes".to_owned(), count(true_positives), count(false_positives)]);
    table.row(["fails".to_owned(), count(false_negatives), count(true_negatives)]);
    Some(table)
}

/// The table of labels against the scorer's categories.
pub(crate) fn categories(categories: &CategoryAgreement) -> Table {
    let names: Vec<String> = categories.names.iter().map(|name| cell(name, 24)).collect();
    let mut columns = vec![("label \\ scorer", Align::Left)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for (name, row) in names.iter().zip(&categories.table) {
        let counts = row.iter().map(|cases| count(*cases));
        table.row(std::iter::once(name.clone()).chain(counts));
    }
    table
}

/// The table of scores and the share of positive cases, with a row for each tenth that has cases.
pub(crate) fn calibration(binary: &BinaryAgreement) -> Option<Table> {
    let calibration = binary.calibration.as_ref()?;
    let mut table = Table::new(&[
        ("scores", Align::Left),
        ("cases", Align::Right),
        ("mean", Align::Right),
        ("positive", Align::Right),
        ("95 % interval", Align::Right),
    ]);
    for bin in &calibration.bins {
        let (Some(mean), Some(positives)) = (bin.mean_score, bin.positives) else { continue };
        table.row([
            format!("{:.1} to {:.1}", bin.low, bin.high),
            count(bin.cases),
            score(mean),
            score(positives.rate),
            of_rate(positives),
        ]);
    }
    Some(table)
}

/// The table of how well raters agree with each other.
pub(crate) fn raters(raters: &RaterAgreement) -> Table {
    let mut table = Table::new(&[("among raters", Align::Left), ("value", Align::Right)]);
    let figures = [
        ("pairs who agree, mean of cases", raters.same),
        ("Fleiss' kappa", raters.fleiss_kappa),
        ("Krippendorff's alpha", raters.alpha),
    ];
    for (name, value) in figures {
        table.row([name.to_owned(), figure(value)]);
    }
    table
}

/// Names the raters.
pub(crate) fn rater_words(raters: &RaterAgreement) -> String {
    let RaterAgreement { cases, without, raters, rated_by_all, .. } = raters;
    let all = counted(*rated_by_all, "case has", "cases have");
    let mut words = format!("among raters: {all} {raters} labels");
    if let others @ 1.. = cases - rated_by_all {
        let others = counted(others, "case has", "cases have");
        words.push_str(&format!(", and Fleiss' kappa is over these; {others} another number"));
    }
    if *without > 0 {
        let without = counted(*without, "case has", "cases have");
        words.push_str(&format!("; {without} fewer than two that can be read"));
    }
    words
}

/// The table of groups of cases, and how much the scorer favours each.
pub(crate) fn bias(bias: &Bias) -> Table {
    let (scores, labels) = match bias.unit {
        BiasUnit::Rate => ("passes", "positive"),
        _ => ("score", "label"),
    };
    let mut table = Table::new(&[
        ("group", Align::Left),
        ("cases", Align::Right),
        (scores, Align::Right),
        (labels, Align::Right),
        ("error", Align::Right),
        ("against others", Align::Right),
        ("95 % interval", Align::Right),
        ("p (Holm)", Align::Right),
    ]);
    for group in &bias.groups {
        let against = group.against_others;
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.row([
            cell(&group.name, 48),
            count(group.cases),
            score(group.mean_score),
            score(group.mean_label),
            difference(group.mean_error),
            or_none(against.map(|it| difference(it.difference))),
            or_none(against.and_then(|it| Some(between(it.low?, it.high?)))),
            or_none(group.p_corrected.map(chance)),
        ]);
    }
    table
}

/// What the groups show, in one or two sentences.
pub(crate) fn bias_words(bias: &Bias) -> Vec<String> {
    let by = one_line(&bias.by, 64);
    let mut lines = Vec::new();
    if let (Some(rho), Some(p)) = (bias.rho, bias.p) {
        lines.push(format!("errors and {by}: Spearman's rho {}, p {}", difference(rho), chance(p)));
    }
    let shown = bias.groups.iter().filter(|group| group.p_corrected.is_some_and(|p| p < 0.05));
    for group in shown {
        let Some(against) = group.against_others else { continue };
        let (does, is) = match against.difference > 0.0 {
            true => ("favours", "higher"),
            false => ("is harder on", "lower"),
        };
        lines.push(format!(
            "it {does} `{}`: errors are {} {is} than for others",
            one_line(&group.name, 48),
            score(against.difference.abs())
        ));
    }
    if lines.is_empty() || (lines.len() == 1 && bias.rho.is_some() && bias.p >= Some(0.05)) {
        lines.push(match bias.groups.as_slice() {
            [all] => format!(
                "all cases are of one group by {by}, `{}`: there is nothing to compare",
                one_line(&all.name, 48)
            ),
            groups if groups.iter().all(|group| group.against_others.is_none()) => {
                format!(
                    "no group by {by} can be compared: that takes two cases in it and two others"
                )
            }
            _ => format!("no difference by {by} that these cases can show"),
        });
    }
    if bias.without > 0 {
        lines.push(format!(
            "{} nothing readable at {by}",
            counted(bias.without, "case has", "cases have")
        ));
    }
    if bias.unit == BiasUnit::StandardDeviations {
        lines.push("labels are on another scale: errors are in standard deviations".to_owned());
    }
    lines
}

/// Describes the data behind the figures.
pub(crate) fn about(agreement: &Agreement) -> Vec<String> {
    let Agreement { run_id, cases, pairs, without_score, without_label, unreadable_labels, .. } =
        agreement;
    let mut first = format!(
        "run {run_id}: {} of {} a score and a label",
        count(*pairs),
        counted(*cases, "case has", "cases have")
    );
    let left_out = [
        (*without_score, "without a score"),
        (*without_label, "without a label"),
        (*unreadable_labels, "with a label that cannot be read"),
    ];
    for (number, what) in left_out {
        if number > 0 {
            first.push_str(&format!(", {} {what}", count(number)));
        }
    }
    let mut lines = vec![first];
    if agreement.opposite_directions {
        lines.push(
            "the two scorers have opposite directions: correlations and alpha compare the numbers as they are"
                .to_owned(),
        );
    }
    if agreement.has_attempts {
        lines.push("attempts count each; intervals are of cases".to_owned());
    }
    if let (Some(score_mean), Some(label_mean)) = (agreement.mean_score, agreement.mean_label) {
        lines.push(format!("mean score {}, mean label {}", score(score_mean), score(label_mean)));
    }
    if agreement.correlations.is_some() && !agreement.same_scale {
        lines.push("labels are on another scale: alpha and mean errors are left out".to_owned());
    }
    if let Some(binary) = &agreement.binary {
        let positives = counted(binary.positives, "label is", "labels are");
        let mut line = format!("{positives} positive ({})", why_positive(&binary.positive));
        if let Some(threshold) = binary.threshold {
            let side = if agreement.lower_is_better { "at most" } else { "at least" };
            line.push_str(&format!("; a score passes if it is {side} {}", exact(threshold)));
        }
        lines.push(line);
        if let Some(best) = &binary.best_threshold {
            let held_out = best.held_out.balanced_accuracy();
            lines.push(format!(
                "best threshold {}: balanced accuracy {} on cases that it was not chosen by (five parts)",
                exact(best.threshold),
                figure(held_out)
            ));
        }
    }
    lines
}

/// Which labels are positive, and why.
fn why_positive(rule: &PositiveRule) -> String {
    match rule {
        PositiveRule::BetterOfTwo { number, lower_is_better } => {
            let better = if *lower_is_better { "lower" } else { "higher" };
            format!("{}, because {better} is better", exact(*number))
        }
        PositiveRule::True => "those that are true".to_owned(),
        PositiveRule::Passing => "those that pass".to_owned(),
        PositiveRule::AtLeast { number } => format!("at least {}", exact(*number)),
        PositiveRule::AtMost { number } => format!("at most {}", exact(*number)),
        PositiveRule::Named { labels } => {
            const SHOWN: usize = 5;
            let mut named: Vec<String> = labels
                .iter()
                .take(SHOWN)
                .map(|label| format!("`{}`", one_line(label, 48)))
                .collect();
            if labels.len() > SHOWN {
                named.push(format!("{} more", labels.len() - SHOWN));
            }
            named.join(", ")
        }
        _ => "as was asked for".to_owned(),
    }
}

/// The note about labels that do not count because they are in another part of their case.
fn elsewhere(agreement: &Agreement) -> Option<String> {
    let place = match agreement.labels_from? {
        LabelPlace::Metadata => "the metadata",
        LabelPlace::GroundTruth => "the ground truth",
        _ => "keys that scorebox does not know",
    };
    let others = match agreement.labels_elsewhere {
        0 => return None,
        others => counted(others, "case has", "cases have"),
    };
    let mut line = format!(
        "labels are those in {place}: {others} none there, and one in another part of the case, which does not count"
    );
    if agreement.labels_from != Some(LabelPlace::GroundTruth) {
        let with = shell_word(format!("/groundTruth{}", agreement.with));
        line.push_str(&format!("; `--with {with}` takes those in the ground truth"));
    }
    Some(line)
}

/// The reasons why figures are undefined or doubtful.
pub(crate) fn doubts(agreement: &Agreement) -> Vec<String> {
    let mut lines = Vec::new();
    let ended = match agreement.state {
        RunState::Finished => None,
        RunState::Running => Some("is still running"),
        RunState::Interrupted => Some("was interrupted"),
        RunState::Stopped => Some("was stopped"),
    };
    lines.extend(ended.map(|ended| format!("the run {ended}: only its stored scores count")));
    let constants = [(agreement.constant_scores, "scores"), (agreement.constant_labels, "labels")];
    for (_, what) in constants.into_iter().filter(|(is_constant, _)| *is_constant) {
        lines
            .push(format!("all {what} are the same: figures that need them to vary are undefined"));
    }
    if agreement.binary.is_none() && agreement.correlations.is_some() {
        let why = match agreement.constant_labels {
            true => "one label does not say which labels are positive",
            false => "labels are more than two numbers",
        };
        let option = if agreement.lower_is_better { "to" } else { "from" };
        lines.push(format!("{why}: accuracy and the like need `--positive-{option} NUMBER`"));
    }
    if let Some(binary) = agreement.binary.as_ref().filter(|binary| binary.reversed) {
        lines.push(format!(
            "cases with a positive label have worse scores than others (ROC AUC {}): if it is the other labels that should pass, say so with `--positive`, \
             `--positive-from` or `--positive-to`",
            figure(binary.roc_auc)
        ));
    }
    lines.extend(elsewhere(agreement));
    lines
}
