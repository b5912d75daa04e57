//! The helpers for judged scorers, as a specification.

mod asking;
mod hostile;
mod prompts;
mod reading;
#[cfg(feature = "traces")]
mod transcripts;
