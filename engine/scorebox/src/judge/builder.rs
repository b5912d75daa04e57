//! Makes [`Judges`]: which judges there are, where answers are recorded, and what they may consume. It asks none of
//! them.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Budget, Consumed, JudgeSettings, Judges, Meter, Provider, RecordingUse, Recordings,
    in_flight::InFlight,
    judges::{Counts, Judge, Shared},
};
use crate::now::now_ms;

/// Makes [`Judges`].
#[derive(Debug, Default)]
pub struct JudgesBuilder {
    judges: BTreeMap<String, Judge>,
    recordings: Option<Arc<dyn Recordings>>,
    recording_use: RecordingUse,
    budget: Budget,
    before: Consumed,
}

impl JudgesBuilder {
    /// Adds the judge `name`. Without a provider, it answers only from recordings.
    #[must_use]
    pub fn judge(
        mut self,
        name: impl Into<String>,
        settings: JudgeSettings,
        provider: Option<Arc<dyn Provider>>,
    ) -> JudgesBuilder {
        let mut judge = Judge::new(settings);
        judge.provider = provider;
        self.judges.insert(name.into(), judge);
        self
    }

    /// Adds the judge `name`, which has only the answers in `recorded`.
    #[must_use]
    pub fn recorded_judge(
        mut self,
        name: impl Into<String>,
        settings: JudgeSettings,
        recorded: Arc<dyn Recordings>,
    ) -> JudgesBuilder {
        let mut judge = Judge::new(settings);
        judge.recorded = Some(recorded);
        self.judges.insert(name.into(), judge);
        self
    }

    /// Where answers are recorded; by default nowhere.
    #[must_use]
    pub fn recordings(mut self, recordings: Arc<dyn Recordings>) -> JudgesBuilder {
        self.recordings = Some(recordings);
        self
    }

    /// How recordings are used.
    #[must_use]
    pub fn recording_use(mut self, recording_use: RecordingUse) -> JudgesBuilder {
        self.recording_use = recording_use;
        self
    }

    /// What all judges may consume together.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> JudgesBuilder {
        self.budget = budget;
        self
    }

    /// How much of that budget was consumed before, by earlier sessions of the same run.
    #[must_use]
    pub fn consumed_before(mut self, consumed: Consumed) -> JudgesBuilder {
        self.before = consumed;
        self
    }

    /// Makes the judges.
    pub fn build(self) -> Judges {
        let JudgesBuilder { judges, recordings, recording_use, budget, before } = self;
        Judges(Arc::new(Shared {
            judges,
            recordings,
            recording_use,
            meter: Some(Meter::new(budget).after(before)),
            in_flight: InFlight::default(),
            counts: Counts::default(),
            began_at_ms: now_ms(),
        }))
    }
}

impl Judges {
    /// A builder without judges.
    pub fn builder() -> JudgesBuilder {
        JudgesBuilder::default()
    }
}
