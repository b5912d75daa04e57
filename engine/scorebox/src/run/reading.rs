//! Reads cases one at a time, without those that an earlier session finished. It parses nothing itself; `case` does.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::{
    advice::Advised,
    case::{Case, ReadError},
    digest::Digest,
    row::Answer,
    scoring::{CaseInFlight, Room, Units},
    store::{Reusable, RunHandle, RunId, ScoreCursor, Store, StoreError},
    suite::Skip,
};

use super::{
    CaseRefused, Control, Event, OnBadCase, RunError, Stop,
    beginnings::Beginnings,
    case_source::CaseSource,
    control::Refusal,
    event::Sinks,
    message::{Message, NewCase, ReadCase, RunScorers, RunUnit, Scored},
    reuse::Reuse,
    seen::Seen,
    selecting::Selecting,
    subjects::Subjects,
};

/// The most cases that are passed on at once.
const MAX_AT_ONCE: usize = 32;
/// The most bytes of the cases in flight.
const ROOM_FOR_CASES: usize = 8 << 20;

/// A case and what is left to do for it.
struct Task {
    read: Arc<ReadCase>,
    /// The indices of the scorers that score the case.
    wanted: Vec<usize>,
    /// Scores that an earlier run has computed.
    reused: Vec<(usize, Reusable)>,
    /// Scorers that skip the case.
    skipped: Vec<(usize, Skip)>,
    /// Scorers of results whose subjects' answers are known before anything is computed, with these answers.
    known_results: Vec<(usize, Option<Answer>)>,
    /// Whether an earlier session stored another case at its ordinal.
    changed: bool,
}

impl Task {
    /// The message for the writer, and the units to compute.
    fn split(self, scorers: &RunScorers) -> (NewCase, Vec<RunUnit>) {
        let Task { read, wanted, reused, skipped, known_results, .. } = self;
        let of_case = wanted.into_iter().map(|scorer_index| {
            let (read, scorers) = (Arc::clone(&read), Arc::clone(scorers));
            RunUnit { read, scorers, scorer_index, scored: Scored::Case }
        });
        let mut units: Vec<RunUnit> = of_case.collect();
        for (index, answer) in known_results {
            units.extend(RunUnit::of_result(&read, scorers, [index], answer.as_ref()));
        }
        let computed = units.len() + read.following.len();
        (NewCase { read, computed, reused, skipped }, units)
    }
}

/// What is left to do for a case, while this is being determined.
struct Left {
    /// The indices of the scorers that an earlier session has not finished; `None` means all.
    missing: Option<Vec<usize>>,
    reused: Vec<(usize, Reusable)>,
    skipped: Vec<(usize, Skip)>,
}

impl Left {
    /// Whether the scorer must be computed.
    fn wants(&self, index: usize) -> bool {
        self.missing.as_ref().is_none_or(|missing| missing.contains(&index))
            && !self.is_reused(index)
            && !self.is_skipped(index)
    }

    fn is_reused(&self, index: usize) -> bool {
        self.reused.iter().any(|(reused, _)| *reused == index)
    }

    fn is_skipped(&self, index: usize) -> bool {
        self.skipped.iter().any(|(skipped, _)| *skipped == index)
    }
}

/// The cases of a run.
pub(super) struct Cases {
    source: CaseSource,
    first: Option<Case>,
    on_bad_case: OnBadCase,
    earlier: Option<Earlier>,
    reuse: Option<Reuse>,
    selecting: Selecting,
    subjects: Subjects,
    /// The number of scorers.
    scorers: usize,
    room: Room,
    seen: Seen,
    /// A case whose name may have come before; it is scored only after it is stored.
    doubtful: Option<Task>,
    /// A line that is not a valid case; it is delivered after the cases before it.
    refused: Option<Refusal>,
    /// The number of scorers whose beginnings are reported to sinks.
    watched: usize,
}

/// The results that earlier sessions of the run have stored.
struct Earlier {
    store: Store,
    run: RunHandle,
}

impl Cases {
    /// Reads up to the first case, so that a file without cases is detected before a run begins.
    pub(super) fn begin(
        mut source: CaseSource,
        on_bad_case: OnBadCase,
        selecting: Selecting,
        scorers: &RunScorers,
        run_id: &RunId,
        control: &Arc<Control>,
        sinks: &mut Sinks,
    ) -> Result<Cases, RunError> {
        source.begin(control);
        while !control.is_stopping() {
            match source.next_case(control) {
                Some(Ok(case)) => {
                    return Ok(Cases::new(source, case, on_bad_case, selecting, scorers));
                }
                Some(Err(ReadError::BadCase(bad))) if on_bad_case == OnBadCase::Skip => {
                    let refused = Refusal::from(bad);
                    control.bad_case(&refused, on_bad_case);
                    if !sinks.is_empty() {
                        let refused = CaseRefused::new(run_id.clone(), refused);
                        sinks.take(&Event::BadCase(refused), control);
                        // It is unknown whether and when a case follows.
                        sinks.flush(control);
                    }
                }
                // An error after a stop is a result of the stop.
                Some(Err(_)) if control.is_stopping() => {}
                Some(Err(error)) => return Err(error.into()),
                None if control.is_stopping() => {}
                None => {
                    let first_bad = control.bad_cases().into_iter().next();
                    return Err(RunError::NoCases { first_bad });
                }
            }
        }
        Err(RunError::Stopped)
    }

    fn new(
        source: CaseSource,
        first: Case,
        on_bad_case: OnBadCase,
        selecting: Selecting,
        scorers: &RunScorers,
    ) -> Cases {
        Cases {
            source,
            first: Some(first),
            on_bad_case,
            earlier: None,
            reuse: None,
            selecting,
            subjects: Subjects::of(scorers),
            scorers: scorers.len(),
            room: Room::new(ROOM_FOR_CASES),
            seen: Seen::new(),
            doubtful: None,
            refused: None,
            watched: 0,
        }
    }

    /// Records when each of the run's scorers begins with a case; `scorers` is their number.
    pub(super) fn note_beginnings(&mut self, scorers: usize) {
        self.watched = scorers;
    }

    /// Skips what earlier sessions of the run have stored.
    pub(super) fn skip_finished(&mut self, store: Store, run: RunHandle) {
        self.earlier = Some(Earlier { store, run });
    }

    /// Copies scores that an earlier run has computed, instead of computing them.
    pub(super) fn reuse(&mut self, reuse: Reuse) {
        self.reuse = Some(reuse);
    }

    /// Reads to the end, or until the run is stopped.
    pub(super) fn read_all(
        mut self,
        scorers: &RunScorers,
        units: &Units<RunUnit>,
        to_sinks: &mpsc::Sender<Message>,
        control: &Control,
    ) {
        if let Err(error) = self.hand_out(scorers, units, to_sinks, control) {
            control.end_reading(Stop::Unreadable {
                message: error.to_string(),
                advice: error.advice(),
            });
        }
        units.close();
    }

    fn hand_out(
        &mut self,
        scorers: &RunScorers,
        units: &Units<RunUnit>,
        to_sinks: &mpsc::Sender<Message>,
        control: &Control,
    ) -> Result<(), StoreError> {
        while !control.is_reading_ended() {
            let tasks = self.next_tasks(control)?;
            let ended = tasks.is_empty() && self.doubtful.is_none() && self.refused.is_none();
            let (cases, of_cases): (Vec<NewCase>, Vec<Vec<RunUnit>>) =
                tasks.into_iter().map(|task| task.split(scorers)).unzip();
            let sent = to_sinks.blocking_send(Message::Read(cases)).is_ok()
                && units.push(of_cases.into_iter().flatten()).is_ok()
                && self.hand_out_doubtful(scorers, units, to_sinks)
                && self.hand_out_refused(to_sinks);
            if ended || !sent {
                // If it could not be sent, the other side has ended, and reports why.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Delivers the refused line, if there is one; returns whether the receiver still exists.
    fn hand_out_refused(&mut self, to_sinks: &mpsc::Sender<Message>) -> bool {
        let refused = self.refused.take().map(Message::Refused);
        refused.is_none_or(|refused| to_sinks.blocking_send(refused).is_ok())
    }

    /// Waits until the doubtful case is kept or refused; so of two cases with the same name the first is scored and the
    /// second never, however the threads run.
    fn hand_out_doubtful(
        &mut self,
        scorers: &RunScorers,
        units: &Units<RunUnit>,
        to_sinks: &mpsc::Sender<Message>,
    ) -> bool {
        let Some(task) = self.doubtful.take() else { return true };
        let (case, of_case) = task.split(scorers);
        let (answer, stored) = oneshot::channel();
        if to_sinks.blocking_send(Message::Doubtful { case, answer }).is_err() {
            return false;
        }
        match stored.blocking_recv() {
            Ok(true) => units.push(of_case).is_ok(),
            Ok(false) => true,
            Err(_writer_ended) => false,
        }
    }

    /// The cases that are available without waiting for more input, up to a doubtful case or a refused line. There are
    /// none of these only at the end.
    fn next_tasks(&mut self, control: &Control) -> Result<Vec<Task>, StoreError> {
        let mut tasks = Vec::with_capacity(MAX_AT_ONCE);
        while tasks.len() < MAX_AT_ONCE
            && !control.is_reading_ended()
            && (tasks.is_empty() || (self.source.has_next_at_hand() && self.room.is_ample()))
        {
            let next = self.first.take().map(Ok).or_else(|| self.source.next_case(control));
            let case = match next {
                None => break,
                Some(Ok(case)) => case,
                Some(Err(ReadError::BadCase(bad))) => {
                    let refused = Refusal::from(bad);
                    control.bad_case(&refused, self.on_bad_case);
                    self.refused = Some(refused);
                    break;
                }
                Some(Err(ReadError::Source(error))) => {
                    let advice = error.advice();
                    control.end_reading(Stop::Unreadable { message: error.to_string(), advice });
                    break;
                }
            };
            control.note_read();
            let maybe_seen = self.seen.note(case.id(), case.iteration(), case.attempt());
            match self.task(case, control)? {
                Some(task) if maybe_seen || task.changed => {
                    self.doubtful = Some(task);
                    break;
                }
                task => tasks.extend(task),
            }
        }
        Ok(tasks)
    }

    /// What is left to do for a case, if anything.
    fn task(&self, case: Case, control: &Control) -> Result<Option<Task>, StoreError> {
        let digest = case.digest();
        let missing = match &self.earlier {
            None => Missing::All,
            Some(earlier) => earlier.missing(&case, digest)?,
        };
        let changed = matches!(missing, Missing::Unknown);
        let missing = match missing {
            Missing::Nothing => {
                control.note_finished_before();
                return Ok(None);
            }
            Missing::All | Missing::Unknown => None,
            Missing::Some(scorers) => Some(scorers),
        };
        let skipped = self.selecting.skipped(&case, missing.as_deref());
        let share = self.room.wait_for(case.json().len());
        let in_flight = CaseInFlight::new(case, share);
        let mut reused = match &self.reuse {
            // For a failed task there is nothing to score, even if the output that it left was scored before.
            Some(reuse) if in_flight.case().error().is_none() => {
                reuse.find(&in_flight, missing.as_deref())?
            }
            _ => Vec::new(),
        };
        if !skipped.is_empty() {
            reused.retain(|(index, _)| !skipped.iter().any(|(skipped, _)| skipped == index));
        }
        let mut left = Left { missing, reused, skipped };
        let (following, known_results) = self.results(in_flight.case(), &mut left)?;
        let of_cases = (0..self.scorers).filter(|index| self.subjects.scores_cases(*index));
        let wanted = of_cases.filter(|index| left.wants(*index)).collect();
        let Left { reused, skipped, .. } = left;
        let beginnings = Beginnings::new(self.watched);
        let read = Arc::new(ReadCase { in_flight, digest, following, beginnings });
        Ok(Some(Task { read, wanted, reused, skipped, known_results, changed }))
    }

    /// What is left to do for the scorers of results: the indices of those that follow a score that must be computed,
    /// and those whose subject has an answer already. Those whose subject skips the case skip it as well.
    fn results(&self, case: &Case, left: &mut Left) -> Result<Results, StoreError> {
        let (mut following, mut known) = (Vec::new(), Vec::new());
        for (index, subject) in self.subjects.iter() {
            if !left.wants(index) {
                continue;
            }
            if left.is_skipped(subject) {
                left.skipped.push((index, Skip::NoResult));
            } else if left.wants(subject) {
                following.push(index);
            } else {
                known.push((index, self.answer(case, left, subject)?));
            }
        }
        Ok((following, known))
    }

    /// The answer of a scorer about the case, from an earlier run, or from an earlier session of this one.
    fn answer(&self, case: &Case, left: &Left, index: usize) -> Result<Option<Answer>, StoreError> {
        let reused = left.reused.iter().find(|(reused, _)| *reused == index);
        match (reused, &self.reuse, &self.earlier) {
            (Some((_, from)), Some(reuse), _) => reuse.answer(*from),
            (None, _, Some(earlier)) => earlier.answer(case, index),
            _ => Ok(None),
        }
    }
}

/// What is left to score for a case.
enum Missing {
    Nothing,
    All,
    Some(Vec<usize>),
    /// Another case is stored with this name or at this ordinal; the writer reports it.
    Unknown,
}

/// The indices of scorers of results that follow a score, and those whose subject has an answer already.
type Results = (Vec<usize>, Vec<(usize, Option<Answer>)>);

impl Earlier {
    /// The stored answer of the scorer at this index about the case.
    fn answer(&self, case: &Case, index: usize) -> Result<Option<Answer>, StoreError> {
        let stored =
            self.store.stored_case(self.run.key, case.id(), case.iteration(), case.attempt())?;
        let Some(stored) = stored else { return Ok(None) };
        let cursor = ScoreCursor::new(stored.key, self.run.scorers[index]);
        Ok(self.store.score_at(cursor)?.map(|record| record.row.answer))
    }

    fn missing(&self, case: &Case, digest: Digest) -> Result<Missing, StoreError> {
        let stored =
            self.store.stored_case(self.run.key, case.id(), case.iteration(), case.attempt())?;
        let Some(stored) = stored else {
            let taken = self.store.has_case_at(self.run.key, case.ordinal())?;
            return Ok(if taken { Missing::Unknown } else { Missing::All });
        };
        if stored.ordinal != case.ordinal() || stored.digest != digest {
            return Ok(Missing::Unknown);
        }
        let scorers = self.run.scorers.iter().enumerate();
        let missing: Vec<usize> = scorers
            .filter(|(_, scorer)| !stored.finished.contains(scorer))
            .map(|(index, _)| index)
            .collect();
        Ok(match missing.is_empty() {
            true => Missing::Nothing,
            false => Missing::Some(missing),
        })
    }
}
