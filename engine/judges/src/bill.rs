//! Adds up what the answers of one call consumed, each priced separately. Knows no budget.

use scorebox::judge::TokenUsage;

/// What the answers of one call consumed together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bill {
    answers: u32,
    /// A count is unknown if one of the answers does not report it.
    pub(crate) usage: TokenUsage,
    /// The cost of all answers whose cost is known.
    pub(crate) known_usd: Option<f64>,
    /// The number of answers with an unknown cost.
    of_unknown_cost: u32,
}

impl Bill {
    pub(crate) fn add(&mut self, usage: TokenUsage, cost_usd: Option<f64>) {
        self.usage = match self.answers {
            0 => usage,
            _ => TokenUsage {
                input_tokens: sum(self.usage.input_tokens, usage.input_tokens),
                output_tokens: sum(self.usage.output_tokens, usage.output_tokens),
            },
        };
        self.answers = self.answers.saturating_add(1);
        match cost_usd {
            Some(cost) => *self.known_usd.get_or_insert(0.0) += cost,
            None => self.of_unknown_cost = self.of_unknown_cost.saturating_add(1),
        }
    }

    /// Whether the answers cost more than is known.
    pub(crate) fn lacks_some(&self) -> bool {
        self.known_usd.is_some() && self.of_unknown_cost > 0
    }
}

/// The sum of both, if both are known.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bill(of: &[(Option<u64>, Option<f64>)]) -> Bill {
        let mut bill = Bill::default();
        for (tokens, cost_usd) in of {
            bill.add(TokenUsage { input_tokens: *tokens, output_tokens: Some(1) }, *cost_usd);
        }
        bill
    }

    #[test]
    fn what_one_answer_does_not_say_is_not_known_of_all() {
        let known = bill(&[(Some(2), Some(5.0)), (Some(3), Some(0.25))]);
        assert_eq!((known.usage.input_tokens, known.known_usd), (Some(5), Some(5.25)));
        assert!(!known.lacks_some());
        let part = bill(&[(Some(2), None), (None, Some(0.25)), (Some(1), Some(0.25))]);
        assert_eq!((part.usage.input_tokens, part.usage.output_tokens), (None, Some(3)));
        assert_eq!((part.known_usd, part.lacks_some()), (Some(0.5), true));
        let unknown = bill(&[(Some(2), None)]);
        assert_eq!((unknown.known_usd, unknown.lacks_some()), (None, false));
    }
}
