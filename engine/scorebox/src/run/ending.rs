//! The end of a run: whether every row exists, the scorers' summaries, and how the end is stored. It scores no cases.

use tokio::runtime::Handle;

use crate::{
    digest::Digest,
    now::now_ms,
    sandbox::ErrorKind,
    store::{RunSource, RunState, StoreError},
};

use super::{Ended, Event, OnBadCase, ScorerSummary, Stop, completeness, delivering::Delivering};

/// Ends the run and returns its root. `state_before` is the state that an earlier session left. A session that wrote
/// nothing leaves the run as it was, unless there was nothing left to write.
pub(super) fn end(
    delivering: &mut Delivering,
    state_before: Option<RunState>,
    source: RunSource,
    runtime: &Handle,
) -> Result<Option<Digest>, StoreError> {
    let control = &delivering.control;
    control.note_ending();
    if control.stopped_by().is_none()
        && let Some(stop) = completeness::what_is_missing(&mut delivering.keeper, control, source)?
    {
        control.stop(stop);
    }
    let root = store_end(delivering, state_before, source, runtime)?;
    let ended = Ended {
        run_id: delivering.run_id.clone(),
        stopped: delivering.control.stopped_by(),
        progress: delivering.control.progress(),
        root,
        at_ms: now_ms(),
    };
    delivering.report(|_| Event::Ended(ended));
    delivering.commit()?;
    Ok(root)
}

fn store_end(
    delivering: &mut Delivering,
    state_before: Option<RunState>,
    source: RunSource,
    runtime: &Handle,
) -> Result<Option<Digest>, StoreError> {
    let stopped = delivering.control.stopped_by();
    // A new run gets an end even without a case: otherwise it would be stored as running for good.
    let nothing_new =
        state_before.is_some_and(|before| stopped.is_some() || before == RunState::Finished);
    if !delivering.keeper.has_written() && nothing_new {
        return delivering.keeper.unchanged_root();
    }
    // The end of a followed file is always an interruption. A summary of a part of a run is replaced in a later
    // session.
    let summarizes = match stopped {
        None => true,
        Some(Stop::Interrupted) => !delivering.control.is_abandoned(),
        Some(_) => false,
    };
    if summarizes && delivering.keeper.has_all_rows() {
        summarize(delivering, runtime)?;
    }
    // A sink may have refused a summary, or the machine had no room for it.
    let stopped = delivering.control.stopped_by();
    let (state, reason) = state_of(stopped.as_ref());
    count_bad_cases(delivering, source, stopped.is_none())?;
    delivering.keeper.finish(state, reason)
}

/// Stores how many lines were skipped, because no row shows them: a later reader of the run cannot know that they are
/// missing.
fn count_bad_cases(
    delivering: &mut Delivering,
    source: RunSource,
    is_whole: bool,
) -> Result<(), StoreError> {
    let skipped = match delivering.on_bad_case {
        OnBadCase::Skip => delivering.control.progress().cases_bad,
        // The line that stopped the run is its reason.
        OnBadCase::Stop => 0,
    };
    delivering.keeper.count_bad_cases(|before| match source {
        // Each session reads other lines.
        RunSource::Live => before.saturating_add(skipped),
        // Each session reads from the first line.
        RunSource::Batch if is_whole => skipped,
        RunSource::Batch => before.max(skipped),
    })
}

/// Calls the scorers that summarize, and delivers their summaries.
fn summarize(delivering: &mut Delivering, runtime: &Handle) -> Result<(), StoreError> {
    let scorers = delivering.scorers.clone();
    for (index, ready) in scorers.iter().enumerate() {
        if !ready.scorer.summarizes() {
            continue;
        }
        let rows = delivering.keeper.summary_rows(&scorers, index)?;
        let Some(summary) = runtime.block_on(ready.scorer.summarize(&rows)) else { continue };
        if let Err(error) = &summary.result
            && error.kind == ErrorKind::OutOfResources
        {
            let (message, advice) = (error.message.clone(), error.advice.clone());
            delivering.control.stop(Stop::OutOfResources { message, advice });
            return Ok(());
        }
        delivering.keeper.put_summary(index, &summary)?;
        let (scorer_id, scorer_name) = (ready.id.clone(), ready.name.clone());
        delivering.report(|run| {
            let run_id = run.clone();
            Event::Summary(ScorerSummary { run_id, scorer_id, scorer_name, summary })
        });
        // The next scorer may be slow, and other processes may be waiting to write.
        delivering.commit()?;
    }
    Ok(())
}

/// The state and the reason that are stored for the run's end.
fn state_of(stopped: Option<&Stop>) -> (RunState, Option<&str>) {
    match stopped {
        None => (RunState::Finished, None),
        Some(Stop::Interrupted) => (RunState::Interrupted, None),
        Some(
            Stop::BadCase { message, .. }
            | Stop::Unreadable { message, .. }
            | Stop::Incomplete { message, .. }
            | Stop::OverBudget { message, .. }
            | Stop::JudgeLimited { message }
            | Stop::OutOfResources { message, .. }
            | Stop::Refused { message }
            | Stop::Broken { message },
        ) => (RunState::Stopped, Some(message)),
    }
}
