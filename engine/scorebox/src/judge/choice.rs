//! Which judge, or which jury, a scorer may ask, and for what. It sends no questions.

use std::time::Duration;

use super::{Budget, Jury};

/// Which judge a scorer may ask, and for what.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JudgeChoice {
    /// The judge; `None` for the judge `default`.
    pub judge: Option<String>,
    /// The model that is asked instead of the judge's own.
    pub model: Option<String>,
    /// The models that the scorer may name itself, in addition to that one.
    pub models: Vec<String>,
    /// What all calls of the scorer may consume together.
    pub budget: Budget,
    /// How long one score may wait for its answers, from the moment when its first question is sent; `None` for
    /// [`DEFAULT_TIMEOUT`](JudgeChoice::DEFAULT_TIMEOUT).
    pub timeout: Option<Duration>,
    /// Several judges, or several answers of one.
    pub jury: Option<Jury>,
    /// The scorer's name, for messages.
    pub scorer: Option<String>,
}

impl JudgeChoice {
    /// The judge that is asked unless an entry names another.
    pub const DEFAULT: &str = "default";
    /// The default for how long one score may wait for its answers.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

    /// The judge with this name, or the default one, with its own model.
    pub fn of(judge: Option<String>) -> JudgeChoice {
        JudgeChoice { judge, ..JudgeChoice::default() }
    }

    /// The judge's name.
    pub fn name(&self) -> &str {
        self.judge.as_deref().unwrap_or(JudgeChoice::DEFAULT)
    }

    /// The names of all judges to ask, at least one: the jury's, or [`name`](JudgeChoice::name).
    pub fn names(&self) -> Vec<&str> {
        match &self.jury {
            Some(jury) if !jury.judges.is_empty() => {
                jury.judges.iter().map(String::as_str).collect()
            }
            _ => vec![self.name()],
        }
    }

    /// The choices of the jury's members, each without a jury: a judge or a model that is asked for all samples; at
    /// least one.
    pub fn members(&self) -> Vec<JudgeChoice> {
        let member = |judge: Option<&str>, model: Option<&str>| JudgeChoice {
            judge: judge.map(str::to_owned),
            model: model.map(str::to_owned),
            jury: None,
            ..self.clone()
        };
        match &self.jury {
            Some(jury) if !jury.judges.is_empty() => {
                let judges = jury.judges.iter();
                judges.map(|judge| member(Some(judge), self.model.as_deref())).collect()
            }
            Some(jury) if !jury.models.is_empty() => {
                let models = jury.models.iter();
                models.map(|model| member(self.judge.as_deref(), Some(model))).collect()
            }
            _ => vec![member(self.judge.as_deref(), self.model.as_deref())],
        }
    }
}
