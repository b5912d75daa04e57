//! Tests publishing to and pulling from HTTP servers on the loopback interface that behave like registries, or
//! misbehave. The tests of the command line use a real registry.

mod hostile;
mod indexes;
mod login;
mod pulling;
mod server;
