//! One case: a line and where its fields are in it. It reads no files and does not know suites.

use super::{
    checks::{Parsed, check},
    error::{BadCase, Location},
    key::Key,
    line::{Sliced, Slots, slice},
    mapping::Mapping,
};
use crate::{
    contract::{Field, Fields, Parts, Repeat, ScorerInput, Usage},
    digest::Digest,
    workspace::TaskFolder,
};

/// One record to judge: the line as it was read, and where its fields are in it.
#[derive(Clone, Debug)]
pub struct Case {
    line: Box<str>,
    slots: Slots,
    others: Option<Box<str>>,
    location: Location,
    ordinal: u64,
    id: Box<str>,
    node_id: Option<Box<str>>,
    workspace: Option<Box<str>>,
    iteration: u32,
    attempt: u32,
    skip: Option<Box<str>>,
    error: Option<Box<str>>,
    latency_ms: Option<f64>,
    usage: Option<Usage>,
}

impl Case {
    /// Reads the case in the JSON object `line`.
    ///
    /// `ordinal` is its index among all cases, from 0, from which a case without an id gets its name: `case-1` for 0.
    /// `location` is where it was read, for messages.
    ///
    /// # Errors
    /// The text is not one JSON object, has no output, the same key twice, a value of the wrong type, or nesting deeper
    /// than [`MAX_DEPTH`](super::MAX_DEPTH).
    pub fn parse(
        line: impl Into<Box<str>>,
        ordinal: u64,
        mapping: &Mapping,
        location: Location,
    ) -> Result<Case, BadCase> {
        let line = line.into();
        match slice(&line, mapping) {
            Ok(sliced) => Case::of_slices(line, sliced, ordinal, location),
            Err(fault) => Err(fault.into_bad_case(line.as_bytes(), &location, ordinal)),
        }
    }

    /// The case in the line that was sliced like this.
    pub(super) fn of_slices(
        line: Box<str>,
        Sliced { slots, others }: Sliced,
        ordinal: u64,
        location: Location,
    ) -> Result<Case, BadCase> {
        let Parsed { id, node_id, workspace, iteration, attempt, skip, error, latency_ms, usage } =
            check(&line, &slots)
                .map_err(|fault| fault.into_bad_case(line.as_bytes(), &location, ordinal))?;
        let id = id.unwrap_or_else(|| name_of(ordinal));
        Ok(Case {
            line,
            slots,
            others,
            location,
            ordinal,
            id,
            node_id,
            workspace,
            iteration,
            attempt,
            skip,
            error,
            latency_ms,
            usage,
        })
    }

    /// The case as one of those that a program passes in, at this index among them, from 0, from which a case without
    /// an id gets its name.
    #[cfg(feature = "store")]
    pub(crate) fn handed_over(mut self, ordinal: u64) -> Case {
        if self.raw(Key::Id).is_none() {
            self.id = name_of(ordinal);
        }
        self.ordinal = ordinal;
        self.location = Location::new("<program>", 0);
        self
    }

    /// Reads a single case that does not come from a file.
    ///
    /// # Errors
    /// As [`Case::parse`]; the source is named `<case>`.
    pub fn from_json(text: impl Into<Box<str>>) -> Result<Case, BadCase> {
        Case::parse(text, 0, &Mapping::NONE, Location::new("<case>", 1))
    }

    /// The case's id: 1 to 512 bytes without control characters. `case-N` if the line has no id, where N is the case's
    /// position among all cases, from 1.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The task that the case belongs to; the case's id if the line names none.
    pub fn node_id(&self) -> &str {
        self.node_id.as_deref().unwrap_or(&self.id)
    }

    /// The name of the folder with the files that the task left, below a folder that the user names.
    pub fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    /// The same folder, for the inputs of scorers that may read it; all of them share it.
    pub fn task_folder(&self) -> Option<TaskFolder> {
        self.workspace().map(TaskFolder::new)
    }

    /// Which iteration of the task this is: 0 to [`MAX_REPEAT`](super::MAX_REPEAT).
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// Which attempt of the iteration this is: 0 to [`MAX_REPEAT`](super::MAX_REPEAT).
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Why the case is skipped, empty if no reason is given; `None` if it is not skipped. A case whose task failed is
    /// never skipped.
    pub fn skip(&self) -> Option<&str> {
        self.skip.as_deref()
    }

    /// Why there is no output, because the task failed; `None` if it did not fail. No scorer runs then: the scores are
    /// missing, with an error that states it.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The case's index among all cases, from 0: how many non-blank lines were read before it in all sources, including
    /// bad ones, and therefore the same in every reading.
    pub fn ordinal(&self) -> u64 {
        self.ordinal
    }

    /// Where the case was read.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The name of the file that the case was read from, as it was given, or `<stdin>`.
    pub fn source(&self) -> &str {
        &self.location.source
    }

    /// The line that the case was read from, from 1; 0 if it was not read from lines.
    pub fn line(&self) -> u64 {
        self.location.line
    }

    /// The whole line as it was read, without its end.
    pub fn json(&self) -> &str {
        &self.line
    }

    /// What the task produced, as the JSON that was read; may be `null`, as it is if the task failed without an output.
    pub fn output(&self) -> &str {
        self.raw(Key::Output).unwrap_or("null")
    }

    /// The value of `field`, as the JSON that was read.
    pub fn field(&self, field: Field) -> Option<&str> {
        self.raw(Key::from(field))
    }

    /// The value of `key`, as the JSON that was read. `None` if the line does not have it, or has `null`.
    pub fn raw(&self, key: Key) -> Option<&str> {
        self.slots.get(&self.line, key)
    }

    /// The fields that the case has.
    pub fn fields(&self) -> Fields {
        Field::ALL.into_iter().filter(|field| self.field(*field).is_some()).collect()
    }

    /// How long the task took, in milliseconds; finite, 0 or more.
    pub fn latency_ms(&self) -> Option<f64> {
        self.latency_ms
    }

    /// What the task consumed.
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// The input for a scorer that reads `reads`: the output, and only those other parts that are in `reads`. It does
    /// not contain the task's folder: see [`Case::task_folder`].
    pub fn scorer_input(&self, reads: Fields) -> ScorerInput<'_> {
        ScorerInput {
            output: self.output(),
            parts: self.parts(),
            latency_ms: self.latency_ms,
            usage: self.usage,
            workspace: None,
            repeat: Repeat { iteration: self.iteration, attempt: self.attempt },
        }
        .only(reads)
    }

    /// The optional parts that the case has, as the JSON that was read.
    pub fn parts(&self) -> Parts<&str> {
        Field::ALL.into_iter().filter_map(|field| Some((field, self.field(field)?))).collect()
    }

    /// The members of the line that are not a key's value, as the text of a JSON object: unknown keys, and spellings
    /// that lost to a stronger one or to a mapping. `None` if there are none. Values are as they were read.
    pub fn other_json(&self) -> Option<&str> {
        self.others.as_deref()
    }

    /// The digest of everything that scorers can read of this case, [`Fields::ALL`]: for each part that exists, its
    /// canonical key and its content. JSON counts as the bytes that were read; latency and usage count as numbers. If
    /// the task failed, the reason counts as well, because it keeps all scorers from running. Id, node, iteration,
    /// attempt, `skip`, location and other keys do not count, nor do the files of the task, nor the spelling or the
    /// mapping by which a part was found.
    pub fn digest(&self) -> Digest {
        let digest = self.digest_without_error();
        match &self.error {
            None => digest,
            Some(why) => Digest::of_parts([
                b"scorebox failed case 1",
                &digest.as_bytes()[..],
                why.as_bytes(),
            ]),
        }
    }

    /// The value of [`Case::digest`] if the task did not fail.
    pub(crate) fn digest_without_error(&self) -> Digest {
        self.scorer_input(Fields::ALL).digest(None)
    }
}

/// The id of a case whose line has none.
fn name_of(ordinal: u64) -> Box<str> {
    format!("case-{}", ordinal.saturating_add(1)).into()
}

impl std::str::FromStr for Case {
    type Err = BadCase;

    /// As [`Case::from_json`].
    fn from_str(text: &str) -> Result<Case, BadCase> {
        Case::from_json(text)
    }
}
