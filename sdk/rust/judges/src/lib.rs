//! Asks language models: builds prompts that treat a case as data, asks questions, and reads verdicts out of answers.
//! It has no criteria and no scores, and holds no API key: the host asks.
//!
//! ```
//! use scorebox_sdk::{Case, Score};
//! use scorebox_sdk_judges::{Classifier, Choice, Prompt, Settings, testing};
//!
//! const POLITE: Classifier = Classifier {
//!     criteria: "You judge whether a text is polite.",
//!     choices: &[
//!         Choice { name: "Yes", score: 1.0, meaning: "the text is polite" },
//!         Choice { name: "No", score: 0.0, meaning: "it is not" },
//!     ],
//! };
//!
//! let case = Case::new("Thank you!".into());
//! let mut prompt = Prompt::new();
//! prompt.part("text", &case.output()).unwrap();
//!
//! // Natively, a script answers in place of a model.
//! let judge = testing::answering(|_| r#"{"reason": "It thanks.", "choice": "Yes"}"#.into());
//! let score: Score = POLITE.score(&prompt, &Settings::default()).unwrap();
//! assert_eq!((score.score, score.label.as_deref()), (Some(1.0), Some("Yes")));
//! assert!(judge.questions()[0].messages[0].text.contains("Thank you!"));
//! ```
//!
//! A question without an answer never returns: the host ends the score. A scorer is run again from the beginning with
//! the answers so far, so it must ask the same questions for the same input. Nothing here uses random numbers or a
//! clock, not even for the fence around a case's texts.
//!
//! # Map
//!
//! `question` is what is asked, `schema` the form of its answer, and `host` passes it on; `testing` answers in native
//! tests. `prompt` builds a question from words and from data, which it puts inside a `fence`; `template` reads the
//! placeholders of a user's prompt; `documents` are the texts of a context. `reading` finds JSON, choices and numbers
//! in an answer, `repair` asks once more if an answer cannot be read, and `settings` says what a second unreadable
//! answer means. `classifier`, `grade` and `list` are the forms of verdict that most judged scorers have; `vectors`
//! compares embeddings. With the feature `traces`, `transcript` writes down what an agent did.

#![deny(missing_docs)]
#![warn(missing_debug_implementations)]

mod classifier;
mod documents;
mod fence;
mod grade;
mod host;
mod list;
mod prompt;
mod question;
pub mod reading;
mod repair;
pub mod schema;
mod settings;
mod template;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
#[cfg(feature = "traces")]
mod transcript;
mod vectors;

pub use classifier::{Choice, Classifier, Decision, decide_all};
pub use documents::{documents, joined_documents};
pub use grade::Grade;
pub use host::{ask, ask_all, embed};
pub use list::List;
pub use prompt::{MAX_DATA_BYTES, Prompt};
pub use question::{Answer, Message, Question, Role};
pub use repair::{Unread, ask_all_for, ask_for};
pub use settings::{Model, Reasoning, Settings, Unreadable};
pub use template::Template;
#[cfg(feature = "traces")]
pub use transcript::{agent_prompt, transcript};
pub use vectors::{cosine, similarity, with_meaning};

#[cfg(test)]
mod tests;
