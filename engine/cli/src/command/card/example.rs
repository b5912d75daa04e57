//! A scorer's own example, scored twice in the sandbox.

use scorebox::{
    case::Case,
    contract::Example,
    row::Answer,
    sandbox::{Anatomy, Grant, Grants, Limits, Sandbox, ScorerConfig},
};
use scorebox_pages::{CardAnswers, CardExample};

use crate::arguments::ScorerArguments;

/// The example with the answers that it has now. Nothing of it is an error of the command: the page says what is wrong.
pub(super) async fn scored(
    anatomy: &Anatomy,
    component: &[u8],
    scorer: &ScorerArguments,
    sandbox: &Sandbox,
) -> CardExample {
    let Some(text) = &anatomy.example else { return CardExample::Missing };
    let grants = anatomy.grants();
    for (grant, what) in
        [(Grant::Judge, "what a judge answers"), (Grant::Workspace, "the files of a task")]
    {
        if grants.contains(grant) {
            return CardExample::NotScored(format!("it depends on {what}"));
        }
    }
    if let Some(missing) = grants.iter().find(|grant| !scorer.grants(*grant)) {
        return CardExample::NotScored(format!("it needs the grant `{missing}`"));
    }
    answers(text, component, grants, sandbox).await.unwrap_or_else(CardExample::NotScored)
}

async fn answers(
    text: &str,
    component: &[u8],
    grants: Grants,
    sandbox: &Sandbox,
) -> Result<CardExample, String> {
    let example = Example::parse(text)?;
    let case = Case::from_json(example.case.get()).map_err(|error| error.to_string())?;
    let config = ScorerConfig::new(&example.config);
    let scorer = sandbox.load(component, &config, &Limits::default(), grants).await;
    let scorer = scorer.map_err(|error| error.to_string())?;
    let input = || case.scorer_input(scorer.info().reads);
    let (first, second) = (scorer.score(input()).await, scorer.score(input()).await);
    let is_twice_the_same = first.result == second.result && first.fuel == second.fuel;
    let is_as_promised = first.result.as_ref().is_ok_and(|it| example.promises(it.score));
    Ok(CardExample::Scored(Box::new(CardAnswers {
        case: example.case.get().to_owned(),
        config: config.as_str().to_owned(),
        promised: example.score,
        answer: Answer::from(first),
        is_as_promised,
        is_twice_the_same,
    })))
}
