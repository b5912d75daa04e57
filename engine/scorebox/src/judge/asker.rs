//! A scorer's access to a judge or a jury: which one, which models, with which budget and time. It turns the scorer's
//! questions into calls.

use std::{slice, sync::Arc, time::Duration};

use crate::advice::Advice;

use super::{
    Asked, Asking, Call, JudgeChoice, JudgeError, JudgeErrorKind, JudgeIdentity, Judges, Jury,
    Meter, Question, RecordingUse, Request,
    judges::{Behalf, Judge},
};

/// A scorer's access to a judge. Cheap to clone; all clones share its budget.
#[derive(Clone, Debug)]
pub struct Asker {
    judges: Judges,
    choice: Arc<JudgeChoice>,
    identity: Arc<JudgeIdentity>,
    meter: Arc<Meter>,
    asking: Asking,
    /// Whom it asks for a jury.
    seat: Option<Seat>,
}

/// One juror's place in a jury.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// The judge's name.
    pub(crate) judge: String,
    /// The model that is asked; `None` for a judge that needs no model name.
    pub(crate) model: Option<String>,
    /// The number of the sample, from 0.
    pub(crate) sample: u32,
    /// How many samples there are.
    samples: u32,
    /// Whether the jury decides which model is asked, whatever the scorer requests.
    decides_model: bool,
}

impl Judges {
    /// The access that `choice` gives; `None` if there is no such judge.
    pub fn asker(&self, choice: JudgeChoice) -> Option<Asker> {
        let settings = |name: &str| Some(&self.judge(name)?.settings);
        let identity = Arc::new(JudgeIdentity::of(&choice, settings)?);
        let meter = Arc::new(Meter::new(choice.budget));
        Some(Asker {
            judges: self.clone(),
            choice: Arc::new(choice),
            identity,
            meter,
            asking: Asking::default(),
            seat: None,
        })
    }
}

impl JudgeIdentity {
    /// A similar judge or jury that answers only from recordings; `None` if such a judge or jury is impossible.
    pub(crate) fn of_recordings(&self) -> Option<Asker> {
        if self.jury.as_ref().is_some_and(|identity| !identity.jury.is_valid()) {
            return None;
        }
        let members = match &self.jury {
            Some(jury) => jury.members.as_slice(),
            None => slice::from_ref(self),
        };
        let mut judges = Judges::builder().recording_use(RecordingUse::Only);
        for member in members {
            judges = judges.judge(&member.name, member.settings()?, None);
        }
        judges.build().asker(JudgeChoice {
            judge: Some(self.name.clone()),
            model: self.model.clone().filter(|_| self.jury.is_none()),
            models: self.models.clone(),
            jury: self.jury.as_ref().map(|identity| identity.jury.clone()),
            ..JudgeChoice::default()
        })
    }
}

impl Asker {
    /// The same access for this run, until its end is ordered.
    pub(crate) fn asking(&self, asking: Asking) -> Asker {
        Asker { asking, ..self.clone() }
    }

    /// The jury that is asked instead of one judge; `None` if there is none.
    pub(crate) fn jury(&self) -> Option<&Jury> {
        self.choice.jury.as_ref()
    }

    /// The access of each juror; they share its budget. Empty if there is no jury. The jurors of one sample are
    /// consecutive.
    pub(crate) fn jurors(&self) -> Vec<(Seat, Asker)> {
        let Some(jury) = self.jury() else { return Vec::new() };
        let members = self.choice.members().into_iter().filter_map(|choice| {
            let settings = |name: &str| Some(&self.judges.judge(name)?.settings);
            Some((JudgeIdentity::of(&choice, settings)?, choice))
        });
        let members: Vec<_> =
            members.map(|(of, choice)| (Arc::new(of), Arc::new(choice))).collect();
        let samples = jury.samples.max(1);
        let seats = (0..samples).flat_map(|sample| members.iter().map(move |it| (sample, it)));
        seats
            .map(|(sample, (identity, choice))| {
                let seat = Seat {
                    judge: identity.name.clone(),
                    model: identity.model.clone(),
                    sample,
                    samples,
                    decides_model: !jury.models.is_empty(),
                };
                let asker = Asker {
                    choice: Arc::clone(choice),
                    identity: Arc::clone(identity),
                    seat: Some(seat.clone()),
                    ..self.clone()
                };
                (seat, asker)
            })
            .collect()
    }

    /// How long one score may wait for its answers.
    pub(crate) fn timeout(&self) -> Duration {
        self.choice.timeout.unwrap_or(JudgeChoice::DEFAULT_TIMEOUT)
    }

    /// What decides the answers.
    pub fn identity(&self) -> &JudgeIdentity {
        &self.identity
    }

    /// The call for `request`, for a case with this iteration and attempt.
    ///
    /// # Errors
    /// The request is not valid, or names a model that is not allowed.
    pub fn call(
        &self,
        request: &Request,
        iteration: u32,
        attempt: u32,
    ) -> Result<Call, JudgeError> {
        let Some(judge) = self.judges.judge(self.choice.name()) else {
            return Err(JudgeError::new(JudgeErrorKind::Unavailable, "there is no such judge"));
        };
        let is_text = matches!(request, Request::Generate { .. });
        let model = self.model(request.model(), is_text, judge)?;
        let mut question = request.to_question(model, &judge.settings)?;
        if let (Question::Generate(generation), Some(seat)) = (&mut question, &self.seat) {
            generation.sample = seat.sample_of(generation.sample)?;
        }
        Ok(Call {
            provider: self.identity.provider.clone(),
            place: self.identity.place.clone(),
            question,
            iteration,
            attempt,
        })
    }

    /// Asks for the answer to `call`, which may take at most this long after it is sent.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask(&self, call: &Call, within: Duration) -> Result<Asked, JudgeError> {
        let scorer = self.choice.scorer.as_deref();
        let behalf = Behalf { scorer, meter: &self.meter, within, asking: &self.asking };
        self.judges.answer(self.choice.name(), call, behalf).await
    }

    /// Checks that a scorer may name this model for texts or, if not `is_text`, for vectors; for a jury, to all of its
    /// members.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn may_name(&self, named: &str, is_text: bool) -> Result<(), JudgeError> {
        let jurors: Vec<_> = self.jurors().into_iter().map(|(_, juror)| juror).collect();
        let askers = if jurors.is_empty() { slice::from_ref(self) } else { &jurors };
        askers.iter().try_for_each(|asker| {
            let Some(judge) = self.judges.judge(asker.choice.name()) else { return Ok(()) };
            asker.model(Some(named), is_text, judge).map(drop)
        })
    }

    /// The model to ask: the one that the scorer names, if it may; otherwise its entry's, or the judge's.
    fn model<'a>(
        &'a self,
        named: Option<&'a str>,
        is_text: bool,
        judge: &'a Judge,
    ) -> Result<&'a str, JudgeError> {
        let settings = &judge.settings;
        let own = settings.embedding_model.as_deref().filter(|_| !is_text);
        let own = own.or(self.identity.model.as_deref());
        let is_decided = is_text && self.seat.as_ref().is_some_and(|seat| seat.decides_model);
        let named = named.filter(|named| !is_decided && Some(*named) != own);
        let Some(named) = named else {
            let needs_none = settings.provider.needs_no_model();
            return own.or(needs_none.then_some("")).ok_or_else(|| no_model(self.choice.name()));
        };
        let may = self.choice.models.iter().any(|model| model == named);
        may.then_some(named).ok_or_else(|| not_allowed(named, &self.choice))
    }
}

impl Seat {
    /// The number of the scorer's own sample among those of all jurors: no two jurors share a number.
    fn sample_of(&self, own: u32) -> Result<u32, JudgeError> {
        let number = own.checked_mul(self.samples).and_then(|it| it.checked_add(self.sample));
        number.ok_or_else(|| {
            let message = format!("the scorer asks for sample {own}, which a jury cannot have");
            JudgeError::new(JudgeErrorKind::InvalidQuestion, message)
        })
    }
}

fn no_model(judge: &str) -> JudgeError {
    JudgeError::new(JudgeErrorKind::InvalidQuestion, format!("judge `{judge}` has no `model`"))
}

fn not_allowed(named: &str, choice: &JudgeChoice) -> JudgeError {
    let named = crate::cut::cut(named, 200);
    let models = choice.models.iter().cloned().chain([named.clone()]).collect();
    let message = match choice.models.as_slice() {
        [] => format!(
            "the scorer asks the model `{named}`, and its entry allows it to name none: see `models` of its `judge`"
        ),
        models => {
            let models = models.join(", ");
            format!(
                "the scorer asks the model `{named}`; its entry allows: {models} (`models` of its `judge`)"
            )
        }
    };
    let error = JudgeError::new(JudgeErrorKind::ModelNotAllowed, message);
    JudgeError { advice: Some(Advice::AllowModels(models)), ..error }
}

#[cfg(test)]
mod tests {
    use crate::judge::{Generation, JudgeSettings, Message, ProviderSettings, Role};

    use super::*;

    fn settings(model: &str) -> JudgeSettings {
        let provider = ProviderSettings::OpenAi { base_url: "http://a/v1".into(), key_env: None };
        JudgeSettings { model: Some(model.into()), ..JudgeSettings::new(provider) }
    }

    fn asker(jury: Jury) -> Asker {
        let judges = Judges::builder()
            .judge("default", settings("one"), None)
            .judge("other", settings("other"), None)
            .build();
        judges.asker(JudgeChoice { jury: Some(jury), ..JudgeChoice::default() }).unwrap()
    }

    fn juries() -> [Jury; 3] {
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        [
            Jury::of_samples(3),
            Jury { models: names(["x", "y"]), ..Jury::of_samples(2) },
            Jury { judges: names(["default", "other"]), ..Jury::of_samples(1) },
        ]
    }

    fn seats(asker: &Asker) -> Vec<String> {
        let seats = asker.jurors().into_iter().map(|(seat, _)| seat);
        seats.map(|it| format!("{}/{}/{}", it.judge, it.model.unwrap(), it.sample)).collect()
    }

    #[test]
    fn each_member_of_a_jury_has_a_seat_for_each_sample() {
        let expected: [&[&str]; 3] = [
            &["default/one/0", "default/one/1", "default/one/2"],
            &["default/x/0", "default/y/0", "default/x/1", "default/y/1"],
            &["default/one/0", "other/other/0"],
        ];
        assert_eq!(juries().map(|jury| seats(&asker(jury))), expected);
    }

    #[test]
    fn what_answers_from_recordings_has_the_same_identity_and_the_same_jurors() {
        for jury in juries() {
            let asker = asker(jury);
            let recorded = asker.identity().of_recordings().unwrap();
            assert_eq!(recorded.identity(), asker.identity());
            assert_eq!(seats(&recorded), seats(&asker));
        }
    }

    #[test]
    fn a_strangers_jury_without_end_is_not_taken() {
        let mut identity = asker(Jury::of_samples(2)).identity().clone();
        identity.jury.as_mut().unwrap().jury.samples = u32::MAX;
        assert!(identity.of_recordings().is_none());
    }

    fn generation(model: Option<&str>, sample: u32) -> Request {
        let message = Message { role: Role::User, text: "Is it?".into() };
        Request::Generate {
            generation: Generation { messages: vec![message], sample, ..Generation::default() },
            model: model.map(str::to_owned),
        }
    }

    #[test]
    fn no_two_jurors_share_a_sample_and_the_first_has_those_of_a_score_without_a_jury() {
        let samples = |jury: Jury| -> Vec<u32> {
            let jurors = asker(jury).jurors();
            let asked = jurors.iter().flat_map(|(_, it)| (0..2).map(move |own| (it, own)));
            asked
                .map(|(juror, own)| {
                    match juror.call(&generation(None, own), 0, 0).unwrap().question {
                        Question::Generate(generation) => generation.sample,
                        Question::Embed(_) => unreachable!(),
                    }
                })
                .collect()
        };
        assert_eq!(samples(Jury::of_samples(1)), [0, 1]);
        assert_eq!(samples(Jury::of_samples(3)), [0, 3, 1, 4, 2, 5]);
        let last = asker(Jury::of_samples(2)).jurors().pop().unwrap().1;
        let error = last.call(&generation(None, u32::MAX), 0, 0).unwrap_err();
        assert_eq!(error.kind, JudgeErrorKind::InvalidQuestion);
    }

    #[test]
    fn a_jury_of_models_decides_which_of_them_is_asked_whatever_the_scorer_names() {
        let [samples, models, _] = juries();
        let asked = |jury: Jury| {
            let jurors = asker(jury).jurors();
            jurors[0].1.call(&generation(Some("dear"), 0), 0, 0)
        };
        assert_eq!(asked(models).unwrap().question.model(), "x");
        assert_eq!(asked(samples).unwrap_err().kind, JudgeErrorKind::ModelNotAllowed);
    }
}
