//! A case that a run passes to the store. It stores nothing.

#![expect(
    clippy::exhaustive_structs,
    reason = "who stores a new column must be shown by the compiler where it is to be filled in"
)]

use crate::{contract::Parts, digest::Digest};

/// One case to store. All JSON is stored unchanged.
#[derive(Clone, Copy, Debug)]
pub struct NewCase<'a> {
    /// Its position among all cases of the run, from 0; less than 2^40.
    pub ordinal: u64,
    /// The case's own id; not empty.
    pub case_id: &'a str,
    /// The task that produced the output.
    pub node_id: Option<&'a str>,
    /// The task's iteration, from 0.
    pub iteration: u32,
    /// The task's attempt, from 0.
    pub attempt: u32,
    /// The file from which it was read, with the name that the user gave.
    pub source_name: &'a str,
    /// Its line there, from 1.
    pub source_line: u64,
    /// How long the task took, in milliseconds.
    pub latency_ms: Option<f64>,
    /// The digest of the case as read.
    pub digest: Digest,
    /// What the task produced, as JSON.
    pub output: &'a str,
    /// The optional parts, as JSON; the latency is stored as the number above.
    pub parts: Parts<&'a str>,
    /// The folder with the files that the task left.
    pub workspace: Option<&'a str>,
    /// A JSON object of the keys that scorebox does not know.
    pub other: Option<&'a str>,
    /// Why the case must not be judged; empty if no reason is given.
    pub skip: Option<&'a str>,
    /// Why there is no output, if the task failed.
    pub error: Option<&'a str>,
}
