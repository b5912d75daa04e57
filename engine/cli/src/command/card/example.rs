//! Scores a scorer's own example for its page. A problem with it is not an error of the command: the page shows it.

use scorebox::{
    component_bytes::ComponentBytes,
    row::Answer,
    sandbox::{Anatomy, Sandbox, ScorerConfig},
};
use scorebox_pages::{CardAnswers, CardExample};

use crate::published::{ExampleRun, is_equal};

/// The example with its current answers.
pub(super) async fn scored(
    anatomy: &Anatomy,
    component: &ComponentBytes,
    sandbox: &Sandbox,
) -> CardExample {
    let (example, outcomes) = match ExampleRun::of(anatomy, component, sandbox).await {
        ExampleRun::None => return CardExample::Missing,
        ExampleRun::NeedsGrants => {
            return CardExample::NotScored("it needs a grant, and is tried without one".to_owned());
        }
        ExampleRun::Unusable(reason) => return CardExample::NotScored(reason),
        ExampleRun::Scored { example, outcomes } => (example, outcomes),
    };
    let [first, second] = *outcomes;
    CardExample::Scored(Box::new(CardAnswers {
        case: example.case.get().to_owned(),
        config: ScorerConfig::new(&example.config).as_str().to_owned(),
        promised: example.score,
        is_as_promised: first.result.as_ref().is_ok_and(|it| example.promises(it.score)),
        is_twice_the_same: is_equal(&first, &second),
        answer: Answer::from(first),
    }))
}
