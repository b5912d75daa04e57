//! Passes questions to the host and returns its answers; in native tests, the script of `testing` answers. It reads no
//! answer.

use crate::{Answer, Question, reading::quotations};

/// Asks one question.
#[must_use]
pub fn ask(question: &Question) -> Answer {
    with_quotations(question, imp::ask(question))
}

/// Asks several questions concurrently; the answers are in the same order.
#[must_use]
pub fn ask_all(questions: &[Question]) -> Vec<Answer> {
    match questions {
        [] => Vec::new(),
        [only] => vec![ask(only)],
        several => {
            let answers = imp::ask_all(several);
            several.iter().zip(answers).map(|(asked, it)| with_quotations(asked, it)).collect()
        }
    }
}

fn with_quotations(question: &Question, answer: Answer) -> Answer {
    Answer { quotations: quotations(question, &answer.text), ..answer }
}

/// One vector for each text, all of the same length, from the suite's embedding model unless another one is named.
#[must_use]
pub fn embed(texts: &[String], model: Option<&str>) -> Vec<Vec<f32>> {
    if texts.is_empty() { Vec::new() } else { imp::embed(texts, model) }
}

/// Ends the score with the error `judge-unreadable`. Only in native tests does it return.
pub(crate) fn unreadable(why: &str) {
    imp::unreadable(why);
}

#[cfg(target_arch = "wasm32")]
mod imp {
    use scorebox_sdk::Usage;

    use self::bindings::scorebox::scorer::{embedder, judge};
    use crate::{Answer, Question, Role};

    // A separate world: a component imports an interface only if its code calls it.
    #[allow(missing_docs, missing_debug_implementations, unsafe_code)]
    mod bindings {
        wit_bindgen::generate!({
            path: "../../../wit/0.1.0",
            inline: "
                package scorebox:sdk;

                world asking {
                    import scorebox:scorer/judge@0.1.0;
                    import scorebox:scorer/embedder@0.1.0;
                }
            ",
            generate_all,
        });
    }

    pub(super) fn ask(question: &Question) -> Answer {
        answer(judge::generate(&request(question)))
    }

    pub(super) fn ask_all(questions: &[Question]) -> Vec<Answer> {
        let requests: Vec<_> = questions.iter().map(request).collect();
        judge::generate_all(&requests).into_iter().map(answer).collect()
    }

    pub(super) fn embed(texts: &[String], model: Option<&str>) -> Vec<Vec<f32>> {
        embedder::embed(texts, model)
    }

    pub(super) fn unreadable(why: &str) {
        judge::unreadable(why);
    }

    fn request(question: &Question) -> judge::Request {
        let messages = question.messages.iter().map(|message| judge::Message {
            role: match message.role {
                Role::User => judge::Role::User,
                Role::Assistant => judge::Role::Assistant,
            },
            text: message.text.clone(),
        });
        judge::Request {
            system: question.system.clone(),
            messages: messages.collect(),
            response_schema: question.schema.clone(),
            model: question.model.clone(),
            temperature: question.temperature,
            max_output_tokens: question.max_output_tokens,
            sample: question.sample,
        }
    }

    fn answer(response: judge::Response) -> Answer {
        let judge::Response { text, truncated, model, usage } = response;
        let usage = Usage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            total_tokens: usage.total_tokens,
            cost_usd: usage.cost_usd,
            ..Usage::default()
        };
        Answer { text, truncated, model, usage, quotations: Vec::new() }
    }
}

#[cfg(not(target_arch = "wasm32"))]
use crate::testing as imp;
