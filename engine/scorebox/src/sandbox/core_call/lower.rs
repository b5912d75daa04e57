//! Writes the case into a guest's memory: the record `scorer-input` of the contract, laid out and allocated in the
//! order of the component model's canonical ABI
//! (<https://github.com/WebAssembly/component-model/blob/main/design/mvp/CanonicalABI.md>). It reads no answers.

use crate::contract::bindings::{wire, wire_types::Usage};

use super::{Guest, Missed, part};

/// The size of the record in bytes, and its alignment.
pub(super) const CASE_BYTES: usize = 184;
pub(super) const CASE_ALIGN: u32 = 8;
/// The longest text that a component model's string can have, in bytes.
const MAX_TEXT_BYTES: usize = (1 << 31) - 1;
/// The size of a reference to a text in bytes: its address and its length.
const TEXT_BYTES: usize = 8;
/// The size of a number, in bytes.
const NUMBER_BYTES: usize = 8;

/// Writes the case, and returns its address.
pub(super) fn case(guest: &mut Guest<'_>, case: wire::ScorerInput<'_>) -> Result<u32, Missed> {
    let at = guest.allocate(CASE_ALIGN, CASE_BYTES)?;
    let record = copied(guest.memory(), at)?;
    let mut fields = Fields { guest, at, record, next: 0 };
    fields.text(case.output)?;
    fields.optional_text(case.input)?;
    fields.optional_text(case.ground_truth)?;
    fields.optional_text(case.context)?;
    fields.optional_number(case.latency_ms.map(f64::to_le_bytes))?;
    fields.optional_text(case.output_schema)?;
    fields.optional_text(case.trace)?;
    fields.optional_usage(case.usage)?;
    fields.optional_text(case.metadata)?;
    fields.optional_text(case.baseline)?;
    fields.write()?;
    u32::try_from(at).map_err(|_| Missed)
}

/// Copies the memory at the record's address.
fn copied(memory: &mut [u8], at: usize) -> Result<[u8; CASE_BYTES], Missed> {
    (&*part(memory, at, CASE_BYTES)?).try_into().map_err(|_| Missed)
}

/// The record and its fields; the next one is at `next`, or after its padding.
struct Fields<'a, 'b> {
    guest: &'a mut Guest<'b>,
    /// The address of the record.
    at: usize,
    /// A copy of it. It is written back whenever the guest may look; a field without a value keeps the guest's bytes.
    record: [u8; CASE_BYTES],
    next: usize,
}

impl Fields<'_, '_> {
    /// Writes the record back.
    fn write(&mut self) -> Result<(), Missed> {
        part(self.guest.memory(), self.at, CASE_BYTES)?.copy_from_slice(&self.record);
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Missed> {
        let fits = text.len() <= MAX_TEXT_BYTES;
        let length = u32::try_from(text.len()).ok().filter(|_| fits).ok_or(Missed)?;
        self.write()?;
        let at = self.guest.allocate(1, text.len())?;
        let memory = self.guest.memory();
        part(memory, at, text.len())?.copy_from_slice(text.as_bytes());
        self.record = copied(memory, self.at)?;
        let at = u32::try_from(at).map_err(|_| Missed)?;
        self.field(4, at.to_le_bytes())?;
        self.field(4, length.to_le_bytes())
    }

    fn optional_text(&mut self, text: Option<&str>) -> Result<(), Missed> {
        self.case_of(4, text.is_some())?;
        match text {
            Some(text) => self.text(text),
            None => {
                self.skip(TEXT_BYTES);
                Ok(())
            }
        }
    }

    /// Writes an optional number, given as its bytes.
    fn optional_number(&mut self, number: Option<[u8; NUMBER_BYTES]>) -> Result<(), Missed> {
        self.case_of(8, number.is_some())?;
        match number {
            Some(number) => self.field(8, number),
            None => {
                self.skip(NUMBER_BYTES);
                Ok(())
            }
        }
    }

    fn optional_usage(&mut self, usage: Option<Usage>) -> Result<(), Missed> {
        self.case_of(8, usage.is_some())?;
        let Some(usage) = usage else {
            // Four optional numbers.
            self.skip(4 * 2 * NUMBER_BYTES);
            return Ok(());
        };
        let Usage { input_tokens, output_tokens, total_tokens, cost_usd } = usage;
        for tokens in [input_tokens, output_tokens, total_tokens] {
            self.optional_number(tokens.map(u64::to_le_bytes))?;
        }
        self.optional_number(cost_usd.map(f64::to_le_bytes))
    }

    /// Writes whether a value follows, and skips to its alignment.
    fn case_of(&mut self, align: usize, is_some: bool) -> Result<(), Missed> {
        self.field(align, [u8::from(is_some)])?;
        self.next = self.next.next_multiple_of(align);
        Ok(())
    }

    fn field<const BYTES: usize>(
        &mut self,
        align: usize,
        bytes: [u8; BYTES],
    ) -> Result<(), Missed> {
        let at = self.next.next_multiple_of(align);
        part(&mut self.record, at, BYTES)?.copy_from_slice(&bytes);
        self.next = at + BYTES;
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.next += bytes;
    }
}
