//! Walks Thrift's compact protocol, the format of Parquet's footer and page headers, to find where a structure ends and
//! which numbers it contains. Allocates no memory.

/// The deepest nesting of a structure; that of a footer has 6 levels.
const MAX_DEPTH: usize = 24;
/// How many elements a list may have whatever their size is, and the fewest bytes of an element in a longer list of
/// structures: those of a column order, of which a footer has one for each column, are an empty field and two ends.
const FEW: usize = 1024;
const STRUCTURE_BYTES: usize = 3;

/// The bytes that are walked.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    rest: &'a [u8],
}

impl<'a> Walk<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Walk<'a> {
        Walk { rest: bytes }
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Walks a structure, and passes on the numbers that are its fields or those of structures in it, with the numbers
    /// of the fields on the way; returns `None` if it is damaged or cut off.
    pub(crate) fn structure(&mut self, mut number: impl FnMut(&[u64], i64)) -> Option<()> {
        self.fields(0, &mut |fields, value| number(fields, value))
    }

    fn fields(&mut self, depth: usize, number: &mut dyn FnMut(&[u64], i64)) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut field = 0_u64;
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(());
            }
            field = match header >> 4 {
                0 => u64::try_from(signed(self.number()?)).ok()?,
                more => field.checked_add(more.into())?,
            };
            match header & 0xf {
                // The header of a boolean field contains its value.
                1 | 2 => {}
                4..=6 => number(&[field], signed(self.number()?)),
                12 if depth == 0 => self.fields(1, &mut |inner, value| {
                    if let [inner] = inner {
                        number(&[field, *inner], value);
                    }
                })?,
                kind => self.value(kind, depth)?,
            }
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.number().map(drop),
            7 => self.skip(8),
            8 => {
                let length = usize::try_from(self.number()?).ok()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth),
            12 => self.fields(depth + 1, &mut |_, _| {}),
            13 => self.skip(16),
            _ => None,
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let header = self.byte()?;
        let (count, kind) = (header >> 4, header & 0xf);
        let count = match count {
            15 => usize::try_from(self.number()?).ok()?,
            count => count.into(),
        };
        let least = if kind == 12 && count > FEW { STRUCTURE_BYTES } else { 1 };
        if count.checked_mul(least)? > self.rest.len() {
            return None;
        }
        (0..count).try_for_each(|_| self.value(kind, depth + 1))
    }
}

/// Decodes a number whose lowest bit is the sign.
fn signed(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}
