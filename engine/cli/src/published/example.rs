//! Scores a scorer's own example twice: whether it gets the score that it promises, and the same answer both times. It
//! decides nothing about the scorer.

use scorebox::{
    case::Case,
    component_bytes::ComponentBytes,
    contract::Example,
    sandbox::{Anatomy, Grants, Limits, Outcome, Sandbox, ScorerConfig},
};

use crate::report;

/// The most characters of a scorer's error message that are shown.
const MAX_REASON: usize = 500;

/// The result of scoring a scorer's example.
#[derive(Debug)]
pub(crate) enum ExampleRun {
    /// The component has no example.
    None,
    /// It cannot be scored without a grant for which the user must provide something.
    NeedsGrants,
    /// Why it cannot be scored.
    Unusable(String),
    /// It was scored, twice.
    Scored { example: Example, outcomes: Box<[Outcome; 2]> },
}

impl ExampleRun {
    /// Scores the example in `component`.
    pub(crate) async fn of(
        anatomy: &Anatomy,
        component: &ComponentBytes,
        sandbox: &Sandbox,
    ) -> ExampleRun {
        let Some(text) = &anatomy.example else { return ExampleRun::None };
        if anatomy.grants() != Grants::NONE {
            return ExampleRun::NeedsGrants;
        }
        let scored = async {
            let example = Example::parse(text)?;
            let case = Case::from_json(example.case.get()).map_err(|error| error.to_string())?;
            let config = ScorerConfig::new(&example.config);
            let scorer = sandbox.load(component, &config, &Limits::default(), Grants::NONE).await;
            let scorer = scorer.map_err(|error| error.to_string())?;
            let input = || case.scorer_input(scorer.info().reads);
            let outcomes = Box::new([scorer.score(input()).await, scorer.score(input()).await]);
            Ok::<_, String>(ExampleRun::Scored { example, outcomes })
        };
        scored.await.unwrap_or_else(ExampleRun::Unusable)
    }

    /// The result for people; the second line has the cost.
    pub(crate) fn words(&self) -> String {
        match self {
            ExampleRun::None => "it has no example, so its score could not be checked".to_owned(),
            ExampleRun::NeedsGrants => {
                "not scored: it needs a grant, and is tried without one".to_owned()
            }
            ExampleRun::Unusable(reason) => {
                format!("it cannot be scored: {}", report::one_line(reason, MAX_REASON))
            }
            ExampleRun::Scored { example, outcomes } => {
                let [first, second] = &**outcomes;
                let score =
                    |score: Option<f64>| score.map_or("not applicable".to_owned(), report::score);
                let said = match &first.result {
                    Ok(result) if example.promises(result.score) => {
                        format!("scores {}, as it promises", score(result.score))
                    }
                    Ok(result) => format!(
                        "scores {}, and promises {}",
                        score(result.score),
                        score(example.score)
                    ),
                    Err(error) => {
                        format!("error: {}", report::one_line(&error.to_string(), MAX_REASON))
                    }
                };
                let fuel =
                    first.fuel.map_or_else(|| "unknown".to_owned(), |it| report::fuel(it as f64));
                let twice = match is_equal(first, second) {
                    true => "twice the same",
                    false => "NOT THE SAME TWICE",
                };
                format!("{said}; {twice}\nfuel {fuel}, time {}", report::duration(first.duration))
            }
        }
    }

    /// The fault of the scorer that its example shows.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        match self {
            ExampleRun::None | ExampleRun::NeedsGrants => None,
            ExampleRun::Unusable(_) => Some("the scorer's own example cannot be scored"),
            ExampleRun::Scored { example, outcomes } => {
                let [first, second] = &**outcomes;
                let is_promised =
                    first.result.as_ref().is_ok_and(|result| example.promises(result.score));
                match (is_promised, is_equal(first, second)) {
                    (false, _) => {
                        Some("the scorer's own example does not have the score that it promises")
                    }
                    (true, false) => Some("the scorer's own example has two answers"),
                    (true, true) => None,
                }
            }
        }
    }
}

/// Whether two scores of one case are the same in everything that a scorer decides.
pub(crate) fn is_equal(first: &Outcome, second: &Outcome) -> bool {
    first.result == second.result && first.fuel == second.fuel
}
