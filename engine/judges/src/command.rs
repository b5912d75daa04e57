//! A program as a provider: it is started for each question, reads it from standard input, and writes the answer to standard
//! output. `docs/judges.md` has the protocol.

use std::{fmt, time::Duration};

use scorebox::judge::{
    Answer, AskError, BoxFuture, Generation, JudgeSettings, Load, Provider, Question, Reply,
    StructuredOutput, TokenUsage,
};
use serde::Deserialize;

use crate::{
    failure::{Failure, Remedy},
    form::Form,
    gate::Gate,
    pieces::Amount,
    process::{self, Ended, Unended},
    quote::quote,
    spoken::{MOST_TEXT_BYTES, Said, most_bytes, named},
};

/// The exit code that asks to be tried again: a temporary failure, as `sysexits.h` has it.
const TEMPORARY_FAILURE: i32 = 75;

/// A program that answers questions.
pub(crate) struct Command {
    command: Vec<String>,
    /// Its name as messages have it.
    program: String,
    timeout: Duration,
    in_words: bool,
    gate: Gate,
}

impl Command {
    /// `None` if no program is named.
    pub(crate) fn new(command: &[String], settings: &JudgeSettings) -> Option<Command> {
        let program = command.first().filter(|program| !program.is_empty())?;
        Some(Command {
            command: command.to_vec(),
            program: format!("`{}`", quote(program)),
            timeout: settings.timeout,
            in_words: settings.structured_output == StructuredOutput::Prompt,
            gate: Gate::new(settings),
        })
    }

    async fn answer(&self, question: &Question, within: Duration) -> Result<Answer, AskError> {
        let input = self.input(question);
        let most_bytes = match question {
            Question::Embed(embedding) => most_bytes(embedding.texts.len()),
            _ => MOST_TEXT_BYTES,
        };
        let mut call = self.gate.arrive().enter(within).await;
        let outcome = loop {
            call.begin().await;
            let attempt = async {
                match process::run(&self.command, &input, most_bytes, self.timeout).await {
                    Ok(ended) => self.printed(&ended),
                    Err(unended) => Err(self.failure(&unended, most_bytes)),
                }
            };
            let outcome = call.in_time(attempt).await.and_then(|printed| {
                // A program that does not take the question need not have asked anybody.
                if !matches!(printed.says, Says::Error(_)) || printed.counts() {
                    call.consume(printed.usage, printed.cost_usd);
                }
                self.said(printed, question)
            });
            if let Some(outcome) = call.settle(outcome).await {
                break outcome;
            }
        };
        let said = outcome.map_err(|failure| call.error(failure))?;
        Ok(Answer {
            reply: said.reply,
            model: named(said.model, question.model()),
            usage: call.usage(),
            cost_usd: call.cost_usd(),
            is_uncounted: call.is_uncounted(),
            latency: call.latency(),
            attempts: call.attempts(),
        })
    }

    /// The question as JSON on a line.
    fn input(&self, question: &Question) -> Vec<u8> {
        let form = match question {
            Question::Generate(generation) if self.in_words => {
                generation.response_schema.as_deref().and_then(Form::of).map(|form| {
                    Question::Generate(Generation {
                        system: Some(form.in_words(generation.system.as_deref())),
                        response_schema: None,
                        ..generation.clone()
                    })
                })
            }
            _ => None,
        };
        // A question is strings, numbers and booleans: writing it as JSON cannot fail.
        let mut input = serde_json::to_vec(form.as_ref().unwrap_or(question)).unwrap_or_default();
        input.push(b'\n');
        input
    }

    /// What it printed, if it did what it should.
    fn printed(&self, ended: &Ended) -> Result<Printed, Failure> {
        let program = &self.program;
        if ended.code != Some(0) {
            let how = match ended.code {
                Some(code) => format!("ended with code {code}"),
                None => "was ended by a signal".to_owned(),
            };
            let errors = String::from_utf8_lossy(&ended.errors);
            let last = errors.lines().rev().find(|line| !line.trim().is_empty());
            let said = last.map(|line| format!(": {}", quote(line))).unwrap_or_default();
            let message = format!("{program} {how}{said}");
            return Err(match ended.code {
                Some(TEMPORARY_FAILURE) => Failure::passing(message),
                _ => Failure::unavailable(message),
            });
        }
        let unreadable = |what: &str| Failure::unavailable(format!("{program} printed {what}"));
        let text =
            str::from_utf8(&ended.output).map_err(|_| unreadable("text that is not UTF-8"))?;
        let text = text.trim_end_matches(['\n', '\r']);
        if text.is_empty() {
            return Err(unreadable("nothing"));
        }
        Ok(printed(text).unwrap_or_else(|| Printed::of_text(text)))
    }

    /// What that says to the question.
    fn said(&self, printed: Printed, question: &Question) -> Result<Said, Failure> {
        let program = &self.program;
        let unfit = |what: String| Failure::unavailable(format!("{program} printed {what}"));
        let reply = match (printed.says, question) {
            (Says::Error(words), _) => {
                return Err(Failure::refused(format!("{program} refuses: {}", quote(&words))));
            }
            (Says::Text(text), Question::Generate(_)) => {
                Reply::Text { text, truncated: printed.truncated }
            }
            (Says::Vectors(vectors), Question::Embed(embedding)) => {
                Reply::vectors(vectors, embedding.texts.len()).map_err(unfit)?
            }
            (Says::Text(text), _) => return Err(unfit(format!("no vectors: {}", quote(&text)))),
            (Says::Vectors(_), _) => return Err(unfit("vectors instead of a text".to_owned())),
        };
        Ok(Said { reply, model: printed.model })
    }

    fn failure(&self, unended: &Unended, most_bytes: usize) -> Failure {
        let program = &self.program;
        match unended {
            Unended::Failed(error) => {
                Failure::unavailable(format!("cannot run {program}: {error}"))
            }
            Unended::TooMuch => {
                Failure::unavailable(format!("{program} printed more than {most_bytes} bytes"))
            }
            Unended::TimedOut => {
                let message = format!("{program} did not end within {:?}", self.timeout);
                Failure::timed_out(message, Remedy::Nothing)
            }
        }
    }
}

/// What a program printed.
#[derive(Debug)]
struct Printed {
    says: Says,
    truncated: bool,
    model: Option<String>,
    usage: TokenUsage,
    cost_usd: Option<f64>,
}

#[derive(Debug)]
enum Says {
    Text(String),
    Vectors(Vec<Vec<f32>>),
    Error(String),
}

impl Printed {
    fn of_text(text: &str) -> Printed {
        Printed {
            says: Says::Text(text.to_owned()),
            truncated: false,
            model: None,
            usage: TokenUsage::default(),
            cost_usd: None,
        }
    }

    /// Whether it says what it consumed.
    fn counts(&self) -> bool {
        self.usage != TokenUsage::default() || self.cost_usd.is_some()
    }
}

/// The object of the protocol; `None` if this is not one, and so the answer itself.
fn printed(text: &str) -> Option<Printed> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Object {
        text: Option<String>,
        vectors: Option<Vec<Vec<f32>>>,
        error: Option<String>,
        #[serde(default)]
        truncated: bool,
        model: Option<String>,
        #[serde(default)]
        usage: TokenUsage,
        #[serde(default)]
        cost_usd: Amount,
    }

    let object: Object = serde_json::from_str(text).ok()?;
    let says = match (object.text, object.vectors, object.error) {
        (Some(text), None, None) => Says::Text(text),
        (None, Some(vectors), None) => Says::Vectors(vectors),
        (None, None, Some(error)) => Says::Error(error),
        _ => return None,
    };
    Some(Printed {
        says,
        truncated: object.truncated,
        model: object.model,
        usage: object.usage,
        cost_usd: object.cost_usd.0,
    })
}

impl Provider for Command {
    fn ask<'a>(
        &'a self,
        question: &'a Question,
        within: Duration,
    ) -> BoxFuture<'a, Result<Answer, AskError>> {
        Box::pin(self.answer(question, within))
    }

    fn load(&self) -> Load {
        self.gate.load()
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Command").field("program", &self.program).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_of_the_protocol_is_told_from_an_answer_that_is_json() {
        let is_one = |text: &str| printed(text).is_some();
        assert!(is_one(
            r#"{"text": "yes", "model": "m", "usage": {"inputTokens": 1}, "costUsd": 0.1}"#
        ));
        assert!(is_one(r#"{"vectors": [[1, 2]]}"#));
        assert!(is_one(r#"{"error": "not logged in"}"#));
        for answer in [
            r#"{"score": 1}"#,
            r#"{"text": "yes", "score": 1}"#,
            r#"{"text": "yes", "error": "no"}"#,
            r#"{"text": 1}"#,
            r#"{"model": "m"}"#,
            r#"["text"]"#,
            "yes",
        ] {
            assert!(!is_one(answer), "{answer}");
        }
    }
}
