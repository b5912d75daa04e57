//! Shows the user that one score waits for its judges: on a terminal what it waits for, in a pipe one line if it takes
//! long. It asks no judge itself.

use std::{
    io::{self, IsTerminal as _},
    pin::pin,
    time::{Duration, Instant},
};

use scorebox::{
    contract::ScorerInput,
    judge::{Judges, Load},
    sandbox::{LoadedScorer, Outcome},
};
use tokio::time::timeout;

use crate::{
    report::judge::{is_held_up, waited_for},
    signals::unless_signalled,
    waiting::Waiting,
    words,
};

/// How often the state of the judges is checked.
const LOOK: Duration = Duration::from_millis(200);

/// A shorter wait is not worth a line in a pipe.
const PATIENCE: Duration = Duration::from_secs(1);

/// The outcome of a scorer on a case. While judges are asked, a signal ends the process and the programs that answer
/// for judges.
pub(crate) async fn outcome(
    scorer: &LoadedScorer,
    input: ScorerInput<'_>,
    judges: &Judges,
) -> Outcome {
    match scorer.asks_judge() {
        true => unless_signalled(waiting_for(judges, scorer.score(input))).await,
        false => scorer.score(input).await,
    }
}

/// The result of `score`, which asks these judges.
async fn waiting_for<T>(judges: &Judges, score: impl Future<Output = T>) -> T {
    let (started, waiting) = (Instant::now(), Waiting::on(waited_for(Load::default())));
    let mut may_say = !io::stderr().is_terminal();
    let mut score = pin!(score);
    loop {
        if let Ok(outcome) = timeout(LOOK, &mut score).await {
            return outcome;
        }
        let load = judges.counts().load;
        waiting.say(waited_for(load));
        if may_say && is_held_up(load) && started.elapsed() >= PATIENCE {
            words::say(&waited_for(load));
            may_say = false;
        }
    }
}
