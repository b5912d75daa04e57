//! The options for labels that scores are compared with: their location, and which labels are positive. It reads no
//! labels.

use scorebox::aggregate::{Positive, With};

use super::number;

/// Which labels are positive. Needs an argument `with`.
#[derive(Debug, clap::Args)]
pub(crate) struct PositiveArguments {
    /// A label of cases that should pass; may be repeated [default: the higher one of two numbers, or the lower one if
    /// lower scores are better]
    #[arg(long, value_name = "LABEL", requires = "with", help_heading = "Labels")]
    positive: Vec<String>,

    /// Cases whose label is this number or more should pass
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = number,
        conflicts_with = "positive",
        requires = "with",
        help_heading = "Labels"
    )]
    positive_from: Option<f64>,

    /// Cases whose label is this number or less should pass
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = number,
        conflicts_with_all = ["positive", "positive_from"],
        requires = "with",
        help_heading = "Labels"
    )]
    positive_to: Option<f64>,
}

impl PositiveArguments {
    /// The options as the user gave them, as command-line arguments.
    pub(crate) fn words(&self) -> Vec<String> {
        let each = self.positive.iter().map(|label| ["--positive".to_owned(), label.clone()]);
        let from =
            self.positive_from.map(|least| ["--positive-from".to_owned(), least.to_string()]);
        let to = self.positive_to.map(|most| ["--positive-to".to_owned(), most.to_string()]);
        each.chain(from).chain(to).flatten().collect()
    }

    /// The labels that are positive.
    pub(crate) fn positive(&self) -> Positive<'_> {
        match (self.positive_from, self.positive_to) {
            (Some(least), _) => Positive::From(least),
            (None, Some(most)) => Positive::To(most),
            (None, None) if self.positive.is_empty() => Positive::Better,
            (None, None) => Positive::These(&self.positive),
        }
    }
}

/// Where labels are: a JSON Pointer begins with `/`, anything else names a scorer.
pub(crate) fn labels_at(with: &str) -> With<'_> {
    match with.starts_with('/') {
        true => With::Label(with),
        false => With::Scorer(with),
    }
}
