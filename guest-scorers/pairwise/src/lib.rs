//! pairwise: a judge compares the output with the baseline, once in each order. This detects a judge that prefers a
//! position rather than a text. Rankings of several systems are computed elsewhere.
//!
//! score = 1 if the output wins in both orders, 0 if the baseline does, else 0.5
//!
//! The rule is the conservative one of Zheng et al. 2023, "Judging LLM-as-a-Judge with MT-Bench and Chatbot
//! Arena", section 3.4: a win counts only if it holds in both orders.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{
    Choice, Classifier, Model, Prompt, Reasoning, Settings, Unreadable, decide_all,
};
use serde::Deserialize;
use serde_json::json;

/// Asks a judge whether the output is better than the baseline, once in each order: 1 if the output wins
/// both times, 0 if the baseline does, else 0.5.
///
/// The label is `win`, `loss`, `tie` or, if the two verdicts differ, `disagreement`. `meta.orders` has the
/// winner with the output in the first and in the second place; `meta.positionBias` is `first` or `second`
/// if the judge preferred that place both times. The input, if there is one, is the request that both
/// answer.
///
/// Zheng et al. 2023 (MT-Bench).
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// What makes one response better, in place of how well it serves the request.
    #[serde(default)]
    criteria: Option<String>,
    #[serde(default)]
    reasoning: Reasoning,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const CRITERIA: &str = "You compare two responses to the same request and decide which one is better. Neither the order in \
    which they stand nor their length counts.";
/// The criterion, unless the configuration states one.
const SERVES: &str =
    "The better one serves the request better: correct, complete, helpful and clear.";

const CHOICES: &[Choice<'static>] = &[
    Choice { name: "first", score: 1.0, meaning: "the first response is better" },
    Choice { name: "second", score: 0.0, meaning: "the second response is better" },
    Choice { name: "tie", score: 0.5, meaning: "both are equally good" },
];
const FIRST: usize = 0;
const SECOND: usize = 1;

/// The scorer, made from its [`Config`].
pub struct Pairwise {
    criteria: String,
    settings: Settings,
}

impl Scorer for Pairwise {
    type Config = Config;

    const INFO: Info = Info::new("pairwise", "Pairwise", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::BASELINE));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { criteria, reasoning, model, unreadable } = config;
        let criteria = criteria.unwrap_or_else(|| SERVES.to_owned());
        let settings = Settings::new(model, reasoning, unreadable);
        Ok(Self { criteria: format!("{CRITERIA} {criteria}"), settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let (output, baseline) = (case.output(), case.require_baseline()?);
        let judge = Classifier { criteria: &self.criteria, choices: CHOICES };
        let mut questions = Vec::new();
        for (first, second) in [(&output, &baseline), (&baseline, &output)] {
            let mut prompt = Prompt::new();
            if let Some(input) = case.input() {
                prompt.part("request", &input)?;
            }
            prompt.part("first-response", first)?.part("second-response", second)?;
            questions.push(judge.question(&prompt, &self.settings)?);
        }
        let decisions = match decide_all(&questions, &judge.names()) {
            Ok(decisions) => decisions,
            Err(unread) => return self.settings.unreadable.settle(unread),
        };
        let places: Vec<usize> = decisions.iter().map(|decision| decision.place).collect();
        let winners = [winner(places[0], FIRST), winner(places[1], SECOND)];
        let (score, label) = match winners {
            ["output", "output"] => (1.0, "win"),
            ["baseline", "baseline"] => (0.0, "loss"),
            ["tie", "tie"] => (0.5, "tie"),
            _ => (0.5, "disagreement"),
        };
        let bias = match places[..] {
            [FIRST, FIRST] => Some("first"),
            [SECOND, SECOND] => Some("second"),
            _ => None,
        };
        let said = decisions.iter().filter_map(|decision| decision.reason.as_deref());
        let said = said.collect::<Vec<_>>().join(" / ");
        let reason = format!("in the two orders: {}, {}", winners[0], winners[1]);
        let reason = if said.is_empty() { reason } else { format!("{reason}: {said}") };
        let meta = json!({ "orders": winners, "positionBias": bias });
        Ok(Score::new(score).label(label).reason(reason).meta(meta))
    }
}

/// The winner, if the output had this position.
fn winner(place: usize, of_output: usize) -> &'static str {
    match place {
        FIRST | SECOND if place == of_output => "output",
        FIRST | SECOND => "baseline",
        _ => "tie",
    }
}

scorebox_sdk::export!(Pairwise);

#[cfg(test)]
mod tests;
