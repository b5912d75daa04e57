//! Providers against a real HTTP server on the loopback interface and against real programs.

mod anthropic;
mod asking;
#[cfg(unix)]
mod command;
mod consumed;
mod found_out;
mod gate;
mod hostile;
mod openai;
mod secrets;
mod server;
mod trouble;
mod variables;
