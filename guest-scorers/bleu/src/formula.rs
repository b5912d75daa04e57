//! BLEU of one output, from its tokens and those of the references. A token is a number here.

use std::collections::HashMap;

/// BLEU, and the figures that it is computed from.
#[derive(Debug, PartialEq)]
pub(crate) struct BleuScore {
    pub(crate) score: f64,
    pub(crate) precisions: Vec<f64>,
    pub(crate) brevity_penalty: f64,
    pub(crate) output_tokens: usize,
    pub(crate) reference_tokens: usize,
}

impl BleuScore {
    pub(crate) fn reason(&self) -> String {
        let precisions: Vec<_> = self.precisions.iter().map(|one| format!("{one:.2}")).collect();
        format!(
            "precisions {}, brevity penalty {:.2}; the output has {} tokens, the reference {}",
            precisions.join("/"),
            self.brevity_penalty,
            self.output_tokens,
            self.reference_tokens
        )
    }
}

pub(crate) fn bleu(output: &[u32], references: &[Vec<u32>], max_order: usize) -> BleuScore {
    let output_tokens = output.len();
    let reference_tokens = closest_length(output_tokens, references);
    let brevity_penalty = match (output_tokens, reference_tokens) {
        (output, reference) if output >= reference => 1.0,
        (0, _) => 0.0,
        (output, reference) => (1.0 - reference as f64 / output as f64).exp(),
    };
    let mut precisions = Vec::new();
    let (mut logarithms, mut smoothing, mut any_shared) = (0.0, 1.0, false);
    for order in 1..=max_order.min(output_tokens) {
        let total = output_tokens + 1 - order;
        let shared = shared_runs(output, references, order);
        any_shared |= shared > 0;
        let precision = if shared > 0 {
            shared as f64 / total as f64
        } else {
            smoothing *= 2.0;
            1.0 / (smoothing * total as f64)
        };
        precisions.push(precision);
        logarithms += precision.ln();
    }
    let score = if any_shared {
        (brevity_penalty * (logarithms / precisions.len() as f64).exp()).min(1.0)
    } else {
        precisions.fill(0.0);
        0.0
    };
    BleuScore { score, precisions, brevity_penalty, output_tokens, reference_tokens }
}

/// The length of the reference that is closest to the output's; of two that are equally close, the shorter one.
fn closest_length(output: usize, references: &[Vec<u32>]) -> usize {
    let lengths = references.iter().map(Vec::len);
    lengths.min_by_key(|length| (length.abs_diff(output), *length)).unwrap_or(0)
}

/// How many runs of `order` tokens the output shares with a reference. A repeated run counts at most as often as in the
/// reference that has most of it.
fn shared_runs(output: &[u32], references: &[Vec<u32>], order: usize) -> usize {
    let mut most: HashMap<&[u32], usize> = HashMap::new();
    for reference in references {
        for (run, count) in counts(reference, order) {
            let most = most.entry(run).or_default();
            *most = count.max(*most);
        }
    }
    let shared = |(run, count): (&[u32], usize)| most.get(run).map_or(0, |most| count.min(*most));
    counts(output, order).into_iter().map(shared).sum()
}

fn counts(tokens: &[u32], order: usize) -> HashMap<&[u32], usize> {
    let mut counts = HashMap::new();
    for run in tokens.windows(order) {
        *counts.entry(run).or_default() += 1;
    }
    counts
}
