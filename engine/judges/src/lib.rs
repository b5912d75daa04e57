//! Providers of scorebox's judges: servers with OpenAI's or Anthropic's protocol, and programs. This crate decides
//! nothing about budgets, records nothing, and reads no keys from the environment; the HTTP client reads the usual
//! variables of proxies.
//!
//! - `connect`: makes a provider from what a suite defines.
//! - `key`: the secret that a server requires.
//! - `served`: a provider over HTTP: one question, asked in a way that the server understands.
//! - `knowledge`: what was found out about a server and its models.
//! - `wire`: the protocols, by name; `openai` and `anthropic` define their requests and answers.
//! - `spoken`: questions and answers, whatever the protocol.
//! - `pieces`: reads parts of answers without keeping the rest.
//! - `form`: how a request asks for an answer of a given form.
//! - `http`: one exchange with a server, within limits of time and size; `proxy_secrets`: what no message may contain
//!   about the proxy.
//! - `gate`: how many calls run at once, how many begin in a minute, and who waits; `pause`: when no call is sent;
//!   `retry`: which attempts are repeated, and when; `bill`: what all answers of a call consumed together.
//! - `failure`: why an attempt failed; `error`: why there is no provider.
//! - `command`: a program as a provider; `process`: its processes, which end together; `watcher`: what ends them if
//!   this process is killed.
//! - `quote`: what others wrote, short and on one line.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use scorebox::judge::{Generation, JudgeSettings, Message, ProviderSettings, Question, Role};
//! use scorebox_judges::{Key, connect};
//!
//! # async fn program(key: String) -> Result<(), Box<dyn std::error::Error>> {
//! let base_url = "https://api.openai.com/v1".to_owned();
//! let settings = JudgeSettings::new(ProviderSettings::OpenAi { base_url, key_env: None });
//! let judge = connect(&settings, Some(Key::new(key)))?;
//! let question = Question::Generate(Generation {
//!     model: "gpt-4o-mini".into(),
//!     messages: vec![Message { role: Role::User, text: "Is the sky blue?".into() }],
//!     ..Generation::default()
//! });
//! let answer = judge.ask(&question, Duration::from_secs(60)).await?;
//! println!("{:?}, {:?}", answer.reply, answer.usage);
//! # Ok(())
//! # }
//! ```
//!
//! - **Invariant:** a key is in the header of a request to its server and nowhere else: no error, no `Debug`, no
//!   answer.
//! - **Invariant:** whatever a server or a program sends, a call holds a bounded amount of it, and ends within the
//!   time-outs of its attempts and the waiting between them; if the server answers nobody, that is as many pauses as it
//!   has attempts.
//! - **Invariant:** a call whose future is dropped gives back its place, and its processes end. A process that exits
//!   without that calls [`end_programs`]; for one that is killed, another process ends them.

#![warn(missing_debug_implementations)]

mod anthropic;
mod bill;
mod command;
mod connect;
mod error;
mod failure;
mod form;
mod gate;
mod http;
mod key;
mod knowledge;
mod openai;
mod pause;
mod pieces;
mod process;
mod proxy_secrets;
mod quote;
mod retry;
mod served;
mod spoken;
mod watcher;
mod wire;

pub use connect::{connect, connect_with};
pub use error::ConnectError;
pub use key::Key;
pub use process::end_programs;
