//! Tests providers with a real HTTP server on the loopback interface and with real programs.

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
