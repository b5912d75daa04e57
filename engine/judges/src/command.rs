//! A program as a provider: it is started for each question, reads it from standard input, and writes the answer to
//! standard output. `docs/judges.md` has the protocol.

use std::{fmt, time::Duration};

use scorebox::judge::{
    Answer, AskError, BoxFuture, Generation, Halt, JudgeSettings, Load, Provider, Question, Reply,
    StructuredOutput, TokenUsage,
};
use serde::Deserialize;

use crate::{
    failure::{Failure, Remedy},
    form::Form,
    gate::Gate,
    pieces::{Amount, Count, Object},
    process::{self, Ended, Unended},
    quote::quote,
    spoken::{MAX_TEXT_BYTES, Said, max_bytes, named},
};

/// The exit code that asks for another attempt: a temporary failure, as in `sysexits.h`.
const TEMPORARY_FAILURE: i32 = 75;

/// A program that answers questions.
pub(crate) struct Command {
    command: Vec<String>,
    /// The program's name in messages.
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

    async fn answer(
        &self,
        question: &Question,
        within: Duration,
        stop: Halt,
    ) -> Result<Answer, AskError> {
        let input = self.input(question);
        let max_bytes = match question {
            Question::Embed(embedding) => max_bytes(embedding.texts.len()),
            _ => MAX_TEXT_BYTES,
        };
        let mut call = self.gate.arrive(stop).enter(within).await?;
        let outcome = loop {
            if let Err(failure) = call.begin().await {
                break Err(failure);
            }
            let attempt = async {
                match process::run(&self.command, &input, max_bytes, self.timeout).await {
                    Ok(ended) => self.printed(&ended),
                    Err(unended) => Err(self.failure(&unended, max_bytes)),
                }
            };
            let outcome = call.in_time(attempt).await.and_then(|printed| {
                // A program that does not take the question may not have asked any model.
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
        Ok(call.answer(said.reply, named(said.model, question.model())))
    }

    /// The question as JSON on one line.
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

    /// What the program printed, if it ran successfully.
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
        Ok(printed(text).unwrap_or_else(|| Printed::of_text(text)))
    }

    /// What the output answers to the question.
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
            (Says::Text(text), _) if text.is_empty() => return Err(unfit("nothing".to_owned())),
            (Says::Text(text), _) => return Err(unfit(format!("no vectors: {}", quote(&text)))),
            (Says::Vectors(_), _) => return Err(unfit("vectors instead of a text".to_owned())),
        };
        Ok(Said { reply, model: printed.model })
    }

    fn failure(&self, unended: &Unended, max_bytes: usize) -> Failure {
        let program = &self.program;
        match unended {
            Unended::Failed(error) => {
                Failure::unavailable(format!("cannot run {program}: {error}"))
            }
            Unended::TooMuch => {
                Failure::unavailable(format!("{program} printed more than {max_bytes} bytes"))
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

    /// Whether the output reports what was consumed.
    fn counts(&self) -> bool {
        self.usage != TokenUsage::default() || self.cost_usd.is_some()
    }
}

/// The object of the protocol; `None` if the output is not such an object and is therefore the answer itself.
fn printed(text: &str) -> Option<Printed> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Members {
        text: Option<String>,
        vectors: Option<Vec<Vec<f32>>>,
        error: Option<String>,
        truncated: Option<bool>,
        model: Option<String>,
        usage: Option<Object<Usage>>,
        #[serde(default)]
        cost_usd: Amount,
    }

    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Usage {
        #[serde(default)]
        input_tokens: Count,
        #[serde(default)]
        output_tokens: Count,
    }

    let Object(object): Object<Members> = serde_json::from_str(text).ok()?;
    let says = match (object.text, object.vectors, object.error) {
        (Some(text), None, None) => Says::Text(text),
        (None, Some(vectors), None) => Says::Vectors(vectors),
        (None, None, Some(error)) => Says::Error(error),
        _ => return None,
    };
    let Object(Usage { input_tokens, output_tokens }) = object.usage.unwrap_or_default();
    Some(Printed {
        says,
        truncated: object.truncated.unwrap_or_default(),
        model: object.model,
        usage: TokenUsage { input_tokens: input_tokens.0, output_tokens: output_tokens.0 },
        cost_usd: object.cost_usd.0,
    })
}

impl Provider for Command {
    fn ask<'a>(
        &'a self,
        question: &'a Question,
        within: Duration,
    ) -> BoxFuture<'a, Result<Answer, AskError>> {
        self.ask_until(question, within, Halt::default())
    }

    fn ask_until<'a>(
        &'a self,
        question: &'a Question,
        within: Duration,
        stop: Halt,
    ) -> BoxFuture<'a, Result<Answer, AskError>> {
        Box::pin(self.answer(question, within, stop))
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
    fn what_is_left_empty_or_makes_no_sense_counts_as_not_stated() {
        let of = |members: &str| printed(&format!(r#"{{"text": "yes", {members}}}"#)).unwrap();
        let nothing = of(r#""usage": null, "truncated": null, "model": null, "costUsd": null"#);
        assert!(!nothing.counts() && !nothing.truncated);
        let usage = of(r#""usage": {"inputTokens": 12.0, "outputTokens": 18446744073709551615}"#);
        let expected = TokenUsage { input_tokens: Some(12), output_tokens: None };
        assert_eq!(usage.usage, expected);
        let unheld = of(r#""usage": {"inputTokens": 1e400, "outputTokens": 3}, "costUsd": 1e309"#);
        let expected = TokenUsage { input_tokens: None, output_tokens: Some(3) };
        assert_eq!((unheld.usage, unheld.cost_usd), (expected, None));
        let refusal = printed(r#"{"error": "no", "usage": {"inputTokens": -1}}"#).unwrap();
        assert!(matches!(refusal.says, Says::Error(_)) && !refusal.counts());
    }

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
            r#"["{}", null, null, null, null, null, null]"#,
            r#"{"text": "yes", "usage": [1, 1]}"#,
            "yes",
        ] {
            assert!(!is_one(answer), "{answer}");
        }
    }
}
