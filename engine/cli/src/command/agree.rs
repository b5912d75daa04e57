//! `scorebox agree`: shows how well a scorer agrees with labels of people, or with another scorer.

mod showing;

use scorebox::{
    aggregate::{Agreement, AgreementError, AgreementOptions, By, agreement},
    store::ScoreFilter,
};

use crate::{
    arguments::{Database, PositiveArguments, completing, labels_at, must_be_there, number},
    failure::{Exit, Failure},
    output::{self, Format},
    report::{shell_word, without_lines},
    waiting::Waiting,
    words,
};

/// The value of `--by` for the length of the output.
const OUTPUT_LENGTH: &str = "output-length";

/// Show how well a scorer agrees with labels, or with another scorer
///
/// Labels are numbers, `true` and `false`, or words. They are found at a JSON Pointer in the metadata of the cases,
/// among the keys that scorebox does not know, or in the ground truth: `--with /label`, `--with /groundTruth/score`.
/// The one of these in which most cases have a label counts for all, the first of equals.
#[derive(Debug, clap::Args)]
pub(crate) struct Agree {
    /// The scorer, as the suite names it
    #[arg(add = completing::stored_scorers())]
    scorer: String,

    /// Where the labels are: a JSON Pointer, or the name of another scorer
    #[arg(long, value_name = "POINTER|SCORER", add = completing::stored_scorers(), help_heading = "Labels")]
    with: String,

    /// The run [default: the newest]
    #[arg(long, value_name = "RUN", add = completing::runs(), help_heading = "Filters")]
    run: Option<String>,

    /// Only cases of this node (the task)
    #[arg(long, value_name = "NODE", help_heading = "Filters")]
    node: Option<String>,

    #[command(flatten)]
    positive: PositiveArguments,

    /// The worst score that passes [default: the scorer's threshold, which is the best score for a gate that states
    /// none; or else 0.5]
    #[arg(long, value_name = "X", value_parser = number, help_heading = "Labels")]
    threshold: Option<f64>,

    /// Show how well people agree with each other: a JSON Pointer to one person's label (repeat it for each), or to a
    /// list of all
    #[arg(long, value_name = "POINTER", help_heading = "Labels")]
    raters: Vec<String>,

    /// Show whether errors depend on this: a JSON Pointer as for labels, or `output-length`
    #[arg(long, value_name = "POINTER|output-length", help_heading = "Output")]
    by: Option<String>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

impl Agree {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let record = self.database.run(self.run.as_deref(), &store)?;
        let run = &record.spec.id;
        if let Some(node) = &self.node {
            must_be_there(&store, &ScoreFilter::of_run(run.as_str()).with_node(node.clone()))?;
        }
        let by = self.by.as_deref().map(|by| match by {
            OUTPUT_LENGTH => By::OutputLength,
            pointer => By::Key(pointer),
        });
        let options = AgreementOptions::new(labels_at(&self.with))
            .with_node(self.node.as_deref())
            .with_positive(self.positive.positive())
            .with_threshold(self.threshold)
            .with_by(by)
            .with_raters(&self.raters);
        let waiting = Waiting::counting("reading cases", store.rows_read());
        let agreement = agreement(&store, run.as_str(), &self.scorer, options)
            .map_err(|error| self.failure(error))?;
        drop(waiting);
        self.print(&agreement)?;
        without_lines(&record).iter().for_each(|line| words::warn(line));
        Ok(Exit::Done)
    }

    /// The failure to compute agreement. A label that is named like a scorer lacks its slash.
    fn failure(&self, error: AgreementError) -> Failure {
        let is_label = matches!(
            &error,
            AgreementError::NoSuchScorer { scorer_id, .. } if *scorer_id == self.with && self.with != self.scorer
        );
        let mut failure = Failure::from(error);
        if is_label {
            let label = shell_word(format!("/{}", self.with));
            let label = format!("a label of the cases is a JSON Pointer: --with {label}");
            failure.hint = Some(match failure.hint {
                Some(hint) => format!("{hint}; {label}"),
                None => label,
            });
        }
        failure
    }

    fn print(&self, agreement: &Agreement) -> Result<(), Failure> {
        let binary = agreement.binary.as_ref();
        output::stdout(|out| match self.format {
            Format::Json => output::json(out, agreement),
            Format::Jsonl => output::json_line(out, agreement),
            Format::Table => {
                write!(out, "{}", showing::figures(agreement))?;
                let more = [
                    binary.and_then(showing::confusion),
                    agreement.categories.as_ref().map(showing::categories),
                    binary.and_then(showing::calibration),
                    agreement.bias.as_ref().map(showing::bias),
                    agreement.raters.as_ref().map(showing::raters),
                ];
                more.iter().flatten().try_for_each(|table| write!(out, "\n{table}"))
            }
        })?;
        if self.format == Format::Table {
            showing::about(agreement).iter().for_each(|line| words::say(line));
            if let Some(bias) = &agreement.bias {
                showing::bias_words(bias).iter().for_each(|line| words::say(line));
            }
            if let Some(raters) = &agreement.raters {
                words::say(&showing::rater_words(raters));
            }
        }
        showing::doubts(agreement).iter().for_each(|line| words::warn(line));
        Ok(())
    }
}
