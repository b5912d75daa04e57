//! Publishing at and pulling from HTTP servers on the loopback interface that behave as registries do, or do not. A
//! real registry is asked by the tests of the command line.

mod hostile;
mod indexes;
mod login;
mod pulling;
mod server;
