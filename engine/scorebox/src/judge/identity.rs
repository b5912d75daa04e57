//! What decides the answers of a judge or a jury, in the form in which it is stored, so that scores can be computed
//! again. It sends no questions.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JudgeChoice, JudgeSettings, Jury, ProviderSettings};

/// What decides a judge's answers, as far as a user decides it: this is stored with a run, so that its scores can be
/// computed again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JudgeIdentity {
    /// The judge's name in the suite.
    pub name: String,
    /// The provider's kind.
    pub provider: String,
    /// Its address or command.
    pub place: String,
    /// The model that is asked unless the scorer names another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that makes vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding_model: Option<String>,
    /// The models that the scorer may name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// The temperature, unless the scorer sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The most tokens of an answer, unless the scorer sets a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// What else is sent with each question for a text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_body: BTreeMap<String, Value>,
    /// The jury that is asked instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jury: Option<JuryIdentity>,
}

/// What decides a jury's answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JuryIdentity {
    /// The members of the jury, and how their scores are combined.
    #[serde(flatten)]
    pub jury: Jury,
    /// The identities of its members, each asked for all samples, in the order of the jury's judges or models.
    pub members: Vec<JudgeIdentity>,
}

impl JudgeIdentity {
    /// The identity for `choice`, among the judges with these settings; `None` if it names a judge that does not exist.
    pub fn of<'s>(
        choice: &JudgeChoice,
        settings: impl Fn(&str) -> Option<&'s JudgeSettings>,
    ) -> Option<JudgeIdentity> {
        let alone = |choice: &JudgeChoice| {
            let settings = settings(choice.name())?;
            Some(JudgeIdentity {
                name: choice.name().to_owned(),
                provider: settings.provider.kind().to_owned(),
                place: settings.provider.place(),
                model: choice.model.clone().or_else(|| settings.model.clone()),
                embedding_model: settings.embedding_model.clone(),
                models: choice.models.clone(),
                temperature: settings.temperature,
                max_output_tokens: settings.max_output_tokens,
                extra_body: settings.extra_body.clone(),
                jury: None,
            })
        };
        let members: Option<Vec<JudgeIdentity>> = choice.members().iter().map(alone).collect();
        let members = members?;
        let first = members.first()?.clone();
        let jury = choice.jury.clone().map(|jury| JuryIdentity { jury, members });
        Some(JudgeIdentity { jury, ..first })
    }

    /// Whether both ask the same models of the same provider, in the same way. The name of a judge makes no difference,
    /// except in a jury, which names the judge of each score.
    pub fn answers_like(&self, other: &JudgeIdentity) -> bool {
        *self == JudgeIdentity { name: self.name.clone(), ..other.clone() }
    }

    /// The settings of a similar judge, as far as they decide its answers.
    pub(super) fn settings(&self) -> Option<JudgeSettings> {
        let base_url = self.place.clone();
        let provider = match self.provider.as_str() {
            "openai" => ProviderSettings::OpenAi { base_url, key_env: None },
            "anthropic" => ProviderSettings::Anthropic { base_url, key_env: None },
            "command" => {
                ProviderSettings::Command { command: serde_json::from_str(&self.place).ok()? }
            }
            "recorded" => ProviderSettings::Recorded { file: PathBuf::new() },
            kind => ProviderSettings::Own { kind: kind.to_owned(), place: self.place.clone() },
        };
        Some(JudgeSettings {
            model: self.model.clone(),
            embedding_model: self.embedding_model.clone(),
            temperature: self.temperature,
            max_output_tokens: self.max_output_tokens,
            extra_body: self.extra_body.clone(),
            ..JudgeSettings::new(provider)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(model: &str) -> JudgeSettings {
        let provider = ProviderSettings::OpenAi { base_url: "http://a/v1".into(), key_env: None };
        JudgeSettings {
            model: Some(model.into()),
            extra_body: [("seed".to_owned(), 7.into())].into(),
            ..JudgeSettings::new(provider)
        }
    }

    fn of(choice: &JudgeChoice) -> JudgeIdentity {
        let (one, other) = (settings("one"), settings("other"));
        JudgeIdentity::of(choice, |name| match name {
            "default" => Some(&one),
            "other" => Some(&other),
            _ => None,
        })
        .unwrap()
    }

    fn choices() -> Vec<JudgeChoice> {
        let jury = |jury| JudgeChoice { jury: Some(jury), ..JudgeChoice::default() };
        let models = vec!["x".to_owned(), "y".to_owned()];
        let judges = vec!["default".to_owned(), "other".to_owned()];
        vec![
            JudgeChoice { model: Some("x".into()), ..JudgeChoice::default() },
            jury(Jury::of_samples(3)),
            jury(Jury { models, ..Jury::of_samples(2) }),
            jury(Jury { judges, ..Jury::of_samples(1) }),
        ]
    }

    #[test]
    fn an_identity_reads_back_as_it_was_written() {
        for choice in choices() {
            let written = serde_json::to_string(&of(&choice)).unwrap();
            assert_eq!(serde_json::from_str::<JudgeIdentity>(&written).unwrap(), of(&choice));
        }
    }

    #[test]
    fn a_jury_is_made_of_models_or_judges_each_asked_for_all_samples() {
        let models = |choice: &JudgeChoice| -> Vec<String> {
            let identity = of(choice);
            let members = identity.jury.map(|jury| jury.members).unwrap_or_default();
            members.into_iter().map(|it| format!("{}/{}", it.name, it.model.unwrap())).collect()
        };
        let expected: [&[&str]; 4] =
            [&[], &["default/one"], &["default/x", "default/y"], &["default/one", "other/other"]];
        assert_eq!(choices().iter().map(models).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_judge_answers_like_itself_under_another_name_and_like_no_other() {
        let all: Vec<JudgeIdentity> = choices().iter().map(of).collect();
        for (index, one) in all.iter().enumerate() {
            let like: Vec<bool> = all.iter().map(|other| one.answers_like(other)).collect();
            let itself: Vec<bool> = (0..all.len()).map(|it| it == index).collect();
            assert_eq!(like, itself);
        }
        let model = JudgeIdentity { model: Some("z".into()), ..all[0].clone() };
        let place = JudgeIdentity { place: "http://b/v1".into(), ..all[0].clone() };
        let temperature = JudgeIdentity { temperature: Some(0.5), ..all[0].clone() };
        assert!([model, place, temperature].iter().all(|other| !all[0].answers_like(other)));
        let named = JudgeIdentity { name: "another".into(), ..all[0].clone() };
        assert!(all[0].answers_like(&named));
        let mut jury = all[1].clone();
        jury.jury.as_mut().unwrap().members[0].name = "another".into();
        assert!(!all[1].answers_like(&jury));
    }

    #[test]
    fn a_judge_that_is_not_there_has_no_identity() {
        let choice = JudgeChoice { judge: Some("else".into()), ..JudgeChoice::default() };
        assert_eq!(JudgeIdentity::of(&choice, |_| None), None);
    }
}
