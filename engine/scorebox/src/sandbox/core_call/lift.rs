//! Reads the answer from a guest's memory: `result<score-result, scorer-error>` of the contract, in the layout of the
//! component model's canonical ABI. Every address and every length comes from the guest, and is checked.

use crate::contract::{Assertion, ScoreResult, ScorerError, Severity, bindings::wire_types};

use super::Missed;

/// The sizes of the answer and of an assertion in bytes, and the alignment of both.
pub(super) const ANSWER_BYTES: usize = 72;
pub(super) const ASSERTION_BYTES: usize = 56;
pub(super) const ALIGN: usize = 8;

/// Reads the answer at `at`. Texts and assertions may have at most `transfer_bytes` bytes together.
pub(super) fn answer(
    memory: &[u8],
    at: u32,
    transfer_bytes: usize,
) -> Result<Result<ScoreResult, ScorerError>, Missed> {
    let mut reader = Reader { memory, left: transfer_bytes };
    let mut answer = reader.record(at, ANSWER_BYTES)?;
    if answer.variant(ALIGN, 2)? == 0 {
        return Ok(Ok(ScoreResult {
            score: answer.optional_number()?,
            label: answer.optional_text(&mut reader)?,
            reason: answer.optional_text(&mut reader)?,
            meta: answer.optional_text(&mut reader)?,
            assertions: assertions(&mut reader, &mut answer)?,
        }));
    }
    // The larger alternative decides the alignment of both.
    Ok(Err(match answer.variant(4, 2)? {
        0 => ScorerError::InvalidInput(answer.text(&mut reader)?),
        _ => ScorerError::Failed(answer.text(&mut reader)?),
    }))
}

fn assertions(reader: &mut Reader<'_>, answer: &mut Fields<'_>) -> Result<Vec<Assertion>, Missed> {
    let (at, count) = (answer.word()?, answer.word()?);
    let count = usize::try_from(count).map_err(|_| Missed)?;
    let bytes = count.checked_mul(ASSERTION_BYTES).ok_or(Missed)?;
    // Counted as wasmtime does: by the size that they have in the host.
    reader.spend(count.checked_mul(size_of::<wire_types::Assertion>()).ok_or(Missed)?)?;
    let mut all = reader.record(at, bytes)?;
    (0..count)
        .map(|_| {
            let mut fields = Fields { bytes: all.take(1, ASSERTION_BYTES)?, at: 0 };
            Ok(Assertion {
                name: fields.text(reader)?,
                score: fields.number()?,
                severity: fields.optional_severity()?,
                threshold: fields.optional_number()?,
                reason: fields.optional_text(reader)?,
            })
        })
        .collect()
}

/// A guest's memory, and how many more bytes of it may be copied.
struct Reader<'a> {
    memory: &'a [u8],
    left: usize,
}

impl<'a> Reader<'a> {
    fn bytes(&self, at: u32, bytes: usize) -> Result<&'a [u8], Missed> {
        let at = usize::try_from(at).map_err(|_| Missed)?;
        let end = at.checked_add(bytes).ok_or(Missed)?;
        self.memory.get(at..end).ok_or(Missed)
    }

    /// A record, or several consecutive ones.
    fn record(&self, at: u32, bytes: usize) -> Result<Fields<'a>, Missed> {
        let aligned = usize::try_from(at).is_ok_and(|at| at.is_multiple_of(ALIGN));
        aligned.then_some(()).ok_or(Missed)?;
        Ok(Fields { bytes: self.bytes(at, bytes)?, at: 0 })
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Missed> {
        self.left = self.left.checked_sub(bytes).ok_or(Missed)?;
        Ok(())
    }
}

/// The fields of a record; the next one is at `at`, or after its padding.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn take(&mut self, align: usize, bytes: usize) -> Result<&'a [u8], Missed> {
        let at = self.at.next_multiple_of(align);
        self.at = at + bytes;
        self.bytes.get(at..self.at).ok_or(Missed)
    }

    /// Reads which of the alternatives follows; all of them have this alignment.
    fn variant(&mut self, align: usize, alternatives: u8) -> Result<u8, Missed> {
        let [which] = *self.take(align, 1)? else { return Err(Missed) };
        self.at = self.at.next_multiple_of(align);
        (which < alternatives).then_some(which).ok_or(Missed)
    }

    fn word(&mut self) -> Result<u32, Missed> {
        let bytes = self.take(4, 4)?.try_into().map_err(|_| Missed)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn number(&mut self) -> Result<f64, Missed> {
        let bytes = self.take(8, 8)?.try_into().map_err(|_| Missed)?;
        Ok(f64::from_le_bytes(bytes))
    }

    fn text(&mut self, reader: &mut Reader<'_>) -> Result<String, Missed> {
        let (at, length) = (self.word()?, self.word()?);
        let length = usize::try_from(length).map_err(|_| Missed)?;
        let bytes = reader.bytes(at, length)?;
        reader.spend(length)?;
        Ok(std::str::from_utf8(bytes).map_err(|_| Missed)?.to_owned())
    }

    fn optional_text(&mut self, reader: &mut Reader<'_>) -> Result<Option<String>, Missed> {
        if self.variant(4, 2)? == 1 {
            return self.text(reader).map(Some);
        }
        self.take(4, 8)?;
        Ok(None)
    }

    fn optional_number(&mut self) -> Result<Option<f64>, Missed> {
        let is_some = self.variant(8, 2)? == 1;
        let number = self.number()?;
        Ok(is_some.then_some(number))
    }

    fn optional_severity(&mut self) -> Result<Option<Severity>, Missed> {
        if self.variant(1, 2)? == 0 {
            self.take(1, 1)?;
            return Ok(None);
        }
        Ok(Some(match self.variant(1, 2)? {
            0 => Severity::Gate,
            _ => Severity::Soft,
        }))
    }
}
