//! Judges: language models that scorers ask through the host. Here is what a question and an answer are, who may ask
//! what, and what is remembered. Opens no socket: what carries a question to a model implements [`Provider`].
//!
//! - `question`: what a model is asked.
//! - `answer`: what it said, and what that consumed.
//! - `provider`: who answers; implemented elsewhere.
//! - `settings`: what a suite says about a judge.
//! - `extras`: what is sent beside what the protocol needs.
//! - `recording`: a call, the digest that names it, and its recorded answer; kept elsewhere.
//! - `recording_lines`: the recordings of a file, one line at a time.
//! - `recorded`: the recordings of a file as a judge.
//! - `budget`: what calls have consumed.
//! - `expected`: what a call may cost, before it is sent.
//! - `halt`: what ends the waiting of calls that nobody wants any more.
//! - `permit`: the right to send one call: a place, and room in all budgets.
//! - `request`: what a scorer asks, checked.
//! - `choice`: which judge, or which jury, a scorer may ask.
//! - `asker`: a scorer's access to that.
//! - `asking`: for which run it asks, and until when.
//! - `jury`: several judges in place of one, and how their scores are combined.
//! - `identity`: what decides the answers of a judge or a jury.
//! - `in_flight`: calls that are asked at this moment.
//! - `builder`: makes judges.
//! - `judges`: the way of each call: recorded, within budget, asked, recorded.
//! - `error`: why there is no answer.

mod answer;
mod asker;
mod asking;
mod budget;
mod builder;
mod choice;
mod error;
mod expected;
mod extras;
mod halt;
mod identity;
mod in_flight;
mod judges;
mod jury;
mod permit;
mod provider;
mod question;
mod recorded;
mod recording;
mod recording_lines;
mod request;
mod settings;

pub use answer::{Answer, MAX_COST_USD, Reply, TokenUsage};
pub use asker::Asker;
pub(crate) use asker::Seat;
pub use asking::AskedBy;
pub(crate) use asking::Asking;
pub use budget::{Consumed, Meter, Spent};
pub use builder::JudgesBuilder;
pub use choice::JudgeChoice;
pub use error::{BudgetOf, JudgeError, JudgeErrorKind};
pub(crate) use extras::{check_extra_body, check_extra_headers, check_key_header};
pub use halt::Halt;
pub use identity::{JudgeIdentity, JuryIdentity};
pub use judges::{Asked, JudgeCounts, Judges, RecordingUse};
pub use jury::{Combine, Jury, agreement, spread};
pub use provider::{AskError, AskErrorKind, BoxFuture, Load, Provider};
pub use question::{Embedding, Generation, Message, Question, Role};
pub use recorded::RecordedFile;
pub use recording::{Call, Recording, Recordings, RecordingsError, ScoreCall};
pub use recording_lines::{RecordingLine, RecordingLineError, RecordingLines};
pub use request::Request;
pub use settings::{Budget, JudgeSettings, Price, ProviderSettings, StructuredOutput};
